// broken: race-shared
// also: race-warp
// Bins are cleared by some threads, added to by all and summed up by one, with no barrier between the three.
// (alicevision/popsift#82)
#include "../check.h"

enum { THREADS = 128, BINS = 36 };

template <bool fixed> __global__ void orientations(const unsigned *in, unsigned *out) {
  __shared__ unsigned bins[BINS];
  unsigned t = threadIdx.x;
  if (t < BINS)
    bins[t] = 0;
  if (fixed)
    __syncthreads();
  atomicAdd(&bins[in[t] % BINS], 1);
  if (fixed)
    __syncthreads();
  if (t == 0)
    for (unsigned i = 1; i < BINS; i++)
      bins[i] += bins[i - 1];
  __syncthreads();
  if (t < BINS)
    out[t] = bins[t];
}

int main(int argc, char **argv) {
  bool fixed = fixed_form(argc, argv);
  unsigned *in = device_numbers(THREADS), *out = device_zeros<unsigned>(BINS);
  (fixed ? orientations<true> : orientations<false>)<<<1, THREADS>>>(in, out);
  CHECK(cudaDeviceSynchronize());
  EXPECT(!fixed || download(out + BINS - 1) == THREADS);
}
