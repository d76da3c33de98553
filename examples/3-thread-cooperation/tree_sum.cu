// Seed 002, section 5.2: the sum of a block's values in shared memory, added by one thread in a loop or by
// all of them as a tree. The loop takes n - 1 steps, the tree the logarithm of n.
// In print the tree halves its width rounding down, which loses elements unless the block has 2^k threads
// (broken/tree_not_power_of_two.cu); rounding up, any block from 1 to 1024 threads does.
// Arguments: THREADS, the one block size to verify; by default a list of them.
#include "../common/tour.h"

enum { BLOCK_MAX = 1024 };

__shared__ unsigned cache[BLOCK_MAX];

static __device__ void sum_as_tree(unsigned n) {
  for (unsigned width = n, half; width > 1; width = half) {
    half = (width + 1) / 2;
    if (threadIdx.x + half < width)
      cache[threadIdx.x] += cache[threadIdx.x + half];
    __syncthreads(); // the sums of this step are the summands of the next
  }
}

static __device__ void sum_in_loop(unsigned n) {
  if (threadIdx.x == 0) {
    unsigned sum = 0;
    for (unsigned i = 0; i < n; i++)
      sum += cache[i];
    cache[0] = sum;
  }
  __syncthreads(); // the block may use its cache again
}

// A sum a round; thread 0 notes it and the cycles it took. Between rounds no barrier is missing: the sum ends
// with one, and what thread 0 reads after it, nobody else writes.
TOUR_C __global__ void sum_kernel(unsigned *sums, long long *cycles, const unsigned *in, unsigned rounds,
                                  int tree) {
  for (unsigned round = 0; round < rounds; round++) {
    unsigned job = blockIdx.x * rounds + round;
    cache[threadIdx.x] = in[job * blockDim.x + threadIdx.x];
    __syncthreads(); // every value is in
    long long start = clock64();
    if (tree)
      sum_as_tree(blockDim.x);
    else
      sum_in_loop(blockDim.x);
    long long stop = clock64();
    if (threadIdx.x == 0) {
      sums[job] = cache[0];
      cycles[job] = stop - start;
    }
  }
}

#ifdef TOUR_HOST
// Verifies BLOCKS * ROUNDS sums of THREADS values each; median of the cycles that one took.
static double sum_and_verify(unsigned threads, unsigned blocks, unsigned rounds, int tree) {
  unsigned jobs = blocks * rounds, count = jobs * threads;
  unsigned *values = (unsigned *)tour_host_alloc(count * sizeof(unsigned));
  unsigned *sums = (unsigned *)tour_host_alloc(jobs * sizeof(unsigned));
  long long *cycles = (long long *)tour_host_alloc(jobs * sizeof(long long));
  double *times = (double *)tour_host_alloc(jobs * sizeof(double));
  for (unsigned i = 0; i < count; i++)
    values[i] = tour_hash(i + threads);

  unsigned *in = (unsigned *)tour_upload(values, count * sizeof(unsigned));
  unsigned *device_sums = (unsigned *)tour_alloc(jobs * sizeof(unsigned));
  long long *device_cycles = (long long *)tour_alloc(jobs * sizeof(long long));
  sum_kernel<<<blocks, threads>>>(device_sums, device_cycles, in, rounds, tree);
  CHECK(cudaGetLastError());
  tour_sync();
  tour_download(sums, device_sums, jobs * sizeof(unsigned));
  tour_download(cycles, device_cycles, jobs * sizeof(long long));

  for (unsigned job = 0; job < jobs; job++) {
    unsigned want = 0;
    for (unsigned i = 0; i < threads; i++)
      want += values[job * threads + i];
    tour_expect_int(tree ? "tree" : "loop", threads, sums[job], want);
    times[job] = (double)cycles[job];
  }
  double median = tour_median(times, (int)jobs);
  CHECK(cudaFree(in));
  CHECK(cudaFree(device_sums));
  CHECK(cudaFree(device_cycles));
  free(values);
  free(sums);
  free(cycles);
  free(times);
  return median;
}

static void figure(const char *what, unsigned threads, double value, const char *unit) {
  char key[64];
  snprintf(key, sizeof key, "tree_sum.%s_%u", what, threads);
  tour_figure(key, value, unit);
}

static void measure(void) {
  static const unsigned sizes[] = {32, 64, 128, 192, 256, 512, 1024};
  enum { SIZES = sizeof sizes / sizeof *sizes };
  double tree[SIZES], loop[SIZES];
  for (int i = 0; i < SIZES; i++) {
    tree[i] = sum_and_verify(sizes[i], 1, 501, 1);
    loop[i] = sum_and_verify(sizes[i], 1, 501, 0);
    figure("tree_cycles", sizes[i], tree[i], "cycles");
    figure("serial_cycles", sizes[i], loop[i], "cycles");
    figure("gain", sizes[i], loop[i] / tree[i], "x");
  }
  tour_figure("tree_sum.ratio_192_256", tree[3] / tree[4], "x");
  tour_figure("tree_sum.tree_growth", tree[SIZES - 1] / tree[0], "x");
  // Of what grows in proportion, the step from 512 to 1024 costs twice the step from 256 to 512.
  tour_figure("tree_sum.serial_doubling", (loop[6] - loop[5]) / (loop[5] - loop[4]), "x");
  tour_figure("tree_sum.serial_per_element", (loop[6] - loop[5]) / 512, "cycles");
}

int main(int argc, char **argv) {
  tour_begin(argc, argv, "[THREADS]");
  unsigned only = (unsigned)tour_arg(0, 0, 0, BLOCK_MAX);
  static const unsigned sizes[] = {1,   2,   3,   5,   31,  32,  33,  63,  64,  65,   96,   100,
                                   127, 128, 129, 192, 255, 256, 257, 500, 513, 1000, 1023, 1024};
  int count = only ? 1 : (int)(sizeof sizes / sizeof *sizes);
  for (int i = 0; i < count; i++) {
    unsigned threads = only ? only : sizes[i];
    sum_and_verify(threads, 2, 3, 1);
    sum_and_verify(threads, 2, 3, 0);
  }
  if (tour.timing)
    measure();
  return tour_end("sums over a block of %u to %u threads, as a tree and in a loop", only ? only : 1u,
                  only ? only : (unsigned)BLOCK_MAX);
}
#endif
