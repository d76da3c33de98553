/* tell.c: what the machines' watchers are told of the program's own doings (hooks.h, d): allocations, copies
 * and fills, the order of streams; and what copies and fills define. Nobody watches: nothing is said.
 *
 * Order is told when a function is called, since that fixes it: `stream` gets a piece of work, waits for what
 * another stream has by now, or for a recording of an event; the host waits for a stream. The rules of
 * default streams are made explicit here. All devices' watchers hear of all streams.
 */
#include "driver/graph.h"
#include "sim/hooks.h"

/* The nodes of a graph that is being launched: they are no stream's work yet, but of lanes of their own. */
static uint64_t lane;
static uint64_t record_number;

static bool watched(void) {
  for (int i = 0; i < drv_device_count; i++)
    if (drv_devices[i].check)
      return true;
  return false;
}

static void tell_order(sim_edge what, uint64_t stream, uint64_t other, uint64_t id) {
  for (int i = 0; i < drv_device_count; i++)
    if (drv_devices[i].check)
      sim_tell(drv_devices[i].sim,
               &(sim_event){.kind = SIM_EVENT_STREAM,
                            .stream = {.stream = stream, .other = other, .id = id, .what = (int)what}});
}

/* ------------------------------------------------------------------ order */

static uint64_t id_of(const drv_stream *s) {
  return lane ? lane : s->id;
}

/* The legacy default stream and the blocking ones of its context wait for one another. */
static void join_default(const drv_stream *s) {
  const drv_context *c = s->context;
  if (lane || !watched() || (s->flags & CU_STREAM_NON_BLOCKING))
    return;
  if (s != c->legacy) {
    tell_order(SIM_EDGE_JOIN, s->id, c->legacy->id, 0);
    return;
  }
  for (const drv_stream *other = c->streams; other; other = other->next)
    if (other != s && !(other->flags & CU_STREAM_NON_BLOCKING))
      tell_order(SIM_EDGE_JOIN, s->id, other->id, 0);
}

void drv_tell_work(const drv_stream *s, const drv_op *op) {
  if (op->kind == DRV_OP_NONE || op->kind == DRV_OP_RECORD || op->kind == DRV_OP_WAIT || !watched())
    return;
  join_default(s);
  if (op->kind == DRV_OP_WAIT_VALUE)
    tell_order(SIM_EDGE_WAIT_VALUE, id_of(s), 0, 0);
  else
    tell_order(SIM_EDGE_WORK, id_of(s), (uint64_t)s->context->device->ordinal, op->number);
}

void drv_tell_record(const drv_stream *s, drv_record *r) {
  r->number = ++record_number;
  join_default(s);
  tell_order(SIM_EDGE_RECORD, id_of(s), 0, r->number);
}

void drv_tell_wait(const drv_stream *s, const drv_record *r) {
  join_default(s);
  tell_order(SIM_EDGE_WAIT, id_of(s), 0, r->number);
}

void drv_tell_synced(const drv_stream *s) {
  join_default(s);
  tell_order(SIM_EDGE_STREAM_SYNC, s->id, 0, 0);
}

void drv_tell_record_synced(const drv_record *r) {
  tell_order(SIM_EDGE_EVENT_SYNC, 0, 0, r->number);
}

void drv_tell_device_synced(const drv_device *d) {
  tell_order(SIM_EDGE_DEVICE_SYNC, 0, (uint64_t)d->ordinal, 0);
}

/* A lane goes on where one of the node's needs ended, if nobody else did; else it is a new one. */
void drv_tell_node(drv_tell_graph *g, const drv_stream *s, drv_node *n) {
  const drv_node *before = NULL;
  if (s->capture || !watched())
    return;
  if (!g->lanes)
    join_default(s);
  for (size_t i = 0; i < n->n_needs && !before; i++)
    if (!n->needs[i]->order.continued) {
      before = n->needs[i];
      n->needs[i]->order.continued = true;
    }
  n->order.lane = before ? before->order.lane : s->id | (uint64_t)++g->lanes << 32;
  n->order.continued = false;
  if (!before)
    tell_order(SIM_EDGE_JOIN, n->order.lane, s->id, 0);
  for (size_t i = 0; i < n->n_needs; i++)
    if (n->needs[i] != before)
      tell_order(SIM_EDGE_WAIT, n->order.lane, 0, n->needs[i]->order.record);
  lane = n->order.lane;
}

