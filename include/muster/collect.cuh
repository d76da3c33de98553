// collect.cuh: values across a group of blocks, and small things that blocks share: tickets, locks,
// semaphores, sequence locks, pieces of histograms.
//
//   mu_collect_reduce_<op>_<elem>(b, value, &result)              over all blocks; every thread gets it
//   mu_collect_scan_incl_<op>_<elem>(b, value, &result)           over ranks 0 to mine
//   mu_collect_scan_excl_<op>_<elem>(b, value, first, &result)    of `first` and ranks 0 to mine - 1
//   mu_collect_broadcast_<elem>(b, value, rank, &result)          of the block with that rank
//   mu_collect_gather_<elem>(b, value, out)                       out[rank] for all ranks, a copy a block
//
// op: add mul min max, and or xor for unsigned; elem: u32 s32 f32 u64 s64 f64. One value a block, that of the
// part's first thread; a block's own reduction (block.cuh) comes before. A sum of 32-bit integers rides in
// the arrivals of a barrier, here of one that orders nothing (mu_barrier_sync_add_relaxed_u32); where memory
// has to be ordered too, mu_barrier_sync_add_u32 costs no more than the barrier alone.
//
// Any other value travels with the number of its turn in one 64-bit word: whoever reads the word with the
// right number has the value, so there is no fence and no barrier. Two sets of words take turns; nobody is
// ever more than one turn ahead, since a turn ends only when all have written. In small groups every block
// reads every word; in larger ones that would be too many reads, so the block of rank 0 reads them all,
// reduces, and the others read the result.
//
// Callers     as in barrier.cuh: all threads of the block or part, all blocks, in the same order. b is open.
// Order       none between blocks beyond the value itself: what else a block wrote needs a barrier. Within
//             the block as a block barrier.
// Storage     the slot's own; 8 bytes of shared memory a part.
// Progress    as barrier.cuh; deadlines and poison too.
// Returns     MU_OK or why not. Results are the same bits in every block, thread and run.
// Cost        one way to the second-level cache and back, two for reductions in larger groups: less than a
//             barrier (bench/README.md).
// Undefined   if a member has left (mu_barrier_arrive_and_drop); for hardware clusters (MU_MISMATCH).
#ifndef MUSTER_COLLECT_CUH
#define MUSTER_COLLECT_CUH

#include "barrier.cuh"
#include "block.cuh"

#if MU_DEVICE

enum {
  MU_CELLS_AT_ONCE = 5, // looks on their way in each lane: 160 blocks in one go
  MU_EACH_READS = 100, // up to so many blocks every one reads the values of all (H200: 1,067 against 1,495 ns
                       // at 64, 1,577 against 1,489 at 132)
};

// Only to be read by the threads of the part, between its barriers.
MU_OWN mu_u64 *mu_collect_words(void) {
  MU_SHARED mu_u64 words[16];
  return (mu_u64 *)words;
}

// The members whose word does not show this turn yet; if all do, rank 0, which owes the result. Poisons the
// group for them.
MU_OWN void mu_collect_blame(mu_barrier *b, const mu_u64 *cells) {
  mu_slot *slot = b->slot;
  mu_u32 missing = 0, first = MU_NOBODY;
  mu_barrier_mark(slot);
  MU_ROLLED for (mu_u32 i = b->blocks; i-- > 0;) {
    if ((mu_u32)mu_global_load_relaxed_system_u64(cells + i) != b->turn) {
      missing++;
      first = i;
    }
  }
  mu_global_store_relaxed_system_u32(&slot->error_rank, b->rank);
  mu_global_store_relaxed_system_u32(&slot->missing_count, missing ? missing : 1);
  mu_global_store_relaxed_system_u32(&slot->missing_rank, missing ? first : 0);
  mu_global_store_relaxed_system_u64(&slot->error_epoch, b->epoch);
  mu_global_store_release_system_u32(&slot->error, MU_TIMEOUT);
}

