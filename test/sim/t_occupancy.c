/* t_occupancy.c: how many blocks fit, against what GPUs and NVIDIA's own calculator say. */
#include <stdio.h>

#include "sim/sim.h"

static const uint8_t h200_gpcs[] = {16, 16, 16, 16, 16, 18, 18, 16};

static int check(const char *what, uint32_t have, uint32_t want) {
  if (have != want)
    printf("%s: %u, expected %u\n", what, have, want);
  return have != want;
}

int main(void) {
  const sim_limits h200 = {.sm = 90,
                           .sms = 132,
                           .threads_per_block = 1024,
                           .threads_per_sm = 2048,
                           .warps_per_sm = 64,
                           .blocks_per_sm = 32,
                           .registers_per_sm = 65536,
                           .registers_per_block = 65536,
                           .registers_per_thread = 255,
                           .register_unit = 256,
                           .warp_unit = 4,
                           .shared_per_sm = 233472,
                           .shared_per_block = 49152,
                           .shared_per_block_max = 232448,
                           .shared_reserved = 1024,
                           .shared_unit = 128,
                           .max_cluster_blocks = 8,
                           .n_gpcs = 8,
                           .gpc_sms = h200_gpcs};
  static const struct {
    const char *what;
    sim_need need;
    uint32_t per_sm;
    sim_limit_kind limit;
  } all[] = {{"full blocks", {1024, 32, 0, 1}, 2, SIM_LIMIT_THREADS},
             {"small blocks", {32, 16, 0, 1}, 32, SIM_LIMIT_BLOCKS},
             {"three warps of 26 registers", {96, 26, 0, 1}, 21, SIM_LIMIT_THREADS},
             {"256 threads of 40", {256, 40, 0, 1}, 6, SIM_LIMIT_REGISTERS},
             {"one warp of 152: 12, not 13", {32, 152, 0, 1}, 12, SIM_LIMIT_REGISTERS},
             {"1024 threads of 65", {1024, 65, 0, 1}, 0, SIM_LIMIT_REGISTERS},
             {"48 KiB shared", {128, 16, 49152, 1}, 4, SIM_LIMIT_SHARED},
             {"most shared", {128, 16, 232448, 1}, 1, SIM_LIMIT_SHARED},
             {"too much shared", {128, 16, 232449, 1}, 0, SIM_LIMIT_SHARED}};
  int failed = 0;
  for (unsigned k = 0; k < sizeof all / sizeof all[0]; k++) {
    sim_fit f = sim_occupancy(&h200, &all[k].need);
    failed += check(all[k].what, f.per_sm, all[k].per_sm);
    failed += check(sim_limit_name(f.limit), f.limit, all[k].limit);
    failed += check("on the device", f.blocks, f.per_sm * h200.sms);
  }
  sim_fit f = sim_occupancy(&h200, &(sim_need){1024, 32, 0, 8});
  failed += check("clusters of 8, 2 blocks an SM", f.clusters, 6 * 4 + 2 * 4);
  failed += check("their blocks", f.blocks, 32 * 8);
  failed += check("bound by", f.limit, SIM_LIMIT_CLUSTER);
  printf("%d failed\n", failed);
  return failed != 0;
}
