// scan.cu: running sums of an array, in one pass over it.
//
// A block takes the next tile, adds it up and shows the sum; then it looks back at the tiles before it, of
// which some show their sums and one, once that is known, the sum of everything up to its end. With that its
// own elements' running sums are complete, and so is what it shows to those behind it. Tiles are taken in
// order, so whoever is looked at is at work or done: nobody waits for a block that has not begun.
//
// Integers are the unsigned ones of their size: sums wrap, so signed ones have the same bits.
//
// Sums of tiles are carried in 64 bits (f64 of f32) and are always added in the order of tiles, however far
// back a block had to look: the same bits from run to run and from device to device.
#include "layout.h"
#include "vector.cuh"

enum {
  THREADS = OPS_SCAN_THREADS,
  ROWS = OPS_SCAN_ROWS,
  WARPS = THREADS / 32,
  TILE_VECTORS = THREADS * ROWS
};

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

#define OF_TILE_(function, suffix) mu_tile_##function##_##suffix
#define OF_WARP(function, suffix) OF_TILE_(function, suffix)

// What a tile shows: each half of a sum in the high half of a word, below it whose it is and what. A word is
// read and written whole, so that a value and what is said about it always belong together, and no fence is
// needed.
typedef struct {
  mu_u64 low, high;
} state;
enum { OF_TILE = 1, OF_ALL = 2, KINDS = 4 };

MU_FN void state_show(state *s, carry sum, mu_u32 turn, mu_u32 kind) {
  mu_u64 bits = BITS_OF_CARRY(sum), tag = (mu_u32)(turn * KINDS + kind);
  mu_global_store_relaxed_device_u64(&s->low, bits << 32 | tag);
  mu_global_store_relaxed_device_u64(&s->high, (bits & 0xffffffff00000000ull) | tag);
}
// 0 while it shows nothing of this turn, or is about to show something else.
MU_FN mu_u32 state_look(const state *s, mu_u32 turn, carry *sum) {
  mu_u64 low = mu_global_load_relaxed_device_u64(&s->low), high = mu_global_load_relaxed_device_u64(&s->high);
  mu_u32 tag = (mu_u32)low;
  *sum = CARRY_OF_BITS(low >> 32 | (high & 0xffffffff00000000ull));
  return tag == (mu_u32)high && tag / KINDS == (mu_u32)(turn * KINDS) / KINDS ? tag % KINDS : 0;
}

// The sum of all tiles before `tile`; by the lanes of one warp, and the same in all of them. Each looks at
// one of the last 32 tiles, again and again until the nearest that knows the sum up to its end has only tiles
// behind it whose own sums are known.
MU_FN carry look_back(const state *states, mu_u32 tile, mu_u32 turn) {
  MU_SHARED carry window[32];
  mu_tile warp = mu_tile_mask(0xffffffffu);
  mu_u32 lane = mu_lane(), nearest;
  carry sum = 0;
  for (;;) {
    mu_u32 kind = OF_ALL; // before the first tile
    if (tile > lane)
      kind = state_look(states + (tile - 1 - lane), turn, &sum);
    else
      sum = 0;
    mu_u32 known = mu_tile_ballot(&warp, kind != 0), whole = mu_tile_ballot(&warp, kind == OF_ALL);
    nearest = whole ? mu_lowest_bit(whole) : 32;
    if (nearest < 32 && (known | ~((1u << nearest) - 1)) == 0xffffffffu)
      break;
  }
  window[lane] = sum;
  mu_tile_sync(&warp);
  sum = window[nearest];
  MU_ROLLED while (nearest > 0) sum = sum + window[--nearest];
  return sum;
}

// The tile's vectors of a warp, lanes side by side, so that a row is 512 bytes.
MU_FN mu_u64 vector_at(mu_u32 tile, mu_u32 row) {
  return tile * (mu_u64)TILE_VECTORS + mu_thread_x() / 32 * (ROWS * 32) + row * 32 + mu_lane();
}

MU_FN mu_b128 vector_up_to(const elem *x, mu_u64 n, mu_u64 i) { // zeros from n on
  mu_b128 v = vector_none();
  _Pragma("unroll") for (mu_u32 lane = 0; lane < LANES; lane++) if (i * LANES + lane < n) v =
      vector_with(v, lane, x[i * LANES + lane]);
  return v;
}

