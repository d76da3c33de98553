// run:
// stdout: all refused, none sticky
// Launches and calls that have to be refused, each with CUDA's own error, and a launch that works after them.
#include "run.h"

__device__ int counter;
int ordinary;

__global__ void count(int *words) {
  extern __shared__ int row[];
  row[threadIdx.x] = 1;
  atomicAdd(words, row[threadIdx.x]);
}

__global__ void __launch_bounds__(128) bounded(int *words) {
  atomicAdd(words, 1);
}

static int plain_function(void) {
  return 1;
}

#define LAUNCH_FAILS(launch, error)   \
  do {                                \
    launch;                           \
    FAILS(cudaGetLastError(), error); \
    CHECK(cudaGetLastError());        \
  } while (0)

int main(void) {
  int *words = device_zeros<int>(1), value, most;
  LAUNCH_FAILS((count<<<1, 1025, 4096>>>(words)), cudaErrorInvalidConfiguration);
  LAUNCH_FAILS((count<<<1, dim3(32, 33), 4096>>>(words)), cudaErrorInvalidConfiguration);
  LAUNCH_FAILS((count<<<1, dim3(1, 1, 65)>>>(words)), cudaErrorInvalidConfiguration);
  LAUNCH_FAILS((count<<<0, 32>>>(words)), cudaErrorInvalidConfiguration);
  LAUNCH_FAILS((count<<<1, 0>>>(words)), cudaErrorInvalidConfiguration);
  LAUNCH_FAILS((count<<<dim3(1, 65536), 32>>>(words)), cudaErrorInvalidConfiguration);
  LAUNCH_FAILS((bounded<<<1, 256>>>(words)), cudaErrorLaunchOutOfResources);
  // More shared memory than without asking, then more than there is, then as much as there is.
  LAUNCH_FAILS((count<<<1, 32, 49153>>>(words)), cudaErrorInvalidValue);
  CHECK(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
  FAILS(cudaFuncSetAttribute(count, cudaFuncAttributeMaxDynamicSharedMemorySize, most + 1),
        cudaErrorInvalidValue);
  FAILS(cudaGetLastError(), cudaErrorInvalidValue);
  CHECK(cudaFuncSetAttribute(count, cudaFuncAttributeMaxDynamicSharedMemorySize, most));
  count<<<1, 32, most>>>(words);
  CHECK(cudaDeviceSynchronize());
  EXPECT(download(words) == 32);

  FAILS(cudaMemcpyToSymbol(ordinary, &most, sizeof most), cudaErrorInvalidSymbol);
  FAILS(cudaMemcpyFromSymbol(&value, counter, 8), cudaErrorInvalidValue);
  struct cudaFuncAttributes attributes;
  FAILS(cudaFuncGetAttributes(&attributes, (const void *)plain_function), cudaErrorInvalidDeviceFunction);
  FAILS(cudaLaunchKernel((const void *)plain_function, 1, 1, NULL, 0, 0), cudaErrorInvalidDeviceFunction);
  FAILS(cudaSetDevice(1000), cudaErrorInvalidDevice);
  void *memory;
  FAILS(cudaMalloc(&memory, (size_t)1 << 50), cudaErrorMemoryAllocation);
  FAILS(cudaFree(&value), cudaErrorInvalidValue);
  FAILS(cudaFreeHost(&value), cudaErrorInvalidValue);
  FAILS(cudaPeekAtLastError(), cudaErrorInvalidValue);
  FAILS(cudaGetLastError(), cudaErrorInvalidValue);
  CHECK(cudaGetLastError());
  bounded<<<1, 128>>>(words);
  CHECK(cudaDeviceSynchronize());
  EXPECT(download(words) == 160);
  EXPECT(plain_function() == 1);
  puts("all refused, none sticky");
}
