// reset_segments.cu: the seed's test program done right (seed 000, "The test"). Each group of blocks (all
// with the same blockIdx.y) rewrites its segment of an array ten times, with a barrier in between:
// sync_ctas() for the group, or grid.sync() for everybody. The printed test wrote only 0 and -1, let one
// thread of one group look, and launched the group form without knowing that it fits. Here a value says who
// wrote it and when, all of them are read by another block than wrote them, and the launch is cooperative, or
// refused. Arguments: GX GY GZ BX BY BZ LENGTH. Needs cooperative_groups.h for grid.sync(): C++ only.
#include "../common/tour.h"
#include <cooperative_groups.h>
#include "sync_ctas.cuh"
namespace cg = cooperative_groups;

__host__ __device__ static unsigned value_of(unsigned group, unsigned round, unsigned i) {
  return (round + 1) << 24 | group << 12 | (tour_hash(i) & 0xfff);
}

__device__ static void wait_all(unsigned *barrier, int whole_grid) {
  if (whole_grid)
    cg::this_grid().sync();
  else
    sync_ctas(barrier);
}

// CHECK_COUNTS, where given: words read back, words that were wrong.
__global__ void reset(unsigned *array, unsigned length, unsigned *barriers, unsigned rounds, int whole_grid,
                      unsigned *check_counts) {
  const unsigned group = blockIdx.y, blocks = gridDim.x * gridDim.z;
  const unsigned block = blockIdx.x + gridDim.x * blockIdx.z;
  const unsigned threads = blockDim.x * blockDim.y * blockDim.z;
  const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  const unsigned mine = block * threads + thread;
  const unsigned theirs = (block + 1) % blocks * threads + (thread + 1) % threads;
  unsigned *segment = array + (size_t)group * length;
  unsigned *barrier = barriers + SYNC_CTAS_LINE * group;
  unsigned read = 0, wrong = 0;

  for (unsigned round = 0; round < rounds; round++) {
    for (unsigned i = mine; i < length; i += blocks * threads)
      segment[i] = value_of(group, round, i);
    wait_all(barrier, whole_grid);
    if (check_counts) {
      for (unsigned i = theirs; i < length; i += blocks * threads, read++)
        wrong += segment[i] != value_of(group, round, i);
      wait_all(barrier, whole_grid); // the next round overwrites what was read here
    }
  }
  if (check_counts) {
    atomicAdd(&check_counts[0], read);
    atomicAdd(&check_counts[1], wrong);
  }
}

#ifdef TOUR_HOST
enum { ROUNDS = 10, RUNS = 20 };
static dim3 grid, block;
static unsigned length, *array, *barriers, *counts, *host;

static void launch(unsigned words, unsigned rounds, int whole_grid, unsigned *check_counts) {
  void *args[] = {&array, &words, &barriers, &rounds, &whole_grid, &check_counts};
  CHECK(cudaLaunchCooperativeKernel((const void *)reset, grid, block, args, 0, 0));
}

static void verify(const char *barrier, unsigned rounds, int whole_grid) {
  const size_t words = (size_t)grid.y * length;
  unsigned seen[2];
  CHECK(cudaMemset(array, 0xA5, words * sizeof *array));
  CHECK(cudaMemset(counts, 0, 2 * sizeof *counts));
  launch(length, rounds, whole_grid, counts);
  tour_sync();
  tour_download(seen, counts, sizeof seen);
  tour_expect(seen[0] == words * rounds, "%s: %u words read on the device, should be %zu", barrier, seen[0],
              words * rounds);
  tour_expect(seen[1] == 0, "%s: %u of %u words wrong on the device", barrier, seen[1], seen[0]);
  tour_download(host, array, words * sizeof *array);
  for (size_t i = 0; i < words; i++)
    tour_expect_int(barrier, (long)i, host[i],
                    value_of((unsigned)(i / length), rounds - 1, (unsigned)(i % length)));
}

static void verify_words(const char *when, unsigned want) {
  for (unsigned group = 0; group < grid.y; group++) {
    unsigned word;
    tour_download(&word, barriers + SYNC_CTAS_LINE * group, sizeof word);
    tour_expect_int(when, group, word, want);
  }
}

