// broken: missing-release
// says: works on current hardware
// Every thread fences its own writes, the block meets, and thread 0 arrives with a relaxed atomic. In the
// model the fence has to stand behind the barrier, with thread 0: a fence covers what is before it and
// nothing that a barrier brings later.
#include "../check.h"

enum { BLOCKS = 4, THREADS = 64 };

template <bool fixed>
__global__ void exchange(const unsigned *in, unsigned *cells, unsigned *arrived, unsigned *out) {
  unsigned t = threadIdx.x, me = blockIdx.x * THREADS + t;
  cells[me] = in[t];
  if (!fixed)
    __threadfence();
  __syncthreads();
  if (t == 0) {
    if (fixed)
      __threadfence();
    atomicAdd(arrived, 1);
    while (*(volatile unsigned *)arrived < gridDim.x)
      ;
    __threadfence();
  }
  __syncthreads();
  out[me] = cells[(me + THREADS) % (BLOCKS * THREADS)];
}

int main(int argc, char **argv) {
  bool fixed = fixed_form(argc, argv);
  unsigned *in = device_numbers(THREADS), *cells = device_zeros<unsigned>(BLOCKS * THREADS);
  unsigned *arrived = device_zeros<unsigned>(1), *out = device_zeros<unsigned>(BLOCKS * THREADS);
  (fixed ? exchange<true> : exchange<false>)<<<BLOCKS, THREADS>>>(in, cells, arrived, out);
  CHECK(cudaDeviceSynchronize());
  EXPECT(!fixed || download(out + 20) == 21);
}
