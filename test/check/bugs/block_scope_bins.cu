// broken: race-scope
// A histogram in global memory whose adds hold within a block only: the bins of a warp lie scattered, and
// nobody reads what an add finds.
#include "../check.h"

enum { BLOCKS = 4, THREADS = 64, BINS = 7 };

template <bool fixed> __global__ void count(unsigned *bins) {
  unsigned *bin = &bins[(blockIdx.x * THREADS + threadIdx.x) % BINS];
  if (fixed)
    atomicAdd(bin, 1);
  else
    atomicAdd_block(bin, 1);
}

int main(int argc, char **argv) {
  bool fixed = fixed_form(argc, argv);
  unsigned *bins = device_zeros<unsigned>(BINS);
  (fixed ? count<true> : count<false>)<<<BLOCKS, THREADS>>>(bins);
  CHECK(cudaDeviceSynchronize());
  EXPECT(!fixed || download(bins) == (BLOCKS * THREADS + BINS - 1) / BINS);
}
