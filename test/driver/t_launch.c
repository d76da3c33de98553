/* t_launch.c: launches and what refuses them, occupancy, errors that stay. */
#include "t.h"

static void runs(void) {
  enum { N = 10000 };
  static float x[N], y[N];
  CUdeviceptr dx = t_memory(sizeof x), dy = t_memory(sizeof y);
  float a = 3;
  unsigned n = N;
  for (int i = 0; i < N; i++) {
    x[i] = (float)i;
    y[i] = (float)(N - i);
  }
  OK(cuMemcpyHtoD(dx, x, sizeof x));
  OK(cuMemcpyHtoD(dy, y, sizeof y));
  OK(LAUNCH(t_kernel("axpy"), (N + 255) / 256, 256, 0, NULL, &a, &dx, &dy, &n));
  OK(cuMemcpyDtoH(y, dy, sizeof y));
  for (int i = 0; i < N; i++)
    CHECK(y[i] == (float)(N - i) + 3.0f * (float)i);
}

static void parameters(void) {
  struct {
    unsigned three[3], one;
    unsigned long long eight;
  } got;
  CUdeviceptr out = t_memory(sizeof got);
  unsigned three[3] = {1, 2, 3};
  unsigned char one = 200;
  unsigned long long eight = 0x123456789abcdefull;
  CUfunction f = t_kernel("params");
  OK(LAUNCH(f, 1, 1, 0, NULL, &out, three, &one, &eight));
  OK(cuMemcpyDtoH(&got, out, sizeof got));
  CHECK(got.three[0] == 1 && got.three[2] == 3 && got.one == 200 && got.eight == eight);
  struct {
    CUdeviceptr out;
    unsigned three[3];
    unsigned char one;
    unsigned long long eight;
  } all = {out, {4, 5, 6}, 7, 8};
  size_t bytes = sizeof all;
  void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &all, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                   CU_LAUNCH_PARAM_END};
  OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra));
  OK(cuMemcpyDtoH(&got, out, sizeof got));
  CHECK(got.three[0] == 4 && got.three[2] == 6 && got.one == 7 && got.eight == 8);
  void *both[] = {&out};
  GIVES(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, both, extra));
  GIVES(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
}

static void parameter_bytes(void) {
  struct {
    CUdeviceptr out;
    char rest[64];
  } all = {t_memory(64), {0}};
  size_t bytes = 16;
  void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &all, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                   CU_LAUNCH_PARAM_END};
  if (!t_on_cpu)
    t_skip("a GPU's driver does not look");
  GIVES(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(t_kernel("params"), 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra));
  bytes = 48;
  GIVES(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(t_kernel("params"), 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra));
}

static void shapes(void) {
  CUfunction f = t_kernel("bounded"), shared = t_kernel("shared");
  CUdeviceptr out = t_memory(4);
  void *p[] = {&out};
  unsigned got;
  GIVES(CUDA_ERROR_INVALID_VALUE,
        cuLaunchKernel(t_kernel("stores_to"), 1, 1, 1, 2048, 1, 1, 0, NULL, p, NULL));
  GIVES(CUDA_ERROR_INVALID_VALUE,
        cuLaunchKernel(t_kernel("stores_to"), 1, 65536, 1, 1, 1, 1, 0, NULL, p, NULL));
  GIVES(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(t_kernel("stores_to"), 0, 1, 1, 1, 1, 1, 0, NULL, p, NULL));
  GIVES(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(t_kernel("stores_to"), 1, 1, 1, 1, 0, 1, 0, NULL, p, NULL));
  GIVES(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(t_kernel("stores_to"), 1, 1, 1, 1, 1, 65, 0, NULL, p, NULL));
  GIVES(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(f, 1, 1, 1, 129, 1, 1, 0, NULL, p, NULL));
  OK(cuLaunchKernel(f, 1, 1, 1, 128, 1, 1, 0, NULL, p, NULL));
  OK(cuMemcpyDtoH(&got, out, 4));
  EQUAL(got, 128);
  GIVES(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(t_kernel("required"), 1, 1, 1, 32, 1, 1, 0, NULL, p, NULL));
  OK(cuLaunchKernel(t_kernel("required"), 1, 1, 1, 64, 1, 1, 0, NULL, p, NULL));
  OK(cuLaunchKernel(shared, 1, 1, 1, 64, 1, 1, 1000, NULL, p, NULL));
  OK(cuMemcpyDtoH(&got, out, 4));
  EQUAL(got, 1000);
  GIVES(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(shared, 1, 1, 1, 64, 1, 1, 24577, NULL, p, NULL));
  OK(cuFuncSetAttribute(shared, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 30000));
  OK(cuLaunchKernel(shared, 1, 1, 1, 64, 1, 1, 30000, NULL, p, NULL));
  OK(cuMemcpyDtoH(&got, out, 4));
  EQUAL(got, 30000);
  GIVES(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(shared, 1, 1, 1, 64, 1, 1, 30001, NULL, p, NULL));
}

