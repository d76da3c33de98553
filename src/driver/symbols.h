/* symbols.h: declares muster_<symbol> for every symbol of driver.def: what libmuster-cpu exports, and
 * libcuda.so.1 hands on. */
#ifndef MUSTER_SYMBOLS_H
#define MUSTER_SYMBOLS_H

#include "driver/cuda_abi.h"

#define MUSTER_EXPORT __attribute__((visibility("default")))
/* The per-thread twins of a symbol. */
#define TWIN_NONE(declare, base, suffix, parameters, arguments)
#define TWIN_PTSZ(declare, base, suffix, parameters, arguments) \
  declare(base, suffix, _ptsz, parameters, arguments)
#define TWIN_PTDS(declare, base, suffix, parameters, arguments) \
  declare(base, suffix, _ptds, parameters, arguments)

#define DECLARE(base, suffix, twin, parameters, arguments) \
  MUSTER_EXPORT CUresult muster_##base##suffix##twin parameters;
#define DRIVER(base, suffix, since, needs, per_thread, parameters, arguments) \
  DECLARE(base, suffix, , parameters, arguments)                              \
  TWIN_##per_thread(DECLARE, base, suffix, parameters, arguments)
#define OLD(base, suffix, since, needs, per_thread, parameters, arguments) \
  DRIVER(base, suffix, since, needs, per_thread, parameters, arguments)
#define SAME(base, suffix, since, needs, per_thread, parameters, arguments) \
  DRIVER(base, suffix, since, needs, per_thread, parameters, arguments)
#define NO(base, suffix, since, per_thread) DRIVER(base, suffix, since, , per_thread, (void), ())
#include "driver/driver.def"
#undef DECLARE

#endif
