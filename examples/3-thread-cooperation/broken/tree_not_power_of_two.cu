// broken: a tree that halves rounding down, in a block of 192 threads: elements are lost; rule: none
// Seed 002, section 5.2: the printed loop needs a block of 2^k threads, as its comment says. Of 192 it makes
// 96, 48, 24, 12, 6, 3 and then 1: the third of the last three is never added, every sum is wrong in every
// run. The barriers are right, so no race is to be found. ../tree_sum.cu rounds up and takes any block.
#include "../../common/tour.h"

__global__ void tree_sum(unsigned *sum, const unsigned *in) {
  __shared__ unsigned cache[192];
  unsigned t = threadIdx.x;
  cache[t] = in[blockIdx.x * blockDim.x + t];
  __syncthreads();
  for (unsigned i = blockDim.x / 2; i > 0; i /= 2) { // 3 / 2 is 1
    if (t < i)
      cache[t] += cache[t + i];
    __syncthreads();
  }
  if (t == 0)
    sum[blockIdx.x] = cache[0];
}

#ifdef TOUR_HOST
int main(int argc, char **argv) {
  tour_begin(argc, argv, "");
  enum { BLOCKS = 64, THREADS = 192, N = BLOCKS * THREADS };
  static unsigned in[N], sum[BLOCKS];
  for (unsigned i = 0; i < N; i++)
    in[i] = tour_hash(i) % 1000 + 1;
  unsigned *device_in = (unsigned *)tour_upload(in, sizeof in),
           *device_sum = (unsigned *)tour_alloc(sizeof sum);
  tree_sum<<<BLOCKS, THREADS>>>(device_sum, device_in);
  CHECK(cudaGetLastError());
  tour_sync();
  tour_download(sum, device_sum, sizeof sum);
  unsigned long wrong = 0;
  for (unsigned block = 0; block < BLOCKS; block++) {
    unsigned want = 0;
    for (unsigned i = 0; i < THREADS; i++)
      want += in[block * THREADS + i];
    wrong += sum[block] != want;
  }
  return tour_end_broken(wrong, BLOCKS, "sums");
}
#endif
