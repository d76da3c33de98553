// histogram_range_body.cuh: one way of counting; see histogram_range.cu for what is to be defined before.

MU_KERNEL MU_BOUNDS(OPS_RANGE_THREADS, 4)
    NAME(KERNEL, ELEM)(const elem *x, mu_u64 n, const elem *edges, mu_u32 bins, const void *weights,
                       mu_u32 weight_bytes, PASTE(mu_, TOTAL) * out, mu_u32 *ticket,
                       PASTE(mu_, TOTAL) * totals) {
  (void)weights, (void)weight_bytes; // only some look at them
  MU_SHARED_DYNAMIC mu_u64 room[];   // the block's sums, and behind them the edges
  PASTE(mu_, PART) *own = (PASTE(mu_, PART) *)(void *)room;
  mu_u32 here = bins <= OPS_RANGE_SHARED_BINS, threads = OPS_RANGE_THREADS;
  if (here) {
    elem *copy = (elem *)(void *)((mu_u64 *)room + bins);
    MU_ROLLED for (mu_u32 i = mu_thread_x(); i < bins; i += threads) own[i] = 0;
    MU_ROLLED for (mu_u32 i = mu_thread_x(); edges && i <= bins; i += threads) copy[i] = edges[i];
    edges = edges ? copy : 0;
    mu_block_sync();
  }
  mu_u64 all = mu_grid_blocks_x() * (mu_u64)threads;
  MU_ROLLED for (mu_u64 i = mu_block_x() * (mu_u64)threads + mu_thread_x(); i < n; i += all) {
    mu_u32 bin = bin_of(x[i], edges, bins);
    if (bin >= bins)
      continue;
    if (here)
      NAME(mu_shared_red_add_relaxed_block, PART)(own + bin,
                                                  (PASTE(mu_, PART))WEIGHT(weights, weight_bytes, i));
    else
      NAME(mu_aggregate_each_red_add_device, TOTAL)(totals + bin, WEIGHT(weights, weight_bytes, i));
  }
  if (here) {
    mu_block_sync();
    MU_ROLLED for (mu_u32 i = mu_thread_x(); i < bins; i += threads) if (own[i] != 0)
        NAME(mu_global_red_add_relaxed_device, TOTAL)(totals + i, (PASTE(mu_, TOTAL))own[i]);
  }
  totals_finish((mu_u64 *)(void *)out, bins, ticket, mu_grid_blocks_x(), (mu_u64 *)(void *)totals);
}

#undef KERNEL
#undef PART
#undef TOTAL
#undef WEIGHT
