// The last block sets the ticket back with a plain store, and there is no fence anywhere: its own atomicAdd
// saw all the others, so they are before the store; the sum is an atomic itself.
#include "../check.h"

enum { BLOCKS = 16 };

__global__ void sum(const unsigned *in, unsigned *total, unsigned *ticket) {
  atomicAdd(total, in[blockIdx.x]);
  if (atomicAdd(ticket, 1) == gridDim.x - 1)
    *ticket = 0;
}

int main(void) {
  unsigned *in = device_numbers(BLOCKS), *total = device_zeros<unsigned>(1),
           *ticket = device_zeros<unsigned>(1);
  for (int launch = 0; launch < 2; launch++)
    sum<<<BLOCKS, 1>>>(in, total, ticket);
  CHECK(cudaDeviceSynchronize());
  EXPECT(download(total) == BLOCKS * (BLOCKS + 1) && download(ticket) == 0);
}
