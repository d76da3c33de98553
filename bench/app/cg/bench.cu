// bench.cu: an application: conjugate gradients on up to 2^20 rows, in one kernel whose blocks meet at a
// barrier, and as a graph of kernels.
//
//   nvcc -std=c++17 -O3 -arch=sm_90 -Iinclude bench/app/cg/bench.cu -o cg_bench
//   cg_bench FILE.tsv [tiny]
//
// The same functions of a block (cg.cuh) by several hosts:
//
//   graph     a kernel an iteration, in a CUDA graph
//   barrier   one kernel, muster's barrier once an iteration; it orders the blocks' sums, which lie in memory
//   collect   the same, with the sums by muster's all-reduces, two more meetings
//   grid      one kernel, cg::grid_group::sync() in the place of muster's barrier
//
// Kept: the vectors that only their block needs stay in shared memory between the iterations, as many as fit,
// which is what one kernel can do and a graph cannot. Each for many shapes of the grid.
//
// The matrix is that of the five-point Laplacian on a grid of points, in CSR; the right-hand side belongs to
// a solution of noise. A figure is nanoseconds per iteration: the slope between 100 and 500 iterations,
// median of 7. For each host and shape the system is solved once as well: the host computes the residual and
// the error of the solution, and hosts that add in the same order must agree in every bit of it.
#include <cooperative_groups.h>
#include <math.h>
#include "../../bench.h"
#include "cg.cuh"

enum { SMALLEST = 12, LARGEST = 20, ROUNDS = 7, BLOCKS_MAX = 2048 };

// The beginning and the end of what one kernel does; MEET(mine) brings the sums of all, in thread 0.
#define ITERATE_ALL(c, failed, meet)                         \
  extern __shared__ double room[];                           \
  const struct part part = part_of(&c, room);                \
  struct stride stride = before_first();                     \
  struct sums sums = begin(&c, &part);                       \
  for (unsigned i = 0; i < c.iterations && !(failed); i++) { \
    const unsigned parity = i % 2;                           \
    meet;                                                    \
    stride = next_stride(stride, sums);                      \
    sums = iterate(&c, &part, parity, stride);               \
  }                                                          \
  show(&c, c.iterations % 2, sums);                          \
  MU_FOR_BLOCK(i, part.rows) c.vectors[(size_t)X * c.a.rows + part.first + i] = part.of[X][i];

static __global__ void __launch_bounds__(1024) with_barrier(struct problem c) {
  mu_group g = mu_group_grid();
  mu_barrier b;
  mu_status status = mu_barrier_open(&b, c.workspace, &g);
  b.timeout_ns = 1000000000;
  ITERATE_ALL(c, status, {
    show(&c, parity, sums);
    status = mu_barrier_sync(&b);
    sums = grid_sum(&c, parity);
  })
  if (status)
    *c.failed = status;
}

static __global__ void __launch_bounds__(1024) with_collect(struct problem c) {
  mu_group g = mu_group_grid();
  mu_barrier b;
  mu_status status = mu_barrier_open(&b, c.workspace, &g);
  b.timeout_ns = 1000000000;
  ITERATE_ALL(c, status, {
    status = mu_barrier_sync(&b);
    status |= mu_collect_reduce_add_f64(&b, sums.rr, &sums.rr);
    status |= mu_collect_reduce_add_f64(&b, sums.wr, &sums.wr);
  })
  if (status)
    *c.failed = status;
}

static __global__ void __launch_bounds__(1024) with_grid(struct problem c) {
  cooperative_groups::grid_group grid = cooperative_groups::this_grid();
  ITERATE_ALL(c, 0, {
    show(&c, parity, sums);
    grid.sync();
    sums = grid_sum(&c, parity);
  })
}

