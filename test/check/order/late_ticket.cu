// broken: race-global
// options: --schedules 64
// A block takes a ticket and reads its number afterwards: if another has taken one in between, both have the
// same number and write the same slot.
#include "../check.h"

enum { BLOCKS = 4 };

template <bool fixed> __global__ void append(unsigned *next, unsigned *slots) {
  unsigned slot;
  if (fixed) {
    slot = atomicAdd(next, 1);
  } else {
    atomicAdd(next, 1);
    slot = *(volatile unsigned *)next - 1;
  }
  slots[slot] = blockIdx.x + 1;
}

int main(int argc, char **argv) {
  bool fixed = fixed_form(argc, argv);
  unsigned *next = device_zeros<unsigned>(1), *slots = device_zeros<unsigned>(BLOCKS), sum = 0;
  (fixed ? append<true> : append<false>)<<<BLOCKS, 1>>>(next, slots);
  CHECK(cudaDeviceSynchronize());
  for (unsigned i = 0; i < BLOCKS; i++)
    sum += download(slots + i);
  EXPECT(!fixed || sum == BLOCKS * (BLOCKS + 1) / 2);
}
