// levels.cu: the levels at which threads can wait for each other, side by side (seed 000, "CUDA thread
// synchronisation" and "Cooperative groups"): tile, warp, block (two spellings), grid inside one kernel, grid
// by one kernel after another. Every level runs the same exchange and is checked against the same serial
// code. The seed's __sync_warp() does not exist: the name is __syncwarp(). Arguments: BLOCKS THREADS ROUNDS;
// the tile level needs THREADS to be a multiple of 8. Tiles and grid.sync() are C++: needs
// cooperative_groups.h.
#include "../common/tour.h"
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

enum { TILE = 8, WARP = 32 };

// In each round every thread mixes its own value with that of another thread of its unit.
__host__ __device__ static unsigned mix(unsigned mine, unsigned other, unsigned round) {
  return tour_hash(mine + 3 * other + round);
}

__host__ __device__ static unsigned partner(unsigned rank, unsigned size, unsigned round) {
  return (rank + 1 + 7 * round) % size;
}

// A round reads one half of the cells and writes the other, so that one barrier a round is enough.
__device__ static void exchange(unsigned *cells, unsigned first, unsigned rank, unsigned size,
                                unsigned round) {
  const unsigned all = gridDim.x * blockDim.x;
  const unsigned *from = cells + round % 2 * all + first;
  unsigned *to = cells + (round + 1) % 2 * all + first;
  to[rank] = mix(from[rank], from[partner(rank, size, round)], round);
}

__global__ void tile_level(unsigned *cells, unsigned rounds) {
  cg::thread_block_tile<TILE> tile = cg::tiled_partition<TILE>(cg::this_thread_block());
  const unsigned rank = tile.thread_rank(), first = blockIdx.x * blockDim.x + threadIdx.x - rank;
  for (unsigned round = 0; round < rounds; round++) {
    exchange(cells, first, rank, TILE, round);
    tile.sync();
  }
}

__global__ void warp_level(unsigned *cells, unsigned rounds) {
  const unsigned rank = threadIdx.x % WARP, first = threadIdx.x - rank;
  const unsigned left = blockDim.x - first, size = left < WARP ? left : WARP;
  const unsigned lanes = 0xffffffffu >> (WARP - size); // the last warp of a block may be a short one
  for (unsigned round = 0; round < rounds; round++) {
    exchange(cells, blockIdx.x * blockDim.x + first, rank, size, round);
    __syncwarp(lanes);
  }
}

__global__ void block_level(unsigned *cells, unsigned rounds) {
  for (unsigned round = 0; round < rounds; round++) {
    exchange(cells, blockIdx.x * blockDim.x, threadIdx.x, blockDim.x, round);
    __syncthreads();
  }
}

// The same barrier by its number: barrier 0 of the block's 16.
__global__ void numbered_level(unsigned *cells, unsigned rounds) {
  for (unsigned round = 0; round < rounds; round++) {
    exchange(cells, blockIdx.x * blockDim.x, threadIdx.x, blockDim.x, round);
    __barrier_sync(0);
  }
}

__global__ void grid_level(unsigned *cells, unsigned rounds) {
  cg::grid_group grid = cg::this_grid();
  for (unsigned round = 0; round < rounds; round++) {
    exchange(cells, 0, (unsigned)grid.thread_rank(), (unsigned)grid.num_threads(), round);
    grid.sync();
  }
}

// The grid level without a barrier: the end of one kernel and the start of the next.
__global__ void one_round(unsigned *cells, unsigned round) {
  exchange(cells, 0, blockIdx.x * blockDim.x + threadIdx.x, gridDim.x * blockDim.x, round);
}

// For --time: barriers only.
__global__ void wait_warp(int repeats) {
  for (int i = 0; i < repeats; i++)
    __syncwarp();
}

__global__ void wait_block(int repeats) {
  for (int i = 0; i < repeats; i++)
    __syncthreads();
}

__global__ void wait_grid(int repeats) {
  cg::grid_group grid = cg::this_grid();
  for (int i = 0; i < repeats; i++)
    grid.sync();
}

__global__ void nothing(void) {}

#ifdef TOUR_HOST
static unsigned blocks, threads, rounds, count;
static unsigned *start, *got, *want; // host; want has both halves
static unsigned *cells;              // device, both halves

static void prepare(void) {
  CHECK(cudaMemset(cells, 0xA5, 2 * count * sizeof *cells));
  CHECK(cudaMemcpy(cells, start, count * sizeof *cells, cudaMemcpyHostToDevice));
}

// The serial exchange in units of WIDTH threads, which begin anew every SPAN threads.
static void verify(const char *level, unsigned span, unsigned width) {
  tour_sync();
  tour_download(got, cells + rounds % 2 * count, count * sizeof *cells);
  memcpy(want, start, count * sizeof *want);
  for (unsigned round = 0; round < rounds; round++) {
    const unsigned *from = want + round % 2 * count;
    unsigned *to = want + (round + 1) % 2 * count;
    for (unsigned i = 0; i < count; i++) {
      unsigned rank = i % span % width, first = i - rank;
      unsigned left = span - first % span, size = left < width ? left : width;
      to[i] = mix(from[i], from[first + partner(rank, size, round)], round);
    }
  }
  for (unsigned i = 0; i < count; i++)
    tour_expect_int(level, i, got[i], want[rounds % 2 * count + i]);
}

