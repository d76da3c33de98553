/* turn.c: a watcher chooses whose turn it is, among all warps of all resident blocks. What can move is listed
 * before each turn; who had a turn and got nowhere is not listed again until somebody got somewhere, so that
 * whatever the watcher chooses, "nobody can move" is found.
 *
 * There may be thousands of resident blocks, most of which wait: none is looked at for a list but those that
 * can move or may wake. What tells them apart lies in seats, one behind the other.
 *
 * Invariant: seats that are taken follow each other as their blocks do in the ring.
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

/* ------------------------------------------------------------------ seats */

static void sit(sim_seat *s, sim_block *b) {
  *s = (sim_seat){.block = b,
                  .launch = b->grid->id,
                  .number = b->number,
                  .ready = b->ready,
                  .asleep = b->asleep,
                  .turn = b->turn,
                  .started = b->started};
  b->seat = s;
}

/* Everybody takes a seat anew; false: out of memory. */
static bool seat_all(sim_device *d) {
  while (d->cap_seats < d->n_resident)
    if (!BASE_ROOM(d->seats, d->cap_seats, d->cap_seats))
      return false;
  sim_block *b = d->current;
  for (d->n_seats = 0; d->n_seats < d->n_resident; b = b->next)
    sit(&d->seats[d->n_seats++], b);
  d->seated = true;
  return true;
}

/* The first of the free seats before that of the block whose turn it is. There is none: it stands until all
 * are seated anew. */
void sim_seat_take(sim_device *d, sim_block *b) {
  sim_seat *s = d->current ? d->current->seat : NULL, *free = NULL;
  b->seat = NULL;
  for (uint32_t k = 1; s && k < d->n_seats; k++) {
    s = s == d->seats ? &d->seats[d->n_seats - 1] : s - 1;
    if (s->block)
      break;
    free = s;
  }
  if (free)
    sit(free, b);
  else
    d->seated = false;
}

void sim_seat_leave(sim_block *b) {
  if (b->seat)
    b->seat->block = NULL;
  b->seat = NULL;
}

/* ------------------------------------------------------------------ turns */

/* Warps of a block, from the one behind its last on. */
static bool add(turns *t, const sim_seat *s, uint32_t warps) {
  if (t->capacity - t->n < SIM_WARP) {
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
  uint32_t before = s->turn < SIM_WARP ? warps & ((UINT32_C(1) << s->turn) - 1) : 0;
  for (int part = 0; part < 2; part++)
    SIM_EACH(w, part ? before : warps & ~before) {
      t->all[t->n] = (sim_turn){s->launch, s->number, w};
      t->blocks[t->n++] = s->block;
    }
  return true;
}

/* Who can move, from the current block on; false: out of memory. */
static bool list(sim_device *d, turns *t, bool wake) {
  sim_run *r = d->run;
  t->n = t->asleep = 0;
  bool sparse = d->n_seats / 2 > d->n_resident;
  if ((!d->seated || sparse) && !seat_all(d))
    return false;
  sim_seat *s = d->current->seat, *end = d->seats + d->n_seats;
  for (uint32_t k = 0; k < d->n_seats; k++, s = s + 1 < end ? s + 1 : d->seats) {
    if (!s->block)
      continue;
    if (!s->started) {
      if (!sim_cluster_begin(r, s->block))
        return false;
      sit(s, s->block);
    } else if (s->asleep && wake) {
      sim_block_enter(r, s->block);
      sim_block_wake(r, s->block);
    }
    t->asleep += sim_count(s->asleep);
    uint32_t can = d->any_tried ? s->ready & ~sim_tried(d, s->block) : s->ready;
    if (can && !add(t, s, can))
      return false;
  }
  return true;
}

static void got_somewhere(sim_device *d) {
  d->progress++;
  d->any_tried = false;
}

/* One turn. What a warp got in a quantum does not count if it only looked at the clock. */
static void take_turn(sim_device *d, sim_block *b, uint32_t warp) {
  sim_run *r = d->run;
  bool progress = false;
  sim_block_enter(r, b);
  r->yield = false;
  b->turn = b->seat->turn = warp + 1;
  for (int k = 0; k < TURN && !r->fault.kind && !r->yield && b->warps[warp].ready; k++) {
    r->progress = false;
    sim_warp_run(r, &b->warps[warp], SIM_WARP_QUANTUM);
    progress |= r->progress;
    if (!r->progress)
      break;
  }
  if (progress) {
    got_somewhere(d);
    d->clock_step = 1000;
  } else {
    b->tried = sim_tried(d, b) | UINT32_C(1) << warp;
    b->tried_at = d->progress;
    d->any_tried = true;
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
    got_somewhere(d);
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
  got_somewhere(d);  /* the host may have written something */
  d->seated = false; /* and blocks had turns that nobody chose */
  for (uint32_t round = 0; r->warp_insns - begin < budget && step(d, &t, round, out); round++)
    ;
  out->used = r->warp_insns - begin;
  free(t.all);
  free(t.blocks);
}
