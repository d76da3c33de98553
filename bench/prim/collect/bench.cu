// bench.cu: one 32-bit value summed over a group of blocks, every block gets the sum.
//
//   nvcc -std=c++17 -O3 -arch=sm_90 -Iinclude bench/prim/collect/bench.cu -o collect_bench
//   collect_bench FILE.tsv [tiny]
//
// Against the library's barrier alone, and against what one writes without it: atomicAdd into one word, the
// grid's barrier, a load. A figure is nanoseconds per all-reduce: the slope between 2,000 and 10,000 rounds,
// median over 5 placements of the words. Every sum of every round is verified: integers exactly; floats
// within rounding, and those of the library the same bits in every block and every launch.
#include <cooperative_groups.h>
#include "../../bench.h"
#include "muster/collect.cuh"

enum { MEMORY_BYTES = 4 << 20, PLACES = 5, BLOCKS_MAX = 1056 };

struct setup {
  void *workspace; // zeroed before each launch
  unsigned rounds;
  unsigned *wrong;
  unsigned *bits; // [block]: a hash of all sums it got
};

// What a block brings in a round, and what the sum then is.
static __device__ unsigned value_u32(unsigned rank, unsigned round) {
  return rank * 3 + round;
}
static __device__ unsigned sum_u32(unsigned n, unsigned round) {
  return n * (n - 1) / 2 * 3 + n * round;
}
static __device__ float value_f32(unsigned rank, unsigned round) {
  return 0.1f * (float)(rank + 1) + (float)(round & 7);
}
static __device__ float sum_f32(unsigned n, unsigned round) {
  return 0.1f * (float)n * (float)(n + 1) / 2 + (float)n * (float)(round & 7);
}
static __device__ unsigned differs(unsigned n, unsigned round, unsigned sum) {
  return sum != sum_u32(n, round);
}
static __device__ unsigned differs(unsigned n, unsigned round, float sum) {
  return !(fabsf(sum - sum_f32(n, round)) <= 1e-5f * sum_f32(n, round)); // n roundings of up to 2^-24 each
}
static __device__ unsigned hash_of(unsigned hash, unsigned bits) {
  return (hash ^ bits) * 0x9e3779b1u;
}

// Keeps the compiler from knowing a value.
static __device__ void opaque(unsigned &x) {
  asm volatile("" : "+r"(x));
}
static __device__ void opaque(float &x) {
  asm volatile("" : "+f"(x));
}

