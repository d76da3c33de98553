// broken: the first block zeroes the barrier word while the others still poll it; rule: deadlock-spin
// They wait for the count to reach the number of blocks. It did, for a moment; whoever did not look in that
// moment finds 0 and waits for ever, and so do all in the next round. Never run: it may not end. The right
// form never resets: the top bit flips and stays (../sync_ctas.cuh). Argument: ROUNDS.
#include "../../common/tour.h"

__device__ static inline void sync_and_reset(unsigned *bar) {
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(bar, 1u);
    while (*(volatile unsigned *)bar < gridDim.x)
      ;
    if (blockIdx.x == 0)
      *(volatile unsigned *)bar = 0; // the others may not have looked yet
    __threadfence();
  }
  __syncthreads();
}

__global__ void pass_on(unsigned *cells, unsigned *bar, unsigned rounds) {
  const unsigned all = gridDim.x * blockDim.x, mine = blockIdx.x * blockDim.x + threadIdx.x;
  for (unsigned round = 0; round < rounds; round++) {
    cells[(round + 1) % 2 * all + mine] = cells[round % 2 * all + (mine + blockDim.x) % all] + 1;
    sync_and_reset(bar);
  }
}

#ifdef TOUR_HOST
enum { BLOCKS = 4, THREADS = 64, ALL = BLOCKS * THREADS };

int main(int argc, char **argv) {
  tour_begin(argc, argv, "[ROUNDS]");
  unsigned rounds = (unsigned)tour_arg(0, 10, 1, 1000), wrong = 0, host[ALL];
  for (unsigned i = 0; i < ALL; i++)
    host[i] = tour_hash(i);
  unsigned *cells = (unsigned *)tour_alloc(2 * sizeof host);
  unsigned *bar = (unsigned *)tour_zeroed(sizeof *bar);
  CHECK(cudaMemcpy(cells, host, sizeof host, cudaMemcpyHostToDevice));
  void *args[] = {&cells, &bar, &rounds};
  CHECK(cudaLaunchCooperativeKernel((const void *)pass_on, dim3(BLOCKS), dim3(THREADS), args, 0, 0));
  tour_sync();
  tour_download(host, cells + rounds % 2 * ALL, sizeof host);
  for (unsigned i = 0; i < ALL; i++)
    wrong += host[i] != tour_hash((i + rounds * THREADS) % ALL) + rounds;
  return tour_end_broken(wrong, ALL, "cells");
}
#endif
