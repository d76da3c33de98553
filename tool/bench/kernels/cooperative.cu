// cooperative.cu: the grid's barrier of CUDA's cooperative groups, which muster's is held against.
#include <cooperative_groups.h>

extern "C" __global__ void __launch_bounds__(128, 8) cooperative_barrier(unsigned rounds) {
  cooperative_groups::grid_group grid = cooperative_groups::this_grid();
#pragma unroll 1
  for (unsigned i = 0; i < rounds; i++)
    grid.sync();
}
