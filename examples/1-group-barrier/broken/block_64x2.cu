// broken: threadIdx.x == 0 picks two threads of a 64x2 block; rule: race-global, deadlock-spin
// The published sync_ctas tests only x. With every block counted twice, half of the arrivals
// flip the top bit while some blocks are still on their way; the others flip it back, and who was late to
// look waits for ever. Never run: it may not end. The right form tests x, y and z (../sync_ctas.cuh).
// Argument: ROUNDS.
#include "../../common/tour.h"

__device__ static inline void sync_twice(unsigned *bar) {
  __syncthreads();
  if (threadIdx.x == 0) { // true for (0, 0) and for (0, 1)
    const unsigned share = blockIdx.x == 0 ? 0x80000000u - (gridDim.x - 1) : 1;
    unsigned before;
    __threadfence();
    before = atomicAdd(bar, share);
    while (((before ^ *(volatile unsigned *)bar) & 0x80000000u) == 0)
      ;
    __threadfence();
  }
  __syncthreads();
}

__global__ void pass_on(unsigned *cells, unsigned *bar, unsigned rounds) {
  const unsigned block = blockDim.x * blockDim.y, all = gridDim.x * block;
  const unsigned mine = blockIdx.x * block + threadIdx.y * blockDim.x + threadIdx.x;
  for (unsigned round = 0; round < rounds; round++) {
    cells[(round + 1) % 2 * all + mine] = cells[round % 2 * all + (mine + block) % all] + 1;
    sync_twice(bar);
  }
}

#ifdef TOUR_HOST
enum { BLOCKS = 4, THREADS = 64 * 2, ALL = BLOCKS * THREADS };

int main(int argc, char **argv) {
  tour_begin(argc, argv, "[ROUNDS]");
  unsigned rounds = (unsigned)tour_arg(0, 10, 1, 1000), wrong = 0, host[ALL];
  for (unsigned i = 0; i < ALL; i++)
    host[i] = tour_hash(i);
  unsigned *cells = (unsigned *)tour_alloc(2 * sizeof host);
  unsigned *bar = (unsigned *)tour_zeroed(sizeof *bar);
  CHECK(cudaMemcpy(cells, host, sizeof host, cudaMemcpyHostToDevice));
  void *args[] = {&cells, &bar, &rounds};
  CHECK(cudaLaunchCooperativeKernel((const void *)pass_on, dim3(BLOCKS), dim3(64, 2), args, 0, 0));
  tour_sync();
  tour_download(host, cells + rounds % 2 * ALL, sizeof host);
  for (unsigned i = 0; i < ALL; i++)
    wrong += host[i] != tour_hash((i + rounds * THREADS) % ALL) + rounds;
  return tour_end_broken(wrong, ALL, "cells");
}
#endif
