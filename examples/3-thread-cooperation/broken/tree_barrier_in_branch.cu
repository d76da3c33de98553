// broken: the block barrier stands inside the branch of the threads that add; rule: barrier-divergence
// Seed 002, section 5.2 puts it behind the branch, where the whole block comes by. In here it waits for
// threads that go round the loop without it: undefined, a hang or a wrong sum. Only built, never run.
// ../tree_sum.cu has the right form.
#include "../../common/tour.h"

__global__ void tree_sum(unsigned *sum, const unsigned *in) {
  __shared__ unsigned cache[256];
  unsigned t = threadIdx.x;
  cache[t] = in[blockIdx.x * blockDim.x + t];
  __syncthreads();
  for (unsigned i = blockDim.x / 2; i > 0; i /= 2)
    if (t < i) {
      cache[t] += cache[t + i];
      __syncthreads(); // belongs after the branch
    }
  if (t == 0)
    sum[blockIdx.x] = cache[0];
}

#ifdef TOUR_HOST
int main(int argc, char **argv) {
  tour_begin(argc, argv, "");
  enum { BLOCKS = 64, THREADS = 256, N = BLOCKS * THREADS };
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
