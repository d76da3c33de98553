/* native.c: plain C with OpenMP, as a compiler makes it for this very machine: the roof. Compiled with -O3
 * and -march=native. */
#include "cpu.h"
#include <omp.h>
#include <string.h>

static bench_data data;
static float total;

static void vector_add(void) {
  float *restrict sum = data.sum;
  const float *restrict a = data.a, *restrict b = data.b;
#pragma omp parallel for
  for (size_t i = 0; i < data.n; i++)
    sum[i] = a[i] + b[i];
}

static void dot(void) {
  const float *restrict a = data.a, *restrict b = data.b;
  float sum = 0;
#pragma omp parallel for simd reduction(+ : sum)
  for (size_t i = 0; i < data.n; i++)
    sum += a[i] * b[i];
  total = sum;
}

static void histogram(void) {
  memset(data.bins, 0, 256 * sizeof *data.bins);
#pragma omp parallel
  {
    uint32_t own[4][256] = {{0}}; /* four, so that equal neighbours do not wait for each other */
#pragma omp for
    for (size_t i = 0; i < data.n / 4; i++)
      for (int j = 0; j < 4; j++)
        own[j][data.items[4 * i + j]]++;
#pragma omp critical
    for (int i = 0; i < 256; i++)
      data.bins[i] += own[0][i] + own[1][i] + own[2][i] + own[3][i];
  }
}

static void run(int kernel) {
  static void (*const kernels[KERNELS])(void) = {vector_add, dot, histogram};
  kernels[kernel]();
}

static void fetch(bench_data *into) {
  memcpy(into->sum, data.sum, data.n * sizeof *data.sum);
  memset(into->parts, 0, GRID * sizeof *into->parts);
  into->parts[0] = total;
  memcpy(into->bins, data.bins, 256 * sizeof *data.bins);
}

const bench_contender *bench_native(const bench_data *inputs, int threads, const char **why) {
  static const bench_contender native = {"plain C, OpenMP", run, fetch};
  (void)why;
  omp_set_num_threads(threads);
  data = *inputs;
  return &native;
}
