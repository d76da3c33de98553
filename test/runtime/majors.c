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

/* A fat binary by hand: one entry, PTX stored as it is. */
static const char ptx[] = ".version 6.4\n.target sm_50\n.address_size 64\n"
                          ".visible .entry seven(.param .u64 p)\n{\n  .reg .b64 %rd<3>;\n  .reg .b32 %r<2>;\n"
                          "  ld.param.u64 %rd1, [p];\n  cvta.to.global.u64 %rd2, %rd1;\n"
                          "  mov.u32 %r1, 7;\n  st.global.u32 [%rd2], %r1;\n  ret;\n}\n";
struct fat_binary {
  uint32_t magic;
  uint16_t version, header_bytes;
  uint64_t bytes;
  struct {
    uint16_t kind, version;
    uint32_t header_bytes;
    uint64_t payload_bytes;
    uint32_t packed_bytes, options;
    uint16_t minor, major;
    uint32_t sm, name_offset, name_bytes;
    uint64_t flags, zero, plain_bytes;
  } entry;
  char text[(sizeof ptx + 7) / 8 * 8];
};
static struct fat_binary fat;
static struct {
  uint32_t magic, version;
  const void *image;
  void *unused;
} wrapper = {0x466243b1, 1, &fat, NULL};
static char stub; /* its address names the kernel */

typedef void **(*register_binary)(void *);
typedef void (*register_function)(void **, const char *, char *, const char *, int, void *, void *, void *,
                                  void *, int *);

/* Registers, asks for attributes, launches by the stub's address as programs of before CUDA 12 do. */
static void check_kernel(const char *name, void *library, size_t attribute_bytes) {
  register_binary begin = (register_binary)dlsym(library, "__cudaRegisterFatBinary");
  register_function add = (register_function)dlsym(library, "__cudaRegisterFunction");
  void (*end)(void **) = (void (*)(void **))dlsym(library, "__cudaUnregisterFatBinary");
  unsigned (*push)(dim3, dim3, size_t, void *) =
      (unsigned (*)(dim3, dim3, size_t, void *))dlsym(library, "__cudaPushCallConfiguration");
  cudaError_t (*pop)(dim3 *, dim3 *, size_t *, void *) =
      (cudaError_t(*)(dim3 *, dim3 *, size_t *, void *))dlsym(library, "__cudaPopCallConfiguration");
  cudaError_t (*launch)(const void *, dim3, dim3, void **, size_t, void *) =
      (cudaError_t(*)(const void *, dim3, dim3, void **, size_t, void *))dlsym(library, "cudaLaunchKernel");
  cudaError_t (*attributes)(void *, const void *) =
      (cudaError_t(*)(void *, const void *))dlsym(library, "cudaFuncGetAttributes");
  cudaError_t (*allocate)(void **, size_t) = (cudaError_t(*)(void **, size_t))dlsym(library, "cudaMalloc");
  cudaError_t (*copy)(void *, const void *, size_t, int) =
      (cudaError_t(*)(void *, const void *, size_t, int))dlsym(library, "cudaMemcpy");

  void **handle = begin(&wrapper);
  add(handle, &stub, "seven", "seven", -1, NULL, NULL, NULL, NULL, NULL);
  unsigned char room[256];
  memset(room, 0xa5, sizeof room);
  EXPECT(attributes(room, &stub), cudaSuccess);
  int threads;
  memcpy(&threads, room + 24, sizeof threads);
  EXPECT(threads, 1024);
  for (size_t i = attribute_bytes; i < sizeof room; i++)
    EXPECT(room[i], 0xa5);

  void *pointer = NULL, *stream = NULL, *arguments[] = {&pointer};
  dim3 grid, block;
  size_t shared = 1;
  int value = 0;
  EXPECT(allocate(&pointer, 4), cudaSuccess);
  EXPECT(push((dim3){1, 1, 1}, (dim3){1, 1, 1}, 0, NULL), 0);
  EXPECT(pop(&grid, &block, &shared, &stream), cudaSuccess);
  EXPECT(shared, 0);
  EXPECT(launch(&stub, grid, block, arguments, shared, stream), cudaSuccess);
  EXPECT(copy(&value, pointer, 4, 2), cudaSuccess);
  EXPECT(value, 7);
  EXPECT(pop(&grid, &block, &shared, &stream), cudaErrorMissingConfiguration);
  /* the name of this error changed with CUDA 13 */
  EXPECT(launch(&stub, (dim3){1, 1, 1}, (dim3){2048, 1, 1}, arguments, 0, NULL),
         strcmp(name, "libcudart.so.13") == 0 ? cudaErrorInvalidValue : cudaErrorInvalidConfiguration);
  end(handle);
  EXPECT(launch(&stub, grid, block, arguments, 0, NULL), cudaErrorInvalidResourceHandle);
}

static void make_fat_binary(void) {
  fat.magic = 0xba55ed50;
  fat.version = 1;
  fat.header_bytes = 16;
  fat.bytes = sizeof fat - 16;
  fat.entry.kind = 1;
  fat.entry.version = 0x101;
  fat.entry.header_bytes = sizeof fat.entry;
  fat.entry.payload_bytes = sizeof fat.text;
  fat.entry.major = 6, fat.entry.minor = 4;
  fat.entry.sm = 50;
  fat.entry.flags = 0x11;
  memcpy(fat.text, ptx, sizeof ptx);
}

int main(int argc, char **argv) {
  make_fat_binary();
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
    check_kernel(name, library, i == 0 ? 52 : 144);
    /* what one version has and another has not */
    EXPECT(dlsym(library, "cudaBindTexture") != NULL, i == 0);
    EXPECT(dlsym(library, "cudaThreadSynchronize") != NULL, i < 2);
    EXPECT(dlsym(library, "cudaLogsCurrent") != NULL, i == 2);
    EXPECT(dlsym(library, "__cudaLaunchKernel") != NULL, i > 0);
    ((cudaError_t(*)(void))dlsym(library, "cudaGetLastError"))();
    /* refused by name, remembered as an error */
    cudaError_t (*refused)(void) = (cudaError_t(*)(void))dlsym(library, "cudaIpcGetMemHandle");
    cudaError_t (*last)(void) = (cudaError_t(*)(void))dlsym(library, "cudaGetLastError");
    EXPECT(refused(), cudaErrorNotSupported);
    EXPECT(last(), cudaErrorNotSupported);
    EXPECT(last(), cudaSuccess);
  }
  return failed;
}