static void occupancy(void) {
  int blocks, grid, size, sms, threads;
  size_t bytes;
  CUfunction f = t_kernel("fill"), shared = t_kernel("shared");
  OK(cuDeviceGetAttribute(&sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0));
  OK(cuDeviceGetAttribute(&threads, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 0));
  OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, f, 1024, 0));
  EQUAL(blocks, threads / 1024);
  OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, f, 256, 0));
  EQUAL(blocks, threads / 256);
  OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, f, 2048, 0));
  EQUAL(blocks, 0);
  GIVES(CUDA_ERROR_INVALID_VALUE, cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, f, 0, 0));
  OK(cuOccupancyMaxPotentialBlockSize(&grid, &size, f, NULL, 0, 0));
  EQUAL(grid * size, sms * threads);
  int per_sm, reserved;
  OK(cuDeviceGetAttribute(&per_sm, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 0));
  OK(cuDeviceGetAttribute(&reserved, CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK, 0));
  OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, shared, 32, 0));
  EQUAL(blocks, per_sm / (24576 + reserved));
  OK(cuOccupancyAvailableDynamicSMemPerBlock(&bytes, shared, 2, 32));
  int again;
  OK(cuFuncSetAttribute(shared, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)bytes));
  OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&again, shared, 32, bytes));
  CHECK(again >= 2);
}

static void cooperative(void) {
  int per_sm, sms;
  unsigned got;
  CUdeviceptr word = t_memory(4);
  CUfunction f = t_kernel("meet");
  void *p[] = {&word};
  OK(cuDeviceGetAttribute(&sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0));
  OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, f, 1024, 0));
  unsigned fit = (unsigned)(per_sm * sms);
  GIVES(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
        cuLaunchCooperativeKernel(f, fit + 1, 1, 1, 1024, 1, 1, 0, NULL, p));
  OK(cuLaunchCooperativeKernel(f, fit, 1, 1, 1024, 1, 1, 0, NULL, p));
  OK(cuMemcpyDtoH(&got, word, 4));
  EQUAL(got, fit);
  CUlaunchAttribute a = {.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE, .value = {.cooperative = 1}};
  CUlaunchConfig c = {.gridDimX = fit + 1,
                      .gridDimY = 1,
                      .gridDimZ = 1,
                      .blockDimX = 1024,
                      .blockDimY = 1,
                      .blockDimZ = 1,
                      .attrs = &a,
                      .numAttrs = 1};
  GIVES(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, cuLaunchKernelEx(&c, f, p, NULL));
  c.numAttrs = 0;
  c.gridDimX = 1;
  OK(cuMemsetD32(word, 0, 1));
  OK(cuLaunchKernelEx(&c, f, p, NULL));
  OK(cuMemcpyDtoH(&got, word, 4));
  EQUAL(got, 1);
}

static void clusters(void) {
  int can, n;
  CUdeviceptr p = t_memory(4096);
  unsigned count = 1024, value = 4, last;
  void *params[] = {&p, &value, &count};
  CUfunction f = t_kernel("fill");
  CUlaunchAttribute a = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, .value = {.clusterDim = {2, 1, 1}}};
  CUlaunchConfig c = {.gridDimX = 8,
                      .gridDimY = 1,
                      .gridDimZ = 1,
                      .blockDimX = 128,
                      .blockDimY = 1,
                      .blockDimZ = 1,
                      .attrs = &a,
                      .numAttrs = 1};
  OK(cuDeviceGetAttribute(&can, CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH, 0));
  if (!can) {
    CHECK(cu.cuLaunchKernelEx(&c, f, params, NULL) != CUDA_SUCCESS);
    t_skip("no clusters on this device");
  }
  OK(cuLaunchKernelEx(&c, f, params, NULL));
  OK(cuMemcpyDtoH(&last, p + 4092, 4));
  EQUAL(last, 4);
  OK(cuOccupancyMaxPotentialClusterSize(&n, f, &c));
  EQUAL(n, 8);
  c.gridDimX = 7; /* no multiple of the cluster */
  CHECK(cu.cuLaunchKernelEx(&c, f, params, NULL) != CUDA_SUCCESS);
  c.gridDimX = 32;
  a.value.clusterDim.x = 16; /* not without asking */
  GIVES(CUDA_ERROR_INVALID_CLUSTER_SIZE, cuLaunchKernelEx(&c, f, params, NULL));
  value = 5;
  OK(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1));
  OK(cuLaunchKernelEx(&c, f, params, NULL));
  OK(cuMemcpyDtoH(&last, p + 4092, 4));
  EQUAL(last, 5);
}

