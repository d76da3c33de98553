/* sched.c: who of a warp goes next. A warp's lanes are in units: those of a unit stand at one op, in one
 * frame. Lanes that part become two units; units that stand at the same place become one. The unit with the
 * lowest key runs, which is the one deepest in calls, and then the one furthest behind in the order of the
 * blocks: so lanes that parted meet again where their ways do. A unit whose turn is used up yields to the
 * others, which makes every lane that can move do so in the end. What a unit may run before it is asked (its
 * quantum) ends only at loops' heads and calls.
 *
 * Invariant: every live lane is in exactly one unit; ready, asleep and at_warp name the units in these
 * states.
 */
#include "sim/machine.h"

void sim_mask_set(sim_run *r, uint32_t mask) {
  r->ctx.mask = mask;
  r->lanes = sim_count(mask);
  r->device->level->spread(mask, r->ctx.lane);
}

/* ------------------------------------------------------------------ units */

static void note_states(sim_warp *w) {
  uint32_t bit = UINT32_C(1) << w->index;
  sim_block *b = w->block;
  b->ready = w->ready ? b->ready | bit : b->ready & ~bit;
  b->asleep = w->asleep ? b->asleep | bit : b->asleep & ~bit;
  if (b->seat)
    b->seat->ready = b->ready, b->seat->asleep = b->asleep;
}

void sim_unit_state_set(sim_warp *w, sim_unit *u, sim_unit_state s) {
  uint32_t bit = UINT32_C(1) << (u - w->units);
  w->ready &= ~bit, w->asleep &= ~bit, w->at_warp &= ~bit;
  u->state = (uint8_t)s;
  if (s == SIM_READY)
    w->ready |= bit;
  else if (s == SIM_SLEEPS || s == SIM_RESTS)
    w->asleep |= bit;
  else if (s == SIM_AT_WARP)
    w->at_warp |= bit;
  note_states(w);
}

sim_unit *sim_unit_new(sim_warp *w, uint32_t lanes, const sim_unit *like) {
  uint32_t k = sim_first(~w->used); /* there are as many units as lanes */
  sim_unit *u = &w->units[k];
  w->used |= UINT32_C(1) << k;
  sim_probe *p = u->probe; /* kept for whoever uses the unit next */
  if (like)
    *u = *like;
  else
    *u = (sim_unit){.turn = SIM_UNIT_TURN};
  u->probe = p;
  u->mask = lanes;
  u->loop = NULL, u->loops = 0, u->naps = 0, u->polls = u->polled = false;
  if (p)
    sim_probe_spoil(p);
  sim_unit_state_set(w, u, SIM_READY);
  return u;
}

sim_unit *sim_unit_split(sim_warp *w, sim_unit *u, uint32_t lanes) {
  u->mask &= ~lanes;
  if (u->probe)
    sim_probe_spoil(u->probe);
  return sim_unit_new(w, lanes, u);
}

void sim_unit_drop(sim_warp *w, sim_unit *u) {
  sim_unit_state_set(w, u, SIM_AT_BARRIER); /* out of all sets */
  if (u->probe)
    sim_probe_spoil(u->probe);
  u->mask = 0;
  w->used &= ~(UINT32_C(1) << (u - w->units));
}

const sim_op *sim_stop(sim_run *r, const sim_op *o, const sim_op *next) {
  sim_unit *u = r->unit;
  sim_counted(r, o, next);
  sim_unit_at(u, next, sim_order_of(u->func, next->insn));
  return NULL;
}

void sim_lanes_exit(sim_run *r, const sim_op *o, uint32_t lanes) {
  sim_warp *w = r->warp;
  sim_block *b = r->block;
  w->live &= ~lanes;
  b->live -= sim_count(lanes);
  r->unit->mask &= ~lanes;
  if (sim_watches(r, SIM_WATCH_FLOW))
    sim_say(r, &(sim_event){.kind = SIM_EVENT_EXIT}, lanes, o);
  if (!r->unit->mask)
    sim_unit_drop(w, r->unit);
  if (w->at_warp)
    sim_warp_meet(r, w);
  sim_barriers_exit(r, b);
  if (b->cluster)
    sim_cluster_exit(r, b, sim_count(lanes));
}

/* ------------------------------------------------------------------ telling */

