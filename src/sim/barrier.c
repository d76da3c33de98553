/* barrier.c: barriers of the block (bar, barrier) and of the cluster, and fences. A barrier counts threads.
 * One that names no count waits for all threads of the block that live: those that ended are counted out. One
 * with a count is in units of warps, so threads of a warp which has arrived that ended, or never were, count
 * as arrived.
 *
 * Invariant: a unit at a barrier stands at the barrier's op; it moves behind it when it is let go.
 */
#include <string.h>

#include "sim/machine.h"

typedef enum bar_kind { BAR_SYNC, BAR_ARRIVE, BAR_RED_POPC, BAR_RED_AND, BAR_RED_OR } bar_kind;

/* x of an op: its kind. a: number, b: count or SIM_NOWHERE, c: predicate, d: result; y and imm: the order of
 * its place and of the next */

static sim_event event_of(sim_event_kind kind, const sim_op *o, uint32_t number, const sim_barrier *bar,
                          uint32_t want, uint32_t count) {
  return (sim_event){.kind = kind,
                     .barrier = {.waits = o && o->x != BAR_ARRIVE,
                                 .number = number,
                                 .count = count,
                                 .have = bar->have,
                                 .want = want,
                                 .phase = bar->phase}};
}

static void say_barrier(sim_run *r, sim_event_kind kind, const sim_op *o, uint32_t lanes, uint32_t number,
                        const sim_barrier *bar, uint32_t want, uint32_t count) {
  if (!sim_watches(r, SIM_WATCH_SYNC))
    return;
  sim_event e = event_of(kind, o, number, bar, want, count);
  sim_say(r, &e, lanes, o);
}

/* How many threads have come, and how many must. */
static uint32_t counted(const sim_block *b, const sim_barrier *bar, uint32_t *want) {
  uint32_t have = bar->have;
  *want = bar->want ? bar->want : b->live;
  if (bar->want)
    for (uint32_t w = 0; w < b->n_warps; w++)
      if (bar->lanes[w])
        have += SIM_WARP - sim_count(b->warps[w].live | bar->lanes[w]);
  return have;
}

static void write_result(const sim_run *r, const sim_op *o, char *frame, uint32_t lanes,
                         const sim_barrier *bar) {
  char *d = (o->d & 3) == SIM_IN_FRAME ? frame + o->d : r->ctx.base[o->d & 3] + o->d;
  if (o->d == SIM_NOWHERE)
    return;
  if (o->x == BAR_RED_POPC) {
    SIM_EACH(i, lanes)
    ((uint32_t *)d)[i] = bar->popc;
  } else {
    bool yes = o->x == BAR_RED_AND ? bar->popc == bar->have : bar->popc > 0;
    *(uint32_t *)d = yes ? *(uint32_t *)d | lanes : *(uint32_t *)d & ~lanes;
  }
}

static void let_go(sim_run *r, sim_block *b, uint32_t number) {
  sim_barrier *bar = &b->barriers[number];
  sim_warp *warp = r->warp;
  sim_unit *unit = r->unit;
  say_barrier(r, SIM_EVENT_COMPLETE, NULL, 0, number, bar, bar->have, bar->want);
  for (uint32_t w = 0; w < b->n_warps; w++) {
    sim_warp *v = &b->warps[w];
    if (!bar->lanes[w])
      continue;
    SIM_EACH(k, v->used) {
      sim_unit *u = &v->units[k];
      if (u->state != SIM_AT_BARRIER || u->number != number)
        continue;
      const sim_op *o = u->pc;
      write_result(r, o, v->regs + u->frame, u->mask, bar);
      r->warp = v, r->unit = u;
      say_barrier(r, SIM_EVENT_LEAVE, o, u->mask, number, bar, bar->have, u->count);
      sim_unit_at(u, o + 1, (uint32_t)o->imm);
      sim_unit_state_set(v, u, SIM_READY);
    }
    bar->lanes[w] = 0;
  }
  r->warp = warp, r->unit = unit;
  bar->have = bar->popc = bar->want = 0;
  bar->phase++;
  b->open &= ~(UINT32_C(1) << number);
}

