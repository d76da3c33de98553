/* time.c: how long launches take, by the device's own events. */
#include "ops.h"

#include <string.h>

/* What muster_time makes and gives back. */
typedef struct timer {
  muster_device *device;
  CUstream stream;
  CUevent from, to;
  CUgraph graph;
  CUgraphExec exec;
} timer;

static muster_result failed(muster_device *d, CUresult answer) {
  return answer == CUDA_SUCCESS ? MUSTER_OK : ops_fail_cu(d, answer, "muster_time");
}

static muster_result open_timer(timer *t) {
  const muster_driver *cu = &t->device->cu;
  cu->cuCtxSetCurrent(t->device->context);
  CUresult answer = cu->cuStreamCreate(&t->stream, CU_STREAM_NON_BLOCKING);
  if (answer == CUDA_SUCCESS)
    answer = cu->cuEventCreate(&t->from, 0);
  if (answer == CUDA_SUCCESS)
    answer = cu->cuEventCreate(&t->to, 0);
  if (answer == CUDA_SUCCESS) /* what was launched before is not timed */
    answer = cu->cuStreamSynchronize(NULL);
  return failed(t->device, answer);
}

static void close_timer(timer *t) {
  const muster_driver *cu = &t->device->cu;
  if (t->stream)
    cu->cuStreamSynchronize(t->stream); /* launches before one that failed */
  if (t->exec)
    cu->cuGraphExecDestroy(t->exec);
  if (t->graph)
    cu->cuGraphDestroy(t->graph);
  if (t->to)
    cu->cuEventDestroy(t->to);
  if (t->from)
    cu->cuEventDestroy(t->from);
  if (t->stream)
    cu->cuStreamDestroy(t->stream);
}

static muster_result call(const timer *t, const muster_timing *how, muster_work work, void *context) {
  muster_result r = MUSTER_OK;
  for (uint32_t i = 0; i < (how->repeat ? how->repeat : 1) && r == MUSTER_OK; i++)
    r = work(context, t->stream);
  return r;
}

static muster_result capture(timer *t, const muster_timing *how, muster_work work, void *context) {
  const muster_driver *cu = &t->device->cu;
  CUresult answer = cu->cuStreamBeginCapture(t->stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
  if (answer != CUDA_SUCCESS)
    return failed(t->device, answer);
  muster_result r = call(t, how, work, context);
  answer = cu->cuStreamEndCapture(t->stream, &t->graph); /* also after a call that failed */
  if (r == MUSTER_OK && answer == CUDA_SUCCESS)
    answer = cu->cuGraphInstantiateWithFlags(&t->exec, t->graph, 0);
  return r == MUSTER_OK ? failed(t->device, answer) : r;
}

static muster_result run(const timer *t, const muster_timing *how, muster_work work, void *context,
                         double *ns) {
  const muster_driver *cu = &t->device->cu;
  float ms = 0;
  muster_result r = MUSTER_OK;
  CUresult answer = cu->cuEventRecord(t->from, t->stream);
  if (answer == CUDA_SUCCESS && how->graph)
    answer = cu->cuGraphLaunch(t->exec, t->stream);
  else if (answer == CUDA_SUCCESS)
    r = call(t, how, work, context);
  if (r != MUSTER_OK)
    return r;
  if (answer == CUDA_SUCCESS)
    answer = cu->cuEventRecord(t->to, t->stream);
  if (answer == CUDA_SUCCESS)
    answer = cu->cuEventSynchronize(t->to);
  if (answer == CUDA_SUCCESS)
    answer = cu->cuEventElapsedTime(&ms, t->from, t->to);
  *ns = 1e6 * (double)ms;
  return failed(t->device, answer);
}

muster_result muster_time(muster_device *device, const muster_timing *timing, muster_work work, void *context,
                          double *ns) {
  muster_timing how = {0};
  ops_begin();
  if (!device || !timing || timing->size < sizeof(size_t) || timing->size > sizeof how || !work || !ns)
    return ops_fail(MUSTER_ERROR_ARGUMENT, "muster_time: a device, an initialised timing, work and a place "
                                           "for the times are needed");
  memcpy(&how, timing, timing->size);
  timer t = {.device = device};
  double first;
  muster_result r = open_timer(&t);
  if (r == MUSTER_OK && how.graph)
    r = capture(&t, &how, work, context);
  if (r == MUSTER_OK)
    r = run(&t, &how, work, context, &first); /* loads what is loaded lazily */
  for (uint32_t i = 0; i < (how.runs ? how.runs : 1) && r == MUSTER_OK; i++)
    r = run(&t, &how, work, context, &ns[i]);
  close_timer(&t);
  return r;
}
