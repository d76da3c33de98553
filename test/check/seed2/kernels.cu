// kernels NAME: every piece of code that the second seed prints, in a host of its own. What is printed comes
// from the document (printed.sh); around a piece that is no function stands the kernel that it needs. Names
// and what is to be found: list.txt.
#include "../check.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

enum { THREADS = 256, BLOCKS = 4, ITEMS = 1000, MAX_ARRAY_LEN = 4 };

#include "stencil.inc"
#include "add_double.inc"
#include "hierarchical.inc"
#include "histogram_naive.inc"
#include "histogram_shared.inc"
#include "histogram_private.inc"
#include "aggregate.inc"
#include "groups.inc"
#include "group_sum.inc"
#include "group_kernel.inc"
#include "grid.inc"

// The sum of a block, which the document leaves to the reader; thread 0 has it.
__device__ float block_level_reduce(const float *in, int n) {
  __shared__ float cell[THREADS];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  cell[t] = i < n ? in[i] : 0;
  for (int half = THREADS / 2; half > 0; half /= 2) {
    __syncthreads();
    if (t < half)
      cell[t] += cell[t + half];
  }
  return cell[0];
}
#include "multi_block.inc"

// A barrier in a branch: with code behind it, and as the last thing of the kernel.
__global__ void branch_then_code(float *out) {
#include "branch_wrong.inc"
  out[threadIdx.x] = 1;
}

__global__ void branch_then_end() {
#include "branch_wrong.inc"
}

__global__ void branch_right(float *out) {
#include "branch_right.inc"
  out[threadIdx.x] = 1;
}

// A barrier in a loop of unequal length, the same two, and the right form.
__global__ void loop_then_code(const int *array_len, const float *data, float *out) {
  __shared__ float smem[THREADS];
#include "loop_wrong.inc"
  out[threadIdx.x] = smem[threadIdx.x];
}

__global__ void loop_then_end(const int *array_len, const float *data) {
  __shared__ float smem[THREADS];
#include "loop_wrong.inc"
}

__global__ void loop_right(const int *array_len, const float *data, float *out) {
  __shared__ float smem[THREADS];
#include "loop_right.inc"
  out[threadIdx.x] = smem[threadIdx.x];
}

// Two lanes exchange a value. The document prints the array with the wrong form only.
__global__ void exchange_wrong(const float *in, float *out) {
  __shared__ float smem[THREADS];
  float value = in[threadIdx.x];
#include "exchange_wrong.inc"
  out[threadIdx.x] = neighbor;
}

__global__ void exchange_right(const float *in, float *out) {
  __shared__ float smem[THREADS];
  float value = in[threadIdx.x];
#include "exchange_right.inc"
  out[threadIdx.x] = neighbor;
}

__global__ void count_wrong(int *word) {
  int &counter = *word;
#include "counter_wrong.inc"
}

__global__ void count_right(int *word) {
  int &counter = *word;
#include "counter_right.inc"
}

__global__ void sum_double(double *sum) {
  atomicAddDouble(sum, threadIdx.x);
}

// The aggregated increment where some lanes call it: what it is for.
__global__ void keep_odd(const int *in, int *kept, int *counter) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (in[i] % 2)
    kept[atomicAggInc(counter)] = in[i];
}

// The same with the mask taken before the branch: it names lanes that never shuffle.
__global__ void keep_odd_early_mask(const int *in, int *kept, int *counter) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
  unsigned active = __activemask();
  if (in[i] % 2) {
    unsigned odd = __activemask();
    int first = 0;
    if (lane == __ffs(odd) - 1)
      first = atomicAdd(counter, __popc(odd));
    first = __shfl_sync(active, first, __ffs(odd) - 1);
    kept[first + __popc(odd & ((1u << lane) - 1))] = in[i];
  }
  __syncwarp();
  kept[ITEMS + i] = in[i];
}

int main(int argc, char **argv) {
  const char *name = argc > 1 ? argv[1] : "";
  float *in = device_zeros<float>(ITEMS), *out = device_zeros<float>(ITEMS);
  float *partial = device_zeros<float>(BLOCKS);
  int *numbers = (int *)device_numbers(2 * ITEMS), *bins = device_zeros<int>(2 * ITEMS);
  int *kept = device_zeros<int>(4 * ITEMS), *word = device_zeros<int>(1), n = ITEMS;
  double *sum = device_zeros<double>(1);
  int lengths[THREADS], kinds[THREADS];
  for (int i = 0; i < THREADS; i++) {
    kinds[i] = i % MAX_ARRAY_LEN;
    lengths[i] = kinds[i] + 1;
  }
  int *array_len = device_zeros<int>(THREADS), *few = device_zeros<int>(THREADS);
  CHECK(cudaMemcpy(array_len, lengths, sizeof lengths, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(few, kinds, sizeof kinds, cudaMemcpyHostToDevice));
  void *arguments[] = {&in, &n};

#define CASE(word, launch)        \
  else if (!strcmp(name, word)) { \
    launch;                       \
  }
  if (!*name)
    return 2;
  CASE("stencil", (shared_memory_example<<<BLOCKS, THREADS>>>(in, out, n)))
  CASE("branch_then_code", (branch_then_code<<<1, THREADS>>>(out)))
  CASE("branch_then_end", (branch_then_end<<<1, THREADS>>>()))
  CASE("branch_right", (branch_right<<<1, THREADS>>>(out)))
  CASE("loop_then_code", (loop_then_code<<<1, THREADS>>>(array_len, in, out)))
  CASE("loop_then_end", (loop_then_end<<<1, THREADS>>>(array_len, in)))
  CASE("loop_right", (loop_right<<<1, THREADS>>>(array_len, in, out)))
  CASE("exchange_wrong", (exchange_wrong<<<1, THREADS>>>(in, out)))
  CASE("exchange_right", (exchange_right<<<1, THREADS>>>(in, out)))
  CASE("multi_block", (multi_block_reduce<<<BLOCKS, THREADS>>>(in, out, partial, n)))
  CASE("count_wrong", (count_wrong<<<BLOCKS, THREADS>>>(word)))
  CASE("count_right", (count_right<<<BLOCKS, THREADS>>>(word)))
  CASE("sum_double", (sum_double<<<BLOCKS, THREADS>>>(sum)))
  CASE("hierarchical", (hierarchical_reduce<<<BLOCKS, THREADS>>>(in, out, n)))
  CASE("histogram_naive", (histogram_naive<<<BLOCKS, THREADS>>>(numbers, bins, n)))
  CASE("histogram_shared", (histogram_shared<<<1, THREADS>>>(numbers, bins, THREADS - 1, THREADS)))
  CASE("histogram_private", (privatized_histogram<<<BLOCKS, THREADS>>>(few, bins, THREADS)))
  CASE("aggregate", (keep_odd<<<BLOCKS, THREADS>>>(numbers, kept, word)))
  CASE("aggregate_early_mask", (keep_odd_early_mask<<<BLOCKS, THREADS>>>(numbers, kept, word)))
  CASE("groups", (cg_example<<<BLOCKS, THREADS>>>()))
  CASE("group_kernel", (cg_kernel<<<BLOCKS, THREADS>>>(in, out, n)))
  CASE("grid", CHECK(cudaLaunchCooperativeKernel(grid_sync_kernel, BLOCKS, THREADS, arguments)))
  else return 2;
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
}
