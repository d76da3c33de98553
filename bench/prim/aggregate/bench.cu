// bench.cu: atomic adds of many lanes as one (mu_aggregate_..., warp.cuh), against one atomicAdd a lane.
//
//   nvcc -std=c++17 -O3 -arch=sm_90 -Iinclude bench/prim/aggregate/bench.cu -o aggregate_bench
//   aggregate_bench FILE.tsv [tiny]
//
// One address for all, and as many as a Zipf distribution (exponent 1) names: the k-th of K keys comes with a
// probability in proportion to 1 / k; where in memory a key lies says nothing about how frequent it is. A
// figure is picoseconds an item, median of 9 launches over 2^22 items. Values are small whole numbers, so
// that every sum is exact in every type, and all are verified against the host's.
#include <math.h>
#include "../../bench.h"
#include "muster/warp.cuh"

enum { LAUNCHES = 9, THREADS = 256, KEYS_MAX = 1 << 20, VALUES = 4 };

static __host__ __device__ unsigned value_of(size_t i) {
  return (unsigned)(i * 2654435761u >> 13) % VALUES;
}

// Each item goes to bins[keys[i]]; without keys to bins[0].
#define ADD(name, elem, each, one)                                                             \
  static __global__ void name##_one_##elem(mu_##elem *bins, const unsigned *keys, size_t n) {  \
    (void)keys;                                                                                \
    MU_FOR_GRID(i, n) one(bins, (mu_##elem)value_of(i));                                       \
  }                                                                                            \
  static __global__ void name##_each_##elem(mu_##elem *bins, const unsigned *keys, size_t n) { \
    MU_FOR_GRID(i, n) each(bins + keys[i], (mu_##elem)value_of(i));                            \
  }
ADD(plain, f32, atomicAdd, atomicAdd)
ADD(plain, f64, atomicAdd, atomicAdd)
ADD(plain, u64, atomicAdd, atomicAdd)
ADD(plain, u32, atomicAdd, atomicAdd)
ADD(aggregate, f32, mu_aggregate_each_red_add_device_f32, mu_aggregate_red_add_device_f32)
ADD(aggregate, f64, mu_aggregate_each_red_add_device_f64, mu_aggregate_red_add_device_f64)
ADD(aggregate, u64, mu_aggregate_each_red_add_device_u64, mu_aggregate_red_add_device_u64)
ADD(aggregate, u32, mu_aggregate_each_red_add_device_u32, mu_aggregate_red_add_device_u32)

static struct {
  void *bins;
  unsigned *keys, *host_keys;
  unsigned long long *want;
  size_t n;
} work;

// Draws the keys and adds up on the host; 0 keys: all items at one address.
static void draw(unsigned keys) {
  static double upto[KEYS_MAX];
  unsigned long long state = 88172645463325252ull;
  double sum = 0;
  memset(work.want, 0, KEYS_MAX * sizeof *work.want);
  for (unsigned k = 0; k < keys; k++)
    upto[k] = sum += 1.0 / (k + 1);
  for (size_t i = 0; i < work.n; i++) {
    unsigned low = 0, high = keys ? keys - 1 : 0;
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    double at = (double)(state >> 11) * 0x1p-53 * sum;
    while (low < high) { // the first key whose sum goes beyond
      unsigned middle = (low + high) / 2;
      if (upto[middle] > at)
        high = middle;
      else
        low = middle + 1;
    }
    work.host_keys[i] = keys ? low * 2654435761u % keys : 0; // an odd factor, keys a power of two
    work.want[work.host_keys[i]] += value_of(i);
  }
  CHECK(cudaMemcpy(work.keys, work.host_keys, work.n * 4, cudaMemcpyHostToDevice));
}

static double number(const void *bins, unsigned bytes, int floats, size_t i) {
  if (floats)
    return bytes == 4 ? (double)((const float *)bins)[i] : ((const double *)bins)[i];
  return bytes == 4 ? ((const unsigned *)bins)[i] : (double)((const unsigned long long *)bins)[i];
}

// Picoseconds an item.
static double measure(const void *kernel, const char *name, unsigned bytes, int floats, unsigned keys) {
  double ns[LAUNCHES];
  unsigned blocks = bench.tiny ? 3 : (unsigned)bench.sms * (2048 / THREADS), bins = keys ? keys : 1;
  void *args[] = {&work.bins, &work.keys, &work.n};
  void *host = malloc((size_t)bins * bytes);
  int launches = bench.tiny ? 1 : LAUNCHES;
  for (int launch = -1; launch < launches; launch++) { // the first loads the kernel and fills the cache
    CHECK(cudaMemset(work.bins, 0, (size_t)bins * bytes));
    bench_start(0);
    CHECK(cudaLaunchKernel(kernel, dim3(blocks), dim3(THREADS), args, 0, 0));
    double took = bench_stop_ns(0);
    if (launch >= 0)
      ns[launch] = took;
    CHECK(cudaMemcpy(host, work.bins, (size_t)bins * bytes, cudaMemcpyDeviceToHost));
    int right = 1;
    for (size_t i = 0; i < bins; i++)
      right &= number(host, bytes, floats, i) == (double)work.want[i];
    bench_must(right, "sums", name, keys);
  }
  free(host);
  double ps = 1e3 * bench_median(ns, launches) / (double)work.n;
  fprintf(bench.tsv, "aggregate\t%s\t%u\t%.2f\n", name, keys, ps);
  return ps;
}

#define TYPE(elem, bytes, floats)                                                                 \
  {                                                                                               \
    #elem, bytes, floats, {(const void *)plain_one_##elem, (const void *)aggregate_one_##elem}, { \
      (const void *)plain_each_##elem, (const void *)aggregate_each_##elem                        \
    }                                                                                             \
  }
static const struct {
  const char *name;
  unsigned bytes;
  int floats;
  const void *one[2], *each[2]; // plain, aggregated
} types[] = {TYPE(f32, 4, 1), TYPE(f64, 8, 1), TYPE(u32, 4, 0), TYPE(u64, 8, 0)};
enum { TYPES = 4, SPREADS = 4 };
static const unsigned spreads[SPREADS] = {0, 1 << 10, 1 << 16, KEYS_MAX};

int main(int argc, char **argv) {
  static double ps[SPREADS][TYPES][2];
  int ends = bench_open(argc, argv);
  if (ends)
    return ends;
  work.n = bench.tiny ? 5000 : 1 << 22;
  CHECK(cudaMalloc(&work.bins, (size_t)KEYS_MAX * 8));
  CHECK(cudaMalloc(&work.keys, work.n * 4));
  work.host_keys = (unsigned *)malloc(work.n * 4);
  work.want = (unsigned long long *)malloc(KEYS_MAX * sizeof *work.want);
  fprintf(bench.tsv, "aggregate\twhat\tkeys\tps_an_item\n");
  int rows = bench.tiny ? 2 : SPREADS;
  for (int s = 0; s < rows; s++) {
    draw(spreads[s]);
    for (int type = 0; type < TYPES; type++)
      for (int how = 0; how < 2; how++) {
        char name[48];
        snprintf(name, sizeof name, "%s_%s", how ? "aggregated" : "plain", types[type].name);
        ps[s][type][how] = measure(spreads[s] ? types[type].each[how] : types[type].one[how], name,
                                   types[type].bytes, types[type].floats, spreads[s]);
      }
  }
  printf("atomic adds, ps an item; keys by a Zipf distribution\n%-12s", "keys");
  for (int type = 0; type < TYPES; type++)
    printf(" | %s: a lane  aggregated    x", types[type].name);
  for (int s = 0; s < rows; s++) {
    printf("\n%-12u", spreads[s] ? spreads[s] : 1);
    for (int type = 0; type < TYPES; type++)
      printf(" | %11.1f %11.1f %4.1f", ps[s][type][0], ps[s][type][1], ps[s][type][0] / ps[s][type][1]);
  }
  putchar('\n');
  return bench_close();
}
