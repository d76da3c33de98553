// broken: a barrier of the grid in a launch that is not cooperative; rule: not-cooperative
//
// Section 7.4 of seed 001 names the launch that is needed. With <<<>>> nothing says that all blocks are
// resident, the driver gives the barrier no workspace, and cooperative groups end the kernel with a trap: the
// context is lost with it, so this program ends there. Needs cooperative_groups.h. Right: ../grid_barrier.cu.
#include <cooperative_groups.h>
#include "../../common/tour.h"

namespace cg = cooperative_groups;

__global__ void exchange(const unsigned *from, unsigned *through, unsigned *to) {
  cg::grid_group grid = cg::this_grid();
  unsigned i = (unsigned)grid.thread_rank(), all = (unsigned)grid.size();
  through[i] = from[i];
  grid.sync();
  to[i] = through[all - 1 - i];
}

#ifdef TOUR_HOST
int main(int argc, char **argv) {
  enum { BLOCKS = 4, THREADS = 64, N = BLOCKS * THREADS };
  tour_begin(argc, argv, "");
  unsigned input[N];
  for (unsigned i = 0; i < N; i++)
    input[i] = tour_hash(i);
  unsigned *through = (unsigned *)tour_alloc(sizeof input), *to = (unsigned *)tour_alloc(sizeof input);
  exchange<<<BLOCKS, THREADS>>>((unsigned *)tour_upload(input, sizeof input), through, to);
  cudaError_t error = cudaGetLastError();
  if (error == cudaSuccess)
    error = cudaDeviceSynchronize();
  if (error == cudaSuccess)
    tour_fail("the barrier of a launch that is not cooperative reports no error");
  printf("the kernel ends with %s\n", cudaGetErrorName(error));
  return tour_end_broken(1, 1, "launches");
}
#endif
