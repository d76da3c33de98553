// Memory that is freed and handed out again, in stream order and by the host's calls, is new memory: no race
// with what was there before, no use after it was freed.
#include "../check.h"

enum { BLOCKS = 4, THREADS = 64, ITEMS = BLOCKS * THREADS };

__global__ void fill(unsigned *words, unsigned value) {
  words[blockIdx.x * THREADS + threadIdx.x] = value;
}

__global__ void add_up(const unsigned *words, unsigned *sum) {
  atomicAdd(sum, words[blockIdx.x * THREADS + threadIdx.x]);
}

int main(void) {
  unsigned *sum = device_zeros<unsigned>(1), *words;
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  for (unsigned i = 1; i <= 3; i++) {
    CHECK(cudaMallocAsync(&words, ITEMS * sizeof *words, stream));
    fill<<<BLOCKS, THREADS, 0, stream>>>(words, i);
    add_up<<<BLOCKS, THREADS, 0, stream>>>(words, sum);
    CHECK(cudaFreeAsync(words, stream));
  }
  CHECK(cudaStreamSynchronize(stream));
  for (unsigned i = 1; i <= 3; i++) {
    CHECK(cudaMalloc(&words, ITEMS * sizeof *words));
    fill<<<BLOCKS, THREADS>>>(words, i);
    add_up<<<BLOCKS, THREADS>>>(words, sum);
    CHECK(cudaFree(words));
  }
  EXPECT(download(sum) == 12 * ITEMS);
}
