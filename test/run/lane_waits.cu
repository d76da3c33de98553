// run:
// stdout: lane 0 saw 31
// Lane 0 waits for lane 31 of its own warp, which comes after it in the program's text.
#include "run.h"

__global__ void wait(volatile int *flag, int *seen) {
  if (threadIdx.x == 0) {
    while (*flag == 0)
      ;
    *seen = *flag;
  } else if (threadIdx.x == 31) {
    *flag = 31;
  }
}

int main() {
  int *words = device_zeros<int>(2);
  wait<<<1, 32>>>(words, words + 1);
  CHECK(cudaDeviceSynchronize());
  printf("lane 0 saw %d\n", download(words + 1));
}
