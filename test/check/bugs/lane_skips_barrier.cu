// broken: barrier-divergence|race-shared
// also: deadlock-*|race-warp
// One lane leaves a section early, past the barrier in it, and meets the next barrier while its block is at
// this one: the barriers pair up wrongly. (numba/numba#2655)
#include "../check.h"

enum { THREADS = 64, LAST = THREADS - 1 };

template <bool fixed> __global__ void shift(const unsigned *in, unsigned *out) {
  __shared__ unsigned tile[THREADS];
  unsigned t = threadIdx.x, value = 0;
  tile[t] = in[t];
  if (fixed)
    __syncthreads();
  if (t == LAST)
    goto end;
  if (!fixed)
    __syncthreads();
  value = tile[t + 1];
end:
  __syncthreads();
  tile[t] = value;
  __syncthreads();
  out[t] = tile[LAST - t];
}

int main(int argc, char **argv) {
  bool fixed = fixed_form(argc, argv);
  unsigned *in = device_numbers(THREADS), *out = device_zeros<unsigned>(THREADS);
  (fixed ? shift<true> : shift<false>)<<<1, THREADS>>>(in, out);
  CHECK(cudaDeviceSynchronize());
  EXPECT(!fixed || download(out + 1) == THREADS);
}
