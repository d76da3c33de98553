/* search.c: dynamic partial-order reduction with source sets and sleep sets (Abdulla et al., POPL 2014),
 * stateless: a run is known by whom was chosen where there was a choice. Of a run that is over, each pair of
 * moves that conflict and that nothing else orders is put the other way round, if no run did that yet; who
 * was tried at a point sleeps in what is tried there later, until somebody makes a move that conflicts with
 * his.
 *
 * Invariant: choices before n_nodes are the same in the next run.
 */
#include "check/search.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"

enum { THREADS = SEARCH_THREADS, MOST = 1024 /* moves of a run, words, barriers */, NONE = UINT32_MAX };

typedef struct access {
  uint64_t word;
  bool writes;
} access;

typedef struct accesses { /* of one move; in search.accesses */
  uint32_t first, n;
} accesses;

typedef uint16_t clock[THREADS]; /* of each thread, how many moves */

typedef struct move {
  uint32_t thread, number; /* the number-th of its thread, from 1 */
  uint32_t node;           /* NONE: nobody else could move */
  accesses touched;
  clock before; /* what happened before, and the move itself */
} move;

typedef struct node { /* a choice */
  uint64_t enabled, backtrack, done, asleep;
  uint32_t chosen;
  accesses moves[THREADS]; /* of who is done or asleep */
} node;

typedef struct word {
  uint64_t word;
  sim_turn first;
  uint32_t lane; /* of the first */
  bool many, written;
  uint32_t lanes[THREADS]; /* of each warp that was there */
} word;

typedef struct barrier {
  uint64_t key, arrived; /* threads */
  clock before;
} barrier;

struct search {
  sim_turn threads[THREADS]; /* numbers stay over runs */
  uint32_t n_threads;
  node *nodes;
  uint32_t n_nodes, cap_nodes;
  access *accesses;
  uint32_t n_accesses, cap_accesses;
  word *words;
  uint32_t n_words, cap_words;
  uint64_t n_orders;
  bool begun, failed, unsure;
  /* the run at hand */
  move *moves;
  uint32_t n_moves, cap_moves, at; /* at: choices so far */
  clock now[THREADS];
  uint32_t count[THREADS];
  barrier *barriers;
  uint32_t n_barriers, cap_barriers;
  uint64_t asleep;
  accesses sleeping[THREADS];
  bool moving, touched, repeats;
  move open;
};

search *search_new(void) {
  return calloc(1, sizeof(search));
}

void search_free(search *s) {
  if (!s)
    return;
  free(s->nodes);
  free(s->accesses);
  free(s->words);
  free(s->moves);
  free(s->barriers);
  free(s);
}

/* ------------------------------------------------------------------ threads, words, clocks */

static uint64_t bit(uint32_t thread) {
  return UINT64_C(1) << thread;
}

/* THREADS: too many. */
static uint32_t thread_of(search *s, const sim_turn *t) {
  for (uint32_t i = 0; i < s->n_threads; i++)
    if (s->threads[i].block == t->block && s->threads[i].warp == t->warp)
      return i;
  if (s->n_threads == THREADS) {
    s->failed = true;
    return THREADS;
  }
  s->threads[s->n_threads] = *t;
  return s->n_threads++;
}

static void join(clock to, const clock from) {
  for (uint32_t i = 0; i < THREADS; i++)
    to[i] = from[i] > to[i] ? from[i] : to[i];
}

static bool conflict(const search *s, accesses a, accesses b) {
  for (uint32_t i = 0; i < a.n; i++)
    for (uint32_t k = 0; k < b.n; k++) {
      const access *x = &s->accesses[a.first + i], *y = &s->accesses[b.first + k];
      if (x->word == y->word && (x->writes || y->writes))
        return true;
    }
  return false;
}

static bool is_before(const move *a, const move *b) {
  return a->number <= b->before[a->thread];
}

static void note_word(search *s, const sim_turn *who, uint32_t thread, uint32_t lane, uint64_t key,
                      bool writes) {
  word *w = s->words;
  while (w < s->words + s->n_words && w->word != key)
    w++;
  if (w == s->words + s->n_words) {
    if (s->n_words == MOST || !BASE_ROOM(s->words, s->n_words, s->cap_words)) {
      s->failed = true;
      return;
    }
    w = &s->words[s->n_words++];
    *w = (word){.word = key, .first = *who, .lane = lane};
  }
  w->many |= w->first.block != who->block || w->first.warp != who->warp || w->lane != lane;
  w->written |= writes;
  w->lanes[thread] |= UINT32_C(1) << lane;
}

