// contention: seed 001, section 5.3: what an atomic costs depends on how many threads want one address.
// Three patterns, chosen at run time: a word for each thread (keep ~0), a word for each warp (keep ~31), one
// word for all (keep 0); in global and in shared memory, beside plain stores, with the old value used or not.
// The sums are of floats in global memory, since a compiler turns `atomicAdd(&x, 1)` on one known address
// into one atomic a warp (count_uniform against count_lanes); the latency is that of a chain by one thread.
// usage: contention [N]  N threads
#include "../common/tour.h"

enum { SLICES = 8, BLOCK_MAX = 1024, RING = 64, LINE = 32 };

// Round by round the words are those of another slice, STEP words on, so that no store can be left out.
#define PLACE(i) (((i) & keep) + (unsigned)(round % SLICES) * step)
#define VALUE(i) (1 + ((i) & 3))

TOUR_C __global__ void store_global(float *cell, unsigned keep, unsigned step, int rounds, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    for (int round = 0; round < rounds; round++)
      cell[PLACE(i)] = (float)VALUE(i);
}

TOUR_C __global__ void add_global(float *cell, unsigned keep, unsigned step, int rounds, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    for (int round = 0; round < rounds; round++)
      atomicAdd(&cell[PLACE(i)], (float)VALUE(i));
}

TOUR_C __global__ void add_global_used(float *cell, unsigned keep, unsigned step, int rounds, unsigned n,
                                       float *sum) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float found = 0;
  for (int round = 0; round < rounds; round++)
    found += atomicAdd(&cell[PLACE(i)], (float)VALUE(i));
  sum[i] = found;
}

// One and the same sum, one address that the compiler sees to be the same in all lanes ...
TOUR_C __global__ void count_uniform(unsigned *cell, int rounds, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    for (int round = 0; round < rounds; round++)
      atomicAdd(cell, 1u);
}

// ... and one that each lane computes.
TOUR_C __global__ void count_lanes(unsigned *cell, unsigned keep, int rounds, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    for (int round = 0; round < rounds; round++)
      atomicAdd(&cell[i & keep], 1u);
}

// In shared memory: STATEMENT once a round on the words of the block, which go to OUT at the end.
#define SHARED(name, STATEMENT)                                                          \
  TOUR_C __global__ void name(unsigned *out, unsigned keep, unsigned step, int rounds) { \
    __shared__ unsigned cell[SLICES * BLOCK_MAX];                                        \
    unsigned i = threadIdx.x;                                                            \
    for (unsigned k = i; k < SLICES * blockDim.x; k += blockDim.x)                       \
      cell[k] = 0;                                                                       \
    __syncthreads();                                                                     \
    for (int round = 0; round < rounds; round++)                                         \
      STATEMENT;                                                                         \
    __syncthreads();                                                                     \
    for (unsigned k = i; k < SLICES * blockDim.x; k += blockDim.x)                       \
      out[blockIdx.x * SLICES * blockDim.x + k] = cell[k];                               \
  }
SHARED(store_shared, cell[PLACE(i)] = VALUE(i))
SHARED(add_shared, atomicAdd(&cell[PLACE(i)], VALUE(i)))
SHARED(count_shared, atomicAdd(&cell[PLACE(i)], 1u)) // hardware may merge the equal addresses of a warp

// Each atomic needs the answer of the last: it is the next address. ZERO is 0, which the compiler can't know.
#define CHASE(next, pitch)                   \
  unsigned at = 0;                           \
  long long start = clock64();               \
  for (int i = 0; i < count; i++)            \
    at = atomicAdd(&next[at * pitch], zero); \
  *cycles = clock64() - start;               \
  *end = at

TOUR_C __global__ void chase_global(unsigned *next, unsigned zero, int count, long long *cycles,
                                    unsigned *end) {
  CHASE(next, LINE);
}

TOUR_C __global__ void chase_shared(const unsigned *from, unsigned zero, int count, long long *cycles,
                                    unsigned *end) {
  __shared__ unsigned next[RING];
  for (int i = 0; i < RING; i++)
    next[i] = from[i * LINE];
  CHASE(next, 1);
}

#ifdef TOUR_HOST
enum kind { STORE, ADD, ADD_USED, COUNT_UNIFORM, COUNT_LANES, STORE_SHARED, ADD_SHARED, COUNT_SHARED };
static const unsigned SPREAD = ~0u, WARP = ~31u, ONE = 0;

struct run {
  enum kind kind;
  unsigned keep, n, block;
  int rounds;
  void *cell;
  float *sum;
};

