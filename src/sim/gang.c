/* gang.c: warps of a block that stand at the same place go together. An op is carried out for all of them
 * before the next, so what it costs besides its lanes (finding its handler and its operands) is paid once for
 * the gang, and a barrier at which the whole block arrives is one step. Only whole warps go so: all lanes
 * that live in one unit. Which warp of a block goes first is open, so no program can tell. A watcher that
 * chooses nothing is told what each warp does, op by op; under one that chooses each warp goes alone.
 *
 * Invariant: while a gang runs, its units' own places are old; whoever leaves it, or stops with it, is put
 * where he stands (sim_gang_at). An op that cannot be done for a gang is done for each of its warps alone, in
 * order.
 */
#include "sim/machine.h"

/* The unit of a warp that may go in a gang; NULL: it may not. */
static sim_unit *whole(sim_warp *w) {
  if (!w->ready || (w->used & (w->used - 1)) || w->grown || w->undefined)
    return NULL;
  sim_unit *u = &w->units[sim_first(w->used)];
  return u->naps > 1 || u->polls || (u->probe && u->probe->running) ? NULL : u;
}

uint32_t sim_gang_of(const sim_run *r, sim_block *b, uint32_t first, uint32_t among) {
  const sim_unit *lead =
      b->gang_most < 2 || (r->watcher && !sim_only_tells(r->watcher)) ? NULL : whole(&b->warps[first]);
  if (!lead)
    return 0;
  uint32_t gang = UINT32_C(1) << first, n = 1;
  SIM_EACH(w, among & ~gang) {
    const sim_unit *u = whole(&b->warps[w]);
    if (u && u->pc == lead->pc && u->frame == lead->frame && n < b->gang_most)
      gang |= UINT32_C(1) << w, n++;
  }
  return n > 1 ? gang : 0;
}

/* ------------------------------------------------------------------ between warps */

void sim_gang_set(sim_run *r, uint32_t gang) {
  r->ctx.gang = gang;
  r->warps = sim_count(gang);
  r->lanes = 0;
  SIM_EACH(w, gang)
  r->lanes += sim_count(r->block->warps[w].live);
}

void sim_gang_at(sim_run *r, uint32_t gang, const sim_op *pc, uint32_t order) {
  SIM_EACH(w, gang) {
    sim_warp *v = &r->block->warps[w];
    sim_unit_at(&v->units[sim_first(v->used)], pc, order);
  }
}

static void mask_set(sim_run *r, uint32_t mask) {
  r->ctx.mask = mask;
  r->device->level->spread(mask, r->ctx.lane);
}

void sim_gang_one(sim_run *r, uint32_t w) {
  sim_warp *v = &r->block->warps[w];
  r->warp = v;
  r->unit = &v->units[sim_first(v->used)];
  r->ctx.base[SIM_IN_FRAME] = sim_biased(v->regs + r->unit->frame, SIM_IN_FRAME);
  r->ctx.base[SIM_IN_WARP] = sim_biased(v->special, SIM_IN_WARP);
  if (!r->watcher)
    r->ctx.mask = v->live;
  else if (r->ctx.mask != v->live) /* for the slow way */
    mask_set(r, v->live);
  r->told.who.warp = w;
}

void sim_gang_all(sim_run *r) {
  r->ctx.base[SIM_IN_FRAME] = sim_biased(r->block->frames + r->unit->frame, SIM_IN_FRAME);
  r->ctx.base[SIM_IN_WARP] = sim_biased(r->block->warps[0].special, SIM_IN_WARP);
}

/* ------------------------------------------------------------------ ops that know no gangs */

const sim_op *sim_gang_each(const sim_op *o, sim_ctx *c) {
  sim_run *r = sim_run_of(c);
  const sim_op *next = NULL;
  SIM_EACH(w, c->gang) {
    sim_gang_one(r, w);
    next = o->fn[SIM_FULL](o, c);
    if (!next) /* a fault */
      return NULL;
  }
  sim_gang_all(r);
  return next;
}

const sim_op *sim_gang_told(const sim_op *o, sim_ctx *c) {
  sim_run *r = sim_run_of(c);
  uint32_t from = r->from;
  int64_t budget = r->budget;
  uint64_t warp_insns = r->warp_insns, thread_insns = r->thread_insns;
  SIM_EACH(w, c->gang) {
    sim_gang_one(r, w);
    bool on = o->fn[SIM_SLOW](o, c);
    if (r->fault.kind)
      return NULL;
    if (!on) /* a watcher asked it to stop behind the op, where they all will */
      r->from = from, r->budget = budget, r->warp_insns = warp_insns, r->thread_insns = thread_insns;
    r->parts |= r->warp->undefined;
  }
  sim_gang_all(r);
  return o + 1;
}

