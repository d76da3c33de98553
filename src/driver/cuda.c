/* cuda.c: libcuda.so.1 for programs that use the driver API themselves: CUDA's names, each handed on to the
 * CPU device in libmuster-cpu, which the runtime stand-in uses too, so that both see one device.
 */
#include "driver/symbols.h"

MUSTER_EXPORT extern const int muster_is_cpu;
const int muster_is_cpu = 1; /* tells muster_driver_load that this is no GPU's driver */

#define HAND_ON(base, suffix, twin, parameters, arguments) \
  MUSTER_EXPORT CUresult base##suffix##twin parameters;    \
  CUresult base##suffix##twin parameters {                 \
    return muster_##base##suffix##twin arguments;          \
  }
#define DRIVER(base, suffix, since, needs, per_thread, parameters, arguments) \
  HAND_ON(base, suffix, , parameters, arguments)                              \
  TWIN_##per_thread(HAND_ON, base, suffix, parameters, arguments)
#define OLD(base, suffix, since, needs, per_thread, parameters, arguments) \
  DRIVER(base, suffix, since, needs, per_thread, parameters, arguments)
#define SAME(base, suffix, since, needs, per_thread, parameters, arguments) \
  DRIVER(base, suffix, since, needs, per_thread, parameters, arguments)
#define NO(base, suffix, since, per_thread) DRIVER(base, suffix, since, , per_thread, (void), ())
#include "driver/driver.def"
