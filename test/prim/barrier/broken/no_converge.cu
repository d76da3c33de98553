// broken: the first thread arrives for a block that has not come together; rule: missing-release
// The other threads' payload may not even be written when the count says that their block has come. Right:
// mu_bar_sync() before the arrival.
#include "payload.h"

static __device__ void broken_sync(mu_u64 *word, mu_u64 all) {
  if (mu_thread() == 0) {
    mu_red_add_release_device_u64(word, 1);
    WATCH(mu_load_acquire_device_u64, word, all)
  }
  mu_bar_sync();
}
