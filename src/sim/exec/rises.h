/* rises.h: whether lanes hold a[0], a[0] + step, a[0] + 2 * step, ...: addresses side by side, or, with a
 * step of 0, all the same. Private to exec/. */
#ifndef MUSTER_SIM_EXEC_RISES_H
#define MUSTER_SIM_EXEC_RISES_H

#include "sim/exec.h"

static inline bool rises_64(const uint64_t *a, uint32_t step) {
  uint64_t differs = 0;
  for (uint32_t i = 0; i < SIM_LANES; i++)
    differs |= a[i] ^ (a[0] + i * step);
  return !differs;
}
static inline bool rises_32(const uint32_t *a, uint32_t step) {
  uint32_t differs = 0;
  for (uint32_t i = 0; i < SIM_LANES; i++)
    differs |= a[i] ^ (a[0] + i * step);
  return !differs;
}
/* Lanes of 8 bytes, or of 4. */
static inline bool rises(const void *a, bool wide, uint32_t step) {
  return wide ? rises_64(a, step) : rises_32(a, step);
}

#endif
