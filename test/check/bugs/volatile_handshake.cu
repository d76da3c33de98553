// broken: missing-release|missing-acquire
// A volatile flag between plain data: the flag orders neither the writes before it nor the reads behind it.
// (vllm-project/vllm#8404)
#include "../check.h"

enum { THREADS = 64 };

template <bool fixed> __global__ void hand_over(unsigned *data, volatile unsigned *flag, unsigned *out) {
  unsigned t = threadIdx.x;
  if (blockIdx.x == 0) {
    data[t] = t + 1;
    if (fixed)
      __threadfence_system();
    flag[t] = 1;
  } else {
    while (flag[t] == 0)
      ;
    if (fixed)
      __threadfence_system();
    out[t] = data[t];
  }
}

int main(int argc, char **argv) {
  bool fixed = fixed_form(argc, argv);
  unsigned *data = device_zeros<unsigned>(THREADS), *flag = device_zeros<unsigned>(THREADS);
  unsigned *out = device_zeros<unsigned>(THREADS);
  (fixed ? hand_over<true> : hand_over<false>)<<<2, THREADS>>>(data, flag, out);
  CHECK(cudaDeviceSynchronize());
  EXPECT(!fixed || download(out + 40) == 41);
}