/* How many clusters of which size an H200 has room for, at one and at two blocks an SM. */
static void clusters_h200(void) {
  static const int want[][3] = {{1, 132, 264}, {2, 66, 132}, {3, 39, 79}, {4, 30, 62},
                                {5, 22, 47},   {6, 17, 39},  {7, 15, 32}, {8, 15, 30},
                                {9, 9, 23},    {10, 7, 21},  {12, 7, 16}, {16, 7, 14}};
  char name[64];
  OK(cuDeviceGetName(name, sizeof name, 0));
  if (strcmp(name, "NVIDIA H200") != 0)
    t_skip("not an H200");
  CUfunction f = t_kernel("shared");
  OK(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 150000));
  OK(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1));
  for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
    CUlaunchAttribute a = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                           .value = {.clusterDim = {(unsigned)want[i][0], 1, 1}}};
    CUlaunchConfig c = {.gridDimX = 5040,
                        .gridDimY = 1,
                        .gridDimZ = 1,
                        .blockDimX = 1024,
                        .blockDimY = 1,
                        .blockDimZ = 1,
                        .sharedMemBytes = 150000,
                        .attrs = &a,
                        .numAttrs = 1};
    int n;
    OK(cuOccupancyMaxActiveClusters(&n, f, &c));
    EQUAL(n, want[i][1]);
    c.sharedMemBytes = 0;
    OK(cuOccupancyMaxActiveClusters(&n, f, &c));
    EQUAL(n, want[i][2]);
  }
}

/* A fault ends the context: every call that needs it says so, until it is gone. */
static void sticky(void) {
  CUdeviceptr null = 8, p;
  size_t free_bytes, total;
  int value;
  OK(LAUNCH(t_kernel("stores_to"), 1, 1, 0, NULL, &null));
  GIVES(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize(NULL));
  GIVES(CUDA_ERROR_ILLEGAL_ADDRESS, cuMemAlloc(&p, 16));
  GIVES(CUDA_ERROR_ILLEGAL_ADDRESS, cuMemGetInfo(&free_bytes, &total));
  GIVES(CUDA_ERROR_ILLEGAL_ADDRESS, cuStreamQuery(NULL));
  OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0));
  cu.cuCtxDestroy(t_context);
  if (!t_on_cpu)
    return; /* a GPU stays so for the life of the process */
  OK(cuCtxCreate(&t_context, NULL, 0, 0));
  OK(cuMemAlloc(&p, 16));
}

static void trap(void) {
  OK(cuLaunchKernel(t_kernel("traps"), 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
  GIVES(CUDA_ERROR_LAUNCH_FAILED, cuCtxSynchronize(NULL));
}

static void assertion(void) {
  OK(cuLaunchKernel(t_kernel("asserts"), 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
  GIVES(CUDA_ERROR_ASSERT, cuCtxSynchronize(NULL));
}

static void misaligned(void) {
  CUdeviceptr odd = t_memory(64) + 2;
  OK(LAUNCH(t_kernel("stores_to"), 1, 1, 0, NULL, &odd));
  GIVES(CUDA_ERROR_MISALIGNED_ADDRESS, cuCtxSynchronize(NULL));
}

const t_test t_launch_tests[] = {{"runs", runs, false},
                                 {"parameters", parameters, false},
                                 {"parameter_bytes", parameter_bytes, false},
                                 {"shapes", shapes, false},
                                 {"occupancy", occupancy, false},
                                 {"cooperative", cooperative, false},
                                 {"clusters", clusters, false},
                                 {"clusters_h200", clusters_h200, false},
                                 {"sticky", sticky, false},
                                 {"trap", trap, false},
                                 {"assertion", assertion, false},
                                 {"misaligned", misaligned, false},
                                 {NULL, NULL, false}};
