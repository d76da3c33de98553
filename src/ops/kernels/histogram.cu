// histogram.cu: how often each value below `bins` occurs in an array of unsigned integers.
//
// Every block counts in 32-bit counters of its own, then adds them to the totals in the workspace; the last
// block to do so moves the totals to where the caller wants them and leaves zeros. Where the counters are
// depends on how many there are:
//
//   histogram_lanes    up to 256 bins: a counter for each lane of a warp, side by side, so that lanes never
//                      meet in a bank of shared memory, whatever the values
//   histogram_parts    more: one counter a bin; where they do not all fit, a block counts one part of the
//                      bins only, and as many blocks as there are parts read the same elements
//   histogram_totals   still more: in the totals themselves, but for bins that the block has chosen to count
//                      itself: whichever comes first to a counter. What is frequent comes first, so nothing
//                      that many threads count at once is counted in global memory. From time to time the
//                      block adds what it has to the totals and chooses anew, in case other values are
//                      frequent now.
#include "layout.h"
#include "totals.cuh"
#include "vector.cuh"

enum { UNROLL = OPS_HISTOGRAM_UNROLL, THREADS = OPS_HISTOGRAM_THREADS, COPIES = OPS_HISTOGRAM_COPIES };

typedef enum place_of_counters { BY_LANE, BY_PART, IN_TOTALS } place_of_counters;

typedef struct {
  place_of_counters place; // a constant where it is used
  mu_u32 own;              // in shared memory: BY_LANE this lane's of bin 0, BY_PART that of bin `first`
  mu_u32 choices;          // IN_TOTALS: how many bins the block can choose, a power of two
  mu_u64 *totals;
  mu_u64 first, count; // the bins that this block counts
} counters;
#define FREE 0xffffffffu // a choice not made: no bin

MU_FN mu_u32 *block_counters(void) {
  MU_SHARED_DYNAMIC mu_u32 own[];
  return (mu_u32 *)own;
}

// Choices are the chosen bins, then their counters.
MU_FN void count_chosen(counters c, mu_u32 bin) {
  mu_u32 at = bin * 0x9e3779b1u >> (32 - mu_lowest_bit(c.choices)); // neighbours and multiples spread alike
  mu_u32 *choice = block_counters() + at, chosen = mu_shared_load_relaxed_block_u32(choice);
  if (chosen == FREE) {
    chosen = mu_shared_cas_relaxed_block_u32(choice, FREE, bin);
    chosen = chosen == FREE ? bin : chosen;
  }
  if (chosen == bin)
    mu_shared_red_add_relaxed_block_u32(choice + c.choices, 1);
  else
    mu_global_red_add_relaxed_device_u64(c.totals + bin, 1);
}

// Adds what was counted to the totals, and nothing is chosen.
MU_FN void give_up_choices(counters c) {
  mu_block_sync();
  MU_ROLLED for (mu_u32 i = mu_thread_x(); i < c.choices; i += THREADS) {
    mu_u32 bin = block_counters()[i];
    if (bin == FREE)
      continue;
    mu_global_red_add_relaxed_device_u64(c.totals + bin, block_counters()[c.choices + i]);
    block_counters()[i] = FREE;
    block_counters()[c.choices + i] = 0;
  }
  mu_block_sync();
}

MU_FN void count(counters c, elem x) {
  mu_u64 bin = x - c.first;
  mu_u32 mine = bin < c.count;
  if (c.place == BY_LANE && ELEM_BITS == 8) // every byte has its bin
    mu_shared_at_red_add_relaxed_block_u32(c.own + (mu_u32)bin * (4 * COPIES), 1);
  else if (c.place == BY_LANE)
    mu_shared_at_red_add_if_relaxed_block_u32(c.own + (mu_u32)bin * (4 * COPIES), 1, mine);
  else if (c.place == BY_PART)
    mu_shared_at_red_add_if_relaxed_block_u32(c.own + (mu_u32)bin * 4, 1, mine);
  else if (mine)
    count_chosen(c, (mu_u32)bin);
}

MU_FN void count_vector(counters c, mu_b128 v) {
  _Pragma("unroll") for (mu_u32 lane = 0; lane < LANES; lane++) count(c, vector_elem(v, lane));
}

// The elements that fall to thread `me` of `threads`, of vectors `from` to `end`. Nothing is asked between
// the loads of a round: the compiler would move them behind the question.
MU_FN void count_vectors(counters c, const elem *x, mu_u64 from, mu_u64 end, mu_u64 me, mu_u64 threads) {
  if (is_aligned(x)) {
    mu_u64 i = from + me;
    MU_ROLLED for (; i + (UNROLL - 1) * threads < end; i += UNROLL * threads) {
      mu_b128 v[UNROLL];
      _Pragma("unroll") for (mu_u32 k = 0; k < UNROLL; k++) v[k] =
          mu_global_read_b128(x + (i + k * threads) * LANES);
      _Pragma("unroll") for (mu_u32 k = 0; k < UNROLL; k++) count_vector(c, v[k]);
    }
    MU_ROLLED for (; i < end; i += threads) count_vector(c, mu_global_read_b128(x + i * LANES));
  } else {
    MU_ROLLED for (mu_u64 at = from * LANES + me; at < end * LANES; at += threads) count(c, x[at]);
  }
}

