/* cpu.h: the three memory-bound kernels by several hands, behind one face, so that cpu.c can time them in
 * turn. A contender works on its own copies of the inputs; `run` ends when the result stands. */
#ifndef BENCH_CPU_H
#define BENCH_CPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { VECTOR_ADD, DOT, HISTOGRAM, KERNELS };
enum { GRID = 256, BLOCK = 256 };

/* The inputs, and room for the results: sum of n floats, parts of GRID, 256 bins. */
typedef struct bench_data {
  size_t n;
  float *a, *b, *sum, *parts;
  uint8_t *items;
  uint32_t *bins;
} bench_data;

typedef struct bench_contender {
  const char *name;
  void (*run)(int kernel);
  void (*fetch)(bench_data *into); /* the last results */
} bench_contender;

/* NULL, and why, if it is not there. */
const bench_contender *bench_native(const bench_data *data, int threads, const char **why);
const bench_contender *bench_opencl(const bench_data *data, const char *source, const char **why);

#endif
