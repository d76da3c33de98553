// hierarchical_reduce: section 6.1 of "Synchronisation and atomics" (seed 001). A sum in three layers:
// shuffles in the warp, one shared atomic a warp, one global atomic a block; beside it one global atomic a
// thread. The printed form shuffles with the full mask, which is right only where every warp is full: here
// the last warp of a block may be partial. The sums are exact: small whole numbers in f32, so that the order
// of the additions does not matter. Arguments: N THREADS (a block's; any number). f32 on purpose: an integer
// atomicAdd of all threads to one address is folded to one operation a warp by ptxas.
#include "../common/tour.h"

// Layer 0 only: N operations queue at one address.
TOUR_C __global__ void reduce_direct(const float *input, float *sum, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    atomicAdd(sum, input[i]);
}

// The same on integers: what the source says is not what the machine does.
TOUR_C __global__ void reduce_direct_int(const int *input, int *sum, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    atomicAdd(sum, input[i]);
}

TOUR_C __global__ void reduce_hierarchical(const float *input, float *sum, unsigned n) {
  __shared__ float block_sum;
  if (threadIdx.x == 0)
    block_sum = 0;
  __syncthreads();

  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  float value = i < n ? input[i] : 0; // no thread leaves: all of them shuffle and meet the barriers

  unsigned lane = threadIdx.x % 32, left = blockDim.x - (threadIdx.x - lane);
  unsigned lanes = left < 32 ? left : 32; // of this warp
  unsigned mask = 0xffffffffu >> (32 - lanes);
  for (unsigned offset = 16; offset > 0; offset /= 2) {
    // A lane without a partner reads itself: a lane outside the mask has no value to give.
    bool partner = lane + offset < lanes;
    float other = __shfl_sync(mask, value, partner ? lane + offset : lane);
    if (partner)
      value += other;
  }

  if (lane == 0)
    atomicAdd(&block_sum, value);
  __syncthreads();

  if (threadIdx.x == 0)
    atomicAdd(sum, block_sum);
}

#ifdef TOUR_HOST
typedef void (*Kernel)(const float *, float *, unsigned);

typedef struct {
  Kernel kernel;
  const float *input;
  float *sum;
  unsigned n, threads;
} Reduction;

static void launch(void *context) {
  Reduction *r = (Reduction *)context;
  r->kernel<<<(r->n + r->threads - 1) / r->threads, r->threads>>>(r->input, r->sum, r->n);
}

static void launch_int(void *context) {
  Reduction *r = (Reduction *)context;
  reduce_direct_int<<<(r->n + r->threads - 1) / r->threads, r->threads>>>((const int *)r->input,
                                                                          (int *)r->sum, r->n);
}

// -2 to 2: of 2^24 such values the positive ones add up to 0.6 * 2^24, so f32 holds every partial sum, in
// whatever order, exactly.
static int input_of(unsigned i) {
  return (int)(tour_hash(i) % 5) - 2;
}

static void verify(const char *what, Kernel kernel, unsigned n, unsigned threads) {
  float *input = (float *)tour_host_alloc(n * sizeof *input);
  long want = 0;
  for (unsigned i = 0; i < n; i++) {
    input[i] = (float)input_of(i);
    want += input_of(i);
  }
  float got;
  Reduction r = {kernel, (float *)tour_upload(input, n * sizeof *input), (float *)tour_zeroed(sizeof got), n,
                 threads};
  launch(&r);
  CHECK(cudaGetLastError());
  tour_sync();
  tour_download(&got, r.sum, sizeof got);
  tour_expect(got == (float)want, "%s: the sum of %u by blocks of %u is %g, should be %ld", what, n, threads,
              got, want);
  CHECK(cudaFree((void *)r.input));
  CHECK(cudaFree(r.sum));
  free(input);
}

static void verify_int(unsigned n, unsigned threads) {
  int *input = (int *)tour_host_alloc(n * sizeof *input), want = 0, got;
  for (unsigned i = 0; i < n; i++)
    want += input[i] = input_of(i);
  Reduction r = {NULL, (float *)tour_upload(input, n * sizeof *input), (float *)tour_zeroed(sizeof got), n,
                 threads};
  launch_int(&r);
  CHECK(cudaGetLastError());
  tour_sync();
  tour_download(&got, r.sum, sizeof got);
  tour_expect_int("integer sum", 0, got, want);
  CHECK(cudaFree((void *)r.input));
  CHECK(cudaFree(r.sum));
  free(input);
}

static void measure(void) {
  const unsigned n = 1u << 24, threads = 256;
  float *input = (float *)tour_host_alloc(n * sizeof *input);
  int *integers = (int *)tour_host_alloc(n * sizeof *integers);
  for (unsigned i = 0; i < n; i++)
    input[i] = (float)(integers[i] = input_of(i));
  Reduction r = {reduce_direct, (float *)tour_upload(input, n * sizeof *input), (float *)tour_zeroed(4), n,
                 threads};
  double direct = tour_time_us(launch, &r, 10);
  r.kernel = reduce_hierarchical;
  double hierarchical = tour_time_us(launch, &r, 30);
  r.input = (float *)tour_upload(integers, n * sizeof *integers);
  double direct_int = tour_time_us(launch_int, &r, 10);
  tour_figure("hierarchy.direct_us", direct, "us");
  tour_figure("hierarchy.direct_int_us", direct_int, "us");
  tour_figure("hierarchy.hierarchical_us", hierarchical, "us");
  tour_figure("hierarchy.gain", direct / hierarchical, "x");
  tour_figure("hierarchy.int_folded", direct / direct_int, "x");
  tour_figure("hierarchy.direct_atomics", n, "atomics");
  tour_figure("hierarchy.hierarchical_atomics", n / threads, "atomics");
  tour_figure("hierarchy.fewer_atomics", threads, "x");
  free(input);
  free(integers);
}

int main(int argc, char **argv) {
  tour_begin(argc, argv, "[N [THREADS]]");
  unsigned n = (unsigned)tour_arg(0, 100003, 1, 1 << 24);
  unsigned threads = (unsigned)tour_arg(1, 256, 1, 1024);
  verify("direct", reduce_direct, n, threads);
  verify("hierarchical", reduce_hierarchical, n, threads);
  verify_int(n, threads);
  static const unsigned edges[][2] = {{1, 256}, {31, 32}, {257, 1024}, {5000, 100}, {1000, 33}, {77, 1}};
  for (unsigned i = 0; i < sizeof edges / sizeof *edges; i++)
    verify("hierarchical", reduce_hierarchical, edges[i][0], edges[i][1]);
  if (tour.timing)
    measure();
  return tour_end("sums of up to %u values, layered and direct", n);
}
#endif
