// Clusters, distributed shared memory, bulk copies, barrier objects with transaction counts (sm_90 and up).
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/ptx>
namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;

__global__ void __cluster_dims__(2, 1, 1) clusters(int *out) {
  __shared__ int mine[32];
  auto cluster = cg::this_cluster();
  mine[threadIdx.x] = threadIdx.x;
  cluster.sync();
  int *theirs = cluster.map_shared_rank(mine, cluster.block_rank() ^ 1);
  out[threadIdx.x] = theirs[31 - threadIdx.x] + cluster.num_blocks() + cluster.query_shared_rank(theirs);
  atomicAdd(&theirs[0], 1);
  auto token = cluster.barrier_arrive();
  cluster.barrier_wait(std::move(token));
}

__global__ void bulk(const int *in, int *out) {
  __shared__ alignas(128) int stage[256];
  __shared__ uint64_t bar;
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&bar, 1);
    ptx::fence_proxy_async(ptx::space_shared);
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, stage, in, sizeof stage, &bar);
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar, sizeof stage);
  }
  __syncthreads();
  while (!ptx::mbarrier_try_wait_parity(&bar, 0))
    ;
  ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (threadIdx.x == 0) {
    ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out, stage, sizeof stage);
    ptx::cp_reduce_async_bulk(ptx::space_global, ptx::space_shared, ptx::op_add, out, stage, sizeof stage);
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>{});
    ptx::cp_async_bulk_wait_group(ptx::n32_t<0>{});
  }
}

__global__ void remote(int *out) {
  __shared__ uint64_t bar;
  __shared__ int word;
  ptx::mbarrier_init(&bar, 1);
  ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  ptx::barrier_cluster_arrive(ptx::sem_release);
  ptx::barrier_cluster_wait(ptx::sem_acquire);
  int *there = cg::this_cluster().map_shared_rank(&word, 0);
  uint64_t *their_bar = cg::this_cluster().map_shared_rank(&bar, 0);
  ptx::st_async(there, 5, their_bar);
  ptx::red_async(ptx::op_inc, (uint32_t *)there, 9u, their_bar);
  ptx::mbarrier_arrive(ptx::sem_release, ptx::scope_cluster, ptx::space_cluster, their_bar);
  ptx::fence(ptx::sem_acq_rel, ptx::scope_cluster);
  unsigned elected, there32;
  asm volatile("{\n\t.reg .pred p;\n\telect.sync _|p, 0xffffffff;\n\tselp.u32 %0, 1, 0, p;\n\t}"
               : "=r"(elected));
  asm("mapa.shared::cluster.u32 %0, %1, %2;"
      : "=r"(there32)
      : "r"((unsigned)__cvta_generic_to_shared(&word)), "r"(1));
  if (elected + there32)
    out[0] = ptx::get_sreg_cluster_ctarank() + ptx::getctarank(ptx::space_cluster, there);
  asm volatile("griddepcontrol.wait;");
  asm volatile("griddepcontrol.launch_dependents;");
}
