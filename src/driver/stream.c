/* stream.c: streams and the operations queued in them, and the order between them.
 *
 * Every operation gets a number when it is taken, over all streams. A stream runs its operations in order.
 * The legacy default stream and the blocking streams of its context also order one another: an operation of
 * the former waits for every operation with a smaller number of the latter, and the other way round. That is
 * all there is to default streams; streams made non-blocking stand outside.
 */
#include <stdlib.h>
#include <string.h>

#include "driver/drv.h"
#include "driver/graph.h"

uint64_t drv_op_number;
static uint64_t stream_number;

/* ------------------------------------------------------------------ operations */

drv_op *drv_op_new(drv_op_kind kind) {
  drv_op *op = calloc(1, sizeof *op);
  if (op)
    op->kind = kind;
  return op;
}

void drv_op_free(drv_op *op) {
  if (!op)
    return;
  if (op->kind == DRV_OP_LAUNCH)
    free(op->launch.params);
  if (op->kind == DRV_OP_COPY)
    free(op->copy.staged);
  if (op->kind == DRV_OP_RECORD || op->kind == DRV_OP_WAIT)
    drv_record_drop(op->record);
  free(op);
}

CUresult drv_push(drv_stream *s, drv_op *op) {
  if (!op)
    return CUDA_ERROR_OUT_OF_MEMORY;
  op->stream = s;
  op->number = s->last = ++drv_op_number;
  drv_tell_work(s, op);
  *s->end = op;
  s->end = &op->next;
  drv_wake();
  return CUDA_SUCCESS;
}

CUresult drv_issue(drv_stream *s, drv_op *op) {
  if (s->capture)
    return drv_capture_add(s, op);
  if (s == s->context->legacy && drv_capture_blocks_legacy(s->context)) {
    drv_op_free(op);
    return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
  }
  if (!drv_stream_clear(s) || (op->kind != DRV_OP_COPY && op->kind != DRV_OP_FILL))
    return drv_push(s, op);
  op->number = s->last = ++drv_op_number;
  op->stream = s;
  drv_tell_work(s, op);
  (op->kind == DRV_OP_COPY ? drv_do_copy : drv_do_fill)(s->context->device, op);
  drv_op_free(op);
  drv_wake(); /* a kernel of another stream may wait for these bytes */
  return CUDA_SUCCESS;
}

CUresult drv_issue_and_wait(drv_stream *s, drv_op *op) {
  CUresult r = drv_issue(s, op);
  if (r == CUDA_SUCCESS && !drv_stream_clear(s))
    r = drv_wait_stream(s);
  else if (r == CUDA_SUCCESS)
    drv_tell_synced(s);
  drv_print(s->context->device);
  return r;
}

void drv_op_done(drv_op *op) {
  drv_stream *s = op->stream;
  s->first = op->next;
  if (!s->first)
    s->end = &s->first;
  drv_op_free(op);
}

static bool blocking(const drv_stream *s) {
  return (s->flags & CU_STREAM_NON_BLOCKING) == 0;
}

bool drv_op_turn(const drv_stream *s) {
  const drv_context *c = s->context;
  if (!blocking(s))
    return true;
  if (s != c->legacy)
    return !c->legacy->first || c->legacy->first->number > s->first->number;
  for (const drv_stream *other = c->streams; other; other = other->next)
    if (other != s && blocking(other) && other->first && other->first->number < s->first->number)
      return false;
  return true;
}

bool drv_stream_clear(const drv_stream *s) {
  const drv_context *c = s->context;
  if (s->first)
    return false;
  if (s != c->legacy)
    return !blocking(s) || !c->legacy->first;
  for (const drv_stream *other = c->streams; other; other = other->next)
    if (blocking(other) && other->first)
      return false;
  return true;
}

/* ------------------------------------------------------------------ streams */

drv_stream *drv_stream_new(drv_context *c, unsigned flags, int priority) {
  drv_stream *s = calloc(1, sizeof *s);
  if (!s || !drv_handle_add(s, DRV_STREAM)) {
    free(s);
    return NULL;
  }
  s->context = c;
  s->flags = flags;
  s->priority = priority;
  s->id = ++stream_number;
  s->end = &s->first;
  drv_stream **at = &c->streams; /* in the order made: schedules must not depend on addresses */
  while (*at)
    at = &(*at)->next;
  *at = s;
  return s;
}

