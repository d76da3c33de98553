/* weak_graph.c: the graph of a run, from the machine's events. */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "check/weak_graph.h"

/* ------------------------------------------------------------------ maps */

static uint32_t slot_of(const weak_map *m, uint64_t key) {
  uint32_t i = (uint32_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (m->n_slots - 1);
  while (m->values[i] != WEAK_NONE && m->keys[i] != key)
    i = (i + 1) & (m->n_slots - 1);
  return i;
}

uint32_t weak_map_get(const weak_map *m, uint64_t key) {
  return m->n_slots ? m->values[slot_of(m, key)] : WEAK_NONE;
}

static bool grow_map(weak_map *m) {
  weak_map old = *m;
  uint32_t n = old.n_slots ? 2 * old.n_slots : 64;
  m->keys = malloc(n * sizeof *m->keys);
  m->values = malloc(n * sizeof *m->values);
  if (!m->keys || !m->values) {
    weak_map_free(m);
    *m = old;
    return false;
  }
  memset(m->values, 0xff, n * sizeof *m->values);
  m->n_slots = n;
  for (uint32_t i = 0; i < old.n_slots; i++)
    if (old.values[i] != WEAK_NONE) {
      uint32_t k = slot_of(m, old.keys[i]);
      m->keys[k] = old.keys[i], m->values[k] = old.values[i];
    }
  weak_map_free(&old);
  return true;
}

bool weak_map_set(weak_map *m, uint64_t key, uint32_t value) {
  if (2 * m->n_used >= m->n_slots && !grow_map(m))
    return false;
  uint32_t i = slot_of(m, key);
  m->n_used += m->values[i] == WEAK_NONE;
  m->keys[i] = key, m->values[i] = value;
  return true;
}

void weak_map_clear(weak_map *m) {
  if (m->n_used)
    memset(m->values, 0xff, m->n_slots * sizeof *m->values);
  m->n_used = 0;
}

void weak_map_free(weak_map *m) {
  free(m->keys);
  free(m->values);
  *m = (weak_map){0};
}

/* One more item; NULL, and `failed`, if there is no memory. */
static void *push(weak_graph *g, void *items, uint32_t *n, uint32_t *capacity, size_t bytes) {
  if (!base_room(items, *n, capacity, bytes)) {
    g->failed = true;
    return NULL;
  }
  void *item = *(char **)items + *n * bytes;
  memset(item, 0, bytes);
  ++*n;
  return item;
}

static void set(weak_graph *g, weak_map *m, uint64_t key, uint32_t value) {
  g->failed |= !weak_map_set(m, key, value);
}

/* ------------------------------------------------------------------ runs */

void weak_graph_free(weak_graph *g) {
  free(g->nodes);
  free(g->threads);
  free(g->locations);
  weak_map *maps[] = {&g->thread_of, &g->location_at, &g->node_of, &g->site_of,
                      &g->times,     &g->meeting,     &g->met};
  for (size_t i = 0; i < sizeof maps / sizeof maps[0]; i++)
    weak_map_free(maps[i]);
}

void weak_graph_begin(weak_graph *g) {
  g->run++;
  g->n_nodes = g->n_barriers = 0;
  g->first_launch = 0;
  weak_map_clear(&g->node_of);
  weak_map_clear(&g->times);
  weak_map_clear(&g->meeting);
  weak_map_clear(&g->met);
}

uint32_t weak_graph_thread(weak_graph *g, const sim_who *who, uint32_t lane) {
  if (!g->first_launch || who->launch < g->first_launch)
    g->first_launch = who->launch;
  uint64_t launch = who->launch - g->first_launch;
  if (launch) /* which of them waited for which is not known here */
    g->unmodelled = "several launches at once";
  uint64_t key = launch << 56 ^ who->block << 16 ^ (who->warp * SIM_WARP + lane);
  uint32_t i = weak_map_get(&g->thread_of, key);
  if (i == WEAK_NONE) {
    i = g->n_threads;
    weak_thread *t = push(g, &g->threads, &g->n_threads, &g->threads_capacity, sizeof *t);
    if (!t)
      return WEAK_NONE;
    *t = (weak_thread){.launch = launch, .block = who->block, .thread = who->warp * SIM_WARP + lane};
    set(g, &g->thread_of, key, i);
  }
  weak_thread *t = &g->threads[i];
  if (t->run != g->run)
    t->run = g->run, t->first = t->last = WEAK_NONE, t->count = 0;
  return i;
}

uint32_t weak_graph_location(weak_graph *g, const sim_access *a, uint32_t lane) {
  weak_place p = {.space = a->space, .address = sim_address_of(a, lane), .bytes = a->bytes};
  if (a->space == PTX_SPACE_SHARED) {
    p.block = a->who->block;
    if (a->rank && a->rank[lane] != a->who->cluster_rank)
      g->unmodelled = "shared memory of other blocks";
  }
  uint64_t granule = p.address / 16 ^ (p.space == PTX_SPACE_SHARED ? UINT64_C(1) << 63 ^ p.block << 24 : 0);
  uint32_t first = weak_map_get(&g->location_at, granule), found = WEAK_NONE;
  for (uint32_t i = first; i != WEAK_NONE; i = g->locations[i].next) {
    weak_location *l = &g->locations[i];
    if (l->place.address == p.address && l->place.bytes == p.bytes)
      found = i;
  }
  if (found == WEAK_NONE) {
    found = g->n_locations;
    weak_location *l = push(g, &g->locations, &g->n_locations, &g->locations_capacity, sizeof *l);
    if (!l)
      return WEAK_NONE;
    *l = (weak_location){.place = p, .next = first};
    for (uint32_t i = first; i != WEAK_NONE; i = g->locations[i].next)
      if (g->locations[i].place.address < p.address + p.bytes &&
          p.address < g->locations[i].place.address + g->locations[i].place.bytes)
        l->mixed = g->locations[i].mixed = true;
    set(g, &g->location_at, granule, found);
  }
  weak_location *l = &g->locations[found];
  if (l->run != g->run) {
    l->run = g->run;
    l->last_write = WEAK_INITIAL;
    l->many = l->written = l->used = l->strong = l->planned = false;
  }
  return found;
}

void weak_graph_initial(weak_graph *g, uint32_t location, const uint64_t value[2]) {
  weak_location *l = &g->locations[location];
  if (l->known || l->last_write != WEAK_INITIAL)
    return;
  l->known = true;
  memcpy(l->initial, value, sizeof l->initial);
}

/* Names: 16 bits of the instruction, 15 of its turns in this thread, one for the write of an atomic
 * operation. */
enum { TURNS = 1 << 15, SITES = (1 << 16) - 1 };

uint32_t weak_graph_name(weak_graph *g, const sim_access *a, uint32_t thread) {
  uint64_t key = (uint64_t)(uintptr_t)a->who->insn << 3 ^ (a->element & 7);
  uint32_t site = weak_map_get(&g->site_of, key);
  if (site == WEAK_NONE)
    set(g, &g->site_of, key, site = g->n_sites++);
  uint32_t times = weak_map_get(&g->times, (uint64_t)thread << 32 | site);
  times = times == WEAK_NONE ? 0 : times;
  if (site >= SITES || times >= TURNS)
    g->unmodelled = "more accesses of a thread than are explored";
  return site << 16 | (times & (TURNS - 1)) << 1;
}

uint32_t weak_graph_node(const weak_graph *g, uint32_t thread, uint32_t name) {
  return weak_map_get(&g->node_of, (uint64_t)thread << 32 | name);
}

static void name(weak_graph *g, uint32_t node, uint32_t name) {
  weak_node *n = &g->nodes[node];
  n->name = name;
  set(g, &g->node_of, (uint64_t)n->thread << 32 | name, node);
}

static weak_node *add(weak_graph *g, uint32_t thread, weak_kind kind) {
  weak_thread *t = &g->threads[thread];
  uint32_t i = g->n_nodes;
  if (i >= g->max_nodes)
    g->unmodelled = "more events than are explored";
  weak_node *n = push(g, &g->nodes, &g->n_nodes, &g->nodes_capacity, sizeof *n);
  if (!n)
    return NULL;
  *n = (weak_node){.kind = kind,
                   .thread = thread,
                   .number = t->count++,
                   .next = WEAK_NONE,
                   .location = WEAK_NONE,
                   .mate = WEAK_NONE,
                   .source = WEAK_NONE,
                   .barrier = WEAK_NONE};
  if (t->last == WEAK_NONE)
    t->first = i;
  else
    g->nodes[t->last].next = i;
  t->last = i;
  return n;
}

/* ------------------------------------------------------------------ events */

static void describe(weak_node *n, const sim_access *a) {
  bool both = a->order == PTX_ORDER_ACQ_REL;
  n->strong = a->order != PTX_ORDER_WEAK;
  n->scope = a->scope;
  n->acquires = n->kind == WEAK_READ && (both || a->order == PTX_ORDER_ACQUIRE);
  n->releases = n->kind == WEAK_WRITE && (both || a->order == PTX_ORDER_RELEASE);
  n->returns = n->kind == WEAK_READ && (!a->writes || a->returns);
}

static void use(weak_graph *g, uint32_t location, uint32_t thread, bool strong) {
  weak_location *l = &g->locations[location];
  l->strong |= strong;
  if (l->used && l->thread != thread)
    l->many = true;
  if (!l->used)
    l->thread = thread;
  l->used = true;
}

static void access(weak_graph *g, const sim_access *a, uint32_t lane, uint32_t source) {
  uint32_t thread = weak_graph_thread(g, a->who, lane), location = weak_graph_location(g, a, lane);
  if (thread == WEAK_NONE || location == WEAK_NONE)
    return;
  if (a->reads == false)
    weak_graph_initial(g, location, a->read[lane]);
  use(g, location, thread, a->order != PTX_ORDER_WEAK);
  uint32_t read = WEAK_NONE, which = weak_graph_name(g, a, thread);
  set(g, &g->times, (uint64_t)thread << 32 | which >> 16, (which >> 1 & (TURNS - 1)) + 1);
  if (a->reads) {
    read = g->n_nodes;
    weak_node *n = add(g, thread, WEAK_READ);
    if (!n)
      return;
    describe(n, a);
    name(g, read, which);
    n->location = location;
    n->source = source == WEAK_NONE ? g->locations[location].last_write : source;
    memcpy(n->value, a->read[lane], sizeof n->value);
  }
  if (!a->writes || !(a->stored >> lane & 1))
    return;
  uint32_t write = g->n_nodes;
  weak_node *n = add(g, thread, WEAK_WRITE);
  if (!n)
    return;
  describe(n, a);
  name(g, write, which | (read != WEAK_NONE));
  n->location = location;
  memcpy(n->value, a->written[lane], sizeof n->value);
  n->mate = read;
  if (read != WEAK_NONE)
    g->nodes[read].mate = write;
  g->locations[location].last_write = write;
  g->locations[location].written = true;
}

static void fence(weak_graph *g, const sim_event *e, uint32_t lane) {
  uint32_t thread = weak_graph_thread(g, &e->who, lane);
  weak_node *n = thread == WEAK_NONE ? NULL : add(g, thread, WEAK_FENCE);
  if (!n)
    return;
  n->strong = true;
  n->scope = e->fence.scope;
  n->sc = e->fence.order == PTX_ORDER_SC;
  n->acquires = e->fence.order != PTX_ORDER_RELEASE;
  n->releases = e->fence.order != PTX_ORDER_ACQUIRE;
}

static void meet(weak_graph *g, const sim_who *who, uint32_t lane, weak_kind kind, uint32_t barrier) {
  uint32_t thread = weak_graph_thread(g, who, lane);
  weak_node *n = thread == WEAK_NONE ? NULL : add(g, thread, kind);
  if (n)
    n->barrier = barrier;
}

static void block_barrier(weak_graph *g, const sim_event *e) {
  uint64_t key = e->who.launch << 48 ^ e->who.block << 8 ^ e->barrier.number;
  uint32_t now = weak_map_get(&g->meeting, key);
  bool fills = now != WEAK_NONE && now != weak_map_get(&g->met, key);
  if (e->kind == SIM_EVENT_ARRIVE && !fills)
    set(g, &g->meeting, key, now = g->n_barriers++);
  if (e->kind == SIM_EVENT_COMPLETE && fills)
    set(g, &g->met, key, now);
  if (e->kind == SIM_EVENT_LEAVE)
    now = weak_map_get(&g->met, key);
  if (e->kind == SIM_EVENT_COMPLETE || now == WEAK_NONE)
    return;
  for (uint32_t lanes = e->who.lanes; lanes; lanes &= lanes - 1)
    meet(g, &e->who, (uint32_t)__builtin_ctz(lanes), e->kind == SIM_EVENT_ARRIVE ? WEAK_ARRIVE : WEAK_LEAVE,
         now);
}

void weak_graph_event(weak_graph *g, const sim_event *e, const uint32_t *sources) {
  if (g->failed || g->unmodelled)
    return;
  switch (e->kind) {
  case SIM_EVENT_ACCESS:
    if (e->access->space != PTX_SPACE_GLOBAL && e->access->space != PTX_SPACE_SHARED)
      break;
    if (e->access->proxy == SIM_PROXY_ASYNC || e->access->scope == PTX_SCOPE_CLUSTER)
      g->unmodelled = e->access->proxy == SIM_PROXY_ASYNC ? "the asynchronous proxy" : "cluster scope";
    for (uint32_t lanes = e->who.lanes; lanes; lanes &= lanes - 1) {
      uint32_t i = (uint32_t)__builtin_ctz(lanes);
      access(g, e->access, i, sources[i]);
    }
    break;
  case SIM_EVENT_FENCE:
    if (e->fence.proxy != PTX_MOD_NONE)
      break;
    if (e->fence.scope == PTX_SCOPE_CLUSTER)
      g->unmodelled = "cluster scope";
    for (uint32_t lanes = e->who.lanes; lanes; lanes &= lanes - 1)
      fence(g, e, (uint32_t)__builtin_ctz(lanes));
    break;
  case SIM_EVENT_ARRIVE:
  case SIM_EVENT_COMPLETE:
  case SIM_EVENT_LEAVE:
    if (e->barrier.cluster)
      g->unmodelled = "cluster barriers";
    else
      block_barrier(g, e);
    break;
  case SIM_EVENT_COLLECTIVE:
    if (!e->who.insn || e->who.insn->op != PTX_OP_bar_warp)
      break; /* shuffles and votes order no memory */
    for (uint32_t lanes = e->collective.met; lanes; lanes &= lanes - 1)
      meet(g, &e->who, (uint32_t)__builtin_ctz(lanes), WEAK_ARRIVE, g->n_barriers);
    for (uint32_t lanes = e->collective.met; lanes; lanes &= lanes - 1)
      meet(g, &e->who, (uint32_t)__builtin_ctz(lanes), WEAK_LEAVE, g->n_barriers);
    g->n_barriers++;
    break;
  case SIM_EVENT_MBARRIER:
    g->unmodelled = "mbarrier objects";
    break;
  case SIM_EVENT_COPY:
    g->unmodelled = "asynchronous copies";
    break;
  default:
    break;
  }
}
