// broken: more bins than the shared array has words; rule: oob-shared
//
// As printed in section 6.2 of seed 001, whose array of 256 words rests on a comment ("at most 256 bins").
// Items from 256 on add to memory beyond it: a neighbour's counter if there is one, else a fault that ends
// the context. Only built: a fault is the lucky case. Right: ../histogram.c, which asks for as much as there
// are bins.
#include "../../common/tour.h"

#define WORDS 256

TOUR_C __global__ void histogram(const unsigned *items, unsigned n, unsigned *counts, unsigned bins) {
  __shared__ unsigned mine[WORDS];
  if (threadIdx.x < bins)
    mine[threadIdx.x] = 0;
  __syncthreads();

  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    atomicAdd(&mine[items[i]], 1u);
  __syncthreads();

  if (threadIdx.x < bins)
    atomicAdd(&counts[threadIdx.x], mine[threadIdx.x]);
}

#ifdef TOUR_HOST
int main(int argc, char **argv) {
  enum { BINS = 300, THREADS = 512 }; // more threads than bins, so that this is the only fault
  tour_begin(argc, argv, "[N]");
  unsigned n = (unsigned)tour_arg(0, 10007, 1, 1 << 20), wrong = 0;
  unsigned *items = (unsigned *)tour_host_alloc(n * sizeof *items), want[BINS] = {0}, got[BINS];
  for (unsigned i = 0; i < n; i++)
    want[items[i] = tour_hash(i) % BINS]++;
  unsigned *counts = (unsigned *)tour_zeroed(sizeof got);
  histogram<<<(n + THREADS - 1) / THREADS, THREADS>>>((unsigned *)tour_upload(items, n * sizeof *items), n,
                                                      counts, BINS);
  CHECK(cudaGetLastError());
  tour_sync();
  tour_download(got, counts, sizeof got);
  for (unsigned bin = 0; bin < BINS; bin++)
    wrong += got[bin] != want[bin];
  free(items);
  return tour_end_broken(wrong, BINS, "bins");
}
#endif
