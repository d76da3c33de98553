// broken: warp-mask
// also: deadlock-*
// A ballot that names all lanes, in a branch that some of them take; the others wait at the block barrier
// behind it. (ComputationalRadiationPhysics/picongpu#2600, alpaka-group/mallocMC#145,
// fireice-uk/xmr-stak#1569)
#include "../check.h"

enum { THREADS = 64, WANT = 8 };

template <bool fixed> __global__ void claim(unsigned *free_pages, unsigned *out) {
  unsigned t = threadIdx.x;
  if (t < WANT) {
    unsigned peers = __ballot_sync(fixed ? (1u << WANT) - 1 : ~0u, t % 2 == 0);
    if (t == 0)
      *free_pages = __popc(peers);
  }
  __syncthreads();
  out[t] = *free_pages;
}

int main(int argc, char **argv) {
  bool fixed = fixed_form(argc, argv);
  unsigned *free_pages = device_zeros<unsigned>(1), *out = device_zeros<unsigned>(THREADS);
  (fixed ? claim<true> : claim<false>)<<<1, THREADS>>>(free_pages, out);
  CHECK(cudaDeviceSynchronize());
  EXPECT(!fixed || download(out + 63) == WANT / 2);
}
