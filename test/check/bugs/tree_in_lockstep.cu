// broken: race-warp
// A tree sum within a warp that counts on its lanes to move together: from Volta on they need not.
// (numba/numba#2589, numba/numba#6127)
#include "../check.h"

enum { LANES = 32 };

template <bool fixed> __global__ void sum(const unsigned *in, unsigned *out) {
  __shared__ unsigned cell[LANES];
  unsigned t = threadIdx.x;
  cell[t] = in[t];
  for (unsigned half = LANES / 2; half > 0; half /= 2) {
    if (fixed)
      __syncwarp();
    if (t < half)
      cell[t] += cell[t + half];
  }
  if (t == 0)
    *out = cell[0];
}

int main(int argc, char **argv) {
  bool fixed = fixed_form(argc, argv);
  unsigned *in = device_numbers(LANES), *out = device_zeros<unsigned>(1);
  (fixed ? sum<true> : sum<false>)<<<1, LANES>>>(in, out);
  CHECK(cudaDeviceSynchronize());
  EXPECT(!fixed || download(out) == LANES * (LANES + 1) / 2);
}
