// select.cu: the elements that a mask names, in their order, and the others in theirs, in one pass.
//
// A warp's votes say which of 32 neighbours are wanted, and with that where each goes within the warp's; what
// is wanted before the tile comes by look_back.cuh. Compiled for unsigned elements: bits are moved.
#define JOIN(a, b) ((a) + (b))
#define NONE 0
#include "look_back.cuh"

enum { THREADS = OPS_TILE_THREADS, ELEMS = OPS_TILE_ELEMS, WARPS = THREADS / 32 };

MU_KERNEL MU_BOUNDS(THREADS, OPS_TILE_RESIDENT)
    NAME(select, ELEM)(const elem *x, const mu_u8 *mask, mu_u64 n, elem *out, elem *rest, mu_u64 *count,
                       mu_u64 *turns, told_tile *told) {
  MU_SHARED mu_u64 of_warp[WARPS];
  mu_tile warp = mu_tile_mask(0xffffffffu);
  turn_ticket tile = tile_take(turns);
  mu_u32 me = mu_thread_x() / 32, lane = mu_lane(), wanted[ELEMS]; // of 32 neighbours, a bit each
  mu_u64 first = tile.place * (mu_u64)(THREADS * ELEMS) + me * (ELEMS * 32) + lane, sum = 0;

  elem mine[ELEMS];
  mu_u8 marked[ELEMS];
  _Pragma("unroll") for (mu_u32 k = 0; k < ELEMS; k++) { // nothing is asked between the loads
    mu_u64 at = first + k * 32;
    mine[k] = at < n ? x[at] : 0;
    marked[k] = at < n ? mask[at] : 0;
  }
  _Pragma("unroll") for (mu_u32 k = 0; k < ELEMS; k++) {
    wanted[k] = mu_tile_ballot(&warp, marked[k]);
    sum += mu_count_bits(wanted[k]);
  }
  if (lane == 0)
    of_warp[me] = sum;
  mu_block_sync();

  // The first warp: how many are wanted before each warp.
  if (me == 0) {
    mu_u64 upto = mu_tile_scan_incl_add_u64(&warp, lane < WARPS ? of_warp[lane] : 0);
    mu_u64 left = mu_tile_shuffle_up_u64(&warp, upto, 1), all = mu_tile_shuffle_from_u64(&warp, upto, 31);
    mu_u64 past = look_back(told, tile, all);
    if (lane < WARPS)
      of_warp[lane] = past + (lane ? left : 0);
    if (lane == 0 && tile.place == mu_grid_blocks_x() - 1)
      *count = past + all;
  }
  mu_block_sync();

  mu_u64 to = of_warp[me];
  _Pragma("unroll") for (mu_u32 k = 0; k < ELEMS; k++) {
    mu_u64 at = first + k * 32, before = to + mu_count_bits(wanted[k] & mu_lanes_below());
    if (wanted[k] >> lane & 1)
      out[before] = mine[k];
    else if (rest && at < n)
      rest[at - before] = mine[k];
    to += mu_count_bits(wanted[k]);
  }
}
