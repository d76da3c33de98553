// block.cuh: cooperation of the threads of a block: barriers of all or of some warps, votes, broadcast,
// reductions, scans. Blocks of any shape and any number of threads.
//
//   mu_block_sync()                                 all threads
//   mu_block_sync_<or|and|count>(predicate)         the same with a vote, for no more time
//   mu_block_sync_part(id, threads)                 the warps that use barrier `id` (1 to 15): `threads` of
//                                                   them in all, a multiple of 32
//   mu_block_arrive_part(id, threads)               does not wait: for producers; consumers call
//                                                   mu_block_sync_part
//   mu_block_broadcast_<elem>(value, thread)        of the thread with that number
//   mu_block_reduce_<op>_<elem>(value)              in every thread; the same bits in every thread and run
//   mu_block_scan_incl_<op>_<elem>(value)           over threads 0 to mine, in the order of mu_thread()
//   mu_block_scan_excl_<op>_<elem>(value, first)    of `first` and threads 0 to mine - 1
//
// op and elem as in warp.cuh, 32 and 64 bits. A last tile that is not full: give the threads beyond its end
// the operation's neutral element, all of them have to call.
//
// Callers     all threads of the block (of the part), never inside a branch that some of them do not take.
// Order       every function is at least one barrier: what was written before in global or shared memory is
//             seen after by all threads of the block; an arrival only releases.
// Storage     8 bytes of static shared memory a warp, for all functions of one type together.
// Undefined   if a part's barrier is used by other warps at the same time, or by one warp twice before all
//             have come.
// Cost        a barrier 15 ns for 256 threads on an H200, 39 for 1,024; reduction and scan two of them and
//             the warp's own.
// Checked     barrier-divergence, barrier-count, barrier-exited
#ifndef MUSTER_BLOCK_CUH
#define MUSTER_BLOCK_CUH

#include "warp.cuh"

#if MU_DEVICE

MU_FN void mu_block_sync(void) {
  mu_bar_sync();
}
MU_FN mu_u32 mu_block_sync_or(mu_u32 predicate) {
  return mu_bar_or(predicate);
}
MU_FN mu_u32 mu_block_sync_and(mu_u32 predicate) {
  return mu_bar_and(predicate);
}
MU_FN mu_u32 mu_block_sync_count(mu_u32 predicate) {
  return mu_bar_count(predicate);
}
MU_FN void mu_block_sync_part(mu_u32 id, mu_u32 threads) {
  mu_bar_sync_part(id, threads);
}
MU_FN void mu_block_arrive_part(mu_u32 id, mu_u32 threads) {
  mu_bar_arrive_part(id, threads);
}

// A word a warp, for the values that go from warp to warp. Its first barrier lets the last use of it end, its
// second shows the values.
MU_OWN mu_u64 *mu_block_words(void) {
  MU_SHARED mu_u64 words[32];
  return (mu_u64 *)words;
}

#define MU_CARRIER_u32(x) ((mu_u32)(x))
#define MU_CARRIER_s32(x) ((mu_u32)(x))
#define MU_CARRIER_f32(x) ((mu_u32)(x))
#define MU_CARRIER_u64(x) (x)
#define MU_CARRIER_s64(x) (x)
#define MU_CARRIER_f64(x) (x)
#define MU_BLOCK_WORD(elem, i) MU_UNPACK_##elem(MU_CARRIER_##elem(words[i]))

// The warps' results meet in shared memory, and every thread goes through them in the same order: with one
// word read by all at once that is as fast as a tree of shuffles, and spares a third barrier.
#define MU_BLOCK_REDUCE(op, elem)                                   \
  MU_FN mu_##elem mu_block_reduce_##op##_##elem(mu_##elem value) {  \
    mu_u64 *words = mu_block_words();                               \
    mu_tile warp = mu_tile_warp();                                  \
    mu_u32 warps = mu_block_warps();                                \
    value = mu_tile_reduce_##op##_##elem(&warp, value);             \
    mu_bar_sync();                                                  \
    if (warp.rank == 0)                                             \
      words[mu_warp()] = MU_PACK_##elem(value);                     \
    mu_bar_sync();                                                  \
    value = MU_BLOCK_WORD(elem, 0);                                 \
    for (mu_u32 i = 1; i < warps; i++)                              \
      value = mu_pure_##op##_##elem(value, MU_BLOCK_WORD(elem, i)); \
    return value;                                                   \
  }
