// broken: warp-mask|shuffle-source
// options: --schedules 64
// Lanes that leave a loop at different times ask which of them are there, and read from lane 0. Nothing says
// that lane 0 is among those who are: it is in some schedules, in others it is not. (moderngpu/moderngpu#36)
#include "../check.h"

enum { LANES = 32 };

template <bool fixed> __global__ void leader_says(const unsigned *steps, unsigned *out) {
  unsigned t = threadIdx.x, value = t;
  for (unsigned left = steps[t]; left > 1; left = left % 2 ? 3 * left + 1 : left / 2)
    value++;
  out[t] = __shfl_sync(fixed ? ~0u : __activemask(), value, 0);
}

int main(int argc, char **argv) {
  bool fixed = fixed_form(argc, argv);
  unsigned *steps = device_numbers(LANES), *out = device_zeros<unsigned>(LANES);
  (fixed ? leader_says<true> : leader_says<false>)<<<1, LANES>>>(steps, out);
  CHECK(cudaDeviceSynchronize());
  EXPECT(!fixed || download(out + 6) == 0);
}
