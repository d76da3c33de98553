// A producer and two consumer warps over numbered barriers: who only arrives does not wait. Two buffers in
// turn, a barrier for "full" and one for "empty" each.
#include "../check.h"

enum { LANES = 32, CONSUMERS = 2, THREADS = LANES * (1 + CONSUMERS), ROUNDS = 6, FULL = 1, EMPTY = 3 };

__device__ void arrive(unsigned barrier) {
  asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "r"(THREADS) : "memory");
}

__device__ void sync(unsigned barrier) {
  asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(THREADS) : "memory");
}

__global__ void stream(const unsigned *in, unsigned *out) {
  __shared__ unsigned buffer[2][LANES];
  unsigned warp = threadIdx.x / LANES, lane = threadIdx.x % LANES, sum = 0;
  if (warp == 0) {
    for (unsigned round = 0; round < ROUNDS; round++) {
      unsigned turn = round % 2;
      sync(EMPTY + turn);
      buffer[turn][lane] = in[lane] + round;
      arrive(FULL + turn);
    }
  } else {
    arrive(EMPTY + 0);
    arrive(EMPTY + 1);
    for (unsigned round = 0; round < ROUNDS; round++) {
      unsigned turn = round % 2;
      sync(FULL + turn);
      sum += buffer[turn][LANES - 1 - lane];
      if (round + 2 < ROUNDS)
        arrive(EMPTY + turn);
    }
    out[threadIdx.x] = sum;
  }
}

int main(void) {
  unsigned *in = device_numbers(LANES), *out = device_zeros<unsigned>(THREADS);
  stream<<<1, THREADS>>>(in, out);
  CHECK(cudaDeviceSynchronize());
  EXPECT(download(out + 2 * LANES) == ROUNDS * LANES + 15);
}
