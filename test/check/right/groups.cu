// options: --schedules 4
// Cooperative groups of every size: tiles, the lanes of a branch, lanes of one label, the block in parts, the
// grid.
#include "../check.h"
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

enum { BLOCKS = 3, THREADS = 96, ALL = BLOCKS * THREADS };

__global__ void sums(const unsigned *in, unsigned *through, unsigned *out) {
  cg::grid_group grid = cg::this_grid();
  cg::thread_block block = cg::this_thread_block();
  __shared__ unsigned cells[THREADS];
  unsigned t = block.thread_rank(), sum = 0;

  auto tile = cg::tiled_partition<8>(block);
  cells[t] = in[t];
  tile.sync();
  sum += cells[t ^ 1];
  sum += cg::reduce(tile, t, cg::plus<unsigned>());
  tile.sync();

  if (t % 3 == 0) {
    cg::coalesced_group some = cg::coalesced_threads();
    cells[t] = t;
    some.sync();
    sum += some.shfl(t, 0) + some.size();
  }
  block.sync();

  auto warp = cg::tiled_partition<32>(block);
  auto same = cg::labeled_partition(warp, t % 5);
  sum += cg::reduce(same, 1u, cg::plus<unsigned>());

  through[grid.thread_rank()] = sum;
  grid.sync();
  out[grid.thread_rank()] = through[(grid.thread_rank() + THREADS) % ALL];
}

int main(void) {
  unsigned *in = device_numbers(THREADS), *through = device_zeros<unsigned>(ALL),
           *out = device_zeros<unsigned>(ALL);
  void *arguments[] = {&in, &through, &out};
  CHECK(cudaLaunchCooperativeKernel(sums, BLOCKS, THREADS, arguments));
  CHECK(cudaDeviceSynchronize());
  EXPECT(download(out) == download(through + THREADS));
}
