// nvcc: -gencode=arch=compute_90,code=compute_90
// run:
// options: --gpu t4
// stdout: cudaErrorNoKernelImageForDevice
// stderr~ ^muster: .*(sm_90|9\.0).*(h100|h200)
// cpu: only there is a GPU to choose
// run:
// stdout: cudaSuccess
// stderr~ ^muster: .*(h100|h200)
// run:
// options: --gpu h200
// stdout: cudaSuccess
// A program whose PTX is for a newer GPU than the chosen one: told which there is and which profile fits; by
// itself muster takes the smallest that fits and says so.
#include "run.h"

__global__ void nothing(void) {}

int main(void) {
  nothing<<<1, 1>>>();
  cudaError_t error = cudaGetLastError();
  if (error == cudaSuccess)
    error = cudaDeviceSynchronize();
  puts(cudaGetErrorName(error));
}
