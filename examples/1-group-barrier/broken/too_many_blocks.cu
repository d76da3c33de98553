// broken: a plain launch of a group with more blocks than can be resident; rule: deadlock-residency
// The resident blocks wait for one that can start only when one of them ends. Never run: it hangs. The right
// form is a cooperative launch, which refuses such a grid (../reset_segments.cu). Argument: THREADS.
#include "../../common/tour.h"
#include "../sync_ctas.cuh"

__global__ void pass_on(unsigned *cells, unsigned *bar) {
  const unsigned all = gridDim.x * blockDim.x, mine = blockIdx.x * blockDim.x + threadIdx.x;
  cells[mine] = tour_hash(mine);
  sync_ctas(bar);
  cells[all + mine] = cells[(mine + blockDim.x) % all] + 1;
}

#ifdef TOUR_HOST
int main(int argc, char **argv) {
  tour_begin(argc, argv, "[THREADS]");
  const unsigned threads = (unsigned)tour_arg(0, 256, 1, 1024);
  unsigned long wrong = 0;
  int per_sm;
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, (const void *)pass_on, (int)threads, 0));
  const unsigned fit = (unsigned)per_sm * (unsigned)tour.device.multiProcessorCount;
  const unsigned blocks = fit + 1, all = blocks * threads; // the one too many
  unsigned *host = (unsigned *)tour_host_alloc(all * sizeof *host);
  unsigned *cells = (unsigned *)tour_alloc(2 * all * sizeof *cells);
  unsigned *bar = (unsigned *)tour_zeroed(sizeof *bar);
  pass_on<<<blocks, threads>>>(cells, bar);
  CHECK(cudaGetLastError());
  tour_sync();
  tour_download(host, cells + all, all * sizeof *host);
  for (unsigned i = 0; i < all; i++)
    wrong += host[i] != tour_hash((i + threads) % all) + 1;
  return tour_end_broken(wrong, all, "cells");
}
#endif
