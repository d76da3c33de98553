// Host of dot.cu, in C: seed 002, section 5.2. Ones first, whose dot product is their number, as in the
// seed; then inputs that differ, every partial sum verified.
// Arguments: N, BLOCKS, THREADS a block; by default 64 * 256 elements in 32 blocks of 256 threads.
#include "dot.h"

void dot_kernel(float *partial, const float *a, const float *b, unsigned n);

static void measure(double ones) {
  const void *kernel = (const void *)dot_kernel;
  struct dot small = {.kernel = kernel, .n = DOT_N, .blocks = DOT_BLOCKS, .threads = DOT_THREADS};
  dot_make(&small, 0);
  tour_figure("dot.us", tour_time_us(dot_launch, &small, 101), "us");
  dot_finish(&small);
  dot_drop(&small);

  unsigned resident =
      (unsigned)(tour.device.multiProcessorCount * tour.device.maxThreadsPerMultiProcessor) / DOT_THREADS;
  struct dot large = {.kernel = kernel, .n = 1u << 26, .blocks = resident, .threads = DOT_THREADS};
  dot_make(&large, 0);
  tour_figure("dot.gbs", 2e-3 * sizeof(float) * large.n / tour_time_us(dot_launch, &large, 25), "GB/s");
  dot_finish(&large);
  dot_drop(&large);
  tour_figure("dot.ones", ones, "ones");
}

int main(int argc, char **argv) {
  tour_begin(argc, argv, "[N [BLOCKS [THREADS]]]");
  unsigned n = (unsigned)tour_arg(0, DOT_N, 1, 1 << 28);
  unsigned blocks = (unsigned)tour_arg(1, DOT_BLOCKS, 1, 65535);
  unsigned threads = (unsigned)tour_arg(2, DOT_THREADS, 1, 1024);

  double ones = dot_verify((const void *)dot_kernel, n, blocks, threads, 1);
  printf("the dot product of %u ones with themselves is %.0f\n", n, ones);
  dot_verify((const void *)dot_kernel, n, blocks, threads, 0);
  if (tour.timing)
    measure(ones);
  return tour_end("dot products of %u elements, %u blocks of %u threads", n, blocks, threads);
}
