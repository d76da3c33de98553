// broken: missing-acquire
// The last block reads every block's partial sum after a ticket, and nothing keeps its reads behind that
// ticket: the writers fence, the reader does not. (pytorch/pytorch#128455)
#include "../check.h"

enum { BLOCKS = 16, THREADS = 64 };

template <bool fixed>
__global__ void sum(const unsigned *in, unsigned *partial, unsigned *ticket, unsigned *out) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = in[blockIdx.x];
    __threadfence();
    last = atomicAdd(ticket, 1) == gridDim.x - 1;
    if (fixed)
      __threadfence();
  }
  __syncthreads();
  if (last && threadIdx.x < gridDim.x)
    atomicAdd(out, partial[threadIdx.x]);
}

int main(int argc, char **argv) {
  bool fixed = fixed_form(argc, argv);
  unsigned *in = device_numbers(BLOCKS), *partial = device_zeros<unsigned>(BLOCKS);
  unsigned *ticket = device_zeros<unsigned>(1), *out = device_zeros<unsigned>(1);
  (fixed ? sum<true> : sum<false>)<<<BLOCKS, THREADS>>>(in, partial, ticket, out);
  CHECK(cudaDeviceSynchronize());
  EXPECT(!fixed || download(out) == BLOCKS * (BLOCKS + 1) / 2);
}
