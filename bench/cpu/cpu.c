/* cpu.c: how fast the CPU device is. `cpu_bench MUSTER PTX OPENCL_SOURCE SMALL_PROGRAM [WHAT]`; WHAT is one
 * of speed     thread instructions a second on one core, by kind of kernel; the machine itself counts them
 *   against   the memory-bound kernels beside PoCL and plain C, in turns, two threads each
 *   linear    their cost from 2^16 to 2^24 elements
 *   start     how long a small program takes from start to end
 *   check     what the inspection costs beside a plain run, one thread: time and memory
 * and without WHAT all of them, each in a process of its own (a process has one CPU device). Times are
 * medians of ROUNDS after one that does not count. A result that is wrong ends it with 1; no figure does. */
#include "cpu.h"
#include <math.h>
#include <muster.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 15 };

static const char *muster_path, *ptx_path, *opencl_path, *small_path;
extern char **environ;

static void die(const char *what, const char *why) {
  fprintf(stderr, "cpu_bench: %s: %s\n", what, why);
  exit(1);
}

static double now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

/* What this process has used of any core: the fair measure of one core on a machine that others use too. */
static double used_ms(void) {
  struct timespec used;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return 1e3 * (double)used.tv_sec + 1e-6 * (double)used.tv_nsec;
}

static void rest(void) {
  nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
}

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(double *values) {
  qsort(values, ROUNDS, sizeof *values, compare);
  return values[ROUNDS / 2];
}

static void *room(size_t bytes) {
  void *memory = calloc(1, bytes);
  if (!memory)
    die("host memory", "none left");
  return memory;
}

/* ------------------------------------------------------------------ the CPU device, by libmuster */

static muster_device *device;
static muster_module *module;

static void check(muster_result result, const char *what) {
  if (result != MUSTER_OK)
    die(what, muster_message());
}

static void open_device(const char *command, int threads) {
  char options[64];
  snprintf(options, sizeof options, "%s --quiet --threads=%d", command, threads);
  setenv("MUSTER_OPTIONS", options, 1);
  check(muster_open("cpu:rtx4090", &device), "cpu device");
  check(muster_module_open(device, ptx_path, &module), ptx_path);
}

static uint64_t device_room(size_t bytes) {
  uint64_t address;
  check(muster_alloc(device, bytes, &address), "device memory");
  check(muster_fill_bytes(device, address, 0, bytes), "device memory");
  return address;
}

static void launch(const char *name, uint32_t grid, uint32_t block, void **parameters) {
  muster_kernel *kernel;
  muster_launch shape = MUSTER_LAUNCH_INIT;
  shape.grid[0] = grid;
  shape.block[0] = block;
  check(muster_module_find(module, name, &kernel), name);
  check(muster_kernel_launch(kernel, &shape, parameters), name);
}

/* Median processor time of a launch and the wait for it. */
static double time_launch(const char *name, uint32_t grid, uint32_t block, void **parameters) {
  double times[ROUNDS];
  for (int i = -1; i < ROUNDS; i++) {
    double start = used_ms();
    launch(name, grid, block, parameters);
    check(muster_wait(device), name);
    if (i >= 0)
      times[i] = used_ms() - start;
  }
  return median(times);
}

/* What one launch executes, as the machine counts it: `muster run --stats` in kernel mode. */
static double count_instructions(const char *name, uint32_t grid, uint32_t block, const char *args) {
  char command[1024], line[1024];
  double count = 0;
  snprintf(command, sizeof command,
           "'%s' run --gpu rtx4090 --stats --kernel %s --grid %u --block %u %s '%s' 2>&1 >/dev/null",
           muster_path, name, grid, block, args, ptx_path);
  FILE *output = popen(command, "r");
  if (!output)
    die("popen", "failed");
  while (fgets(line, sizeof line, output)) {
    const char *at = strstr(line, " thread instructions");
    while (at && at > line && strchr("0123456789", at[-1]))
      at--;
    if (at)
      count = atof(at);
    else
      fputs(line, stderr);
  }
  if (pclose(output) != 0 || count <= 0)
    die("no count of instructions from", command);
  return count;
}

/* ------------------------------------------------------------------ speed */

