/* level.c: the table of one vector level. Compiled once for each; lists every selector, in the order in which
 * they are asked. */
#include "sim/exec.h"

sim_select SIM_LEVELED(sim_select_mem);
sim_fn SIM_LEVELED(sim_atom_told);
#define ARITHMETIC(name) sim_select SIM_LEVELED(name);
#include "sim/exec/arithmetic.def"

static sim_select *const selectors[] = {SIM_LEVELED(sim_select_mem),
#define ARITHMETIC(name) SIM_LEVELED(name),
#include "sim/exec/arithmetic.def"
                                        NULL};

static void spread(uint32_t mask, uint32_t lane[SIM_LANES]) {
  SIM_INDEPENDENT for (int i = 0; i < SIM_LANES; i++) lane[i] = mask & (UINT32_C(1) << i) ? UINT32_MAX : 0;
}

static bool within(const uint32_t lane[SIM_LANES], uint32_t offset, uint32_t begin, uint32_t room,
                   uint32_t low) {
  uint32_t bad = 0;
  SIM_INDEPENDENT for (int i = 0; i < SIM_LANES; i++) {
    uint32_t at = lane[i] + offset;
    bad |= (at & low) | (at - begin > room ? 1 : 0);
  }
  return !bad;
}

#define TEXT2(x) #x
#define TEXT(x) TEXT2(x)
extern const sim_level SIM_LEVELED(sim_level);
const sim_level SIM_LEVELED(sim_level) = {
#if defined(__x86_64__)
    "x86-64-"
#endif
    TEXT(SIM_LEVEL),
    selectors, spread, within, SIM_LEVELED(sim_atom_told)};
