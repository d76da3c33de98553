// broken: barrier-divergence
// also: deadlock-*
// A barrier in a loop over items that do not divide by the threads: in the last round some threads have left
// it. (acts-project/acts#307)
#include "../check.h"

enum { THREADS = 128, ITEMS = 200 };

template <bool fixed> __global__ void triplets(const unsigned *in, unsigned *out) {
  __shared__ unsigned found[THREADS];
  unsigned t = threadIdx.x, sum = 0;
  for (unsigned i = t; i < (fixed ? 2 * THREADS : ITEMS); i += THREADS) {
    found[t] = i < ITEMS ? in[i] : 0;
    __syncthreads();
    sum += found[(t + 1) % THREADS];
    __syncthreads();
  }
  out[t] = sum;
}

int main(int argc, char **argv) {
  bool fixed = fixed_form(argc, argv);
  unsigned *in = device_numbers(ITEMS), *out = device_zeros<unsigned>(THREADS);
  (fixed ? triplets<true> : triplets<false>)<<<1, THREADS>>>(in, out);
  CHECK(cudaDeviceSynchronize());
  EXPECT(!fixed || download(out + 10) == 12 + 140);
}
