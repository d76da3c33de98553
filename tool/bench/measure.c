/* measure.c: the device that muster bench measures, its kernels, and how a figure is taken.
 *
 * Times are those of the device's own events. What lies in a loop of a kernel is the slope between two
 * numbers of rounds, and what is a launch the slope between two numbers of launches, so that what surrounds
 * it counts for nothing. A figure is the median of several runs, beside their least and greatest.
 */
#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The list that mk/Kernels.cmake makes. */
typedef struct image {
  const char *file, *elem; /* NULL behind the last */
  uint64_t arch;           /* 90 for sm_90 */
  const char *ptx;
  uint64_t bytes;
} image;
extern const image bench_images[];
static const char *const file_names[BENCH_FILES] = {[BENCH_primitives] = "primitives",
                                                    [BENCH_atomics] = "atomics",
                                                    [BENCH_remedies] = "remedies",
                                                    [BENCH_cooperative] = "cooperative"};

/* ------------------------------------------------------------------ what is told */

bool bench_begin(bench *b, bench_figure figure) {
  free(b->now.how);
  b->now = figure;
  b->now.what = b->what;
  if (b->begun++ < b->done)
    return false;
  char *shape = bench_shape(&b->now), *text = tool_format("%s, %s", b->now.how, shape);
  bench_tell(b->tell, "begin", b->what, text);
  free(text);
  free(shape);
  return true;
}

void bench_omit(bench *b, char *why) {
  bench_tell(b->tell, "omit", b->what, why);
  free(why);
}

static int fail(bench *b, int code, char *why) {
  if (b->what)
    bench_tell(b->tell, "fail", b->what, why);
  else
    tool_error("bench: %s", why); /* nothing is measured yet */
  free(why);
  return code;
}
int bench_wrong(bench *b, char *why) {
  return fail(b, TOOL_LAUNCH_FAILED, why);
}
int bench_failed(bench *b, muster_result r) {
  bool launch = r == MUSTER_ERROR_LAUNCH_FAILED || r == MUSTER_ERROR_DEVICE_LOST;
  return fail(b, launch ? TOOL_LAUNCH_FAILED : TOOL_OURS, tool_format("%s", muster_message()));
}

/* ------------------------------------------------------------------ kernels and memory */

int bench_kernel(bench *b, bench_file file, const char *name, muster_kernel **kernel) {
  const image *best = NULL;
  *kernel = NULL;
  for (const image *i = bench_images; i->file; i++)
    if (strcmp(i->file, file_names[file]) == 0 && i->arch <= b->info.compute_capability &&
        (!best || i->arch > best->arch))
      best = i;
  if (!best)
    return TOOL_OK;
  muster_result r = MUSTER_OK;
  if (!b->modules[file])
    r = muster_module_load(b->device, best->file, best->ptx, best->bytes, &b->modules[file]);
  if (r != MUSTER_OK && file == BENCH_cooperative) /* nvcc writes for drivers as new as itself */
    return TOOL_OK;
  if (r == MUSTER_OK)
    r = muster_module_find(b->modules[file], name, kernel);
  return r == MUSTER_OK || r == MUSTER_ERROR_NOT_FOUND ? TOOL_OK : bench_failed(b, r);
}

int bench_memory(bench *b, uint64_t bytes, uint64_t *address) {
  muster_result r = muster_alloc(b->device, bytes, address);
  if (r == MUSTER_OK)
    r = muster_fill_bytes(b->device, *address, 0, bytes);
  return r == MUSTER_OK ? TOOL_OK : bench_failed(b, r);
}

/* ------------------------------------------------------------------ times */

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Tells the figure that these are the times of, if they are times. */
static void add(bench *b, double *ns) {
  uint32_t n = b->run->runs;
  bench_figure *f = &b->now;
  qsort(ns, n, sizeof *ns, by_value);
  f->min = ns[0];
  f->median = n % 2 ? ns[n / 2] : 0.5 * (ns[n / 2 - 1] + ns[n / 2]);
  f->max = ns[n - 1];
  if (f->min > 0 && isfinite(f->max)) {
    bench_tell_figure(b->tell, f);
  } else {
    char *shape = bench_shape(f);
    bench_omit(b, tool_format("%s, %s: too short to be told from the launch", f->how, shape));
    free(shape);
  }
}

static muster_result launch(void *context, void *stream) {
  bench_loop *loop = context;
  muster_launch l = loop->launch; /* the stream is gone afterwards */
  l.stream = stream;
  return muster_kernel_launch(loop->kernel, &l, loop->parameters);
}