void drv_tell_node_end(drv_node *n) {
  if (!lane)
    return;
  n->order.record = ++record_number;
  tell_order(SIM_EDGE_RECORD, lane, 0, n->order.record);
  lane = 0;
}

void drv_tell_graph_end(const drv_tell_graph *g, const drv_stream *s) {
  for (uint64_t k = 1; k <= g->lanes; k++)
    tell_order(SIM_EDGE_JOIN, s->id, s->id | k << 32, 0);
}

/* ------------------------------------------------------------------ memory */

static void tell_memory(const drv_memory *m, sim_event_kind kind) {
  const drv_device *own = m->pool ? m->pool->device : m->context->device;
  for (int i = 0; i < drv_device_count; i++) {
    const drv_device *d = &drv_devices[i];
    if (d->check && (m->kind != DRV_DEVICE_MEMORY || d == own))
      sim_tell(d->sim, &(sim_event){.kind = kind,
                                    .memory = {.address = m->address,
                                               .bytes = m->bytes,
                                               .host = m->kind != DRV_DEVICE_MEMORY,
                                               .asynchronous = m->pool != NULL}});
  }
}

void drv_tell_allocated(const drv_memory *m) {
  tell_memory(m, SIM_EVENT_ALLOCATE);
}

void drv_tell_freed(const drv_memory *m) {
  tell_memory(m, SIM_EVENT_FREE);
}

/* The device in whose memory an address lies; NULL: it is the host's. */
static drv_device *device_at(uint64_t address) {
  sim_allocation a;
  for (int i = 0; i < drv_device_count && drv_in_device_range(address); i++)
    if (drv_devices[i].sim && sim_memory_find(drv_devices[i].sim, address, &a))
      return &drv_devices[i];
  return NULL;
}

static void define(drv_device *to_device, uint64_t to, drv_device *from_device, uint64_t from,
                   uint64_t bytes) {
  if (to_device == from_device) {
    sim_memory_define_copy(to_device->sim, to, from, bytes);
    return;
  }
  for (uint64_t at = 0; at < bytes;) {
    uint64_t good = from_device ? sim_memory_undefined(from_device->sim, from + at, bytes - at) : bytes;
    sim_memory_define(to_device->sim, to + at, good, true);
    at += good;
    if (at < bytes)
      sim_memory_define(to_device->sim, to + at++, 1, false);
  }
}

/* One row of a copy or a fill; `from` 0: a fill. */
static void tell_row(const drv_op *op, uint64_t to, uint64_t from, uint64_t bytes) {
  drv_device *to_device = device_at(to), *from_device = from ? device_at(from) : NULL;
  if (to_device)
    define(to_device, to, from_device, from, bytes);
  for (int i = 0; i < drv_device_count; i++) {
    const drv_device *d = &drv_devices[i];
    sim_allocation a;
    bool writes = d->check && sim_memory_find(d->sim, to, &a);
    bool reads = d->check && from && sim_memory_find(d->sim, from, &a);
    if (writes || reads)
      sim_tell(d->sim, &(sim_event){.kind = SIM_EVENT_HOST_COPY,
                                    .memory = {.address = to,
                                               .bytes = bytes,
                                               .from = from,
                                               .reads = reads,
                                               .writes = writes,
                                               .order = op->number,
                                               .stream = op->stream ? op->stream->id : 0}});
  }
}

void drv_tell_copied(const drv_op *op, const drv_box *to, const drv_box *from, const drv_shape *s) {
  bool rows_touch = s->height < 2 || (to->pitch == s->width && (!from || from->pitch == s->width));
  size_t width = rows_touch ? s->width * s->height : s->width, height = rows_touch ? 1 : s->height;
  if (!watched())
    return;
  for (size_t z = 0; z < s->depth; z++)
    for (size_t y = 0; y < height; y++)
      tell_row(op, (uintptr_t)to->at + z * to->layer + y * to->pitch,
               from ? (uintptr_t)from->at + z * from->layer + y * from->pitch : 0, width);
}