static void launch(void *context) {
  struct run *run = (struct run *)context;
  unsigned blocks = (run->n + run->block - 1) / run->block, keep = run->keep, n = run->n;
  unsigned step = keep == ONE ? 0 : n, shared_step = keep == ONE ? 0 : run->block;
  float *cell = (float *)run->cell;
  unsigned *count = (unsigned *)run->cell;
  switch (run->kind) {
  case STORE:
    store_global<<<blocks, run->block>>>(cell, keep, step, run->rounds, n);
    break;
  case ADD:
    add_global<<<blocks, run->block>>>(cell, keep, step, run->rounds, n);
    break;
  case ADD_USED:
    add_global_used<<<blocks, run->block>>>(cell, keep, step, run->rounds, n, run->sum);
    break;
  case COUNT_UNIFORM:
    count_uniform<<<blocks, run->block>>>(count, run->rounds, n);
    break;
  case COUNT_LANES:
    count_lanes<<<blocks, run->block>>>(count, keep, run->rounds, n);
    break;
  case STORE_SHARED:
    store_shared<<<blocks, run->block>>>(count, keep, shared_step, run->rounds);
    break;
  case ADD_SHARED:
    add_shared<<<blocks, run->block>>>(count, keep, shared_step, run->rounds);
    break;
  case COUNT_SHARED:
    count_shared<<<blocks, run->block>>>(count, keep, shared_step, run->rounds);
    break;
  }
}

static void verify(enum kind kind, unsigned keep, unsigned n) {
  static const char *names[] = {"plain store",  "add",          "add, result used", "count, uniform",
                                "count, lanes", "shared store", "shared add",       "shared count"};
  enum { ROUNDS = 10 };
  const unsigned block = 96, blocks = (n + block - 1) / block;
  int shared = kind >= STORE_SHARED, floats = kind <= ADD_USED;
  unsigned span = shared ? block : n, all = shared ? blocks * block : n;
  size_t words = (size_t)SLICES * all;
  struct run run = {
      kind, keep, n, block, ROUNDS, tour_zeroed(words * 4), (float *)tour_alloc(n * sizeof(float))};
  launch(&run);
  CHECK(cudaGetLastError());
  tour_sync();

  unsigned *want = (unsigned *)calloc(words, sizeof *want), *got = (unsigned *)tour_host_alloc(words * 4);
  if (!want)
    tour_fail("no host memory");
  for (unsigned i = 0; i < all; i++)
    for (int round = 0; round < ROUNDS; round++) {
      unsigned lane = i % span, step = keep == ONE ? 0 : span; // shared: thread of a block
      int counts = kind == COUNT_UNIFORM || kind == COUNT_LANES || kind == COUNT_SHARED;
      size_t at = (size_t)(i / span) * SLICES * span;
      at += kind == COUNT_UNIFORM || kind == COUNT_LANES ? lane & keep : PLACE(lane);
      want[at] = kind == STORE || kind == STORE_SHARED ? VALUE(lane) : want[at] + (counts ? 1 : VALUE(lane));
    }
  tour_download(got, run.cell, words * 4);
  for (size_t i = 0; i < words; i++) {
    float value;
    memcpy(&value, &got[i], sizeof value);
    tour_expect_int(names[kind], (long)i, floats ? (long long)value : (long long)got[i], want[i]);
  }
  // A thread with words of its own finds its own sums: 0 in the first round on a word, VALUE in the second.
  if (kind == ADD_USED && keep == SPREAD) {
    float *sum = (float *)tour_host_alloc(n * sizeof *sum);
    tour_download(sum, run.sum, n * sizeof *sum);
    for (unsigned i = 0; i < n; i++)
      tour_expect_near("sum of old values", i, sum[i], (ROUNDS - SLICES) * VALUE(i), 0);
    free(sum);
  }
  CHECK(cudaFree(run.cell));
  CHECK(cudaFree(run.sum));
  free(want);
  free(got);
}

// The ring of addresses: word k holds k + 13 mod RING, a line of its own each.
static long long chase(void *kernel, int count, unsigned *ring_d, long long *cycles_d, unsigned *end_d) {
  unsigned zero = 0, end;
  long long cycles;
  void *args[] = {&ring_d, &zero, &count, &cycles_d, &end_d};
  CHECK(cudaLaunchKernel(kernel, dim3(1), dim3(1), args, 0, 0));
  tour_sync();
  tour_download(&cycles, cycles_d, sizeof cycles);
  tour_download(&end, end_d, sizeof end);
  tour_expect_int("end of the chase", count, end, 13LL * count % RING);
  return cycles;
}

// Cycles for one atomic of the chain: slope between two lengths.
static double latency(void *kernel, int measure) {
  enum { SHORT = 100, LONG = 1100, RUNS = 15 };
  static unsigned ring[RING * LINE];
  for (unsigned i = 0; i < RING; i++)
    ring[i * LINE] = (i + 13) % RING;
  unsigned *ring_d = (unsigned *)tour_upload(ring, sizeof ring), *end_d = (unsigned *)tour_alloc(4);
  long long *cycles_d = (long long *)tour_alloc(sizeof *cycles_d);
  if (!measure)
    return (double)chase(kernel, SHORT, ring_d, cycles_d, end_d);
  double each[RUNS];
  for (int i = 0; i < RUNS; i++) {
    long long few = chase(kernel, SHORT, ring_d, cycles_d, end_d);
    each[i] = (double)(chase(kernel, LONG, ring_d, cycles_d, end_d) - few) / (LONG - SHORT);
  }
  return tour_median(each, RUNS);
}

