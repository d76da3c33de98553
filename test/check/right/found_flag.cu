// note: same-value-write
// Whoever finds something says so, all with the same word: no reader can tell the writers apart. An error
// with --strict.
#include "../check.h"

enum { BLOCKS = 4, THREADS = 64 };

__global__ void find(const unsigned *in, unsigned *found) {
  if (in[threadIdx.x] % 2)
    *found = 1;
}

int main(void) {
  unsigned *in = device_numbers(THREADS), *found = device_zeros<unsigned>(1);
  find<<<BLOCKS, THREADS>>>(in, found);
  CHECK(cudaDeviceSynchronize());
  EXPECT(download(found) == 1);
}