// What waiting lanes do now and then: rest, show themselves, learn of poison, give up when their time is
// over. LANES of the warp are in it together. Returns why to stop, or MU_OK to look again.
MU_COLD mu_status mu_collect_doubt(mu_wait wait, mu_u32 turn, mu_u32 lanes, mu_u64 start_ns) {
  mu_barrier b = mu_barrier_recall(&wait);
  b.turn = turn;
  mu_tile together = mu_tile_mask(lanes);
  mu_rest_ns(500);
  mu_barrier_show(&b);
  if (mu_tile_any(&together, (mu_barrier_load(&b, b.look) & MU_POISON) != 0))
    return MU_POISONED;
  if (!mu_tile_any(&together, mu_time_ns() - start_ns >= b.timeout_ns))
    return MU_OK;
  if (b.lane == 0)
    mu_collect_blame(&b, mu_slot_cells(b.slot, b.blocks, b.turn));
  return MU_TIMEOUT;
}

// A value as two words of this turn, or as one if its high half is 0 for certain.
MU_OWN void mu_collect_write(const mu_barrier *b, mu_u64 *low_word, mu_u64 *high_word, mu_u64 value,
                             mu_u32 wide) {
  mu_u64 low = value << 32 | b->turn, high = (value & 0xffffffff00000000ull) | b->turn;
  if (b->system) {
    mu_global_store_relaxed_system_u64(low_word, low);
    if (wide)
      mu_global_store_relaxed_system_u64(high_word, high);
  } else {
    mu_global_store_relaxed_device_u64(low_word, low);
    if (wide)
      mu_global_store_relaxed_device_u64(high_word, high);
  }
}

// Begins a turn: the first thread puts this block's value where all can see it.
MU_OWN void mu_collect_put(mu_barrier *b, mu_u64 value, mu_u32 wide) {
  b->turn++;
  mu_barrier_converge(b);
  if (b->lane == 0) {
    mu_u64 *cell = mu_slot_cells(b->slot, b->blocks, b->turn) + b->rank;
    mu_collect_write(b, cell, cell + b->blocks, value, wide);
  }
}

// The first thread: waits for the result of this turn.
MU_OWN mu_status mu_collect_hear(mu_barrier *b, mu_u32 wide, mu_u64 *value) {
  mu_u64 start_ns = 0;
  mu_u32 looks = 1;
  mu_barrier_pause(mu_barrier_patience(b));
  for (;; looks++) {
    mu_u64 low = mu_barrier_load(b, b->slot->results), high = b->turn;
    if (wide)
      high = mu_barrier_load(b, b->slot->results + 1);
    if ((mu_u32)low == b->turn && (mu_u32)high == b->turn) {
      mu_barrier_learn(b, looks);
      *value = (high & 0xffffffff00000000ull) | low >> 32;
      return MU_OK;
    }
    if (MU_SELDOM(looks % MU_LOOKS_TRUST == 0)) {
      if (!start_ns)
        start_ns = mu_time_ns();
      mu_status status = mu_collect_doubt(mu_barrier_park(b), b->turn, 1u << mu_lane(), start_ns);
      if (status)
        return status;
    }
  }
}

// The part's first warp: waits for the words of ranks from + lane, + 32, ... and returns their high halves in
// got. All lanes of the warp stay together.
MU_OWN mu_status mu_collect_take(mu_barrier *b, const mu_tile *warp, const mu_u64 *cells, mu_u32 from,
                                 mu_u64 *start_ns, mu_u32 got[MU_CELLS_AT_ONCE]) {
  for (mu_u32 looks = 1;; looks++) {
    mu_u32 late = 0;
    mu_u64 seen[MU_CELLS_AT_ONCE];
    _Pragma("unroll") for (int i = 0; i < MU_CELLS_AT_ONCE; i++) {
      mu_u32 at = from + b->lane + (mu_u32)i * warp->size;
      seen[i] = at < b->blocks ? mu_barrier_load(b, cells + at) : b->turn;
    }
    _Pragma("unroll") for (int i = 0; i < MU_CELLS_AT_ONCE; i++) {
      late |= (mu_u32)seen[i] ^ b->turn;
      got[i] = (mu_u32)(seen[i] >> 32);
    }
    if (!mu_tile_any(warp, late))
      return MU_OK;
    if (MU_SELDOM(looks % MU_LOOKS_TRUST == 0)) {
      if (!*start_ns)
        *start_ns = mu_time_ns();
      mu_status status = mu_collect_doubt(mu_barrier_park(b), b->turn, warp->mask, *start_ns);
      if (status)
        return status;
    }
  }
}