void sim_who_of(const sim_run *r, uint32_t lanes, const sim_op *o, sim_who *out) {
  const sim_unit *u = r->unit;
  const sim_func *f = u ? u->func : r->grid->code->funcs[0];
  if (!o && u)
    o = u->pc;
  *out = (sim_who){.launch = r->grid->id,
                   .block = r->block ? r->block->number : 0,
                   .warp = r->warp ? r->warp->index : 0,
                   .lanes = lanes,
                   .cluster_rank = r->block ? r->block->rank : 0,
                   .depth = u ? u->depth : 0,
                   .module = f->ptx,
                   .body = f->body,
                   .insn = o && o->insn < f->body->n_insns ? &f->body->insns[o->insn] : NULL,
                   .func = f->index};
}

void sim_say(sim_run *r, sim_event *e, uint32_t lanes, const sim_op *o) {
  if (!r->watcher || !r->watcher->event)
    return;
  sim_who_of(r, lanes, o, &e->who);
  if (r->watcher->event(r->watcher->user, e) == SIM_YIELD)
    r->yield = true;
}

void sim_say_own(sim_run *r, sim_event *e, uint32_t lanes, const sim_op *o) {
  if (!r->only_told) {
    sim_say(r, e, lanes, o);
    return;
  }
  e->who = r->told.who;
  e->who.lanes = lanes;
  e->who.insn = &e->who.body->insns[o->insn];
  if (r->watcher->event(r->watcher->user, e) == SIM_YIELD)
    r->yield = true;
}

/* ------------------------------------------------------------------ a warp's turn */

static sim_unit *choose(sim_run *r, sim_warp *w, sim_unit *usual) {
  uint64_t ids[SIM_LANES];
  uint32_t units[SIM_LANES], n = 0;
  sim_choice c = {.kind = SIM_CHOOSE_UNIT,
                  .launch = r->grid->id,
                  .block = r->block->number,
                  .warp = w->index,
                  .ids = ids};
  SIM_EACH(k, w->ready) {
    if (&w->units[k] == usual)
      c.usual = n;
    units[n] = k, ids[n++] = w->units[k].mask;
  }
  c.n = n;
  if (n < 2)
    return usual;
  uint32_t k = r->watcher->choose(r->watcher->user, &c);
  return &w->units[units[k < n ? k : c.usual]];
}

static sim_unit *lowest(sim_warp *w, bool all) {
  sim_unit *best = NULL;
  SIM_EACH(k, w->ready) {
    sim_unit *u = &w->units[k];
    if ((all || !u->yielded) && (!best || u->key < best->key))
      best = u;
  }
  return best;
}

/* Before Volta: lanes that are ahead wait for those behind, though those will never move. */
static bool held_back(const sim_warp *w) {
  const sim_unit *best = NULL;
  SIM_EACH(k, w->ready | w->asleep) {
    const sim_unit *u = &w->units[k];
    if (!best || u->key < best->key)
      best = u;
  }
  return best->state != SIM_READY;
}

/* The next to run, with all that stand where it stands. */
static sim_unit *next_unit(sim_run *r, sim_warp *w) {
  if (!(w->ready & (w->ready - 1))) { /* the usual case: one */
    sim_unit *u = &w->units[sim_first(w->ready)];
    u->yielded = false;
    r->other_key = UINT64_MAX;
    return u;
  }
  sim_unit *u = lowest(w, false);
  if (!u) {
    SIM_EACH(k, w->ready)
    w->units[k].yielded = false;
    u = lowest(w, true);
  }
  if (sim_watches(r, SIM_WATCH_CHOICES) && r->watcher->choose)
    u = choose(r, w, u);
  uint32_t parts = u->mask;
  r->other_key = UINT64_MAX;
  SIM_EACH(k, w->ready) {
    sim_unit *v = &w->units[k];
    if (v == u)
      continue;
    if (v->pc == u->pc && v->frame == u->frame) {
      u->mask |= v->mask;
      u->turn = v->turn > u->turn ? v->turn : u->turn;
      sim_unit_drop(w, v);
    } else if (v->key > u->key && v->key < r->other_key) {
      r->other_key = v->key;
    }
  }
  if (parts != u->mask) {
    u->yielded = false;
    if (u->probe)
      sim_probe_spoil(u->probe);
    if (sim_watches(r, SIM_WATCH_FLOW)) {
      r->unit = u;
      sim_say(r, &(sim_event){.kind = SIM_EVENT_BRANCH, .branch = {.taken = parts, .joins = true}}, u->mask,
              u->pc);
    }
  }
  return u;
}

