// broken: only the thread that waited knows that the others have come; rule: race-global
// The block's other threads read their neighbour's payload at once. Right: mu_bar_sync() after the wait.
#include "payload.h"

static __device__ void broken_sync(mu_u64 *word, mu_u64 all) {
  mu_bar_sync();
  if (mu_thread() == 0) {
    mu_red_add_release_device_u64(word, 1);
    WATCH(mu_load_acquire_device_u64, word, all)
  }
}
