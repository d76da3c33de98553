// broken: race-shared
// A block-wide sum in a loop: one round's sum still reads the scratch words that the next round's writes. One
// barrier more at the end of a round, or two scratch arrays in turn. (flashinfer-ai/flashinfer#3624)
#include "../check.h"

enum { WARPS = 4, THREADS = WARPS * 32, ROUNDS = 3 };

__device__ unsigned block_sum(unsigned value, unsigned *scratch) {
  for (unsigned step = 16; step > 0; step /= 2)
    value += __shfl_xor_sync(~0u, value, step);
  if (threadIdx.x % 32 == 0)
    scratch[threadIdx.x / 32] = value;
  __syncthreads();
  unsigned sum = 0;
  for (unsigned i = 0; i < WARPS; i++)
    sum += scratch[i];
  return sum;
}

template <bool fixed> __global__ void sums(const unsigned *in, unsigned *out) {
  __shared__ unsigned scratch[WARPS];
  for (unsigned round = 0; round < ROUNDS; round++) {
    unsigned sum = block_sum(in[threadIdx.x] + round, scratch);
    out[round * THREADS + threadIdx.x] = sum;
    if (fixed)
      __syncthreads();
  }
}

int main(int argc, char **argv) {
  bool fixed = fixed_form(argc, argv);
  unsigned *in = device_numbers(THREADS), *out = device_zeros<unsigned>(ROUNDS * THREADS);
  (fixed ? sums<true> : sums<false>)<<<1, THREADS>>>(in, out);
  CHECK(cudaDeviceSynchronize());
  EXPECT(!fixed || download(out + THREADS + 50) == THREADS * (THREADS + 1) / 2 + THREADS);
}