static __global__ void __launch_bounds__(1024) graph_begin(struct problem c) {
  const struct part part = part_of(&c, NULL);
  show(&c, 0, begin(&c, &part));
  if (mu_block() == 0 && mu_thread() == 0)
    *c.last = before_first();
}
static __global__ void __launch_bounds__(1024) graph_iterate(struct problem c, unsigned parity) {
  const struct part part = part_of(&c, NULL);
  const struct stride stride = next_stride(c.last[parity], grid_sum(&c, parity));
  show(&c, !parity, iterate(&c, &part, parity, stride));
  if (mu_block() == 0 && mu_thread() == 0)
    c.last[!parity] = stride;
}

enum host { GRAPH, BARRIER, COLLECT, GRID, BARRIER_KEPT, GRID_KEPT, HOSTS };
static const struct {
  const char *name;
  const void *kernel;   // NULL: a graph
  unsigned kept, alike; // alike: adds the blocks' sums in the same order as the graph
} hosts[HOSTS] = {
    {"graph", NULL, 0, 1},
    {"barrier", (const void *)with_barrier, 0, 1},
    {"collect", (const void *)with_collect, 0, 0},
    {"grid", (const void *)with_grid, 0, 1},
    {"barrier_kept", (const void *)with_barrier, VECTORS, 1},
    {"grid_kept", (const void *)with_grid, VECTORS, 1},
};

static struct {
  struct problem device;
  unsigned few, many, solving; // iterations
  int rounds;
  unsigned *begin, *column;
  double *value, *right, *exact, *x, *of_graph;
  cudaStream_t stream;
} rig;

// ---------------------------------------------------------------- the system

static double noise(unsigned i) {
  i *= 0x9e3779b1u, i ^= i >> 15, i *= 0x85ebca6bu, i ^= i >> 13;
  return (double)i / 2147483648.0 - 1;
}

// The right-hand side's or a residual's: right - A x, squared and summed.
static double host_residual(const double *x, double *out) {
  double sum = 0;
  for (unsigned row = 0; row < rig.device.a.rows; row++) {
    double r = out ? 0 : rig.right[row];
    for (unsigned i = rig.begin[row]; i < rig.begin[row + 1]; i++)
      r -= rig.value[i] * x[rig.column[i]];
    if (out)
      out[row] = -r;
    sum += r * r;
  }
  return sum;
}

static void *on_device(const void *from, size_t bytes) {
  void *to;
  CHECK(cudaMalloc(&to, bytes));
  if (from)
    CHECK(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice));
  return to;
}

static void make_system(unsigned log2_rows) {
  const unsigned rows = 1u << log2_rows, width = 1u << log2_rows / 2;
  struct problem *c = &rig.device;
  unsigned entries = 0;
  rig.solving = (3 * rows / width + 16 + rig.few - 1) / rig.few * rig.few;
  rig.begin = (unsigned *)malloc((rows + 1) * 4);
  rig.column = (unsigned *)malloc(rows * 5 * 4);
  rig.value = (double *)malloc(rows * 5 * 8);
  rig.right = (double *)malloc(rows * 8);
  rig.exact = (double *)malloc(rows * 8);
  rig.x = (double *)malloc(rows * 8);
  rig.of_graph = (double *)malloc(rows * 8);
  for (unsigned row = 0; row < rows; row++) {
    const struct {
      int there;
      unsigned column;
    } around[] = {{row >= width, row - width},
                  {row % width != 0, row - 1},
                  {1, row},
                  {(row + 1) % width != 0, row + 1},
                  {row + width < rows, row + width}};
    rig.begin[row] = entries;
    for (int i = 0; i < 5; i++)
      if (around[i].there) {
        rig.column[entries] = around[i].column;
        rig.value[entries++] = i == 2 ? 4 : -1;
      }
    rig.exact[row] = noise(row);
  }
  rig.begin[rows] = entries;
  c->a.rows = rows;
  host_residual(rig.exact, rig.right);
  c->a.begin = (unsigned *)on_device(rig.begin, (rows + 1) * 4);
  c->a.column = (unsigned *)on_device(rig.column, (size_t)entries * 4);
  c->a.value = (double *)on_device(rig.value, (size_t)entries * 8);
  c->right = (double *)on_device(rig.right, (size_t)rows * 8);
  c->vectors = (double *)on_device(NULL, (size_t)rows * 8 * VECTORS);
  c->w = (double *)on_device(NULL, (size_t)rows * 8 * 2);
}

