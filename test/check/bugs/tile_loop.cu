// broken: race-shared
// A loop over tiles with one barrier where it takes two: fast warps load the next tile into the one that slow
// warps still read. (zjin-lcf/HeCBench#253)
#include "../check.h"

enum { THREADS = 128, TILES = 4 };

template <bool fixed> __global__ void forces(const unsigned *in, unsigned *out) {
  __shared__ unsigned tile[THREADS];
  unsigned t = threadIdx.x, sum = 0;
  for (unsigned i = 0; i < TILES; i++) {
    tile[t] = in[i * THREADS + t];
    __syncthreads();
    for (unsigned k = 0; k < THREADS; k++)
      sum += tile[k];
    if (fixed)
      __syncthreads();
  }
  out[t] = sum;
}

int main(int argc, char **argv) {
  bool fixed = fixed_form(argc, argv);
  const unsigned items = TILES * THREADS;
  unsigned *in = device_numbers(items), *out = device_zeros<unsigned>(THREADS);
  (fixed ? forces<true> : forces<false>)<<<1, THREADS>>>(in, out);
  CHECK(cudaDeviceSynchronize());
  EXPECT(!fixed || download(out + 77) == items * (items + 1) / 2);
}
