/* t_search.c FIRST COUNT: the search for orders of moves against an enumeration of all interleavings, on
 * random programs of a machine of their own: threads that read, write and add to a few words, meet at
 * barriers, and do an operation only if what they read last was even. Two interleavings are the same order if
 * one can be made of the other by exchanging neighbours that touch no common word; the search has to run each
 * order once and no other.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "check/search.h"

enum { THREADS = 4, OPS = 6, WORDS = 3, EVENTS = 2 * THREADS * OPS, MOST_RUNS = 200000 };

typedef enum kind { READ, WRITE, ADD, MEET } kind;

typedef struct op {
  kind kind;
  uint32_t word;
  bool if_even;
} op;

typedef struct program {
  uint32_t n_threads, n_ops[THREADS];
  uint32_t block[THREADS]; /* threads of a block meet */
  op ops[THREADS][OPS];
} program;

/* ------------------------------------------------------------------ the machine */

typedef struct event {
  uint8_t thread, word, writes, meets;
} event;

typedef struct state {
  uint32_t at[THREADS], value[THREADS], memory[WORDS];
  bool waits[THREADS];
  uint32_t n_events;
  event events[EVENTS];
} state;

/* A thread leaves by a move of its own. */
static bool is_over(const program *p, const state *s, uint32_t t) {
  return s->at[t] > p->n_ops[t];
}

static uint32_t movable(const program *p, const state *s) {
  uint32_t can = 0;
  for (uint32_t t = 0; t < p->n_threads; t++)
    if (!s->waits[t] && !is_over(p, s, t))
      can |= 1u << t;
  return can;
}

/* One move: up to an access or a barrier, or to the end. True: it completed its block's barrier. */
static bool move(const program *p, state *s, uint32_t t) {
  while (!is_over(p, s, t)) {
    if (s->at[t] == p->n_ops[t]) {
      s->at[t]++;
      break;
    }
    const op *o = &p->ops[t][s->at[t]++];
    if (o->if_even && s->value[t] % 2)
      continue;
    s->events[s->n_events++] =
        (event){(uint8_t)t, (uint8_t)o->word, o->kind == WRITE || o->kind == ADD, o->kind == MEET};
    if (o->kind == READ || o->kind == ADD)
      s->value[t] = s->memory[o->word];
    if (o->kind == WRITE)
      s->memory[o->word] = t + 1;
    if (o->kind == ADD)
      s->memory[o->word]++;
    s->waits[t] = o->kind == MEET;
    break;
  }
  for (uint32_t i = 0; i < p->n_threads; i++)
    if (p->block[i] == p->block[t] && !s->waits[i]) /* each meets as often as the others: none ends before */
      return false;
  for (uint32_t i = 0; i < p->n_threads; i++)
    s->waits[i] &= p->block[i] != p->block[t];
  return true;
}

/* ------------------------------------------------------------------ orders */

typedef struct order {
  uint32_t n;
  event events[EVENTS];
} order;

typedef struct orders {
  order *all;
  uint32_t n, capacity;
} orders;

static bool depends(const event *a, const event *b) {
  return a->thread == b->thread || (!a->meets && !b->meets && a->word == b->word && (a->writes || b->writes));
}

/* The same for all interleavings of an order: of what may come next, the lowest thread's first. Behind a
 * barrier comes what follows it in any thread. */
static order normal(const program *p, const state *s) {
  order o = {.n = s->n_events};
  bool done[EVENTS] = {false};
  uint32_t met[EVENTS], meets[THREADS] = {0}; /* how often its thread had met */
  for (uint32_t i = 0; i < s->n_events; i++) {
    met[i] = meets[s->events[i].thread];
    meets[s->events[i].thread] += s->events[i].meets;
  }
  for (uint32_t k = 0; k < s->n_events; k++) {
    uint32_t best = EVENTS;
    for (uint32_t i = 0; i < s->n_events; i++) {
      bool free = !done[i];
      for (uint32_t j = 0; j < i && free; j++)
        free =
            done[j] || !(depends(&s->events[j], &s->events[i]) ||
                         (met[j] < met[i] && p->block[s->events[j].thread] == p->block[s->events[i].thread]));
      if (free && (best == EVENTS || s->events[i].thread < s->events[best].thread))
        best = i;
    }
    done[best] = true;
    o.events[k] = s->events[best];
  }
  return o;
}

/* False: it was there. */
static bool add(orders *all, const order *o) {
  for (uint32_t i = 0; i < all->n; i++)
    if (all->all[i].n == o->n && memcmp(all->all[i].events, o->events, o->n * sizeof *o->events) == 0)
      return false;
  if (all->n == all->capacity) {
    all->capacity = all->capacity ? 2 * all->capacity : 64;
    all->all = realloc(all->all, all->capacity * sizeof *all->all);
    if (!all->all)
      abort();
  }
  all->all[all->n++] = *o;
  return true;
}

