/* four_sms.h: a device of four multiprocessors, each of which holds one block. */
#ifndef MUSTER_TEST_SIM_FOUR_SMS_H
#define MUSTER_TEST_SIM_FOUR_SMS_H

#include "sim/sim.h"

static const sim_options four_sms = {.limits = {.sm = 80,
                                                .sms = 4,
                                                .threads_per_block = 1024,
                                                .threads_per_sm = 2048,
                                                .warps_per_sm = 64,
                                                .blocks_per_sm = 1,
                                                .registers_per_sm = 65536,
                                                .register_unit = 256,
                                                .warp_unit = 4,
                                                .shared_per_sm = 102400,
                                                .shared_unit = 128},
                                     .memory_bytes = 64u << 20};

#endif