static bool complete(const sim_block *b, const sim_barrier *bar) {
  uint32_t want, have = counted(b, bar, &want);
  return bar->have && have >= want;
}

void sim_barriers_exit(sim_run *r, sim_block *b) {
  SIM_EACH(k, b->open)
  if (complete(b, &b->barriers[k]))
    let_go(r, b, k);
}

/* Lanes of the unit that name the same barrier and count as the first; the others stay for a turn of their
 * own. */
static bool same_barrier(sim_run *r, const sim_op *o, uint32_t *number, uint32_t *count) {
  sim_ctx *c = &r->ctx;
  const uint32_t *numbers = sim_at(c, o->a), *counts = o->b == SIM_NOWHERE ? NULL : sim_at(c, o->b);
  uint32_t first = sim_first(c->mask), same = 0;
  *number = numbers[first], *count = counts ? counts[first] : 0;
  if (c->mask == UINT32_MAX && !counts) { /* the usual case, quickly */
    uint32_t differs = 0;
    for (uint32_t i = 0; i < SIM_LANES; i++)
      differs |= numbers[i] ^ *number;
    if (!differs)
      return true;
  }
  SIM_EACH(i, c->mask)
  same |= numbers[i] == *number && (!counts || counts[i] == *count) ? UINT32_C(1) << i : 0;
  if (same == c->mask)
    return true;
  sim_unit *v = sim_unit_split(r->warp, r->unit, c->mask & ~same);
  sim_unit_at(v, o, sim_order_of(v->func, o->insn));
  sim_mask_set(r, same);
  return false;
}

static const sim_op *bar(const sim_op *o, sim_ctx *c) {
  sim_run *r = sim_run_of(c);
  sim_block *b = r->block;
  uint32_t number, count, want;
  bool whole = same_barrier(r, o, &number, &count);
  if (number >= SIM_BARRIERS)
    return sim_fault_raise(r, o, SIM_FAULT_INSTRUCTION, sim_first(c->mask), 0, 0, "barrier %u: there are 16",
                           number);
  if (o->b != SIM_NOWHERE && (count == 0 || count % SIM_WARP))
    return sim_fault_raise(r, o, SIM_FAULT_INSTRUCTION, sim_first(c->mask), 0, 0,
                           "barrier %u for %u threads: not a multiple of a warp", number, count);
  sim_barrier *bar = &b->barriers[number];
  if (r->probe)
    sim_probe_spoil(r->probe);
  if (!bar->have)
    bar->want = count;
  b->open |= UINT32_C(1) << number;
  bar->have += (uint32_t)r->lanes;
  bar->lanes[r->warp->index] |= c->mask;
  if (o->x >= BAR_RED_POPC)
    bar->popc += sim_count(sim_pred(c, o->c) & c->mask);
  bool last = counted(b, bar, &want) >= want;
  say_barrier(r, SIM_EVENT_ARRIVE, o, c->mask, number, bar, want, count);
  if (o->x == BAR_ARRIVE) {
    if (last)
      let_go(r, b, number);
    return whole && !r->yield ? o + 1 : sim_stop(r, o, o + 1);
  }
  sim_unit *u = r->unit;
  sim_counted(r, o, o);
  sim_unit_at(u, o, o->y);
  u->number = number, u->count = count;
  sim_unit_state_set(r->warp, u, SIM_AT_BARRIER);
  if (last)
    let_go(r, b, number);
  return NULL;
}

