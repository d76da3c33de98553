/* capture.c: the capture of streams into a graph. A capturing stream keeps the nodes that its next one will
 * need; an event recorded in it keeps a copy of them, and takes other streams that wait for it into the same
 * capture.
 */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "driver/graph.h"

/* One capture sequence, shared by all streams that take part. */
typedef struct sequence {
  drv_graph *graph;
  drv_stream *origin;
  CUstreamCaptureMode mode;
  uint64_t thread;
  uint64_t id;
  bool spoiled;
  uint32_t users; /* streams and events */
} sequence;

/* A set of nodes that the next one needs. */
typedef struct tail {
  drv_node **nodes;
  size_t n;
  uint32_t capacity;
} tail;

typedef struct drv_capture {
  sequence *of;
  tail tail;
} drv_capture;

typedef struct captured_event {
  struct captured_event *next;
  drv_event *event;
  sequence *of;
  tail tail;
} captured_event;

static captured_event *events;
static uint64_t sequence_number;
static unsigned active; /* sequences that are being captured */

/* ------------------------------------------------------------------ small pieces */

static void sequence_drop(sequence *q) {
  if (--q->users > 0)
    return;
  drv_graph_free(q->graph); /* NULL once the program has it */
  active--;
  free(q);
}

static bool tail_add(tail *t, drv_node *n) {
  for (size_t i = 0; i < t->n; i++)
    if (t->nodes[i] == n)
      return true;
  if (!BASE_ROOM(t->nodes, t->n, t->capacity))
    return false;
  t->nodes[t->n++] = n;
  return true;
}

static bool tail_join(tail *t, const tail *other) {
  for (size_t i = 0; i < other->n; i++)
    if (!tail_add(t, other->nodes[i]))
      return false;
  return true;
}

static captured_event *event_of(const drv_event *e) {
  captured_event *c = events;
  while (c && c->event != e)
    c = c->next;
  return c;
}

static drv_capture *begin(drv_stream *s, sequence *q) {
  s->capture = calloc(1, sizeof *s->capture);
  if (s->capture) {
    s->capture->of = q;
    q->users++;
  }
  return s->capture;
}

void drv_capture_drop(drv_stream *s) {
  drv_capture *c = s->capture;
  if (!c)
    return;
  s->capture = NULL;
  c->of->spoiled |= c->of->origin == s;
  if (c->of->origin == s)
    c->of->origin = NULL;
  free(c->tail.nodes);
  sequence_drop(c->of);
  free(c);
}

void drv_capture_forget_event(drv_event *e) {
  for (captured_event **at = &events; *at; at = &(*at)->next)
    if ((*at)->event == e) {
      captured_event *c = *at;
      *at = c->next;
      free(c->tail.nodes);
      sequence_drop(c->of);
      free(c);
      return;
    }
}

bool drv_capture_has_event(const drv_event *e) {
  return event_of(e) != NULL;
}

