// grid_barrier: section 7.4 of "Synchronisation and atomics" (seed 001). The barrier of the whole grid, its
// launch and its limit. The printed kernel is wrong: after the barrier it adds the left neighbour while that
// neighbour is being updated. Right are: all reads before a second barrier, all writes after it; or writes to
// a second buffer. The seed says that too many blocks deadlock: a cooperative launch refuses them (error
// 720), which is checked here; the printed launch never looks at the error. A barrier made by hand does hang:
// see 1-group-barrier/broken/too_many_blocks. Arguments: N BLOCKS THREADS ROUNDS. Needs cooperative_groups.h.
#include <cooperative_groups.h>
#include "../common/tour.h"

namespace cg = cooperative_groups;

// A round: double all, then add the left neighbour. One element a thread, so that a register holds what was
// read.
__global__ void two_barriers(unsigned *data, unsigned n, unsigned rounds) {
  cg::grid_group grid = cg::this_grid();
  unsigned i = (unsigned)grid.thread_rank();
  for (unsigned round = 0; round < rounds; round++) {
    if (i < n)
      data[i] *= 2;
    grid.sync(); // before any neighbour is read
    unsigned left = 0 < i && i < n ? data[i - 1] : 0;
    grid.sync(); // before any of them changes
    if (i < n)
      data[i] += left;
  }
}

// The same for any n. One barrier a round: it also stands between the last reads of TO, one round ago, and
// its writes.
__global__ void two_buffers(unsigned *from, unsigned *to, unsigned n, unsigned rounds) {
  cg::grid_group grid = cg::this_grid();
  unsigned first = (unsigned)grid.thread_rank(), all = (unsigned)grid.size();
  for (unsigned round = 0; round < rounds; round++) {
    for (unsigned i = first; i < n; i += all)
      from[i] *= 2;
    grid.sync();
    for (unsigned i = first; i < n; i += all)
      to[i] = from[i] + (i > 0 ? from[i - 1] : 0);
    unsigned *swap = from;
    from = to;
    to = swap;
  }
}

__global__ void only_barriers(unsigned rounds) {
  cg::grid_group grid = cg::this_grid();
  for (unsigned round = 0; round < rounds; round++)
    grid.sync();
}

#ifdef TOUR_HOST
static unsigned *serial(unsigned *data, unsigned n, unsigned rounds) {
  for (unsigned round = 0; round < rounds; round++)
    for (unsigned i = n; i-- > 0;) // from the right, so that the left neighbour is still the old one
      data[i] = 2 * data[i] + (i > 0 ? 2 * data[i - 1] : 0);
  return data;
}

static unsigned *input_of(unsigned n) {
  unsigned *data = (unsigned *)tour_host_alloc(n * sizeof *data);
  for (unsigned i = 0; i < n; i++)
    data[i] = tour_hash(i);
  return data;
}

static cudaError_t launch_grid(const void *kernel, unsigned blocks, unsigned threads, void **arguments) {
  return cudaLaunchCooperativeKernel(kernel, dim3(blocks), dim3(threads), arguments, 0, 0);
}

// Runs one of the kernels on N elements, compares with the serial result.
static void verify(bool buffers, unsigned n, unsigned blocks, unsigned threads, unsigned rounds) {
  unsigned *data = input_of(n), *got = (unsigned *)tour_host_alloc(n * sizeof *got);
  unsigned *a = (unsigned *)tour_upload(data, n * sizeof *data),
           *b = (unsigned *)tour_alloc(n * sizeof *data);
  if (buffers) {
    void *arguments[] = {&a, &b, &n, &rounds};
    CHECK(launch_grid((const void *)two_buffers, blocks, threads, arguments));
  } else {
    void *arguments[] = {&a, &n, &rounds};
    CHECK(launch_grid((const void *)two_barriers, blocks, threads, arguments));
  }
  tour_sync();
  tour_download(got, buffers && rounds % 2 ? b : a, n * sizeof *got);
  serial(data, n, rounds);
  for (unsigned i = 0; i < n; i++)
    tour_expect_int(buffers ? "two buffers" : "two barriers", i, got[i], data[i]);
  CHECK(cudaFree(a));
  CHECK(cudaFree(b));
  free(data);
  free(got);
}