// One round after another by a function of the library; the barrier alone leaves `sum` as it is, and right.
#define LIBRARY(name, elem, round_of)                                                   \
  static __global__ void __launch_bounds__(256) name(struct setup s) {                  \
    mu_group g = mu_group_grid();                                                       \
    mu_barrier b;                                                                       \
    mu_status status = mu_barrier_open(&b, s.workspace, &g);                            \
    unsigned wrong = 0, hash = 0;                                                       \
    b.timeout_ns = 1000000000;                                                          \
    for (unsigned round = 1; !status && round <= s.rounds; round++) {                   \
      mu_##elem value = value_##elem(g.rank, round), sum = sum_##elem(g.blocks, round); \
      opaque(value);                                                                    \
      opaque(sum);                                                                      \
      status = round_of;                                                                \
      wrong += differs(g.blocks, round, sum);                                           \
      hash = hash_of(hash, MU_PACK_##elem(sum));                                        \
    }                                                                                   \
    if (wrong || status)                                                                \
      *s.wrong = 1;                                                                     \
    if (mu_thread() == 0)                                                               \
      s.bits[g.rank] = hash;                                                            \
  }
LIBRARY(barrier, u32, mu_barrier_sync(&b))
LIBRARY(sum_u32_ordered, u32, mu_barrier_sync_add_u32(&b, value, &sum))
LIBRARY(reduce_u32, u32, mu_collect_reduce_add_u32(&b, value, &sum))
LIBRARY(reduce_f32, f32, mu_collect_reduce_add_f32(&b, value, &sum))
LIBRARY(each_f32, f32, mu_collect_reduce_each_add_f32(&b, value, &sum))
LIBRARY(first_f32, f32, mu_collect_reduce_first_add_f32(&b, value, &sum))

// What one writes without it. Three words take turns; the one after the next is cleared for its round.
#define GRID(name, elem)                                                   \
  static __global__ void __launch_bounds__(256) name(struct setup s) {     \
    cooperative_groups::grid_group grid = cooperative_groups::this_grid(); \
    unsigned wrong = 0, hash = 0;                                          \
    volatile mu_##elem *words = (volatile mu_##elem *)s.workspace;         \
    for (unsigned round = 1; round <= s.rounds; round++) {                 \
      mu_##elem value = value_##elem(blockIdx.x, round), sum;              \
      opaque(value);                                                       \
      if (threadIdx.x == 0) {                                              \
        atomicAdd((mu_##elem *)words + round % 3 * 32, value);             \
        if (blockIdx.x == 0)                                               \
          words[(round + 1) % 3 * 32] = 0;                                 \
      }                                                                    \
      grid.sync();                                                         \
      sum = words[round % 3 * 32];                                         \
      wrong += differs(gridDim.x, round, sum);                             \
      hash = hash_of(hash, MU_PACK_##elem(sum));                           \
    }                                                                      \
    if (wrong)                                                             \
      *s.wrong = 1;                                                        \
    if (threadIdx.x == 0)                                                  \
      s.bits[blockIdx.x] = hash;                                           \
  }
GRID(grid_u32, u32)
GRID(grid_f32, f32)

enum method { BARRIER, ORDERED, U32, GRID_U32, F32, EACH, FIRST, GRID_F32, METHODS };
static const struct {
  const char *name;
  const void *kernel;
  int same_bits; // in every block and launch
} methods[METHODS] = {
    {"barrier", (const void *)barrier, 1},           {"sync_add_u32", (const void *)sum_u32_ordered, 1},
    {"reduce_add_u32", (const void *)reduce_u32, 1}, {"grid_u32", (const void *)grid_u32, 1},
    {"reduce_add_f32", (const void *)reduce_f32, 1}, {"each_f32", (const void *)each_f32, 1},
    {"first_f32", (const void *)first_f32, 1},       {"grid_f32", (const void *)grid_f32, 0},
};

static struct {
  char *memory;
  unsigned *wrong, *bits;
} device;

// Nanoseconds per round, or a negative number: it does not fit.
static double measure(enum method method, unsigned blocks, unsigned threads) {
  double slopes[PLACES];
  unsigned rounds[2] = {2000, 10000}, first = 0;
  if (bench.tiny)
    rounds[0] = 5, rounds[1] = 25;
  if (!bench_fits(methods[method].kernel, blocks, threads) || (bench.tiny && blocks * threads > 5000))
    return -1;
  for (int place = 0; place < PLACES; place++) {
    double ns[2];
    for (int i = 0; i < 2; i++) {
      static unsigned bits[BLOCKS_MAX];
      unsigned wrong, same = 1;
      struct setup s = {device.memory + place * 37 * 128, rounds[i], device.wrong, device.bits};
      void *args[] = {&s};
      CHECK(cudaMemset(device.memory, 0, MEMORY_BYTES));
      CHECK(cudaMemset(device.wrong, 0, 4));
      bench_start(0);
      CHECK(cudaLaunchCooperativeKernel(methods[method].kernel, dim3(blocks), dim3(threads), args, 0, 0));
      ns[i] = bench_stop_ns(0);
      CHECK(cudaMemcpy(&wrong, device.wrong, 4, cudaMemcpyDeviceToHost));
      CHECK(cudaMemcpy(bits, device.bits, blocks * 4, cudaMemcpyDeviceToHost));
      bench_must(!wrong, "sums", methods[method].name, blocks);
      if (place == 0 && i == 1)
        first = bits[0];
      for (unsigned block = 0; block < blocks && i == 1; block++)
        same &= bits[block] == first;
      bench_must(same || !methods[method].same_bits, "the same bits everywhere", methods[method].name,
                 blocks);
    }
    slopes[place] = (ns[1] - ns[0]) / (rounds[1] - rounds[0]);
  }
  double ns = bench_median(slopes, PLACES);
  fprintf(bench.tsv, "all_reduce\t%u\t%u\t%s\t%.1f\n", blocks, threads, methods[method].name, ns);
  return ns;
}

static const struct {
  unsigned blocks, threads;
} shapes[] = {{2, 128},   {4, 128},   {8, 128},    {16, 128}, {32, 128}, {64, 128}, {132, 128},
              {264, 128}, {528, 128}, {1056, 128}, {2, 256},  {16, 256}, {132, 256}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

int main(int argc, char **argv) {
  static double ns[SHAPES][METHODS];
  int ends = bench_open(argc, argv);
  if (ends)
    return ends;
  CHECK(cudaMalloc(&device.memory, MEMORY_BYTES));
  CHECK(cudaMalloc(&device.wrong, 4));
  CHECK(cudaMalloc(&device.bits, BLOCKS_MAX * 4));
  fprintf(bench.tsv, "all_reduce\tblocks\tthreads\twhat\tns\n");
  for (int i = 0; i < SHAPES; i++)
    for (int method = 0; method < METHODS; method++)
      ns[i][method] = measure((enum method)method, shapes[i].blocks, shapes[i].threads);

  printf(
      "all-reduce of 32 bits, ns; ordered: with the order of a barrier; each, first: who reads all values\n");
  printf("%-14s %7s | %7s %5s %5s | %7s %7s %5s | %7s %7s %7s %7s %5s\n", "blocks/threads", "barrier",
         "ordered", "/bar", "x", "u32", "grid", "x", "f32", "each", "first", "grid", "x");
  for (int i = 0; i < SHAPES; i++) {
    const double *t = ns[i];
    if (t[BARRIER] < 0 || t[GRID_U32] < 0)
      continue;
    printf("%9u/%4u %7.0f | %7.0f %5.2f %5.2f | %7.0f %7.0f %5.2f | %7.0f %7.0f %7.0f %7.0f %5.2f\n",
           shapes[i].blocks, shapes[i].threads, t[BARRIER], t[ORDERED], t[ORDERED] / t[BARRIER],
           t[GRID_U32] / t[ORDERED], t[U32], t[GRID_U32], t[GRID_U32] / t[U32], t[F32], t[EACH], t[FIRST],
           t[GRID_F32], t[GRID_F32] / t[F32]);
  }
  return bench_close();
}
