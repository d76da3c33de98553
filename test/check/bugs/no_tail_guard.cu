// broken: oob-global
// As many threads as whole blocks give, and no test for the end of the array.
// (ggml-org/llama.cpp#7465, karpathy/llm.c#794)
#include "../check.h"

enum { THREADS = 128, ITEMS = 1000 };

template <bool fixed> __global__ void twice(const unsigned *in, unsigned *out) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (!fixed || i < ITEMS)
    out[i] = 2 * in[i];
}

int main(int argc, char **argv) {
  bool fixed = fixed_form(argc, argv);
  unsigned *in = device_numbers(ITEMS), *out = device_zeros<unsigned>(ITEMS);
  (fixed ? twice<true> : twice<false>)<<<(ITEMS + THREADS - 1) / THREADS, THREADS>>>(in, out);
  CHECK(cudaDeviceSynchronize());
  EXPECT(!fixed || download(out + ITEMS - 1) == 2 * ITEMS);
}
