// reduce_body.cuh: one reduction; see reduce.cu for what is to be defined before.
//
// Each thread joins every so many-th vector, the threads of a block join theirs in a tree, and a block tells
// its result in the workspace; the block that began last joins those. The tree depends on n and the numbers
// of blocks and threads and on nothing else.

#ifndef IN_VECTOR
#define IN_VECTOR ACC
#endif

// A vector's elements, first those that are half a vector apart: fewer steps than one after the other.
MU_FN ACC NAME(vector, KERNEL)(mu_b128 a, mu_b128 b, mu_u64 first) {
  IN_VECTOR part[LANES];
  (void)b, (void)first; // only some operations look at them
  _Pragma("unroll") for (mu_u32 lane = 0; lane < LANES; lane++) part[lane] =
      TAKE(vector_elem(a, lane), vector_elem(b, lane), first + lane);
  _Pragma("unroll") for (mu_u32 half = LANES / 2; half; half /= 2)
      _Pragma("unroll") for (mu_u32 lane = 0; lane < half; lane++) part[lane] =
          JOIN(part[lane], part[lane + half]);
  return (ACC)part[0];
}

// What is this thread's of the array: every so many-th vector, joined in UNROLL strands. The vectors of a
// round are all loaded before the first is used; one behind the end is loaded as vector 0 and not joined.
MU_FN ACC NAME(thread, KERNEL)(const elem *x, const elem *y, mu_u64 n) {
  mu_u64 vectors = n / LANES, threads = mu_grid_blocks_x() * (mu_u64)mu_block_threads_x();
  mu_u64 i = mu_block_x() * (mu_u64)mu_block_threads_x() + mu_thread_x();
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

// A block's result as words: its 32-bit pieces.
MU_FN void NAME(tell, KERNEL)(mu_u64 *words, ACC part, mu_u32 turn) {
  mu_u32 piece[sizeof(ACC) / 4];
  __builtin_memcpy(piece, &part, sizeof part);
  _Pragma("unroll") for (mu_u32 k = 0; k < sizeof(ACC) / 4; k++) word_tell(words + k, piece[k], turn);
}
MU_FN mu_u32 NAME(ask, KERNEL)(const mu_u64 *words, mu_u32 turn, ACC *part) {
  mu_u32 piece[sizeof(ACC) / 4], told = 1;
  _Pragma("unroll") for (mu_u32 k = 0; k < sizeof(ACC) / 4; k++) told &= word_ask(words + k, turn, &piece[k]);
  __builtin_memcpy(part, piece, sizeof *part);
  return told;
}

// All blocks' results joined, by the lanes of one warp. All that a lane waits for is asked for at once.
MU_FN ACC NAME(blocks, KERNEL)(const mu_u64 *words, mu_u32 blocks, mu_u32 turn) {
  enum { AT_ONCE = OPS_REDUCE_BLOCKS / 32, PIECES = sizeof(ACC) / 4 };
  ACC of_block[AT_ONCE], part = NEUTRAL;
  mu_u32 told;
  do {
    told = 1;
    _Pragma("unroll") for (mu_u32 k = 0; k < AT_ONCE; k++) {
      mu_u32 block = mu_lane() + 32 * k;
      of_block[k] = NEUTRAL;
      if (block < blocks)
        told &= NAME(ask, KERNEL)(words + block * PIECES, turn, &of_block[k]);
    }
  } while (!told);
  _Pragma("unroll") for (mu_u32 k = 0; k < AT_ONCE; k++) part = JOIN(part, of_block[k]);
  return NAME(warp, KERNEL)(part);
}

MU_KERNEL MU_BOUNDS(OPS_REDUCE_THREADS, OPS_REDUCE_RESIDENT)
    NAME(KERNEL, ELEM)(const elem *x, const elem *y, mu_u64 n, OUT *out, mu_u64 *turns, mu_u64 *words) {
  MU_SHARED ACC of_warp[OPS_REDUCE_THREADS / 32];
  mu_u32 blocks = mu_grid_blocks_x(), warps = mu_block_threads_x() / 32;
  turn_ticket ticket = {0, 0};
  if (blocks > 1 && mu_thread_x() == 0) // on its way while the elements are
    ticket = turn_take(turns, blocks);
  ACC part = NAME(thread, KERNEL)(x, y, n);
  part = NAME(warp, KERNEL)(part);
  if (mu_lane() == 0)
    of_warp[mu_thread_x() / 32] = part;
  mu_block_sync();
  if (mu_thread_x() >= 32)
    return;
  part = mu_lane() < warps ? of_warp[mu_lane()] : NEUTRAL;
  part = NAME(warp, KERNEL)(part);
  if (blocks > 1) {
    mu_tile warp = mu_tile_mask(0xffffffffu);
    if (mu_lane() == 0)
      NAME(tell, KERNEL)(words + mu_block_x() * (sizeof(ACC) / 4), part, ticket.turn);
    if (mu_tile_broadcast_u32(&warp, ticket.place, 0) != blocks - 1)
      return;
    part = NAME(blocks, KERNEL)(words, blocks, mu_tile_broadcast_u32(&warp, ticket.turn, 0));
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
