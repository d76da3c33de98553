// run:
// stdout: 7 blocks waited
// Blocks 0 to 6 wait for block 7.
#include "run.h"

__global__ void wait(unsigned *flag, unsigned *waited) {
  if (threadIdx.x != 0)
    return;
  if (blockIdx.x == 7) {
    __threadfence();
    atomicExch(flag, 1);
    return;
  }
  while (atomicAdd(flag, 0) == 0)
    ;
  atomicAdd(waited, 1);
}

int main() {
  unsigned *words = device_zeros<unsigned>(2);
  wait<<<8, 64>>>(words, words + 1);
  CHECK(cudaDeviceSynchronize());
  printf("%u blocks waited\n", download(words + 1));
}
