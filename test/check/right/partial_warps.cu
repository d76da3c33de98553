// Warps that are not whole: lanes that do not exist, lanes that have left, lanes of a branch. Every mask
// names who is there, and sources are in it.
#include "../check.h"

enum { THREADS = 72, ITEMS = 69 };

__global__ void sums(const unsigned *in, unsigned *out) {
  unsigned t = threadIdx.x, lane = t % 32;
  unsigned mask = __ballot_sync(t < 64 ? ~0u : 0xffu, t < ITEMS);
  if (t >= ITEMS)
    return;
  unsigned value = in[t], count = __popc(mask);
  for (unsigned step = 1; step < count; step *= 2) {
    unsigned other = __shfl_up_sync(mask, value, step);
    value += lane >= step ? other : 0;
  }
  __syncwarp(mask);
  unsigned even = __ballot_sync(mask, lane % 2 == 0);
  if (lane % 2 == 0)
    value = __shfl_sync(even, value, 31 - __clz(even));
  out[t] = value;
}

int main(void) {
  unsigned *in = device_numbers(THREADS), *out = device_zeros<unsigned>(THREADS);
  sums<<<1, THREADS>>>(in, out);
  CHECK(cudaDeviceSynchronize());
  EXPECT(download(out + 65) == 65 + 66 && download(out + 64) == 65 + 66 + 67 + 68 + 69);
}
