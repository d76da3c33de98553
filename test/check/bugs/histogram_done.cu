// broken: race-global|missing-release
// Thread 0 says that its block is done with the histogram as soon as it is done itself: the fence is there,
// the block barrier before it is not. (NVIDIA/cccl#10627)
#include "../check.h"

enum { BLOCKS = 4, THREADS = 256, BINS = 16, EACH = BLOCKS * THREADS / BINS };

template <bool fixed> __global__ void count(unsigned *bins, unsigned *done, unsigned *out) {
  __shared__ bool last;
  unsigned key = blockIdx.x * THREADS + threadIdx.x; // in order: a bin gets all it gets from one block
  atomicAdd(&bins[key / EACH], 1);
  if (fixed)
    __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    last = atomicAdd(done, 1) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (last && threadIdx.x < BINS)
    out[threadIdx.x] = bins[threadIdx.x];
}

int main(int argc, char **argv) {
  bool fixed = fixed_form(argc, argv);
  unsigned *bins = device_zeros<unsigned>(BINS);
  unsigned *done = device_zeros<unsigned>(1), *out = device_zeros<unsigned>(BINS);
  (fixed ? count<true> : count<false>)<<<BLOCKS, THREADS>>>(bins, done, out);
  CHECK(cudaDeviceSynchronize());
  EXPECT(!fixed || download(out) == EACH);
}