// Blocks of THREADS threads that this kernel can have in a cooperative launch: all of them resident at once.
static unsigned most_blocks(const void *kernel, unsigned threads) {
  int of_sm = 0;
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&of_sm, kernel, (int)threads, 0));
  return (unsigned)of_sm * (unsigned)tour.device.multiProcessorCount;
}

// One block more than fit: refused before anything runs. Returns the error.
static cudaError_t verify_refusal(unsigned threads) {
  unsigned n = 1000, rounds = 1, *data = input_of(n), *got = (unsigned *)tour_host_alloc(n * sizeof *got);
  unsigned *a = (unsigned *)tour_upload(data, n * sizeof *data),
           *b = (unsigned *)tour_alloc(n * sizeof *data);
  void *arguments[] = {&a, &b, &n, &rounds};
  unsigned blocks = most_blocks((const void *)two_buffers, threads) + 1;
  cudaError_t error = launch_grid((const void *)two_buffers, blocks, threads, arguments);
  cudaGetLastError(); // not sticky: the next call is right again
  tour_expect(error == cudaErrorCooperativeLaunchTooLarge, "%u blocks of %u: %s, should be refused", blocks,
              threads, cudaGetErrorName(error));
  tour_sync();
  tour_download(got, a, n * sizeof *got);
  for (unsigned i = 0; i < n; i++)
    tour_expect_int("untouched", i, got[i], data[i]);
  CHECK(cudaFree(a));
  CHECK(cudaFree(b));
  free(data);
  free(got);
  return error;
}

typedef struct {
  unsigned blocks, threads, rounds;
} Barriers;

static void launch_barriers(void *context) {
  Barriers *b = (Barriers *)context;
  void *arguments[] = {&b->rounds};
  CHECK(launch_grid((const void *)only_barriers, b->blocks, b->threads, arguments));
}

// Slope between two counts: the launch drops out.
static double barrier_ns(unsigned blocks, unsigned threads) {
  Barriers few = {blocks, threads, 1000}, many = {blocks, threads, 5000};
  return 1e3 * (tour_time_us(launch_barriers, &many, 15) - tour_time_us(launch_barriers, &few, 15)) / 4000;
}

int main(int argc, char **argv) {
  tour_begin(argc, argv, "[N [BLOCKS [THREADS [ROUNDS]]]]");
  unsigned n = (unsigned)tour_arg(0, 5003, 1, 1 << 24);
  unsigned blocks = (unsigned)tour_arg(1, 9, 1, 1 << 20);
  unsigned threads = (unsigned)tour_arg(2, 128, 1, 1024);
  unsigned rounds = (unsigned)tour_arg(3, 5, 0, 1000);
  if (!tour.device.cooperativeLaunch)
    tour_fail("this device has no cooperative launch");
  unsigned most = most_blocks((const void *)two_buffers, threads);
  if (blocks > most) {
    fprintf(stderr, "%s: %u blocks of %u threads cannot all be resident: at most %u\n", tour.name, blocks,
            threads, most);
    return TOUR_USAGE;
  }
  unsigned covered = n < blocks * threads ? n : blocks * threads;
  verify(false, covered, blocks, threads, rounds);
  verify(true, n, blocks, threads, rounds);
  verify(false, 1, 2, 33, 3);
  verify(true, 1, 2, 33, 3);
  verify(true, 257, 4, 64, 4);
  verify(true, n, most, threads, 2); // the largest grid there is
  cudaError_t refusal = verify_refusal(threads);
  if (tour.timing) {
    unsigned sms = (unsigned)tour.device.multiProcessorCount;
    tour_figure("grid_barrier.ns", barrier_ns(sms, 128), "ns");
    tour_figure("grid_barrier.max_blocks", most_blocks((const void *)only_barriers, 128), "blocks");
    tour_figure("grid_barrier.max_ns", barrier_ns(most_blocks((const void *)only_barriers, 128), 128), "ns");
    tour_figure("grid_barrier.refused_with", refusal, "cudaError_t");
  }
  return tour_end("%u rounds over %u elements by %u blocks; %u blocks run, one more is refused", rounds, n,
                  blocks, most);
}
#endif
