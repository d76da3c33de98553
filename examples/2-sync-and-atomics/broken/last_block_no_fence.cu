// broken: the ticket is taken with no fence after the partial sum was written; rule: missing-release
//
// Seed 001, section 4.3, warns of it: the last block can count a ticket whose partial sum is still under way,
// and then adds up the sum of the launch before. Right: ../last_block.cu.
#include "../../common/tour.h"

enum { BLOCKS = 64, BLOCK = 128 };

__global__ void last_block_sum(const unsigned *in, unsigned *partial, unsigned *ticket, unsigned *out) {
  __shared__ unsigned sum;
  if (threadIdx.x == 0)
    sum = 0;
  __syncthreads();
  atomicAdd(&sum, in[blockIdx.x * BLOCK + threadIdx.x]);
  __syncthreads();
  if (threadIdx.x != 0)
    return;

  partial[blockIdx.x] = sum;
  // here the fence is missing
  bool is_last = atomicInc(ticket, BLOCKS - 1) == BLOCKS - 1;
  if (!is_last)
    return;
  __threadfence();
  unsigned total = 0;
  for (int b = 0; b < BLOCKS; b++)
    total += partial[b];
  *out = total;
}

#ifdef TOUR_HOST

int main(int argc, char **argv) {
  tour_begin(argc, argv, "");
  enum { N = BLOCKS * BLOCK, LAUNCHES = 100 };
  unsigned in[N], out[LAUNCHES], want = 0;
  for (int i = 0; i < N; i++) {
    in[i] = tour_hash(i);
    want += in[i];
  }
  unsigned *device_in = (unsigned *)tour_upload(in, sizeof in);
  unsigned *device_out = (unsigned *)tour_alloc(sizeof out);
  unsigned *partial = (unsigned *)tour_alloc(BLOCKS * sizeof *partial);
  unsigned *ticket = (unsigned *)tour_zeroed(sizeof *ticket);

  for (int k = 0; k < LAUNCHES; k++) {
    last_block_sum<<<BLOCKS, BLOCK>>>(device_in, partial, ticket, device_out + k);
    CHECK(cudaGetLastError());
  }
  tour_sync();
  tour_download(out, device_out, sizeof out);

  unsigned long wrong = 0;
  for (int k = 0; k < LAUNCHES; k++)
    wrong += out[k] != want;
  CHECK(cudaFree(device_in));
  CHECK(cudaFree(device_out));
  CHECK(cudaFree(partial));
  CHECK(cudaFree(ticket));
  return tour_end_broken(wrong, LAUNCHES, "sums");
}
#endif
