// broken: race-shared
// nvcc: -Xcicc -O0
// One thread writes the total, all read it, and the barrier comes later. The optimiser moves the read behind
// that barrier, so that no tool sees the fault in what runs; without it the fault is there.
// (zjin-lcf/HeCBench#254)
#include "../check.h"

enum { THREADS = 128 };

template <bool fixed> __global__ void share(const unsigned *in, unsigned *out) {
  __shared__ unsigned cell[32];
  unsigned t = threadIdx.x;
  if (t == THREADS - 1)
    cell[31] = in[t];
  if (fixed)
    __syncthreads();
  unsigned total = cell[31];
  __syncthreads();
  out[t] = total;
}

int main(int argc, char **argv) {
  bool fixed = fixed_form(argc, argv);
  unsigned *in = device_numbers(THREADS), *out = device_zeros<unsigned>(THREADS);
  (fixed ? share<true> : share<false>)<<<1, THREADS>>>(in, out);
  CHECK(cudaDeviceSynchronize());
  EXPECT(!fixed || download(out) == THREADS);
}