#define MU_BLOCK_SCAN(op, elem)                                                        \
  MU_FN mu_##elem mu_block_scan_incl_##op##_##elem(mu_##elem value) {                  \
    mu_u64 *words = mu_block_words();                                                  \
    mu_tile warp = mu_tile_warp();                                                     \
    mu_u32 me = mu_warp();                                                             \
    value = mu_tile_scan_incl_##op##_##elem(&warp, value);                             \
    mu_bar_sync();                                                                     \
    if (warp.rank == warp.size - 1)                                                    \
      words[me] = MU_PACK_##elem(value);                                               \
    mu_bar_sync();                                                                     \
    if (me) {                                                                          \
      mu_##elem before = MU_BLOCK_WORD(elem, 0);                                       \
      for (mu_u32 i = 1; i < me; i++)                                                  \
        before = mu_pure_##op##_##elem(before, MU_BLOCK_WORD(elem, i));                \
      value = mu_pure_##op##_##elem(before, value);                                    \
    }                                                                                  \
    return value;                                                                      \
  }                                                                                    \
  MU_FN mu_##elem mu_block_scan_excl_##op##_##elem(mu_##elem value, mu_##elem first) { \
    mu_u64 *words = mu_block_words();                                                  \
    mu_tile warp = mu_tile_warp();                                                     \
    mu_u32 me = mu_warp();                                                             \
    mu_##elem incl = mu_tile_scan_incl_##op##_##elem(&warp, value), before = first;    \
    value = mu_tile_shuffle_up_##elem(&warp, incl, 1);                                 \
    mu_bar_sync();                                                                     \
    if (warp.rank == warp.size - 1)                                                    \
      words[me] = MU_PACK_##elem(incl);                                                \
    mu_bar_sync();                                                                     \
    for (mu_u32 i = 0; i < me; i++)                                                    \
      before = mu_pure_##op##_##elem(before, MU_BLOCK_WORD(elem, i));                  \
    return warp.rank ? mu_pure_##op##_##elem(before, value) : before;                  \
  }
#define MU_BLOCK_OP(op, elem) MU_BLOCK_REDUCE(op, elem) MU_BLOCK_SCAN(op, elem)
#define MU_BLOCK_BROADCAST(elem)                                              \
  MU_FN mu_##elem mu_block_broadcast_##elem(mu_##elem value, mu_u32 thread) { \
    mu_u64 *words = mu_block_words();                                         \
    mu_bar_sync();                                                            \
    if (mu_thread() == thread)                                                \
      words[0] = MU_PACK_##elem(value);                                       \
    mu_bar_sync();                                                            \
    return MU_BLOCK_WORD(elem, 0);                                            \
  }
#define MU_BLOCK_ELEM(elem) \
  MU_BLOCK_OP(add, elem)    \
  MU_BLOCK_OP(mul, elem) MU_BLOCK_OP(min, elem) MU_BLOCK_OP(max, elem) MU_BLOCK_BROADCAST(elem)
#define MU_BLOCK_LOGIC(elem) MU_BLOCK_OP(and, elem) MU_BLOCK_OP(or, elem) MU_BLOCK_OP(xor, elem)
MU_BLOCK_ELEM(u32)
MU_BLOCK_ELEM(s32)
MU_BLOCK_ELEM(u64)
MU_BLOCK_ELEM(s64)
MU_BLOCK_ELEM(f32)
MU_BLOCK_ELEM(f64)
MU_BLOCK_LOGIC(u32)
MU_BLOCK_LOGIC(u64)

#endif
#endif
