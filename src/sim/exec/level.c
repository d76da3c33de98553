/* level.c: the table of one vector level. Compiled once for each; lists every selector, in the order in which
 * they are asked. */
#include "sim/exec.h"

#define EACH_SELECTOR(X)   \
  X(sim_select_mem)        \
  X(sim_select_int)        \
  X(sim_select_carry)      \
  X(sim_select_bits)       \
  X(sim_select_logic)      \
  X(sim_select_move)       \
  X(sim_select_compare)    \
  X(sim_select_float)      \
  X(sim_select_root)       \
  X(sim_select_approx)     \
  X(sim_select_half)       \
  X(sim_select_cvt)        \
  X(sim_select_cvt_narrow) \
  X(sim_select_video)

#define DECLARE(name) sim_select SIM_LEVELED(name);
EACH_SELECTOR(DECLARE)
#undef DECLARE

static sim_select *const selectors[] = {
#define ENTRY(name) SIM_LEVELED(name),
    EACH_SELECTOR(ENTRY)
#undef ENTRY
        NULL};

static void spread(uint32_t mask, uint32_t lane[SIM_LANES]) {
  SIM_INDEPENDENT for (int i = 0; i < SIM_LANES; i++) lane[i] = mask & (UINT32_C(1) << i) ? UINT32_MAX : 0;
}

#define TEXT2(x) #x
#define TEXT(x) TEXT2(x)
extern const sim_level SIM_LEVELED(sim_level);
const sim_level SIM_LEVELED(sim_level) = {"x86-64-" TEXT(SIM_LEVEL), selectors, spread};
