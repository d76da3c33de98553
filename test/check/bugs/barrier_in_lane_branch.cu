// broken: barrier-divergence
// also: deadlock-*
// A block barrier in the branch of the even lanes: the odd ones go on without it. (tile-ai/tilelang#1026)
#include "../check.h"

enum { THREADS = 128 };

template <bool fixed> __global__ void even_lanes(const unsigned *in, unsigned *out) {
  __shared__ unsigned tile[THREADS];
  unsigned t = threadIdx.x, value = in[t];
  tile[t] = value;
  if (fixed)
    __syncthreads();
  if (t % 2 == 0) {
    if (!fixed)
      __syncthreads();
    value += tile[(t + 32) % THREADS];
  }
  out[t] = value;
}

int main(int argc, char **argv) {
  bool fixed = fixed_form(argc, argv);
  unsigned *in = device_numbers(THREADS), *out = device_zeros<unsigned>(THREADS);
  (fixed ? even_lanes<true> : even_lanes<false>)<<<1, THREADS>>>(in, out);
  CHECK(cudaDeviceSynchronize());
  EXPECT(!fixed || download(out + 2) == 3 + 35);
}