static void free_system(void) {
  void *of_host[] = {rig.begin, rig.column, rig.value, rig.right, rig.exact, rig.x, rig.of_graph};
  const void *of_device[] = {rig.device.a.begin, rig.device.a.column, rig.device.a.value,
                             rig.device.right,   rig.device.vectors,  rig.device.w};
  for (unsigned i = 0; i < sizeof of_host / sizeof *of_host; i++)
    free(of_host[i]);
  for (unsigned i = 0; i < sizeof of_device / sizeof *of_device; i++)
    CHECK(cudaFree((void *)of_device[i]));
}

// ---------------------------------------------------------------- one shape

struct shape {
  unsigned blocks, threads;
};

// What a host needs to run.
struct way {
  const void *kernel; // NULL: graphs
  struct shape shape;
  int kept; // vectors in shared memory; below 0: it does not fit
  size_t bytes;
  unsigned iterations[2]; // of each graph
  cudaGraphExec_t graph[2];
};

// With as many vectors in shared memory, `most` at most, as leave all blocks resident.
static void fit(struct way *way, unsigned most) {
  for (way->kept = (int)most; way->kept >= 0; way->kept--) {
    int each = 0;
    way->bytes = (size_t)way->kept * rows_each(rig.device.a.rows, way->shape.blocks) * 8;
    if (cudaFuncSetAttribute(way->kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)way->bytes) ==
            cudaSuccess &&
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, way->kernel, (int)way->shape.threads,
                                                      way->bytes) == cudaSuccess &&
        way->shape.blocks <= (unsigned)(each * bench.sms))
      return;
    (void)cudaGetLastError();
  }
}

static cudaGraphExec_t graph_of(struct shape h, unsigned iterations) {
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  CHECK(cudaStreamBeginCapture(rig.stream, cudaStreamCaptureModeThreadLocal));
  for (unsigned i = 0; i < iterations; i++)
    graph_iterate<<<h.blocks, h.threads, 0, rig.stream>>>(rig.device, i % 2);
  CHECK(cudaStreamEndCapture(rig.stream, &graph));
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  CHECK(cudaGraphDestroy(graph));
  return exec;
}

static struct way way_of(enum host host, struct shape shape) {
  struct way way = {hosts[host].kernel, shape, 0, 0, {rig.few, rig.many}, {NULL, NULL}};
  if (way.kernel)
    fit(&way, hosts[host].kept);
  else
    for (int i = 0; i < 2; i++)
      way.graph[i] = graph_of(shape, way.iterations[i]);
  return way;
}

// From the beginning on; a graph (which: few or many at once) as often as that takes. Nanoseconds.
static double run(const struct way *way, unsigned which, unsigned iterations) {
  struct problem c = rig.device;
  void *args[] = {&c};
  c.iterations = iterations;
  c.kept = (unsigned)way->kept;
  bench_start(rig.stream);
  if (way->kernel) {
    CHECK(cudaFuncSetAttribute(way->kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)way->bytes));
    CHECK(cudaLaunchCooperativeKernel(way->kernel, dim3(way->shape.blocks), dim3(way->shape.threads), args,
                                      way->bytes, rig.stream));
  } else {
    graph_begin<<<way->shape.blocks, way->shape.threads, 0, rig.stream>>>(c);
    for (unsigned i = 0; i < iterations; i += way->iterations[which])
      CHECK(cudaGraphLaunch(way->graph[which], rig.stream));
  }
  double ns = bench_stop_ns(rig.stream);
  unsigned failed;
  CHECK(cudaMemcpy(&failed, rig.device.failed, 4, cudaMemcpyDeviceToHost));
  bench_must(!failed, "barriers", way->kept ? "kept" : "not kept", way->shape.blocks);
  return ns;
}

