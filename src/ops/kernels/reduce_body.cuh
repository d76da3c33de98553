// reduce_body.cuh: one reduction; see reduce.cu for what is to be defined before.
//
// Each thread joins every so many-th vector, the threads of a block join theirs in a tree, and a block leaves
// its result in the workspace; the last block to do so joins those. The tree depends on n and the number of
// blocks and on nothing else.

// A vector's elements, first those that are half a vector apart: fewer steps than one after the other.
MU_FN ACC NAME(vector, KERNEL)(mu_b128 a, mu_b128 b, mu_u64 first) {
  IN_VECTOR part[LANES];
  (void)b, (void)first; // only some operations look at them
  _Pragma("unroll") for (mu_u32 lane = 0; lane < LANES; lane++) part[lane] =
      TAKE(vector_elem(a, lane), vector_elem(b, lane), first + lane);
  _Pragma("unroll") for (mu_u32 half = LANES / 2; half; half /= 2)
      _Pragma("unroll") for (mu_u32 lane = 0; lane < half; lane++) part[lane] =
          JOIN_IN_VECTOR(part[lane], part[lane + half]);
  return (ACC)part[0];
}

// What is this thread's of the array: every so many-th vector, joined in UNROLL strands. The vectors of a
// round are all loaded before the first is used; one behind the end is loaded as vector 0 and not joined.
MU_FN ACC NAME(thread, KERNEL)(const elem *x, const elem *y, mu_u64 n) {
  mu_u64 vectors = n / LANES, threads = mu_grid_blocks_x() * (mu_u64)OPS_REDUCE_THREADS;
  mu_u64 i = mu_block_x() * (mu_u64)OPS_REDUCE_THREADS + mu_thread_x();
  ACC part[UNROLL];
  _Pragma("unroll") for (mu_u32 k = 0; k < UNROLL; k++) part[k] = NEUTRAL;
  if (is_aligned(x) && (!PAIRS || is_aligned(y))) {
    MU_ROLLED for (; i < vectors; i += UNROLL * threads) {
      mu_b128 a[UNROLL], b[UNROLL];
      _Pragma("unroll") for (mu_u32 k = 0; k < UNROLL; k++) {
        mu_u64 at = i + k * threads < vectors ? i + k * threads : 0;
        a[k] = mu_global_read_b128(x + at * LANES);
        b[k] = PAIRS ? mu_global_read_b128(y + at * LANES) : a[k];
      }
      _Pragma("unroll") for (mu_u32 k = 0; k < UNROLL; k++) {
        ACC next = JOIN(part[k], NAME(vector, KERNEL)(a[k], b[k], (i + k * threads) * LANES));
        if (i + k * threads < vectors)
          part[k] = next;
      }
    }
  } else { // the same strands, one vector at a time
    MU_ROLLED for (mu_u32 strand = 0; i < vectors; i += threads, strand = (strand + 1) % UNROLL) {
      ACC next =
          NAME(vector, KERNEL)(vector_gather(x, i), PAIRS ? vector_gather(y, i) : vector_none(), i * LANES);
      _Pragma("unroll") for (mu_u32 k = 0; k < UNROLL; k++) if (k == strand) part[k] = JOIN(part[k], next);
    }
  }
  if (mu_block_x() == 0 && mu_thread_x() < n % LANES) { // elements that make no whole vector
    mu_u64 at = vectors * LANES + mu_thread_x();
    part[UNROLL - 1] = JOIN(part[UNROLL - 1], TAKE(x[at], y[at], at));
  }
  _Pragma("unroll") for (mu_u32 half = UNROLL / 2; half; half /= 2)
      _Pragma("unroll") for (mu_u32 k = 0; k < half; k++) part[k] = JOIN(part[k], part[k + half]);
  return part[0];
}

MU_FN ACC NAME(warp, KERNEL)(ACC part) {
  _Pragma("unroll") for (mu_u32 bits = 16; bits; bits /= 2) part = JOIN(part, FETCH(part, mu_lane() ^ bits));
  return part;
}

MU_KERNEL MU_BOUNDS(OPS_REDUCE_THREADS, 2)
    NAME(KERNEL, ELEM)(const elem *x, const elem *y, mu_u64 n, OUT *out, mu_u32 *tickets, ACC *parts) {
  enum { WARPS = OPS_REDUCE_THREADS / 32, AT_ONCE = 8 };
  MU_SHARED ACC of_warp[WARPS];
  ACC part = NAME(thread, KERNEL)(x, y, n);
  part = NAME(warp, KERNEL)(part);
  if (mu_lane() == 0)
    of_warp[mu_thread_x() / 32] = part;
  mu_block_sync();
  if (mu_thread_x() >= 32)
    return;
  part = mu_lane() < WARPS ? of_warp[mu_lane()] : NEUTRAL;
  part = NAME(warp, KERNEL)(part);
  mu_u32 blocks = mu_grid_blocks_x(), last = 1;
  if (blocks > 1) {
    mu_tile warp = mu_tile_mask(0xffffffffu);
    if (mu_lane() == 0) {
      parts[mu_block_x()] = part;
      last = mu_ticket_take(tickets, blocks);
    }
    last = mu_tile_broadcast_u32(&warp, last, 0);
    if (!last)
      return;
    mu_tile_sync(&warp); // what lane 0 acquired is acquired for all
    part = NEUTRAL;
    MU_ROLLED for (mu_u32 i = mu_lane(); i < blocks; i += 32 * AT_ONCE) {
      ACC of_block[AT_ONCE];
      _Pragma("unroll") for (mu_u32 k = 0; k < AT_ONCE; k++) of_block[k] =
          i + 32 * k < blocks ? parts[i + 32 * k] : NEUTRAL;
      _Pragma("unroll") for (mu_u32 k = 0; k < AT_ONCE; k++) part = JOIN(part, of_block[k]);
    }
    part = NAME(warp, KERNEL)(part);
  }
  if (mu_lane() == 0)
    *out = GIVE(part);
}

#undef KERNEL
#undef PAIRS
#undef TAKE
#undef OUT
#undef GIVE
#undef IN_VECTOR
#undef JOIN_IN_VECTOR
