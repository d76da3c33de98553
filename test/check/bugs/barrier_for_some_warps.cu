// broken: barrier-divergence
// also: deadlock-*
// A barrier that was put in against a race, at a place where only some of the warps come by: they meet the
// others at a barrier further down. (ggml-org/llama.cpp#13438)
#include "../check.h"

enum { THREADS = 128, BUSY = 64 };

template <bool fixed> __global__ void rows(const unsigned *in, unsigned *out) {
  __shared__ unsigned tile[THREADS];
  unsigned t = threadIdx.x;
  tile[t] = in[t];
  if (fixed)
    __syncthreads();
  if (t < BUSY) {
    if (!fixed)
      __syncthreads();
    out[t] = tile[BUSY - 1 - t];
  }
  __syncthreads();
  out[THREADS + t] = tile[THREADS - 1 - t];
}

int main(int argc, char **argv) {
  bool fixed = fixed_form(argc, argv);
  unsigned *in = device_numbers(THREADS), *out = device_zeros<unsigned>(2 * THREADS);
  (fixed ? rows<true> : rows<false>)<<<1, THREADS>>>(in, out);
  CHECK(cudaDeviceSynchronize());
  EXPECT(!fixed || download(out + THREADS) == THREADS);
}
