/* rt.h: what the files of the runtime stand-in share.
 *
 * Every function of the table has an implementation rt_<name>, declared here; export.c makes of them what the
 * libraries libcudart.so.* export. All of them return what the program gets; remembering an error for
 * cudaGetLastError is export.c's part alone, so that implementations may call each other.
 */
#ifndef MUSTER_RUNTIME_RT_H
#define MUSTER_RUNTIME_RT_H

#include <stdbool.h>

#include "driver/driver.h"
#include "runtime/abi.h"

#define RT_OPEN(...) __VA_ARGS__
#define API(majors, name, parameters, arguments) cudaError_t rt_##name parameters;
#define API_AS(majors, name, as, parameters, arguments) cudaError_t rt_##as parameters;
#define STREAM(majors, name, parameters, arguments) cudaError_t rt_##name parameters;
#define STREAM_AS(majors, name, as, parameters, arguments) cudaError_t rt_##as parameters;
#define DEFAULT(majors, name, parameters, arguments) \
  cudaError_t rt_##name(RT_OPEN parameters, cudaStream_t stream);
#define RAW(majors, type, name, parameters, arguments) type rt_##name parameters;
#define NO(majors, name)
#include "runtime/api.def"

/* ------------------------------------------------------------------ state.c */

enum { RT_DEVICES = 64 };

/* The table; NULL, and the error in `why`, if there is no device. Needs no context. */
const muster_driver *rt_driver(cudaError_t *why);
/* The table, with a context current on this thread: the program's own, or the device's primary one. */
const muster_driver *rt_enter(cudaError_t *why);
/* The device whose context is current, or would be. */
int rt_device(void);
cudaError_t rt_use_device(int device);
int rt_device_count(void);
/* The primary context of a device, made when first asked for. */
cudaError_t rt_primary(int device, CUcontext *context);
void rt_forget_primary(int device);

/* Errors of both APIs that have the same number mean the same. */
cudaError_t rt_error(CUresult result);
/* Remembers it for cudaGetLastError, unless it is success; returns it. */
cudaError_t rt_leave(const char *function, cudaError_t error);
/* Says once that a function is not provided. */
cudaError_t rt_refuse(const char *name);

/* Enters, calls one function of the table, returns its result: RT_CALL(cuMemFree, address). */
#define RT_CALL(function, ...)                                            \
  do {                                                                    \
    cudaError_t rt_why;                                                   \
    const muster_driver *rt_table = rt_enter(&rt_why);                    \
    return rt_table ? rt_error(rt_table->function(__VA_ARGS__)) : rt_why; \
  } while (0)

/* ------------------------------------------------------------------ register.c */

/* Shows the device all registered fat binaries, before it is first asked what it is. */
void rt_offer_binaries(void);
/* The kernel behind a host stub's address, or behind a kernel handle that was given out. */
cudaError_t rt_kernel(const void *function, CUkernel *kernel);
/* The same as a function of the current context. */
cudaError_t rt_function(const void *function, CUfunction *result);
/* Makes a handle of a library's kernel known, so that it can be launched as one. */
void rt_know_kernel(CUkernel kernel);
/* What a program would name a kernel by: its stub's address, or a handle if it has none. */
void *rt_host_of(const muster_driver *cu, CUfunction function, CUkernel kernel);
/* The device's copy of a variable, by its host shadow's address. */
cudaError_t rt_symbol(const void *symbol, CUdeviceptr *address, size_t *bytes);

/* ------------------------------------------------------------------ copy.c */

CUdeviceptr rt_address(const void *pointer);
/* A copy of a box in the driver's terms. */
cudaError_t rt_box(CUDA_MEMCPY3D *copy, const cudaMemcpy3DParms *p);
/* The address of [offset, offset + bytes) within a variable. */
cudaError_t rt_within(const void *symbol, size_t bytes, size_t offset, void **address);

#endif