const sim_op *sim_gang_apart(const sim_op *o, sim_ctx *c) {
  sim_run *r = sim_run_of(c);
  uint32_t way = r->watcher && o->fn[SIM_SLOW] != o->fn[SIM_MASKED] ? SIM_SLOW : SIM_FULL;
  uint32_t gang = c->gang, from = r->from, on = 0;
  int64_t budget = r->budget;
  uint64_t other_key = r->other_key;
  r->other_key = 0; /* what goes elsewhere stops there */
  r->warps = 1;
  SIM_EACH(w, gang) {
    sim_gang_one(r, w);
    r->lanes = sim_count(c->mask);
    r->from = from, r->budget = budget;
    on |= o->fn[way](o, c) ? UINT32_C(1) << w : 0; /* it goes on behind the op */
    if (r->fault.kind)
      return NULL;
  }
  if (on == gang) {
    r->from = from, r->budget = budget, r->other_key = other_key;
    sim_gang_set(r, gang);
    sim_gang_all(r);
    return o + 1;
  }
  SIM_EACH(w, on) {
    sim_gang_one(r, w);
    r->lanes = sim_count(c->mask);
    r->from = from, r->budget = budget;
    sim_stop(r, o, o + 1);
  }
  return NULL;
}

/* ------------------------------------------------------------------ a gang's turn */

/* Those of `left` that go next, which are the furthest behind, as among the units of a warp. */
static uint32_t lowest(sim_run *r, sim_block *b, uint32_t left) {
  const sim_unit *best = NULL;
  uint32_t gang = 0;
  r->other_key = UINT64_MAX;
  SIM_EACH(w, left) {
    const sim_unit *u = whole(&b->warps[w]);
    if (u && (!best || u->key < best->key))
      best = u;
  }
  SIM_EACH(w, best ? left : 0) {
    const sim_unit *u = whole(&b->warps[w]);
    if (u && u->pc == best->pc && u->frame == best->frame)
      gang |= UINT32_C(1) << w;
    else if (u && u->key > best->key && u->key < r->other_key)
      r->other_key = u->key;
  }
  return gang;
}

static void run_told(sim_run *r, const sim_op *o) {
  sim_ctx *c = &r->ctx;
  c->way = SIM_TOLD;
  r->only_told = true;
  sim_who_of(r, 0, o, &r->told.who);
  mask_set(r, r->warp->live);
  while (o) {
    o = o->fn[SIM_TOLD](o, c);
    if (o && (r->yield || r->parts)) {
      sim_counted_before(r, o);
      sim_gang_at(r, c->gang, o, sim_order_of(r->unit->func, o->insn));
      return;
    }
  }
}

static int64_t run_gang(sim_run *r, sim_block *b, uint32_t gang, int64_t budget) {
  sim_ctx *c = &r->ctx;
  r->warp = &b->warps[sim_first(gang)];
  r->unit = &r->warp->units[sim_first(r->warp->used)];
  r->depth_key = sim_depth_key(r->unit->depth);
  r->from = r->unit->pc->insn;
  r->probe = NULL;
  r->budget = budget;
  r->quantum = r->parts = false;
  c->way = SIM_GANG;
  c->step[SIM_IN_FRAME] = b->frame_step;
  c->step[SIM_IN_WARP] = sizeof(sim_warp);
  sim_gang_set(r, gang);
  sim_gang_all(r);
  if (r->watcher)
    run_told(r, r->unit->pc);
  else
    for (const sim_op *o = r->unit->pc; o;)
      o = o->fn[SIM_GANG](o, c);
  int64_t used = budget - r->budget;
  SIM_EACH(w, gang) {
    sim_unit *u = whole(&b->warps[w]);
    if (!u)
      continue;
    u->turn -= used;
    if (r->quantum && c->gang >> w & 1) {
      r->warp = &b->warps[w];
      sim_quantum_over(r, r->warp, u);
    }
  }
  return used;
}

void sim_gang_run(sim_run *r, sim_block *b, uint32_t gang) {
  int64_t budget = SIM_GANG_QUANTUM;
  r->progress = true;
  r->other_key = UINT64_MAX;
  for (uint32_t now = gang; now && budget > 0 && !r->fault.kind && !r->yield; now = lowest(r, b, gang))
    budget -= run_gang(r, b, now, budget);
}
