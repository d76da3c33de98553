// broken: a barrier inside a branch that only half of the block takes; rule: barrier-divergence
//
// Seed 001, section 2.3, rule one. The others never come, or meet the wrong barrier: the block hangs, or goes
// on unordered, as the hardware pleases. Never run, since it may not end. Right: ../barrier_rules.cu.
#include "../../common/tour.h"

enum { BLOCK = 256 };

__global__ void work_in_branch(const unsigned *in, unsigned *out) {
  __shared__ unsigned pairs[BLOCK / 2];
  int t = threadIdx.x;
  if (t < BLOCK / 2) {
    pairs[t] = in[t] ^ in[BLOCK - 1 - t];
    __syncthreads();
  }
  out[t] = pairs[BLOCK / 2 - 1 - t % (BLOCK / 2)];
}

#ifdef TOUR_HOST

int main(int argc, char **argv) {
  tour_begin(argc, argv, "");
  unsigned in[BLOCK], out[BLOCK];
  for (int i = 0; i < BLOCK; i++)
    in[i] = tour_hash(i);
  unsigned *device_in = (unsigned *)tour_upload(in, sizeof in),
           *device_out = (unsigned *)tour_alloc(sizeof out);

  work_in_branch<<<1, BLOCK>>>(device_in, device_out);
  CHECK(cudaGetLastError());
  tour_sync();
  tour_download(out, device_out, sizeof out);

  unsigned long wrong = 0;
  for (int i = 0; i < BLOCK; i++) {
    int p = BLOCK / 2 - 1 - i % (BLOCK / 2);
    wrong += out[i] != (in[p] ^ in[BLOCK - 1 - p]);
  }
  CHECK(cudaFree(device_in));
  CHECK(cudaFree(device_out));
  return tour_end_broken(wrong, BLOCK, "values");
}
#endif
