// nvcc: -arch=sm_80
// A producer and a consumer warp over barrier objects in shared memory: arriving releases, waiting acquires.
#include "../check.h"
#include <cuda/barrier>

enum { LANES = 32, THREADS = 2 * LANES, ROUNDS = 4 };

typedef cuda::barrier<cuda::thread_scope_block> barrier;

__global__ void hand_over(const unsigned *in, unsigned *out) {
  __shared__ alignas(barrier) unsigned char memory[2][sizeof(barrier)];
  __shared__ unsigned data[LANES];
  barrier *full = (barrier *)memory[0], *empty = (barrier *)memory[1];
  unsigned lane = threadIdx.x % LANES, sum = 0;
  if (threadIdx.x == 0) {
    init(full, THREADS);
    init(empty, THREADS);
  }
  __syncthreads();
  for (unsigned round = 0; round < ROUNDS; round++)
    if (threadIdx.x < LANES) {
      empty->arrive_and_wait();
      data[lane] = in[lane] + round;
      (void)full->arrive();
    } else {
      (void)empty->arrive();
      full->arrive_and_wait();
      sum += data[LANES - 1 - lane];
    }
  if (threadIdx.x >= LANES)
    out[lane] = sum;
}

int main(void) {
  unsigned *in = device_numbers(LANES), *out = device_zeros<unsigned>(LANES);
  hand_over<<<1, THREADS>>>(in, out);
  CHECK(cudaDeviceSynchronize());
  EXPECT(download(out) == ROUNDS * LANES + 6);
}