MU_OWN mu_tile mu_collect_warp(const mu_barrier *b) {
  mu_u32 threads = b->part ? b->part_threads : mu_block_threads();
  return mu_tile_mask(threads < 32 ? (1u << threads) - 1 : 0xffffffffu);
}

// Whether cells hold one half or two.
#define MU_WIDE_u32 0
#define MU_WIDE_s32 0
#define MU_WIDE_f32 0
#define MU_WIDE_u64 1
#define MU_WIDE_s64 1
#define MU_WIDE_f64 1

// Calls EACH(rank, value) in the part's first warp for every member, ranks mod 32 to lanes, then FINISH(),
// whose result all threads get.
#define MU_COLLECT_BODY(elem, value, each, finish)                                                       \
  mu_status status = MU_OK;                                                                              \
  mu_u64 *words = mu_collect_words();                                                                    \
  if (b->hardware)                                                                                       \
    return MU_MISMATCH;                                                                                  \
  mu_collect_put(b, (mu_u64)MU_PACK_##elem(value), MU_WIDE_##elem);                                      \
  if (b->lane < 32) {                                                                                    \
    mu_tile warp = mu_collect_warp(b);                                                                   \
    const mu_u64 *cells = mu_slot_cells(b->slot, b->blocks, b->turn);                                    \
    mu_u64 start_ns = 0;                                                                                 \
    MU_ROLLED for (mu_u32 from = 0; from < b->blocks && !status; from += MU_CELLS_AT_ONCE * warp.size) { \
      mu_u32 low[MU_CELLS_AT_ONCE], high[MU_CELLS_AT_ONCE] = {0, 0, 0, 0, 0};                            \
      status = mu_collect_take(b, &warp, cells, from, &start_ns, low);                                   \
      if (MU_WIDE_##elem && !status)                                                                     \
        status = mu_collect_take(b, &warp, cells + b->blocks, from, &start_ns, high);                    \
      _Pragma("unroll") for (int i = 0; i < MU_CELLS_AT_ONCE; i++) {                                     \
        mu_u32 rank = from + b->lane + (mu_u32)i * warp.size;                                            \
        mu_##elem it = MU_UNPACK_##elem(MU_CARRIER_##elem((mu_u64)high[i] << 32 | low[i]));              \
        if (rank < b->blocks) {                                                                          \
          each                                                                                           \
        }                                                                                                \
      }                                                                                                  \
    }                                                                                                    \
    finish                                                                                               \
  }                                                                                                      \
  status = mu_barrier_finish(b, status);

// Of the ranks below `upto`, in each lane those that are equal mod 32, then a tree over the lanes. `upto` is
// at least 1. `tell`: the others do not read the values, they wait for this block's result.
#define MU_COLLECT_FOLD(op, elem)                                                                          \
  MU_OWN mu_status mu_collect_fold_##op##_##elem(mu_barrier *b, mu_##elem value, mu_u32 upto, mu_u32 tell, \
                                                 mu_##elem *result) {                                      \
    mu_##elem sum = value;                                                                                 \
    mu_u32 any = 0;                                                                                        \
    MU_COLLECT_BODY(                                                                                       \
        elem, value,                                                                                       \
        if (rank < upto) {                                                                                 \
          sum = any ? mu_pure_##op##_##elem(sum, it) : it;                                                 \
          any = 1;                                                                                         \
        },                                                                                                 \
        mu_tile some = warp;                                                                               \
        some.size = upto < warp.size ? upto : warp.size; sum = mu_tile_tree_##op##_##elem(&some, sum);     \
        if (b->lane == 0) {                                                                                \
          words[b->part] = MU_PACK_##elem(sum);                                                            \
          if (tell && !status)                                                                             \
            mu_collect_write(b, b->slot->results, b->slot->results + 1, words[b->part], MU_WIDE_##elem);   \
        })                                                                                                 \
    *result = MU_UNPACK_##elem(MU_CARRIER_##elem(words[b->part]));                                         \
    return status;                                                                                         \
  }                                                                                                        \
  MU_FN mu_status mu_collect_scan_incl_##op##_##elem(mu_barrier *b, mu_##elem value, mu_##elem *result) {  \
    return mu_collect_fold_##op##_##elem(b, value, b->rank + 1, 0, result);                                \
  }                                                                                                        \
  MU_FN mu_status mu_collect_scan_excl_##op##_##elem(mu_barrier *b, mu_##elem value, mu_##elem first,      \
                                                     mu_##elem *result) {                                  \
    mu_status status = mu_collect_fold_##op##_##elem(b, value, b->rank ? b->rank : 1, 0, result);          \
    *result = b->rank ? mu_pure_##op##_##elem(first, *result) : first;                                     \
    return status;                                                                                         \
  }
