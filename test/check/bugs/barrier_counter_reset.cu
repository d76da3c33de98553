// broken: deadlock-spin
// options: --schedules 64
// A grid barrier with one counter that the last block sets back to 0, the sign to go. A fast block arrives at
// the next barrier before a slow one has seen the 0, and both wait for ever. (rapidsai/cuml#458)
#include "../check.h"

enum { BLOCKS = 4, THREADS = 64, ROUNDS = 4 };

struct barrier {
  unsigned count, phase;
};

template <bool fixed> __device__ void all_blocks(struct barrier *b) {
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    unsigned phase = *(volatile unsigned *)&b->phase;
    if (atomicAdd(&b->count, 1) == gridDim.x - 1) {
      atomicExch(&b->count, 0);
      __threadfence();
      atomicAdd(&b->phase, 1);
    } else if (fixed) {
      while (*(volatile unsigned *)&b->phase == phase)
        ;
    } else {
      while (*(volatile unsigned *)&b->count != 0)
        ;
    }
    __threadfence();
  }
  __syncthreads();
}

template <bool fixed> __global__ void pass_on(unsigned *cells, struct barrier *b) {
  unsigned all = gridDim.x * blockDim.x, me = blockIdx.x * blockDim.x + threadIdx.x;
  for (unsigned round = 0; round < ROUNDS; round++) {
    unsigned *now = cells + round * all;
    now[all + me] = now[(me + blockDim.x) % all] + 1;
    all_blocks<fixed>(b);
  }
}

int main(int argc, char **argv) {
  bool fixed = fixed_form(argc, argv);
  unsigned *cells = device_zeros<unsigned>((ROUNDS + 1) * BLOCKS * THREADS);
  struct barrier *b = device_zeros<struct barrier>(1);
  (fixed ? pass_on<true> : pass_on<false>)<<<BLOCKS, THREADS>>>(cells, b);
  CHECK(cudaDeviceSynchronize());
  EXPECT(!fixed || download(cells + ROUNDS * BLOCKS * THREADS) == ROUNDS);
}
