// broken: lanes of a warp exchange through shared memory without __syncwarp; rule: race-warp
//
// Seed 001, section 3.1: before Volta a warp moved in lockstep and this came out right. From Volta on nothing
// orders the lanes, though a compiler that keeps them together hides it. Right: ../warp_exchange.cu.
#include "../../common/tour.h"

enum { BLOCK = 128, ROUNDS = 50 };

__global__ void through_shared(const unsigned *in, unsigned *out) {
  __shared__ unsigned tile[BLOCK];
  int t = threadIdx.x;
  unsigned value = in[t];
  for (int r = 0; r < ROUNDS; r++) {
    tile[t] = value;
    value = value * 31 + tile[t ^ 1];
  }
  out[t] = value;
}

#ifdef TOUR_HOST

int main(int argc, char **argv) {
  tour_begin(argc, argv, "");
  unsigned want[BLOCK], out[BLOCK];
  for (int i = 0; i < BLOCK; i++)
    want[i] = tour_hash(i);
  unsigned *device_in = (unsigned *)tour_upload(want, sizeof want);
  unsigned *device_out = (unsigned *)tour_alloc(sizeof out);

  through_shared<<<1, BLOCK>>>(device_in, device_out);
  CHECK(cudaGetLastError());
  tour_sync();
  tour_download(out, device_out, sizeof out);

  for (int r = 0; r < ROUNDS; r++)
    for (int t = 0; t < BLOCK; t += 2) {
      unsigned even = want[t], odd = want[t + 1];
      want[t] = even * 31 + odd;
      want[t + 1] = odd * 31 + even;
    }
  unsigned long wrong = 0;
  for (int i = 0; i < BLOCK; i++)
    wrong += out[i] != want[i];
  CHECK(cudaFree(device_in));
  CHECK(cudaFree(device_out));
  return tour_end_broken(wrong, BLOCK, "values");
}
#endif