/* A whole block arrives, a warp after the other, and goes on. */
static void say_all(sim_run *r, const sim_op *o, uint32_t number) {
  sim_block *b = r->block;
  sim_barrier *bar = &b->barriers[number];
  uint32_t lanes[SIM_LANES] = {0};
  for (uint32_t w = 0; w < b->n_warps; w++)
    lanes[w] = b->warps[w].live;
  sim_event e = event_of(SIM_EVENT_ARRIVE, o, number, bar, b->live, 0);
  if (r->watcher->met) {
    uint32_t last = 31 - (uint32_t)__builtin_clz(r->ctx.gang);
    e.barrier.have = b->live;
    e.who = r->told.who;
    e.who.warp = last, e.who.lanes = lanes[last];
    e.who.insn = &e.who.body->insns[o->insn];
    r->watcher->met(r->watcher->user, &e, lanes, b->n_warps);
    return;
  }
  SIM_EACH(w, r->ctx.gang) {
    sim_gang_one(r, w);
    e.barrier.have += sim_count(lanes[w]);
    sim_say_own(r, &e, lanes[w], o);
  }
  bar->have = b->live;
  say_barrier(r, SIM_EVENT_COMPLETE, NULL, 0, number, bar, bar->have, 0);
  e = event_of(SIM_EVENT_LEAVE, o, number, bar, bar->have, 0);
  SIM_EACH(w, r->ctx.gang) {
    sim_gang_one(r, w);
    sim_say_own(r, &e, lanes[w], o);
  }
  bar->have = 0;
  sim_gang_all(r);
}

/* Of a gang: where the whole block arrives at once, it goes on at once. */
static const sim_op *bar_gang(const sim_op *o, sim_ctx *c) {
  sim_run *r = sim_run_of(c);
  sim_block *b = r->block;
  uint32_t number = *(const uint32_t *)sim_at(c, o->a);
  if (number >= SIM_BARRIERS || b->barriers[number].have || r->lanes != b->live)
    return sim_gang_apart(o, c);
  if (sim_watches(r, SIM_WATCH_SYNC))
    say_all(r, o, number);
  b->barriers[number].phase++;
  sim_counted(r, o, o + 1);
  return o + 1;
}

/* ------------------------------------------------------------------ clusters */

static void cluster_let_go(sim_run *r, sim_cluster *k) {
  sim_block *block = r->block;
  sim_warp *warp = r->warp;
  sim_unit *unit = r->unit;
  if (sim_watches(r, SIM_WATCH_SYNC))
    sim_say(
        r,
        &(sim_event){.kind = SIM_EVENT_COMPLETE,
                     .barrier = {.cluster = true, .have = k->arrived, .want = k->live, .phase = k->phase}},
        0, NULL);
  k->phase++;
  k->arrived = 0;
  for (uint32_t n = 0; n < k->n_blocks; n++) {
    sim_block *b = k->blocks[n];
    for (uint32_t w = 0; b && b->started && !b->ended && w < b->n_warps; w++) {
      sim_warp *v = &b->warps[w];
      SIM_EACH(q, v->used) {
        sim_unit *u = &v->units[q];
        if (u->state != SIM_AT_CLUSTER)
          continue;
        const sim_op *o = u->pc;
        r->block = b, r->warp = v, r->unit = u;
        if (sim_watches(r, SIM_WATCH_SYNC))
          sim_say(r,
                  &(sim_event){.kind = SIM_EVENT_LEAVE,
                               .barrier = {.cluster = true, .waits = true, .phase = k->phase}},
                  u->mask, o);
        v->at_cluster &= ~u->mask;
        sim_unit_at(u, o + 1, sim_order_of(u->func, o->insn + 1));
        sim_unit_state_set(v, u, SIM_READY);
      }
    }
  }
  r->block = block, r->warp = warp, r->unit = unit;
}