int bench_slope(bench *b, bench_loop *loop, uint32_t few, uint32_t many, double divide) {
  uint32_t n = b->run->runs;
  muster_timing how = MUSTER_TIMING_INIT;
  how.runs = n;
  how.graph = loop->graph;
  double *ns = tool_alloc(2 * n * sizeof *ns);
  muster_result r = MUSTER_OK;
  for (int i = 0; i < 2 && r == MUSTER_OK; i++) {
    if (loop->rounds)
      *loop->rounds = i ? many : few;
    else
      how.repeat = i ? many : few;
    r = muster_time(b->device, &how, launch, loop, ns + (i ? n : 0));
  }
  for (uint32_t i = 0; i < n; i++)
    ns[i] = (ns[n + i] - ns[i]) / (many - few) / divide;
  if (r == MUSTER_OK)
    add(b, ns);
  free(ns);
  return r == MUSTER_OK ? TOOL_OK : bench_failed(b, r);
}

int bench_calls(bench *b, muster_work work, void *context, uint32_t repeat, bool graph) {
  muster_timing how = MUSTER_TIMING_INIT;
  how.runs = b->run->runs;
  how.repeat = repeat;
  how.graph = graph;
  double *ns = tool_alloc(how.runs * sizeof *ns);
  muster_result r = muster_time(b->device, &how, work, context, ns);
  for (uint32_t i = 0; i < how.runs; i++)
    ns[i] /= repeat;
  if (r == MUSTER_OK)
    add(b, ns);
  free(ns);
  return r == MUSTER_OK ? TOOL_OK : bench_failed(b, r);
}

/* ------------------------------------------------------------------ the device */

/* The clock that the multiprocessors have now, in MHz, by their own count. */
static int see_clock(bench *b) {
  bench_loop loop = {.launch = MUSTER_LAUNCH_INIT};
  uint64_t out = 0, time_ns = b->small ? 1000 : 2000000, seen[2] = {0, 0};
  void *parameters[] = {&out, &time_ns};
  int code = bench_kernel(b, BENCH_primitives, "clock_of", &loop.kernel);
  if (code != TOOL_OK || !loop.kernel)
    return code;
  if ((code = bench_memory(b, sizeof seen, &out)) != TOOL_OK)
    return code;
  loop.launch.grid[0] = loop.launch.block[0] = 1;
  muster_result r = muster_kernel_launch(loop.kernel, &loop.launch, parameters);
  if (r == MUSTER_OK)
    r = muster_copy_out(b->device, seen, out, sizeof seen);
  if (r == MUSTER_OK && seen[1] > 0)
    b->run->seen_mhz = 1e3 * (double)seen[0] / (double)seen[1];
  return r == MUSTER_OK ? TOOL_OK : bench_failed(b, r);
}

/* "580.159.04, CUDA 13.0": the version that NVIDIA's kernel module tells, where it is that device's driver.
 */
static char *driver_name(const muster_device_info *info) {
  char line[256] = "", *version = NULL;
  char *cuda = tool_format("CUDA %u.%u", info->driver_version / 1000, info->driver_version % 1000 / 10);
  FILE *f = info->is_cpu ? NULL : fopen("/proc/driver/nvidia/version", "r");
  if (f && fgets(line, sizeof line, f))
    for (char *word = strtok(line, " "); word && !version; word = strtok(NULL, " "))
      if (strspn(word, "0123456789.") == strlen(word) && strchr(word, '.'))
        version = word;
  if (f)
    fclose(f);
  if (!version)
    return cuda;
  char *both = tool_format("%s, %s", version, cuda);
  free(cuda);
  return both;
}

int bench_open(bench *b, const tool_options *o) {
  bench_run *run = b->run;
  muster_result r = muster_open(o->device, &b->device);
  b->info = (muster_device_info)MUSTER_DEVICE_INFO_INIT;
  if (r == MUSTER_OK)
    r = muster_device_get(b->device, &b->info);
  if (r != MUSTER_OK) {
    tool_error("%s", muster_message());
    return r == MUSTER_ERROR_ARGUMENT ? TOOL_USAGE : TOOL_OURS;
  }
  char date[32];
  time_t now = time(NULL);
  strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
  b->small = b->info.is_cpu;
  run->version = tool_format("%s", MUSTER_VERSION);
  run->commit = tool_format("%s", bench_commit);
  run->date = tool_format("%s", date);
  run->device = tool_format("%s", b->info.name);
  run->driver = driver_name(&b->info);
  run->is_cpu = b->info.is_cpu;
  run->compute_capability = b->info.compute_capability;
  run->multiprocessors = b->info.multiprocessors;
  run->clock_mhz = b->info.clock_khz * 1e-3;
  run->peak = 2.0 * b->info.memory_clock_khz * 1e3 * (b->info.memory_bus_bits / 8.0) * 1e-9; /* two a cycle */
  run->runs = o->has.runs ? (uint32_t)o->runs : b->small ? 3 : 9;
  if (!bench_images->file) {
    tool_error(
        "this muster was built without a compiler for its kernels (clang-19 or nvcc): it measures nothing");
    return TOOL_OURS;
  }
  return see_clock(b);
}

void bench_close(bench *b) {
  free(b->now.how);
  muster_close(b->device);
}
