/* operations.c: what muster bench measures of libmuster's operations on whole arrays, by elements. */
#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BINS = 256, REPEAT = 20 };
static const uint64_t sizes[] = {1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20,
                                 1 << 22, 1 << 24, 1 << 26, 1 << 28, 1 << 30};
static const uint64_t small_sizes[] = {1 << 8, 1 << 10};

typedef enum operation { REDUCE, DOT, SCAN, HISTOGRAM, MAP, OPERATIONS } operation;
/* What an operation reads and writes of each element, in bytes. */
static const struct {
  const char *what, *how;
  unsigned in, out;
} operations[OPERATIONS] = {[REDUCE] = {"reduce", "sum f32", 4, 0},
                            [DOT] = {"dot", "f32", 8, 0},
                            [SCAN] = {"scan", "inclusive f32", 4, 4},
                            [HISTOGRAM] = {"histogram", "u8, 256 bins", 1, 0},
                            [MAP] = {"map", "add f32", 8, 4}};

typedef struct job {
  muster_device *device;
  operation op;
  muster_call call;
  uint64_t x, y, out, n;
} job;

static muster_result work(void *context, void *stream) {
  const job *j = context;
  muster_call call = j->call;
  call.stream = stream;
  switch (j->op) {
  case REDUCE:
    return muster_reduce(j->device, &call, MUSTER_SUM, MUSTER_f32, j->x, j->n, j->out);
  case DOT:
    return muster_dot(j->device, &call, MUSTER_f32, j->x, j->y, j->n, j->out);
  case SCAN:
    return muster_scan(j->device, &call, MUSTER_SUM, MUSTER_INCLUSIVE, MUSTER_f32, j->x, j->n, j->out);
  case HISTOGRAM:
    return muster_histogram(j->device, &call, MUSTER_u8, j->x, j->n, BINS, j->out);
  default:
    return muster_map(j->device, &call, MUSTER_ADD, MUSTER_f32, NULL, j->x, j->y, j->n, j->out);
  }
}

static muster_result workspace_bytes(job *j, uint64_t n, size_t *bytes) {
  *bytes = 0;
  switch (j->op) {
  case REDUCE:
    return muster_reduce_workspace(j->device, MUSTER_SUM, MUSTER_f32, n, bytes);
  case DOT:
    return muster_dot_workspace(j->device, MUSTER_f32, n, bytes);
  case SCAN:
    return muster_scan_workspace(j->device, MUSTER_SUM, MUSTER_f32, n, bytes);
  case HISTOGRAM:
    return muster_histogram_workspace(j->device, MUSTER_u8, BINS, n, bytes);
  default:
    return MUSTER_OK;
  }
}

/* Whether the result can be right: elements are evenly spread over [0,1), bytes over all values. */
static muster_result judge(const job *j, bool *good) {
  float last = 0;
  uint64_t counts[BINS], all = 0;
  double n = (double)j->n,
         each = j->op == DOT ? 1 / 3.0 : 0.5; /* x and y hold the same: it is their squares' sum */
  muster_result r;
  *good = true;
  switch (j->op) {
  case MAP: {
    float in[2], sum;
    r = muster_copy_out(j->device, &in[0], j->x + 4 * (j->n - 1), 4);
    if (r == MUSTER_OK)
      r = muster_copy_out(j->device, &in[1], j->y + 4 * (j->n - 1), 4);
    if (r == MUSTER_OK)
      r = muster_copy_out(j->device, &sum, j->out + 4 * (j->n - 1), 4);
    *good = r == MUSTER_OK && sum == in[0] + in[1];
    return r;
  }
  case HISTOGRAM:
    r = muster_copy_out(j->device, counts, j->out, sizeof counts);
    for (int i = 0; i < BINS && r == MUSTER_OK; i++)
      all += counts[i];
    *good = all == j->n;
    return r;
  default:
    r = muster_copy_out(j->device, &last, j->out + (j->op == SCAN ? 4 * (j->n - 1) : 0), 4);
    *good = fabs(last - each * n) < 4 * sqrt(n); /* ten standard deviations and more */
    return r;
  }
}

