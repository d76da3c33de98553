// Blocks wait by relaxed looks and then acquire. Most have come when they look first, so that the look and
// the acquire find the word as it stays.
#include "../check.h"

enum { BLOCKS = 32, THREADS = 128, ROUNDS = 2, CYCLES = 400 };

typedef unsigned long long u64;

__device__ void arrive(u64 *word, u64 count) {
  asm volatile("red.release.gpu.global.add.u64 [%0], %1;" ::"l"(word), "l"(count) : "memory");
}
__device__ u64 look(const u64 *word) {
  u64 v;
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(v) : "l"(word) : "memory");
  return v;
}
__device__ u64 acquire(const u64 *word) {
  u64 v;
  asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(v) : "l"(word) : "memory");
  return v;
}

__global__ void all_to_all(u64 *word, unsigned *data, unsigned *wrong, unsigned rounds) {
  unsigned n = gridDim.x, t = threadIdx.x;
  for (unsigned round = 1; round <= rounds; round++) {
    unsigned *now = data + round % 2 * n * THREADS;
    now[blockIdx.x * THREADS + t] = round * 1000 + blockIdx.x;
    __syncthreads();
    if (t == 0) {
      arrive(word, 1);
      for (unsigned start = clock(); clock() - start < CYCLES;)
        ;
      while (look(word) < (u64)round * n)
        ;
      acquire(word);
    }
    __syncthreads();
    for (unsigned i = t; i < n * THREADS; i += blockDim.x)
      if (now[i] != round * 1000 + i / THREADS)
        atomicAdd(wrong, 1);
  }
}

int main(void) {
  u64 *word;
  CHECK(cudaMalloc(&word, 1 << 20));
  CHECK(cudaMemset(word, 0, 1 << 20));
  unsigned *data = device_zeros<unsigned>(2 * BLOCKS * THREADS), *wrong = device_zeros<unsigned>(1);
  all_to_all<<<BLOCKS, THREADS>>>(word, data, wrong, ROUNDS);
  CHECK(cudaDeviceSynchronize());
  EXPECT(download(wrong) == 0);
}
