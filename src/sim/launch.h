/* launch.h: what a block takes of an SM: between occupancy.c, which promises, and launch.c, which hands out.
 */
#ifndef MUSTER_SIM_LAUNCH_H
#define MUSTER_SIM_LAUNCH_H

#include "sim/machine.h"

typedef struct sim_share {
  uint32_t threads, warps, registers, shared;
  uint32_t registers_of_sm;   /* how many of an SM's registers blocks of this kind can use */
  uint32_t registers_rounded; /* what must not exceed a block's limit */
} sim_share;

sim_share sim_share_of(const sim_limits *l, const sim_need *need);

#endif
