// map_body.cuh: one operation on each element; see map.cu for what is to be defined before.
//
// A block does one tile. The result may lie where an operand does: a thread reads what it then writes, and no
// more.

MU_FN elem NAME(value, KERNEL)(elem a, elem x, elem y) {
  (void)a, (void)x, (void)y; // only some operations look at them
  return elem_of(OF(near_of(a), near_of(x), near_of(y)));
}

MU_FN mu_b128 NAME(vector, KERNEL)(elem a, mu_b128 x, mu_b128 y) {
  mu_b128 v = vector_none();
  _Pragma("unroll") for (mu_u32 lane = 0; lane < LANES; lane++) v =
      vector_with(v, lane, NAME(value, KERNEL)(a, vector_elem(x, lane), vector_elem(y, lane)));
  return v;
}

MU_KERNEL MU_BOUNDS(OPS_MAP_THREADS, 2)
    NAME(KERNEL, ELEM)(elem a, const elem *x, const elem *y, mu_u64 n, elem *out) {
  mu_u64 vectors = n / LANES, first = mu_block_x() * (mu_u64)TILE_VECTORS;
  mu_u32 aligned = is_aligned(out) && (INPUTS < 1 || is_aligned(x)) && (INPUTS < 2 || is_aligned(y));
  if (aligned && first + TILE_VECTORS <= vectors) {
    mu_b128 of_x[UNROLL], of_y[UNROLL];
    mu_u64 i = first + mu_thread_x();
    _Pragma("unroll") for (mu_u32 k = 0; k < UNROLL; k++) {
      of_x[k] = INPUTS > 0 ? vector_load(x, i + k * THREADS) : vector_none();
      of_y[k] = INPUTS > 1 ? vector_load(y, i + k * THREADS) : vector_none();
    }
    _Pragma("unroll") for (mu_u32 k = 0; k < UNROLL; k++)
        mu_global_write_b128(out + (i + k * THREADS) * LANES, NAME(vector, KERNEL)(a, of_x[k], of_y[k]));
  } else {
    mu_u64 last = (first + TILE_VECTORS) * LANES;
    elem none = vector_elem(vector_none(), 0);
    last = last < n ? last : n;
    MU_ROLLED for (mu_u64 i = first * LANES + mu_thread_x(); i < last; i += THREADS) {
      out[i] = NAME(value, KERNEL)(a, INPUTS > 0 ? x[i] : none, INPUTS > 1 ? y[i] : none);
    }
  }
}

#undef KERNEL
#undef INPUTS
#undef OF
