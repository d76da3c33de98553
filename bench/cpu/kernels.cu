// kernels.cu: what the speed of the CPU device is measured with. C: nvcc takes it, and clang for nvptx64 with
// no CUDA header. opencl.cl and native.c hold the same three memory-bound kernels for the others of the
// table.
#if defined(__NVPTX__) && !defined(__CUDA__)
#include "../../examples/common/cuda_c.h"
#define KERNEL __global__ void
#else
#define KERNEL extern "C" __global__ void
#endif

// Converged, bound by arithmetic: four chains of 256 fused multiply-adds a thread.
KERNEL fma_chains(float *out, float x, float y) {
  float a = threadIdx.x, b = a + 1, c = a + 2, d = a + 3;
  for (int i = 0; i < 256; i++) {
    a = a * x + y;
    b = b * x + y;
    c = c * x + y;
    d = d * x + y;
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = a + b + c + d;
}

// Converged, bound by memory.
KERNEL vector_add(float *sum, const float *a, const float *b, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    sum[i] = a[i] + b[i];
}

KERNEL dot(float *parts, const float *a, const float *b, int n) {
  __shared__ float cache[256];
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    sum += a[i] * b[i];
  cache[threadIdx.x] = sum;
  __syncthreads();
  for (int half = blockDim.x / 2; half; half /= 2) {
    if (threadIdx.x < half)
      cache[threadIdx.x] += cache[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0)
    parts[blockIdx.x] = cache[0];
}

KERNEL histogram(unsigned *bins, const unsigned char *items, int n) {
  __shared__ unsigned own[256];
  own[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&own[items[i]], 1u);
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}

// Inclusive prefix sums in one launch: each block scans its part, 256 elements at a time, and then waits for
// the sum of the blocks before it. `chain` has two words a block, a sum and a flag, all 0.
KERNEL scan(float *sums, const float *a, float *chain, int n) {
  __shared__ float warps[32];
  __shared__ float before;
  int part = n / gridDim.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  float carry = 0;
  for (int i = blockIdx.x * part + threadIdx.x; i < (int)(blockIdx.x + 1) * part; i += blockDim.x) {
    float value = a[i];
    for (int step = 1; step < 32; step *= 2) {
      float other = __shfl_up_sync(0xffffffffu, value, step);
      value += lane >= step ? other : 0;
    }
    if (lane == 31)
      warps[warp] = value;
    __syncthreads();
    float total = 0, mine = 0;
    for (int w = 0; w < (int)blockDim.x / 32; w++) {
      mine = w == warp ? total : mine;
      total += warps[w];
    }
    sums[i] = carry + mine + value;
    carry += total;
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    before = 0;
    if (blockIdx.x > 0) {
      while (atomicAdd((unsigned *)&chain[2 * blockIdx.x - 1], 0u) == 0)
        ;
      __threadfence();
      before = chain[2 * blockIdx.x - 2];
    }
    chain[2 * blockIdx.x] = before + carry;
    __threadfence();
    atomicExch((unsigned *)&chain[2 * blockIdx.x + 1], 1u);
  }
  __syncthreads();
  for (int i = blockIdx.x * part + threadIdx.x; i < (int)(blockIdx.x + 1) * part; i += blockDim.x)
    sums[i] += before;
}

// Barriers of the whole grid, one counter for all of them: each thread hands a number to a thread of the next
// block.
KERNEL grid_barriers(unsigned *count, unsigned *numbers, unsigned rounds) {
  unsigned n = gridDim.x * blockDim.x, me = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
  for (unsigned round = 1; round <= rounds; round++) {
    numbers[n * (round % 2) + me] = round;
    __syncthreads();
    if (threadIdx.x == 0) {
      __threadfence();
      atomicAdd(count, 1u);
      while (atomicAdd(count, 0u) < round * gridDim.x)
        ;
      __threadfence();
    }
    __syncthreads();
    sum += numbers[n * (round % 2) + (me + blockDim.x) % n];
  }
  if (sum != rounds * (rounds + 1) / 2)
    asm volatile("trap;");
}

// Divergent: lanes leave the loop after unequal numbers of steps and part in every one.
KERNEL collatz(unsigned *steps) {
  unsigned me = blockIdx.x * blockDim.x + threadIdx.x, value = me + 1, count = 0;
  while (value != 1) {
    if (value & 1)
      value = 3 * value + 1;
    else
      value >>= 1;
    count++;
  }
  steps[me] = count;
}

// One live lane a warp.
KERNEL one_lane(unsigned *out, unsigned rounds) {
  unsigned value = blockIdx.x;
  if (threadIdx.x % 32 != 0)
    return;
  for (unsigned i = 0; i < rounds; i++)
    value = value * 1664525u + (value >> 16) + i;
  out[(blockIdx.x * blockDim.x + threadIdx.x) / 32] = value;
}
