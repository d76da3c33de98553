// host.h: the host side of tour.h. C11 and C++; header only, so that a program is one nvcc command.
#ifndef TOUR_HOST_H
#define TOUR_HOST_H

#include <cuda_runtime_api.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { TOUR_WRONG = 1, TOUR_USAGE = 2, TOUR_NO_DEVICE = 77 };
enum { TOUR_ARGS_MAX = 8, TOUR_RUNS_MAX = 1000 };
#define TOUR_DEADLINE_SECONDS 20.0 // for a GPU; TOUR_DEADLINE in the environment: for a slower device
#define TOUR_BUSY_SECONDS 0.01     // of waiting without leaving the core to others

// State of the one program that includes this header.
static struct {
  const char *name, *usage;
  long values[TOUR_ARGS_MAX];
  int value_count;
  int timing;                   // --time was given
  struct cudaDeviceProp device; // the device in use
  unsigned long compared;       // values checked so far
  unsigned long different;      // of those, wrong
} tour;

static inline void tour_fail(const char *format, ...) {
  va_list list;
  va_start(list, format);
  fprintf(stderr, "%s: ", tour.name);
  vfprintf(stderr, format, list);
  fputc('\n', stderr);
  va_end(list);
  exit(TOUR_WRONG);
}

static inline void tour_check(cudaError_t error, const char *call, const char *file, int line) {
  if (error != cudaSuccess)
    tour_fail("%s:%d: %s: %s (%s)", file, line, call, cudaGetErrorString(error), cudaGetErrorName(error));
}

// Every CUDA call goes through this; so does a launch: kernel<<<...>>>(...); CHECK(cudaGetLastError());
#define CHECK(call) tour_check((call), #call, __FILE__, __LINE__)

// A launch of an impossible shape: which of the two codes it gets depends on the CUDA version.
static inline int tour_invalid_launch(cudaError_t error) {
  return error == cudaErrorInvalidConfiguration || error == cudaErrorInvalidValue;
}

// First call of main. USAGE names the positional arguments, all of them whole numbers with a default.
static inline void tour_begin(int argc, char **argv, const char *usage) {
  const char *slash = strrchr(argv[0], '/');
  tour.name = slash ? slash + 1 : argv[0];
  tour.usage = usage;
  for (int i = 1; i < argc; i++) {
    if (!strcmp(argv[i], "--time")) {
      tour.timing = 1;
      continue;
    }
    if (!strcmp(argv[i], "--help")) {
      printf("usage: %s [--time] %s\n", tour.name, usage);
      exit(0);
    }
    char *end;
    long value = strtol(argv[i], &end, 10);
    if (*end || end == argv[i] || tour.value_count == TOUR_ARGS_MAX) {
      fprintf(stderr, "%s: '%s' is no argument of it\nusage: %s [--time] %s\n", tour.name, argv[i], tour.name,
              usage);
      exit(TOUR_USAGE);
    }
    tour.values[tour.value_count++] = value;
  }
  int count = 0;
  cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess || count == 0) {
    fprintf(stderr, "%s: no CUDA device (%s)\n", tour.name, cudaGetErrorString(error));
    exit(TOUR_NO_DEVICE);
  }
  CHECK(cudaGetDeviceProperties(&tour.device, 0));
}

// Positional argument INDEX (from 0), or FALLBACK; usage error outside [low, high].
static inline long tour_arg(int index, long fallback, long low, long high) {
  long value = index < tour.value_count ? tour.values[index] : fallback;
  if (value < low || value > high) {
    fprintf(stderr, "%s: argument %d is %ld, allowed are %ld to %ld\nusage: %s [--time] %s\n", tour.name,
            index + 1, value, low, high, tour.name, tour.usage);
    exit(TOUR_USAGE);
  }
  return value;
}

// Arguments that are each in range but do not go together: usage error.
static inline void tour_misuse(const char *why) {
  fprintf(stderr, "%s: %s\nusage: %s [--time] %s\n", tour.name, why, tour.name, tour.usage);
  exit(TOUR_USAGE);
}

// Device memory filled with 0xA5: a result nobody wrote shows.
static inline void *tour_alloc(size_t bytes) {
  void *memory = NULL;
  CHECK(cudaMalloc(&memory, bytes ? bytes : 1));
  CHECK(cudaMemset(memory, 0xA5, bytes));
  return memory;
}

static inline void *tour_zeroed(size_t bytes) {
  void *memory = tour_alloc(bytes);
  CHECK(cudaMemset(memory, 0, bytes));
  return memory;
}

static inline void *tour_upload(const void *from, size_t bytes) {
  void *memory = tour_alloc(bytes);
  CHECK(cudaMemcpy(memory, from, bytes, cudaMemcpyHostToDevice));
  return memory;
}

static inline void tour_download(void *to, const void *from, size_t bytes) {
  CHECK(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost));
}

static inline void *tour_host_alloc(size_t bytes) {
  void *memory = malloc(bytes ? bytes : 1);
  if (!memory)
    tour_fail("no host memory for %zu bytes", bytes);
  return memory;
}

static inline double tour_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static inline double tour_deadline(void) {
  const char *seconds = getenv("TOUR_DEADLINE");
  return seconds ? strtod(seconds, NULL) : TOUR_DEADLINE_SECONDS;
}

