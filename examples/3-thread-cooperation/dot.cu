// Seed 002, section 5.2: the dot product. Each thread adds up its products, each block the sums of its
// threads, as a tree in shared memory; the host adds what the blocks leave. Hosts: dot.c and launch_ptx.c.
// In print the tree takes only blocks of 2^k threads, the length is a constant, and the host's array for the
// partial sums is sized by the threads of a block instead of by the blocks. Here any block and grid will do.
#include "../common/tour.h"

// Launch with a float of dynamic shared memory a thread.
TOUR_C __global__ void dot_kernel(float *partial, const float *a, const float *b, unsigned n) {
  TOUR_DYNAMIC_SHARED(float, cache);
  unsigned t = threadIdx.x;
  float sum = 0;
  for (unsigned i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x)
    sum += a[i] * b[i];
  cache[t] = sum;
  __syncthreads(); // every product is in before the first is added

  // Half of the width rounds up: of an odd width the middle element waits for the next step.
  for (unsigned width = blockDim.x, half; width > 1; width = half) {
    half = (width + 1) / 2;
    if (t + half < width)
      cache[t] += cache[t + half];
    __syncthreads(); // outside the branch: the whole block takes part in every step
  }
  if (t == 0)
    partial[blockIdx.x] = cache[0];
}
