// small_batch.cu: why one wants a barrier over a few blocks (seed 000, "CUDA thread synchronisation", its
// last paragraph). A batch of rows goes through several dependent steps; in each, a row needs the sum of
// itself. One block a row needs only __syncthreads(), but eight rows then keep eight SMs busy; four blocks a
// row need sync_ctas() in every step and use four times as many. Both give exactly the same numbers (modulo
// 2^32). Arguments: ROWS WORDS STEPS. --time finds where four blocks win and where not.
#include "../common/tour.h"
#include "sync_ctas.cuh"

enum { THREADS = 1024, WARPS = THREADS / 32, DEEP = 4 };

// Both loops over a row have four loads under way, or either form would only measure the latency of L2. Past
// the end of the row they load the thread's first word once more, for no use.
__device__ static inline unsigned sum_of(const unsigned *from, unsigned words, unsigned first,
                                         unsigned stride) {
  unsigned sum = 0;
  for (unsigned i = first; i < words; i += DEEP * stride)
#pragma unroll
    for (unsigned k = 0; k < DEEP; k++) {
      const unsigned at = i + k * stride, word = from[at < words ? at : first];
      sum += at < words ? word : 0;
    }
  return sum;
}

__device__ static inline void update(unsigned *to, const unsigned *from, unsigned words, unsigned first,
                                     unsigned stride, unsigned sum) {
  for (unsigned i = first; i < words; i += DEEP * stride) {
    unsigned far_word[DEEP];
#pragma unroll
    for (unsigned k = 0; k < DEEP; k++) {
      const unsigned at = i + k * stride, far = at + words / 2;
      far_word[k] = from[at < words ? (far < words ? far : far - words) : first];
    }
#pragma unroll
    for (unsigned k = 0; k < DEEP; k++)
      if (i + k * stride < words)
        to[i + k * stride] = 3 * far_word[k] - sum;
  }
}

// Step: every word becomes three times the word half a row away, less the row's sum. Steps alternate between
// two buffers (ROWS holds both) and between two sets of partial sums, so that one barrier a step is enough.
// gridDim.x blocks work on a row, gridDim.y rows are in work at once.
TOUR_C __global__ void __launch_bounds__(THREADS)
    normalise(unsigned *rows, unsigned count, unsigned words, unsigned steps, unsigned *partials,
              unsigned *barriers) {
  __shared__ unsigned warp_sums[WARPS];
  const unsigned blocks = gridDim.x, first = blockIdx.x * THREADS + threadIdx.x, stride = blocks * THREADS;
  unsigned turn = 0;

  for (unsigned row = blockIdx.y; row < count; row += gridDim.y)
    for (unsigned step = 0; step < steps; step++, turn ^= 1) {
      const unsigned *from = rows + ((size_t)(step % 2) * count + row) * words;
      unsigned *to = rows + ((size_t)((step + 1) % 2) * count + row) * words;
      unsigned *partial = partials + (turn * gridDim.y + blockIdx.y) * blocks;

      unsigned sum = sum_of(from, words, first, stride);
      for (unsigned lanes = 16; lanes > 0; lanes /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, lanes);
      if (threadIdx.x % 32 == 0)
        warp_sums[threadIdx.x / 32] = sum;
      __syncthreads();
      if (threadIdx.x == 0) {
        sum = 0;
        for (unsigned warp = 0; warp < WARPS; warp++)
          sum += warp_sums[warp];
        partial[blockIdx.x] = sum;
      }

      if (blocks == 1)
        __syncthreads();
      else
        sync_ctas(barriers + SYNC_CTAS_LINE * blockIdx.y);

      sum = 0;
      for (unsigned block = 0; block < blocks; block++)
        sum += partial[block];
      update(to, from, words, first, stride, sum);
    }
}

#ifdef TOUR_HOST
struct batch {
  unsigned *rows, *partials, *barriers;
  unsigned count, words, steps, blocks; // blocks for one row
};

// As many rows at once as are sure to be resident; the others wait their turn inside the kernel.
static void launch(void *context) {
  struct batch *batch = (struct batch *)context;
  int per_sm;
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, (const void *)normalise, THREADS, 0));
  unsigned at_once = (unsigned)(per_sm * tour.device.multiProcessorCount) / batch->blocks;
  if (at_once > batch->count)
    at_once = batch->count;
  if (at_once == 0)
    tour_fail("%u blocks of %d threads cannot be resident at once here", batch->blocks, THREADS);
  void *args[] = {&batch->rows,  &batch->count,    &batch->words,
                  &batch->steps, &batch->partials, &batch->barriers};
  CHECK(cudaLaunchCooperativeKernel((const void *)normalise, dim3(batch->blocks, at_once), dim3(THREADS),
                                    args, 0, 0));
}

