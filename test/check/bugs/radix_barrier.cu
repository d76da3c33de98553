// broken: missing-release|race-global
// All blocks count into one histogram, meet at a barrier of their own and read it. Thread 0 arrives with
// release and waits with acquire, but nobody waited for the counts of its block's other warps.
// (flashinfer-ai/flashinfer#5251)
#include "../check.h"

enum { BLOCKS = 4, THREADS = 256, BINS = 16, EACH = BLOCKS * THREADS / BINS };

template <bool fixed> __device__ void all_blocks(unsigned *arrived) {
  if (fixed)
    __syncthreads();
  if (threadIdx.x == 0) {
    unsigned seen;
    asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(arrived) : "memory");
    do
      asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(arrived) : "memory");
    while (seen < gridDim.x);
  }
  __syncthreads();
}

template <bool fixed> __global__ void count(unsigned *bins, unsigned *arrived, unsigned *out) {
  unsigned key = blockIdx.x * THREADS + threadIdx.x; // in order: a bin gets all it gets from one block
  atomicAdd(&bins[key / EACH], 1);
  all_blocks<fixed>(arrived);
  if (threadIdx.x < BINS)
    out[blockIdx.x * BINS + threadIdx.x] = bins[threadIdx.x];
}

int main(int argc, char **argv) {
  bool fixed = fixed_form(argc, argv);
  unsigned *bins = device_zeros<unsigned>(BINS);
  unsigned *arrived = device_zeros<unsigned>(1), *out = device_zeros<unsigned>(BLOCKS * BINS);
  (fixed ? count<true> : count<false>)<<<BLOCKS, THREADS>>>(bins, arrived, out);
  CHECK(cudaDeviceSynchronize());
  EXPECT(!fixed || download(out + BINS) == EACH);
}
