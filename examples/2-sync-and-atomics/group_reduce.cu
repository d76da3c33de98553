// group_reduce: section 7.3 of "Synchronisation and atomics" (seed 001). A sum by a tile's own shuffles and
// by cg::reduce. The printed kernel ends with the sum of each warp; here the warps' sums are added up for the
// block, and the blocks' sums for the grid. Exact: small whole numbers in f32. Arguments: N THREADS (of a
// block, a multiple of 32: a tile has no partial form). Needs cooperative_groups.h and its reduce.h, so it is
// C++.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include "../common/tour.h"

namespace cg = cooperative_groups;
typedef cg::thread_block_tile<32, cg::thread_block> Warp;

// The sum comes to rank 0.
__device__ static float sum_by_shuffle(const Warp &warp, float value) {
  for (unsigned offset = warp.size() / 2; offset > 0; offset /= 2)
    value += warp.shfl_down(value, offset);
  return value;
}

// The sum comes to every rank.
__device__ static float sum_by_reduce(const Warp &warp, float value) {
  return cg::reduce(warp, value, cg::plus<float>());
}

// Warp, block, grid: what both kernels are, but for the warp's sum.
__device__ static __forceinline__ void reduce(float (*warp_sum)(const Warp &, float), const float *input,
                                              float *sum, unsigned n) {
  __shared__ float sums[32]; // a word a warp
  cg::thread_block block = cg::this_thread_block();
  Warp warp = cg::tiled_partition<32>(block);
  unsigned i = block.group_index().x * block.size() + block.thread_rank();

  float mine = warp_sum(warp, i < n ? input[i] : 0);
  if (warp.thread_rank() == 0)
    sums[warp.meta_group_rank()] = mine;
  block.sync();

  if (warp.meta_group_rank() == 0) { // the first warp, all of it: its tile may shuffle
    unsigned rank = warp.thread_rank();
    float whole = warp_sum(warp, rank < warp.meta_group_size() ? sums[rank] : 0);
    if (rank == 0)
      atomicAdd(sum, whole);
  }
}

__global__ void reduce_shuffle(const float *input, float *sum, unsigned n) {
  reduce(sum_by_shuffle, input, sum, n);
}

__global__ void reduce_library(const float *input, float *sum, unsigned n) {
  reduce(sum_by_reduce, input, sum, n);
}

#ifdef TOUR_HOST
typedef struct {
  void (*kernel)(const float *, float *, unsigned);
  const float *input;
  float *sum;
  unsigned n, threads;
} Reduction;

static void launch(void *context) {
  Reduction *r = (Reduction *)context;
  r->kernel<<<(r->n + r->threads - 1) / r->threads, r->threads>>>(r->input, r->sum, r->n);
}

// Both kernels on the same input, times in microseconds if asked for.
static void compare(unsigned n, unsigned threads, double *times) {
  static void (*const kernels[])(const float *, float *, unsigned) = {reduce_shuffle, reduce_library};
  static const char *const names[] = {"shuffle", "cg::reduce"};
  float *input = (float *)tour_host_alloc(n * sizeof *input), got;
  long want = 0;
  for (unsigned i = 0; i < n; i++) { // -2 to 2: exact in f32 in any order up to 2^24 values
    int value = (int)(tour_hash(i) % 5) - 2;
    input[i] = (float)value;
    want += value;
  }
  Reduction r = {NULL, (float *)tour_upload(input, n * sizeof *input), NULL, n, threads};
  for (int k = 0; k < 2; k++) {
    r.kernel = kernels[k];
    r.sum = (float *)tour_zeroed(sizeof got);
    launch(&r);
    CHECK(cudaGetLastError());
    tour_sync();
    tour_download(&got, r.sum, sizeof got);
    tour_expect(got == (float)want, "%s: the sum of %u by blocks of %u is %g, should be %ld", names[k], n,
                threads, got, want);
    if (times)
      times[k] = tour_time_us(launch, &r, 30);
    CHECK(cudaFree(r.sum));
  }
  CHECK(cudaFree((void *)r.input));
  free(input);
}

int main(int argc, char **argv) {
  tour_begin(argc, argv, "[N [THREADS]]");
  unsigned n = (unsigned)tour_arg(0, 100003, 1, 1 << 24);
  unsigned threads = (unsigned)tour_arg(1, 256, 32, 1024);
  if (threads % 32) {
    fprintf(stderr, "%s: %u threads: not a multiple of 32\n", tour.name, threads);
    return TOUR_USAGE;
  }
  compare(n, threads, NULL);
  compare(1, 256, NULL);
  compare(33, 32, NULL);
  compare(1000, 96, NULL);
  compare(1023, 1024, NULL);
  if (tour.timing) {
    double us[2];
    compare(1u << 24, 256, us);
    tour_figure("group_reduce.shuffle_us", us[0], "us");
    tour_figure("group_reduce.library_us", us[1], "us");
    tour_figure("group_reduce.library_over_shuffle", us[1] / us[0], "x");
  }
  return tour_end("sums of up to %u values, by shuffles of a tile and by cg::reduce", n);
}
#endif
