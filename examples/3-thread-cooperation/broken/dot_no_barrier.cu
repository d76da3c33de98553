// broken: no barrier between storing the products and adding them; rule: race-shared
// Seed 002, section 5.2 warns of it: a thread adds a product of another warp that may not be there yet, and
// reads what the shared memory held before. ../dot.cu has the barrier.
#include "../../common/tour.h"

__global__ void dot(unsigned *partial, const unsigned *a, const unsigned *b) {
  __shared__ unsigned cache[256];
  unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  cache[t] = a[i] * b[i];
  // no __syncthreads() here
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (t < half)
      cache[t] += cache[t + half];
    __syncthreads();
  }
  if (t == 0)
    partial[blockIdx.x] = cache[0];
}

#ifdef TOUR_HOST
int main(int argc, char **argv) {
  tour_begin(argc, argv, "");
  enum { BLOCKS = 64, THREADS = 256, N = BLOCKS * THREADS };
  static unsigned a[N], b[N], partial[BLOCKS];
  for (unsigned i = 0; i < N; i++) {
    a[i] = tour_hash(i) % 1000 + 1;
    b[i] = tour_hash(~i) % 1000 + 1;
  }
  unsigned *device_a = (unsigned *)tour_upload(a, sizeof a), *device_b = (unsigned *)tour_upload(b, sizeof b);
  unsigned *device_partial = (unsigned *)tour_alloc(sizeof partial);
  dot<<<BLOCKS, THREADS>>>(device_partial, device_a, device_b);
  CHECK(cudaGetLastError());
  tour_sync();
  tour_download(partial, device_partial, sizeof partial);
  unsigned long wrong = 0;
  for (unsigned block = 0; block < BLOCKS; block++) {
    unsigned want = 0;
    for (unsigned i = block * THREADS; i < (block + 1) * THREADS; i++)
      want += a[i] * b[i];
    wrong += partial[block] != want;
  }
  return tour_end_broken(wrong, BLOCKS, "partial sums");
}
#endif