// A turn of a loop that waits. A device that is no GPU may need the core.
static inline void tour_wait(double waited) {
  const struct timespec moment = {0, 100000};
  if (waited > TOUR_BUSY_SECONDS)
    nanosleep(&moment, NULL);
}

// Waits for the device until the deadline: a kernel that hangs ends the program, and with the program its
// kernel.
static inline void tour_sync(void) {
  double start = tour_seconds(), waited;
  cudaError_t error;
  while ((error = cudaStreamQuery(0)) == cudaErrorNotReady) {
    (void)cudaGetLastError(); // "not ready" must not stand there as the last error
    waited = tour_seconds() - start;
    if (waited > tour_deadline()) {
      fprintf(stderr, "%s: a kernel still runs after %g s\n", tour.name, tour_deadline());
      _exit(TOUR_WRONG);
    }
    tour_wait(waited);
  }
  CHECK(error);
  CHECK(cudaDeviceSynchronize());
}

// Verdicts. The first three differences are printed.
static inline int tour_expect(int holds, const char *format, ...) {
  tour.compared++;
  if (holds)
    return 1;
  if (tour.different++ < 3) {
    va_list list;
    va_start(list, format);
    fprintf(stderr, "%s: wrong: ", tour.name);
    vfprintf(stderr, format, list);
    fputc('\n', stderr);
    va_end(list);
  }
  return 0;
}

static inline int tour_expect_int(const char *what, long index, long long got, long long want) {
  return tour_expect(got == want, "%s[%ld] is %lld, should be %lld", what, index, got, want);
}

// |got - want| <= tolerance * max(1, |want|); NaN never passes.
static inline int tour_expect_near(const char *what, long index, double got, double want, double tolerance) {
  double size = fabs(want) > 1 ? fabs(want) : 1;
  return tour_expect(fabs(got - want) <= tolerance * size, "%s[%ld] is %.9g, should be %.9g", what, index,
                     got, want);
}

static inline int tour_compare_u64(const void *a, const void *b) {
  unsigned long long x = *(const unsigned long long *)a, y = *(const unsigned long long *)b;
  return (x > y) - (x < y);
}

// Whether two lists hold the same values equally often, in whatever order; sorts both.
static inline int tour_expect_same_set(const char *what, unsigned long long *got, unsigned long long *want,
                                       long count) {
  long i = 0;
  qsort(got, (size_t)count, sizeof *got, tour_compare_u64);
  qsort(want, (size_t)count, sizeof *want, tour_compare_u64);
  while (i < count && got[i] == want[i])
    i++;
  return tour_expect(i == count, "%s: sorted, value %ld is %#llx, should be %#llx", what, i,
                     i < count ? got[i] : 0, i < count ? want[i] : 0);
}

// Last call of main: `return tour_end("what was verified, sizes in it", ...)`.
static inline int tour_end(const char *format, ...) {
  va_list list;
  if (!tour.compared)
    tour_fail("nothing was compared");
  if (tour.different) {
    fprintf(stderr, "%s: WRONG: %lu of %lu values\n", tour.name, tour.different, tour.compared);
    return TOUR_WRONG;
  }
  printf("verified: ");
  va_start(list, format);
  vprintf(format, list);
  va_end(list);
  printf(" (%lu values)\n", tour.compared);
  return 0;
}

// Last call of a broken program that ran: it says what was seen, and that is no verdict.
static inline int tour_end_broken(unsigned long wrong, unsigned long all, const char *what) {
  printf("broken: %lu of %lu %s wrong in this run; the fault is there at 0 too\n", wrong, all, what);
  return 0;
}

// Figures.
static inline void tour_figure(const char *key, double value, const char *unit) {
  printf("figure %s %.10g %s\n", key, value, unit);
}

static inline int tour_compare_doubles(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

// Median; sorts the values.
static inline double tour_median(double *values, int count) {
  qsort(values, (size_t)count, sizeof *values, tour_compare_doubles);
  return count % 2 ? values[count / 2] : 0.5 * (values[count / 2 - 1] + values[count / 2]);
}

// Microseconds on the device for one call of launch(context): median of RUNS after three that do not count.
static inline double tour_time_us(void (*launch)(void *), void *context, int runs) {
  double times[TOUR_RUNS_MAX];
  cudaEvent_t start, stop;
  if (runs > TOUR_RUNS_MAX)
    runs = TOUR_RUNS_MAX;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&stop));
  for (int i = -3; i < runs; i++) {
    CHECK(cudaEventRecord(start, 0));
    launch(context);
    CHECK(cudaGetLastError());
    CHECK(cudaEventRecord(stop, 0));
    tour_sync();
    float ms;
    CHECK(cudaEventElapsedTime(&ms, start, stop));
    if (i >= 0)
      times[i] = 1e3 * ms;
  }
  CHECK(cudaEventDestroy(start));
  CHECK(cudaEventDestroy(stop));
  return tour_median(times, runs);
}

// Nanoseconds for one of *repeats repetitions inside launch(context): the slope from FEW to MANY of them, so
// that the launch itself drops out.
static inline double tour_slope_ns(void (*launch)(void *), void *context, int *repeats, int few, int many,
                                   int runs) {
  *repeats = few;
  double low = tour_time_us(launch, context, runs);
  *repeats = many;
  double high = tour_time_us(launch, context, runs);
  return 1e3 * (high - low) / (many - few);
}

static inline double tour_clock_ghz(void) {
  int khz = 0;
  CHECK(cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, 0));
  return khz * 1e-6;
}

#endif