CUresult drv_capture_invalid(drv_stream *s) {
  if (s->capture->of->spoiled)
    return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  s->capture->of->spoiled = true;
  return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

CUresult drv_capture_forbids(void) {
  if (active == 0)
    return CUDA_SUCCESS;
  drv_thread *self = drv_self();
  if (self->capture_mode == CU_STREAM_CAPTURE_MODE_RELAXED)
    return CUDA_SUCCESS;
  for (int i = 0; i < drv_device_count; i++)
    for (drv_context *c = drv_devices[i].contexts; c; c = c->next)
      for (drv_stream *s = c->streams; s; s = s->next) {
        if (!s->capture || s->capture->of->spoiled)
          continue;
        const sequence *q = s->capture->of;
        bool mine = q->thread == self->number;
        if ((q->mode == CU_STREAM_CAPTURE_MODE_GLOBAL &&
             self->capture_mode == CU_STREAM_CAPTURE_MODE_GLOBAL) ||
            (q->mode != CU_STREAM_CAPTURE_MODE_RELAXED && mine))
          return drv_capture_invalid(s);
      }
  return CUDA_SUCCESS;
}

bool drv_capture_blocks_legacy(drv_context *c) {
  for (drv_stream *s = active ? c->streams : NULL; s; s = s->next)
    if (s->capture && !(s->flags & CU_STREAM_NON_BLOCKING)) {
      s->capture->of->spoiled = true;
      return true;
    }
  return false;
}

/* ------------------------------------------------------------------ what happens to a capturing stream */

static CUresult add(drv_stream *s, CUgraphNodeType type, drv_op *op, drv_node **to) {
  drv_capture *c = s->capture;
  if (c->of->spoiled) {
    drv_op_free(op);
    return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  }
  CUresult r = drv_graph_add(c->of->graph, type, op, c->tail.nodes, c->tail.n, to);
  if (r != CUDA_SUCCESS)
    return r;
  c->tail.n = 0;
  return tail_add(&c->tail, *to) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult drv_capture_node(drv_stream *s, CUgraphNodeType type, drv_node **to) {
  return add(s, type, NULL, to);
}

CUresult drv_capture_add(drv_stream *s, drv_op *op) {
  CUgraphNodeType type;
  drv_node *unused;
  switch (op->kind) {
  case DRV_OP_LAUNCH:
    type = CU_GRAPH_NODE_TYPE_KERNEL;
    break;
  case DRV_OP_COPY:
    type = CU_GRAPH_NODE_TYPE_MEMCPY;
    break;
  case DRV_OP_FILL:
    type = CU_GRAPH_NODE_TYPE_MEMSET;
    break;
  case DRV_OP_CALL:
    type = CU_GRAPH_NODE_TYPE_HOST;
    break;
  case DRV_OP_WAIT_VALUE:
  case DRV_OP_WRITE_VALUE:
    type = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP;
    break;
  default:
    drv_op_free(op);
    return drv_capture_invalid(s);
  }
  return add(s, type, op, &unused);
}

CUresult drv_capture_record(drv_stream *s, drv_event *e, bool external) {
  drv_capture *c = s->capture;
  if (c->of->spoiled)
    return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  if (external) { /* a node that records the event each time the graph runs */
    drv_node *n;
    CUresult r = add(s, CU_GRAPH_NODE_TYPE_EVENT_RECORD, NULL, &n);
    if (r == CUDA_SUCCESS)
      n->event = e;
    return r;
  }
  drv_capture_forget_event(e);
  captured_event *mark = calloc(1, sizeof *mark);
  if (!mark || !tail_join(&mark->tail, &c->tail)) {
    free(mark);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  mark->event = e;
  mark->of = c->of;
  c->of->users++;
  mark->next = events;
  events = mark;
  return CUDA_SUCCESS;
}

CUresult drv_capture_wait(drv_stream *s, drv_event *e, bool external) {
  captured_event *mark = event_of(e);
  drv_capture *c = s->capture;
  if (c && c->of->spoiled)
    return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  if (c && external) {
    drv_node *n;
    CUresult r = add(s, CU_GRAPH_NODE_TYPE_WAIT_EVENT, NULL, &n);
    if (r == CUDA_SUCCESS)
      n->event = e;
    return r;
  }
  if (!mark) {
    c->of->spoiled = true;
    return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
  }
  if (c && c->of != mark->of) {
    c->of->spoiled = true;
    return CUDA_ERROR_STREAM_CAPTURE_MERGE;
  }
  if (!mark->of->graph) /* that capture is over */
    return CUDA_ERROR_CAPTURED_EVENT;
  if (!c && s == s->context->legacy) {
    mark->of->spoiled = true;
    return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
  }
  if (!c && !(c = begin(s, mark->of)))
    return CUDA_ERROR_OUT_OF_MEMORY;
  return tail_join(&c->tail, &mark->tail) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

/* ------------------------------------------------------------------ the API */

CUresult drv_cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode mode) {
  drv_stream *s;
  CUresult r = drv_stream_of(stream, &s);
  if ((unsigned)mode > CU_STREAM_CAPTURE_MODE_RELAXED)
    return CUDA_ERROR_INVALID_VALUE;
  if (r != CUDA_SUCCESS)
    return r;
  if (s == s->context->legacy)
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  if (s->capture)
    return CUDA_ERROR_ILLEGAL_STATE;
  sequence *q = calloc(1, sizeof *q);
  if (!q || !(q->graph = drv_graph_new()) || !begin(s, q)) {
    drv_graph_free(q ? q->graph : NULL);
    free(q);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  q->origin = s;
  q->mode = mode;
  q->thread = drv_self()->number;
  q->id = ++sequence_number;
  active++;
  return CUDA_SUCCESS;
}

CUresult drv_old_cuStreamBeginCapture(CUstream stream) {
  return drv_cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
}

/* Whether everything captured in other streams has come back to the one that ends it. */
static bool joined(const sequence *q) {
  const drv_capture *own = q->origin->capture;
  for (int i = 0; i < drv_device_count; i++)
    for (const drv_context *c = drv_devices[i].contexts; c; c = c->next)
      for (const drv_stream *s = c->streams; s; s = s->next)
        for (size_t n = 0; s->capture && s->capture->of == q && n < s->capture->tail.n; n++)
          if (!drv_node_before(s->capture->tail.nodes[n], own->tail.nodes, own->tail.n))
            return false;
  return true;
}

CUresult drv_cuStreamEndCapture(CUstream stream, CUgraph *graph) {
  drv_stream *s;
  CUresult r = drv_stream_of(stream, &s);
  if (r != CUDA_SUCCESS)
    return r;
  if (!s->capture)
    return CUDA_ERROR_ILLEGAL_STATE;
  sequence *q = s->capture->of;
  if (q->origin != s) {
    q->spoiled = true;
    return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
  }
  if (q->mode != CU_STREAM_CAPTURE_MODE_RELAXED && q->thread != drv_self()->number)
    return CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
  r = q->spoiled  ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
      : joined(q) ? CUDA_SUCCESS
                  : CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
  q->users++; /* while its streams leave it */
  for (int i = 0; i < drv_device_count; i++)
    for (drv_context *c = drv_devices[i].contexts; c; c = c->next)
      for (drv_stream *each = c->streams; each; each = each->next)
        if (each->capture && each->capture->of == q)
          drv_capture_drop(each);
  if (graph)
    *graph = NULL;
  if (r == CUDA_SUCCESS && graph) {
    *graph = q->graph;
    if (!drv_handle_add(q->graph, DRV_GRAPH))
      r = CUDA_ERROR_OUT_OF_MEMORY;
  }
  if (r != CUDA_SUCCESS || !graph)
    drv_graph_free(q->graph);
  q->graph = NULL;
  sequence_drop(q);
  return r;
}

CUresult drv_cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status) {
  drv_stream *s;
  CUresult r = drv_stream_of(stream, &s);
  if (!status)
    return CUDA_ERROR_INVALID_VALUE;
  if (r == CUDA_SUCCESS)
    *status = !s->capture               ? CU_STREAM_CAPTURE_STATUS_NONE
              : s->capture->of->spoiled ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                                        : CU_STREAM_CAPTURE_STATUS_ACTIVE;
  return r;
}

CUresult drv_old_cuStreamGetCaptureInfo_v2(CUstream stream, CUstreamCaptureStatus *status, uint64_t *id,
                                           CUgraph *graph, const CUgraphNode **nodes, size_t *count) {
  drv_stream *s;
  CUresult r = drv_cuStreamIsCapturing(stream, status);
  if (r == CUDA_SUCCESS)
    r = drv_stream_of(stream, &s);
  if (r != CUDA_SUCCESS || *status != CU_STREAM_CAPTURE_STATUS_ACTIVE)
    return r;
  if (id)
    *id = s->capture->of->id;
  if (graph) {
    *graph = s->capture->of->graph;
    if (!drv_find(*graph, DRV_GRAPH) && !drv_handle_add(*graph, DRV_GRAPH))
      return CUDA_ERROR_OUT_OF_MEMORY;
  }
  if (nodes)
    *nodes = s->capture->tail.nodes;
  if (count)
    *count = s->capture->tail.n;
  return CUDA_SUCCESS;
}

CUresult drv_cuStreamGetCaptureInfo(CUstream stream, CUstreamCaptureStatus *status, uint64_t *id,
                                    CUgraph *graph, const CUgraphNode **nodes, const CUgraphEdgeData **edges,
                                    size_t *count) {
  if (edges)
    *edges = NULL; /* every edge is an ordinary one */
  return drv_old_cuStreamGetCaptureInfo_v2(stream, status, id, graph, nodes, count);
}

CUresult drv_old_cuStreamGetCaptureInfo(CUstream stream, CUstreamCaptureStatus *status, uint64_t *id) {
  return drv_old_cuStreamGetCaptureInfo_v2(stream, status, id, NULL, NULL, NULL);
}

CUresult drv_cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode) {
  drv_thread *self = drv_self();
  if (!mode || (unsigned)*mode > CU_STREAM_CAPTURE_MODE_RELAXED)
    return CUDA_ERROR_INVALID_VALUE;
  CUstreamCaptureMode before = self->capture_mode;
  self->capture_mode = *mode;
  *mode = before;
  return CUDA_SUCCESS;
}
