// broken: missing-release|missing-acquire
// A scan by looking back: the state of a tile is an atomic, its value a plain word, and no fence stands
// between them on either side. (JuliaGPU/AcceleratedKernels.jl#98)
#include "../check.h"

enum { BLOCKS = 8, THREADS = 32, NOTHING = 0, AGGREGATE, PREFIX };

template <bool fixed> __device__ void publish(unsigned *value, unsigned *state, unsigned v, unsigned s) {
  *value = v;
  if (fixed)
    __threadfence();
  atomicExch(state, s);
}

template <bool fixed>
__global__ void scan(const unsigned *in, unsigned *aggregate, unsigned *prefix, unsigned *state) {
  unsigned tile = blockIdx.x, before = 0;
  if (threadIdx.x != 0)
    return;
  if (tile > 0)
    publish<fixed>(&aggregate[tile], &state[tile], in[tile], AGGREGATE);
  for (unsigned i = tile; i > 0;) {
    unsigned s = atomicAdd(&state[i - 1], 0);
    if (s == NOTHING)
      continue;
    if (fixed)
      __threadfence();
    before += s == PREFIX ? prefix[i - 1] : aggregate[i - 1];
    i = s == PREFIX ? 0 : i - 1;
  }
  publish<fixed>(&prefix[tile], &state[tile], before + in[tile], PREFIX);
}

int main(int argc, char **argv) {
  bool fixed = fixed_form(argc, argv);
  unsigned *in = device_numbers(BLOCKS), *aggregate = device_zeros<unsigned>(BLOCKS);
  unsigned *prefix = device_zeros<unsigned>(BLOCKS), *state = device_zeros<unsigned>(BLOCKS);
  (fixed ? scan<true> : scan<false>)<<<BLOCKS, THREADS>>>(in, aggregate, prefix, state);
  CHECK(cudaDeviceSynchronize());
  EXPECT(!fixed || download(prefix + BLOCKS - 1) == BLOCKS * (BLOCKS + 1) / 2);
}
