// One barrier a round is enough with two buffers in turn: who writes the next round's is past the barrier
// that all readers of the round before last have passed.
#include "../check.h"

enum { THREADS = 128, ROUNDS = 9 };

__global__ void smooth(const unsigned *in, unsigned *out) {
  __shared__ unsigned buffer[2][THREADS];
  unsigned t = threadIdx.x, value = in[t];
  for (unsigned round = 0; round < ROUNDS; round++) {
    buffer[round % 2][t] = value;
    __syncthreads();
    value += buffer[round % 2][(t + 1) % THREADS];
  }
  out[t] = value;
}

int main(void) {
  unsigned *in = device_numbers(THREADS), *out = device_zeros<unsigned>(THREADS);
  smooth<<<2, THREADS>>>(in, out);
  CHECK(cudaDeviceSynchronize());
  EXPECT(download(out) == 512 + 9 * 256);
}
