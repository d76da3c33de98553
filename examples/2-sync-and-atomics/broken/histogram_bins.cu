// broken: only the first blockDim.x of the bins are cleared and merged; rule: uninit-shared
//
// As printed in section 6.2 of seed 001, with 1024 bins and blocks of 256. Bins 256 and up count on from
// whatever lies in shared memory, and what they hold is dropped: they stay 0, every time. Right:
// ../histogram.cu, where each thread clears and merges every blockDim.x-th bin.
#include "../../common/tour.h"

#define BINS 1024

TOUR_C __global__ void histogram(const unsigned *items, unsigned n, unsigned *counts, unsigned bins) {
  __shared__ unsigned mine[BINS];
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
  tour_begin(argc, argv, "[N]");
  unsigned n = (unsigned)tour_arg(0, 10007, 1, 1 << 20), wrong = 0;
  unsigned *items = (unsigned *)tour_host_alloc(n * sizeof *items), want[BINS] = {0}, got[BINS];
  for (unsigned i = 0; i < n; i++)
    want[items[i] = tour_hash(i) % BINS]++;
  unsigned *counts = (unsigned *)tour_zeroed(sizeof got);
  histogram<<<(n + 255) / 256, 256>>>((unsigned *)tour_upload(items, n * sizeof *items), n, counts, BINS);
  CHECK(cudaGetLastError());
  tour_sync();
  tour_download(got, counts, sizeof got);
  for (unsigned bin = 0; bin < BINS; bin++)
    wrong += got[bin] != want[bin];
  free(items);
  return tour_end_broken(wrong, BINS, "bins");
}
#endif
