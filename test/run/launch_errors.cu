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

static int wrong;

// A call that has to be refused: with that error, or the ALSO that newer CUDA versions give (CUDA 13.0
// answers impossible shapes with cudaErrorInvalidValue); the error is gone once it was asked for.
static void refused(cudaError_t got, cudaError_t want, cudaError_t also, const char *what) {
  if (got != want && got != also && ++wrong)
    printf("%s: %s, should be %s\n", what, cudaGetErrorName(got), cudaGetErrorName(want));
  cudaError_t again = cudaGetLastError();
  if (again != got && ++wrong)
    printf("%s: then %s\n", what, cudaGetErrorName(again));
  if ((again = cudaGetLastError()) != cudaSuccess && ++wrong)
    printf("%s: then still %s\n", what, cudaGetErrorName(again));
}

#define REFUSED(call, error) refused(call, error, error, #call)
#define NO_KERNEL(call) refused(call, cudaErrorInvalidDeviceFunction, cudaErrorInvalidResourceHandle, #call)
#define LAUNCH_REFUSED(launch, error) \
  (launch, refused(cudaPeekAtLastError(), error, cudaErrorInvalidValue, #launch))

int main(void) {
  int *words = device_zeros<int>(1), value, most;
  LAUNCH_REFUSED((count<<<1, 1025, 8192>>>(words)), cudaErrorInvalidConfiguration);
  LAUNCH_REFUSED((count<<<1, dim3(32, 33), 4096>>>(words)), cudaErrorInvalidConfiguration);
  LAUNCH_REFUSED((count<<<1, dim3(1, 1, 65)>>>(words)), cudaErrorInvalidConfiguration);
  LAUNCH_REFUSED((count<<<0, 32>>>(words)), cudaErrorInvalidConfiguration);
  LAUNCH_REFUSED((count<<<1, 0>>>(words)), cudaErrorInvalidConfiguration);
  LAUNCH_REFUSED((count<<<dim3(1, 65536), 32>>>(words)), cudaErrorInvalidConfiguration);
  LAUNCH_REFUSED((bounded<<<1, 256>>>(words)), cudaErrorLaunchOutOfResources);
  // More shared memory than without asking, then more than there is, then as much as there is.
  LAUNCH_REFUSED((count<<<1, 32, 49153>>>(words)), cudaErrorInvalidValue);
  CHECK(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
  REFUSED(cudaFuncSetAttribute(count, cudaFuncAttributeMaxDynamicSharedMemorySize, most + 1),
          cudaErrorInvalidValue);
  CHECK(cudaFuncSetAttribute(count, cudaFuncAttributeMaxDynamicSharedMemorySize, most));
  count<<<1, 32, most>>>(words);
  CHECK(cudaDeviceSynchronize());
  EXPECT(download(words) == 32);

  REFUSED(cudaMemcpyToSymbol(ordinary, &most, sizeof most), cudaErrorInvalidSymbol);
  REFUSED(cudaMemcpyFromSymbol(&value, counter, 8), cudaErrorInvalidValue);
  struct cudaFuncAttributes attributes;
  NO_KERNEL(cudaFuncGetAttributes(&attributes, (const void *)plain_function));
  NO_KERNEL(cudaLaunchKernel((const void *)plain_function, 1, 1, NULL, 0, 0));
  REFUSED(cudaSetDevice(1000), cudaErrorInvalidDevice);
  void *memory;
  REFUSED(cudaMalloc(&memory, (size_t)1 << 50), cudaErrorMemoryAllocation);
  REFUSED(cudaFree(&value), cudaErrorInvalidValue);
  REFUSED(cudaFreeHost(&value), cudaErrorInvalidValue);
  bounded<<<1, 128>>>(words);
  CHECK(cudaDeviceSynchronize());
  EXPECT(download(words) == 160);
  EXPECT(plain_function() == 1);
  if (wrong)
    return 1;
  puts("all refused, none sticky");
}
