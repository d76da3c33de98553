// broken: race-scope
// Atomics that hold within a block only, on a word that all blocks add to. (rapidsai/cudf#16051)
#include "../check.h"

enum { BLOCKS = 8, THREADS = 64 };

template <bool fixed> __global__ void count(unsigned *total) {
  if (fixed)
    atomicAdd(total, 1);
  else
    atomicAdd_block(total, 1);
}

int main(int argc, char **argv) {
  bool fixed = fixed_form(argc, argv);
  unsigned *total = device_zeros<unsigned>(1);
  (fixed ? count<true> : count<false>)<<<BLOCKS, THREADS>>>(total);
  CHECK(cudaDeviceSynchronize());
  EXPECT(!fixed || download(total) == BLOCKS * THREADS);
}
