// broken: the second barrier of a round is gone, but there is still one buffer only; rule: race-shared
//
// A fast warp writes its value of the next round while a slow one still reads this round's. The barrier may
// go only if the rounds take turns with two buffers. Right: ../barrier_merge.cu.
#include "../../common/tour.h"

enum { BLOCK = 256, ROUNDS = 50 };

__global__ void one_barrier(const unsigned *in, unsigned *out) {
  __shared__ unsigned tile[BLOCK];
  int t = threadIdx.x;
  unsigned value = in[t];
  for (int r = 0; r < ROUNDS; r++) {
    tile[t] = value;
    __syncthreads();
    value = value * 1664525u + tile[BLOCK - 1 - t];
    // and here nobody waits until all have read
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

  one_barrier<<<1, BLOCK>>>(device_in, device_out);
  CHECK(cudaGetLastError());
  tour_sync();
  tour_download(out, device_out, sizeof out);

  for (int r = 0; r < ROUNDS; r++)
    for (int t = 0; t < BLOCK / 2; t++) {
      unsigned left = want[t], right = want[BLOCK - 1 - t];
      want[t] = left * 1664525u + right;
      want[BLOCK - 1 - t] = right * 1664525u + left;
    }
  unsigned long wrong = 0;
  for (int i = 0; i < BLOCK; i++)
    wrong += out[i] != want[i];
  CHECK(cudaFree(device_in));
  CHECK(cudaFree(device_out));
  return tour_end_broken(wrong, BLOCK, "values");
}
#endif