/* x: PTX_VERB_ARRIVE or PTX_VERB_WAIT; y: its order */
static const sim_op *cluster_arrive(const sim_op *o, sim_ctx *c) {
  sim_run *r = sim_run_of(c);
  sim_warp *w = r->warp;
  sim_cluster *k = r->block->cluster;
  if (r->probe)
    sim_probe_spoil(r->probe);
  if (c->mask & w->at_cluster)
    return sim_fault_raise(r, o, SIM_FAULT_INSTRUCTION, sim_first(c->mask & w->at_cluster), 0, 0,
                           "arrives at the cluster's barrier again without having waited");
  w->at_cluster |= c->mask;
  w->cluster_phase = k->phase & 1 ? w->cluster_phase | c->mask : w->cluster_phase & ~c->mask;
  k->arrived += (uint32_t)r->lanes;
  if (sim_watches(r, SIM_WATCH_SYNC))
    sim_say(r,
            &(sim_event){.kind = SIM_EVENT_ARRIVE,
                         .barrier = {.cluster = true,
                                     .order = (uint8_t)o->y,
                                     .have = k->arrived,
                                     .want = k->live,
                                     .phase = k->phase}},
            c->mask, o);
  if (k->arrived == k->live)
    cluster_let_go(r, k);
  return r->yield ? sim_stop(r, o, o + 1) : o + 1;
}

static const sim_op *cluster_wait(const sim_op *o, sim_ctx *c) {
  sim_run *r = sim_run_of(c);
  sim_warp *w = r->warp;
  sim_cluster *k = r->block->cluster;
  uint32_t here = c->mask & w->at_cluster;
  uint32_t open = here & (k->phase & 1 ? w->cluster_phase : ~w->cluster_phase);
  if (r->probe)
    sim_probe_spoil(r->probe);
  if (here != c->mask)
    return sim_fault_raise(r, o, SIM_FAULT_INSTRUCTION, sim_first(c->mask & ~here), 0, 0,
                           "waits at the cluster's barrier without having arrived");
  if (!open) {
    w->at_cluster &= ~c->mask;
    if (sim_watches(r, SIM_WATCH_SYNC))
      sim_say(r,
              &(sim_event){
                  .kind = SIM_EVENT_LEAVE,
                  .barrier = {.cluster = true, .waits = true, .order = (uint8_t)o->y, .phase = k->phase}},
              c->mask, o);
    return r->yield ? sim_stop(r, o, o + 1) : o + 1;
  }
  sim_unit *u = r->unit;
  sim_counted(r, o, o);
  sim_unit_at(u, o, sim_order_of(u->func, o->insn));
  sim_unit_state_set(w, u, SIM_AT_CLUSTER);
  return NULL;
}

void sim_cluster_exit(sim_run *r, sim_block *b, uint32_t threads) {
  sim_cluster *k = b->cluster;
  k->live -= threads;
  /* threads that arrived and ended without waiting are counted out as well */
  if (k->live && k->arrived && k->arrived >= k->live)
    cluster_let_go(r, k);
}

/* ------------------------------------------------------------------ fences and grids */

/* x: order, y: scope, imm: proxy and where it is restricted to */
static const sim_op *fence(const sim_op *o, sim_ctx *c) {
  (void)c;
  if (o->x == PTX_ORDER_SC)
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
  else
    __atomic_thread_fence(__ATOMIC_ACQ_REL);
  return o + 1;
}

static const sim_op *fence_slow(const sim_op *o, sim_ctx *c) {
  sim_run *r = sim_run_of(c);
  fence(o, c);
  if (sim_watches(r, SIM_WATCH_SYNC))
    sim_say(r,
            &(sim_event){.kind = SIM_EVENT_FENCE,
                         .fence = {.order = (uint8_t)o->x,
                                   .scope = (uint8_t)o->y,
                                   .proxy = (uint8_t)o->imm,
                                   .restrict_to = (uint8_t)(o->imm >> 8)}},
            c->mask, o);
  return r->yield ? sim_stop(r, o, o + 1) : o + 1;
}

static const sim_op *grid_wait(const sim_op *o, sim_ctx *c) {
  sim_run *r = sim_run_of(c);
  bool running = false;
  for (const sim_grid *g = r->device->grids; g; g = g->next)
    running |= g->id == r->grid->launch.after;
  if (!r->grid->launch.after || !running)
    return o + 1;
  sim_unit *u = r->unit;
  if (r->probe)
    sim_probe_spoil(r->probe);
  sim_stop(r, o, o + 1);
  sim_unit_state_set(r->warp, u, SIM_AT_GRID);
  return NULL;
}

