// broken: missing-acquire
// Lane 0 polls a flag with relaxed loads, and a warp barrier lets the others go on to the data: the barrier
// passes on what lane 0 knows, and without an acquire it knows nothing. (NVIDIA/cutlass#3117)
#include "../check.h"

enum { LANES = 32 };

template <bool fixed> __global__ void receive(unsigned *data, unsigned *flag, unsigned *out) {
  unsigned lane = threadIdx.x, seen;
  if (blockIdx.x == 0) {
    data[lane] = lane + 1;
    __syncwarp();
    if (lane == 0)
      asm volatile("st.release.gpu.global.u32 [%0], 1;" ::"l"(flag) : "memory");
    return;
  }
  if (lane == 0)
    do
      if (fixed)
        asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
      else
        asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
    while (seen == 0);
  __syncwarp();
  out[lane] = data[lane];
}

int main(int argc, char **argv) {
  bool fixed = fixed_form(argc, argv);
  unsigned *data = device_zeros<unsigned>(LANES), *flag = device_zeros<unsigned>(1);
  unsigned *out = device_zeros<unsigned>(LANES);
  (fixed ? receive<true> : receive<false>)<<<2, LANES>>>(data, flag, out);
  CHECK(cudaDeviceSynchronize());
  EXPECT(!fixed || download(out + 7) == 8);
}