static void speed_row(const char *what, double bar, const char *name, uint32_t grid, uint32_t block,
                      const char *args, void **parameters) {
  double instructions = count_instructions(name, grid, block, args);
  double ms = time_launch(name, grid, block, parameters);
  printf("  %-34s %8.2f ms %9.2f M %8.3f G/s   %5.2f\n", what, ms, 1e-6 * instructions,
         1e-6 * instructions / ms, bar);
}

static void speed(void) {
  enum { N = 1 << 20, THREADS = 65536 };
  open_device("run", 1);
  uint64_t a = device_room(N * 4), b = device_room(N * 4), sum = device_room(N * 4), bins = device_room(1024);
  uint64_t items = device_room(N);
  int n = N;
  unsigned rounds = 2000;
  float x = 0.999f, y = 0.001f;
  uint8_t *bytes = room(N);
  for (size_t i = 0; i < N; i++)
    bytes[i] = (uint8_t)((i * 2654435761u) >> 24);
  check(muster_copy_in(device, items, bytes, N), "items");

  printf("one core: thread instructions a second, counted by the machine, by processor time\n"
         "(rtx4090 modelled, medians of %d)\n",
         ROUNDS);
  printf("  %-34s %11s %11s %12s   %5s\n", "kernel", "time", "executed", "speed", "bar");
  speed_row("converged, arithmetic (4x256 FMA)", 4.0, "fma_chains", THREADS / 256, 256,
            "--arg zero:262144 --arg f32:0.999 --arg f32:0.001", (void *[]){&sum, &x, &y});
  speed_row("converged, memory: vector add", 2.0, "vector_add", GRID, BLOCK,
            "--arg zero:4194304 --arg zero:4194304 --arg zero:4194304 --arg s32:1048576",
            (void *[]){&sum, &a, &b, &n});
  speed_row("converged, memory: dot product", 2.0, "dot", GRID, BLOCK,
            "--arg zero:1024 --arg zero:4194304 --arg zero:4194304 --arg s32:1048576",
            (void *[]){&sum, &a, &b, &n});
  speed_row("converged, memory: histogram", 2.0, "histogram", GRID, BLOCK,
            "--arg zero:1024 --arg random:u8:1048576 --arg s32:1048576", (void *[]){&bins, &items, &n});
  speed_row("divergent (Collatz)", 0.7, "collatz", THREADS / 256, 256, "--arg zero:262144", (void *[]){&sum});
  speed_row("one live lane a warp", 0.03, "one_lane", 64, 256, "--arg zero:2048 --arg u32:2000",
            (void *[]){&sum, &rounds});
}

/* ------------------------------------------------------------------ against others */

static bench_data inputs(size_t n) {
  bench_data data = {.n = n};
  data.a = room(n * 4);
  data.b = room(n * 4);
  data.sum = room(n * 4);
  data.parts = room(GRID * 4);
  data.items = room(n);
  data.bins = room(256 * 4);
  for (size_t i = 0; i < n; i++) {
    data.a[i] = (float)(i % 1000) * 0.5f;
    data.b[i] = (float)(i % 77) * 0.25f;
    data.items[i] = (uint8_t)((i * 2654435761u) >> 24);
  }
  return data;
}

static const char *const kernel_names[KERNELS] = {"vector_add", "dot", "histogram"};
static size_t elements;
static uint64_t dev_a, dev_b, dev_sum, dev_parts, dev_items, dev_bins;

static void muster_load(const bench_data *data) {
  elements = data->n;
  dev_a = device_room(elements * 4);
  dev_b = device_room(elements * 4);
  dev_sum = device_room(elements * 4);
  dev_parts = device_room(GRID * 4);
  dev_items = device_room(elements);
  dev_bins = device_room(256 * 4);
  check(muster_copy_in(device, dev_a, data->a, elements * 4), "a");
  check(muster_copy_in(device, dev_b, data->b, elements * 4), "b");
  check(muster_copy_in(device, dev_items, data->items, elements), "items");
}

static void muster_unload(void) {
  const uint64_t all[] = {dev_a, dev_b, dev_sum, dev_parts, dev_items, dev_bins};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    check(muster_free(device, all[i]), "free");
}

