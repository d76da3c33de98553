// broken: each thread reads its neighbour's element while the neighbour changes it; rule: race-global
//
// Section 7.4 of seed 001 as printed. The barrier orders the doubling before the sums, and nothing orders a
// thread's read of data[i - 1] and the write of the thread that owns it: some sums take the old value, some
// the new one. Needs cooperative_groups.h. Right: ../grid_barrier.cu, with a second barrier or a second
// buffer.
#include <cooperative_groups.h>
#include "../../common/tour.h"

namespace cg = cooperative_groups;

__global__ void add_neighbour(unsigned *data, unsigned n) {
  cg::grid_group grid = cg::this_grid();
  unsigned i = (unsigned)grid.thread_rank();
  if (i < n)
    data[i] *= 2;
  grid.sync();
  if (i < n && i > 0)
    data[i] += data[i - 1];
}

#ifdef TOUR_HOST
int main(int argc, char **argv) {
  enum { BLOCKS = 40, THREADS = 256, N = BLOCKS * THREADS };
  tour_begin(argc, argv, "");
  static unsigned data[N], got[N];
  for (unsigned i = 0; i < N; i++)
    data[i] = tour_hash(i);
  unsigned *device_data = (unsigned *)tour_upload(data, sizeof data), n = N, wrong = 0;
  void *arguments[] = {&device_data, &n};
  CHECK(
      cudaLaunchCooperativeKernel((const void *)add_neighbour, dim3(BLOCKS), dim3(THREADS), arguments, 0, 0));
  tour_sync();
  tour_download(got, device_data, sizeof got);
  for (unsigned i = 0; i < N; i++)
    wrong += got[i] != 2 * data[i] + (i > 0 ? 2 * data[i - 1] : 0);
  return tour_end_broken(wrong, N, "elements");
}
#endif
