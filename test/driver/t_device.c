/* t_device.c: devices, contexts, finding functions. */
#include "t.h"

static void errors(void) {
  const char *text = NULL;
  OK(cuGetErrorName(CUDA_ERROR_INVALID_VALUE, &text));
  CHECK(strcmp(text, "CUDA_ERROR_INVALID_VALUE") == 0);
  OK(cuGetErrorString(CUDA_ERROR_INVALID_VALUE, &text));
  CHECK(strcmp(text, "invalid argument") == 0);
  OK(cuGetErrorString(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, &text));
  CHECK(strcmp(text, "too many blocks in cooperative launch") == 0);
  text = "x";
  GIVES(CUDA_ERROR_INVALID_VALUE, cuGetErrorName((CUresult)12345, &text));
  CHECK(text == NULL);
}

static void queries(void) {
  int count, value, major, minor;
  char name[64];
  size_t bytes;
  CUdevice device;
  OK(cuDeviceGetCount(&count));
  CHECK(count >= 1);
  OK(cuDeviceGet(&device, 0));
  GIVES(CUDA_ERROR_INVALID_DEVICE, cuDeviceGet(&device, count));
  GIVES(CUDA_ERROR_INVALID_DEVICE, cuDeviceGet(&device, -1));
  OK(cuDeviceGetName(name, sizeof name, device));
  CHECK(strlen(name) > 3);
  OK(cuDeviceTotalMem(&bytes, device));
  CHECK(bytes >= 1 << 28);
  OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, device));
  EQUAL(value, 32);
  OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, device));
  EQUAL(value, 1024);
  OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, device));
  EQUAL(value, 65535);
  OK(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
  OK(cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device));
  int other_major, other_minor;
  OK(cuDeviceComputeCapability(&other_major, &other_minor, device));
  EQUAL(major, other_major);
  EQUAL(minor, other_minor);
  GIVES(CUDA_ERROR_INVALID_VALUE, cuDeviceGetAttribute(&value, (CUdevice_attribute)0, device));
  GIVES(CUDA_ERROR_INVALID_VALUE, cuDeviceGetAttribute(NULL, CU_DEVICE_ATTRIBUTE_WARP_SIZE, device));
  GIVES(CUDA_ERROR_INVALID_DEVICE, cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 99));
  OK(cuDeviceCanAccessPeer(&value, device, device));
  EQUAL(value, 0);
  OK(cuDriverGetVersion(&value));
  CHECK(value >= 12000);
}

/* What an H200 answers, an H200's profile answers. */
static void profile_h200(void) {
  static const struct {
    CUdevice_attribute attribute;
    int value;
  } facts[] = {
      {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 132},
      {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, 49152},
      {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 232448},
      {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 233472},
      {CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK, 1024},
      {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, 65536},
      {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, 65536},
      {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 2048},
      {CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, 32},
      {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 1980000},
      {CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, 3201000},
      {CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 6016},
      {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 62914560},
      {CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE, 39321600},
      {CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE, 134217728},
      {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 9},
      {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0},
      {CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH, 1},
      {CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, 1},
      {CU_DEVICE_ATTRIBUTE_ECC_ENABLED, 1},
      {CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT, 3},
      {CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO, 2},
      {CU_DEVICE_ATTRIBUTE_MEM_SYNC_DOMAIN_COUNT, 4},
      {CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY, 65536},
      {CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 1},
      {CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY, 1},
      {CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY, 1},
      {CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, 1},
      {CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS, 1},
      {CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED, 1},
      {CU_DEVICE_ATTRIBUTE_MAX_PITCH, 2147483647},
      {CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT, 512},
      {CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT, 32},
      {CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, 1},
  };
  char name[64];
  OK(cuDeviceGetName(name, sizeof name, 0));
  if (strcmp(name, "NVIDIA H200") != 0)
    t_skip("not an H200");
  for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++) {
    int value;
    OK(cuDeviceGetAttribute(&value, facts[i].attribute, 0));
    if (value != facts[i].value)
      t_fail(__FILE__, __LINE__, "attribute %d is %d, not %d", facts[i].attribute, value, facts[i].value);
  }
}

