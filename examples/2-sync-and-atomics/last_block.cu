// last_block.cu: a sum over the whole grid in one launch; the block that arrives last adds up what all left
// (seed 001, section 4.3).
//
// Two fences: the writer's, between partial sum and ticket, and the reader's, between the last ticket and the
// partial sums. The printed kernel lacks the reader's: broken/last_block_no_reader_fence.cu. The ticket wraps
// to 0 by itself, so the next launch finds it as the first did.
// Arguments: [N], the number of elements.
#include "../common/tour.h"

enum { BLOCK_MAX = 256 };

// The sum over the block, in every thread. The caller passes a barrier before the next call.
static __device__ float block_sum(float value) {
  __shared__ float sums[BLOCK_MAX];
  int t = threadIdx.x;
  sums[t] = value;
  __syncthreads();
  for (int width = blockDim.x; width > 1; width = (width + 1) / 2) { // an odd one out waits for its turn
    if (t < width / 2)
      sums[t] += sums[t + (width + 1) / 2];
    __syncthreads();
  }
  return sums[0];
}

TOUR_C __global__ void last_block_sum(const float *in, int n, float *partial, unsigned *ticket, float *out) {
  __shared__ bool is_last;
  int t = threadIdx.x, threads = gridDim.x * blockDim.x;

  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + t; i < n; i += threads)
    sum += in[i];
  sum = block_sum(sum);

  if (t == 0) {
    partial[blockIdx.x] = sum;
    __threadfence(); // the partial sum comes before the ticket
    is_last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;
    __threadfence(); // the last ticket comes before the partial sums
  }
  __syncthreads(); // and the barrier hands that order to the whole block
  if (!is_last)
    return;

  sum = 0;
  for (int b = t; b < (int)gridDim.x; b += blockDim.x)
    sum += partial[b];
  sum = block_sum(sum);
  if (t == 0)
    *out = sum;
}

#ifdef TOUR_HOST

enum { LAUNCHES = 4 };

// Several launches, one ticket; each starts one element further on.
static void run(const float *in, const float *device_in, int n, int blocks, int block) {
  float *partial = (float *)tour_alloc(blocks * sizeof *partial);
  float *device_out = (float *)tour_alloc(LAUNCHES * sizeof *device_out), out[LAUNCHES];
  unsigned *ticket = (unsigned *)tour_zeroed(sizeof *ticket);

  for (int k = 0; k < LAUNCHES; k++) {
    last_block_sum<<<blocks, block>>>(device_in + k, n, partial, ticket, device_out + k);
    CHECK(cudaGetLastError());
  }
  tour_sync();
  tour_download(out, device_out, sizeof out);

  for (int k = 0; k < LAUNCHES; k++) {
    float want = 0;
    for (int i = 0; i < n; i++)
      want += in[k + i];
    tour_expect_near("sum", k, out[k], want, 0);
  }
  CHECK(cudaFree(partial));
  CHECK(cudaFree(device_out));
  CHECK(cudaFree(ticket));
}

int main(int argc, char **argv) {
  tour_begin(argc, argv, "[N]");
  int n = (int)tour_arg(0, 100000, 1, 1 << 20), all = (n > 1000 ? n : 1000) + LAUNCHES;

  // At most 2^20 elements of 15 at most: below 2^24, so every sum is exact in whatever order.
  float *in = (float *)tour_host_alloc(all * sizeof *in);
  for (int i = 0; i < all; i++)
    in[i] = (float)(1 + tour_hash(i) % 15);
  float *device_in = (float *)tour_upload(in, all * sizeof *in);

  const int blocks[] = {1, 33, 97, BLOCK_MAX};
  for (int b = 0; b < 4; b++) {
    run(in, device_in, 1, 1, blocks[b]);
    run(in, device_in, 1, 5, blocks[b]); // blocks with nothing to add
    run(in, device_in, 1000, 1, blocks[b]);
    run(in, device_in, 999, 300, blocks[b]); // more blocks than threads in a block
  }
  run(in, device_in, n, 64, BLOCK_MAX);

  CHECK(cudaFree(device_in));
  free(in);
  return tour_end("sums, n = %d and the edges, %d launches on one ticket each", n, LAUNCHES);
}
#endif