static uint64_t enumerate(const program *p, const state *s, orders *all) {
  uint32_t can = movable(p, s);
  uint64_t n = 0;
  if (!can) {
    order o = normal(p, s);
    add(all, &o);
    return 1;
  }
  for (uint32_t t = 0; t < p->n_threads; t++) /* when a thread leaves is all the same */
    if (can >> t & 1 && s->at[t] == p->n_ops[t])
      can = 1u << t;
  for (uint32_t t = 0; t < p->n_threads; t++) {
    state next = *s;
    if (can >> t & 1) {
      move(p, &next, t);
      n += enumerate(p, &next, all);
    }
  }
  return n;
}

/* ------------------------------------------------------------------ the search */

static void run(const program *p, search *s, state *x) {
  *x = (state){0};
  for (uint32_t can, first = 0; (can = movable(p, x)) != 0;) {
    sim_turn turns[THREADS];
    uint32_t who[THREADS], n = 0;
    for (uint32_t i = 0; i < p->n_threads; i++) { /* in turn, as on the machine */
      uint32_t t = (first + i) % p->n_threads;
      if (can >> t & 1)
        who[n] = t, turns[n++] = (sim_turn){.launch = 1, .warp = t};
    }
    uint32_t t = who[n > 1 ? search_choose(s, turns, n) : 0], before = x->n_events;
    sim_turn me = {.launch = 1, .warp = t};
    bool completes = move(p, x, t);
    first = t + 1;
    const event *e = &x->events[before];
    if (x->n_events > before && e->meets)
      search_arrive(s, &me, p->block[t]);
    else if (x->n_events > before)
      search_access(s, &me, 0, true, e->word, e->writes);
    if (completes)
      search_complete(s, &me, p->block[t]);
  }
}

static program draw(uint64_t seed) {
  base_rng r;
  program p = {0};
  base_rng_seed(&r, seed);
  p.n_threads = 2 + (uint32_t)base_rng_below(&r, THREADS - 1);
  uint32_t words = 1 + (uint32_t)base_rng_below(&r, WORDS), parts = 1 + (uint32_t)base_rng_below(&r, 2);
  uint32_t blocks = 1 + (uint32_t)base_rng_below(&r, 2);
  for (uint32_t t = 0; t < p.n_threads; t++) {
    p.block[t] = t % blocks;
    for (uint32_t k = 0; k < parts; k++) {
      uint32_t n = (uint32_t)base_rng_below(&r, p.n_threads == 2 ? 4 : p.n_threads == 3 ? 3 : 2);
      for (uint32_t i = 0; i < n && p.n_ops[t] < OPS - 1; i++)
        p.ops[t][p.n_ops[t]++] = (op){(kind)base_rng_below(&r, MEET), (uint32_t)base_rng_below(&r, words),
                                      base_rng_below(&r, 4) == 0};
      if (k + 1 < parts)
        p.ops[t][p.n_ops[t]++] = (op){.kind = MEET};
    }
  }
  return p;
}

static bool test(uint64_t seed, uint64_t *n_orders, uint64_t *n_interleavings) {
  program p = draw(seed);
  orders all = {0}, found = {0};
  state x = {0};
  *n_interleavings += enumerate(&p, &x, &all);
  *n_orders += all.n;
  search *s = search_new();
  uint32_t runs = 0;
  if (!s)
    abort();
  for (uint64_t before = 0; runs < MOST_RUNS && search_next(s); runs++, before = search_orders(s)) {
    run(&p, s, &x);
    search_ran(s, true);
    order o = normal(&p, &x);
    if (search_orders(s) > before && !add(&found, &o))
      printf("seed %" PRIu64 ": an order is run twice\n", seed);
  }
  bool good = search_is_complete(s) && search_orders(s) == all.n && found.n == all.n;
  if (!good)
    printf("seed %" PRIu64 ": %u orders, the search has %" PRIu64 " in %u runs, %u of them different%s\n",
           seed, all.n, search_orders(s), runs, found.n,
           search_is_complete(s) ? "" : ", and does not say that these are all");
  search_free(s);
  free(all.all);
  free(found.all);
  return good;
}

int main(int argc, char **argv) {
  uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 0,
           count = argc > 2 ? strtoull(argv[2], NULL, 10) : 1000, orders = 0, interleavings = 0, wrong = 0;
  for (uint64_t seed = first; seed < first + count; seed++)
    wrong += !test(seed, &orders, &interleavings);
  printf("%" PRIu64 " programs: %" PRIu64 " orders of %" PRIu64 " interleavings; %" PRIu64
         " programs wrong\n",
         count, orders, interleavings, wrong);
  return wrong > 0;
}