/* ------------------------------------------------------------------ pairs the other way round */

/* Who could begin what followed `e` without it, up to and with `m`. */
static uint64_t initials(const move *e, const move *m) {
  uint64_t seen = 0, can = 0;
  for (const move *x = e + 1; x <= m; x++) {
    if (is_before(e, x) && x != m)
      continue;
    bool first = !(seen & bit(x->thread));
    for (const move *y = e + 1; y < x && first; y++)
      first = is_before(e, y) || !is_before(y, x);
    if (first)
      can |= bit(x->thread);
    seen |= bit(x->thread);
  }
  return can;
}

static void reverse(search *s, const move *e, const move *m) {
  uint64_t can = initials(e, m);
  node *n = e->node == NONE ? NULL : &s->nodes[e->node];
  if (!n) { /* nobody else could move, so it must have been ordered by what is not known here */
    s->unsure = true;
    return;
  }
  if (n->backtrack & can)
    return;
  can &= n->enabled;
  s->unsure |= !can;
  n->backtrack |= can ? can & -can : n->enabled;
}

/* The last move is whole: what came before it, and with whom it might change places. */
static void judge(search *s) {
  move *m = &s->moves[s->n_moves - 1];
  uint32_t races[MOST], n = 0;
  memcpy(m->before, s->now[m->thread], sizeof m->before);
  for (move *e = m; e-- > s->moves;) {
    if (e->thread == m->thread || !conflict(s, e->touched, m->touched))
      continue;
    if (!is_before(e, m))
      races[n++] = (uint32_t)(e - s->moves);
    join(m->before, e->before);
  }
  m->number = ++s->count[m->thread];
  m->before[m->thread] = (uint16_t)m->number;
  memcpy(s->now[m->thread], m->before, sizeof m->before);
  for (uint32_t i = 0; i < n; i++)
    reverse(s, &s->moves[races[i]], m);
}

/* ------------------------------------------------------------------ moves */

static void close(search *s) {
  if (!s->moving)
    return;
  s->moving = s->touched = false;
  if (s->failed || s->repeats)
    return;
  if (s->n_moves == MOST || !BASE_ROOM(s->moves, s->n_moves, s->cap_moves)) {
    s->failed = true;
    return;
  }
  s->open.touched.n = s->n_accesses - s->open.touched.first;
  s->moves[s->n_moves++] = s->open;
  judge(s);
  if (s->open.node != NONE)
    s->nodes[s->open.node].moves[s->open.thread] = s->open.touched;
  for (uint32_t i = 0; i < s->n_threads; i++)
    if (s->asleep & bit(i) && conflict(s, s->sleeping[i], s->open.touched))
      s->asleep &= ~bit(i);
}

static void begin(search *s, uint32_t thread, uint32_t node) {
  if (thread < THREADS && s->asleep & bit(thread))
    s->repeats = true;
  s->moving = true, s->touched = false;
  s->open = (move){.thread = thread, .node = node, .touched = {.first = s->n_accesses}};
}

/* Something is told of a warp: of the move that it is in, or of one that nobody was asked for. */
static void be_with(search *s, uint32_t thread) {
  if (s->moving && s->open.thread == thread)
    return;
  close(s);
  begin(s, thread, NONE);
}

/* The choice of which all before are as they were in the run before, or a new one. NULL: there is none left.
 */
static node *node_here(search *s, uint64_t enabled, uint32_t usual) {
  if (s->at < s->n_nodes) {
    node *n = &s->nodes[s->at];
    s->failed |= n->enabled != enabled; /* it would not be the same run */
    return n;
  }
  uint64_t awake = enabled & ~s->asleep;
  if (!awake)
    return NULL;
  if (s->n_nodes == MOST || !BASE_ROOM(s->nodes, s->n_nodes, s->cap_nodes)) {
    s->failed = true;
    return NULL;
  }
  node *n = &s->nodes[s->n_nodes++];
  *n = (node){.enabled = enabled,
              .asleep = s->asleep,
              .chosen = awake & bit(usual) ? usual : (uint32_t)__builtin_ctzll(awake)};
  n->backtrack = bit(n->chosen);
  memcpy(n->moves, s->sleeping, sizeof n->moves);
  return n;
}

