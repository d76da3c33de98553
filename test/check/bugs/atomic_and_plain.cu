// broken: race-global
// One block adds to a word with atomics, another reads it with a plain load: an atomic on one side makes no
// race safe.
#include "../check.h"

enum { THREADS = 64 };

template <bool fixed> __global__ void watch(unsigned *total, unsigned *seen) {
  if (blockIdx.x == 0)
    atomicAdd(total, 1);
  else
    seen[threadIdx.x] = fixed ? atomicAdd(total, 0) : *total;
}

int main(int argc, char **argv) {
  bool fixed = fixed_form(argc, argv);
  unsigned *total = device_zeros<unsigned>(1), *seen = device_zeros<unsigned>(THREADS);
  (fixed ? watch<true> : watch<false>)<<<2, THREADS>>>(total, seen);
  CHECK(cudaDeviceSynchronize());
  EXPECT(!fixed || download(total) == THREADS);
}