// The two ways of reducing; every block takes the same. The order of the operations is that of the fold in
// both.
#define MU_COLLECT_REDUCE(op, elem)                                                                          \
  MU_OWN mu_status mu_collect_reduce_each_##op##_##elem(mu_barrier *b, mu_##elem value, mu_##elem *result) { \
    return mu_collect_fold_##op##_##elem(b, value, b->blocks, 0, result);                                    \
  }                                                                                                          \
  MU_OWN mu_status mu_collect_reduce_first_##op##_##elem(mu_barrier *b, mu_##elem value,                     \
                                                         mu_##elem *result) {                                \
    mu_u64 *words = mu_collect_words();                                                                      \
    mu_status status = MU_OK;                                                                                \
    if (b->hardware)                                                                                         \
      return MU_MISMATCH;                                                                                    \
    if (b->rank == 0)                                                                                        \
      return mu_collect_fold_##op##_##elem(b, value, b->blocks, 1, result);                                  \
    mu_collect_put(b, (mu_u64)MU_PACK_##elem(value), MU_WIDE_##elem);                                        \
    if (b->lane == 0) {                                                                                      \
      mu_u64 heard = 0;                                                                                      \
      status = mu_collect_hear(b, MU_WIDE_##elem, &heard);                                                   \
      words[b->part] = heard;                                                                                \
    }                                                                                                        \
    status = mu_barrier_finish(b, status);                                                                   \
    *result = MU_UNPACK_##elem(MU_CARRIER_##elem(words[b->part]));                                           \
    return status;                                                                                           \
  }                                                                                                          \
  MU_FN mu_status mu_collect_reduce_##op##_##elem(mu_barrier *b, mu_##elem value, mu_##elem *result) {       \
    return b->blocks <= MU_EACH_READS ? mu_collect_reduce_each_##op##_##elem(b, value, result)               \
                                      : mu_collect_reduce_first_##op##_##elem(b, value, result);             \
  }
#define MU_COLLECT_SUM(elem)                                                                        \
  MU_FN mu_status mu_collect_reduce_add_##elem(mu_barrier *b, mu_##elem value, mu_##elem *result) { \
    mu_u32 sum;                                                                                     \
    mu_status status = mu_barrier_sync_add_relaxed_u32(b, (mu_u32)value, &sum);                     \
    *result = (mu_##elem)sum;                                                                       \
    return status;                                                                                  \
  }
#define MU_COLLECT_MOVE(elem)                                                                  \
  MU_FN mu_status mu_collect_broadcast_##elem(mu_barrier *b, mu_##elem value, mu_u32 root,     \
                                              mu_##elem *result) {                             \
    MU_COLLECT_BODY(elem, value, if (rank == root) { words[b->part] = MU_PACK_##elem(it); }, ) \
    *result = MU_UNPACK_##elem(MU_CARRIER_##elem(words[b->part]));                             \
    return status;                                                                             \
  }                                                                                            \
  MU_FN mu_status mu_collect_gather_##elem(mu_barrier *b, mu_##elem value, mu_##elem *out) {   \
    MU_COLLECT_BODY(elem, value, { out[rank] = it; }, )                                        \
    (void)words;                                                                               \
    return status;                                                                             \
  }
