/* turn.c: a watcher chooses whose turn it is, among all warps of all resident blocks. Who had a turn and got
 * nowhere cannot move again until somebody got somewhere, so that whatever the watcher chooses, "nobody can
 * move" is found.
 *
 * There may be thousands of resident blocks, and a turn is short: what is looked at before each lies in
 * seats, one behind the other, and no list is made of those that can move.
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

/* ------------------------------------------------------------------ seats */

static uint32_t seat_of(const sim_seats *s, const sim_block *b) {
  return (uint32_t)(b->seat - s->all);
}

static void sit(sim_seats *s, uint32_t at, sim_block *b) {
  s->all[at] = (sim_seat){.ready = b->ready, .asleep = b->asleep};
  s->blocks[at] = b;
  b->seat = &s->all[at];
  if (s->ranks)
    memset(s->ranks[at], 0, sizeof s->ranks[at]);
}

static bool more_seats(sim_seats *s, uint32_t n) {
  uint32_t more = s->capacity ? s->capacity : 16;
  while (more < n)
    more *= 2;
  sim_seats_free(s);
  s->all = calloc(more, sizeof *s->all);
  s->blocks = calloc(more, sizeof(sim_block *));
  s->capacity = s->all && s->blocks ? more : 0;
  return s->capacity > 0;
}

void sim_seats_free(sim_seats *s) {
  free(s->all);
  free(s->blocks);
  free(s->ranks);
  free(s->highest);
  *s = (sim_seats){0};
}

/* Everybody takes a seat anew; false: out of memory. */
static bool seat_all(sim_device *d) {
  sim_seats *s = &d->seats;
  if (s->capacity < d->n_resident && !more_seats(s, (uint32_t)d->n_resident))
    return false;
  sim_block *b = d->current;
  for (s->n = 0; s->n < d->n_resident; b = b->next)
    sit(s, s->n++, b);
  return d->seated = true;
}

/* The first of the free seats before that of the block whose turn it is. There is none: it stands until all
 * are seated anew. */
void sim_seat_take(sim_device *d, sim_block *b) {
  sim_seats *s = &d->seats;
  uint32_t from = d->seated && d->current ? seat_of(s, d->current) : 0, free = from;
  b->seat = NULL;
  for (uint32_t k = 1, at = from; d->seated && d->current && k < s->n; k++, free = at) {
    at = at ? at - 1 : s->n - 1;
    if (s->blocks[at])
      break;
  }
  if (free != from)
    sit(s, free, b);
  else
    d->seated = false;
}

void sim_seat_leave(sim_device *d, sim_block *b) {
  if (d->seated && b->seat) {
    d->seats.blocks[seat_of(&d->seats, b)] = NULL;
    *b->seat = (sim_seat){0};
  }
  b->seat = NULL;
}

/* ------------------------------------------------------------------ who can move */

static uint32_t can_move(const sim_seat *s) {
  return s->ready & ~s->tried;
}

/* Those of a block's warps that come before the one behind its last. */
static uint32_t before_last(const sim_block *b, uint32_t warps) {
  return b->turn < SIM_WARP ? warps & ((UINT32_C(1) << b->turn) - 1) : 0;
}

/* The k-th of those that can move, from the current block on, and in it from the one behind its last. */
static sim_block *find(const sim_device *d, uint32_t k, uint32_t *warp) {
  const sim_seats *s = &d->seats;
  uint32_t at = seat_of(s, d->current), n;
  for (; (n = sim_count(can_move(&s->all[at]))) <= k; at = at + 1 < s->n ? at + 1 : 0)
    k -= n;
  sim_block *b = s->blocks[at];
  uint32_t can = can_move(&s->all[at]), last = before_last(b, can), first = can & ~last;
  uint32_t part = k < sim_count(first) ? first : last;
  for (k -= part == first ? 0 : sim_count(first); k > 0; k--)
    part &= part - 1;
  *warp = sim_first(part);
  return b;
}

sim_turn sim_turn_at(const sim_choice *c, uint32_t k) {
  uint32_t warp;
  const sim_block *b = find(c->device, k, &warp);
  return (sim_turn){b->grid->id, b->number, warp};
}

/* The highest rank of those in a seat that can move, of whom there are some; what is not known is asked. */
static uint64_t highest_of(sim_seats *s, uint32_t at, sim_rank *rank, void *user) {
  const sim_block *b = s->blocks[at];
  uint32_t can = can_move(&s->all[at]);
  if (s->all[at].ranked == can)
    return s->highest[at];
  s->highest[at] = 0;
  SIM_EACH(w, can) {
    uint64_t *r = &s->ranks[at][w];
    if (!*r)
      *r = rank(user, &(sim_turn){b->grid->id, b->number, w});
    if (*r > s->highest[at])
      s->highest[at] = *r;
  }
  s->all[at].ranked = can;
  return s->highest[at];
}