// All of the array that falls to thread `me` of `threads`.
MU_FN void count_all(counters c, const elem *x, mu_u64 n, mu_u64 me, mu_u64 threads) {
  mu_u64 vectors = n / LANES, rest = vectors * LANES + me;
  if (rest < n)
    count(c, x[rest]);
  if (c.place != IN_TOTALS) {
    count_vectors(c, x, 0, vectors, me, threads);
  } else {
    mu_u64 round = threads * (OPS_HISTOGRAM_CHOICE / LANES);
    MU_ROLLED for (mu_u64 from = 0; from < vectors; from += round) {
      count_vectors(c, x, from, vectors - from < round ? vectors : from + round, me, threads);
      if (vectors - from > round)
        give_up_choices(c);
    }
  }
}

// Adds the block's counters up and puts them where all can see them; a lone block's are the result.
MU_FN void hand_over(counters c, mu_u64 *counts, mu_u32 lone) {
  mu_block_sync();
  MU_ROLLED for (mu_u32 i = mu_thread_x(); i < c.count; i += THREADS) {
    mu_u64 sum = 0;
    if (c.place == BY_LANE)
      _Pragma("unroll 8") for (mu_u32 copy = 0; copy < COPIES; copy++) // each thread from another bank
          sum += block_counters()[i * COPIES + (copy + i) % COPIES];
    else
      sum = block_counters()[i];
    if (lone)
      counts[c.first + i] = sum;
    else if (sum)
      mu_global_red_add_relaxed_device_u64(c.totals + c.first + i, sum);
  }
}

MU_FN void clear(mu_u32 from, mu_u32 end, mu_u32 value) {
  MU_ROLLED for (mu_u32 i = from + mu_thread_x(); i < end; i += THREADS) block_counters()[i] = value;
}

// Bytes have 256 values: with as many bins, whatever the caller asked for, none has to be compared.
MU_KERNEL MU_BOUNDS(THREADS, OPS_HISTOGRAM_RESIDENT)
    NAME(histogram_lanes, ELEM)(const elem *x, mu_u64 n, mu_u32 bins, mu_u32 part_bins, mu_u64 *counts,
                                mu_u32 *tickets, mu_u64 *totals) {
  mu_u64 threads = mu_grid_blocks_x() * (mu_u64)THREADS;
  counters c = {
      BY_LANE, (mu_u32)mu_to_shared(block_counters() + mu_lane()), 0, totals, 0, ELEM_BITS == 8 ? 256 : bins};
  (void)part_bins;
  clear(0, (mu_u32)c.count * COPIES, 0);
  mu_block_sync();
  count_all(c, x, n, mu_block_x() * (mu_u64)THREADS + mu_thread_x(), threads);
  c.count = bins;
  hand_over(c, counts, mu_grid_blocks_x() == 1);
  if (mu_grid_blocks_x() > 1)
    totals_finish(counts, bins, tickets, mu_grid_blocks_x(), totals);
}

#if !IS_BYTE
MU_KERNEL MU_BOUNDS(THREADS, OPS_HISTOGRAM_RESIDENT)
    NAME(histogram_parts, ELEM)(const elem *x, mu_u64 n, mu_u32 bins, mu_u32 part_bins, mu_u64 *counts,
                                mu_u32 *tickets, mu_u64 *totals) {
  mu_u32 parts = (bins + part_bins - 1) / part_bins, part = mu_block_x() % parts;
  mu_u32 readers = mu_grid_blocks_x() / parts; // blocks that read different elements
  mu_u32 first = part * part_bins;
  counters c = {BY_PART, (mu_u32)mu_to_shared(block_counters()),
                0,       totals,
                first,   bins - first < part_bins ? bins - first : part_bins};
  clear(0, (mu_u32)c.count, 0);
  mu_block_sync();
  count_all(c, x, n, mu_block_x() / parts * (mu_u64)THREADS + mu_thread_x(), readers * (mu_u64)THREADS);
  hand_over(c, counts, readers == 1);
  if (readers > 1) // each part has its last block
    totals_finish(counts + first, (mu_u32)c.count, tickets + part, readers, totals + first);
}

MU_KERNEL MU_BOUNDS(THREADS, OPS_HISTOGRAM_RESIDENT)
    NAME(histogram_totals, ELEM)(const elem *x, mu_u64 n, mu_u32 bins, mu_u32 choices, mu_u64 *counts,
                                 mu_u32 *tickets, mu_u64 *totals) {
  counters c = {IN_TOTALS, 0, choices, totals, 0, bins};
  clear(0, choices, FREE);
  clear(choices, 2 * choices, 0);
  mu_block_sync();
  count_all(c, x, n, mu_block_x() * (mu_u64)THREADS + mu_thread_x(), mu_grid_blocks_x() * (mu_u64)THREADS);
  give_up_choices(c);
  totals_finish(counts, bins, tickets, mu_grid_blocks_x(), totals);
}
#endif
