/* profile.c: the table of GPUs and what follows from it: which PTX a GPU runs, and the limits that the
 * machine works with. Figures that hold for every GPU of a compute capability are derived here, not repeated
 * in the rows.
 */
#include "driver/profile.h"

#include <stdio.h>
#include <string.h>

#include "base/base.h"

#define KIB 1024
#define GPCS(...)                     \
  sizeof((uint8_t[]){__VA_ARGS__}), { \
    __VA_ARGS__                       \
  }

const drv_profile drv_profiles[] = {
/* Static shared memory ends at 48 KiB everywhere; from sm_80 on the system keeps 1 KiB of every block's. */
#define PROFILE(id, full, capability, sm_count, clock, memory, memory_clock, bus, l2, threads, blocks, \
                shared, optin, f64, engines, has_ecc, gpcs)                                            \
  {                                                                                                    \
      #id,                                                                                             \
      full,                                                                                            \
      capability,                                                                                      \
      sm_count,                                                                                        \
      clock,                                                                                           \
      memory,                                                                                          \
      memory_clock,                                                                                    \
      bus,                                                                                             \
      l2,                                                                                              \
      threads,                                                                                         \
      blocks,                                                                                          \
      65536,                                                                                           \
      (shared) * KIB,                                                                                  \
      48 * KIB,                                                                                        \
      (optin) * KIB,                                                                                   \
      (capability) >= 80 ? KIB : 0,                                                                    \
      f64,                                                                                             \
      engines,                                                                                         \
      has_ecc,                                                                                         \
      gpcs},
#include "driver/profiles.def"
};
const unsigned drv_profile_count = BASE_COUNT(drv_profiles);

const drv_profile *drv_profile_named(const char *name) {
  for (unsigned i = 0; i < drv_profile_count; i++)
    if (strcmp(drv_profiles[i].name, name) == 0)
      return &drv_profiles[i];
  return NULL;
}

bool drv_ptx_runs(int sm, char suffix, int cc) {
  if (suffix == 'a')
    return sm == cc;
  if (suffix == 'f')
    return sm / 10 == cc / 10 && sm <= cc;
  return sm <= cc;
}

const drv_profile *drv_profile_for(int sm, char suffix) {
  for (unsigned i = 0; i < drv_profile_count; i++)
    if (drv_ptx_runs(sm, suffix, drv_profiles[i].cc))
      return &drv_profiles[i];
  return NULL;
}

void drv_profile_list_for(int sm, char suffix, char *text, size_t bytes) {
  size_t at = 0;
  text[0] = 0;
  for (unsigned i = 0; i < drv_profile_count && at < bytes; i++)
    if (drv_ptx_runs(sm, suffix, drv_profiles[i].cc))
      at += (size_t)snprintf(text + at, bytes - at, "%s%s", at ? ", " : "", drv_profiles[i].name);
}

void drv_profile_limits(const drv_profile *p, sim_limits *out) {
  *out = (sim_limits){
      .sm = (uint32_t)p->cc,
      .sms = (uint32_t)p->sms,
      .threads_per_block = 1024,
      .threads_per_sm = (uint32_t)p->threads_sm,
      .warps_per_sm = (uint32_t)p->threads_sm / 32,
      .blocks_per_sm = (uint32_t)p->blocks_sm,
      .registers_per_sm = (uint32_t)p->registers_sm,
      .registers_per_block = 65536,
      .registers_per_thread = 255,
      .register_unit = 256,
      .warp_unit = p->cc == 60 ? 2 : 4,
      .shared_per_sm = (uint32_t)p->shared_sm_bytes,
      .shared_per_block = (uint32_t)p->shared_block_bytes,
      .shared_per_block_max = (uint32_t)p->shared_optin_bytes,
      .shared_reserved = (uint32_t)p->shared_reserved_bytes,
      .shared_unit = p->cc >= 80 ? 128 : 256,
      .max_cluster_blocks = p->cc >= 90 ? 16 : 0,
      .n_gpcs = p->cc >= 90 ? (uint32_t)p->n_gpcs : 0,
      .gpc_sms = p->cc >= 90 ? p->gpc_sms : NULL,
  };
}
