// broken: race-warp
// The first lanes add up what each warp left; lane 0 writes the total over a word that its mates still read.
// They are fewer than a warp, so the barrier between takes their mask. (pytorch/pytorch#20182)
#include "../check.h"

enum { WARPS = 4, THREADS = WARPS * 32 };

template <bool fixed> __global__ void total(const unsigned *in, unsigned *out, unsigned *sums) {
  __shared__ unsigned scratch[WARPS];
  unsigned t = threadIdx.x;
  if (t % 32 == 0)
    scratch[t / 32] = in[t];
  __syncthreads();
  if (t < WARPS) {
    unsigned sum = 0;
    for (unsigned i = 0; i < WARPS; i++)
      sum += scratch[(t + i) % WARPS];
    if (fixed)
      __syncwarp((1u << WARPS) - 1);
    sums[t] = sum;
    if (t == 0)
      scratch[0] = sum;
  }
  __syncthreads();
  out[t] = scratch[0];
}

int main(int argc, char **argv) {
  bool fixed = fixed_form(argc, argv);
  unsigned *in = device_numbers(THREADS), *out = device_zeros<unsigned>(THREADS);
  unsigned *sums = device_zeros<unsigned>(WARPS);
  (fixed ? total<true> : total<false>)<<<1, THREADS>>>(in, out, sums);
  CHECK(cudaDeviceSynchronize());
  EXPECT(!fixed || download(out + 99) == 1 + 33 + 65 + 97);
}
