// look_back.cuh: what stands before a tile, of values whose joining is exact in any order: counts and
// extremes. (Sums of floats, where the order counts, go scan.cu's way.)
//
//   JOIN(a, b)   of two mu_u64; NONE, joined with anything, changes nothing
//
// A tile tells its own value at once, and that of all up to its end when it knows what is before it. A warp
// looks at 32 tiles at a time, backwards from its own, as far as the nearest that has told the second.
#ifndef MUSTER_OPS_LOOK_BACK_CUH
#define MUSTER_OPS_LOOK_BACK_CUH

#include "layout.h"
#include "turns.cuh"

// Values as they are told: their halves.
typedef struct {
  mu_u64 own[2], upto[2];
} told_tile;
MU_STATIC_ASSERT(sizeof(told_tile) == OPS_TILE_TOLD_BYTES, "as the workspace has it");

// The turn that this block has, and the tile that falls to it; by all threads. A lone tile asks nobody.
MU_FN turn_ticket tile_take(mu_u64 *turns) {
  MU_SHARED turn_ticket taken[1];
  turn_ticket lone = {0, 0};
  if (mu_grid_blocks_x() == 1)
    return lone;
  if (mu_thread_x() == 0)
    taken[0] = turn_take(turns, mu_grid_blocks_x());
  mu_block_sync();
  return taken[0];
}

// Tells the tile's value and returns that of all tiles before it, by the lanes of one warp and the same in
// all of them.
MU_FN mu_u64 look_back(told_tile *tiles, turn_ticket tile, mu_u64 mine) {
  mu_tile warp = mu_tile_mask(0xffffffffu);
  mu_u32 lane = mu_lane(), found = tile.place == 0;
  mu_u64 before = NONE;
  if (lane == 0 && mu_grid_blocks_x() > 1)
    halves_tell(found ? tiles->upto : tiles[tile.place].own, mine, tile.turn);
  if (found)
    return before;
  MU_ROLLED for (mu_u32 end = tile.place; !found; end -= 32) {
    mu_u32 there = lane < end, whole, told;
    const told_tile *at = tiles + (there ? end - 1 - lane : 0);
    mu_u64 own, upto, value = NONE;
    do {
      whole = halves_ask(at->upto, tile.turn, &upto);
      told = halves_ask(at->own, tile.turn, &own) | whole | !there;
    } while (!mu_tile_all(&warp, told));
    found = mu_tile_ballot(&warp, there && whole);
    mu_u32 last = found ? mu_lowest_bit(found) : 31;
    if (there && lane <= last)
      value = whole ? upto : own;
    _Pragma("unroll") for (mu_u32 bits = 16; bits; bits /= 2) value =
        JOIN(value, FETCH_u64(value, lane ^ bits));
    before = JOIN(before, value);
  }
  if (lane == 0)
    halves_tell(tiles[tile.place].upto, JOIN(before, mine), tile.turn);
  return before;
}

#endif
