/* check.h: expectations of the runtime's tests, which are ordinary CUDA programs: the same files have to pass
 * on a GPU with NVIDIA's runtime (there they were written against, an H200 and CUDA 13.0) and on the CPU
 * device. */
#ifndef RUNTIME_CHECK_H
#define RUNTIME_CHECK_H

#include <cstdio>
#include <cstdlib>
#include <cstring>

static int check_failed, check_count;

#define EXPECT(is, wanted)                                                                      \
  do {                                                                                          \
    const long long check_is = (long long)(is), check_wanted = (long long)(wanted);             \
    check_count++;                                                                              \
    if (check_is != check_wanted) {                                                             \
      printf("%s:%d: %s is %lld, not %lld\n", __FILE__, __LINE__, #is, check_is, check_wanted); \
      check_failed++;                                                                           \
    }                                                                                           \
  } while (0)
#define EXPECT_TRUE(is) EXPECT(!!(is), 1)
#define OK(call) EXPECT(call, cudaSuccess)
/* The call answers `error` and cudaGetLastError tells it once more, then no longer. */
#define FAILS(call, error)                   \
  do {                                       \
    (void)cudaGetLastError();                \
    EXPECT(call, error);                     \
    EXPECT(cudaPeekAtLastError(), error);    \
    EXPECT(cudaGetLastError(), error);       \
    EXPECT(cudaGetLastError(), cudaSuccess); \
  } while (0)

static inline int check_end(void) {
  printf("%d of %d as expected\n", check_count - check_failed, check_count);
  return check_failed != 0;
}

#endif
