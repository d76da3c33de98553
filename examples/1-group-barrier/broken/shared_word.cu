// broken: two groups of blocks share one barrier word; rule: race-global, deadlock-spin
// The arrivals of both add up: half of them, from whichever group, flip the top bit and set blocks free whose
// own group is not complete; the other half flip it back, and who was late to look waits for ever. Never run:
// it may not end. The right form: a word for each group (../reset_segments.cu). Argument: ROUNDS.
#include "../../common/tour.h"
#include "../sync_ctas.cuh"

__global__ void pass_on(unsigned *cells, unsigned *bar, unsigned rounds) {
  const unsigned group = gridDim.x * blockDim.x, all = group * gridDim.y;
  const unsigned mine = blockIdx.x * blockDim.x + threadIdx.x, theirs = (mine + blockDim.x) % group;
  cells += blockIdx.y * group;
  for (unsigned round = 0; round < rounds; round++) {
    cells[(round + 1) % 2 * all + mine] = cells[round % 2 * all + theirs] + 1;
    sync_ctas(bar); // should be bar + SYNC_CTAS_LINE * blockIdx.y
  }
}

#ifdef TOUR_HOST
enum { BLOCKS = 2, GROUPS = 2, THREADS = 64, GROUP = BLOCKS * THREADS, ALL = GROUPS * GROUP };

int main(int argc, char **argv) {
  tour_begin(argc, argv, "[ROUNDS]");
  unsigned rounds = (unsigned)tour_arg(0, 10, 1, 1000), wrong = 0, host[ALL];
  for (unsigned i = 0; i < ALL; i++)
    host[i] = tour_hash(i);
  unsigned *cells = (unsigned *)tour_alloc(2 * sizeof host);
  unsigned *bar = (unsigned *)tour_zeroed(sizeof *bar);
  CHECK(cudaMemcpy(cells, host, sizeof host, cudaMemcpyHostToDevice));
  void *args[] = {&cells, &bar, &rounds};
  CHECK(cudaLaunchCooperativeKernel((const void *)pass_on, dim3(BLOCKS, GROUPS), dim3(THREADS), args, 0, 0));
  tour_sync();
  tour_download(host, cells + rounds % 2 * ALL, sizeof host);
  for (unsigned i = 0; i < ALL; i++)
    wrong += host[i] != tour_hash(i / GROUP * GROUP + (i + rounds * THREADS) % GROUP) + rounds;
  return tour_end_broken(wrong, ALL, "cells");
}
#endif