// What the recurrence says of the residual, squared: the blocks' last sums.
static double device_residual(unsigned blocks) {
  static struct sums sums[BLOCKS_MAX];
  double sum = 0;
  CHECK(cudaMemcpy(sums, rig.device.of_block + rig.solving % 2 * blocks, blocks * sizeof *sums,
                   cudaMemcpyDeviceToHost));
  for (unsigned i = 0; i < blocks; i++)
    sum += sums[i].rr;
  return sum;
}

// Solves the system; what comes out must be a solution, and the same as that of the graph.
static void verify(enum host host, const struct way *way) {
  const unsigned rows = rig.device.a.rows;
  const char *name = hosts[host].name;
  double error = 0, length = 0;
  CHECK(cudaMemset(rig.device.vectors, 0xff, (size_t)rows * 8 * VECTORS));
  run(way, 0, rig.solving);
  CHECK(cudaMemcpy(rig.x, rig.device.vectors + (size_t)X * rows, (size_t)rows * 8, cudaMemcpyDeviceToHost));
  for (unsigned i = 0; i < rows; i++) {
    error = fmax(error, fabs(rig.x[i] - rig.exact[i]));
    length += rig.right[i] * rig.right[i];
  }
  double residual = sqrt(host_residual(rig.x, NULL) / length),
         claimed = sqrt(device_residual(way->shape.blocks) / length);
  fprintf(bench.tsv, "solved\t%u\t%u\t%u\t%s\t%d\t%u\t%.3g\t%.3g\t%.3g\n", rows, way->shape.blocks,
          way->shape.threads, name, way->kept, rig.solving, residual, claimed, error);
  bench_must(residual < 1e-8, "the residual", name, rows);
  bench_must(claimed < residual + 1e-12, "the residual of the recurrence", name, rows);
  bench_must(error < 1e-6, "the solution", name, rows);
  if (host == GRAPH)
    memcpy(rig.of_graph, rig.x, (size_t)rows * 8);
  bench_must(!hosts[host].alike || !memcmp(rig.of_graph, rig.x, (size_t)rows * 8), "the same bits", name,
             rows);
}

struct best {
  double ns;
  struct shape shape;
  int kept;
};

// All hosts, turn by turn, in one shape.
static void measure(struct shape shape, struct best *best) {
  static double slopes[HOSTS][ROUNDS];
  struct way ways[HOSTS];
  CHECK(cudaMemset(rig.device.workspace, 0, MU_SLOT_BYTES(BLOCKS_MAX))); // it belongs to a group of one size
  CHECK(cudaMemset(rig.device.failed, 0, 4));
  for (int host = 0; host < HOSTS; host++) {
    ways[host] = way_of((enum host)host, shape);
    if (ways[host].kept >= 0)
      verify((enum host)host, &ways[host]);
  }
  for (int round = 0; round < rig.rounds; round++)
    for (int host = 0; host < HOSTS; host++)
      if (ways[host].kept >= 0)
        slopes[host][round] =
            (run(&ways[host], 1, rig.many) - run(&ways[host], 0, rig.few)) / (rig.many - rig.few);
  for (int host = 0; host < HOSTS; host++) {
    const struct way *way = &ways[host];
    if (way->kept < 0)
      continue;
    double ns = bench_median(slopes[host], rig.rounds);
    fprintf(bench.tsv, "cg\t%u\t%u\t%u\t%s\t%d\t%.1f\n", rig.device.a.rows, shape.blocks, shape.threads,
            hosts[host].name, way->kept, ns);
    if (!best[host].shape.blocks || ns < best[host].ns) {
      best[host].ns = ns;
      best[host].shape = shape;
      best[host].kept = way->kept;
    }
    for (int i = 0; i < 2 && !way->kernel; i++)
      CHECK(cudaGraphExecDestroy(way->graph[i]));
  }
}

