// handoff.cuh: from compute capability 8.0 on, how warps of a block hand memory to each other without a
// barrier of the block: barrier objects in shared memory, and copies into it that go on by themselves.
//
// A barrier object counts arrivals; when as many as it was made for have come, its phase is over and the next
// begins. Phases are told apart by their parity: a waiter must not be two of them behind.
#ifndef MUSTER_OPS_HANDOFF_CUH
#define MUSTER_OPS_HANDOFF_CUH

#include "vector.cuh"

#define HAS_HANDOFF (MU_ARCH >= 800)
#define HAS_BULK_COPY (MU_ARCH >= 900) // one thread copies any number of bytes

#if HAS_HANDOFF

MU_FN mu_u32 shared_at(const void *address) {
  return (mu_u32)mu_to_shared(address);
}

MU_FN void handoff_init(mu_u64 *barrier, mu_u32 arrivals) {
  MU_ASM volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(shared_at(barrier)), "r"(arrivals) : "memory");
}
// What this thread wrote before is seen by those who waited for the phase.
MU_FN void handoff_arrive(mu_u64 *barrier) {
  MU_ASM volatile(
      "{.reg .b64 phase; mbarrier.arrive.shared.b64 phase, [%0];}" ::"r"(shared_at(barrier)) : "memory");
}
// The same for a warp and what all its lanes wrote or read.
MU_FN void handoff_arrive_warp(const mu_tile *warp, mu_u64 *barrier) {
  mu_tile_sync(warp);
  if (mu_tile_leads(warp))
    handoff_arrive(barrier);
}
MU_FN mu_u32 handoff_test(mu_u64 *barrier, mu_u32 parity) {
  mu_u32 over;
#if MU_ARCH >= 900
  MU_ASM volatile(
      "{.reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}" : "=r"(
          over) : "r"(shared_at(barrier)),
      "r"(parity) : "memory");
#else
  MU_ASM volatile(
      "{.reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}" : "=r"(
          over) : "r"(shared_at(barrier)),
      "r"(parity) : "memory");
#endif
  return over;
}
MU_FN void handoff_wait(mu_u64 *barrier, mu_u32 parity) {
  while (!handoff_test(barrier, parity)) {
  }
}

// Copies of a warp: `vectors` of them, a multiple of 256, from global to shared memory. The phase of
// `barrier` is over when they are there; it is made for HANDOFF_COPY_ARRIVALS. With none the warp arrives,
// that is all. What other threads of the block did to the place before, they have handed to this warp.
#if HAS_BULK_COPY
enum { HANDOFF_COPY_ARRIVALS = 1 };
MU_FN void handoff_copy(const mu_tile *warp, mu_b128 *to, const void *from, mu_u32 vectors, mu_u64 *barrier) {
  if (!mu_tile_leads(warp))
    return;
  MU_ASM volatile(
      "{.reg .b64 phase; mbarrier.arrive.expect_tx.shared.b64 phase, [%0], %1;}" ::"r"(shared_at(barrier)),
      "r"(vectors * 16) : "memory");
  if (vectors) {
    MU_ASM volatile("fence.proxy.async.shared::cta;" :: : "memory"); // those others used ordinary accesses
    MU_ASM volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
            shared_at(to)),
        "l"(mu_to_global(from)), "r"(vectors * 16), "r"(shared_at(barrier)) : "memory");
  }
}
#else
enum { HANDOFF_COPY_ARRIVALS = 32 + 1 }; // a lane's copies, which release nothing else; and what came before
MU_FN void handoff_copy(const mu_tile *warp, mu_b128 *to, const void *from, mu_u32 vectors, mu_u64 *barrier) {
  mu_u64 at = mu_to_global(from);
  MU_ROLLED for (mu_u32 i = warp->rank; i < vectors; i += 256)
      _Pragma("unroll") for (mu_u32 k = 0; k < 8; k++)
          MU_ASM volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_at(to + i + k * 32)),
                          "l"(at + (i + k * 32) * 16ull) : "memory");
  MU_ASM volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(shared_at(barrier)) : "memory");
  handoff_arrive_warp(warp, barrier);
}
#endif

// Where a ring of places stands that are used one after the other, and the parity of that use.
typedef struct {
  mu_u32 place, parity;
} ring_cursor;
MU_FN void ring_next(ring_cursor *at, mu_u32 places) {
  if (++at->place == places) {
    at->place = 0;
    at->parity ^= 1;
  }
}

#endif
#endif
