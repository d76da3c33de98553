// bench.h: what the programs that measure a GPU share: checked calls, medians, the time of launches and of
// steps, the two outputs (a .tsv with every figure, a short table last on standard output).
//
//   PROGRAM FILE.tsv [tiny] [...]     ends with 0, 1 (a result is wrong) or 77 (no device)
//
// `tiny` shrinks everything, so that the CPU device can show that the program is right; its times mean
// nothing.
#ifndef BENCH_H
#define BENCH_H

#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

static struct {
  FILE *tsv;
  cudaEvent_t start, stop;
  int tiny, sms, wrong;
} bench;

// Reads the arguments, opens the outputs. Returns 0, or the number to end with.
static inline int bench_open(int argc, char **argv) {
  int count = 0;
  cudaDeviceProp device;
  if (argc < 2) {
    fprintf(stderr, "usage: %s FILE.tsv [tiny]\n", argv[0]);
    return 2;
  }
  for (int i = 2; i < argc; i++)
    bench.tiny |= !strcmp(argv[i], "tiny");
  if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
    fprintf(stderr, "no CUDA device\n");
    return 77;
  }
  CHECK(cudaGetDeviceProperties(&device, 0));
  bench.sms = device.multiProcessorCount;
  if (!(bench.tsv = fopen(argv[1], "w"))) {
    perror(argv[1]);
    return 1;
  }
  fprintf(bench.tsv, "device\t%s\t%d\n", device.name, bench.sms);
  CHECK(cudaEventCreate(&bench.start));
  CHECK(cudaEventCreate(&bench.stop));
  return 0;
}

static inline int bench_close(void) {
  if (fclose(bench.tsv)) {
    perror("the .tsv");
    return 1;
  }
  if (bench.wrong)
    printf("WRONG: %d results\n", bench.wrong);
  return bench.wrong != 0;
}

// A result that must hold; says so if it does not.
static inline void bench_must(int holds, const char *what, const char *which, unsigned size) {
  if (!holds) {
    bench.wrong++;
    printf("WRONG: %s, %s, %u\n", what, which, size);
  }
}

static inline int bench_by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}
static inline double bench_median(double *values, int n) {
  qsort(values, (size_t)n, sizeof *values, bench_by_value);
  return n % 2 ? values[n / 2] : 0.5 * (values[n / 2 - 1] + values[n / 2]);
}

// What lies between these two in the stream, in nanoseconds.
static inline void bench_start(cudaStream_t stream) {
  CHECK(cudaEventRecord(bench.start, stream));
}
static inline double bench_stop_ns(cudaStream_t stream) {
  float ms;
  CHECK(cudaEventRecord(bench.stop, stream));
  CHECK(cudaEventSynchronize(bench.stop));
  CHECK(cudaEventElapsedTime(&ms, bench.start, bench.stop));
  return 1e6 * (double)ms;
}

// Whether so many blocks of a kernel can be resident at once.
static inline int bench_fits(const void *kernel, unsigned blocks, unsigned threads) {
  int each = 0;
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, (int)threads, 0));
  return blocks <= (unsigned)(each * bench.sms);
}

#endif
