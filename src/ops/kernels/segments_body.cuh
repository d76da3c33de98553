// segments_body.cuh: one reduction of segments; see segments.cu for what is to be defined before.
//
// Who joins what depends on a segment's length alone.

// What falls to thread `me` of `threads`, in STRANDS strands.
MU_FN ACC NAME(thread, KERNEL)(const elem *x, segment s, mu_u32 me, mu_u32 threads, ops_order order) {
  ACC part[STRANDS];
  (void)order; // only extremes look at it
  _Pragma("unroll") for (mu_u32 k = 0; k < STRANDS; k++) part[k] = NONE;
  MU_ROLLED for (mu_u64 i = s.from + me; i < s.end; i += STRANDS * threads) {
    elem mine[STRANDS];
    _Pragma("unroll") for (mu_u32 k = 0; k < STRANDS; k++) if (i + k * threads < s.end) mine[k] =
        x[i + k * threads];
    _Pragma("unroll") for (mu_u32 k = 0; k < STRANDS; k++) if (i + k * threads < s.end) part[k] =
        JOIN(part[k], TAKE(mine[k]));
  }
  _Pragma("unroll") for (mu_u32 half = STRANDS / 2; half; half /= 2)
      _Pragma("unroll") for (mu_u32 k = 0; k < half; k++) part[k] = JOIN(part[k], part[k + half]);
  return part[0];
}

MU_FN ACC NAME(warp, KERNEL)(ACC part) {
  _Pragma("unroll") for (mu_u32 bits = 16; bits; bits /= 2) part = JOIN(part, FETCH(part, mu_lane() ^ bits));
  return part;
}

MU_KERNEL MU_BOUNDS(OPS_SEGMENTS_THREADS, 4)
    NAME(KERNEL, ELEM)(const elem *x, mu_u64 n, const mu_u64 *offsets, mu_u64 segments, OUT *out,
                       ops_order order) {
  MU_SHARED ACC of_warp[WARPS];
  mu_u64 first = mu_block_x() * (mu_u64)WARPS;
  mu_u32 me = mu_thread_x() / 32;
  if (first + me < segments) {
    segment s = segment_at(offsets, first + me, n);
    if (s.end - s.from <= OPS_SEGMENTS_SHORT) {
      ACC part = NAME(warp, KERNEL)(NAME(thread, KERNEL)(x, s, mu_lane(), 32, order));
      if (mu_lane() == 0)
        out[first + me] = GIVE(part);
    }
  }
  MU_ROLLED for (mu_u64 i = first; i < segments && i < first + WARPS; i++) { // the long ones, all together
    segment s = segment_at(offsets, i, n);
    if (s.end - s.from <= OPS_SEGMENTS_SHORT)
      continue;
    ACC part = NAME(warp, KERNEL)(NAME(thread, KERNEL)(x, s, mu_thread_x(), OPS_SEGMENTS_THREADS, order));
    if (mu_lane() == 0)
      of_warp[me] = part;
    mu_block_sync();
    if (me == 0) {
      part = NAME(warp, KERNEL)(mu_lane() < WARPS ? of_warp[mu_lane()] : NONE);
      if (mu_lane() == 0)
        out[i] = GIVE(part);
    }
    mu_block_sync();
  }
}

#undef KERNEL
#undef ACC
#undef FETCH
#undef NONE
#undef JOIN
#undef TAKE
#undef OUT
#undef GIVE
