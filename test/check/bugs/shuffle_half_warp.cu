// broken: warp-mask
// also: deadlock-*
// A shuffle that names all lanes in the branch of the first half of a warp; the second half waits at the
// block barrier. With the mask of the branch's ballot it is right. (forums.developer.nvidia.com/t/265242)
#include "../check.h"

enum { LANES = 32 };

template <bool fixed> __global__ void half(const unsigned *in, unsigned *out) {
  __shared__ unsigned sums[LANES];
  unsigned t = threadIdx.x, sum = in[t], mask = ~0u;
  if (fixed)
    mask = __ballot_sync(~0u, t < 16);
  if (t < 16)
    for (unsigned step = 8; step > 0; step /= 2)
      sum += __shfl_xor_sync(mask, sum, step, 16);
  sums[t] = sum;
  __syncthreads();
  out[t] = sums[LANES - 1 - t];
}

int main(int argc, char **argv) {
  bool fixed = fixed_form(argc, argv);
  unsigned *in = device_numbers(LANES), *out = device_zeros<unsigned>(LANES);
  (fixed ? half<true> : half<false>)<<<1, LANES>>>(in, out);
  CHECK(cudaDeviceSynchronize());
  EXPECT(!fixed || download(out + 31) == 16 * 17 / 2);
}
