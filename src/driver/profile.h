/* profile.h: the GPUs that the CPU device can stand for (profiles.def). */
#ifndef MUSTER_PROFILE_H
#define MUSTER_PROFILE_H

#include <stddef.h>
#include <stdint.h>

#include "sim/sim.h"

typedef struct drv_profile {
  const char *name, *title;
  int cc; /* 89 for 8.9 */
  int sms, clock_mhz, memory_mib, memory_mhz, bus_bits, l2_kib;
  int threads_sm, blocks_sm, registers_sm;
  int shared_sm_bytes, shared_block_bytes, shared_optin_bytes, shared_reserved_bytes;
  int f64_ratio, copy_engines, ecc;
  int n_gpcs;
  uint8_t gpc_sms[16];
} drv_profile;

extern const drv_profile drv_profiles[]; /* by compute capability */
extern const unsigned drv_profile_count;

const drv_profile *drv_profile_named(const char *name); /* NULL: no such */
/* PTX for `sm` (89), with suffix 0, 'a' (that very GPU) or 'f' (its family), runs on compute capability `cc`.
 */
bool drv_ptx_runs(int sm, char suffix, int cc);
/* The smallest profile that runs it; NULL: none. */
const drv_profile *drv_profile_for(int sm, char suffix);
/* "h100, h200": every profile that runs it, for messages. */
void drv_profile_list_for(int sm, char suffix, char *text, size_t bytes);

void drv_profile_limits(const drv_profile *p, sim_limits *out);

#endif