static void muster_run(int kernel) {
  int n = (int)elements;
  void *parameters[KERNELS][4] = {
      {&dev_sum, &dev_a, &dev_b, &n}, {&dev_parts, &dev_a, &dev_b, &n}, {&dev_bins, &dev_items, &n}};
  if (kernel == HISTOGRAM)
    check(muster_fill_bytes(device, dev_bins, 0, 1024), "bins");
  launch(kernel_names[kernel], GRID, BLOCK, parameters[kernel]);
  check(muster_wait(device), kernel_names[kernel]);
}

static void muster_fetch(bench_data *into) {
  check(muster_copy_out(device, into->sum, dev_sum, elements * 4), "sum");
  check(muster_copy_out(device, into->parts, dev_parts, GRID * 4), "parts");
  check(muster_copy_out(device, into->bins, dev_bins, 1024), "bins");
}

/* Every contender's last results against a serial reference. */
static void verify(const bench_contender *who, bench_data *data) {
  uint32_t bins[256] = {0};
  double dot = 0, parts = 0;
  who->fetch(data);
  for (size_t i = 0; i < data->n; i++) {
    if (data->sum[i] != data->a[i] + data->b[i])
      die(who->name, "a sum is wrong");
    dot += (double)data->a[i] * data->b[i];
    bins[data->items[i]]++;
  }
  for (int i = 0; i < GRID; i++)
    parts += data->parts[i];
  if (!(fabs(parts - dot) <= 1e-3 * dot))
    die(who->name, "the dot product is wrong");
  if (memcmp(bins, data->bins, sizeof bins))
    die(who->name, "the histogram is wrong");
}

static char *read_text(const char *path) {
  FILE *file = fopen(path, "rb");
  char *text = room(1 << 16);
  if (!file || fread(text, 1, (1 << 16) - 1, file) == 0)
    die(path, "cannot be read");
  fclose(file);
  return text;
}

static void against(void) {
  enum { THREADS = 2, CONTENDERS = 3 };
  static const bench_contender muster = {"muster", muster_run, muster_fetch};
  static double times[KERNELS][CONTENDERS][ROUNDS];
  const char *why = NULL;
  bench_data data = inputs(1 << 20);
  setenv("POCL_MAX_PTHREAD_COUNT", "2", 1);
  open_device("run", THREADS);
  muster_load(&data);
  const bench_contender *who[CONTENDERS] = {&muster, bench_opencl(&data, read_text(opencl_path), &why),
                                            bench_native(&data, THREADS, &why)};
  for (int round = -1; round < ROUNDS; round++)
    for (int kernel = 0; kernel < KERNELS; kernel++)
      for (int i = 0; i < CONTENDERS; i++) {
        int turn = (i + round + 1) % CONTENDERS;
        if (!who[turn])
          continue;
        rest(); /* OpenMP's threads turn for milliseconds after their work, on whoever is next */
        double start = now_ms();
        who[turn]->run(kernel);
        if (round >= 0)
          times[kernel][turn][round] = now_ms() - start;
      }
  for (int i = 0; i < CONTENDERS; i++)
    if (who[i])
      verify(who[i], &data);

  printf("\nmemory-bound kernels, 2^20 elements, grid 256 x 256, two threads, in turns: medians of %d, and "
         "the best\n",
         ROUNDS);
  printf("  %-11s", "ms");
  for (int i = 0; i < CONTENDERS; i++)
    printf("%24s", who[i] ? who[i]->name : "PoCL");
  printf("%14s %10s\n", "PoCL/muster", "muster/C");
  for (int kernel = 0; kernel < KERNELS; kernel++) {
    double ms[CONTENDERS] = {0};
    printf("  %-11s", kernel_names[kernel]);
    for (int i = 0; i < CONTENDERS; i++) {
      if (who[i]) {
        ms[i] = median(times[kernel][i]); /* sorted now */
        printf("%15.3f (%6.3f)", ms[i], times[kernel][i][0]);
      } else
        printf("%24s", "-");
    }
    if (who[1])
      printf("%13.1fx", ms[1] / ms[0]);
    else
      printf("%14s", "-");
    printf(" %9.1fx\n", ms[0] / ms[2]);
  }
  if (!who[1])
    printf("  PoCL: %s\n", why);
  printf("  bars: faster than PoCL, at most 30 times plain C\n");
}

