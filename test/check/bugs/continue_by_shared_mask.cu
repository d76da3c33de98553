// broken: race-shared|barrier-divergence
// also: deadlock-*
// Warps skip a tile that is all zeros, as words in shared memory say. A warp that skips writes its word for
// the next tile while others still read the words of this one; then some skip, some do not, and they wait at
// different barriers. (ggml-org/llama.cpp#13742)
#include "../check.h"

enum { WARPS = 4, THREADS = WARPS * 32, TILES = 4 };

template <bool fixed> __global__ void attend(const unsigned *in, unsigned *out) {
  __shared__ unsigned any[WARPS], tile[THREADS];
  unsigned t = threadIdx.x, sum = 0;
  for (unsigned i = 0; i < TILES; i++) {
    unsigned value = i % 2 ? in[i * THREADS + t] : 0;
    unsigned mine = __ballot_sync(~0u, value != 0);
    if (t % 32 == 0)
      any[t / 32] = mine;
    __syncthreads();
    unsigned all = 0;
    for (unsigned w = 0; w < WARPS; w++)
      all |= any[w];
    if (fixed)
      __syncthreads();
    if (all == 0)
      continue;
    tile[t] = value;
    __syncthreads();
    sum += tile[THREADS - 1 - t];
    __syncthreads();
  }
  out[t] = sum;
}

int main(int argc, char **argv) {
  bool fixed = fixed_form(argc, argv);
  unsigned *in = device_numbers(TILES * THREADS), *out = device_zeros<unsigned>(THREADS);
  (fixed ? attend<true> : attend<false>)<<<1, THREADS>>>(in, out);
  CHECK(cudaDeviceSynchronize());
  EXPECT(!fixed || download(out) == 2 * THREADS + 4 * THREADS);
}
