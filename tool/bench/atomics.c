/* atomics.c: what muster bench measures of atomics: by type, scope and space, by how many threads meet in a
 * word, and what takes the pressure off them. Every kernel's result is counted once before it is timed. */
#include "bench.h"

#include <stdlib.h>
#include <string.h>

enum { THREADS = 256, BLOCKS_AN_SM = 2, CHECKED_ROUNDS = 3 };

typedef struct row {
  const char *space, *op, *scope, *elem;
  bool adds;
} row;
static const row rows[] = {
#define ATOMIC(space, op, scope, elem, adds, perform) {#space, #op, #scope, #elem, adds},
#include "atomic.def"
};
enum { ROWS = sizeof rows / sizeof *rows };
static const char *const spreads[] = {"one address", "one a warp", "one a thread"};
enum { SPREADS = 3 };

static unsigned bytes_of(const char *elem) {
  return strcmp(elem + 1, "64") == 0 ? 8 : 4;
}

/* The sum of `words` elements of that type. */
static double sum_of(const char *elem, const void *words, uint64_t n) {
  double sum = 0;
  for (uint64_t i = 0; i < n; i++) {
    const char *at = (const char *)words + i * bytes_of(elem);
    uint32_t u32;
    uint64_t u64;
    float f32;
    double f64;
    memcpy(&u32, at, 4);
    memcpy(&f32, at, 4);
    memcpy(&u64, at, bytes_of(elem));
    memcpy(&f64, at, bytes_of(elem));
    bool wide = bytes_of(elem) == 8;
    sum += *elem == 'f' ? (wide ? f64 : (double)f32) : wide ? (double)u64 : (double)u32;
  }
  return sum;
}

/* One launch of a few rounds from zeros: all that were to be added have to be there. */
static int check(bench *b, bench_loop *loop, const row *row, uint64_t words, uint64_t threads) {
  uint64_t bytes = threads * bytes_of(row->elem);
  void *host = tool_alloc(bytes);
  *loop->rounds = CHECKED_ROUNDS;
  muster_result r = muster_fill_bytes(b->device, words, 0, bytes);
  if (r == MUSTER_OK)
    r = muster_kernel_launch(loop->kernel, &loop->launch, loop->parameters);
  if (r == MUSTER_OK)
    r = muster_copy_out(b->device, host, words, bytes);
  int code = r == MUSTER_OK ? TOOL_OK : bench_failed(b, r);
  if (code == TOOL_OK && row->adds && sum_of(row->elem, host, threads) != (double)(threads * CHECKED_ROUNDS))
    code = bench_wrong(b, tool_format("%.0f were added, not %llu", sum_of(row->elem, host, threads),
                                      (unsigned long long)(threads * CHECKED_ROUNDS)));
  free(host);
  return code;
}

static int measure(bench *b, const row *row, uint32_t blocks, uint64_t words) {
  uint32_t spread, rounds;
  uint64_t threads = (uint64_t)blocks * THREADS;
  void *parameters[] = {&words, &spread, &rounds};
  bench_loop loop = {.launch = MUSTER_LAUNCH_INIT, .parameters = parameters, .rounds = &rounds};
  char *name = tool_format("%s_%s_%s_%s", row->space, row->op, row->scope, row->elem);
  int code = bench_kernel(b, BENCH_atomics, name, &loop.kernel);
  free(name);
  loop.launch.grid[0] = blocks;
  loop.launch.block[0] = THREADS;
  for (spread = 0; spread < SPREADS && code == TOOL_OK && loop.kernel; spread++) {
    if (!bench_begin(b, (bench_figure){.how = tool_format("%s %s, %s, %s scope, %s", row->op, row->elem,
                                                          row->space, row->scope, spreads[spread]),
                                       .blocks = blocks,
                                       .threads = THREADS}))
      continue;
    code = check(b, &loop, row, words, threads);
    if (code == TOOL_OK)
      code = bench_slope(b, &loop, 4, b->small ? 104 : 36, (double)threads);
  }
  return code;
}