/* ------------------------------------------------------------------ linear */

static void linear(void) {
  printf("\ncost by size, grid 256 x 256, two threads: ns an element, medians of %d\n  %-12s", ROUNDS,
         "kernel");
  for (int power = 16; power <= 24; power += 2)
    printf("     2^%d", power);
  puts("");
  open_device("run", 2);
  double ns[KERNELS][9];
  for (int power = 16; power <= 24; power += 2) {
    bench_data data = inputs((size_t)1 << power);
    muster_load(&data);
    for (int kernel = 0; kernel < KERNELS; kernel++) {
      double times[ROUNDS];
      for (int round = -1; round < ROUNDS; round++) {
        double start = now_ms();
        muster_run(kernel);
        if (round >= 0)
          times[round] = now_ms() - start;
      }
      ns[kernel][power - 16] = 1e6 * median(times) / (double)data.n;
    }
    muster_unload();
    void *all[] = {data.a, data.b, data.sum, data.parts, data.items, data.bins};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
      free(all[i]);
  }
  for (int kernel = 0; kernel < KERNELS; kernel++) {
    printf("  %-12s", kernel_names[kernel]);
    for (int power = 16; power <= 24; power += 2)
      printf("%9.2f", ns[kernel][power - 16]);
    puts("");
  }
}

/* ------------------------------------------------------------------ processes */