static void enter(sim_run *r, sim_warp *w, sim_unit *u) {
  r->unit = u;
  r->ctx.base[SIM_IN_FRAME] = sim_biased(w->regs + u->frame, SIM_IN_FRAME);
  r->depth_key = sim_depth_key(u->depth);
  r->from = u->pc->insn;
  r->warps = 1;
  r->probe = u->probe && u->probe->running ? u->probe : NULL;
  r->only_told = !r->probe && sim_only_tells(r->watcher);
  if (r->only_told)
    sim_who_of(r, 0, u->pc, &r->told.who);
  r->ctx.way = r->probe || r->watcher ? SIM_SLOW : u->mask == w->live ? SIM_FULL : SIM_MASKED;
  if (r->ctx.way == SIM_FULL) {
    r->ctx.mask = u->mask;
    r->lanes = sim_count(u->mask);
  } else {
    sim_mask_set(r, u->mask);
  }
}

static void run_steps(sim_run *r, const sim_op *o) {
  const sim_watcher *w = r->watcher;
  uint32_t last = UINT32_MAX;
  while (o) {
    if (o->insn != last && w->step) {
      sim_who who;
      sim_who_of(r, r->ctx.mask, o, &who);
      w->step(w->user, &who);
    }
    last = o->insn;
    if (r->warp->undefined)
      sim_define_step(r, o);
    o = o->fn[SIM_SLOW](o, &r->ctx);
  }
}

static void run_slow(sim_run *r, const sim_op *o) {
  const sim_warp *w = r->warp;
  while (o) {
    if (w->undefined)
      sim_define_step(r, o);
    o = o->fn[SIM_SLOW](o, &r->ctx);
  }
}

/* All lanes that live are together, and a watcher is only told: what has nothing to tell runs as if there
 * were none. */
static void run_told(sim_run *r, const sim_op *o) {
  const sim_warp *w = r->warp;
  while (o && !w->undefined)
    o = o->fn[o->fn[SIM_SLOW] == o->fn[SIM_MASKED] ? SIM_FULL : SIM_SLOW](o, &r->ctx);
  run_slow(r, o);
}

/* Ends at a loop's head because the quantum was used up: time to look whether the loop does anything at all.
 * Not at once: a look costs as much as several quanta, and most loops work and are over before. A loop that
 * slept before is looked at soon again; one that reads what others may write at once, where a watcher
 * chooses: it might choose it for ever. */
enum { FIRST_PROBE = 16, FIRST_WATCHED = 2 };
void sim_quantum_over(sim_run *r, sim_warp *w, sim_unit *u) {
  if (u->loop != u->pc)
    u->loop = u->pc, u->loops = 0, u->next_probe = u->polled ? 1 : r->watcher ? FIRST_WATCHED : FIRST_PROBE;
  if (++u->loops >= u->next_probe && !(u->probe && u->probe->running)) {
    u->next_probe = u->loops + (u->loops < 1024 ? u->loops : 1024);
    sim_probe_begin(r, u);
  }
  u->naps = 0;
  u->polled = false;
  if (u->turn <= 0) {
    u->turn = SIM_UNIT_TURN;
    if (w->ready & (w->ready - 1) && !r->device->options.lockstep)
      u->yielded = true;
  }
}

void sim_warp_run(sim_run *r, sim_warp *w, int64_t budget) {
  r->warp = w;
  r->ctx.base[SIM_IN_WARP] = sim_biased(w->special, SIM_IN_WARP);
  while (w->ready && budget > 0 && !r->fault.kind && !r->yield) {
    if (r->device->options.lockstep && held_back(w))
      break;
    sim_unit *u = next_unit(r, w);
    bool polled = u->polls;
    enter(r, w, u);
    u->polls = false;
    r->budget = u->naps > 1 ? 1 : budget;
    r->quantum = false;
    int64_t before = (int64_t)r->warp_insns;
    if (r->watcher && r->watcher->watch & SIM_WATCH_STEPS)
      run_steps(r, u->pc);
    else if (r->ctx.way == SIM_FULL)
      for (const sim_op *o = u->pc; o;)
        o = o->fn[SIM_FULL](o, &r->ctx);
    else if (r->ctx.way == SIM_MASKED)
      for (const sim_op *o = u->pc; o;)
        o = o->fn[SIM_MASKED](o, &r->ctx);
    else if (r->only_told && u->mask == w->live)
      run_told(r, u->pc);
    else
      run_slow(r, u->pc);
    int64_t used = (int64_t)r->warp_insns - before;
    budget -= used;
    u = r->unit;
    if (!(polled && u->mask && u->state == SIM_SLEEPS && u->polls))
      r->progress = true;
    u->turn -= used;
    if (r->probe && r->probe->running && (r->probe->insns += used) > SIM_PROBE_INSNS)
      sim_probe_spoil(r->probe);
    if (r->quantum && u->mask && u->state == SIM_READY)
      sim_quantum_over(r, w, u);
    if (r->yield && u->mask)
      u->yielded = true;
  }
}