// ---------------------------------------------------------------- all sizes

// At least a row a thread; as many blocks a multiprocessor as may be of use.
static void measure_shapes(struct best *best) {
  static const unsigned threads[] = {128, 256, 512, 1024}, each[] = {1, 2, 4, 8};
  for (int t = 0; t < 4; t++)
    for (int e = 0; e < 4; e++) {
      unsigned most = rig.device.a.rows / threads[t], blocks = (unsigned)bench.sms * each[e];
      if (threads[t] * each[e] > 2048 || (e && most <= blocks / 2))
        continue;
      struct shape shape = {most < blocks ? most : blocks, threads[t]};
      measure(shape, best);
    }
}

static void print_head(void) {
  printf("conjugate gradients: us an iteration, each in its best shape (blocks x threads), which stands "
         "below; x: how\n"
         "many times the barrier's the time of grid.sync is; gx: the time of the graph\n");
  printf("%-5s| %9s | %9s %9s %9s %5s %5s | kept %8s %9s %5s %5s\n", "rows", "graph", "barrier", "collect",
         "grid", "x", "gx", "barrier", "grid", "x", "gx");
}
static void print_row(unsigned log2_rows, const struct best *best) {
  static const char *const before[HOSTS] = {"     |", " |", "", "", "             |     ", ""};
  printf("2^%-3u| %9.3f | %9.3f %9.3f %9.3f %5.3f %5.3f | %4d %8.3f %9.3f %5.3f %5.3f\n", log2_rows,
         best[GRAPH].ns / 1e3, best[BARRIER].ns / 1e3, best[COLLECT].ns / 1e3, best[GRID].ns / 1e3,
         best[GRID].ns / best[BARRIER].ns, best[GRAPH].ns / best[BARRIER].ns, best[BARRIER_KEPT].kept,
         best[BARRIER_KEPT].ns / 1e3, best[GRID_KEPT].ns / 1e3, best[GRID_KEPT].ns / best[BARRIER_KEPT].ns,
         best[GRAPH].ns / best[BARRIER_KEPT].ns);
  for (int host = 0; host < HOSTS; host++)
    printf("%s %4ux%-4u", before[host], best[host].shape.blocks, best[host].shape.threads);
  printf("             |\n");
}

int main(int argc, char **argv) {
  static const struct shape tiny[] = {{1, 32}, {3, 64}, {4, 32}};
  int ends = bench_open(argc, argv);
  if (ends)
    return ends;
  CHECK(cudaStreamCreate(&rig.stream));
  rig.device.workspace = on_device(NULL, MU_SLOT_BYTES(BLOCKS_MAX));
  rig.device.failed = (unsigned *)on_device(NULL, 4);
  rig.device.of_block = (struct sums *)on_device(NULL, 2 * BLOCKS_MAX * sizeof(struct sums));
  rig.device.last = (struct stride *)on_device(NULL, 2 * sizeof(struct stride));
  rig.few = bench.tiny ? 4 : 100;
  rig.many = bench.tiny ? 12 : 500;
  rig.rounds = bench.tiny ? 1 : ROUNDS;
  fprintf(bench.tsv, "cg\trows\tblocks\tthreads\thost\tkept\tns\n");
  fprintf(bench.tsv, "solved\trows\tblocks\tthreads\thost\tkept\titerations\tresidual\tclaimed\terror\n");
  print_head();
  for (unsigned n = bench.tiny ? 8 : SMALLEST; n <= (bench.tiny ? 8 : LARGEST); n++) {
    struct best best[HOSTS] = {};
    make_system(n);
    for (unsigned i = 0; i < sizeof tiny / sizeof *tiny && bench.tiny; i++)
      measure(tiny[i], best);
    if (!bench.tiny)
      measure_shapes(best);
    print_row(n, best);
    fflush(stdout);
    free_system();
  }
  return bench_close();
}
