// broken: race-shared
// Thread 0 clears the block's sum and then adds to it like every warp: its own atomic lies between its plain
// store and the atomics of the others, and orders nothing.
#include "../check.h"

enum { BLOCKS = 2, THREADS = 128 };

template <bool fixed> __global__ void sums(const unsigned *in, unsigned *out) {
  __shared__ unsigned sum;
  if (threadIdx.x == 0)
    sum = 0;
  if (fixed)
    __syncthreads();
  if (threadIdx.x % 32 == 0)
    atomicAdd(&sum, in[threadIdx.x]);
  __syncthreads();
  if (threadIdx.x == 0)
    out[blockIdx.x] = sum;
}

int main(int argc, char **argv) {
  bool fixed = fixed_form(argc, argv);
  unsigned *in = device_numbers(THREADS), *out = device_zeros<unsigned>(BLOCKS);
  (fixed ? sums<true> : sums<false>)<<<BLOCKS, THREADS>>>(in, out);
  CHECK(cudaDeviceSynchronize());
  EXPECT(!fixed || download(out + 1) == 1 + 33 + 65 + 97);
}
