// histogram: sections 6.2 and 6.3 of "Synchronisation and atomics" (seed 001); the host is histogram.c.
// Counters in global memory, in shared memory, private to a warp, private to a thread. The printed shared
// form clears and merges only bins below the block's size and holds at most 256; here every thread takes
// every blockDim.x-th bin, and the host asks for as much shared memory as there are bins. The printed form
// gives each thread one item, so that with 256 threads and 256 bins the merge costs as many global atomics as
// it saves: here a thread takes many. All of them have one more counter, counts[bins], for items that fit no
// bin.
#include "../common/tour.h"

#define THREAD_BINS 4

// Every item is one atomic in global memory.
TOUR_C __global__ void histogram_global(const unsigned *items, unsigned n, unsigned *counts, unsigned bins) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    unsigned bin = items[i] < bins ? items[i] : bins;
    atomicAdd(&counts[bin], 1u);
  }
}

// One set of counters a block.
TOUR_C __global__ void histogram_shared(const unsigned *items, unsigned n, unsigned *counts, unsigned bins) {
  TOUR_DYNAMIC_SHARED(unsigned, mine); // bins + 1
  for (unsigned bin = threadIdx.x; bin <= bins; bin += blockDim.x)
    mine[bin] = 0;
  __syncthreads();

  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    unsigned bin = items[i] < bins ? items[i] : bins;
    atomicAdd(&mine[bin], 1u);
  }
  __syncthreads();

  for (unsigned bin = threadIdx.x; bin <= bins; bin += blockDim.x)
    if (mine[bin])
      atomicAdd(&counts[bin], mine[bin]);
}

// One set a warp: warps no longer meet at a counter, the lanes of a warp still do.
TOUR_C __global__ void histogram_warp(const unsigned *items, unsigned n, unsigned *counts, unsigned bins) {
  TOUR_DYNAMIC_SHARED(unsigned, copies); // warps * (bins + 1)
  unsigned warps = (blockDim.x + 31) / 32, words = bins + 1;
  for (unsigned word = threadIdx.x; word < warps * words; word += blockDim.x)
    copies[word] = 0;
  __syncthreads();

  unsigned first = threadIdx.x / 32 * words;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    unsigned bin = items[i] < bins ? items[i] : bins;
    atomicAdd(&copies[first + bin], 1u);
  }
  __syncthreads();

  for (unsigned bin = threadIdx.x; bin <= bins; bin += blockDim.x) {
    unsigned sum = 0;
    for (unsigned warp = 0; warp < warps; warp++)
      sum += copies[warp * words + bin];
    if (sum)
      atomicAdd(&counts[bin], sum);
  }
}

// One set a thread, for THREAD_BINS bins: no conflict, no atomic until the end. A register has no index, so
// each item is compared with every bin.
TOUR_C __global__ void histogram_thread(const unsigned *items, unsigned n, unsigned *counts, unsigned bins) {
  unsigned mine[THREAD_BINS + 1] = {0};
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    unsigned bin = items[i] < bins ? items[i] : THREAD_BINS;
#pragma unroll
    for (unsigned b = 0; b <= THREAD_BINS; b++)
      mine[b] += b == bin;
  }
#pragma unroll
  for (unsigned b = 0; b <= THREAD_BINS; b++)
    if (mine[b])
      atomicAdd(&counts[b < THREAD_BINS ? b : bins], mine[b]);
}

// As printed: the item is the index. That is local memory, not "registers only"; ptxas turns so small an
// array back into compares where it can, and no longer does for a large one.
TOUR_C __global__ void histogram_indexed(const unsigned *items, unsigned n, unsigned *counts, unsigned bins) {
  unsigned mine[THREAD_BINS + 1] = {0};
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    mine[items[i] < bins ? items[i] : THREAD_BINS]++;
  for (unsigned b = 0; b <= THREAD_BINS; b++)
    if (mine[b])
      atomicAdd(&counts[b < THREAD_BINS ? b : bins], mine[b]);
}