int bench_measure_atomic(bench *b) {
  uint32_t blocks = b->small ? 2 : BLOCKS_AN_SM * b->info.multiprocessors;
  uint64_t words;
  int code = bench_memory(b, (uint64_t)blocks * THREADS * 8, &words);
  for (size_t i = 0; i < ROWS && code == TOOL_OK; i++)
    code = measure(b, &rows[i], blocks, words);
  static const char *const spaces[] = {"global", "shared"};
  for (int i = 0; i < 2 && code == TOOL_OK; i++) {
    uint32_t spread = 0, rounds;
    void *parameters[] = {&words, &spread, &rounds};
    bench_loop loop = {.launch = MUSTER_LAUNCH_INIT, .parameters = parameters, .rounds = &rounds};
    loop.launch.grid[0] = loop.launch.block[0] = 1;
    if (!bench_begin(b, (bench_figure){.how = tool_format("add u32, %s, there and back", spaces[i]),
                                       .blocks = 1,
                                       .threads = 1}))
      continue;
    char *name = tool_format("%s_latency", spaces[i]);
    muster_result r = muster_fill_bytes(b->device, words, 0, 8);
    code = r == MUSTER_OK ? bench_kernel(b, BENCH_atomics, name, &loop.kernel) : bench_failed(b, r);
    free(name);
    if (code == TOOL_OK && loop.kernel)
      code = bench_slope(b, &loop, b->small ? 10 : 100, b->small ? 1010 : 4100, 1);
  }
  return code;
}

/* ------------------------------------------------------------------ remedies */

typedef enum remedy_result { ODDS = 1, BINS_4 = 4, BINS_256 = 256 } remedy_result; /* words of the result */
static const struct {
  const char *kernels[2];
  remedy_result result;
} remedies[] = {
#define REMEDY(name, direct, remedied, result, strategy, method) {{#direct, #remedied}, result},
#include "remedy.def"
};

/* What both kernels have to find, by a plain loop. */
static void expect(const uint32_t *in, uint64_t n, remedy_result result, uint32_t *out) {
  memset(out, 0, BINS_256 * sizeof *out);
  for (uint64_t i = 0; i < n; i++)
    if (result == ODDS)
      out[0] += in[i] & 1;
    else
      out[in[i] & (result - 1)]++;
}

static int measure_remedy(bench *b, const char *name, const uint32_t *host, uint64_t in, uint64_t n,
                          remedy_result result, uint64_t out) {
  uint32_t expected[BINS_256], found[BINS_256];
  void *parameters[] = {&in, &n, &out};
  bench_loop loop = {.launch = MUSTER_LAUNCH_INIT, .parameters = parameters, .graph = true};
  loop.launch.grid[0] = b->small ? 2 : 4 * b->info.multiprocessors;
  loop.launch.block[0] = THREADS;
  if (!bench_begin(
          b, (bench_figure){
                 .how = tool_format("%s", name), .blocks = loop.launch.grid[0], .threads = THREADS, .n = n}))
    return TOOL_OK;
  int code = bench_kernel(b, BENCH_remedies, name, &loop.kernel);
  if (code != TOOL_OK || !loop.kernel)
    return code;
  muster_result r = muster_fill_bytes(b->device, out, 0, sizeof found);
  if (r == MUSTER_OK)
    r = muster_kernel_launch(loop.kernel, &loop.launch, parameters);
  if (r == MUSTER_OK)
    r = muster_copy_out(b->device, found, out, sizeof found);
  if (r != MUSTER_OK)
    return bench_failed(b, r);
  expect(host, n, result, expected);
  if (strncmp(name, "sum", 3) == 0) { /* of floats */
    float sum;
    memcpy(&sum, found, sizeof sum);
    found[0] = (uint32_t)sum;
  }
  if (memcmp(found, expected, result * sizeof *found) != 0)
    return bench_wrong(b, tool_format("not what a plain loop finds"));
  return bench_slope(b, &loop, b->small ? 1 : 2, b->small ? 3 : 12, 1);
}

int bench_measure_remedy(bench *b) {
  uint64_t n = b->small ? 1 << 11 : 1 << 20, in, out;
  uint32_t *host = tool_alloc(n * sizeof *host), x = 1;
  for (uint64_t i = 0; i < n; i++)
    host[i] = (x = x * 1664525 + 1013904223) >> 8;
  int code = bench_memory(b, n * sizeof *host, &in);
  if (code == TOOL_OK)
    code = bench_memory(b, BINS_256 * sizeof *host, &out);
  if (code == TOOL_OK) {
    muster_result r = muster_copy_in(b->device, in, host, n * sizeof *host);
    code = r == MUSTER_OK ? TOOL_OK : bench_failed(b, r);
  }
  for (size_t i = 0; i < 2 * sizeof remedies / sizeof *remedies && code == TOOL_OK; i++)
    code = measure_remedy(b, remedies[i / 2].kernels[i % 2], host, in, n, remedies[i / 2].result, out);
  free(host);
  return code;
}