/* `used`: of it, and of all that it waited for. */
static int run_process(char *const *arguments, struct rusage *used) {
  pid_t child;
  int status;
  if (posix_spawnp(&child, arguments[0], NULL, NULL, arguments, environ) != 0)
    die(arguments[0], "cannot be started");
  wait4(child, &status, 0, used);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void start(void) {
  char *const arguments[] = {(char *)muster_path, "run", "--quiet", (char *)small_path, NULL};
  double times[ROUNDS];
  if (access(small_path, X_OK) != 0) {
    printf("\nstart: no %s here (it needs nvcc)\n", small_path);
    return;
  }
  for (int i = -1; i < ROUNDS; i++) {
    double begin = now_ms();
    int code = run_process(arguments, NULL);
    if (code != 0)
      die(small_path, "failed under muster run");
    if (i >= 0)
      times[i] = now_ms() - begin;
  }
  double middle = median(times);
  printf("\na small program (one kernel, two copies) under muster run, start to end: %.1f ms (bar 50), %.1f "
         "to %.1f\n",
         middle, times[0], times[ROUNDS - 1]);
}

/* ------------------------------------------------------------------ the inspection */

enum { INSPECTED = 4, INSPECTED_N = 1 << 20 };
static const char *const inspected[INSPECTED] = {"vector_add", "dot", "scan", "histogram"};
static char *const *own_arguments;

static long most_kib(void) {
  struct rusage used;
  getrusage(RUSAGE_SELF, &used);
  return used.ru_maxrss;
}

/* In a process of its own: one line a kernel, "NAME MS KIB", KIB what the process grew by while it ran. */
static void timed(const char *command) {
  bench_data data = inputs(INSPECTED_N);
  int n = INSPECTED_N;
  open_device(command, 1);
  muster_load(&data);
  uint64_t chain = device_room(GRID * 8);
  void *parameters[INSPECTED][4] = {{&dev_sum, &dev_a, &dev_b, &n},
                                    {&dev_parts, &dev_a, &dev_b, &n},
                                    {&dev_sum, &dev_b, &chain, &n},
                                    {&dev_bins, &dev_items, &n}};
  for (int k = 0; k < INSPECTED; k++) {
    double times[ROUNDS];
    long before = most_kib();
    for (int i = -1; i < ROUNDS; i++) {
      check(muster_fill_bytes(device, chain, 0, GRID * 8), "chain");
      check(muster_fill_bytes(device, dev_bins, 0, 1024), "bins");
      double start = used_ms();
      launch(inspected[k], GRID, BLOCK, parameters[k]);
      check(muster_wait(device), inspected[k]);
      if (i >= 0)
        times[i] = used_ms() - start;
    }
    printf("%s %f %ld\n", inspected[k], median(times), most_kib() - before);
  }
}

static void timed_run(void) {
  timed("run");
}

static void timed_check(void) {
  timed("check");
}

/* Reads what `timed` of that part prints. */
static void read_timed(const char *part, double ms[INSPECTED], long kib[INSPECTED]) {
  char command[4096], name[64];
  snprintf(command, sizeof command, "'%s' '%s' '%s' '%s' '%s' %s 2>/dev/null", own_arguments[0], muster_path,
           ptx_path, opencl_path, small_path, part);
  FILE *output = popen(command, "r");
  if (!output)
    die("popen", "failed");
  for (int k = 0; k < INSPECTED; k++)
    if (fscanf(output, "%63s %lf %ld", name, &ms[k], &kib[k]) != 3 || strcmp(name, inspected[k]))
      die(part, name);
  if (pclose(output) != 0)
    die(part, "failed");
}

/* A grid whose blocks all know of each other, again and again. */
static void inspect_barriers(void) {
  char *const arguments[] = {(char *)muster_path, "check",    "--quiet",       "--gpu",          "h200",
                             "--cooperative",     "--kernel", "grid_barriers", "--grid",         "132",
                             "--block",           "1024",     "--arg",         "zero:4",         "--arg",
                             "zero:1081344",      "--arg",    "u32:100",       (char *)ptx_path, NULL};
  struct rusage used;
  if (run_process(arguments, &used) != 0)
    die("grid_barriers", "failed under muster check");
  double seconds = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                   1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
  printf("  100 barriers of a grid of 132 blocks of 1,024 threads: %.1f s, %.2f GiB (bars: 60; 4)\n", seconds,
         (double)used.ru_maxrss / (1 << 20));
}

static void inspection(void) {
  /* bytes of device memory that a launch touches, for each byte of an element */
  static const double touched[INSPECTED] = {12, 8, 8, 1};
  double run[INSPECTED], checked[INSPECTED];
  long run_kib[INSPECTED], checked_kib[INSPECTED];
  read_timed("timed-run", run, run_kib);
  read_timed("timed-check", checked, checked_kib);
  printf("\nmuster check beside muster run, 2^20 elements, one thread: processor time, medians of %d\n"
         "  %-12s %9s %9s %8s %14s (bars: 3; 6)\n",
         ROUNDS, "kernel", "run", "check", "times", "memory, times");
  for (int k = 0; k < INSPECTED; k++)
    printf("  %-12s %6.2f ms %6.2f ms %8.2f %14.2f\n", inspected[k], run[k], checked[k], checked[k] / run[k],
           1024.0 * (double)checked_kib[k] / (touched[k] * INSPECTED_N));
  inspect_barriers();
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    void (*run)(void);
  } parts[] = {
      {"speed", speed},      {"against", against},     {"linear", linear},          {"start", start},
      {"check", inspection}, {"timed-run", timed_run}, {"timed-check", timed_check}}; /* the last two for
                                                                                         `check` */
  enum { PARTS = sizeof parts / sizeof *parts, SHOWN = PARTS - 2 };
  if (argc < 5 || argc > 6) {
    fprintf(stderr,
            "usage: cpu_bench MUSTER PTX OPENCL_SOURCE SMALL_PROGRAM [speed|against|linear|start|check]\n");
    return 2;
  }
  own_arguments = argv;
  muster_path = argv[1];
  ptx_path = argv[2];
  opencl_path = argv[3];
  small_path = argv[4];
  int worst = 0;
  for (int i = 0; i < PARTS; i++) {
    if (argc == 6 && !strcmp(argv[5], parts[i].name)) {
      parts[i].run();
      return 0;
    }
    if (argc == 5 && i < SHOWN) {
      char *const arguments[] = {argv[0], argv[1], argv[2], argv[3], argv[4], (char *)parts[i].name, NULL};
      fflush(stdout);
      int code = run_process(arguments, NULL);
      worst = code > worst ? code : worst;
    }
  }
  if (argc == 6)
    die(argv[5], "is nothing to measure");
  return worst;
}
