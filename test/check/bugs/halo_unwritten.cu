// broken: uninit-shared
// The cell right of the tile is loaded where there is an element for it, and read in every block: in the last
// one it holds whatever lay there. (dlsys-course/examples#1)
#include "../check.h"

enum { BLOCKS = 2, THREADS = 64, ITEMS = BLOCKS * THREADS };

template <bool fixed> __global__ void window(const unsigned *in, unsigned *out) {
  __shared__ unsigned tile[THREADS + 1];
  unsigned t = threadIdx.x, i = blockIdx.x * THREADS + t;
  tile[t] = in[i];
  if (t == THREADS - 1) {
    if (i + 1 < ITEMS)
      tile[THREADS] = in[i + 1];
    else if (fixed)
      tile[THREADS] = 0;
  }
  __syncthreads();
  out[i] = tile[t] + tile[t + 1];
}

int main(int argc, char **argv) {
  bool fixed = fixed_form(argc, argv);
  unsigned *in = device_numbers(ITEMS), *out = device_zeros<unsigned>(ITEMS);
  (fixed ? window<true> : window<false>)<<<BLOCKS, THREADS>>>(in, out);
  CHECK(cudaDeviceSynchronize());
  EXPECT(!fixed || download(out + ITEMS - 1) == ITEMS);
}