static void run(const char *level, void (*kernel)(unsigned *, unsigned), unsigned span, unsigned width) {
  void *args[] = {&cells, &rounds};
  prepare();
  if (kernel == grid_level)
    CHECK(cudaLaunchCooperativeKernel((const void *)kernel, dim3(blocks), dim3(threads), args, 0, 0));
  else
    CHECK(cudaLaunchKernel((const void *)kernel, dim3(blocks), dim3(threads), args, 0, 0));
  verify(level, span, width);
}

static void run_kernels(void) {
  prepare();
  for (unsigned round = 0; round < rounds; round++) {
    one_round<<<blocks, threads>>>(cells, round);
    CHECK(cudaGetLastError());
  }
  verify("grid by kernels", count, count);
}

enum { FEW_NODES = 100, MANY_NODES = 500, COST_THREADS = 128 };
struct cost {
  void (*kernel)(int);
  cudaGraphExec_t few, many;
  int repeats;
};

static void launch_waits(void *context) {
  struct cost *cost = (struct cost *)context;
  dim3 grid(tour.device.multiProcessorCount), block(COST_THREADS);
  void *args[] = {&cost->repeats};
  if (cost->kernel == wait_grid)
    CHECK(cudaLaunchCooperativeKernel((const void *)cost->kernel, grid, block, args, 0, 0));
  else
    CHECK(cudaLaunchKernel((const void *)cost->kernel, grid, block, args, 0, 0));
}

static void launch_stream(void *context) {
  for (int i = 0; i < ((struct cost *)context)->repeats; i++)
    nothing<<<tour.device.multiProcessorCount, COST_THREADS>>>();
}

static void launch_graph(void *context) {
  struct cost *cost = (struct cost *)context;
  CHECK(cudaGraphLaunch(cost->repeats == MANY_NODES ? cost->many : cost->few, 0));
}

static cudaGraphExec_t graph_of(int nodes) {
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t ready;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  for (int i = 0; i < nodes; i++) {
    nothing<<<tour.device.multiProcessorCount, COST_THREADS, 0, stream>>>();
    CHECK(cudaGetLastError());
  }
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaGraphInstantiateWithFlags(&ready, graph, 0));
  CHECK(cudaGraphDestroy(graph));
  CHECK(cudaStreamDestroy(stream));
  return ready;
}

static void measure(void) {
  struct cost cost = {wait_warp, graph_of(FEW_NODES), graph_of(MANY_NODES), 0};
  tour_figure("levels.warp_ns", tour_slope_ns(launch_waits, &cost, &cost.repeats, 20000, 200000, 15), "ns");
  cost.kernel = wait_block;
  tour_figure("levels.block_ns", tour_slope_ns(launch_waits, &cost, &cost.repeats, 20000, 200000, 15), "ns");
  cost.kernel = wait_grid;
  tour_figure("levels.grid_ns", tour_slope_ns(launch_waits, &cost, &cost.repeats, 2000, 10000, 15), "ns");
  tour_figure("levels.stream_ns", tour_slope_ns(launch_stream, &cost, &cost.repeats, 100, 900, 15), "ns");
  tour_figure("levels.graph_ns", tour_slope_ns(launch_graph, &cost, &cost.repeats, FEW_NODES, MANY_NODES, 15),
              "ns");
  CHECK(cudaGraphExecDestroy(cost.few));
  CHECK(cudaGraphExecDestroy(cost.many));
}

int main(int argc, char **argv) {
  tour_begin(argc, argv, "[BLOCKS THREADS ROUNDS]");
  blocks = (unsigned)tour_arg(0, 12, 1, 1024);
  threads = (unsigned)tour_arg(1, 96, 1, 1024);
  rounds = (unsigned)tour_arg(2, 8, 1, 1000);
  count = blocks * threads;
  start = (unsigned *)tour_host_alloc(count * sizeof *start);
  got = (unsigned *)tour_host_alloc(count * sizeof *got);
  want = (unsigned *)tour_host_alloc(2 * count * sizeof *want);
  cells = (unsigned *)tour_alloc(2 * count * sizeof *cells);
  for (unsigned i = 0; i < count; i++)
    start[i] = tour_hash(i + 1);

  if (threads % TILE == 0)
    run("tile", tile_level, threads, TILE);
  run("warp", warp_level, threads, WARP);
  run("block", block_level, threads, threads);
  run("block by number", numbered_level, threads, threads);
  run("grid", grid_level, count, count);
  run_kernels();
  if (tour.timing)
    measure();
  return tour_end("exchange by%s warp, block, grid and kernels, %u blocks of %u threads, %u rounds",
                  threads % TILE ? "" : " tile,", blocks, threads, rounds);
}
#endif
