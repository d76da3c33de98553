// broken: deadlock-spin
// also: warp-mask
// Every lane takes one lock. The lane that has it waits for its mates behind the loop, as all lanes did
// before Volta, and they wait for the lock. (forums.developer.nvidia.com/t/9202)
#include "../check.h"

enum { LANES = 32 };

template <bool fixed> __global__ void enter(unsigned *lock, unsigned *account) {
  while (atomicExch(lock, 1) != 0)
    ;
  if (!fixed)
    __syncwarp();
  __threadfence();
  *account += 1;
  __threadfence();
  atomicExch(lock, 0);
}

int main(int argc, char **argv) {
  bool fixed = fixed_form(argc, argv);
  unsigned *lock = device_zeros<unsigned>(1), *account = device_zeros<unsigned>(1);
  (fixed ? enter<true> : enter<false>)<<<1, LANES>>>(lock, account);
  CHECK(cudaDeviceSynchronize());
  EXPECT(!fixed || download(account) == LANES);
}