static struct batch allocate(unsigned count, unsigned words, unsigned steps) {
  struct batch batch = {NULL, NULL, NULL, count, words, steps, 1};
  batch.rows = (unsigned *)tour_alloc(2 * (size_t)count * words * sizeof(unsigned));
  batch.partials = (unsigned *)tour_alloc(2 * (size_t)count * 4 * sizeof(unsigned));
  batch.barriers = (unsigned *)tour_zeroed((size_t)count * SYNC_CTAS_LINE * sizeof(unsigned));
  return batch;
}

static void verify(struct batch *batch, const char *form, const unsigned *start, const unsigned *want) {
  const size_t all = (size_t)batch->count * batch->words;
  unsigned *got = (unsigned *)tour_host_alloc(all * sizeof *got);
  CHECK(cudaMemset(batch->rows, 0xA5, 2 * all * sizeof *got));
  CHECK(cudaMemcpy(batch->rows, start, all * sizeof *got, cudaMemcpyHostToDevice));
  launch(batch);
  tour_sync();
  tour_download(got, batch->rows + batch->steps % 2 * all, all * sizeof *got);
  for (size_t i = 0; i < all; i++)
    tour_expect_int(form, (long)i, got[i], want[i]);
  free(got);
}

static void serial(unsigned *row, unsigned *scratch, unsigned words, unsigned steps) {
  for (unsigned step = 0; step < steps; step++) {
    unsigned sum = 0;
    for (unsigned i = 0; i < words; i++)
      sum += row[i];
    for (unsigned i = 0; i < words; i++)
      scratch[i] = 3 * row[(i + words / 2) % words] - sum;
    memcpy(row, scratch, words * sizeof *row);
  }
}

static void measure_batch(unsigned count, unsigned words, const char *suffix) {
  struct batch batch = allocate(count, words, 8);
  char key[64];
  double one = tour_time_us(launch, &batch, 15);
  batch.blocks = 4;
  double four = tour_time_us(launch, &batch, 15);
  snprintf(key, sizeof key, "batch.one_block_us_%s", suffix);
  tour_figure(key, one, "us");
  snprintf(key, sizeof key, "batch.four_blocks_us_%s", suffix);
  tour_figure(key, four, "us");
  snprintf(key, sizeof key, "batch.gain_%s", suffix);
  tour_figure(key, one / four, "x");
  CHECK(cudaFree(batch.rows));
  CHECK(cudaFree(batch.partials));
  CHECK(cudaFree(batch.barriers));
}

int main(int argc, char **argv) {
  tour_begin(argc, argv, "[ROWS WORDS STEPS]");
  const unsigned count = (unsigned)tour_arg(0, 3, 1, 4096);
  const unsigned words = (unsigned)tour_arg(1, 5000, 1, 65536);
  const unsigned steps = (unsigned)tour_arg(2, 4, 1, 100);
  const size_t all = (size_t)count * words;
  unsigned *start = (unsigned *)tour_host_alloc(all * sizeof *start);
  unsigned *want = (unsigned *)tour_host_alloc(all * sizeof *want);
  unsigned *scratch = (unsigned *)tour_host_alloc(words * sizeof *scratch);
  for (size_t i = 0; i < all; i++)
    want[i] = start[i] = tour_hash((unsigned)i + 1);
  for (unsigned row = 0; row < count; row++)
    serial(want + (size_t)row * words, scratch, words, steps);

  struct batch batch = allocate(count, words, steps);
  verify(&batch, "one block a row", start, want);
  batch.blocks = 4;
  verify(&batch, "four blocks a row", start, want);

  if (tour.timing) {
    measure_batch(1, 65536, "1");
    measure_batch(8, 65536, "8");
    measure_batch(32, 65536, "32");
    measure_batch(128, 65536, "128");
    measure_batch(512, 65536, "512");
    measure_batch(8, 4096, "8_short"); // rows so short that the barriers are most of the work
  }
  return tour_end("%u rows of %u words through %u steps, by one and by four blocks a row", count, words,
                  steps);
}
#endif
