/* state.c: the device below, the current context, the last error.
 *
 * The runtime has no state that a program could see except a thread's current device and last error. A
 * context that the program made current through the Driver API is used as it is; otherwise a device's primary
 * context is, made at the first call that needs one.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "driver/session.h"
#include "runtime/rt.h"

static pthread_once_t rt_once = PTHREAD_ONCE_INIT;
static pthread_mutex_t rt_lock = PTHREAD_MUTEX_INITIALIZER;
static muster_driver rt_table;
static cudaError_t rt_failure; /* why there is no table */
static int rt_devices;
static CUcontext rt_primaries[RT_DEVICES];

static _Thread_local cudaError_t rt_last;
static _Thread_local int rt_current;

static void rt_load(void) {
  char why[512] = "";
  /* Without a word from the environment a program that was given this library runs on the CPU device. */
  if (!muster_driver_load(&rt_table, getenv("MUSTER_DEVICE") ? NULL : "cpu", why, sizeof why)) {
    muster_session_say(MUSTER_MESSAGE_FAILURE, "%s", why);
    rt_failure = cudaErrorInsufficientDriver;
    return;
  }
  rt_offer_binaries();
  rt_failure = rt_error(rt_table.cuDeviceGetCount(&rt_devices));
  if (rt_failure == cudaSuccess && rt_devices == 0)
    rt_failure = cudaErrorNoDevice;
  if (rt_devices > RT_DEVICES)
    rt_devices = RT_DEVICES;
}

const muster_driver *rt_driver(cudaError_t *why) {
  pthread_once(&rt_once, rt_load);
  *why = rt_failure;
  return rt_failure == cudaSuccess ? &rt_table : NULL;
}

int rt_device_count(void) {
  cudaError_t why;
  return rt_driver(&why) ? rt_devices : 0;
}

cudaError_t rt_primary(int device, CUcontext *context) {
  cudaError_t why;
  const muster_driver *cu = rt_driver(&why);
  if (!cu)
    return why;
  if (device < 0 || device >= rt_devices)
    return cudaErrorInvalidDevice;
  pthread_mutex_lock(&rt_lock);
  CUresult result = CUDA_SUCCESS;
  if (!rt_primaries[device]) {
    CUdevice handle;
    result = cu->cuDeviceGet(&handle, device);
    if (result == CUDA_SUCCESS)
      result = cu->cuDevicePrimaryCtxRetain(&rt_primaries[device], handle);
  }
  *context = rt_primaries[device];
  pthread_mutex_unlock(&rt_lock);
  return rt_error(result);
}

void rt_forget_primary(int device) {
  pthread_mutex_lock(&rt_lock);
  rt_primaries[device] = NULL;
  pthread_mutex_unlock(&rt_lock);
}

const muster_driver *rt_enter(cudaError_t *why) {
  const muster_driver *cu = rt_driver(why);
  CUcontext context = NULL;
  if (!cu)
    return NULL;
  if (cu->cuCtxGetCurrent(&context) == CUDA_SUCCESS && context)
    return cu;
  *why = rt_primary(rt_current, &context);
  if (*why == cudaSuccess)
    *why = rt_error(cu->cuCtxSetCurrent(context));
  return *why == cudaSuccess ? cu : NULL;
}

int rt_device(void) {
  cudaError_t why;
  const muster_driver *cu = rt_driver(&why);
  CUcontext context = NULL;
  CUdevice device;
  if (cu && cu->cuCtxGetCurrent(&context) == CUDA_SUCCESS && context &&
      cu->cuCtxGetDevice(&device, context) == CUDA_SUCCESS)
    return device;
  return rt_current;
}

cudaError_t rt_use_device(int device) {
  CUcontext context;
  const cudaError_t error = rt_primary(device, &context);
  if (error != cudaSuccess)
    return error;
  rt_current = device;
  return rt_error(rt_table.cuCtxSetCurrent(context));
}

/* ------------------------------------------------------------------ errors */

cudaError_t rt_error(CUresult result) {
  switch ((int)result) {
#define ERROR(name, value, text) case value:
#include "runtime/error.def"
    return (cudaError_t)result;
  }
  return cudaErrorUnknown;
}

cudaError_t rt_leave(const char *function, cudaError_t error) {
  if (error != cudaSuccess && error != cudaErrorNotReady) { /* not ready is an answer, and not remembered */
    rt_last = error;
    muster_driver_api_error(function, rt_cudaGetErrorName(error));
  }
  return error;
}

cudaError_t rt_refuse(const char *name) {
  muster_session_say_once(MUSTER_MESSAGE_UNMODELLED, name,
                          "%s is not provided: it answers cudaErrorNotSupported", name);
  return cudaErrorNotSupported;
}

cudaError_t rt_cudaGetLastError(void) {
  const cudaError_t error = rt_last;
  rt_last = cudaSuccess;
  muster_driver_api_error("cudaGetLastError", NULL);
  return error;
}

cudaError_t rt_cudaPeekAtLastError(void) {
  muster_driver_api_error("cudaPeekAtLastError", NULL);
  return rt_last;
}

const char *rt_cudaGetErrorName(cudaError_t error) {
  switch ((int)error) {
#define ERROR(name, value, text) \
  case value:                    \
    return #name;
#include "runtime/error.def"
  }
  return "unrecognized error code";
}

const char *rt_cudaGetErrorString(cudaError_t error) {
  switch ((int)error) {
#define ERROR(name, value, text) \
  case value:                    \
    return text;
#include "runtime/error.def"
  }
  return "unrecognized error code";
}
