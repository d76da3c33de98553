// scan_extreme.cu: running extremes of an array, in one pass over it: the least of the keys so far (key.cuh).
//
// Compiled for unsigned elements; the order says which type their bits are of. Extremes are exact, so the
// result does not depend on who joins what.
#define JOIN(a, b) PURE(min, u64)(a, b)
#define NONE ((mu_u64)MOST)
#include "key.cuh"
#include "look_back.cuh"

enum {
  THREADS = OPS_TILE_THREADS,
  ROWS = OPS_TILE_ROWS,
  WARPS = THREADS / 32,
  TILE_VECTORS = THREADS * ROWS
};

#define LESS(a, b) PURE(min, NEAR)(a, b)

// Sixteen elements a vector take more registers than four blocks leave.
MU_KERNEL MU_BOUNDS(THREADS, LANES == 16 ? 2 : OPS_TILE_RESIDENT)
    NAME(scan_extreme, ELEM)(const elem *x, mu_u64 n, elem *out, mu_u64 *turns, told_tile *told,
                             ops_order order, mu_u32 exclusive) {
  MU_SHARED near_type of_warp[WARPS];
  mu_tile warp = mu_tile_mask(0xffffffffu);
  turn_ticket tile = tile_take(turns);
  mu_u32 me = mu_thread_x() / 32;
  // the tile's vectors of a warp, lanes side by side
  mu_u64 first = tile.place * (mu_u64)TILE_VECTORS + me * (ROWS * 32) + mu_lane();
  mu_u32 whole = (tile.place + 1) * (mu_u64)TILE_VECTORS <= n / LANES;

  mu_b128 v[ROWS];
  if (whole && is_aligned(x)) {
    _Pragma("unroll") for (mu_u32 row = 0; row < ROWS; row++) v[row] =
        mu_global_read_b128(x + (first + row * 32) * LANES);
  } else {
    _Pragma("unroll") for (mu_u32 row = 0; row < ROWS; row++) v[row] = vector_up_to(x, n, first + row * 32);
  }

  // before[row]: the warp's least before the lane's of that row. What is behind the end is before nothing.
  near_type before[ROWS], least = MOST;
  _Pragma("unroll") for (mu_u32 row = 0; row < ROWS; row++) {
    near_type own = MOST;
    _Pragma("unroll") for (mu_u32 lane = 0; lane < LANES; lane++) own =
        LESS(own, key_of(vector_elem(v[row], lane), order));
    own = OF_WARP(scan_incl_min, NEAR)(&warp, own);
    near_type left = OF_WARP(shuffle_up, NEAR)(&warp, own, 1);
    before[row] = LESS(least, mu_lane() ? left : MOST);
    least = LESS(least, OF_WARP(shuffle_from, NEAR)(&warp, own, 31));
  }
  if (mu_lane() == 0)
    of_warp[me] = least;
  mu_block_sync();

  // The first warp: the least of all before each warp.
  if (me == 0) {
    near_type mine = mu_lane() < WARPS ? of_warp[mu_lane()] : MOST;
    near_type upto = OF_WARP(scan_incl_min, NEAR)(&warp, mine);
    near_type left = OF_WARP(shuffle_up, NEAR)(&warp, upto, 1);
    near_type past = (near_type)look_back(told, tile, OF_WARP(shuffle_from, NEAR)(&warp, upto, 31));
    if (mu_lane() < WARPS)
      of_warp[mu_lane()] = LESS(past, mu_lane() ? left : MOST);
  }
  mu_block_sync();

  near_type base = of_warp[me];
  _Pragma("unroll") for (mu_u32 row = 0; row < ROWS; row++) {
    mu_b128 result = vector_none();
    mu_u64 at = first + row * 32;
    near_type running = LESS(base, before[row]);
    _Pragma("unroll") for (mu_u32 lane = 0; lane < LANES; lane++) {
      near_type next = LESS(running, key_of(vector_elem(v[row], lane), order));
      result = vector_with(result, lane, elem_of_key(exclusive ? running : next, order));
      running = next;
    }
    if (whole && is_aligned(out))
      mu_global_write_b128(out + at * LANES, result);
    else
      _Pragma("unroll") for (mu_u32 lane = 0; lane < LANES; lane++) if (at * LANES + lane < n)
          out[at * LANES + lane] = vector_elem(result, lane);
  }
}
