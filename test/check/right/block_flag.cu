// Two warps of a block hand over by a flag in shared memory, with fences of the block: wide enough here.
#include "../check.h"

enum { LANES = 32, ROUNDS = 3 };

__global__ void hand_over(const unsigned *in, unsigned *out) {
  __shared__ unsigned data[LANES];
  __shared__ volatile unsigned sent, taken;
  unsigned lane = threadIdx.x % LANES;
  if (threadIdx.x == 0)
    sent = taken = 0;
  __syncthreads();
  for (unsigned round = 1; round <= ROUNDS; round++) {
    if (threadIdx.x < LANES) {
      data[lane] = in[lane] + round;
      __syncwarp();
      if (lane == 0) {
        __threadfence_block();
        sent = round;
        while (taken != round)
          ;
        __threadfence_block();
      }
      __syncwarp();
    } else {
      if (lane == 0) {
        while (sent != round)
          ;
        __threadfence_block();
      }
      __syncwarp();
      out[lane] += data[lane];
      __syncwarp();
      if (lane == 0) {
        __threadfence_block();
        taken = round;
      }
    }
  }
}

int main(void) {
  unsigned *in = device_numbers(LANES), *out = device_zeros<unsigned>(LANES);
  hand_over<<<1, 2 * LANES>>>(in, out);
  CHECK(cudaDeviceSynchronize());
  EXPECT(download(out + 4) == 3 * 5 + 1 + 2 + 3);
}
