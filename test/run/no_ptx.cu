// nvcc: -gencode=arch=compute_75,code=sm_75
// run:
// exit: 125
// stdout: cudaErrorNoKernelImageForDevice
// stderr~ ^muster: .*PTX
// cpu: a GPU of that architecture runs it
// A program without PTX: said by name, with the way out.
#include "run.h"

__global__ void nothing(void) {}

int main(void) {
  nothing<<<1, 1>>>();
  puts(cudaGetErrorName(cudaGetLastError()));
}
