/* majors.c FOLDER: the runtimes of CUDA 11, 12 and 13 side by side: what a program compiled against each
 * one's headers relies on, above all that no struct is written beyond the end it had there. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/abi.h"

static int failed;
#define EXPECT(is, wanted)                                                                     \
  do {                                                                                         \
    const long long got = (long long)(is);                                                     \
    if (got != (long long)(wanted)) {                                                          \
      printf("%d: %s: %s is %lld, not %lld\n", __LINE__, name, #is, got, (long long)(wanted)); \
      failed = 1;                                                                              \
    }                                                                                          \
  } while (0)

typedef cudaError_t (*properties_function)(void *, int);
typedef cudaError_t (*attribute_function)(int *, CUdevice_attribute, int);

/* Calls one form of cudaGetDeviceProperties: fills exactly `bytes`, name first, `threads_at` the threads a
 * block. */
static void check_properties(const char *name, void *library, const char *function, size_t bytes,
                             size_t threads_at, size_t sms_at) {
  unsigned char *room = malloc(bytes + 64);
  int sms = 0;
  memset(room, 0xa5, bytes + 64);
  properties_function get = (properties_function)dlsym(library, function);
  attribute_function attribute = (attribute_function)dlsym(library, "cudaDeviceGetAttribute");
  EXPECT(get != NULL && attribute != NULL, 1);
  if (get && attribute) {
    EXPECT(get(room, 0), cudaSuccess);
    EXPECT(memchr(room, 0, 256) != NULL && room[0] != 0, 1);
    int value;
    memcpy(&value, room + threads_at, sizeof value);
    EXPECT(value, 1024);
    EXPECT(attribute(&sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0), cudaSuccess);
    memcpy(&value, room + sms_at, sizeof value);
    EXPECT(value, sms);
    for (size_t i = 0; i < 64; i++)
      EXPECT(room[bytes + i], 0xa5);
  }
  free(room);
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    int version;
  } runtimes[] = {{"libcudart.so.11.0", 11080}, {"libcudart.so.12", 12090}, {"libcudart.so.13", 13000}};
  for (size_t i = 0; i < 3 && argc > 1; i++) {
    const char *name = runtimes[i].name;
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", argv[1], name);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
      puts(dlerror());
      return 1;
    }
    int version = 0;
    cudaError_t (*get_version)(int *) = (cudaError_t(*)(int *))dlsym(library, "cudaRuntimeGetVersion");
    EXPECT(get_version(&version), cudaSuccess);
    EXPECT(version, runtimes[i].version);
#define AT(major) \
  offsetof(cudaDeviceProp_##major, maxThreadsPerBlock), offsetof(cudaDeviceProp_##major, multiProcessorCount)
    if (i < 2)
      check_properties(name, library, "cudaGetDeviceProperties", 728, AT(11));
    if (i == 1)
      check_properties(name, library, "cudaGetDeviceProperties_v2", 1032, AT(12));
    if (i == 2)
      check_properties(name, library, "cudaGetDeviceProperties", 1008, AT(13));
    /* what one version has and another has not */
    EXPECT(dlsym(library, "cudaBindTexture") != NULL, i == 0);
    EXPECT(dlsym(library, "cudaThreadSynchronize") != NULL, i < 2);
    EXPECT(dlsym(library, "cudaLogsCurrent") != NULL, i == 2);
    EXPECT(dlsym(library, "__cudaLaunchKernel") != NULL, i > 0);
    /* refused by name, remembered as an error */
    cudaError_t (*refused)(void) = (cudaError_t(*)(void))dlsym(library, "cudaIpcGetMemHandle");
    cudaError_t (*last)(void) = (cudaError_t(*)(void))dlsym(library, "cudaGetLastError");
    EXPECT(refused(), cudaErrorNotSupported);
    EXPECT(last(), cudaErrorNotSupported);
    EXPECT(last(), cudaSuccess);
  }
  return failed;
}
