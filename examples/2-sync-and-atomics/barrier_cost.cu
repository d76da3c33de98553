// barrier_cost.cu: what __syncthreads costs (seed 001, section 2.4).
//
// Measured: cycles for one barrier by block size; the same with one slow warp, for which all others wait; and
// loads with and without a barrier between them, which keeps the compiler from asking for several at once.
// Verified: an exchange through shared memory in every round, slow warp or not, and the sums of the loads.
// Arguments: [ROUNDS].
#include "../common/tour.h"

enum { BLOCK_MAX = 1024, SLOW_CYCLES = 1000 };

static __device__ __forceinline__ void spin(int cycles) {
  long long start = clock64();
  while (clock64() - start < cycles)
    ;
}

// A thread's source sits a warp and a lane further on, so that the first warp's values are read by a later
// one.
TOUR_C __global__ void exchange(const unsigned *in, unsigned *out, int rounds, int slow_cycles) {
  __shared__ unsigned tile[2][BLOCK_MAX];
  int t = threadIdx.x, source = (t + 33) % blockDim.x;
  unsigned value = in[t];

  for (int r = 0; r < rounds; r++) {
    if (t < warpSize)
      spin(slow_cycles);
    tile[r % 2][t] = value;
    __syncthreads();
    value = value * 1664525u + tile[r % 2][source];
  }
  out[t] = value;
}

TOUR_C __global__ void barriers(long long *cycles, int rounds) {
  __syncthreads();
  long long start = clock64();
  for (int r = 0; r < rounds; r++)
    __syncthreads();
  if (threadIdx.x == blockDim.x - 1)
    *cycles = clock64() - start;
}

TOUR_C __global__ void barriers_slow_warp(long long *cycles, int rounds) {
  __syncthreads();
  long long start = clock64();
  for (int r = 0; r < rounds; r++) {
    if (threadIdx.x < warpSize)
      spin(SLOW_CYCLES);
    __syncthreads();
  }
  if (threadIdx.x == blockDim.x - 1) // a thread of a fast warp
    *cycles = clock64() - start;
}

TOUR_C __global__ void loads(const unsigned *in, unsigned *out, long long *cycles, int count) {
  long long start = clock64();
  unsigned sum = 0;
#pragma unroll 8
  for (int k = 0; k < count; k++)
    sum = sum * 31 + in[k * blockDim.x + threadIdx.x];
  out[threadIdx.x] = sum;
  if (threadIdx.x == 0)
    *cycles = clock64() - start;
}

// The same sums, each load over before its barrier. A thread reads its own element only: the barrier is there
// for its price alone.
TOUR_C __global__ void loads_barriers(const unsigned *in, unsigned *out, long long *cycles, int count) {
  __shared__ unsigned tile[BLOCK_MAX];
  long long start = clock64();
  unsigned sum = 0;
#pragma unroll 8
  for (int k = 0; k < count; k++) {
    tile[threadIdx.x] = in[k * blockDim.x + threadIdx.x];
    __syncthreads();
    sum = sum * 31 + tile[threadIdx.x];
  }
  out[threadIdx.x] = sum;
  if (threadIdx.x == 0)
    *cycles = clock64() - start;
}

#ifdef TOUR_HOST

enum { LOAD_BLOCK = 256, RUNS = 9 };
typedef void barrier_kernel(long long *, int);
typedef void load_kernel(const unsigned *, unsigned *, long long *, int);

static void run_exchange(int block, int rounds, int slow_cycles) {
  size_t bytes = block * sizeof(unsigned);
  unsigned values[2][BLOCK_MAX], out[BLOCK_MAX];
  for (int t = 0; t < block; t++)
    values[0][t] = tour_hash(t);

  unsigned *device_in = (unsigned *)tour_upload(values[0], bytes);
  unsigned *device_out = (unsigned *)tour_alloc(bytes);
  exchange<<<1, block>>>(device_in, device_out, rounds, slow_cycles);
  CHECK(cudaGetLastError());
  tour_sync();
  tour_download(out, device_out, bytes);

  for (int r = 0; r < rounds; r++)
    for (int t = 0; t < block; t++)
      values[(r + 1) % 2][t] = values[r % 2][t] * 1664525u + values[r % 2][(t + 33) % block];
  for (int t = 0; t < block; t++)
    tour_expect_int("exchange", t, out[t], values[rounds % 2][t]);
  CHECK(cudaFree(device_in));
  CHECK(cudaFree(device_out));
}

