// scan.cu: running sums of an array, in one pass over it.
//
// A block takes the next tile, adds it up and tells the sum; with the sums of everything before it its own
// elements' running sums are complete. Tiles are taken in order, so whoever is waited for is at work or done:
// nobody waits for a block that has not begun.
//
// What is before a tile comes in three parts: all fields before its own, the groups before its own in that
// field, the tiles before it in that group; a lane asks for one of each, all at once. The last tile of a
// group tells the group's sum, the last of a field the sum up to there: only these, one in a thousand tiles,
// wait for one another in a row.
//
// Integers are the unsigned ones of their size: sums wrap, so signed ones have the same bits.
//
// Sums of tiles are carried in 64 bits (f64 of f32) and are added in an order that depends on the tile's
// number alone: the same bits from run to run and from device to device.
#include "layout.h"
#include "handoff.cuh"
#include "turns.cuh"

#if IS_FLOAT
typedef mu_f64 carry;
#define CARRY f64
#define BITS_OF_CARRY(x) mu_bits_of_f64(x)
#define CARRY_OF_BITS(x) mu_f64_of_bits(x)
#else
typedef mu_u64 carry;
#define CARRY u64
#define BITS_OF_CARRY(x) (x)
#define CARRY_OF_BITS(x) (x)
#endif

// A sum as it is told: its halves.
typedef struct {
  mu_u64 halves[2];
} told_sum;

MU_FN void sum_tell(told_sum *to, carry sum, mu_u32 turn) {
  halves_tell(to->halves, BITS_OF_CARRY(sum), turn);
}
MU_FN mu_u32 sum_ask(const told_sum *from, mu_u32 turn, carry *sum) {
  mu_u64 bits;
  mu_u32 told = halves_ask(from->halves, turn, &bits);
  *sum = CARRY_OF_BITS(bits);
  return told;
}

// Tells the tile's sum; that of a group's last tile is part of what look_back tells.
MU_FN void tile_tell(told_sum *tiles, mu_u32 tile, mu_u32 turn, carry mine) {
  if (tile % OPS_SCAN_GROUP != OPS_SCAN_GROUP - 1)
    sum_tell(tiles + tile, mine, turn);
}

// The sum of all tiles before one whose sum is `mine`; by the lanes of one warp, and the same in all of them.
// Tells the sums of groups and fields that it ends.
MU_FN carry look_back(told_sum *tiles, told_sum *groups, told_sum *fields, mu_u32 tile, mu_u32 turn,
                      carry mine) {
  mu_tile warp = mu_tile_mask(0xffffffffu);
  mu_u32 group = tile / OPS_SCAN_GROUP, field = tile / OPS_SCAN_FIELD, lane = mu_lane();
  mu_u32 in_group = tile % OPS_SCAN_GROUP, in_field = group % OPS_SCAN_GROUP, telling = lane == 0;
  mu_u32 ends_group = in_group == OPS_SCAN_GROUP - 1,
         ends_field = ends_group && in_field == OPS_SCAN_GROUP - 1;
  carry of_tile, of_group, of_fields, before_in_group = 0, before_in_field = 0, group_sum = 0;
  mu_u32 met = 0, whole = 0; // the group's sums are complete; all are
  do {
    mu_u32 tiles_told = sum_ask(tiles + group * OPS_SCAN_GROUP + lane, turn, &of_tile) | (lane >= in_group);
    mu_u32 groups_told =
        sum_ask(groups + field * OPS_SCAN_GROUP + lane, turn, &of_group) | (lane >= in_field);
    mu_u32 fields_told = sum_ask(fields + field, turn, &of_fields) | (field == 0);
    if (!met && mu_tile_all(&warp, tiles_told)) {
      met = 1;
      before_in_group = OF_WARP(reduce_add, CARRY)(&warp, lane < in_group ? of_tile : 0);
      group_sum = before_in_group + mine;
      if (telling && ends_group && !ends_field)
        sum_tell(groups + group, group_sum, turn);
    }
    whole = met && mu_tile_all(&warp, groups_told & fields_told);
  } while (!whole);
  before_in_field = OF_WARP(reduce_add, CARRY)(&warp, lane < in_field ? of_group : 0);
  carry before_field = field ? of_fields : 0;
  if (telling && ends_field)
    sum_tell(fields + field + 1, before_field + (before_in_field + group_sum), turn);
  return before_field + (before_in_field + before_in_group);
}

// The running sums of a vector's elements after `before`: up to each, or before it.
MU_FN mu_b128 vector_sums(mu_b128 v, near_type before, mu_u32 exclusive) {
  mu_b128 result = vector_none();
  _Pragma("unroll") for (mu_u32 lane = 0; lane < LANES; lane++) {
    near_type next = before + near_of(vector_elem(v, lane));
    result = vector_with(result, lane, elem_of(exclusive ? before : next));
    before = next;
  }
  return result;
}
MU_FN mu_b128 vector_plus(near_type base, mu_b128 v) {
  mu_b128 result = vector_none();
  _Pragma("unroll") for (mu_u32 lane = 0; lane < LANES; lane++) result =
      vector_with(result, lane, elem_of(base + near_of(vector_elem(v, lane))));
  return result;
}

#define OF_SHAPE(name) PASTE(name, ENDING)

#define THREADS OPS_SCAN_LARGE_THREADS
#define ROWS OPS_SCAN_LARGE_ROWS
#define RESIDENT OPS_SCAN_LARGE_RESIDENT
#define ENDING
#include "scan_shape.cuh"
#if HAS_HANDOFF
#include "scan_stream.cuh"
#else
#include "scan_body.cuh"
#endif
#undef THREADS
#undef ROWS
#undef RESIDENT
#undef ENDING

#define THREADS OPS_SCAN_MEDIUM_THREADS
#define ROWS OPS_SCAN_MEDIUM_ROWS
#define RESIDENT OPS_SCAN_MEDIUM_RESIDENT
#define ENDING _medium
#include "scan_shape.cuh"
#include "scan_body.cuh"
#undef THREADS
#undef ROWS
#undef RESIDENT
#undef ENDING

#define THREADS OPS_SCAN_SMALL_THREADS
#define ROWS OPS_SCAN_SMALL_ROWS
#define RESIDENT OPS_SCAN_SMALL_RESIDENT
#define ENDING _small
#include "scan_shape.cuh"
#include "scan_body.cuh"