void drv_stream_free(drv_stream *s) {
  drv_context *c = s->context;
  for (drv_stream **at = &c->streams; *at; at = &(*at)->next)
    if (*at == s) {
      *at = s->next;
      break;
    }
  while (s->first)
    drv_op_done(s->first);
  drv_capture_drop(s);
  drv_handle_remove(s);
  if (c->legacy == s)
    c->legacy = NULL;
  free(s);
}

static drv_stream *thread_stream(drv_context *c) {
  uint64_t thread = drv_self()->number;
  for (drv_stream *s = c->streams; s; s = s->next)
    if (s->thread == thread && !s->destroyed)
      return s;
  drv_stream *s = drv_stream_new(c, 0, 0);
  if (s)
    s->thread = thread;
  return s;
}

CUresult drv_stream_of(CUstream handle, drv_stream **to) {
  drv_context *c = drv_current();
  if (handle == CU_STREAM_PER_THREAD || (!handle && drv_self()->per_thread)) {
    *to = thread_stream(c);
    return *to ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
  }
  if (!handle || handle == CU_STREAM_LEGACY) {
    *to = c->legacy;
    return CUDA_SUCCESS;
  }
  *to = drv_find(handle, DRV_STREAM);
  if (!*to || (*to)->destroyed)
    return CUDA_ERROR_INVALID_HANDLE;
  return (*to)->context->device->sticky;
}

/* ------------------------------------------------------------------ waiting */

typedef struct stream_wait {
  const drv_stream *stream;
  uint64_t number;
} stream_wait;

static bool stream_reached(void *user) {
  const stream_wait *w = user;
  return !w->stream->first || w->stream->first->number > w->number;
}

bool drv_stream_done(const drv_stream *s) {
  return s == s->context->legacy ? drv_stream_clear(s) : !s->first;
}

CUresult drv_wait_stream(drv_stream *s) {
  if (s == s->context->legacy && !drv_stream_clear(s)) {
    /* What the blocking streams have now comes first: a marker stands behind it. */
    CUresult r = drv_push(s, drv_op_new(DRV_OP_NONE));
    if (r != CUDA_SUCCESS)
      return r;
  }
  stream_wait w = {s, s->last};
  s->waiters++;
  CUresult r = drv_wait(s->context->device, stream_reached, &w);
  s->waiters--;
  if (r == CUDA_SUCCESS)
    drv_tell_synced(s);
  return r;
}

typedef struct context_wait {
  const drv_context *context;
  uint64_t number;
} context_wait;

static bool context_reached(void *user) {
  const context_wait *w = user;
  if (!drv_find(w->context, DRV_CONTEXT))
    return true; /* somebody ended it meanwhile */
  for (const drv_stream *s = w->context->streams; s; s = s->next)
    if (s->first && s->first->number <= w->number)
      return false;
  return true;
}

CUresult drv_wait_context(drv_context *c) {
  context_wait w = {c, drv_op_number};
  drv_device *d = c->device;
  CUresult r = drv_wait(d, context_reached, &w);
  if (r == CUDA_SUCCESS)
    drv_tell_device_synced(d);
  return r;
}

CUresult drv_wait_device(drv_device *d) {
  CUresult r = d->sticky;
  for (drv_context *c = d->contexts; c && r == CUDA_SUCCESS; c = c->next)
    r = drv_wait_context(c);
  return r;
}

/* ------------------------------------------------------------------ the API */

