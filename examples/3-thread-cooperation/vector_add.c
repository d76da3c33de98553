// Host of vector_add.cu, in C: seed 002, section 5.1. Every form is verified at the lengths where one goes
// wrong, and so are the limits: 1024 threads a block, 65535 blocks in y and z, 2^31 - 1 in x.
// Arguments: N, the longest length verified.
#include "../common/tour.h"

void vector_add_one_block(int *c, const int *a, const int *b);
void vector_add_many_blocks(int *c, const int *a, const int *b, unsigned n);
void vector_add_grid_stride(int *c, const int *a, const int *b, unsigned n);

enum { BLOCK_MAX = 1024, PAD = 1024, POISON = (int)0xA5A5A5A5u };

struct vectors {
  unsigned n;
  int *c, *a, *b;                // on the device, PAD elements longer than n
  int *host_c, *host_a, *host_b; // likewise
};

struct launch {
  const void *kernel;
  dim3 blocks, threads;
  struct vectors *vectors;
};

static void make(struct vectors *v, unsigned n) {
  size_t count = (size_t)n + PAD;
  v->n = n;
  v->host_c = tour_host_alloc(count * sizeof(int));
  v->host_a = tour_host_alloc(count * sizeof(int));
  v->host_b = tour_host_alloc(count * sizeof(int));
  for (size_t i = 0; i < count; i++) { // within 2^29 of zero: no sum overflows
    v->host_a[i] = (int)(tour_hash((unsigned)i) >> 2) - (1 << 29);
    v->host_b[i] = (int)(tour_hash(~(unsigned)i) >> 2) - (1 << 29);
  }
  v->a = tour_upload(v->host_a, count * sizeof(int));
  v->b = tour_upload(v->host_b, count * sizeof(int));
  v->c = tour_alloc(count * sizeof(int));
}

static void drop(struct vectors *v) {
  CHECK(cudaFree(v->c));
  CHECK(cudaFree(v->a));
  CHECK(cudaFree(v->b));
  free(v->host_c);
  free(v->host_a);
  free(v->host_b);
}

// The first form takes no n: the runtime reads as many arguments as the kernel has parameters.
static cudaError_t start(const struct launch *l) {
  void *args[] = {&l->vectors->c, &l->vectors->a, &l->vectors->b, &l->vectors->n};
  return cudaLaunchKernel(l->kernel, l->blocks, l->threads, args, 0, 0);
}

static void launch(void *context) {
  CHECK(start(context));
}

// The first WRITTEN elements are sums, and nobody touched the rest.
static void compare(struct vectors *v, unsigned written, const char *form) {
  size_t count = (size_t)v->n + PAD;
  tour_sync();
  tour_download(v->host_c, v->c, count * sizeof(int));
  for (size_t i = 0; i < count; i++)
    tour_expect_int(form, (long)i, v->host_c[i], i < written ? v->host_a[i] + v->host_b[i] : POISON);
  CHECK(cudaMemset(v->c, 0xA5, count * sizeof(int)));
}

static cudaError_t refused_with;

static void refused(const struct launch *l, const char *what) {
  cudaError_t error = refused_with = start(l);
  tour_expect(tour_invalid_launch(error), "%s: %s", what, cudaGetErrorName(error));
  cudaGetLastError(); // a failed launch is forgotten once it has been asked for
  compare(l->vectors, 0, what);
}

static void verify(unsigned n) {
  struct vectors v;
  make(&v, n);
  struct launch one = {(const void *)vector_add_one_block, {1, 1, 1}, {n, 1, 1}, &v};
  if (n <= BLOCK_MAX) {
    launch(&one);
    compare(&v, n, "one block");
  } else
    refused(&one, "a block above 1024 threads");

  struct launch many = {(const void *)vector_add_many_blocks, {(n + 127) / 128, 1, 1}, {128, 1, 1}, &v};
  launch(&many);
  compare(&v, n, "many blocks");

  // Grids that are smaller and larger than the vector, and one that divides nothing.
  static const unsigned grids[][2] = {{128, 128}, {1, 32}, {7, 100}};
  for (int i = 0; i < 3; i++) {
    struct launch stride = {
        (const void *)vector_add_grid_stride, {grids[i][0], 1, 1}, {grids[i][1], 1, 1}, &v};
    launch(&stride);
    compare(&v, n, "grid stride");
  }
  drop(&v);
}

// How many blocks a grid can have: with n = 0 no thread writes.
static void verify_grid_limits(void) {
  struct vectors v;
  make(&v, 0);
  struct launch l = {(const void *)vector_add_many_blocks, {1, 65535, 1}, {1, 1, 1}, &v};
  launch(&l);
  compare(&v, 0, "65535 blocks in y");
  l.blocks = (dim3){1, 65536, 1};
  refused(&l, "65536 blocks in y");
  l.blocks = (dim3){1, 1, 65536};
  refused(&l, "65536 blocks in z");
  l.blocks = (dim3){0x80000000u, 1, 1};
  refused(&l, "2^31 blocks in x");
  drop(&v);
}

static double gbs(struct launch *l, const char *key, int runs) {
  double rate = 3e-3 * sizeof(int) * l->vectors->n / tour_time_us(launch, l, runs);
  compare(l->vectors, l->vectors->n, key);
  tour_figure(key, rate, "GB/s");
  return rate;
}

static void measure(void) {
  struct vectors v;
  unsigned n = 1u << 26, sms = (unsigned)tour.device.multiProcessorCount;
  unsigned fills = sms * (unsigned)tour.device.maxThreadsPerMultiProcessor / 128;
  make(&v, n);
  struct launch item = {(const void *)vector_add_many_blocks, {n / 128, 1, 1}, {128, 1, 1}, &v};
  struct launch stride = {(const void *)vector_add_grid_stride, {fills, 1, 1}, {128, 1, 1}, &v};
  struct launch seed = {(const void *)vector_add_grid_stride, {128, 1, 1}, {128, 1, 1}, &v};
  struct launch one = {(const void *)vector_add_grid_stride, {1, 1, 1}, {BLOCK_MAX, 1, 1}, &v};
  double per_item = gbs(&item, "vector_add.per_item_gbs", 25);
  double grid_stride = gbs(&stride, "vector_add.gbs", 25);
  gbs(&seed, "vector_add.grid_128_gbs", 9);
  double one_block = gbs(&one, "vector_add.one_block_gbs", 5);
  tour_figure("vector_add.stride_gain", grid_stride / per_item, "x");
  tour_figure("vector_add.blocks_gain", grid_stride / one_block, "x");
  tour_figure("vector_add.refused_with", refused_with, "cudaError_t");
  tour_figure("vector_add.max_threads", tour.device.maxThreadsPerBlock, "threads");
  tour_figure("vector_add.max_grid_x", tour.device.maxGridSize[0], "blocks");
  tour_figure("vector_add.max_grid_y", tour.device.maxGridSize[1], "blocks");
  drop(&v);
}

int main(int argc, char **argv) {
  tour_begin(argc, argv, "[N]");
  unsigned n = (unsigned)tour_arg(0, 100003, 1, 1L << 22);
  static const unsigned edges[] = {1, 127, 128, 1024, 1025};
  for (int i = 0; i < 5; i++)
    verify(edges[i]);
  verify(n);
  verify_grid_limits();
  if (tour.timing)
    measure();
  return tour_end("vector sums of 1 to %u elements in three forms, and the limits of a launch",
                  n > 1025 ? n : 1025);
}
