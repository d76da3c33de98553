// rules.cu RULE broken|fixed: runs one form of a rule's example. The examples are the files of this folder,
// which doc/rules.md shows: kernels `broken` and `fixed` with LAUNCH(BLOCKS, THREADS), or a host of their
// own.
#include <cooperative_groups.h>
#include <cstdio>
#include <cstring>

#define LAUNCH(blocks, threads)                 \
  static void run(bool is_fixed, int *memory) { \
    if (is_fixed)                               \
      fixed<<<blocks, threads>>>(memory);       \
    else                                        \
      broken<<<blocks, threads>>>(memory);      \
  }
#define LAUNCH_COOPERATIVE(blocks, threads)                                                                  \
  static void run(bool is_fixed, int *memory) {                                                              \
    void *arguments[] = {&memory};                                                                           \
    cudaLaunchCooperativeKernel((void *)(is_fixed ? fixed : broken), dim3(blocks), dim3(threads), arguments, \
                                0, 0);                                                                       \
  }

namespace race_shared {
#include "race-shared.cu"
}
namespace race_global {
#include "race-global.cu"
}
namespace race_warp {
#include "race-warp.cu"
}
namespace race_scope {
#include "race-scope.cu"
}
namespace missing_release {
#include "missing-release.cu"
}
namespace missing_acquire {
#include "missing-acquire.cu"
}
namespace race_mixed_size {
#include "race-mixed-size.cu"
}
namespace same_value_write {
#include "same-value-write.cu"
}
namespace missing_proxy_fence {
#include "missing-proxy-fence.cu"
}
namespace barrier_divergence {
#include "barrier-divergence.cu"
}
namespace barrier_exited {
#include "barrier-exited.cu"
}
namespace barrier_count {
#include "barrier-count.cu"
}
namespace barrier_redundant {
#include "barrier-redundant.cu"
}
namespace barrier_uneven {
#include "barrier-uneven.cu"
}
namespace not_cooperative {
#include "not-cooperative.cu"
}
namespace warp_mask {
#include "warp-mask.cu"
}
namespace shuffle_source {
#include "shuffle-source.cu"
}
namespace deadlock_barrier {
#include "deadlock-barrier.cu"
}
namespace deadlock_spin {
#include "deadlock-spin.cu"
}
namespace deadlock_residency {
#include "deadlock-residency.cu"
}
namespace needs_fairness {
#include "needs-fairness.cu"
}
namespace oob_global {
#include "oob-global.cu"
}
namespace oob_shared {
#include "oob-shared.cu"
}
namespace oob_local {
#include "oob-local.cu"
}
namespace oob_const {
#include "oob-const.cu"
}
namespace null_access {
#include "null-access.cu"
}
namespace use_after_free {
#include "use-after-free.cu"
}
namespace misaligned {
#include "misaligned.cu"
}
namespace uninit_shared {
#include "uninit-shared.cu"
}
namespace uninit_global {
#include "uninit-global.cu"
}
namespace uninit_local {
#include "uninit-local.cu"
}
namespace race_launch {
#include "race-launch.cu"
}
namespace launch_failed {
#include "launch-failed.cu"
}
namespace leak {
#include "leak.cu"
}
namespace sticky_error {
#include "sticky-error.cu"
}

static const struct {
  const char *id;
  void (*run)(bool is_fixed, int *memory);
} rules[] = {
    {"race-shared", race_shared::run},
    {"race-global", race_global::run},
    {"race-warp", race_warp::run},
    {"race-scope", race_scope::run},
    {"missing-release", missing_release::run},
    {"missing-acquire", missing_acquire::run},
    {"race-mixed-size", race_mixed_size::run},
    {"same-value-write", same_value_write::run},
    {"missing-proxy-fence", missing_proxy_fence::run},
    {"barrier-divergence", barrier_divergence::run},
    {"barrier-exited", barrier_exited::run},
    {"barrier-count", barrier_count::run},
    {"barrier-redundant", barrier_redundant::run},
    {"barrier-uneven", barrier_uneven::run},
    {"not-cooperative", not_cooperative::run},
    {"warp-mask", warp_mask::run},
    {"shuffle-source", shuffle_source::run},
    {"deadlock-barrier", deadlock_barrier::run},
    {"deadlock-spin", deadlock_spin::run},
    {"deadlock-residency", deadlock_residency::run},
    {"needs-fairness", needs_fairness::run},
    {"oob-global", oob_global::run},
    {"oob-shared", oob_shared::run},
    {"oob-local", oob_local::run},
    {"oob-const", oob_const::run},
    {"null-access", null_access::run},
    {"use-after-free", use_after_free::run},
    {"misaligned", misaligned::run},
    {"uninit-shared", uninit_shared::run},
    {"uninit-global", uninit_global::run},
    {"uninit-local", uninit_local::run},
    {"race-launch", race_launch::run},
    {"launch-failed", launch_failed::run},
    {"leak", leak::run},
    {"sticky-error", sticky_error::run},
};

int main(int argc, char **argv) {
  bool is_fixed = argc == 3 && strcmp(argv[2], "fixed") == 0;
  for (auto &rule : rules)
    if (argc == 3 && strcmp(argv[1], rule.id) == 0) {
      int *memory; // zeroed, more than any example needs
      if (cudaMalloc(&memory, 65536) != cudaSuccess || cudaMemset(memory, 0, 65536) != cudaSuccess)
        return 2;
      rule.run(is_fixed, memory);
      cudaDeviceSynchronize();
      cudaFree(memory);
      return 0;
    }
  fprintf(stderr, "usage: rules RULE broken|fixed\n");
  return 2;
}
