/* event.c: events. Each recording is an object of its own, which whoever waits for it holds: recording the
 * event anew, or destroying it, changes nothing for those who already wait.
 */
#include <stdlib.h>

#include "driver/drv.h"
#include "driver/graph.h"

void drv_record_drop(drv_record *r) {
  if (r && --r->users == 0)
    free(r);
}

void drv_event_free(drv_event *e) {
  for (drv_event **at = &e->context->events; *at; at = &(*at)->next)
    if (*at == e) {
      *at = e->next;
      break;
    }
  drv_record_drop(e->record);
  drv_capture_forget_event(e);
  drv_handle_remove(e);
  free(e);
}

CUresult drv_cuEventCreate(CUevent *event, unsigned flags) {
  const unsigned known = CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS;
  if (!event || (flags & ~known))
    return CUDA_ERROR_INVALID_VALUE;
  if (flags & CU_EVENT_INTERPROCESS)
    return flags & CU_EVENT_DISABLE_TIMING ? drv_refuse("cuEventCreate for several processes")
                                           : CUDA_ERROR_INVALID_VALUE;
  drv_event *e = calloc(1, sizeof *e);
  if (!e || !drv_handle_add(e, DRV_EVENT)) {
    free(e);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  e->context = drv_current();
  e->flags = flags;
  e->next = e->context->events;
  e->context->events = e;
  *event = e;
  return CUDA_SUCCESS;
}

CUresult drv_cuEventDestroy(CUevent event) {
  drv_event *e = drv_find(event, DRV_EVENT);
  if (!e)
    return CUDA_ERROR_INVALID_HANDLE;
  drv_event_free(e);
  return CUDA_SUCCESS;
}

CUresult drv_event_record(drv_event *e, drv_stream *s) {
  drv_record *r = calloc(1, sizeof *r);
  drv_op *op = drv_op_new(DRV_OP_RECORD);
  if (!r || !op) {
    free(r);
    free(op);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  r->users = 2; /* the event and the operation */
  drv_record_drop(e->record);
  e->record = r;
  op->record = r;
  drv_tell_record(s, r);
  return drv_push(s, op);
}

CUresult drv_cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags) {
  drv_event *e = drv_find(event, DRV_EVENT);
  drv_stream *s;
  if (flags & ~(unsigned)CU_EVENT_RECORD_EXTERNAL)
    return CUDA_ERROR_INVALID_VALUE;
  if (!e)
    return CUDA_ERROR_INVALID_HANDLE;
  CUresult r = drv_stream_of(stream, &s);
  if (r != CUDA_SUCCESS)
    return r;
  if (s->context->device != e->context->device)
    return CUDA_ERROR_INVALID_HANDLE;
  if (s->capture)
    return drv_capture_record(s, e, flags & CU_EVENT_RECORD_EXTERNAL);
  drv_capture_forget_event(e);
  return drv_event_record(e, s);
}

CUresult drv_cuEventRecord(CUevent event, CUstream stream) {
  return drv_cuEventRecordWithFlags(event, stream, 0);
}

CUresult drv_event_wait(drv_event *e, drv_stream *s) {
  if (e->record)
    drv_tell_wait(s, e->record);
  if (!e->record || e->record->done)
    return CUDA_SUCCESS; /* never recorded, or over: nothing to wait for */
  drv_op *op = drv_op_new(DRV_OP_WAIT);
  if (!op)
    return CUDA_ERROR_OUT_OF_MEMORY;
  op->record = e->record;
  e->record->users++;
  return drv_push(s, op);
}

CUresult drv_cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
  drv_event *e = drv_find(event, DRV_EVENT);
  drv_stream *s;
  if (flags & ~(unsigned)CU_EVENT_WAIT_EXTERNAL)
    return CUDA_ERROR_INVALID_VALUE;
  if (!e)
    return CUDA_ERROR_INVALID_HANDLE;
  CUresult r = drv_stream_of(stream, &s);
  if (r != CUDA_SUCCESS)
    return r;
  if (s->capture || drv_capture_has_event(e))
    return drv_capture_wait(s, e, flags & CU_EVENT_WAIT_EXTERNAL);
  return drv_event_wait(e, s);
}

CUresult drv_cuEventQuery(CUevent event) {
  drv_event *e = drv_find(event, DRV_EVENT);
  if (!e)
    return CUDA_ERROR_INVALID_HANDLE;
  if (drv_capture_has_event(e))
    return CUDA_ERROR_CAPTURED_EVENT;
  if (e->context->device->sticky)
    return e->context->device->sticky;
  drv_rerun_asked(e->context->device);
  if (e->record && !e->record->done) {
    drv_polls++;
    return CUDA_ERROR_NOT_READY;
  }
  if (e->record)
    drv_tell_record_synced(e->record);
  return CUDA_SUCCESS;
}

static bool record_done(void *user) {
  return ((drv_record *)user)->done;
}

CUresult drv_cuEventSynchronize(CUevent event) {
  drv_event *e = drv_find(event, DRV_EVENT);
  if (!e)
    return CUDA_ERROR_INVALID_HANDLE;
  if (drv_capture_has_event(e))
    return CUDA_ERROR_CAPTURED_EVENT;
  drv_device *d = e->context->device;
  drv_record *record = e->record;
  if (!record)
    return CUDA_SUCCESS;
  record->users++;
  CUresult r = drv_wait(d, record_done, record);
  if (r == CUDA_SUCCESS)
    drv_tell_record_synced(record);
  drv_record_drop(record);
  drv_print(d);
  return r;
}

CUresult drv_cuEventElapsedTime(float *milliseconds, CUevent from, CUevent to) {
  drv_event *a = drv_find(from, DRV_EVENT), *b = drv_find(to, DRV_EVENT);
  if (!milliseconds)
    return CUDA_ERROR_INVALID_VALUE;
  if (!a || !b || a->context->device != b->context->device)
    return CUDA_ERROR_INVALID_HANDLE;
  if (!a->record || !b->record || ((a->flags | b->flags) & CU_EVENT_DISABLE_TIMING))
    return CUDA_ERROR_INVALID_HANDLE;
  if (!a->record->done || !b->record->done)
    return CUDA_ERROR_NOT_READY;
  *milliseconds = (float)((double)(int64_t)(b->record->ns - a->record->ns) * 1e-6);
  return CUDA_SUCCESS;
}
