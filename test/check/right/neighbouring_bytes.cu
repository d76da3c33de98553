// Threads write neighbouring bytes and half words, also by atomics on the word beside: no byte has two
// writers. After a barrier whole words are read.
#include "../check.h"

enum { THREADS = 64 };

__global__ void pack(const unsigned *in, unsigned *out) {
  __shared__ unsigned words[THREADS / 4];
  __shared__ unsigned short halves[THREADS];
  __shared__ unsigned count;
  unsigned t = threadIdx.x;
  ((unsigned char *)words)[t] = (unsigned char)in[t];
  halves[t] = (unsigned short)in[t];
  if (t == 0)
    count = 0;
  __syncthreads();
  atomicAdd(&count, halves[THREADS - 1 - t]);
  __syncthreads();
  if (t < THREADS / 4)
    out[t] = words[t];
  if (t == 0)
    out[THREADS / 4] = count;
}

int main(void) {
  unsigned *in = device_numbers(THREADS), *out = device_zeros<unsigned>(THREADS / 4 + 1);
  pack<<<1, THREADS>>>(in, out);
  CHECK(cudaDeviceSynchronize());
  EXPECT(download(out) == 0x04030201 && download(out + THREADS / 4) == THREADS * (THREADS + 1) / 2);
}
