// broken: uninit-shared
// Shared memory read before anybody wrote it: on a GPU it often still holds the words of an earlier launch,
// and looks as if it kept them. (numba/numba#6076)
#include "../check.h"

enum { THREADS = 32 };

template <bool fixed> __global__ void resume(const unsigned *in, unsigned *out) {
  __shared__ unsigned cell[THREADS];
  unsigned t = threadIdx.x;
  if (fixed)
    cell[t] = 0;
  out[t] = cell[t];
  cell[t] = in[t];
  __syncthreads();
  out[THREADS + t] = cell[THREADS - 1 - t];
}

int main(int argc, char **argv) {
  bool fixed = fixed_form(argc, argv);
  unsigned *in = device_numbers(THREADS), *out = device_zeros<unsigned>(2 * THREADS);
  (fixed ? resume<true> : resume<false>)<<<1, THREADS>>>(in, out);
  CHECK(cudaDeviceSynchronize());
  EXPECT(!fixed || download(out) == 0);
}