// As the seed did: one launch of ten barriers between two events, the group form launched plainly (it fits,
// as the cooperative launches before it have shown). Alternating, so that both meet the same clock.
static void measure_launches(void) {
  double us[2][RUNS];
  int faster = 0;
  unsigned rounds = ROUNDS, *none = NULL;
  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  for (int run = -3; run < RUNS; run++) {
    for (int whole_grid = 0; whole_grid < 2; whole_grid++) {
      void *args[] = {&array, &length, &barriers, &rounds, &whole_grid, &none};
      float ms;
      CHECK(cudaEventRecord(begin, 0));
      if (whole_grid)
        CHECK(cudaLaunchCooperativeKernel((const void *)reset, grid, block, args, 0, 0));
      else
        CHECK(cudaLaunchKernel((const void *)reset, grid, block, args, 0, 0));
      CHECK(cudaEventRecord(end, 0));
      tour_sync();
      CHECK(cudaEventElapsedTime(&ms, begin, end));
      if (run >= 0)
        us[whole_grid][run] = 1e3 * ms;
    }
    faster += run >= 0 && us[0][run] < us[1][run];
  }
  double group = tour_median(us[0], RUNS), all = tour_median(us[1], RUNS); // both are sorted now
  tour_figure("segments.group_us", group, "us");
  tour_figure("segments.group_min_us", us[0][0], "us");
  tour_figure("segments.group_max_us", us[0][RUNS - 1], "us");
  tour_figure("segments.grid_us", all, "us");
  tour_figure("segments.grid_min_us", us[1][0], "us");
  tour_figure("segments.grid_max_us", us[1][RUNS - 1], "us");
  tour_figure("segments.grid_over_group", all / group, "x");
  tour_figure("segments.group_faster_percent", 100.0 * faster / RUNS, "%");
  CHECK(cudaEventDestroy(begin));
  CHECK(cudaEventDestroy(end));
}

struct barriers_only {
  int whole_grid, repeats;
};

static void launch_barriers(void *context) {
  const struct barriers_only *run = (const struct barriers_only *)context;
  launch(0, (unsigned)run->repeats, run->whole_grid, NULL);
}

static void measure_barriers(void) {
  struct barriers_only run = {0, 0};
  double group = tour_slope_ns(launch_barriers, &run, &run.repeats, 2000, 10000, 15);
  run.whole_grid = 1;
  double all = tour_slope_ns(launch_barriers, &run, &run.repeats, 2000, 10000, 15);
  tour_figure("segments.group_sync_ns", group, "ns");
  tour_figure("segments.grid_sync_ns", all, "ns");
  tour_figure("segments.sync_ratio", all / group, "x");
}

int main(int argc, char **argv) {
  tour_begin(argc, argv, "[GX GY GZ BX BY BZ LENGTH]");
  grid.x = (unsigned)tour_arg(0, 4, 1, 1024);
  grid.y = (unsigned)tour_arg(1, 32, 1, 1024);
  grid.z = (unsigned)tour_arg(2, 1, 1, 1024);
  block.x = (unsigned)tour_arg(3, 128, 1, 1024);
  block.y = (unsigned)tour_arg(4, 1, 1, 1024);
  block.z = (unsigned)tour_arg(5, 1, 1, 64);
  length = (unsigned)tour_arg(6, 512, 1, 65536);
  const unsigned threads = block.x * block.y * block.z;
  if (threads > 1024)
    tour_misuse("a block has at most 1024 threads");

  int per_sm;
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, (const void *)reset, (int)threads, 0));
  const unsigned long long needed = 1ull * grid.x * grid.y * grid.z;
  const unsigned fit = (unsigned)per_sm * (unsigned)tour.device.multiProcessorCount;
  if (needed > fit)
    tour_fail("%llu blocks of %u threads are needed at once, %u fit on this device", needed, threads, fit);

  const size_t words = (size_t)grid.y * length;
  array = (unsigned *)tour_alloc(words * sizeof *array);
  barriers = (unsigned *)tour_zeroed(grid.y * SYNC_CTAS_LINE * sizeof *barriers);
  counts = (unsigned *)tour_zeroed(2 * sizeof *counts);
  host = (unsigned *)tour_host_alloc(words * sizeof *host);

  // The word flips with every barrier and is never reset: also over launches, also starting from the odd
  // side.
  verify("group barrier", ROUNDS, 0);
  verify_words("word after an even number of barriers", 0);
  launch(length, 1, 0, NULL);
  tour_sync();
  verify_words("word after an odd number of barriers", 0x80000000u);
  verify("group barrier from the odd side", 2, 0);
  verify("grid barrier", ROUNDS, 1);
  verify_words("word still on the odd side", 0x80000000u);
  launch(length, 1, 0, NULL);
  tour_sync();
  verify_words("word back at the start", 0);

  // A group that cannot be resident must be refused by the launch, not hang in it.
  unsigned rounds = 1, *none = NULL;
  int whole_grid = 0;
  void *args[] = {&array, &length, &barriers, &rounds, &whole_grid, &none};
  cudaError_t error = cudaLaunchCooperativeKernel((const void *)reset, dim3(fit + 1), block, args, 0, 0);
  cudaGetLastError();
  tour_expect(error == cudaErrorCooperativeLaunchTooLarge, "launch of %u blocks where %u fit: %s", fit + 1,
              fit, cudaGetErrorName(error));

  if (tour.timing) {
    measure_launches();
    measure_barriers();
  }
  return tour_end("%u segments of %u words, %ux%u blocks of %ux%ux%u threads each, group and grid barrier",
                  grid.y, length, grid.x, grid.z, block.x, block.y, block.z);
}
#endif
