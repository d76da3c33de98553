// broken: missing-release
// Each block leaves its partial result and raises a flag; the next one waits, fences and reads. No fence
// stands between the result and the flag. (kokkos/kokkos#2681)
#include "../check.h"

enum { BLOCKS = 8, THREADS = 32 };

template <bool fixed> __global__ void scan(const unsigned *in, unsigned *partial, unsigned *flag) {
  unsigned b = blockIdx.x, before = 0;
  if (threadIdx.x != 0)
    return;
  if (b > 0) {
    while (atomicAdd(&flag[b - 1], 0) == 0)
      ;
    __threadfence();
    before = partial[b - 1];
  }
  partial[b] = before + in[b];
  if (fixed)
    __threadfence();
  atomicExch(&flag[b], 1);
}

int main(int argc, char **argv) {
  bool fixed = fixed_form(argc, argv);
  unsigned *in = device_numbers(BLOCKS), *partial = device_zeros<unsigned>(BLOCKS);
  unsigned *flag = device_zeros<unsigned>(BLOCKS);
  (fixed ? scan<true> : scan<false>)<<<BLOCKS, THREADS>>>(in, partial, flag);
  CHECK(cudaDeviceSynchronize());
  EXPECT(!fixed || download(partial + BLOCKS - 1) == BLOCKS * (BLOCKS + 1) / 2);
}
