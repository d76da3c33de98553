// cluster_barrier.cu: the barrier of a hardware cluster, and the group barrier that stands in for it where
// there are no clusters (seed 000, "Cooperative groups"; clusters need compute capability 9.0). The same
// exchange between the blocks of a group runs over both and is checked against the same serial code. The
// hardware form runs if the device has clusters and this program was compiled for 9.0 or later; otherwise
// only the software form does. Arguments: BLOCKS (in a cluster, 1 to 8) CLUSTERS THREADS ROUNDS.
#include "../common/tour.h"
#include "sync_ctas.cuh"

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define HAVE_CLUSTERS 1
#else
#define HAVE_CLUSTERS 0
#endif

// Release on arrival, acquire after the wait, over all threads of all blocks of the cluster.
__device__ static inline void cluster_barrier(void) {
#if HAVE_CLUSTERS
  __asm__ volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
  __asm__ volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
#else
  __asm__ volatile("trap;"); // main never asks for it here
#endif
}

// A cluster is a row of the grid in both forms: gridDim.x blocks with the same blockIdx.y.
__device__ static inline void wait_all(unsigned *barriers, int hardware) {
  if (hardware)
    cluster_barrier();
  else
    sync_ctas(barriers + SYNC_CTAS_LINE * blockIdx.y);
}

// Each thread takes what the same thread of the next block holds and mixes it with its own. The two halves of
// CELLS take turns, so that one barrier a round is enough.
TOUR_C __global__ void exchange(unsigned *cells, unsigned *barriers, unsigned rounds, int hardware) {
  const unsigned cluster = gridDim.x * blockDim.x, all = cluster * gridDim.y;
  const unsigned mine = blockIdx.x * blockDim.x + threadIdx.x, theirs = (mine + blockDim.x) % cluster;
  for (unsigned round = 0; round < rounds; round++) {
    const unsigned *from = cells + round % 2 * all + blockIdx.y * cluster;
    unsigned *to = cells + (round + 1) % 2 * all + blockIdx.y * cluster;
    to[mine] = tour_hash(from[mine] + 3 * from[theirs] + round);
    wait_all(barriers, hardware);
  }
}

TOUR_C __global__ void barriers_only(unsigned *barriers, int repeats, int hardware) {
  for (int i = 0; i < repeats; i++)
    wait_all(barriers, hardware);
}

#ifdef TOUR_HOST
static unsigned blocks, clusters, threads, rounds;
static unsigned *cells, *barriers;

// A cluster is resident as a whole by its nature; the software group is by a cooperative launch.
static void launch(const void *kernel, void **args, int hardware) {
  cudaLaunchAttribute attribute;
  cudaLaunchConfig_t config = {};
  memset(&attribute, 0, sizeof attribute);
  if (hardware) {
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = blocks;
    attribute.val.clusterDim.y = 1;
    attribute.val.clusterDim.z = 1;
  } else {
    attribute.id = cudaLaunchAttributeCooperative;
    attribute.val.cooperative = 1;
  }
  config.gridDim = dim3(blocks, clusters);
  config.blockDim = dim3(threads);
  config.attrs = &attribute;
  config.numAttrs = 1;
  CHECK(cudaLaunchKernelExC(&config, kernel, args));
}

static void verify(const char *form, int hardware, const unsigned *start, const unsigned *want) {
  const unsigned all = blocks * clusters * threads;
  unsigned *got = (unsigned *)tour_host_alloc(all * sizeof *got);
  void *args[] = {&cells, &barriers, &rounds, &hardware};
  CHECK(cudaMemset(cells, 0xA5, 2 * all * sizeof *cells));
  CHECK(cudaMemcpy(cells, start, all * sizeof *cells, cudaMemcpyHostToDevice));
  launch((const void *)exchange, args, hardware);
  tour_sync();
  tour_download(got, cells + rounds % 2 * all, all * sizeof *got);
  for (unsigned i = 0; i < all; i++)
    tour_expect_int(form, i, got[i], want[i]);
  free(got);
}

// One cluster, in place.
static void serial(unsigned *row, unsigned *scratch) {
  const unsigned cluster = blocks * threads;
  for (unsigned round = 0; round < rounds; round++) {
    for (unsigned i = 0; i < cluster; i++)
      scratch[i] = tour_hash(row[i] + 3 * row[(i + threads) % cluster] + round);
    memcpy(row, scratch, cluster * sizeof *row);
  }
}

struct cost {
  int hardware, repeats;
};

static void launch_cost(void *context) {
  struct cost *cost = (struct cost *)context;
  void *args[] = {&barriers, &cost->repeats, &cost->hardware};
  launch((const void *)barriers_only, args, cost->hardware);
}

static double barrier_ns(int hardware) {
  struct cost cost = {hardware, 0};
  return tour_slope_ns(launch_cost, &cost, &cost.repeats, 2000, 10000, 15);
}

int main(int argc, char **argv) {
  tour_begin(argc, argv, "[BLOCKS CLUSTERS THREADS ROUNDS]");
  blocks = (unsigned)tour_arg(0, 4, 1, 8);
  clusters = (unsigned)tour_arg(1, 8, 1, 1024);
  threads = (unsigned)tour_arg(2, 128, 1, 1024);
  rounds = (unsigned)tour_arg(3, 10, 1, 1000);
  const unsigned cluster = blocks * threads, all = cluster * clusters;
  unsigned *start = (unsigned *)tour_host_alloc(all * sizeof *start);
  unsigned *want = (unsigned *)tour_host_alloc(all * sizeof *want);
  unsigned *scratch = (unsigned *)tour_host_alloc(cluster * sizeof *scratch);
  for (unsigned i = 0; i < all; i++)
    want[i] = start[i] = tour_hash(i + 1);
  for (unsigned i = 0; i < clusters; i++)
    serial(want + i * cluster, scratch);
  cells = (unsigned *)tour_alloc(2 * all * sizeof *cells);
  barriers = (unsigned *)tour_zeroed(clusters * SYNC_CTAS_LINE * sizeof *barriers);

  // The device may have clusters and still run code that was made for an older one.
  struct cudaFuncAttributes code;
  CHECK(cudaFuncGetAttributes(&code, (const void *)exchange));
  const int hardware = tour.device.major >= 9 && code.ptxVersion >= 90;
  if (hardware)
    verify("hardware cluster", 1, start, want);
  verify("software group", 0, start, want);

  if (tour.timing) {
    double software_ns = barrier_ns(0);
    tour_figure("cluster.software_ns", software_ns, "ns");
    if (hardware) {
      double hardware_ns = barrier_ns(1);
      tour_figure("cluster.hardware_ns", hardware_ns, "ns");
      tour_figure("cluster.software_over_hardware", software_ns / hardware_ns, "x");
    }
  }
  return tour_end("exchange in %u groups of %u blocks of %u threads, %u rounds, %s", clusters, blocks,
                  threads, rounds, hardware ? "hardware cluster and software group" : "software group only");
}
#endif
