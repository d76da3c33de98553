// totals.cuh: what all blocks added up in the workspace becomes the result.
#ifndef MUSTER_OPS_TOTALS_CUH
#define MUSTER_OPS_TOTALS_CUH

#include "elem.cuh"

// The last of `blocks` blocks finds their totals complete. Many are on their way at once: this is one block's
// work.
MU_FN void totals_finish(mu_u64 *counts, mu_u32 bins, mu_u32 *ticket, mu_u32 blocks, mu_u64 *totals) {
  enum { AT_ONCE = 8 };
  mu_u32 threads = mu_block_threads_x();
  if (!mu_ticket_last(ticket, blocks))
    return;
  MU_ROLLED for (mu_u32 i = mu_thread_x(); i < bins; i += AT_ONCE * threads) {
    mu_u64 total[AT_ONCE];
    _Pragma("unroll") for (mu_u32 k = 0; k < AT_ONCE; k++) if (i + k * threads < bins) total[k] =
        totals[i + k * threads];
    _Pragma("unroll") for (mu_u32 k = 0; k < AT_ONCE; k++) if (i + k * threads < bins) {
      counts[i + k * threads] = total[k];
      totals[i + k * threads] = 0;
    }
  }
}

#endif
