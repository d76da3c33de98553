// broken: some blocks call the barrier of the grid once less than the others; rule: barrier-uneven
//
// The barrier of section 7.4 of seed 001 in a loop over tiles that are shared out unevenly: 10 tiles, 4
// blocks, so that two blocks come three times and two only twice. The two that come again wait for blocks
// that have left. Only built: it hangs. Needs cooperative_groups.h. Right: the same number of rounds for all
// (../grid_barrier.cu).
#include <cooperative_groups.h>
#include "../../common/tour.h"

namespace cg = cooperative_groups;

__global__ void smooth(unsigned *data, unsigned tiles) {
  cg::grid_group grid = cg::this_grid();
  unsigned size = blockDim.x;
  for (unsigned tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    unsigned i = tile * size + threadIdx.x, last = tiles * size - 1;
    unsigned right = data[i < last ? i + 1 : i];
    grid.sync(); // all reads of this round before its writes
    data[i] += right;
  }
}

#ifdef TOUR_HOST
int main(int argc, char **argv) {
  enum { TILES = 10, BLOCKS = 4, THREADS = 64, N = TILES * THREADS };
  tour_begin(argc, argv, "");
  unsigned data[N], got[N], tiles = TILES, wrong = 0;
  for (unsigned i = 0; i < N; i++)
    data[i] = tour_hash(i);
  unsigned *device_data = (unsigned *)tour_upload(data, sizeof data);
  void *arguments[] = {&device_data, &tiles};
  CHECK(cudaLaunchCooperativeKernel((const void *)smooth, dim3(BLOCKS), dim3(THREADS), arguments, 0, 0));
  tour_sync();
  tour_download(got, device_data, sizeof got);
  for (unsigned i = 0; i < N; i++)
    wrong += got[i] != data[i] + data[i < N - 1 ? i + 1 : i];
  return tour_end_broken(wrong, N, "elements");
}
#endif
