// run: 132 1024 100
// options: --gpu h200
// stdout: 132 x 1024 threads, 100 barriers: right
// stdout~ ^peak memory under 2 GiB$
// seconds: 10
// run: 16 96 20
// stdout: 16 x 96 threads, 20 barriers: right
// run: 1000 1024 1
// stdout: refused: cudaErrorCooperativeLaunchTooLarge
// stderr~ ^muster: .*rounds.*1000 blocks.*128
// Grid barriers of cooperative groups, the exchange between them checked. Arguments: BLOCKS THREADS BARRIERS.
#include "run.h"
#include <cooperative_groups.h>
#include <sys/resource.h>

namespace cg = cooperative_groups;

// Every thread writes its word and after the barrier reads one of the next block.
__global__ void rounds(unsigned *words, unsigned *wrong, int barriers) {
  cg::grid_group grid = cg::this_grid();
  unsigned all = gridDim.x * blockDim.x, me = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned other = (me + blockDim.x) % all;
  for (int i = 0; i < barriers; i++) {
    unsigned *half = words + (i & 1) * all;
    half[me] = me + i;
    grid.sync();
    if (half[other] != other + i)
      atomicAdd(wrong, 1);
  }
}

int main(int argc, char **argv) {
  if (argc != 4)
    return 2;
  int blocks = atoi(argv[1]), threads = atoi(argv[2]), barriers = atoi(argv[3]);
  unsigned *words = device_zeros<unsigned>(2 * blocks * threads), *wrong = device_zeros<unsigned>(1);
  void *arguments[] = {&words, &wrong, &barriers};
  cudaError_t error = cudaLaunchCooperativeKernel(rounds, blocks, threads, arguments, 0, 0);
  if (error != cudaSuccess) {
    printf("refused: %s\n", cudaGetErrorName(error));
    return 0;
  }
  CHECK(cudaDeviceSynchronize());
  printf("%d x %d threads, %d barriers: %s\n", blocks, threads, barriers,
         download(wrong) ? "WRONG" : "right");
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  if (usage.ru_maxrss < 2 << 20)
    puts("peak memory under 2 GiB");
}
