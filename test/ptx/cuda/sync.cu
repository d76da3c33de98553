// Everything that makes threads meet, up to sm_80.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda/atomic>
#include <cuda/barrier>
namespace cg = cooperative_groups;
#pragma nv_diag_suppress static_var_with_dynamic_init

__device__ unsigned counter;

__global__ void block_barriers(int *out) {
  __shared__ int tile[256];
  tile[threadIdx.x] = out[threadIdx.x];
  __syncthreads();
  int n = __syncthreads_count(tile[threadIdx.x] > 0);
  int all = __syncthreads_and(tile[threadIdx.x] > 1), any = __syncthreads_or(tile[threadIdx.x] > 2);
  asm volatile("barrier.sync 1, 128;" ::: "memory");
  asm volatile("bar.arrive 2, 64;" ::: "memory");
  __threadfence_block();
  __threadfence();
  __threadfence_system();
  out[threadIdx.x] = n + all + any;
}

__global__ void warps(int *out) {
  unsigned mask = __activemask();
  int v = out[threadIdx.x];
  v += __shfl_sync(mask, v, 0) + __shfl_up_sync(mask, v, 1) + __shfl_down_sync(mask, v, 2) +
       __shfl_xor_sync(mask, v, 4);
  v += __any_sync(mask, v) + __all_sync(mask, v) + __ballot_sync(mask, v) + __popc(mask) + __ffs(v) +
       __clz(v) + __brev(v);
  __syncwarp(mask);
#if __CUDA_ARCH__ >= 700
  int pred;
  v += __match_any_sync(mask, v) + __match_all_sync(mask, v, &pred);
#endif
#if __CUDA_ARCH__ >= 800
  v += __reduce_add_sync(mask, v) + __reduce_max_sync(mask, v) + __reduce_xor_sync(mask, (unsigned)v);
#endif
  __nanosleep(20);
  out[threadIdx.x] = v + (int)clock() + (int)clock64();
}

__global__ void atomics(unsigned *u, int *i, unsigned long long *l, float *f, double *d) {
  atomicAdd(u, 1u), atomicSub(u, 2u), atomicMin(u, 3u), atomicMax(i, -4), atomicInc(u, 5u), atomicDec(u, 6u);
  atomicExch(f, 1.0f), atomicAnd(u, 7u), atomicOr(l, 8ull), atomicXor(u, 9u), atomicAdd(f, 1.0f),
      atomicAdd(d, 1.0);
  atomicAdd_block(u, 1u), atomicAdd_system(u, 1u), atomicCAS(l, 1ull, 2ull), atomicMax(l, 3ull);
  unsigned short s = 1;
  atomicCAS((unsigned short *)u, s, s);
  cuda::atomic_ref<unsigned, cuda::thread_scope_block> block(*u);
  block.fetch_add(1, cuda::memory_order_acq_rel);
  cuda::atomic_ref<unsigned, cuda::thread_scope_device> device(*u);
  device.store(1, cuda::memory_order_release);
  *i = (int)device.load(cuda::memory_order_acquire);
  cuda::atomic_ref<unsigned long long, cuda::thread_scope_system> sys(*l);
  unsigned long long expected = 0;
  sys.compare_exchange_strong(expected, 1, cuda::memory_order_seq_cst);
  cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_device);
  cuda::atomic_thread_fence(cuda::memory_order_release, cuda::thread_scope_block);
}

__global__ void groups(int *out) {
  auto grid = cg::this_grid();
  auto block = cg::this_thread_block();
  auto tile = cg::tiled_partition<16>(block);
  auto active = cg::coalesced_threads();
  int v = cg::reduce(tile, (int)threadIdx.x, cg::plus<int>()) + active.size() + tile.shfl_xor(v = 1, 1);
  block.sync();
  grid.sync();
  out[grid.thread_rank()] = v;
}

__global__ void pipelines(const int4 *in, int *out) {
  __shared__ int4 stage[64];
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  if (threadIdx.x == 0)
    init(&bar, blockDim.x);
  __syncthreads();
  cuda::memcpy_async(&stage[threadIdx.x], &in[threadIdx.x], sizeof(int4), bar);
  auto token = bar.arrive();
  bar.wait(std::move(token));
  bar.arrive_and_wait();
  out[threadIdx.x] = stage[63 - threadIdx.x].x;
}

__global__ void last_block(float *data, float *result) {
  __shared__ bool last;
  data[blockIdx.x] = 1.0f;
  __threadfence();
  if (threadIdx.x == 0)
    last = atomicInc(&counter, gridDim.x) == gridDim.x - 1;
  __syncthreads();
  if (last && threadIdx.x == 0) {
    volatile float *v = data;
    float sum = 0;
    for (unsigned b = 0; b < gridDim.x; b++)
      sum += v[b];
    *result = sum;
  }
}