#define MU_COLLECT_OP(op, elem) MU_COLLECT_FOLD(op, elem) MU_COLLECT_REDUCE(op, elem)
#define MU_COLLECT_ELEM(elem) \
  MU_COLLECT_FOLD(add, elem)  \
  MU_COLLECT_OP(mul, elem) MU_COLLECT_OP(min, elem) MU_COLLECT_OP(max, elem) MU_COLLECT_MOVE(elem)
#define MU_COLLECT_LOGIC(elem) MU_COLLECT_OP(and, elem) MU_COLLECT_OP(or, elem) MU_COLLECT_OP(xor, elem)
MU_COLLECT_ELEM(u32)
MU_COLLECT_ELEM(s32)
MU_COLLECT_ELEM(f32)
MU_COLLECT_ELEM(u64)
MU_COLLECT_ELEM(s64)
MU_COLLECT_ELEM(f64)
MU_COLLECT_LOGIC(u32)
MU_COLLECT_LOGIC(u64)
MU_COLLECT_SUM(u32)
MU_COLLECT_SUM(s32)
MU_COLLECT_REDUCE(add, f32)
MU_COLLECT_REDUCE(add, u64)
MU_COLLECT_REDUCE(add, s64)
MU_COLLECT_REDUCE(add, f64)

// Am I the last of `takers` threads to come here? One of them gets 1, and sees what all others wrote before.
// The counter, zeroed once, is zero again afterwards.
// Callers     one thread each.
// Order       acquire and release at device scope.
// Progress    none needed: nobody waits.
MU_FN mu_u32 mu_ticket_take(mu_u32 *counter, mu_u32 takers) {
  return mu_inc_acq_rel_device_u32(counter, takers - 1) == takers - 1;
}
// The same for whole blocks: of `blocks` blocks that call, one gets 1, in all its threads.
// Callers     all threads of the block.
// Cost        one atomic that returns its value, two block barriers.
MU_FN mu_u32 mu_ticket_last(mu_u32 *counter, mu_u32 blocks) {
  mu_u32 last = 0;
  mu_bar_sync(); // the ticket speaks for the whole block
  if (mu_thread() == 0)
    last = mu_ticket_take(counter, blocks);
  return mu_bar_or(last);
}

// A fair lock: served in the order of arrival. Zeroed before its first use. The holder's block must not wait
// for a block that wants the lock.
// Callers     one thread (of a block, or several of one warp from 7.0 on).
// Order       acquire; release.
// Progress    the holder must be resident, and so must all who are before in the line.
typedef struct {
  mu_u32 next, serving;
} mu_lock;
MU_FN mu_u32 mu_lock_acquire(mu_lock *lock) {
  mu_u32 mine = mu_add_relaxed_device_u32(&lock->next, 1);
  while (mu_load_acquire_device_u32(&lock->serving) != mine)
    mu_rest_ns(32);
  return mine;
}
// Takes the lock only if it is free. Returns 1 if so.
MU_FN mu_u32 mu_lock_try_acquire(mu_lock *lock) {
  mu_u32 serving = mu_load_acquire_device_u32(&lock->serving);
  return mu_cas_acquire_device_u32(&lock->next, serving, serving + 1) == serving;
}
// Lets the next in the line go on.
MU_FN void mu_lock_release(mu_lock *lock) {
  mu_store_release_device_u32(&lock->serving, mu_load_relaxed_device_u32(&lock->serving) + 1);
}

