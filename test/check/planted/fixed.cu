// The repaired twins of shared/planted.cu, one a case number: what is planted there stands right here.
#include "../check.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

enum { BLOCK = 256, HALF = BLOCK / 2, LANES = 32, TILES = 16, ITEMS = 1000, LAST = 200 };

// 1: a barrier before each step of the tree.
__global__ void tree(const float *in, float *out) {
  __shared__ float cell[BLOCK];
  int t = threadIdx.x;
  cell[t] = in[t];
  for (int half = HALF; half > 0; half /= 2) {
    __syncthreads();
    if (t < half)
      cell[t] += cell[t + half];
  }
  if (t == 0)
    *out = cell[0];
}

// 2: the barrier behind the branch.
__global__ void barrier_after_branch(const float *in, float *out) {
  __shared__ float cell[BLOCK];
  int t = threadIdx.x;
  cell[t] = in[t];
  if (t < HALF)
    cell[t] += 1;
  __syncthreads();
  if (t == 0)
    *out = cell[HALF];
}

// 3: a fence on either side of the ticket.
__global__ void last_block(const float *in, volatile float *partial, unsigned *ticket, float *out) {
  if (threadIdx.x != 0)
    return;
  partial[blockIdx.x] = in[blockIdx.x];
  __threadfence();
  if (atomicAdd(ticket, 1) != gridDim.x - 1)
    return;
  __threadfence();
  float sum = 0;
  for (unsigned i = 0; i < gridDim.x; i++)
    sum += partial[i];
  *out = sum;
  *ticket = 0;
}

// 4: the block meets before its thread 0 arrives for it.
__device__ void group_sync(unsigned *bar) {
  unsigned share = blockIdx.x == 0 ? 0x80000000u - (gridDim.x - 1) : 1;
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    unsigned before = atomicAdd(bar, share);
    while (((before ^ *(volatile unsigned *)bar) & 0x80000000u) == 0)
      ;
    __threadfence();
  }
  __syncthreads();
}

__global__ void group_rounds(unsigned *bar, float *cells, float *wrong) {
  unsigned all = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int round = 0; round < 8; round++) {
    cells[i] = round;
    group_sync(bar);
    if (cells[(i + 37) % all] != round)
      atomicAdd(wrong, 1);
    group_sync(bar);
  }
}

// 5: a second buffer, so that nobody changes what a neighbour reads.
__global__ void grid_neighbour(float *doubled, float *sums, int n) {
  cg::grid_group grid = cg::this_grid();
  int i = grid.thread_rank();
  if (i < n)
    doubled[i] *= 2;
  grid.sync();
  if (i < n)
    sums[i] = doubled[i] + (i > 0 ? doubled[i - 1] : 0);
}

// 6: a warp barrier between the write and the mate's read.
__global__ void warp_exchange(const float *in, float *out) {
  __shared__ float cell[LANES];
  int t = threadIdx.x;
  cell[t] = in[t];
  __syncwarp();
  out[t] = cell[t ^ 1];
}

// 7: release and acquire of the device.
__global__ void scope_device(unsigned *flag, float *data, float *out) {
  unsigned seen;
  if (threadIdx.x != 0)
    return;
  if (blockIdx.x == 0) {
    data[0] = 1;
    asm volatile("st.release.gpu.global.u32 [%0], 1;" ::"l"(flag) : "memory");
  } else {
    do
      asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
    while (seen == 0);
    out[blockIdx.x] = data[0];
  }
}

// 8: the write is guarded like the read.
__global__ void neighbour_sum(const float *in, float *out, int n) {
  __shared__ float cell[BLOCK];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  cell[t] = i < n ? in[i] : 0;
  __syncthreads();
  if (i < n)
    out[i] = cell[t] + (t < BLOCK - 1 ? cell[t + 1] : 0);
}

// 9: who has nothing to do still comes to the barrier.
__global__ void rotate(const float *in, float *out, int n) {
  __shared__ float cell[BLOCK];
  int t = threadIdx.x;
  if (t < n)
    cell[t] = in[t];
  __syncthreads();
  if (t < n)
    out[t] = cell[(t + 1) % n];
}

// 10: a word a block.
__global__ void own_word(float *out) {
  out[blockIdx.x] = blockIdx.x;
}

// 11: the source is a lane of the mask.
__global__ void shuffle_inside(int *out) {
  int t = threadIdx.x, value = t;
  if (t < LANES / 2)
    value = __shfl_sync(0xffff, t, 10);
  out[t] = value;
}

// 12: the barrier of some lanes names those.
__global__ void warp_barrier(int *out) {
  int t = threadIdx.x;
  if (t < LANES / 2)
    __syncwarp(0xffff);
  out[t] = t;
  __syncwarp();
}

// 13: written before it is read.
__global__ void written_first(float *out) {
  __shared__ float cell[64];
  int t = threadIdx.x;
  cell[t] = t;
  __syncthreads();
  out[t] = cell[63 - t];
}

// 14: a barrier on both ends of a tile's use.
__global__ void tiles(const float *in, float *out, int n) {
  __shared__ float cell[BLOCK];
  int t = threadIdx.x;
  float sum = 0;
  for (int i = 0; i < n; i++) {
    cell[t] = in[i * BLOCK + t];
    __syncthreads();
    sum += cell[BLOCK - 1 - t];
    __syncthreads();
  }
  out[t] = sum;
}

int main(int argc, char **argv) {
  float *in = device_zeros<float>(TILES * BLOCK), *other = device_zeros<float>(TILES * BLOCK);
  float *out = device_zeros<float>(4 * BLOCK);
  unsigned *word = device_zeros<unsigned>(1);
  int n = 4 * BLOCK;
  switch (argc > 1 ? atoi(argv[1]) : 0) {
  case 1:
    tree<<<1, BLOCK>>>(in, out);
    break;
  case 2:
    barrier_after_branch<<<1, BLOCK>>>(in, out);
    break;
  case 3:
    last_block<<<64, 64>>>(in, other, word, out);
    break;
  case 4: {
    void *arguments[] = {&word, &other, &out};
    CHECK(cudaLaunchCooperativeKernel(group_rounds, 4, BLOCK, arguments));
    break;
  }
  case 5: {
    void *arguments[] = {&in, &other, &n};
    CHECK(cudaLaunchCooperativeKernel(grid_neighbour, 4, BLOCK, arguments));
    break;
  }
  case 6:
    warp_exchange<<<1, LANES>>>(in, out);
    break;
  case 7:
    scope_device<<<4, LANES>>>(word, other, out);
    break;
  case 8:
    neighbour_sum<<<4, BLOCK>>>(in, out, ITEMS);
    break;
  case 9:
    rotate<<<1, BLOCK>>>(in, out, LAST);
    break;
  case 10:
    own_word<<<4, 1>>>(out);
    break;
  case 11:
    shuffle_inside<<<1, LANES>>>((int *)out);
    break;
  case 12:
    warp_barrier<<<1, LANES>>>((int *)out);
    break;
  case 13:
    written_first<<<1, 64>>>(out);
    break;
  case 14:
    tiles<<<1, BLOCK>>>(in, out, TILES);
    break;
  default:
    return 2;
  }
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
}
