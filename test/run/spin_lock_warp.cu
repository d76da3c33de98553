// run:
// stdout: 64 of 64
// 32 lanes of each of two warps take one spin lock: from sm_70 on the holder moves while the others spin.
#include "run.h"

__global__ void count(int *lock, int *total) {
  while (atomicCAS(lock, 0, 1) != 0)
    ;
  __threadfence();
  *(volatile int *)total = *(volatile int *)total + 1;
  __threadfence();
  atomicExch(lock, 0);
}

int main() {
  int *words = device_zeros<int>(2);
  count<<<2, 32>>>(words, words + 1);
  CHECK(cudaDeviceSynchronize());
  printf("%d of 64\n", download(words + 1));
}
