// dot.h: host side of the dot product (seed 002, section 5.2), for the two C programs that launch dot.cu's
// kernel, one by its symbol and one out of a PTX file. The launch is the same: a kernel is a const void *.
#ifndef TOUR_DOT_H
#define TOUR_DOT_H

#include "../common/tour.h"

enum { DOT_N = 64 * 256, DOT_BLOCKS = 32, DOT_THREADS = 256 }; // as the seed has it

struct dot {
  const void *kernel;
  unsigned n, blocks, threads;
  float *a, *b, *partial; // on the device
  double *want;           // of each block, on the host
};

// Whole numbers from -3 to 4: a sum of up to DOT_EXACT products is exact in a float, whatever the order.
enum { DOT_EXACT = 1 << 20 };

static float dot_input(unsigned i, int ones) {
  return ones ? 1 : (float)(int)(tour_hash(i) & 7) - 3;
}

static void dot_make(struct dot *d, int ones) {
  size_t bytes = d->n * sizeof(float);
  float *a = tour_host_alloc(bytes), *b = tour_host_alloc(bytes);
  d->want = tour_host_alloc(d->blocks * sizeof(double));
  for (unsigned block = 0; block < d->blocks; block++)
    d->want[block] = 0;
  for (unsigned i = 0; i < d->n; i++) {
    a[i] = dot_input(i, ones);
    b[i] = dot_input(~i, ones);
    d->want[i / d->threads % d->blocks] += (double)a[i] * b[i];
  }
  d->a = tour_upload(a, bytes);
  d->b = tour_upload(b, bytes);
  d->partial = tour_alloc(d->blocks * sizeof(float));
  free(a);
  free(b);
}

static void dot_launch(void *context) {
  struct dot *d = context;
  void *args[] = {&d->partial, &d->a, &d->b, &d->n};
  CHECK(cudaLaunchKernel(d->kernel, (dim3){d->blocks, 1, 1}, (dim3){d->threads, 1, 1}, args,
                         d->threads * sizeof(float), 0));
}

// The host's share of the work, with each block's share verified on the way.
static double dot_finish(struct dot *d) {
  float *partial = tour_host_alloc(d->blocks * sizeof(float));
  double sum = 0, want = 0, tolerance = d->n / d->blocks < DOT_EXACT ? 0 : 1e-6;
  tour_sync();
  tour_download(partial, d->partial, d->blocks * sizeof(float));
  for (unsigned block = 0; block < d->blocks; block++) {
    tour_expect_near("partial", block, partial[block], d->want[block], tolerance);
    sum += partial[block];
    want += d->want[block];
  }
  tour_expect_near("dot", 0, sum, want, tolerance);
  free(partial);
  return sum;
}

static void dot_drop(struct dot *d) {
  CHECK(cudaFree(d->a));
  CHECK(cudaFree(d->b));
  CHECK(cudaFree(d->partial));
  free(d->want);
}

static double dot_verify(const void *kernel, unsigned n, unsigned blocks, unsigned threads, int ones) {
  struct dot d = {.kernel = kernel, .n = n, .blocks = blocks, .threads = threads};
  dot_make(&d, ones);
  dot_launch(&d);
  double sum = dot_finish(&d);
  dot_drop(&d);
  return sum;
}

#endif
