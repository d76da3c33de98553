/* turn.c: a watcher chooses whose turn it is, among all warps of all resident blocks. What can move is listed
 * before each turn; who had a turn and got nowhere is not listed again until somebody got somewhere, so that
 * whatever the watcher chooses, "nobody can move" is found.
 */
#include <stdlib.h>
#include <string.h>

#include "sim/machine.h"

enum {
  TURN = 64,         /* of SIM_WARP_QUANTUM each, while nothing calls for a choice */
  WAKE_ALWAYS = 256, /* warps: so few that all sleepers are looked at before each turn */
  WAKE_EVERY = 16
};

typedef struct turns {
  sim_turn *all;
  sim_block **blocks; /* of each */
  uint32_t n, capacity;
  uint32_t asleep; /* warps */
} turns;

static bool add(turns *t, sim_block *b, uint32_t warp) {
  if (t->n == t->capacity) {
    uint32_t more = t->capacity ? t->capacity * 2 : 64;
    sim_turn *all = realloc(t->all, more * sizeof *all);
    if (all)
      t->all = all;
    sim_block **blocks = realloc(t->blocks, more * sizeof *blocks);
    if (blocks)
      t->blocks = blocks;
    if (!all || !blocks)
      return false;
    t->capacity = more;
  }
  t->all[t->n] = (sim_turn){b->grid->id, b->number, warp};
  t->blocks[t->n++] = b;
  return true;
}

/* Who can move, from the current block on; false: out of memory. */
static bool list(sim_device *d, turns *t, bool wake) {
  sim_run *r = d->run;
  t->n = t->asleep = 0;
  sim_block *b = d->current;
  do {
    if (!b->started) {
      if (!sim_cluster_begin(r, b))
        return false;
    } else if (b->asleep && wake) {
      sim_block_enter(r, b);
      sim_block_wake(r, b);
    }
    t->asleep += sim_count(b->asleep);
    uint32_t before = b->turn < SIM_WARP ? b->ready & ((UINT32_C(1) << b->turn) - 1) : 0;
    for (int part = 0; part < 2; part++)
      SIM_EACH(w, part ? before : b->ready & ~before)
    if (b->warps[w].tried != d->progress && !add(t, b, w))
      return false;
    b = b->next;
  } while (b != d->current);
  return true;
}

/* One turn. What a warp got in a quantum does not count if it only looked at the clock. */
static void take_turn(sim_device *d, sim_block *b, uint32_t warp) {
  sim_run *r = d->run;
  bool progress = false;
  sim_block_enter(r, b);
  r->yield = false;
  b->turn = warp + 1;
  for (int k = 0; k < TURN && !r->fault.kind && !r->yield && b->warps[warp].ready; k++) {
    r->progress = false;
    sim_warp_run(r, &b->warps[warp], SIM_WARP_QUANTUM);
    progress |= r->progress;
    if (!r->progress)
      break;
  }
  if (progress) {
    d->progress++;
    d->clock_step = 1000;
  } else {
    b->warps[warp].tried = d->progress;
  }
}

static bool step(sim_device *d, turns *t, uint32_t round, sim_status *out) {
  sim_run *r = d->run;
  if (!sim_admit(d))
    sim_no_memory(r);
  if (!d->current && !r->fault.kind) {
    out->state = SIM_IDLE;
    return false;
  }
  bool wake = t->asleep <= WAKE_ALWAYS || round % WAKE_EVERY == 0;
  if (!r->fault.kind && (!list(d, t, wake) || (t->n == 0 && !wake && !list(d, t, true))))
    sim_no_memory(r);
  if (!r->fault.kind && t->n == 0) {
    if (!sim_wait_for_time(d, out))
      return false;
    d->progress++;
    return true;
  }
  sim_block *b = NULL;
  if (!r->fault.kind) {
    const sim_watcher *w = d->watcher;
    sim_choice c = {.kind = SIM_CHOOSE_TURN, .n = t->n, .turns = t->all};
    uint32_t k = t->n > 1 ? w->choose(w->user, &c) : 0;
    k = k < t->n ? k : 0;
    b = t->blocks[k];
    take_turn(d, b, t->all[k].warp);
  }
  if (r->fault.kind) {
    sim_end_all(d, r, out);
    return false;
  }
  d->current = b->next;
  sim_grid *g = b->grid;
  if (!b->live && sim_block_end(r, b)) {
    sim_end_grid(d, g, out);
    return false;
  }
  return true;
}

void sim_run_chosen(sim_device *d, uint64_t budget, sim_status *out) {
  sim_run *r = d->run;
  uint64_t begin = r->warp_insns;
  turns t = {0};
  *out = (sim_status){.state = SIM_BUDGET};
  d->progress++; /* the host may have written something */
  for (uint32_t round = 0; r->warp_insns - begin < budget && step(d, &t, round, out); round++)
    ;
  out->used = r->warp_insns - begin;
  free(t.all);
  free(t.blocks);
}
