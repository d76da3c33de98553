/* occupancy.c: how many blocks fit, and which limit binds. Pure functions of a GPU's limits and a kernel's
 * needs; the scheduler (launch.c) hands out the same amounts, so what is promised here is what becomes
 * resident. */
#include "sim/launch.h"

const char *sim_limit_name(sim_limit_kind k) {
  static const char *const names[] = {"none",      "blocks",        "threads",     "warps",
                                      "registers", "shared memory", "cluster size"};
  return (unsigned)k < BASE_COUNT(names) ? names[k] : "?";
}

static uint32_t round_up(uint32_t n, uint32_t unit) {
  return unit ? (n + unit - 1) / unit * unit : n;
}

sim_share sim_share_of(const sim_limits *l, const sim_need *need) {
  uint32_t warps = (need->threads + SIM_WARP - 1) / SIM_WARP;
  uint32_t of_warp = round_up((need->registers ? need->registers : 1) * SIM_WARP, l->register_unit);
  uint32_t fit = l->registers_per_sm / of_warp; /* warps; an SM's parts hold the same number each */
  if (l->warp_unit > 1)
    fit -= fit % l->warp_unit;
  return (sim_share){.threads = warps * SIM_WARP,
                     .warps = warps,
                     .registers = warps * of_warp,
                     .registers_of_sm = fit * of_warp,
                     .registers_rounded = round_up(warps, l->warp_unit) * of_warp,
                     .shared = round_up(need->shared + l->shared_reserved, l->shared_unit)};
}

sim_fit sim_occupancy(const sim_limits *l, const sim_need *need) {
  sim_fit fit = {.per_sm = UINT32_MAX};
  sim_share one = sim_share_of(l, need);
  struct {
    sim_limit_kind kind;
    uint32_t have, want;
  } const limits[] = {{SIM_LIMIT_BLOCKS, l->blocks_per_sm, 1},
                      {SIM_LIMIT_THREADS, l->threads_per_sm, one.threads},
                      {SIM_LIMIT_WARPS, l->warps_per_sm, one.warps},
                      {SIM_LIMIT_REGISTERS, l->registers_per_sm ? one.registers_of_sm : 0, one.registers},
                      {SIM_LIMIT_SHARED, l->shared_per_sm, one.shared}};
  for (unsigned i = 0; i < BASE_COUNT(limits); i++)
    if ((limits[i].have || (limits[i].kind == SIM_LIMIT_REGISTERS && l->registers_per_sm)) &&
        limits[i].want && limits[i].have / limits[i].want < fit.per_sm) {
      fit.per_sm = limits[i].have / limits[i].want;
      fit.limit = limits[i].kind;
    }
  if (l->threads_per_block && need->threads > l->threads_per_block)
    fit.per_sm = 0, fit.limit = SIM_LIMIT_THREADS;
  if (l->registers_per_block && one.registers_rounded > l->registers_per_block)
    fit.per_sm = 0, fit.limit = SIM_LIMIT_REGISTERS;
  if (l->shared_per_block_max && need->shared > l->shared_per_block_max)
    fit.per_sm = 0, fit.limit = SIM_LIMIT_SHARED;
  if (fit.per_sm == UINT32_MAX)
    fit.per_sm = 1;
  fit.blocks = fit.per_sm * l->sms;
  if (need->cluster_blocks > 1) { /* the blocks of a cluster lie in one GPC */
    if (!l->gpc_sms)
      fit.clusters = fit.blocks / need->cluster_blocks;
    for (uint32_t g = 0; l->gpc_sms && g < l->n_gpcs; g++)
      if (l->gpc_sms[g] >= need->cluster_blocks) /* measured on an H200: never in a GPC of fewer SMs */
        fit.clusters += l->gpc_sms[g] * fit.per_sm / need->cluster_blocks;
    if (fit.clusters * need->cluster_blocks < fit.blocks) {
      fit.blocks = fit.clusters * need->cluster_blocks;
      fit.limit = SIM_LIMIT_CLUSTER;
    }
  }
  return fit;
}
