// broken: the copy of the partial sums does not wait for the kernel that writes them; rule: race-launch
// Seed 002, section 5.2 copies in the kernel's own stream with a call that waits, which is right. Here the
// copy has a stream of its own and nothing orders the two: the host waits for the copy alone, and adds what
// was there before. One stream, or an event that the copy's stream waits for, is the remedy; see ../dot.h.
#include "../../common/tour.h"

__global__ void block_sum(unsigned *sum, const unsigned *in) {
  __shared__ unsigned cache[256];
  unsigned t = threadIdx.x;
  cache[t] = in[blockIdx.x * blockDim.x + t];
  __syncthreads();
  for (unsigned i = blockDim.x / 2; i > 0; i /= 2) {
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
  enum { BLOCKS = 64, THREADS = 256, N = BLOCKS * THREADS };
  static unsigned in[N];
  for (unsigned i = 0; i < N; i++)
    in[i] = tour_hash(i) % 1000 + 1;
  unsigned *device_in = (unsigned *)tour_upload(in, sizeof in);
  unsigned *device_sum = (unsigned *)tour_zeroed(BLOCKS * sizeof(unsigned)), *sum;
  CHECK(cudaMallocHost((void **)&sum, BLOCKS * sizeof *sum));
  cudaStream_t compute, copy;
  CHECK(cudaStreamCreateWithFlags(&compute, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&copy, cudaStreamNonBlocking));
  tour_sync(); // the inputs are there; only the fault that is meant remains

  block_sum<<<BLOCKS, THREADS, 0, compute>>>(device_sum, device_in);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpyAsync(sum, device_sum, BLOCKS * sizeof *sum, cudaMemcpyDeviceToHost, copy));
  CHECK(cudaStreamSynchronize(copy)); // the copy has ended; the kernel need not have begun

  unsigned long wrong = 0;
  for (unsigned block = 0; block < BLOCKS; block++) {
    unsigned want = 0;
    for (unsigned i = 0; i < THREADS; i++)
      want += in[block * THREADS + i];
    wrong += sum[block] != want;
  }
  tour_sync();
  CHECK(cudaStreamDestroy(compute));
  CHECK(cudaStreamDestroy(copy));
  CHECK(cudaFreeHost(sum));
  return tour_end_broken(wrong, BLOCKS, "partial sums");
}
#endif
