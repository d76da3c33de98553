// histogram.cu: how often each value below `bins` occurs in an array of unsigned integers.
//
// Every block counts in 32-bit counters of its own, then adds them to the totals in the workspace; the last
// block to do so moves the totals to where the caller wants them and leaves zeros. Where the counters are
// depends on how many there are:
//
//   histogram_lanes    up to 256 bins: a counter for each lane of a warp, side by side, so that lanes never
//   meet in a
//                      bank of shared memory, whatever the values
//   histogram_parts    more: one counter a bin; where they do not all fit, a block counts one part of the
//   bins only,
//                      and as many blocks as there are parts read the same elements
//   histogram_totals   in the totals themselves
#include "layout.h"
#include "vector.cuh"

enum { UNROLL = OPS_HISTOGRAM_UNROLL, THREADS = OPS_HISTOGRAM_THREADS, COPIES = OPS_HISTOGRAM_COPIES };

typedef enum place_of_counters { BY_LANE, BY_PART, IN_TOTALS } place_of_counters;

typedef struct {
  place_of_counters place; // a constant where it is used
  mu_u32 own;              // in shared memory: BY_LANE this lane's of bin 0, BY_PART that of bin `first`
  mu_u64 *totals;
  mu_u64 first, count; // the bins that this block counts
} counters;

MU_FN mu_u32 *block_counters(void) {
  MU_SHARED_DYNAMIC mu_u32 own[];
  return (mu_u32 *)own;
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
    mu_global_red_add_relaxed_device_u64(c.totals + bin, 1);
}

MU_FN void count_vector(counters c, mu_b128 v) {
  _Pragma("unroll") for (mu_u32 lane = 0; lane < LANES; lane++) count(c, vector_elem(v, lane));
}

// The elements that fall to thread `i` of `threads`. Nothing is asked between the loads of a round: the
// compiler would move them behind the question.
MU_FN void count_all(counters c, const elem *x, mu_u64 n, mu_u64 i, mu_u64 threads) {
  mu_u64 vectors = n / LANES, rest = vectors * LANES + i;
  if (rest < n)
    count(c, x[rest]);
  if (is_aligned(x)) {
    MU_ROLLED for (; i + (UNROLL - 1) * threads < vectors; i += UNROLL * threads) {
      mu_b128 v[UNROLL];
      _Pragma("unroll") for (mu_u32 k = 0; k < UNROLL; k++) v[k] =
          mu_global_read_b128(x + (i + k * threads) * LANES);
      _Pragma("unroll") for (mu_u32 k = 0; k < UNROLL; k++) count_vector(c, v[k]);
    }
    MU_ROLLED for (; i < vectors; i += threads) count_vector(c, mu_global_read_b128(x + i * LANES));
  } else {
    MU_ROLLED for (mu_u64 at = i; at < vectors * LANES; at += threads) count(c, x[at]);
  }
}

// Adds the block's counters up and puts them where all can see them; a lone block's are the result.
MU_FN void hand_over(counters c, mu_u64 *counts) {
  mu_u32 lone = mu_grid_blocks_x() == 1;
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

// The last block finds all totals complete.
MU_FN void finish(mu_u64 *counts, mu_u32 bins, mu_u32 *tickets, mu_u64 *totals) {
  if (!mu_ticket_last(tickets, mu_grid_blocks_x()))
    return;
  _Pragma("unroll 4") for (mu_u32 i = mu_thread_x(); i < bins; i += THREADS) {
    counts[i] = totals[i];
    totals[i] = 0;
  }
}

MU_FN void clear(mu_u32 words) {
  MU_ROLLED for (mu_u32 i = mu_thread_x(); i < words; i += THREADS) block_counters()[i] = 0;
  mu_block_sync();
}

// Bytes have 256 values: with as many bins, whatever the caller asked for, none has to be compared.
MU_KERNEL MU_BOUNDS(THREADS, 2)
    NAME(histogram_lanes, ELEM)(const elem *x, mu_u64 n, mu_u32 bins, mu_u32 part_bins, mu_u64 *counts,
                                mu_u32 *tickets, mu_u64 *totals) {
  mu_u64 threads = mu_grid_blocks_x() * (mu_u64)THREADS;
  counters c = {BY_LANE, (mu_u32)mu_to_shared(block_counters() + mu_lane()), totals, 0,
                ELEM_BITS == 8 ? 256 : bins};
  (void)part_bins;
  clear((mu_u32)c.count * COPIES);
  count_all(c, x, n, mu_block_x() * (mu_u64)THREADS + mu_thread_x(), threads);
  c.count = bins;
  hand_over(c, counts);
  if (mu_grid_blocks_x() > 1)
    finish(counts, bins, tickets, totals);
}

#if !IS_BYTE
MU_KERNEL MU_BOUNDS(THREADS, 2)
    NAME(histogram_parts, ELEM)(const elem *x, mu_u64 n, mu_u32 bins, mu_u32 part_bins, mu_u64 *counts,
                                mu_u32 *tickets, mu_u64 *totals) {
  mu_u32 parts = (bins + part_bins - 1) / part_bins, part = mu_block_x() % parts;
  mu_u32 readers = mu_grid_blocks_x() / parts; // blocks that read different elements
  mu_u32 first = part * part_bins;
  counters c = {BY_PART, (mu_u32)mu_to_shared(block_counters()), totals, first,
                bins - first < part_bins ? bins - first : part_bins};
  clear((mu_u32)c.count);
  count_all(c, x, n, mu_block_x() / parts * (mu_u64)THREADS + mu_thread_x(), readers * (mu_u64)THREADS);
  hand_over(c, counts);
  if (mu_grid_blocks_x() > 1)
    finish(counts, bins, tickets, totals);
}

MU_KERNEL MU_BOUNDS(THREADS, 2)
    NAME(histogram_totals, ELEM)(const elem *x, mu_u64 n, mu_u32 bins, mu_u32 part_bins, mu_u64 *counts,
                                 mu_u32 *tickets, mu_u64 *totals) {
  counters c = {IN_TOTALS, 0, totals, 0, bins};
  (void)part_bins;
  count_all(c, x, n, mu_block_x() * (mu_u64)THREADS + mu_thread_x(), mu_grid_blocks_x() * (mu_u64)THREADS);
  finish(counts, bins, tickets, totals);
}
#endif
