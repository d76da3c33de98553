// broken: race-global
// A plain look whether the atomic is worth its cost: the look races with the other blocks' atomics.
#include "../check.h"

enum { BLOCKS = 4, THREADS = 64 };

template <bool fixed> __global__ void largest(const unsigned *in, unsigned *max) {
  unsigned value = in[blockIdx.x * blockDim.x + threadIdx.x];
  unsigned seen; // not `?:`, which would make both reads volatile
  if (fixed)
    seen = *(volatile unsigned *)max;
  else
    seen = *max;
  if (seen < value)
    atomicMax(max, value);
}

int main(int argc, char **argv) {
  bool fixed = fixed_form(argc, argv);
  unsigned *in = device_numbers(BLOCKS * THREADS), *max = device_zeros<unsigned>(1);
  (fixed ? largest<true> : largest<false>)<<<BLOCKS, THREADS>>>(in, max);
  CHECK(cudaDeviceSynchronize());
  EXPECT(!fixed || download(max) == BLOCKS * THREADS);
}
