// broken: the arrival releases nothing; rule: missing-release
// The payload may still be on its way when the count says that its block has come. Right:
// mu_red_add_release_...
#include "payload.h"

static __device__ void broken_sync(mu_u64 *word, mu_u64 all) {
  mu_bar_sync();
  if (mu_thread() == 0) {
    mu_red_add_relaxed_device_u64(word, 1);
    WATCH(mu_load_relaxed_device_u64, word, all)
    (void)mu_load_acquire_device_u64(word);
  }
  mu_bar_sync();
}
