// nvcc: -arch=sm_80
// Tiles are copied into shared memory asynchronously, two stages ahead: a thread waits for its own copies,
// the block barrier for those of the others, and a stage is filled again only after all have used it.
#include "../check.h"
#include <cuda_pipeline.h>

enum { THREADS = 64, TILES = 6, STAGES = 2 };

__global__ void sums(const unsigned *in, unsigned *out) {
  __shared__ unsigned tile[STAGES][THREADS];
  unsigned t = threadIdx.x, sum = 0;
  for (unsigned i = 0; i < STAGES; i++) {
    __pipeline_memcpy_async(&tile[i][t], &in[i * THREADS + t], sizeof(unsigned));
    __pipeline_commit();
  }
  for (unsigned i = 0; i < TILES; i++) {
    __pipeline_wait_prior(STAGES - 1);
    __syncthreads();
    sum += tile[i % STAGES][THREADS - 1 - t];
    __syncthreads();
    if (i + STAGES < TILES)
      __pipeline_memcpy_async(&tile[i % STAGES][t], &in[(i + STAGES) * THREADS + t], sizeof(unsigned));
    __pipeline_commit();
  }
  out[t] = sum;
}

int main(void) {
  unsigned *in = device_numbers(TILES * THREADS), *out = device_zeros<unsigned>(THREADS);
  sums<<<1, THREADS>>>(in, out);
  CHECK(cudaDeviceSynchronize());
  EXPECT(download(out) == 64 * (1 + 2 + 3 + 4 + 5 + 6));
}