/* Arrays of hashes: as f32, or as they are. */
static int fill(bench *b, uint64_t to, uint64_t words, uint32_t floats) {
  muster_launch launch = MUSTER_LAUNCH_INIT;
  muster_kernel *kernel;
  void *parameters[] = {&to, &words, &floats};
  int code = bench_kernel(b, BENCH_primitives, "fill", &kernel);
  launch.grid[0] = b->small ? 2 : 8 * b->info.multiprocessors;
  launch.block[0] = 256;
  if (code != TOOL_OK || !kernel)
    return code;
  muster_result r = muster_kernel_launch(kernel, &launch, parameters);
  return r == MUSTER_OK ? TOOL_OK : bench_failed(b, r);
}

static int measure(bench *b, job *j, uint64_t n, bool graph) {
  j->n = n;
  if (!bench_begin(b, (bench_figure){.how = tool_format("%s, in a %s", operations[j->op].how,
                                                        graph ? "graph" : "stream"),
                                     .n = n,
                                     .bytes = n * (operations[j->op].in + operations[j->op].out)}))
    return TOOL_OK;
  bool good = false;
  muster_result r = work(j, NULL);
  if (r == MUSTER_OK)
    r = judge(j, &good);
  if (r != MUSTER_OK)
    return bench_failed(b, r);
  return good ? bench_calls(b, work, j, b->small ? 2 : REPEAT, graph)
              : bench_wrong(b, tool_format("not the result of these elements"));
}

int bench_measure_operation(bench *b) {
  job j = {.device = b->device, .call = MUSTER_CALL_INIT};
  for (int i = 0; i < OPERATIONS; i++)
    if (strcmp(operations[i].what, b->what) == 0)
      j.op = (operation)i;
  const uint64_t *list = b->small ? small_sizes : sizes;
  size_t n = b->small ? sizeof small_sizes / sizeof *small_sizes : sizeof sizes / sizeof *sizes;
  unsigned in = operations[j.op].in, out = operations[j.op].out;
  while (n > 0 && list[n - 1] * (in + out) > b->info.memory_bytes / 4) /* others may be there, too */
    n--;
  if (n == 0)
    return TOOL_OK;
  uint64_t most = list[n - 1], array = most * (in == 8 ? 4 : in), result = out ? most * out : BINS * 8;
  int code = TOOL_OK;
  for (size_t i = 0; i < n && code == TOOL_OK; i++) { /* fewer elements may need more */
    size_t bytes;
    muster_result r = workspace_bytes(&j, list[i], &bytes);
    if (r == MUSTER_ERROR_NO_CODE) {
      bench_omit(b, tool_format("%s", muster_message()));
      return TOOL_OK;
    }
    code = r == MUSTER_OK ? TOOL_OK : bench_failed(b, r);
    j.call.workspace_bytes = bytes > j.call.workspace_bytes ? bytes : j.call.workspace_bytes;
  }
  if (code == TOOL_OK)
    code = bench_memory(b, array, &j.x);
  if (code == TOOL_OK)
    code = bench_memory(b, in == 8 ? array : 4, &j.y);
  if (code == TOOL_OK)
    code = bench_memory(b, result, &j.out);
  if (code == TOOL_OK)
    code = bench_memory(b, j.call.workspace_bytes + 16, &j.call.workspace);
  if (code == TOOL_OK)
    code = fill(b, j.x, array / 4, j.op != HISTOGRAM);
  if (code == TOOL_OK && in == 8)
    code = fill(b, j.y, array / 4, 1);
  for (size_t i = 0; i < 2 * n && code == TOOL_OK; i++)
    code = measure(b, &j, list[i / 2], i % 2);
  muster_free(b->device, j.x);
  muster_free(b->device, j.y);
  muster_free(b->device, j.out);
  muster_free(b->device, j.call.workspace);
  return code;
}
