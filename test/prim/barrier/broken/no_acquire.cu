// broken: the wait acquires nothing; rule: missing-acquire
// The neighbour's payload may be read from L1, where the last round's still lies. Right: one
// mu_load_acquire_... after the look that succeeded.
#include "payload.h"

static __device__ void broken_sync(mu_u64 *word, mu_u64 all) {
  mu_bar_sync();
  if (mu_thread() == 0) {
    mu_red_add_release_device_u64(word, 1);
    WATCH(mu_load_relaxed_device_u64, word, all)
  }
  mu_bar_sync();
}
