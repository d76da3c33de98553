/* schedule.c: schedules beyond the plain run. First those that are most likely to matter: a pair of steps of
 * the plain run in the other order, by holding the first warp until the second has been there. Between them
 * random ones with a guarantee, PCT (Burckhardt et al. 2010): each warp has a priority, the highest that can
 * move does, and at d - 1 random steps that of the running one drops below all. It is made fair: who waits in
 * a loop sleeps (the machine finds that), and who polls otherwise, takes many turns in a row, or is woken
 * again and again for nothing, as whoever waits for a counter to come to its end is by each that counts,
 * drops as well.
 */
#include "check/schedule.h"

#include <stdlib.h>

enum {
  FAIR = 8,         /* turns in a row, while others could go; and sleeps between two writes */
  POLLS = 16,       /* steps in a row of one warp that read the same again */
  HOLD_POLLS = 256, /* of all warps, while one is held */
  HOLD_MOST = 4096, /* turns for which a warp is held */
  BARRIERS = 16     /* of a block */
};

/* ------------------------------------------------------------------ plans */

static uint64_t draw(uint64_t *state) {
  uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

static void pct(check_record *plain, uint32_t depth, check_plan *p, uint64_t *random) {
  uint64_t total = check_record_total(plain);
  p->kind = CHECK_PCT;
  for (p->n_changes = 0; p->n_changes + 1 < depth; p->n_changes++)
    p->changes[p->n_changes] = 1 + draw(random) % (total ? total : 1);
}

/* Of four schedules that follow each other two are flips, while there are any; one is PCT with a depth of 2,
 * one with 3 or a walk. The second of all asks for fairness. */
bool check_plan_of(check_record *plain, uint64_t seed, uint64_t index, check_plan *p) {
  uint64_t random = seed ^ index * UINT64_C(0xd1342543de82ef95), round = (index - 1) / 4;
  uint32_t part = (uint32_t)((index - 1) % 4), n_flips;
  const check_flip *flips = check_record_flips(plain, &n_flips);
  draw(&random);
  *p = (check_plan){.kind = CHECK_PLAIN};
  if (index == 2 && check_record_crosses(plain)) {
    p->kind = CHECK_LONELY;
  } else if (part < 2 && round * 2 + part < n_flips) {
    p->kind = CHECK_FLIP;
    p->flip = flips[round * 2 + part];
  } else if (part == 3 && round % 2 == 0 && check_record_total(plain)) {
    pct(plain, 3, p, &random); /* if weak_run.c cannot do anything */
    p->kind = CHECK_WEAK;
    p->nth = round / 2 + 1;
  } else if (part == 3 && round % 2) {
    p->kind = CHECK_WALK;
    p->parts = round % 4 == 3;
    p->shuffles = true;
  } else {
    pct(plain, part % 2 ? 3 : 2, p, &random);
    p->shuffles = draw(&random) % 2;
    p->parts = draw(&random) % 8 == 0;
  }
  p->random = random;
  return true;
}

/* ------------------------------------------------------------------ players */

typedef enum hold { BEFORE, HELD, OVER } hold;

typedef struct mood { /* of a warp */
  uint64_t priority;  /* once it has dropped; else 0 */
  uint32_t sleeps;    /* since it last wrote */
} mood;

struct check_player {
  check *check;
  check_plan plan;
  check_record *record; /* of this run: counts its steps */
  uint64_t random;      /* what is drawn while it runs */
  hold hold;
  uint32_t held_for;
  mood *moods; /* by check_record_warp */
  uint32_t n_moods, cap_moods;
  uint64_t next_low;
  sim_turn last;
  uint32_t in_a_row;
  uint32_t sleepers;
  uint32_t polls; /* steps in a row that only read the same again */
};

check_player *check_player_new(check *c, const check_plan *p) {
  check_player *x = calloc(1, sizeof *x);
  if (!x)
    return NULL;
  *x = (check_player){.check = c,
                      .plan = *p,
                      .record = check_record_new(false),
                      .random = p->random,
                      .hold = p->kind == CHECK_FLIP && p->flip.held_step == 1 ? HELD : BEFORE,
                      .next_low = UINT64_C(1) << 62};
  if (x->record)
    return x;
  free(x);
  return NULL;
}

void check_player_free(check_player *p) {
  if (!p)
    return;
  check_record_free(p->record);
  free(p->moods);
  free(p);
}

/* NULL: no memory. */
static mood *mood_of(check_player *p, const sim_turn *who) {
  uint32_t i = check_record_warp(p->record, who);
  for (; p->n_moods <= i; p->moods[p->n_moods++] = (mood){0})
    if (i == UINT32_MAX || !BASE_ROOM(p->moods, p->n_moods, p->cap_moods))
      return NULL;
  return &p->moods[i];
}

static void drop(check_player *p, const sim_turn *who) {
  mood *m = mood_of(p, who);
  if (m)
    *m = (mood){.priority = --p->next_low};
}

/* Higher goes first. Those that have dropped lie below all others. */
static uint64_t priority(void *player, const sim_turn *who) {
  check_player *p = player;
  const mood *m = mood_of(p, who);
  if (m && m->priority)
    return m->priority;
  uint64_t state = p->plan.random ^ who->launch << 48 ^ who->block << 5 ^ who->warp;
  return draw(&state) | UINT64_C(1) << 63;
}

/* It waits once more, and nobody has let it go on. */
static void slept(check_player *p, const sim_event *e) {
  const sim_turn who = {e->who.launch, e->who.block, e->who.warp};
  mood *m = p->plan.kind == CHECK_PCT ? mood_of(p, &who) : NULL;
  if (m && ++m->sleeps >= FAIR)
    drop(p, &who);
}

static void wrote(check_player *p, const sim_turn *who) {
  mood *m = mood_of(p, who);
  if (m)
    m->sleeps = 0;
}

/* ------------------------------------------------------------------ the run */

static sim_answer step(check_player *p, const sim_event *e, const check_step *s) {
  const check_plan *plan = &p->plan;
  p->polls = s->again ? p->polls + 1 : 0;
  switch (plan->kind) {
  case CHECK_FLIP:
    if (p->hold == HELD && p->polls > HOLD_POLLS)
      p->hold = OVER;
    else if (p->hold == BEFORE && check_same_turn(&s->who, &plan->flip.held) &&
             s->number + 1 == plan->flip.held_step)
      p->hold = HELD;
    else if (p->hold == HELD && check_same_turn(&s->who, &plan->flip.other) &&
             check_flip_meets(&plan->flip, e))
      p->hold = OVER;
    else
      return SIM_GO_ON;
    return SIM_YIELD;
  case CHECK_PCT:
    for (uint32_t i = 0; i < plan->n_changes; i++)
      if (s->total == plan->changes[i]) {
        drop(p, &s->who);
        return SIM_YIELD;
      }
    if (p->polls >= POLLS) {
      drop(p, &s->who);
      p->polls = 0;
      return SIM_YIELD;
    }
    if (!e->access->writes)
      return SIM_GO_ON;
    wrote(p, &s->who);
    return p->sleepers ? SIM_YIELD : SIM_GO_ON; /* it may wake somebody */
  case CHECK_WALK:
    return SIM_YIELD;
  default:
    return SIM_GO_ON;
  }
}

static sim_answer tell_search(search *s, const sim_event *e) {
  const sim_turn who = {e->who.launch, e->who.block, e->who.warp};
  const sim_access *a = e->access;
  switch (e->kind) {
  case SIM_EVENT_ACCESS:
    if (a->order == PTX_ORDER_WEAK || (a->space != PTX_SPACE_GLOBAL && a->space != PTX_SPACE_SHARED))
      return SIM_GO_ON;
    for (uint32_t lanes = e->who.lanes, first = !a->element; lanes; lanes &= lanes - 1)
      for (uint32_t i = (uint32_t)__builtin_ctz(lanes), byte = 0; byte < a->bytes; byte += 4, first = false)
        search_access(s, &who, i, first, check_word_of(e, i, byte), a->writes && a->stored >> i & 1);
    return SIM_YIELD;
  case SIM_EVENT_ARRIVE:
    search_arrive(s, &who, e->who.block * BARRIERS + e->barrier.number);
    return SIM_YIELD;
  case SIM_EVENT_COMPLETE:
    search_complete(s, &who, e->who.block * BARRIERS + e->barrier.number);
    return SIM_GO_ON;
  case SIM_EVENT_SLEEP: /* it would look again and again, any number of times */
    search_spoil(s);
    return SIM_GO_ON;
  default:
    return SIM_GO_ON;
  }
}

sim_answer check_player_event(check_player *p, const sim_event *e) {
  check_step s;
  if (p->plan.kind == CHECK_ORDER)
    return tell_search(p->plan.orders, e);
  if (e->kind == SIM_EVENT_SLEEP) {
    p->sleepers++;
    slept(p, e);
  }
  if (e->kind == SIM_EVENT_WAKE && p->sleepers)
    p->sleepers--;
  return check_record_step(p->record, p->check, e, &s) ? step(p, e, &s) : SIM_GO_ON;
}

static uint32_t choose_flip(check_player *p, const sim_choice *c) {
  if (p->hold != HELD)
    return c->usual;
  if (++p->held_for > HOLD_MOST) {
    p->hold = OVER;
    return c->usual;
  }
  const sim_turn usual = sim_turn_at(c, c->usual);
  return check_same_turn(&usual, &p->plan.flip.held) ? (c->usual + 1) % c->n : c->usual;
}

static uint32_t choose_highest(check_player *p, const sim_choice *c) {
  uint32_t best = sim_turn_highest(c, priority, p);
  const sim_turn who = sim_turn_at(c, best);
  p->in_a_row = check_same_turn(&who, &p->last) ? p->in_a_row + 1 : 0;
  p->last = who;
  if (p->in_a_row >= FAIR) {
    drop(p, &who);
    p->in_a_row = 0;
  }
  return best;
}

static uint32_t choose_order(const check_player *p, const sim_choice *c) {
  sim_turn turns[SEARCH_THREADS];
  if (c->n > SEARCH_THREADS) {
    search_spoil(p->plan.orders);
    return c->usual;
  }
  for (uint32_t i = 0; i < c->n; i++)
    turns[i] = sim_turn_at(c, i);
  return search_choose(p->plan.orders, turns, c->n);
}

static uint32_t choose_turn(check_player *p, const sim_choice *c) {
  switch (p->plan.kind) {
  case CHECK_FLIP:
    return choose_flip(p, c);
  case CHECK_PCT:
    return choose_highest(p, c);
  case CHECK_WALK:
    return (uint32_t)(draw(&p->random) % c->n);
  case CHECK_ORDER:
    return choose_order(p, c);
  default:
    return c->usual;
  }
}

static uint32_t choose_start(check_player *p, const sim_choice *c) {
  bool lonely = p->plan.kind == CHECK_LONELY || p->plan.kind == CHECK_FIRST;
  if (lonely && c->resident)
    return SIM_CHOOSE_NONE;
  return p->plan.kind == CHECK_LONELY ? c->n - 1
         : p->plan.shuffles           ? (uint32_t)(draw(&p->random) % c->n)
                                      : c->usual;
}

uint32_t check_player_choose(check_player *p, const sim_choice *c) {
  switch (c->kind) {
  case SIM_CHOOSE_TURN:
    return choose_turn(p, c);
  case SIM_CHOOSE_UNIT:
    return p->plan.parts ? (uint32_t)(draw(&p->random) % c->n) : c->usual;
  case SIM_CHOOSE_START:
    return choose_start(p, c);
  }
  return c->usual;
}
