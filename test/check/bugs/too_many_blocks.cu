// broken: deadlock-residency
// options: --gpu t4
// A barrier over all blocks of a plain launch: right while every block is resident, a hang with one block
// more. The repaired form asks how many fit. (NVIDIA/cub#369)
#include "../check.h"

enum { THREADS = 1024 };

__global__ void meet(unsigned *arrived, unsigned *out) {
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(arrived, 1);
    while (*(volatile unsigned *)arrived < gridDim.x)
      ;
    __threadfence();
  }
  __syncthreads();
  out[blockIdx.x * THREADS + threadIdx.x] = 1;
}

int main(int argc, char **argv) {
  bool fixed = fixed_form(argc, argv);
  int processors, each;
  CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0));
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, meet, THREADS, 0));
  int blocks = processors * each + (fixed ? 0 : 1);
  unsigned *arrived = device_zeros<unsigned>(1), *out = device_zeros<unsigned>(blocks * THREADS);
  meet<<<blocks, THREADS>>>(arrived, out);
  CHECK(cudaDeviceSynchronize());
  EXPECT(!fixed || download(out) == 1);
}
