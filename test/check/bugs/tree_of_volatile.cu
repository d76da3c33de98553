// broken: race-warp
// The old end of a tree sum: volatile words and no warp barrier. volatile makes each access happen; it puts
// no order between the lanes. (Mantevo/miniFE#13, CanReader/FastNN#8)
#include "../check.h"

enum { THREADS = 64 };

template <bool fixed> __device__ void last_warp(volatile unsigned *cell, unsigned t) {
  unsigned sum = cell[t];
  for (unsigned half = 32; half > 0; half /= 2) {
    sum += cell[t + half];
    if (fixed)
      __syncwarp();
    cell[t] = sum;
    if (fixed)
      __syncwarp();
  }
}

template <bool fixed> __global__ void dot(const unsigned *in, unsigned *out) {
  __shared__ unsigned cell[THREADS];
  unsigned t = threadIdx.x;
  cell[t] = in[t];
  __syncthreads();
  if (t < 32)
    last_warp<fixed>(cell, t);
  if (t == 0)
    *out = cell[0];
}

int main(int argc, char **argv) {
  bool fixed = fixed_form(argc, argv);
  unsigned *in = device_numbers(THREADS), *out = device_zeros<unsigned>(1);
  (fixed ? dot<true> : dot<false>)<<<1, THREADS>>>(in, out);
  CHECK(cudaDeviceSynchronize());
  EXPECT(!fixed || download(out) == THREADS * (THREADS + 1) / 2);
}