// Nanoseconds for one warp-wide operation while every SM is full: of the whole device in global memory, of
// one SM in shared memory. Slope between two numbers of rounds.
static double warp_ns(enum kind kind, unsigned keep, int rounds, struct run run) {
  run.kind = kind, run.keep = keep, run.rounds = rounds;
  double few = tour_time_us(launch, &run, 15);
  run.rounds = 3 * rounds;
  double us = (tour_time_us(launch, &run, 15) - few) / (2 * rounds);
  double warps = kind >= STORE_SHARED ? 2048 / 32 : run.n / 32.0;
  return 1e3 * us / warps;
}

static void measure(void) {
  unsigned n = (unsigned)tour.device.multiProcessorCount * 2048;
  struct run run = {ADD,
                    SPREAD,
                    n,
                    BLOCK_MAX,
                    0,
                    tour_zeroed((size_t)SLICES * n * 4),
                    (float *)tour_alloc(n * sizeof(float))};
  double store = warp_ns(STORE, SPREAD, 300, run), spread = warp_ns(ADD, SPREAD, 200, run);
  double warp = warp_ns(ADD, WARP, 40, run), one = warp_ns(ADD, ONE, 6, run);
  tour_figure("contention.plain_store_ns", store, "ns");
  tour_figure("contention.global_spread_ns", spread, "ns");
  tour_figure("contention.global_warp_ns", warp, "ns");
  tour_figure("contention.global_one_ns", one, "ns");
  tour_figure("contention.spread_over_store", spread / store, "x");
  tour_figure("contention.warp_over_spread", warp / spread, "x");
  tour_figure("contention.one_over_spread", one / spread, "x");
  tour_figure("contention.used_spread_ns", warp_ns(ADD_USED, SPREAD, 200, run), "ns");
  tour_figure("contention.used_warp_ns", warp_ns(ADD_USED, WARP, 40, run), "ns");
  tour_figure("contention.used_one_ns", warp_ns(ADD_USED, ONE, 6, run), "ns");

  double uniform = warp_ns(COUNT_UNIFORM, ONE, 40, run), lanes = warp_ns(COUNT_LANES, ONE, 6, run);
  tour_figure("contention.count_uniform_ns", uniform, "ns");
  tour_figure("contention.count_lanes_ns", lanes, "ns");
  tour_figure("contention.lanes_over_uniform", lanes / uniform, "x");

  store = warp_ns(STORE_SHARED, SPREAD, 2000, run), spread = warp_ns(ADD_SHARED, SPREAD, 600, run);
  warp = warp_ns(ADD_SHARED, WARP, 100, run), one = warp_ns(ADD_SHARED, ONE, 100, run);
  tour_figure("contention.shared_store_ns", store, "ns");
  tour_figure("contention.shared_spread_ns", spread, "ns");
  tour_figure("contention.shared_warp_ns", warp, "ns");
  tour_figure("contention.shared_one_ns", one, "ns");
  tour_figure("contention.shared_spread_over_store", spread / store, "x");
  tour_figure("contention.shared_warp_over_spread", warp / spread, "x");
  tour_figure("contention.shared_count_ns", warp_ns(COUNT_SHARED, ONE, 200, run), "ns");

  tour_figure("contention.global_latency_cycles", latency((void *)chase_global, 1), "cycles");
  tour_figure("contention.shared_latency_cycles", latency((void *)chase_shared, 1), "cycles");
}

int main(int argc, char **argv) {
  tour_begin(argc, argv, "[N]");
  unsigned n = (unsigned)tour_arg(0, 500, 1, 200000);
  static const unsigned patterns[] = {SPREAD, WARP, ONE};
  for (int i = 0; i < 3; i++) {
    verify(ADD, patterns[i], n);
    verify(ADD_USED, patterns[i], n);
    verify(COUNT_LANES, patterns[i], n);
    verify(ADD_SHARED, patterns[i], n);
    verify(COUNT_SHARED, patterns[i], n);
  }
  verify(STORE, SPREAD, n); // the only pattern in which plain stores do not race
  verify(STORE_SHARED, SPREAD, n);
  verify(COUNT_UNIFORM, ONE, n);
  latency((void *)chase_global, 0);
  latency((void *)chase_shared, 0);
  if (tour.timing)
    measure();
  return tour_end("three patterns in global and in shared memory, %u threads", n);
}
#endif
