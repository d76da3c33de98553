// run:
// stdout: ready
// The host polls an event until the kernel before it has run.
#include "run.h"

__global__ void work(int *out) {
  int value = 0;
  for (int i = 0; i < 20000; i++)
    value = value * 3 + i;
  out[threadIdx.x] = value;
}

int main() {
  int *out = device_zeros<int>(256);
  cudaEvent_t event;
  CHECK(cudaEventCreate(&event));
  FAILS(cudaEventQuery(event), cudaSuccess); // never recorded: complete
  work<<<1, 256>>>(out);
  CHECK(cudaEventRecord(event));
  cudaError_t error;
  while ((error = cudaEventQuery(event)) == cudaErrorNotReady)
    ;
  CHECK(error);
  puts("ready");
  CHECK(cudaEventDestroy(event));
}
