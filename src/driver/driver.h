/* driver.h: the one seam: a table of the CUDA Driver API's functions, of whichever device was chosen.
 *
 * Everything above (runtime, ops, tests) calls through such a table and does not know whether NVIDIA's driver
 * or the CPU device answers.
 */
#ifndef MUSTER_DRIVER_H
#define MUSTER_DRIVER_H

#include <stdbool.h>

#include "driver/cuda_abi.h"

/* A member per DRIVER row, by its base name: cu->cuMemAlloc(&address, bytes). A function that the driver
 * found does not have answers CUDA_ERROR_NOT_SUPPORTED; no member is ever NULL. */
typedef struct muster_driver {
#define DRIVER(base, suffix, since, needs, per_thread, parameters, arguments) CUresult(*base) parameters;
#include "driver/driver.def"
} muster_driver;

/* Fills in `to` from the device that `choice` names: "gpu" (libcuda.so.1 of the system), "cpu" or
 * "cpu:PROFILE" (the CPU device, libmuster-cpu), "auto" (gpu if one is there, else cpu). NULL: what
 * MUSTER_DEVICE says, else auto. cuInit has been called on success. On failure false, and one line without
 * newline in `why`. The library stays loaded for the life of the process: code of it may run on its threads.
 */
bool muster_driver_load(muster_driver *to, const char *choice, char *why, size_t why_bytes);

/* Tells the CPU device, if that was loaded, of an image (fat binary, wrapper, PTX text) that will be run, so
 * that its profile "auto" can run it. Between muster_driver_load and the first question about a device. */
void muster_driver_offer(const void *image);

/* Whether NUM_REGS of a kernel is what the real compiler used, not an estimate; true for a GPU. */
bool muster_driver_counted(CUfunction function);

/* A function of the runtime answers with an error; error NULL: the program asks for the last one. For the CPU
 * device's inspection. */
void muster_driver_api_error(const char *function, const char *error);

/* The CPU device's own table, for who is linked with it (runtime stand-in, libcuda.so.1). */
const muster_driver *muster_driver_cpu(void);
bool muster_cpu_counted(CUfunction function);
void muster_cpu_api_error(const char *function, const char *error);
/* Chooses its profile before cuInit, as "cpu:PROFILE" does. */
bool muster_cpu_select(const char *profile, char *why, size_t why_bytes);

/* "CUDA_ERROR_INVALID_VALUE", "invalid argument"; NULL for an unknown number. Need no device. */
const char *muster_driver_error_name(CUresult r);
const char *muster_driver_error_text(CUresult r);

#endif