void sim_grid_ended(sim_run *r, uint64_t id) {
  sim_block *first = r->device->current, *b = first;
  do {
    if (b && b->started && b->grid->launch.after == id)
      for (uint32_t w = 0; w < b->n_warps; w++)
        SIM_EACH(k, b->warps[w].used)
    if (b->warps[w].units[k].state == SIM_AT_GRID)
      sim_unit_state_set(&b->warps[w], &b->warps[w].units[k], SIM_READY);
    b = b ? b->next : NULL;
  } while (b && b != first);
}

/* ------------------------------------------------------------------ decoding */

static bool set(sim_op *op, sim_fn *fast, sim_fn *slow) {
  op->fn[SIM_FULL] = op->fn[SIM_MASKED] = fast;
  op->fn[SIM_SLOW] = slow;
  return true;
}

static bool select_bar(sim_build *w, const ptx_body *b, const ptx_insn *i, sim_op *op, bool reduces) {
  unsigned at = reduces ? 1 : 0;
  const ptx_operand *count = sim_operand(b, i, at + 1);
  w->blocks = true;
  op->a = sim_place_at(w, b, sim_operand(b, i, at));
  op->b = count->kind == PTX_ABSENT ? SIM_NOWHERE : sim_place_at(w, b, count);
  op->c = reduces ? sim_place_at(w, b, sim_operand(b, i, 3)) : SIM_NOWHERE;
  op->x = i->mods.verb == PTX_VERB_ARRIVE ? BAR_ARRIVE
          : !reduces                      ? BAR_SYNC
          : i->mods.rop == PTX_ROP_POPC   ? BAR_RED_POPC
          : i->mods.rop == PTX_ROP_AND    ? BAR_RED_AND
                                          : BAR_RED_OR;
  op->y = sim_order_of(w->f, op->insn);
  op->imm = sim_order_of(w->f, op->insn + 1);
  if (op->x == BAR_SYNC && op->b == SIM_NOWHERE && sim_operand(b, i, at)->kind == PTX_IMM)
    op->fn[SIM_GANG] = bar_gang;
  return set(op, bar, bar);
}

bool sim_select_barrier(sim_build *w, const ptx_body *b, const ptx_insn *i, sim_op *op) {
  switch (i->op) {
  case PTX_OP_bar_block:
  case PTX_OP_bar_arrive:
  case PTX_OP_barrier_block:
  case PTX_OP_barrier_arrive:
    return select_bar(w, b, i, op, false);
  case PTX_OP_bar_red:
  case PTX_OP_barrier_red:
    return select_bar(w, b, i, op, true);
  case PTX_OP_barrier_cluster: {
    bool arrive = i->mods.verb == PTX_VERB_ARRIVE;
    w->blocks = true;
    op->y = i->mods.order ? i->mods.order : arrive ? PTX_ORDER_RELEASE : PTX_ORDER_ACQUIRE;
    return arrive ? set(op, cluster_arrive, cluster_arrive) : set(op, cluster_wait, cluster_wait);
  }
  case PTX_OP_fence_thread:
  case PTX_OP_membar_thread:
    op->x = i->op == PTX_OP_membar_thread ? PTX_ORDER_SC : i->mods.order ? i->mods.order : PTX_ORDER_ACQ_REL;
    op->y = i->mods.scope;
    op->imm = (uint64_t)i->mods.restrict_to << 8;
    return set(op, fence, fence_slow);
  case PTX_OP_fence_proxy:
  case PTX_OP_membar_proxy:
    op->x = i->mods.order;
    op->y = i->mods.scope;
    op->imm = i->mods.proxy | (uint64_t)i->mods.restrict_to << 8;
    return set(op, fence, fence_slow);
  case PTX_OP_griddepcontrol_grid:
    w->blocks = true;
    if (i->mods.sem == PTX_SEM_WAIT)
      return set(op, grid_wait, grid_wait);
    return true; /* launch_dependents: a hint; dependents start when the driver says so */
  default:
    return false;
  }
}
