/* t.h: the driver tests: each is a function over a table of the driver API, run in a process of its own, on
 * the device that MUSTER_DEVICE names. */
#ifndef T_H
#define T_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/driver.h"

extern muster_driver cu;
extern bool t_on_cpu; /* the CPU device, whose figures are known */
extern CUdevice t_device;
extern CUcontext t_context;
extern CUmodule t_module; /* kernels.ptx */

_Noreturn void t_fail(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
_Noreturn void t_skip(const char *why); /* ends the test as skipped */
const char *t_name(CUresult r);
CUfunction t_kernel(const char *name);
CUdeviceptr t_memory(size_t bytes); /* zeroed */
char *t_file(const char *path, size_t *bytes);

#define CHECK(condition)                                      \
  do {                                                        \
    if (!(condition))                                         \
      t_fail(__FILE__, __LINE__, "not true: %s", #condition); \
  } while (0)
#define EQUAL(have, want)                                                      \
  do {                                                                         \
    long long have_ = (long long)(have), want_ = (long long)(want);            \
    if (have_ != want_)                                                        \
      t_fail(__FILE__, __LINE__, "%s is %lld, not %lld", #have, have_, want_); \
  } while (0)
/* A call answers this result. */
#define GIVES(want, call)                                                                 \
  do {                                                                                    \
    CUresult r_ = cu.call;                                                                \
    if (r_ != (want))                                                                     \
      t_fail(__FILE__, __LINE__, "%s gives %s, not %s", #call, t_name(r_), t_name(want)); \
  } while (0)
#define OK(call) GIVES(CUDA_SUCCESS, call)

/* Launches with parameters given by their addresses. */
#define LAUNCH(kernel, grid, block, shared, stream, ...) \
  cuLaunchKernel(kernel, grid, 1, 1, block, 1, 1, shared, stream, (void *[]){__VA_ARGS__}, NULL)

typedef struct t_test {
  const char *name;
  void (*run)(void);
  bool bare; /* without context and module */
} t_test;
extern const t_test t_device_tests[], t_memory_tests[], t_stream_tests[], t_module_tests[], t_launch_tests[],
    t_graph_tests[], t_hang_tests[];

#endif