static bool have_ranks(sim_seats *s) {
  if (!s->ranks)
    s->ranks = calloc(s->capacity, sizeof *s->ranks);
  if (!s->highest)
    s->highest = calloc(s->capacity, sizeof *s->highest);
  return s->ranks && s->highest;
}

uint32_t sim_turn_highest(const sim_choice *c, sim_rank *rank, void *user) {
  sim_device *d = c->device;
  sim_seats *s = &d->seats;
  uint64_t highest = 0;
  uint32_t best = 0, before = 0, from = seat_of(s, d->current);
  if (!have_ranks(s))
    return c->usual;
  for (uint32_t at = 0; at < s->n; at++) {
    uint64_t r = can_move(&s->all[at]) ? highest_of(s, at, rank, user) : 0;
    if (r > highest)
      highest = r, best = at;
  }
  for (uint32_t at = from; at != best; at = at + 1 < s->n ? at + 1 : 0)
    before += sim_count(can_move(&s->all[at]));
  uint32_t can = can_move(&s->all[best]), last = before_last(s->blocks[best], can), found = 0;
  SIM_EACH(w, can)
  if (s->ranks[best][w] == highest)
    found = w;
  uint32_t smaller = (UINT32_C(1) << found) - 1;
  return before + (last >> found & 1 ? sim_count(can & ~last) + sim_count(last & smaller)
                                     : sim_count(can & ~last & smaller));
}

/* ------------------------------------------------------------------ turns */

static void got_somewhere(sim_device *d) {
  for (uint32_t at = 0; d->any_tried && at < d->seats.n; at++)
    d->seats.all[at].tried = 0;
  d->any_tried = false;
}

/* Blocks that became resident stand last in the ring. */
static bool begin_blocks(sim_device *d) {
  sim_block *b = d->current;
  uint64_t n = 0;
  while (n < d->n_resident && !b->prev->started)
    b = b->prev, n++;
  for (; n > 0; n--, b = b->next) {
    if (!b->started && !sim_cluster_begin(d->run, b))
      return false;
    if (d->seated)
      sit(&d->seats, seat_of(&d->seats, b), b);
  }
  bool sparse = d->seats.n / 2 > d->n_resident;
  return (d->seated && !sparse) || seat_all(d);
}

static void wake(sim_device *d) {
  const sim_seats *s = &d->seats;
  for (uint32_t k = 0, at = seat_of(s, d->current); k < s->n; k++, at = at + 1 < s->n ? at + 1 : 0) {
    uint32_t asleep = s->all[at].asleep & ~s->all[at].tried;
    if (!asleep)
      continue;
    sim_block_enter(d->run, s->blocks[at]);
    sim_block_wake(d->run, s->blocks[at], asleep);
  }
}

/* How many warps can move; *asleep: of the others. */
static uint32_t count(const sim_device *d, uint32_t *asleep) {
  uint32_t n = 0;
  *asleep = 0;
  for (uint32_t at = 0; at < d->seats.n; at++) {
    n += sim_count(can_move(&d->seats.all[at]));
    *asleep += sim_count(d->seats.all[at].asleep);
  }
  return n;
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
  b->seat->ranked = 0;
  if (d->seats.ranks)
    d->seats.ranks[seat_of(&d->seats, b)][warp] = 0;
  if (progress) {
    got_somewhere(d);
    d->clock_step = 1000;
  } else {
    b->seat->tried |= UINT32_C(1) << warp;
    d->any_tried = true;
  }
}

static bool step(sim_device *d, uint32_t round, uint32_t *asleep, sim_status *out) {
  sim_run *r = d->run;
  if (!sim_admit(d))
    sim_no_memory(r);
  if (!d->current && !r->fault.kind) {
    out->state = SIM_IDLE;
    return false;
  }
  uint32_t n = 0;
  if (!r->fault.kind && !begin_blocks(d))
    sim_no_memory(r);
  if (!r->fault.kind) {
    bool woken = *asleep <= WAKE_ALWAYS || round % WAKE_EVERY == 0;
    if (woken)
      wake(d);
    n = count(d, asleep);
    if (n == 0 && !woken) {
      wake(d);
      n = count(d, asleep);
    }
    if (n == 0) {
      if (!sim_wait_for_time(d, out))
        return false;
      got_somewhere(d);
      return true;
    }
  }
  sim_block *b = NULL;
  if (!r->fault.kind) {
    const sim_watcher *w = d->watcher;
    sim_choice c = {.kind = SIM_CHOOSE_TURN, .n = n, .device = d};
    uint32_t k = n > 1 ? w->choose(w->user, &c) : 0, warp;
    b = find(d, k < n ? k : 0, &warp);
    take_turn(d, b, warp);
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
  uint32_t asleep = 0;
  *out = (sim_status){.state = SIM_BUDGET};
  got_somewhere(d);  /* the host may have written something */
  d->seated = false; /* and blocks had turns that nobody chose */
  for (uint32_t round = 0; r->warp_insns - begin < budget && step(d, round, &asleep, out); round++)
    ;
  out->used = r->warp_insns - begin;
}
