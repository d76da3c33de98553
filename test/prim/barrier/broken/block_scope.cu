// broken: the order reaches the own block only; rule: race-scope
// Between blocks a release of block scope orders nothing. Right: device scope.
#include "payload.h"

static __device__ void broken_sync(mu_u64 *word, mu_u64 all) {
  mu_bar_sync();
  if (mu_thread() == 0) {
    mu_red_add_release_block_u64(word, 1);
    WATCH(mu_load_acquire_block_u64, word, all)
  }
  mu_bar_sync();
}
