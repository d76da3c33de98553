// broken: thread 0 takes the ticket before the other threads of its block have written; rule: missing-release
//
// Every thread leaves a value of its own, but the fence of thread 0 covers only what came before it: without
// a barrier in front, the values of the other warps may not be there. Right: ../last_block.cu, where the
// barriers of the block's own sum stand in front.
#include "../../common/tour.h"

enum { BLOCKS = 16, BLOCK = 128 };

__global__ void last_block_sum(const unsigned *in, unsigned *partial, unsigned *ticket, unsigned *out) {
  __shared__ bool is_last;
  int i = blockIdx.x * BLOCK + threadIdx.x;
  partial[i] = in[i];
  // here the barrier is missing
  if (threadIdx.x == 0) {
    __threadfence();
    is_last = atomicInc(ticket, BLOCKS - 1) == BLOCKS - 1;
    __threadfence();
  }
  __syncthreads();
  if (!is_last || threadIdx.x != 0)
    return;
  unsigned total = 0;
  for (int k = 0; k < BLOCKS * BLOCK; k++)
    total += partial[k];
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
  unsigned *partial = (unsigned *)tour_alloc(N * sizeof *partial);
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
