/* stream.c: streams, events, callbacks, and asking for functions of the driver below. */
#include <stdlib.h>

#include "runtime/rt.h"

cudaError_t rt_cudaStreamCreate(cudaStream_t *stream) {
  RT_CALL(cuStreamCreate, stream, CU_STREAM_DEFAULT);
}

cudaError_t rt_cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags) {
  RT_CALL(cuStreamCreate, stream, flags);
}

cudaError_t rt_cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int priority) {
  RT_CALL(cuStreamCreateWithPriority, stream, flags, priority);
}

cudaError_t rt_cudaStreamDestroy(cudaStream_t stream) {
  RT_CALL(cuStreamDestroy, stream);
}

cudaError_t rt_cudaStreamSynchronize(cudaStream_t stream) {
  RT_CALL(cuStreamSynchronize, stream);
}

cudaError_t rt_cudaStreamQuery(cudaStream_t stream) {
  RT_CALL(cuStreamQuery, stream);
}

cudaError_t rt_cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  RT_CALL(cuStreamWaitEvent, stream, event, flags);
}

/* A callback gets the runtime's stream and error, which are the driver's, so only its type differs. */
struct rt_callback {
  cudaStreamCallback_t function;
  void *user;
};

static void rt_call_back(CUstream stream, CUresult status, void *user) {
  const struct rt_callback callback = *(struct rt_callback *)user;
  free(user);
  callback.function(stream, rt_error(status), callback.user);
}

cudaError_t rt_cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t function, void *user,
                                     unsigned flags) {
  cudaError_t error;
  const muster_driver *cu = rt_enter(&error);
  if (!cu)
    return error;
  if (!function || flags)
    return cudaErrorInvalidValue;
  struct rt_callback *callback = malloc(sizeof *callback);
  if (!callback)
    return cudaErrorMemoryAllocation;
  *callback = (struct rt_callback){function, user};
  error = rt_error(cu->cuStreamAddCallback(stream, rt_call_back, callback, 0));
  if (error != cudaSuccess)
    free(callback);
  return error;
}

cudaError_t rt_cudaStreamGetPriority(cudaStream_t stream, int *priority) {
  RT_CALL(cuStreamGetPriority, stream, priority);
}

cudaError_t rt_cudaStreamGetFlags(cudaStream_t stream, unsigned *flags) {
  RT_CALL(cuStreamGetFlags, stream, flags);
}

cudaError_t rt_cudaStreamGetId(cudaStream_t stream, unsigned long long *id) {
  RT_CALL(cuStreamGetId, stream, id);
}

cudaError_t rt_cudaStreamGetDevice(cudaStream_t stream, int *device) {
  RT_CALL(cuStreamGetDevice, stream, device);
}

cudaError_t rt_cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from) {
  RT_CALL(cuStreamCopyAttributes, to, from);
}

cudaError_t rt_cudaStreamCopyAttributes_ptsz(cudaStream_t to, cudaStream_t from) {
  RT_CALL(cuStreamCopyAttributes, to ? to : CU_STREAM_PER_THREAD, from ? from : CU_STREAM_PER_THREAD);
}

cudaError_t rt_cudaStreamGetAttribute(cudaStream_t stream, CUstreamAttrID attribute,
                                      CUstreamAttrValue *value) {
  RT_CALL(cuStreamGetAttribute, stream, attribute, value);
}

cudaError_t rt_cudaStreamSetAttribute(cudaStream_t stream, CUstreamAttrID attribute,
                                      const CUstreamAttrValue *value) {
  RT_CALL(cuStreamSetAttribute, stream, attribute, value);
}

cudaError_t rt_cudaStreamIsCapturing(cudaStream_t stream, CUstreamCaptureStatus *status) {
  RT_CALL(cuStreamIsCapturing, stream, status);
}

cudaError_t rt_cudaThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode) {
  RT_CALL(cuThreadExchangeStreamCaptureMode, mode);
}

/* ------------------------------------------------------------------ events */

cudaError_t rt_cudaEventCreate(cudaEvent_t *event) {
  RT_CALL(cuEventCreate, event, CU_EVENT_DEFAULT);
}

cudaError_t rt_cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags) {
  RT_CALL(cuEventCreate, event, flags);
}

cudaError_t rt_cudaEventDestroy(cudaEvent_t event) {
  RT_CALL(cuEventDestroy, event);
}

cudaError_t rt_cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  RT_CALL(cuEventRecord, event, stream);
}

cudaError_t rt_cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
  RT_CALL(cuEventRecordWithFlags, event, stream, flags);
}

cudaError_t rt_cudaEventQuery(cudaEvent_t event) {
  RT_CALL(cuEventQuery, event);
}

cudaError_t rt_cudaEventSynchronize(cudaEvent_t event) {
  RT_CALL(cuEventSynchronize, event);
}

cudaError_t rt_cudaEventElapsedTime(float *milliseconds, cudaEvent_t from, cudaEvent_t to) {
  RT_CALL(cuEventElapsedTime, milliseconds, from, to);
}

cudaError_t rt_cudaProfilerStart(void) {
  RT_CALL(cuProfilerStart);
}

cudaError_t rt_cudaProfilerStop(void) {
  RT_CALL(cuProfilerStop);
}
