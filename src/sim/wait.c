/* wait.c: who waits for whom, for a report of a hang; what a launch has resident; names of events. */
#include "sim/machine.h"

/* Of what a loop reads, that on which others may act is what it waits for. */
static bool may_wait(const sim_watched *w) {
  const ptx_insn *i = &w->func->body->insns[w->insn];
  ptx_sync sync = ptx_op_get((ptx_op)i->op)->sync;
  return sync == PTX_SYNC_RMW || sync == PTX_SYNC_MBARRIER ||
         (i->mods.order && i->mods.order != PTX_ORDER_WEAK);
}

/* The read for which a loop waits; NULL: it reads nothing. */
static const sim_watched *waiting_read(const sim_unit *u) {
  const sim_watched *all = u->state == SIM_SLEEPS ? u->probe->watched : NULL;
  for (uint32_t k = 0; all && k < u->probe->n_watched; k++)
    if (may_wait(&all[k]))
      return &all[k];
  return all && u->probe->n_watched ? all : NULL;
}

static void tell_unit(sim_device *d, sim_block *b, sim_warp *w, sim_unit *u,
                      void (*tell)(void *, const sim_wait *), void *user) {
  static const uint8_t kinds[] = {
      [SIM_READY] = SIM_WAIT_BEHIND, [SIM_AT_BARRIER] = SIM_WAIT_BARRIER, [SIM_AT_CLUSTER] = SIM_WAIT_CLUSTER,
      [SIM_AT_WARP] = SIM_WAIT_WARP, [SIM_AT_GRID] = SIM_WAIT_GRID,       [SIM_RESTS] = SIM_WAIT_MEMORY,
      [SIM_SLEEPS] = SIM_WAIT_MEMORY};
  enum { MOST = 64 };
  sim_word words[MOST];
  sim_wait x = {.kind = (sim_wait_kind)kinds[u->state],
                .launch = b->grid->id,
                .warp = w->index,
                .lanes = u->mask,
                .words = words};
  const sim_watched *read = waiting_read(u);
  const sim_func *func = read ? read->func : u->func;
  uint32_t insn = read ? read->insn : u->pc->insn;
  const ptx_insn *i = insn < func->body->n_insns ? &func->body->insns[insn] : NULL;
  sim_place_fill(b, w, func, i, sim_first(u->mask), &x.place);
  if (x.kind == SIM_WAIT_BARRIER) {
    x.number = u->number;
    x.have = b->barriers[u->number].have;
    x.want = b->barriers[u->number].want ? b->barriers[u->number].want : b->live;
  } else if (x.kind == SIM_WAIT_CLUSTER) {
    x.have = b->cluster->arrived, x.want = b->cluster->live;
  } else if (x.kind == SIM_WAIT_WARP) {
    x.awaited = sim_awaited(w, u, &x.named);
  } else if (u->state == SIM_SLEEPS) {
    if (read)
      words[x.n_words++] = read->word;
    for (uint32_t k = 0; k < u->probe->n_watched && x.n_words < MOST; k++)
      if (&u->probe->watched[k] != read)
        words[x.n_words++] = u->probe->watched[k].word;
  }
  sim_run *r = d->run; /* nothing runs now */
  r->block = b, r->grid = b->grid, r->warp = w, r->unit = u;
  sim_who who;
  sim_who_of(r, u->mask, NULL, &who);
  who.module = func->ptx, who.body = func->body, who.insn = i, who.func = func->index;
  who.depth = read ? read->depth : u->depth;
  x.who = &who;
  tell(user, &x);
}

void sim_waiting(sim_device *d, void (*tell)(void *user, const sim_wait *w), void *user) {
  sim_block *b = d->current;
  while (b) {
    for (uint32_t w = 0; b->started && w < b->n_warps; w++)
      SIM_EACH(k, b->warps[w].used)
    tell_unit(d, b, &b->warps[w], &b->warps[w].units[k], tell, user);
    b = b->next == d->current ? NULL : b->next;
  }
  for (const sim_grid *g = d->grids; g; g = g->next)
    if (g->next_block < g->n_blocks) {
      sim_wait x = {.kind = SIM_WAIT_ROOM, .launch = g->id, .n_blocks = g->n_blocks - g->next_block};
      x.place.kernel = x.place.func = g->code->funcs[0]->decl->name;
      tell(user, &x);
    }
}

const sim_limits *sim_device_limits(const sim_device *d) {
  return &d->options.limits;
}

bool sim_residency_of(const sim_device *d, uint64_t launch, sim_residency *out) {
  for (const sim_grid *g = d->grids; g; g = g->next)
    if (g->id == launch) {
      *out = (sim_residency){.launch = launch,
                             .blocks = g->n_blocks,
                             .resident = g->resident,
                             .done = g->done,
                             .fit = g->fit,
                             .need = g->need,
                             .registers_known = g->launch.kernel->registers_known};
      return true;
    }
  return false;
}

const char *sim_event_name(sim_event_kind k) {
  static const char *const names[] = {
      "launch",   "launch-end", "block",      "block-end",       "access",   "fence", "arrive",
      "complete", "leave",      "collective", "collective-wait", "mbarrier", "copy",  "branch",
      "call",     "return",     "exit",       "undefined",       "sleep",    "wake",  "heap",
      "fault",    "allocate",   "free",       "host-copy",       "stream"};
  return (unsigned)k < BASE_COUNT(names) ? names[k] : "?";
}
