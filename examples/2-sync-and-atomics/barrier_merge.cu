// barrier_merge.cu: two barriers a round merged into one (the tip of seed 001, section 2.4).
//
// Every thread hands its value to its mirror in the block, round after round. With one buffer that takes two
// barriers: one before the reading, one before the next writing. With two buffers in turn the second falls
// away: whoever writes a buffer again has passed the barrier of the round between, and nobody gets there
// before it has read. Taking the barrier away without the second buffer is broken/barrier_merged_wrong.cu.
// Arguments: [ROUNDS].
#include "../common/tour.h"

enum { BLOCK_MAX = 256 };

TOUR_C __global__ void two_barriers(const unsigned *in, unsigned *out, int rounds) {
  __shared__ unsigned tile[BLOCK_MAX];
  int t = threadIdx.x, last = blockDim.x - 1, i = blockIdx.x * blockDim.x + t;
  unsigned value = in[i];

  for (int r = 0; r < rounds; r++) {
    tile[t] = value;
    __syncthreads();
    value = value * 1664525u + tile[last - t];
    __syncthreads();
  }
  out[i] = value;
}

TOUR_C __global__ void one_barrier(const unsigned *in, unsigned *out, int rounds) {
  __shared__ unsigned tile[2][BLOCK_MAX];
  int t = threadIdx.x, last = blockDim.x - 1, i = blockIdx.x * blockDim.x + t;
  unsigned value = in[i];

  for (int r = 0; r < rounds; r++) {
    tile[r % 2][t] = value;
    __syncthreads();
    value = value * 1664525u + tile[r % 2][last - t];
  }
  out[i] = value;
}

#ifdef TOUR_HOST

typedef void exchange_kernel(const unsigned *, unsigned *, int);

static void run(exchange_kernel *kernel, const char *what, int blocks, int block, int rounds) {
  int n = blocks * block;
  unsigned *want = (unsigned *)tour_host_alloc(n * sizeof *want);
  unsigned *out = (unsigned *)tour_host_alloc(n * sizeof *out);
  for (int i = 0; i < n; i++)
    want[i] = tour_hash(i);

  unsigned *device_in = (unsigned *)tour_upload(want, n * sizeof *want);
  unsigned *device_out = (unsigned *)tour_alloc(n * sizeof *out);
  kernel<<<blocks, block>>>(device_in, device_out, rounds);
  CHECK(cudaGetLastError());
  tour_sync();
  tour_download(out, device_out, n * sizeof *out);

  for (int r = 0; r < rounds; r++)
    for (int b = 0; b < n; b += block)
      for (int t = 0; t < (block + 1) / 2; t++) { // a pair swaps, both from the old values
        unsigned *left = &want[b + t], *right = &want[b + block - 1 - t];
        unsigned was_left = *left, was_right = *right;
        *left = was_left * 1664525u + was_right;
        *right = was_right * 1664525u + was_left;
      }
  for (int i = 0; i < n; i++)
    tour_expect_int(what, i, out[i], want[i]);

  CHECK(cudaFree(device_in));
  CHECK(cudaFree(device_out));
  free(want);
  free(out);
}

struct launch {
  exchange_kernel *kernel;
  unsigned *in, *out;
  int blocks;
};

static void launch(void *context) {
  const struct launch *l = (const struct launch *)context;
  l->kernel<<<l->blocks, BLOCK_MAX>>>(l->in, l->out, 10000);
}

// One block on every SM, 10,000 rounds.
static void measure(void) {
  int blocks = tour.device.multiProcessorCount;
  size_t bytes = (size_t)blocks * BLOCK_MAX * sizeof(unsigned);
  struct launch two = {two_barriers, (unsigned *)tour_alloc(bytes), (unsigned *)tour_alloc(bytes), blocks};
  struct launch one = two;
  one.kernel = one_barrier;
  double two_us = tour_time_us(launch, &two, 15), one_us = tour_time_us(launch, &one, 15);
  tour_figure("merge.two_us", two_us, "us");
  tour_figure("merge.one_us", one_us, "us");
  tour_figure("merge.gain", two_us / one_us, "x");
  CHECK(cudaFree(two.in));
  CHECK(cudaFree(two.out));
}

int main(int argc, char **argv) {
  tour_begin(argc, argv, "[ROUNDS]");
  int rounds = (int)tour_arg(0, 50, 1, 10000);

  const int blocks[] = {1, 33, 97, BLOCK_MAX};
  for (int b = 0; b < 4; b++) {
    run(two_barriers, "two barriers", 3, blocks[b], rounds);
    run(one_barrier, "one barrier", 3, blocks[b], rounds);
  }
  if (tour.timing)
    measure();
  return tour_end("%d rounds with two barriers each and with one", rounds);
}
#endif
