// scan_shape.cuh: what all kernels of one shape do with a tile; see scan.cu. THREADS take part, with ROWS of
// vectors each.

// The tile's vectors of a warp, lanes side by side, so that a row is 512 bytes.
MU_FN mu_u64 OF_SHAPE(vector_at)(mu_u32 tile, mu_u32 row) {
  return tile * (mu_u64)(THREADS * ROWS) + mu_thread_x() / 32 * (ROWS * 32) + row * 32 + mu_lane();
}

// The sum of the warp's elements; before[row]: of those before the lane's of that row.
MU_FN near_type OF_SHAPE(rows_sum)(const mu_tile *warp, const mu_b128 v[ROWS], near_type before[ROWS]) {
  near_type sum = 0;
  _Pragma("unroll") for (mu_u32 row = 0; row < ROWS; row++) {
    near_type own = near_of(vector_elem(v[row], 0));
    _Pragma("unroll") for (mu_u32 lane = 1; lane < LANES; lane++) own += near_of(vector_elem(v[row], lane));
    own = OF_WARP(scan_incl_add, NEAR)(warp, own);
    near_type left = OF_WARP(shuffle_up, NEAR)(warp, own, 1);
    before[row] = sum + (mu_lane() ? left : 0);
    sum += OF_WARP(shuffle_from, NEAR)(warp, own, 31);
  }
  return sum;
}

// A row of the tile's result; `whole`: all of it is there, and aligned.
MU_FN void OF_SHAPE(row_write)(elem *out, mu_u64 n, mu_u32 tile, mu_u32 row, mu_b128 result, mu_u32 whole) {
  mu_u64 at = OF_SHAPE(vector_at)(tile, row);
  if (whole)
    mu_global_write_b128(out + at * LANES, result);
  else
    _Pragma("unroll") for (mu_u32 lane = 0; lane < LANES; lane++) if (at * LANES + lane < n)
        out[at * LANES + lane] = vector_elem(result, lane);
}