// A counting semaphore: the word holds how many may still enter. Returns 1 if the caller may.
// Callers     one thread.
// Order       acquire on entry, release on leaving.
MU_FN mu_u32 mu_semaphore_try_acquire(mu_u32 *free) {
  mu_u32 seen = mu_load_relaxed_device_u32(free);
  while (seen) {
    mu_u32 now = mu_cas_acquire_device_u32(free, seen, seen - 1);
    if (now == seen)
      return 1;
    seen = now;
  }
  return 0;
}
// Waits until it may enter.
MU_FN void mu_semaphore_acquire(mu_u32 *free) {
  while (!mu_semaphore_try_acquire(free))
    mu_rest_ns(32);
}
// Leaves, or lets one more in.
MU_FN void mu_semaphore_release(mu_u32 *free) {
  mu_red_add_release_device_u32(free, 1);
}

// A sequence lock: one writer at a time, readers that never hold it up. The data is read and written with
// relaxed accesses of insn.cuh (it may change while it is read):
//   do { s = mu_sequence_read_begin(q); copy = mu_load_relaxed_device_...; }
//   while (mu_sequence_read_retry(q, s));
// Callers     one thread.
// Order       a copy that needs no retry is one writer's work.
MU_FN mu_u32 mu_sequence_read_begin(const mu_u32 *sequence) {
  mu_u32 seen;
  while ((seen = mu_load_acquire_device_u32(sequence)) & 1) {
  }
  return seen;
}
// Whether something was written since: then the copy is good for nothing.
MU_FN mu_u32 mu_sequence_read_retry(const mu_u32 *sequence, mu_u32 begun) {
  mu_fence_acq_rel_device(); // the copy's loads come before the look at the number
  return mu_load_relaxed_device_u32(sequence) != begun;
}
// Around what the one writer writes.
MU_FN void mu_sequence_write_begin(mu_u32 *sequence) {
  mu_store_relaxed_device_u32(sequence, mu_load_relaxed_device_u32(sequence) + 1);
  mu_fence_acq_rel_device(); // the number is odd before the first datum changes
}
MU_FN void mu_sequence_write_end(mu_u32 *sequence) {
  mu_store_release_device_u32(sequence, mu_load_relaxed_device_u32(sequence) + 1);
}

// Pieces of a histogram: 32-bit counters in shared memory, `copies` of each bin side by side, so that lanes
// that meet in a bin meet in different banks: with 32 copies never. Counters wrap after 2^32.
//
//   mu_bins_clear(bins, count, copies)
//   mu_bins_add(bins, copies, bin)
//   mu_bins_flush_<u32|u64>(bins, count, copies, total)   adds each bin's copies to the grid's counters; the
//                                                         block's own are zero afterwards
//
// Callers     clear, flush: all threads of the block (each has its own barrier first); add: any thread.
// Cost        one shared atomic without a result an item.
MU_FN void mu_bins_clear(mu_u32 *bins, mu_u32 count, mu_u32 copies) {
  mu_bar_sync();
  MU_FOR_BLOCK(i, count * copies) bins[i] = 0;
  mu_bar_sync();
}
MU_FN void mu_bins_add(mu_u32 *bins, mu_u32 copies, mu_u32 bin) {
  mu_shared_red_add_relaxed_block_u32(bins + bin * copies + mu_lane() % copies, 1);
}
#define MU_BINS_FLUSH(elem)                                                                      \
  MU_FN void mu_bins_flush_##elem(mu_u32 *bins, mu_u32 count, mu_u32 copies, mu_##elem *total) { \
    mu_bar_sync();                                                                               \
    MU_FOR_BLOCK(i, count) {                                                                     \
      mu_##elem sum = 0;                                                                         \
      for (mu_u32 copy = 0; copy < copies; copy++) { /* each thread from another bank */         \
        mu_u32 at = i * copies + (copy + i) % copies;                                            \
        sum += bins[at];                                                                         \
        bins[at] = 0;                                                                            \
      }                                                                                          \
      if (sum)                                                                                   \
        mu_global_red_add_relaxed_device_##elem(total + i, sum);                                 \
    }                                                                                            \
    mu_bar_sync();                                                                               \
  }
MU_BINS_FLUSH(u32)
MU_BINS_FLUSH(u64)

#endif
#endif