// Median cycles of COUNT loads; each run is verified.
static double load_cycles(load_kernel *kernel, const unsigned *in, const unsigned *device_in, int count) {
  double cycles[RUNS];
  unsigned out[LOAD_BLOCK], want[LOAD_BLOCK];
  unsigned *device_out = (unsigned *)tour_alloc(sizeof out);
  long long *device_cycles = (long long *)tour_alloc(sizeof *device_cycles), value;
  for (int t = 0; t < LOAD_BLOCK; t++) {
    want[t] = 0;
    for (int k = 0; k < count; k++)
      want[t] = want[t] * 31 + in[k * LOAD_BLOCK + t];
  }
  for (int i = 0; i < RUNS; i++) {
    CHECK(cudaMemset(device_out, 0xA5, sizeof out));
    kernel<<<1, LOAD_BLOCK>>>(device_in, device_out, device_cycles, count);
    CHECK(cudaGetLastError());
    tour_sync();
    tour_download(out, device_out, sizeof out);
    for (int t = 0; t < LOAD_BLOCK; t++)
      tour_expect_int("loads", t, out[t], want[t]);
    tour_download(&value, device_cycles, sizeof value);
    cycles[i] = (double)value;
  }
  CHECK(cudaFree(device_out));
  CHECK(cudaFree(device_cycles));
  return tour_median(cycles, RUNS);
}

// Cycles for one more round: the slope between FEW and MANY, medians of both.
static double barrier_cycles(barrier_kernel *kernel, int block, int few, int many) {
  double cycles[2][RUNS];
  long long *device_cycles = (long long *)tour_alloc(sizeof *device_cycles), value;
  for (int i = 0; i < RUNS; i++)
    for (int k = 0; k < 2; k++) {
      kernel<<<1, block>>>(device_cycles, k ? many : few);
      CHECK(cudaGetLastError());
      tour_sync();
      tour_download(&value, device_cycles, sizeof value);
      cycles[k][i] = (double)value;
    }
  CHECK(cudaFree(device_cycles));
  return (tour_median(cycles[1], RUNS) - tour_median(cycles[0], RUNS)) / (many - few);
}

int main(int argc, char **argv) {
  tour_begin(argc, argv, "[ROUNDS]");
  int rounds = (int)tour_arg(0, 20, 1, 10000);

  const int blocks[] = {1, 33, 97, 256, BLOCK_MAX};
  for (int b = 0; b < 5; b++) {
    run_exchange(blocks[b], rounds, 0);
    run_exchange(blocks[b], rounds, SLOW_CYCLES);
  }

  int few = 37, many = 41;
  if (tour.timing)
    few = 1024, many = 4096; // 4 MiB: more than an L1 cache, within the L2
  size_t loaded = (size_t)many * LOAD_BLOCK;
  unsigned *in = (unsigned *)tour_host_alloc(loaded * sizeof *in);
  for (size_t i = 0; i < loaded; i++)
    in[i] = tour_hash((unsigned)i);
  unsigned *device_in = (unsigned *)tour_upload(in, loaded * sizeof *in);
  double together_few = load_cycles(loads, in, device_in, few);
  double together_many = load_cycles(loads, in, device_in, many);
  double apart_few = load_cycles(loads_barriers, in, device_in, few);
  double apart_many = load_cycles(loads_barriers, in, device_in, many);
  CHECK(cudaFree(device_in));
  free(in);

  if (tour.timing) {
    tour_figure("barrier_cost.cycles_32", barrier_cycles(barriers, 32, 2000, 10000), "cycles");
    tour_figure("barrier_cost.cycles_256", barrier_cycles(barriers, 256, 2000, 10000), "cycles");
    tour_figure("barrier_cost.cycles_1024", barrier_cycles(barriers, 1024, 2000, 10000), "cycles");
    tour_figure("barrier_cost.slow_warp_cycles", barrier_cycles(barriers_slow_warp, 256, 100, 500), "cycles");
    double together = (together_many - together_few) / (many - few);
    double apart = (apart_many - apart_few) / (many - few);
    tour_figure("barrier_cost.load_cycles", together, "cycles");
    tour_figure("barrier_cost.load_barrier_cycles", apart, "cycles");
    tour_figure("barrier_cost.load_ratio", apart / together, "x");
  }
  return tour_end("%d rounds of exchange, blocks of 1 to %d threads, with a slow warp and without", rounds,
                  BLOCK_MAX);
}
#endif
