// broken: warp-mask
// also: deadlock-*
// A shuffle that names all lanes, reached only by those whose pixel counts; the rest goes on to the next warp
// barrier. (uzh-rpg/vilib#5)
#include "../check.h"

enum { LANES = 32 };

template <bool fixed> __global__ void corners(const unsigned *in, unsigned *out) {
  unsigned t = threadIdx.x, score = in[t];
  bool counts = score % 3 == 0;
  if (fixed) {
    unsigned next = __shfl_down_sync(~0u, score, 1);
    score += counts ? next : 0;
  } else if (counts) {
    score += __shfl_down_sync(~0u, score, 1);
  }
  __syncwarp();
  out[t] = score;
}

int main(int argc, char **argv) {
  bool fixed = fixed_form(argc, argv);
  unsigned *in = device_numbers(LANES), *out = device_zeros<unsigned>(LANES);
  (fixed ? corners<true> : corners<false>)<<<1, LANES>>>(in, out);
  CHECK(cudaDeviceSynchronize());
  EXPECT(!fixed || download(out + 2) == 3 + 4);
}