uint32_t search_choose(search *s, const sim_turn *turns, uint32_t n) {
  uint32_t index[THREADS];
  uint64_t enabled = 0;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t t = thread_of(s, &turns[i]);
    if (t == THREADS)
      return 0;
    index[t] = i;
    enabled |= bit(t);
  }
  if (s->failed || s->repeats)
    return 0;
  if (s->moving && !s->touched && enabled & bit(s->open.thread))
    return index[s->open.thread]; /* a long one */
  close(s);
  node *k = node_here(s, enabled, thread_of(s, &turns[0]));
  if (s->failed || !k) {
    s->repeats = true;
    return 0;
  }
  memcpy(s->sleeping, k->moves, sizeof s->sleeping);
  s->asleep = (k->asleep | k->done) & ~bit(k->chosen);
  begin(s, k->chosen, s->at++);
  return index[k->chosen];
}

void search_access(search *s, const sim_turn *who, uint32_t lane, bool first, uint64_t key, bool writes) {
  uint32_t t = thread_of(s, who);
  if (s->failed)
    return;
  if (first && s->touched)
    close(s);
  be_with(s, t);
  s->touched = true;
  note_word(s, who, t, lane, key, writes);
  if (!BASE_ROOM(s->accesses, s->n_accesses, s->cap_accesses)) {
    s->failed = true;
    return;
  }
  s->accesses[s->n_accesses++] = (access){key, writes};
}

static barrier *barrier_at(search *s, uint64_t key) {
  for (uint32_t i = 0; i < s->n_barriers; i++)
    if (s->barriers[i].key == key)
      return &s->barriers[i];
  if (s->n_barriers == MOST || !BASE_ROOM(s->barriers, s->n_barriers, s->cap_barriers)) {
    s->failed = true;
    return NULL;
  }
  s->barriers[s->n_barriers] = (barrier){.key = key};
  return &s->barriers[s->n_barriers++];
}

void search_arrive(search *s, const sim_turn *who, uint64_t key) {
  uint32_t t = thread_of(s, who);
  barrier *b = s->failed ? NULL : barrier_at(s, key);
  if (!b)
    return;
  if (s->touched)
    close(s);
  be_with(s, t);
  close(s);
  b->arrived |= bit(t);
  join(b->before, s->now[t]);
}

void search_complete(search *s, const sim_turn *by, uint64_t key) {
  uint32_t t = thread_of(s, by);
  barrier *b = s->failed ? NULL : barrier_at(s, key);
  if (!b)
    return;
  if (s->moving && s->open.thread == t) /* it left the kernel */
    close(s);
  join(b->before, s->now[t]);
  for (uint32_t i = 0; i < s->n_threads; i++)
    if (b->arrived & bit(i))
      join(s->now[i], b->before);
  b->arrived = 0;
  memset(b->before, 0, sizeof b->before);
}

/* ------------------------------------------------------------------ runs */

bool search_next(search *s) {
  if (s->failed)
    return false;
  if (s->begun) {
    bool found = false;
    while (s->n_nodes && !found) {
      node *n = &s->nodes[s->n_nodes - 1];
      n->done |= bit(n->chosen);
      uint64_t open = n->backtrack & ~n->done & ~n->asleep;
      found = open != 0;
      if (found)
        n->chosen = (uint32_t)__builtin_ctzll(open);
      else
        s->n_nodes--;
    }
    if (!found)
      return false;
  }
  s->begun = true;
  s->n_moves = s->at = s->n_barriers = 0;
  memset(s->now, 0, sizeof s->now);
  memset(s->count, 0, sizeof s->count);
  s->asleep = 0;
  s->moving = s->touched = s->repeats = false;
  return true;
}

void search_spoil(search *s) {
  s->failed = true;
}

void search_ran(search *s, bool whole) {
  close(s);
  s->unsure |= !whole;
  s->repeats |= s->asleep != 0; /* who sleeps could move, and has, though nothing was told of it */
  s->n_orders += !s->repeats;
}

uint64_t search_orders(const search *s) {
  return s->n_orders;
}

bool search_is_complete(const search *s) {
  return s->begun && !s->failed && !s->unsure && s->n_nodes == 0;
}

bool search_one_word(const search *s) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < s->n_words; i++) {
    const word *w = &s->words[i];
    if (!w->many || !w->written)
      continue;
    n++;
    for (uint32_t t = 0; t < THREADS; t++)
      if (w->lanes[t] & (w->lanes[t] - 1))
        return false;
  }
  return n < 2;
}