static void contexts(void) {
  CUcontext a, b, c;
  CUdevice device;
  unsigned flags, version;
  int active;
  GIVES(CUDA_ERROR_INVALID_CONTEXT, cuCtxSynchronize(NULL));
  OK(cuCtxGetCurrent(&a));
  CHECK(a == NULL);
  OK(cuCtxCreate(&a, NULL, CU_CTX_SCHED_SPIN, 0));
  OK(cuCtxCreate(&b, NULL, 0, 0));
  CHECK(a != b);
  OK(cuCtxGetCurrent(&c));
  CHECK(c == b);
  OK(cuCtxPopCurrent(&c));
  CHECK(c == b);
  OK(cuCtxGetCurrent(&c));
  CHECK(c == a);
  OK(cuCtxGetFlags(&flags));
  CHECK((flags & CU_CTX_SCHED_MASK) == CU_CTX_SCHED_SPIN);
  OK(cuCtxGetDevice(&device, NULL));
  EQUAL(device, 0);
  OK(cuCtxSetCurrent(b));
  OK(cuCtxGetCurrent(&c));
  CHECK(c == b);
  OK(cuCtxGetApiVersion(b, &version));
  CHECK(version >= 3010);
  OK(cuCtxDestroy(a));
  OK(cuCtxDestroy(b));
  OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
  EQUAL(active, 0);
  OK(cuDevicePrimaryCtxRetain(&a, 0));
  OK(cuDevicePrimaryCtxRetain(&b, 0));
  CHECK(a == b);
  OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
  EQUAL(active, 1);
  OK(cuDevicePrimaryCtxRelease(0));
  OK(cuDevicePrimaryCtxRelease(0));
  OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
  EQUAL(active, 0);
  GIVES(CUDA_ERROR_INVALID_CONTEXT, cuDevicePrimaryCtxRelease(0));
  GIVES(CUDA_ERROR_INVALID_VALUE, cuCtxCreate(&a, NULL, 3, 0));
  GIVES(CUDA_ERROR_INVALID_DEVICE, cuCtxCreate(&a, NULL, 0, 99));
}

static void limits(void) {
  size_t value;
  OK(cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE));
  EQUAL(value, 1024);
  OK(cuCtxGetLimit(&value, CU_LIMIT_PRINTF_FIFO_SIZE));
  EQUAL(value, 8650752);
  OK(cuCtxGetLimit(&value, CU_LIMIT_MALLOC_HEAP_SIZE));
  EQUAL(value, 8 << 20);
  GIVES(CUDA_ERROR_UNSUPPORTED_LIMIT, cuCtxGetLimit(&value, CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH));
  OK(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 4096));
  OK(cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE));
  EQUAL(value, 4096);
  GIVES(CUDA_ERROR_INVALID_VALUE, cuCtxSetLimit((CUlimit)77, 1));
  GIVES(CUDA_ERROR_INVALID_VALUE, cuCtxGetLimit(NULL, CU_LIMIT_STACK_SIZE));
  int least, greatest;
  OK(cuCtxGetStreamPriorityRange(&least, &greatest));
  CHECK(least == 0 && greatest < 0);
}

static void by_name(void) {
  void *f = NULL;
  CUdriverProcAddressQueryResult status;
  OK(cuGetProcAddress("cuMemAlloc", &f, 12000, 0, &status));
  CHECK(f != NULL);
  EQUAL(status, CU_GET_PROC_ADDRESS_SUCCESS);
  CHECK(f == (void *)(uintptr_t)cu.cuMemAlloc);
  OK(cuGetProcAddress("cuStreamSynchronize", &f, 12000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM,
                      &status));
  CHECK(f != NULL && f != (void *)(uintptr_t)cu.cuStreamSynchronize);
  if (t_on_cpu) /* a GPU's driver crashes */
    GIVES(CUDA_ERROR_INVALID_VALUE, cuGetProcAddress(NULL, &f, 12000, 0, &status));
  OK(cuGetProcAddress("cuNoSuchFunction", &f, 12000, 0, &status));
  CHECK(f == NULL);
  EQUAL(status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
  OK(cuGetProcAddress("cuLibraryLoadData", &f, 11000, 0, &status));
  CHECK(f == NULL);
  EQUAL(status, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
}

const t_test t_device_tests[] = {{"errors", errors, true},     {"queries", queries, true},
                                 {"contexts", contexts, true}, {"limits", limits, false},
                                 {"by_name", by_name, true},   {"profile_h200", profile_h200, true},
                                 {NULL, NULL, false}};
