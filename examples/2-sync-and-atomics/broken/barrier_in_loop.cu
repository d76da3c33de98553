// broken: a barrier in a loop that threads leave after unequal numbers of rounds; rule: barrier-divergence
//
// Seed 001, section 2.3, rule two. Whoever has the shorter list goes on to the last barrier while the others
// still wait at the one in the loop. Never run, since it may not end. Right: ../barrier_rules.cu.
#include "../../common/tour.h"

enum { BLOCK = 256, LONGEST = 8 };

// List t has t % LONGEST + 1 elements, data[t * LONGEST] onwards.
__global__ void unequal_lists(const unsigned *data, unsigned *out) {
  __shared__ unsigned tile[BLOCK];
  int t = threadIdx.x, length = t % LONGEST + 1;
  for (int r = 0; r < length; r++) {
    tile[t] = data[t * LONGEST + r];
    __syncthreads();
  }
  __syncthreads();
  out[t] = tile[(t + 1) % BLOCK];
}

#ifdef TOUR_HOST

int main(int argc, char **argv) {
  tour_begin(argc, argv, "");
  unsigned data[BLOCK * LONGEST], out[BLOCK];
  for (int i = 0; i < BLOCK * LONGEST; i++)
    data[i] = tour_hash(i);
  unsigned *device_data = (unsigned *)tour_upload(data, sizeof data);
  unsigned *device_out = (unsigned *)tour_alloc(sizeof out);

  unequal_lists<<<1, BLOCK>>>(device_data, device_out);
  CHECK(cudaGetLastError());
  tour_sync();
  tour_download(out, device_out, sizeof out);

  unsigned long wrong = 0;
  for (int i = 0; i < BLOCK; i++) {
    int next = (i + 1) % BLOCK;
    wrong += out[i] != data[next * LONGEST + next % LONGEST];
  }
  CHECK(cudaFree(device_data));
  CHECK(cudaFree(device_out));
  return tour_end_broken(wrong, BLOCK, "values");
}
#endif
