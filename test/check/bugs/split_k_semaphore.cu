// broken: missing-release|race-global
// Blocks add to one tile in turn. Thread 0 fences and passes the turn on, but its block did not meet before:
// the fence speaks for thread 0, and the sums of the other warps may still be under way. (NVIDIA/Fuser#2391)
#include "../check.h"

enum { BLOCKS = 8, THREADS = 128 };

template <bool fixed>
__global__ void add_in_turn(const unsigned *in, unsigned *tile, volatile unsigned *turn) {
  unsigned t = threadIdx.x;
  if (t == 0) {
    while (*turn != blockIdx.x)
      ;
    __threadfence();
  }
  __syncthreads();
  tile[t] += in[t];
  if (fixed)
    __syncthreads();
  if (t == 0) {
    __threadfence();
    *turn = blockIdx.x + 1;
  }
}

int main(int argc, char **argv) {
  bool fixed = fixed_form(argc, argv);
  unsigned *in = device_numbers(THREADS), *tile = device_zeros<unsigned>(THREADS);
  unsigned *turn = device_zeros<unsigned>(1);
  (fixed ? add_in_turn<true> : add_in_turn<false>)<<<BLOCKS, THREADS>>>(in, tile, turn);
  CHECK(cudaDeviceSynchronize());
  EXPECT(!fixed || download(tile + THREADS - 1) == BLOCKS * THREADS);
}
