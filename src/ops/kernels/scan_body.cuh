// scan_body.cuh: the scan in one shape, a block for each tile; see scan.cu. THREADS of a block, ROWS of
// vectors for each, RESIDENT blocks that shall fit a multiprocessor, ENDING of the kernels' names.

MU_FN void OF_SHAPE(scan)(const elem *x, mu_u64 n, elem *out, mu_u64 *turns, told_sum *told, told_sum *groups,
                          told_sum *fields, mu_u32 exclusive) {
  enum { WARPS = THREADS / 32, TILE_VECTORS = THREADS * ROWS };
  MU_SHARED carry of_warp[WARPS];
  MU_SHARED carry before_tile[1];
  MU_SHARED mu_u32 taken[2];
  mu_tile warp = mu_tile_mask(0xffffffffu);
  mu_u32 tiles = mu_grid_blocks_x(), me = mu_thread_x() / 32, tile = 0, turn = 0;
  if (tiles > 1) {
    if (mu_thread_x() == 0) {
      turn_ticket ticket = turn_take(turns, tiles);
      taken[0] = ticket.place;
      taken[1] = ticket.turn;
    }
    mu_block_sync();
    tile = taken[0];
    turn = taken[1];
  }

  mu_b128 v[ROWS];
  mu_u32 whole = is_aligned(x) && (tile + 1) * (mu_u64)TILE_VECTORS <= n / LANES;
  if (whole) {
    _Pragma("unroll") for (mu_u32 row = 0; row < ROWS; row++) v[row] =
        mu_global_read_b128(x + OF_SHAPE(vector_at)(tile, row) * LANES);
  } else {
    _Pragma("unroll") for (mu_u32 row = 0; row < ROWS; row++) v[row] =
        vector_up_to(x, n, OF_SHAPE(vector_at)(tile, row));
  }

  near_type before[ROWS], sum = OF_SHAPE(rows_sum)(&warp, v, before);
  if (mu_lane() == 0)
    of_warp[me] = (carry)sum;
  mu_block_sync();

  // The first warp: sums of the warps before each, the tile's, and of all tiles before.
  if (me == 0) {
    carry mine = mu_lane() < WARPS ? of_warp[mu_lane()] : 0,
          upto = OF_WARP(scan_incl_add, CARRY)(&warp, mine);
    carry left = OF_WARP(shuffle_up, CARRY)(&warp, upto, 1),
          all = OF_WARP(shuffle_from, CARRY)(&warp, upto, 31), past = 0;
    if (tiles > 1 && mu_lane() == 0)
      tile_tell(told, tile, turn, all);
    if (tiles > 1)
      past = look_back(told, groups, fields, tile, turn, all);
    if (mu_lane() < WARPS)
      of_warp[mu_lane()] = mu_lane() ? left : 0;
    if (mu_lane() == 0)
      before_tile[0] = past;
  }
  mu_block_sync();

  near_type base = (near_type)(before_tile[0] + of_warp[me]);
  mu_u32 whole_out = whole && is_aligned(out);
  _Pragma("unroll") for (mu_u32 row = 0; row < ROWS; row++) {
    mu_b128 sums = vector_sums(v[row], before[row], exclusive);
    OF_SHAPE(row_write)(out, n, tile, row, vector_plus(base, sums), whole_out);
  }
}

MU_KERNEL MU_BOUNDS(THREADS, RESIDENT)
    NAME(OF_SHAPE(scan_inclusive_sum), ELEM)(const elem *x, mu_u64 n, elem *out, mu_u64 *turns,
                                             told_sum *tiles, told_sum *groups, told_sum *fields) {
  OF_SHAPE(scan)(x, n, out, turns, tiles, groups, fields, 0);
}

MU_KERNEL MU_BOUNDS(THREADS, RESIDENT)
    NAME(OF_SHAPE(scan_exclusive_sum), ELEM)(const elem *x, mu_u64 n, elem *out, mu_u64 *turns,
                                             told_sum *tiles, told_sum *groups, told_sum *fields) {
  OF_SHAPE(scan)(x, n, out, turns, tiles, groups, fields, 1);
}