MU_FN void scan(const elem *x, mu_u64 n, elem *out, mu_u64 *turns, state *states, mu_u32 exclusive) {
  MU_SHARED carry of_warp[WARPS];
  MU_SHARED carry before_tile[1];
  MU_SHARED mu_u32 taken[2];
  mu_tile warp = mu_tile_mask(0xffffffffu);
  mu_u32 tiles = mu_grid_blocks_x(), me = mu_thread_x() / 32, tile = 0, turn = 0;
  if (tiles > 1) {
    if (mu_thread_x() == 0) {
      mu_u64 ticket = mu_global_add_relaxed_device_u64(turns, 1);
      taken[0] = (mu_u32)ticket;
      taken[1] = (mu_u32)(ticket >> 32) + 1;
      if ((mu_u32)ticket == tiles - 1) // nobody takes another one in this launch
        mu_global_store_relaxed_device_u64(turns, ((ticket >> 32) + 1) << 32);
    }
    mu_block_sync();
    tile = taken[0];
    turn = taken[1];
  }

  mu_b128 v[ROWS];
  mu_u32 whole = is_aligned(x) && (tile + 1) * (mu_u64)TILE_VECTORS <= n / LANES;
  if (whole) {
    _Pragma("unroll") for (mu_u32 row = 0; row < ROWS; row++) v[row] =
        mu_global_read_b128(x + vector_at(tile, row) * LANES);
  } else {
    _Pragma("unroll") for (mu_u32 row = 0; row < ROWS; row++) v[row] =
        vector_up_to(x, n, vector_at(tile, row));
  }

  // before[row]: the sum of the warp's elements before the lane's of that row.
  near_type before[ROWS], sum = 0;
  _Pragma("unroll") for (mu_u32 row = 0; row < ROWS; row++) {
    near_type own = near_of(vector_elem(v[row], 0));
    _Pragma("unroll") for (mu_u32 lane = 1; lane < LANES; lane++) own += near_of(vector_elem(v[row], lane));
    own = OF_WARP(scan_incl_add, NEAR)(&warp, own);
    near_type left = OF_WARP(shuffle_up, NEAR)(&warp, own, 1);
    before[row] = sum + (mu_lane() ? left : 0);
    sum += OF_WARP(shuffle_from, NEAR)(&warp, own, 31);
  }
  if (mu_lane() == 0)
    of_warp[me] = (carry)sum;
  mu_block_sync();

  // The first warp: sums of the warps before each, the tile's, and of all tiles before.
  if (me == 0) {
    carry mine = mu_lane() < WARPS ? of_warp[mu_lane()] : 0,
          upto = OF_WARP(scan_incl_add, CARRY)(&warp, mine);
    carry left = OF_WARP(shuffle_up, CARRY)(&warp, upto, 1),
          all = OF_WARP(shuffle_from, CARRY)(&warp, upto, 31), past = 0;
    if (tiles > 1) {
      if (tile > 0) {
        if (mu_lane() == 0)
          state_show(states + tile, all, turn, OF_TILE);
        past = look_back(states, tile, turn);
      }
      if (mu_lane() == 0)
        state_show(states + tile, past + all, turn, OF_ALL);
    }
    if (mu_lane() < WARPS)
      of_warp[mu_lane()] = mu_lane() ? left : 0;
    if (mu_lane() == 0)
      before_tile[0] = past;
  }
  mu_block_sync();

  near_type base = (near_type)(before_tile[0] + of_warp[me]);
  mu_u32 whole_out = whole && is_aligned(out);
  _Pragma("unroll") for (mu_u32 row = 0; row < ROWS; row++) {
    mu_b128 result = vector_none();
    mu_u64 at = vector_at(tile, row);
    near_type running = before[row];
    _Pragma("unroll") for (mu_u32 lane = 0; lane < LANES; lane++) {
      near_type next = running + near_of(vector_elem(v[row], lane));
      result = vector_with(result, lane, elem_of(base + (exclusive ? running : next)));
      running = next;
    }
    if (whole_out)
      mu_global_write_b128(out + at * LANES, result);
    else
      _Pragma("unroll") for (mu_u32 lane = 0; lane < LANES; lane++) if (at * LANES + lane < n)
          out[at * LANES + lane] = vector_elem(result, lane);
  }
}

MU_KERNEL MU_BOUNDS(THREADS, 2)
    NAME(scan_inclusive_sum, ELEM)(const elem *x, mu_u64 n, elem *out, mu_u64 *turns, state *states) {
  scan(x, n, out, turns, states, 0);
}

MU_KERNEL MU_BOUNDS(THREADS, 2)
    NAME(scan_exclusive_sum, ELEM)(const elem *x, mu_u64 n, elem *out, mu_u64 *turns, state *states) {
  scan(x, n, out, turns, states, 1);
}
