// note: needs-fairness
// options: --gpu t4 --schedules 64
// Block i waits for block i - 1, which is there only if blocks start in the order of their index: nothing
// says that they do. The repaired form draws its tile when it runs. 48 KiB a block: fewer are resident than
// there are. (NVIDIA/cub#245)
#include "../check.h"

enum { BLOCKS = 64, THREADS = 32, SHARED_BYTES = 48 << 10 };

template <bool fixed>
__global__ void scan(const unsigned *in, unsigned *prefix, unsigned *ready, unsigned *drawn) {
  if (threadIdx.x != 0)
    return;
  unsigned tile = fixed ? atomicAdd(drawn, 1) : blockIdx.x, before = 0;
  if (tile > 0) {
    while (*(volatile unsigned *)&ready[tile - 1] == 0)
      ;
    __threadfence();
    before = prefix[tile - 1];
  }
  prefix[tile] = before + in[tile];
  __threadfence();
  *(volatile unsigned *)&ready[tile] = 1;
}

int main(int argc, char **argv) {
  bool fixed = fixed_form(argc, argv);
  unsigned *in = device_numbers(BLOCKS), *prefix = device_zeros<unsigned>(BLOCKS);
  unsigned *ready = device_zeros<unsigned>(BLOCKS), *drawn = device_zeros<unsigned>(1);
  (fixed ? scan<true> : scan<false>)<<<BLOCKS, THREADS, SHARED_BYTES>>>(in, prefix, ready, drawn);
  CHECK(cudaDeviceSynchronize());
  EXPECT(!fixed || download(prefix + BLOCKS - 1) == BLOCKS * (BLOCKS + 1) / 2);
}
