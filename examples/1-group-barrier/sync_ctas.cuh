// sync_ctas.cuh: a barrier over a group of thread blocks, for any GPU that can keep the group resident.
// Drop-in for the published header of this name: same call, same barrier word, the faults gone.
//
//   sync_ctas(bar)   A group is all blocks with the same blockIdx.y: gridDim.x * gridDim.z of them.
//
// Who      All threads of all blocks of the group, equally often, and never inside a branch that only some
//          threads of a block take: the block's own barrier (__syncthreads) is part of it.
// Order    Whatever any thread of the group did before its call is visible to every thread of the group after
//          its call (release and acquire at device scope; shared memory within each block as well).
// Storage  *bar is one word a group in global memory, zeroed by the host before its first use and written by
//          nobody else. It is never reset: its top bit changes with every barrier, so it serves any number
//          of barriers and launches. Give each group a 128-byte line of its own: bar = words +
//          SYNC_CTAS_LINE * blockIdx.y. (Words side by side work too, slower.)
// Resident All blocks of the group must run at once. A cooperative launch guarantees it, or fails.
// Cost     One atomic a block and a wait of two trips to L2.
//
// No CUDA header is needed. As plain C (clang, nvptx64) include ../common/cuda_c.h first.
#ifndef SYNC_CTAS_CUH
#define SYNC_CTAS_CUH

#define SYNC_CTAS_LINE 32 // words in 128 bytes

// 1: release and acquire instructions (compute capability 7.0 on). 0: fences around plain atomics. Set by
// hand for a compiler that does not define __CUDA_ARCH__ and a target before 7.0.
#ifndef SYNC_CTAS_ORDERED
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 700
#define SYNC_CTAS_ORDERED 0
#else
#define SYNC_CTAS_ORDERED 1
#endif
#endif

__device__ static inline void sync_ctas(unsigned *bar) {
  // The arrival below speaks for the whole block, so the whole block must have come this far.
  __syncthreads();

  if ((threadIdx.x | threadIdx.y | threadIdx.z) == 0) {
    // All arrivals of one barrier add up to 2^31: the last one, whichever it is, flips the top bit.
    const unsigned top = 0x80000000u, others = gridDim.x * gridDim.z - 1;
    const unsigned share = (blockIdx.x | blockIdx.z) == 0 ? top - others : 1;
    unsigned before, now;
#if SYNC_CTAS_ORDERED
    __asm__ volatile("atom.release.gpu.add.u32 %0, [%1], %2;"
                     : "=r"(before)
                     : "l"(bar), "r"(share)
                     : "memory");
    // Acquiring in every poll would empty the L1 cache each time. One acquire after the flip is enough: the
    // next flip waits for this block, so it reads the same top bit, through the same chain of atomics.
    do
      __asm__ volatile("ld.relaxed.gpu.u32 %0, [%1];" : "=r"(now) : "l"(bar) : "memory");
    while (((before ^ now) & top) == 0);
    __asm__ volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(now) : "l"(bar) : "memory");
#else
    __threadfence();
    before = atomicAdd(bar, share);
    do
      now = *(volatile unsigned *)bar;
    while (((before ^ now) & top) == 0);
    __threadfence();
#endif
  }

  // Nobody leaves before thread 0 has seen the flip; its acquire then counts for the block.
  __syncthreads();
}

#endif