CUresult drv_cuStreamCreateWithPriority(CUstream *stream, unsigned flags, int priority) {
  if (!stream || (flags & ~(unsigned)CU_STREAM_NON_BLOCKING))
    return CUDA_ERROR_INVALID_VALUE;
  priority = priority > 0 ? 0 : priority < -5 ? -5 : priority;
  *stream = drv_stream_new(drv_current(), flags, priority);
  return *stream ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult drv_cuStreamCreate(CUstream *stream, unsigned flags) {
  return drv_cuStreamCreateWithPriority(stream, flags, 0);
}

CUresult drv_cuStreamDestroy(CUstream stream) {
  drv_stream *s = drv_find(stream, DRV_STREAM);
  if (!s || s->destroyed || s == s->context->legacy || s->thread)
    return CUDA_ERROR_INVALID_HANDLE;
  drv_capture_drop(s);
  if (s->first || s->waiters)
    s->destroyed = true; /* the engine frees it when its work is done */
  else
    drv_stream_free(s);
  return CUDA_SUCCESS;
}

CUresult drv_cuStreamQuery(CUstream stream) {
  drv_stream *s;
  CUresult r = drv_stream_of(stream, &s);
  if (r != CUDA_SUCCESS)
    return r;
  if (s->capture)
    return drv_capture_invalid(s);
  if (!drv_stream_done(s)) {
    drv_polls++;
    return CUDA_ERROR_NOT_READY;
  }
  drv_tell_synced(s);
  return CUDA_SUCCESS;
}

CUresult drv_cuStreamSynchronize(CUstream stream) {
  drv_stream *s;
  CUresult r = drv_stream_of(stream, &s);
  if (r != CUDA_SUCCESS)
    return r;
  if (s->capture)
    return drv_capture_invalid(s);
  drv_device *d = s->context->device;
  r = drv_wait_stream(s);
  drv_print(d);
  return r;
}

CUresult drv_cuStreamGetPriority(CUstream stream, int *priority) {
  drv_stream *s;
  CUresult r = drv_stream_of(stream, &s);
  if (!priority)
    return CUDA_ERROR_INVALID_VALUE;
  if (r == CUDA_SUCCESS)
    *priority = s->priority;
  return r;
}

CUresult drv_cuStreamGetFlags(CUstream stream, unsigned *flags) {
  drv_stream *s;
  CUresult r = drv_stream_of(stream, &s);
  if (!flags)
    return CUDA_ERROR_INVALID_VALUE;
  if (r == CUDA_SUCCESS)
    *flags = s->flags;
  return r;
}

CUresult drv_cuStreamGetId(CUstream stream, unsigned long long *id) {
  drv_stream *s;
  CUresult r = drv_stream_of(stream, &s);
  if (!id)
    return CUDA_ERROR_INVALID_VALUE;
  if (r == CUDA_SUCCESS)
    *id = s->id;
  return r;
}

CUresult drv_cuStreamGetDevice(CUstream stream, CUdevice *device) {
  drv_stream *s;
  CUresult r = drv_stream_of(stream, &s);
  if (!device)
    return CUDA_ERROR_INVALID_VALUE;
  if (r == CUDA_SUCCESS)
    *device = s->context->device->ordinal;
  return r;
}

CUresult drv_old_cuStreamGetCtx(CUstream stream, CUcontext *context) {
  drv_stream *s;
  CUresult r = drv_stream_of(stream, &s);
  if (!context)
    return CUDA_ERROR_INVALID_VALUE;
  if (r == CUDA_SUCCESS)
    *context = s->context;
  return r;
}

CUresult drv_cuStreamGetCtx(CUstream stream, CUcontext *context, CUgreenCtx *green) {
  if (!green)
    return CUDA_ERROR_INVALID_VALUE;
  *green = NULL;
  return drv_old_cuStreamGetCtx(stream, context);
}

/* Attributes of a stream are hints that a launch of it takes over; those a stream has: */
static bool stream_attribute(CUstreamAttrID id) {
  return id == CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW || id == CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY ||
         id == CU_LAUNCH_ATTRIBUTE_PRIORITY || id == CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP ||
         id == CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN;
}

CUresult drv_cuStreamGetAttribute(CUstream stream, CUstreamAttrID attribute, CUstreamAttrValue *value) {
  drv_stream *s;
  CUresult r = drv_stream_of(stream, &s);
  if (!value || !stream_attribute(attribute))
    return CUDA_ERROR_INVALID_VALUE;
  if (r != CUDA_SUCCESS)
    return r;
  *value = s->attributes[attribute];
  if (attribute == CU_LAUNCH_ATTRIBUTE_PRIORITY)
    value->priority = s->priority;
  return CUDA_SUCCESS;
}

CUresult drv_cuStreamSetAttribute(CUstream stream, CUstreamAttrID attribute, const CUstreamAttrValue *value) {
  drv_stream *s;
  CUresult r = drv_stream_of(stream, &s);
  if (!value || !stream_attribute(attribute))
    return CUDA_ERROR_INVALID_VALUE;
  if (r != CUDA_SUCCESS)
    return r;
  s->attributes[attribute] = *value;
  if (attribute == CU_LAUNCH_ATTRIBUTE_PRIORITY)
    s->priority = value->priority;
  return CUDA_SUCCESS;
}

CUresult drv_cuStreamCopyAttributes(CUstream to, CUstream from) {
  drv_stream *t, *f;
  CUresult r = drv_stream_of(to, &t);
  if (r == CUDA_SUCCESS)
    r = drv_stream_of(from, &f);
  if (r == CUDA_SUCCESS)
    memcpy(t->attributes, f->attributes, sizeof t->attributes);
  return r;
}

/* ------------------------------------------------------------------ host functions and words in memory */

static CUresult push_call(CUstream stream, CUhostFn host, CUstreamCallback callback, void *user) {
  drv_stream *s;
  CUresult r = drv_stream_of(stream, &s);
  if (r != CUDA_SUCCESS)
    return r;
  drv_op *op = drv_op_new(DRV_OP_CALL);
  if (!op)
    return CUDA_ERROR_OUT_OF_MEMORY;
  op->call.host = host;
  op->call.callback = callback;
  op->call.user = user;
  return drv_issue(s, op);
}

CUresult drv_cuStreamAddCallback(CUstream stream, CUstreamCallback function, void *user, unsigned flags) {
  if (!function || flags != 0)
    return CUDA_ERROR_INVALID_VALUE;
  return push_call(stream, NULL, function, user);
}

CUresult drv_cuLaunchHostFunc(CUstream stream, CUhostFn function, void *user) {
  if (!function)
    return CUDA_ERROR_INVALID_VALUE;
  return push_call(stream, function, NULL, user);
}

static CUresult push_word(CUstream stream, drv_op_kind kind, CUdeviceptr address, uint64_t value,
                          uint32_t bytes, unsigned flags) {
  drv_stream *s;
  CUresult r = drv_stream_of(stream, &s);
  if (r != CUDA_SUCCESS)
    return r;
  if (address % bytes != 0 || !drv_memory_covers(address, bytes))
    return CUDA_ERROR_INVALID_VALUE;
  unsigned allowed =
      kind == DRV_OP_WAIT_VALUE ? CU_STREAM_WAIT_VALUE_NOR : CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER;
  if (flags & ~allowed)
    return CUDA_ERROR_INVALID_VALUE;
  drv_op *op = drv_op_new(kind);
  if (!op)
    return CUDA_ERROR_OUT_OF_MEMORY;
  op->word.address = address;
  op->word.value = value;
  op->word.bytes = bytes;
  op->word.flags = flags;
  return drv_issue(s, op);
}

CUresult drv_cuStreamWaitValue32(CUstream stream, CUdeviceptr address, uint32_t value, unsigned flags) {
  return push_word(stream, DRV_OP_WAIT_VALUE, address, value, 4, flags);
}

CUresult drv_cuStreamWaitValue64(CUstream stream, CUdeviceptr address, uint64_t value, unsigned flags) {
  return push_word(stream, DRV_OP_WAIT_VALUE, address, value, 8, flags);
}

CUresult drv_cuStreamWriteValue32(CUstream stream, CUdeviceptr address, uint32_t value, unsigned flags) {
  return push_word(stream, DRV_OP_WRITE_VALUE, address, value, 4, flags);
}

CUresult drv_cuStreamWriteValue64(CUstream stream, CUdeviceptr address, uint64_t value, unsigned flags) {
  return push_word(stream, DRV_OP_WRITE_VALUE, address, value, 8, flags);
}
