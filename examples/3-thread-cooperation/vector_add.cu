// Seed 002, section 5.1: adding two vectors, split three ways: one block, many blocks with a bounds check,
// and a loop that frees the length from the size of the grid. Host part: vector_add.c.
// In print the first form has no limit of its own: above 1024 elements its launch fails and nothing is
// written. The loop's index is an int there, which overflows before a long vector ends, and the loop is said
// to need more elements than threads: it does not.
#include "../common/tour.h"

// As many elements as the block has threads.
TOUR_C __global__ void vector_add_one_block(int *c, const int *a, const int *b) {
  unsigned i = threadIdx.x;
  c[i] = a[i] + b[i];
}

// A thread for each element; the last block may have threads to spare.
TOUR_C __global__ void vector_add_many_blocks(int *c, const int *a, const int *b, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    c[i] = a[i] + b[i];
}

// Any grid does: each thread goes on by the size of the grid.
TOUR_C __global__ void vector_add_grid_stride(int *c, const int *a, const int *b, unsigned n) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    c[i] = a[i] + b[i];
}
