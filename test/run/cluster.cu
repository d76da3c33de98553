// run: 4
// options: --gpu h200
// stdout: clusters of 4: right
// run: 8
// options: --gpu h200
// stdout: clusters of 8: right
// run: 16
// options: --gpu h200
// stdout: refused: cudaErrorInvalidClusterSize
// run: 3
// options: --gpu h200
// stdout: refused: cudaErrorInvalidClusterSize
// run: 2
// options: --gpu rtx4090
// stderr~ ^muster: .*hand_on.*cluster.*rtx4090
// cpu: another GPU
// stdout~ ^refused: cudaError
// Hardware clusters: ranks, the cluster barrier and distributed shared memory; sizes and GPUs that cannot.
#include "run.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

// Every block gives a word to the next one of its cluster, through that one's shared memory.
__global__ void hand_on(int *wrong) {
#if __CUDA_ARCH__ >= 900
  __shared__ int box[64];
  cg::cluster_group cluster = cg::this_cluster();
  unsigned rank = cluster.block_rank(), blocks = cluster.num_blocks();
  int *next = cluster.map_shared_rank(box, (rank + 1) % blocks);
  box[threadIdx.x] = -1;
  cluster.sync();
  next[threadIdx.x] = blockIdx.x * 64 + threadIdx.x;
  cluster.sync();
  unsigned before = blockIdx.x - rank + (rank + blocks - 1) % blocks;
  if (box[threadIdx.x] != (int)(before * 64 + threadIdx.x))
    atomicAdd(wrong, 1);
  cluster.sync(); // nobody leaves while its box may be written
#else
  atomicAdd(wrong, 1);
#endif
}

int main(int argc, char **argv) {
  int size = argc > 1 ? atoi(argv[1]) : 4;
  int *wrong = device_zeros<int>(1);
  cudaLaunchAttribute attribute;
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = size;
  attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = 64;
  config.blockDim = 64;
  config.attrs = &attribute;
  config.numAttrs = 1;
  cudaError_t error = cudaLaunchKernelEx(&config, hand_on, wrong);
  if (error != cudaSuccess) {
    printf("refused: %s\n", cudaGetErrorName(error));
    return 0;
  }
  CHECK(cudaDeviceSynchronize());
  printf("clusters of %d: %s\n", size, download(wrong) ? "WRONG" : "right");
}
