// A release reaches an acquire through others: through the atomics of blocks that neither release nor
// acquire, and through a block that acquires from one and releases to the next.
#include "../check.h"

enum { COUNTERS = 4 };

__device__ void add_release(unsigned *word) {
  asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(word) : "memory");
}

__device__ void wait_acquire(unsigned *word, unsigned count) {
  unsigned seen;
  do
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(word) : "memory");
  while (seen < count);
}

__global__ void pass_on(unsigned *data, unsigned *words, unsigned *out) {
  unsigned b = blockIdx.x;
  if (b == 0) {
    *data = 42;
    add_release(&words[0]);
  } else if (b <= COUNTERS) { // adds on top of the release, relaxed
    while (*(volatile unsigned *)&words[0] != b)
      ;
    atomicAdd(&words[0], 1);
  } else if (b == COUNTERS + 1) {
    wait_acquire(&words[0], COUNTERS + 1);
    add_release(&words[1]);
  } else {
    wait_acquire(&words[1], 1);
    *out = *data;
  }
}

int main(void) {
  unsigned *data = device_zeros<unsigned>(1), *words = device_zeros<unsigned>(2),
           *out = device_zeros<unsigned>(1);
  pass_on<<<COUNTERS + 3, 1>>>(data, words, out);
  CHECK(cudaDeviceSynchronize());
  EXPECT(download(out) == 42);
}
