// broken: race-scope
// nvcc: -arch=sm_90
// Adds of two floats at once that hold within a block only, and whose results are read.
#include "../check.h"

enum { BLOCKS = 2, THREADS = 64, CELLS = 3 };

template <bool fixed> __global__ void add(float2 *cells, float *found) {
  const unsigned i = blockIdx.x * THREADS + threadIdx.x;
  float2 *cell = &cells[i % CELLS], was;
  if (fixed)
    asm volatile("atom.relaxed.gpu.global.add.v2.f32 {%0, %1}, [%2], {%3, %3};"
                 : "=f"(was.x), "=f"(was.y)
                 : "l"(cell), "f"(1.f)
                 : "memory");
  else
    asm volatile("atom.relaxed.cta.global.add.v2.f32 {%0, %1}, [%2], {%3, %3};"
                 : "=f"(was.x), "=f"(was.y)
                 : "l"(cell), "f"(1.f)
                 : "memory");
  found[i] = was.x + was.y;
}

int main(int argc, char **argv) {
  bool fixed = fixed_form(argc, argv);
  float2 *cells = device_zeros<float2>(CELLS);
  float *found = device_zeros<float>(BLOCKS * THREADS);
  (fixed ? add<true> : add<false>)<<<BLOCKS, THREADS>>>(cells, found);
  CHECK(cudaDeviceSynchronize());
  EXPECT(!fixed || download(cells).y == (BLOCKS * THREADS + CELLS - 1) / CELLS);
}
