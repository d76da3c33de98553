/* weak_model.c: the axioms of the PTX memory consistency model (PTX ISA, "Memory Consistency Model"), for a
 * graph whose reads have their sources.
 *
 * Base causality is kept as a closed relation over the events; the order of fence.sc pairs that it leaves
 * open is tried both ways. Coherence, and the axioms that speak of it, meet on one location each: given base
 * causality, each location is searched for itself. A write is a possible last one if some coherence order
 * puts none behind it.
 */
#include <stdlib.h>
#include <string.h>

#include "check/weak_graph.h"

enum { MAX_WRITES = 64, MAX_EVENTS = 2048 }; /* of one location; of a graph */

typedef struct matrix {
  uint64_t *bits;
  uint32_t words; /* of a row */
} matrix;

struct weak_judge {
  const weak_part *part;
  const weak_graph *g;
  uint32_t n, n_events, words; /* events, and behind them one for each meeting at a barrier */
  uint32_t *node;              /* of the graph, for each event */
  uint32_t *event_of;          /* node -> event; WEAK_NONE */
  uint32_t *members, *first;   /* events of location l: members[first[l]] to members[first[l + 1] - 1] */
  uint32_t *local;             /* event -> index among the members of its location */
  uint64_t *last;              /* for each location */
  void *block;                 /* all of these */
  size_t block_bytes;
  uint8_t *busy; /* for each thread of the graph: it has accesses to shared locations */
  uint32_t busy_bytes;
  matrix observed;
  const char *limit;
  uint64_t work;
  bool racy;
  void (*tell)(void *user, const uint64_t *last);
  void *user;
};

weak_judge *weak_judge_new(void) {
  return calloc(1, sizeof(weak_judge));
}

void weak_judge_free(weak_judge *j) {
  if (j)
    free(j->block), free(j->busy);
  free(j);
}

const char *weak_judge_limit(const weak_judge *j) {
  return j->limit;
}

bool weak_judge_racy(const weak_judge *j) {
  return j->racy;
}

uint64_t weak_judge_work(const weak_judge *j) {
  return j->work;
}

static inline uint64_t *row(const matrix *m, uint32_t i) {
  return m->bits + (size_t)i * m->words;
}
static inline bool has(const matrix *m, uint32_t i, uint32_t k) {
  return row(m, i)[k / 64] >> k % 64 & 1;
}
static inline void add(matrix *m, uint32_t i, uint32_t k) {
  row(m, i)[k / 64] |= UINT64_C(1) << k % 64;
}
static inline bool join(uint64_t *to, const uint64_t *from, uint32_t words) {
  uint64_t grew = 0;
  for (uint32_t w = 0; w < words; w++) {
    grew |= from[w] & ~to[w];
    to[w] |= from[w];
  }
  return grew != 0;
}

static inline const weak_node *at(const weak_judge *j, uint32_t event) {
  return &j->g->nodes[j->node[event]];
}

/* ------------------------------------------------------------------ who is in, and morally strong */

/* A thread that does nothing on shared locations only passes on what barriers order, and takes part in the
 * order of fence.sc. */
static bool is_in(const weak_judge *j, uint32_t node) {
  const weak_part *p = j->part;
  const weak_node *n = &p->graph->nodes[node];
  if (p->in && !p->in[node])
    return false;
  if (n->kind < WEAK_FENCE)
    return weak_is_shared(p->graph, n->location);
  return j->busy[n->thread] || (n->sc && !p->as_run);
}

static bool includes(const weak_judge *j, const weak_node *a, const weak_node *b) {
  const weak_thread *s = &j->g->threads[a->thread], *t = &j->g->threads[b->thread];
  return a->scope != PTX_SCOPE_CTA || (s->launch == t->launch && s->block == t->block);
}

static bool strong_pair(const weak_judge *j, uint32_t i, uint32_t k) {
  const weak_node *a = at(j, i), *b = at(j, k);
  if (a->location != WEAK_NONE && b->location != WEAK_NONE && a->location != b->location)
    return false;
  return a->thread == b->thread || (a->strong && b->strong && includes(j, a, b) && includes(j, b, a));
}

/* The event a read takes its value from; WEAK_INITIAL, WEAK_UNDECIDED. */
static uint32_t source_of(const weak_judge *j, uint32_t event) {
  uint32_t s = j->part->source[j->node[event]];
  if (s < WEAK_UNDECIDED)
    s = j->event_of[s];
  return s == WEAK_NONE ? WEAK_UNDECIDED : s;
}

/* ------------------------------------------------------------------ base causality */

static void close_all(const weak_judge *j, matrix *m) {
  for (uint32_t k = 0; k < j->n; k++)
    for (uint32_t i = 0; i < j->n; i++)
      if (has(m, i, k))
        join(row(m, i), row(m, k), j->words);
}

/* One more edge in a closed relation. */
static void close_edge(const weak_judge *j, matrix *m, uint32_t from, uint32_t to) {
  for (uint32_t i = 0; i < j->n; i++)
    if (i == from || has(m, i, from)) {
      add(m, i, to);
      join(row(m, i), row(m, to), j->words);
    }
}

/* Observation order: morally strong reads-from, through chains of atomic operations. */
static void observe(weak_judge *j) {
  for (uint32_t r = 0; r < j->n_events; r++) {
    uint32_t w = at(j, r)->kind == WEAK_READ ? source_of(j, r) : WEAK_NONE;
    if (w < j->n_events && strong_pair(j, w, r))
      add(&j->observed, w, r);
  }
  for (bool grows = true; grows;) {
    grows = false;
    for (uint32_t w = 0; w < j->n_events; w++)
      for (uint32_t r = 0; r < j->n_events; r++)
        if (has(&j->observed, w, r) && at(j, r)->mate != WEAK_NONE) {
          uint32_t next = j->event_of[at(j, r)->mate];
          if (next != WEAK_NONE)
            grows |= join(row(&j->observed, w), row(&j->observed, next), j->words);
        }
  }
}

/* A release pattern that ends in write w, beginning at x; an acquire pattern that begins in read r, ending at
 * y. */
static bool releases(const weak_judge *j, uint32_t x, uint32_t w) {
  const weak_node *a = at(j, x), *b = at(j, w);
  if (!a->releases || !b->strong || a->thread != b->thread || a->number > b->number)
    return false;
  return a->kind == WEAK_FENCE || a->location == b->location;
}
static bool acquires(const weak_judge *j, uint32_t r, uint32_t y) {
  const weak_node *a = at(j, r), *b = at(j, y);
  if (!b->acquires || !a->strong || a->thread != b->thread || a->number > b->number)
    return false;
  return r == y || (a->returns && (b->kind == WEAK_FENCE || a->location == b->location));
}

static void synchronise(const weak_judge *j, matrix *base) {
  for (uint32_t w = 0; w < j->n_events; w++)
    for (uint32_t r = 0; r < j->n_events; r++) {
      if (!has(&j->observed, w, r))
        continue;
      for (uint32_t x = w + 1; x-- > 0 && at(j, x)->thread == at(j, w)->thread;)
        if (releases(j, x, w))
          for (uint32_t y = r; y < j->n_events && at(j, y)->thread == at(j, r)->thread; y++)
            if (acquires(j, r, y) && strong_pair(j, x, y))
              add(base, x, y);
    }
}

/* From one meeting to the next, through threads that are not in. */
static void pass_on(const weak_judge *j, matrix *base) {
  const weak_graph *g = j->g;
  for (uint32_t t = 0; t < g->n_threads; t++) {
    uint32_t before = WEAK_NONE;
    if (g->threads[t].run != g->run || j->busy[t])
      continue;
    for (uint32_t i = g->threads[t].first; i != WEAK_NONE; i = g->nodes[i].next) {
      const weak_node *n = &g->nodes[i];
      if (j->part->in && !j->part->in[i])
        break;
      if (n->kind == WEAK_LEAVE)
        before = n->barrier;
      if (n->kind == WEAK_ARRIVE && before != WEAK_NONE)
        add(base, j->n_events + before, j->n_events + n->barrier);
    }
  }
}

static void begin_base(const weak_judge *j, matrix *base) {
  for (uint32_t i = 0; i < j->n_events; i++) {
    const weak_node *a = at(j, i);
    if (i && at(j, i - 1)->thread == a->thread)
      add(base, i - 1, i);
    if (a->kind == WEAK_ARRIVE)
      add(base, i, j->n_events + a->barrier);
    if (a->kind == WEAK_LEAVE)
      add(base, j->n_events + a->barrier, i);
    for (uint32_t k = 0; j->part->as_run && a->sc && k < j->n_events; k++)
      if (k != i && at(j, k)->sc && j->node[k] > j->node[i] && strong_pair(j, i, k))
        add(base, i, k);
  }
  pass_on(j, base);
  synchronise(j, base);
  close_all(j, base);
}

/* ------------------------------------------------------------------ one location */

/* Its events have numbers of their own here, in the order of threads and programs; so have its writes. */
typedef struct place {
  const weak_judge *j;
  const matrix *base;
  const uint32_t *event;
  uint32_t n, n_writes, words;
  uint32_t write[MAX_WRITES];  /* which event */
  uint32_t *number;            /* of an event among the writes; WEAK_NONE */
  uint64_t strong[MAX_WRITES]; /* writes that are morally strong with this one */
  uint64_t *before;            /* for each read: writes that precede it in causality order */
  uint64_t *caused;            /* scratch: a row over all events */
  matrix com;                  /* and over those of the location */
} place;

/* What a write precedes in causality order: base causality, perhaps behind an observation. Of use on its
 * location. */
static void caused_by(place *p, uint32_t write) {
  const weak_judge *j = p->j;
  uint32_t a = p->event[write];
  memcpy(p->caused, row(p->base, a), j->words * sizeof *p->caused);
  for (uint32_t z = 0; z < p->n; z++)
    if (has(&j->observed, a, p->event[z]))
      join(p->caused, row(p->base, p->event[z]), j->words);
}

/* Writes that a read precedes in communication order: those behind its source. */
static uint64_t later_writes(const place *p, const uint64_t *co, uint32_t read) {
  uint32_t s = source_of(p->j, p->event[read]);
  if (s == WEAK_UNDECIDED)
    return 0;
  if (s != WEAK_INITIAL)
    return co[p->number[p->j->local[s]]];
  return p->n_writes == 64 ? UINT64_MAX : (UINT64_C(1) << p->n_writes) - 1;
}

/* Causality and atomicity, for the pairs that are in coherence order so far. */
static bool holds(const place *p, const uint64_t *co) {
  for (uint32_t w = 0; w < p->n_writes; w++)
    if (co[w] >> w & 1)
      return false;
  for (uint32_t i = 0; i < p->n; i++) {
    const weak_node *r = at(p->j, p->event[i]);
    if (r->kind != WEAK_READ)
      continue;
    uint64_t later = later_writes(p, co, i);
    if (later & p->before[i])
      return false;
    uint32_t mate = r->mate == WEAK_NONE ? WEAK_NONE : p->j->event_of[r->mate];
    if (mate == WEAK_NONE)
      continue;
    uint32_t own = p->number[p->j->local[mate]];
    for (uint64_t between = later & p->strong[own]; between; between &= between - 1)
      if (co[__builtin_ctzll(between)] >> own & 1)
        return false;
  }
  return true;
}

/* Communication in morally strong pairs, and program order on the location, make no circle. */
static bool sc_per_location(place *p, const uint64_t *co) {
  matrix *m = &p->com;
  memset(m->bits, 0, (size_t)p->n * p->words * sizeof *m->bits);
  for (uint32_t i = 0; i < p->n; i++) {
    const weak_node *a = at(p->j, p->event[i]);
    uint64_t later = a->kind == WEAK_READ ? later_writes(p, co, i) : co[p->number[i]];
    for (; later; later &= later - 1) {
      uint32_t k = p->write[__builtin_ctzll(later)];
      if (strong_pair(p->j, p->event[i], p->event[k]))
        add(m, i, k);
    }
    uint32_t s = a->kind == WEAK_READ ? source_of(p->j, p->event[i]) : WEAK_NONE;
    if (s < p->j->n_events && strong_pair(p->j, s, p->event[i]))
      add(m, p->j->local[s], i);
    if (i + 1 < p->n && at(p->j, p->event[i + 1])->thread == a->thread)
      add(m, i, i + 1);
  }
  for (uint32_t k = 0; k < p->n; k++)
    for (uint32_t i = 0; i < p->n; i++)
      if (has(m, i, k))
        join(row(m, i), row(m, k), p->words);
  for (uint32_t i = 0; i < p->n; i++)
    if (has(m, i, i))
      return false;
  return true;
}

static void put_before(const place *p, uint64_t *co, uint32_t a, uint32_t b) {
  for (uint32_t w = 0; w < p->n_writes; w++)
    if (w == a || co[w] >> a & 1)
      co[w] |= UINT64_C(1) << b | co[b];
}

/* Whether some coherence order that has the pairs of `co` satisfies the axioms. */
static bool orders(place *p, const uint64_t *co) {
  if (!holds(p, co))
    return false;
  for (uint32_t a = 0; a < p->n_writes; a++) {
    uint64_t open = p->strong[a] & ~co[a];
    for (; open; open &= open - 1) {
      uint32_t b = (uint32_t)__builtin_ctzll(open);
      if (co[b] >> a & 1)
        continue;
      bool usual = p->j->node[p->event[p->write[a]]] < p->j->node[p->event[p->write[b]]]; /* as in the run */
      uint64_t way[MAX_WRITES];
      memcpy(way, co, p->n_writes * sizeof *way);
      put_before(p, way, usual ? a : b, usual ? b : a);
      if (orders(p, way))
        return true;
      memcpy(way, co, p->n_writes * sizeof *way);
      put_before(p, way, usual ? b : a, usual ? a : b);
      return orders(p, way);
    }
  }
  return sc_per_location(p, co);
}

/* A data race: two accesses, one a write, neither morally strong nor ordered by causality. */
static bool races(const place *p) {
  for (uint32_t w = 0; w < p->n_writes; w++)
    for (uint32_t i = 0, x = p->write[w]; i < p->n; i++) {
      bool ordered =
          p->before[i] >> w & 1 || (p->number[i] == WEAK_NONE ? has(p->base, p->event[i], p->event[x])
                                                              : p->before[x] >> p->number[i] & 1);
      if (i != x && !ordered && !strong_pair(p->j, p->event[i], p->event[x]))
        return true;
    }
  return false;
}

/* Judges a location; *last: its writes that may be the last. False: the axioms forbid the execution. */
static bool place_judged(place *p, bool tell, uint64_t *last) {
  const weak_judge *j = p->j;
  p->n_writes = 0;
  *last = 0;
  for (uint32_t i = 0; i < p->n; i++) {
    p->number[i] = WEAK_NONE;
    if (at(j, p->event[i])->kind == WEAK_WRITE)
      p->number[i] = p->n_writes, p->write[p->n_writes++] = i;
  }
  uint64_t co[MAX_WRITES] = {0};
  for (uint32_t a = 0; a < p->n_writes; a++) {
    p->strong[a] = 0;
    for (uint32_t b = 0; b < p->n_writes; b++)
      if (a != b && strong_pair(j, p->event[p->write[a]], p->event[p->write[b]]))
        p->strong[a] |= UINT64_C(1) << b;
  }
  memset(p->before, 0, p->n * sizeof *p->before);
  for (uint32_t w = 0; w < p->n_writes; w++) {
    caused_by(p, p->write[w]);
    for (uint32_t i = 0; i < p->n; i++) {
      uint32_t e = p->event[i];
      if (!(p->caused[e / 64] >> e % 64 & 1))
        continue;
      p->before[i] |= UINT64_C(1) << w;
      if (p->number[i] != WEAK_NONE)
        put_before(p, co, w, p->number[i]); /* Coherence */
    }
  }
  for (uint32_t i = 0; i < p->n; i++) {
    uint32_t s = p->number[i] == WEAK_NONE ? source_of(j, p->event[i]) : WEAK_NONE;
    if (s < j->n_events && has(p->base, p->event[i], s)) /* Causality: it reads from what it precedes */
      return false;
  }
  if (!orders(p, co))
    return false;
  for (uint32_t w = 0; w < p->n_writes && tell; w++) {
    uint64_t way[MAX_WRITES];
    memcpy(way, co, p->n_writes * sizeof *way);
    for (uint32_t v = 0; v < p->n_writes; v++)
      if (p->strong[w] >> v & 1)
        put_before(p, way, v, w);
    if (!way[w] && orders(p, way))
      *last |= UINT64_C(1) << w;
  }
  return true;
}

/* ------------------------------------------------------------------ the execution */

static bool places_judged(weak_judge *j, const matrix *base) {
  uint32_t n_locations = j->g->n_locations, most = 0;
  for (uint32_t l = 0; l < n_locations; l++)
    if (j->first[l + 1] - j->first[l] > most)
      most = j->first[l + 1] - j->first[l];
  uint32_t words = (most + 63) / 64;
  place p = {.j = j, .base = base, .words = words, .com = {.words = words}};
  uint64_t *space = malloc(((size_t)most * (2 + words) + j->words) * sizeof *space);
  if (!space && most) {
    j->limit = "memory";
    return false;
  }
  p.before = space;
  p.com.bits = space + most;
  p.caused = space + most + (size_t)most * words;
  p.number = (uint32_t *)(p.caused + j->words);
  bool ok = true;
  for (uint32_t l = 0; l < n_locations && ok; l++) {
    p.event = j->members + j->first[l];
    p.n = j->first[l + 1] - j->first[l];
    j->last[l] = 0;
    if (p.n)
      ok = place_judged(&p, j->tell != NULL, &j->last[l]);
    if (p.n && ok && j->tell)
      j->racy |= races(&p);
  }
  free(space);
  return ok;
}

/* Tries both ways for each pair of morally strong fence.sc that base causality leaves open. */
static bool fences_ordered(weak_judge *j, const matrix *base) {
  for (uint32_t i = 0; i < j->n_events; i++)
    if (at(j, i)->sc && has(base, i, i)) /* Fence-SC */
      return false;
  for (uint32_t i = 0; i < j->n_events; i++)
    for (uint32_t k = i + 1; k < j->n_events && at(j, i)->sc; k++) {
      if (!at(j, k)->sc || !strong_pair(j, i, k) || has(base, i, k) || has(base, k, i))
        continue;
      size_t bytes = (size_t)j->n * j->words * sizeof *base->bits;
      matrix way = {malloc(bytes), j->words};
      if (!way.bits) {
        j->limit = "memory";
        return false;
      }
      memcpy(way.bits, base->bits, bytes);
      bool usual = j->node[i] < j->node[k]; /* as in the run */
      close_edge(j, &way, usual ? i : k, usual ? k : i);
      bool one = fences_ordered(j, &way), other = false;
      if (!one || j->tell) {
        memcpy(way.bits, base->bits, bytes);
        close_edge(j, &way, usual ? k : i, usual ? i : k);
        other = fences_ordered(j, &way);
      }
      free(way.bits);
      return one || other;
    }
  if (!places_judged(j, base))
    return false;
  if (j->tell)
    j->tell(j->user, j->last);
  return true;
}

/* Numbers the events: threads one after another, each in program order. False: too many. */
static bool number_events(weak_judge *j) {
  const weak_graph *g = j->g;
  uint32_t n = 0, writes = 0;
  if (g->n_threads > j->busy_bytes) {
    free(j->busy);
    j->busy = malloc(j->busy_bytes = 2 * g->n_threads);
    if (!j->busy) {
      j->busy_bytes = 0;
      j->limit = "memory";
      return false;
    }
  }
  memset(j->busy, 0, g->n_threads);
  for (uint32_t i = 0; i < g->n_nodes; i++)
    if (g->nodes[i].kind < WEAK_FENCE && weak_is_shared(g, g->nodes[i].location) &&
        (!j->part->in || j->part->in[i]))
      j->busy[g->nodes[i].thread] = 1;
  for (uint32_t i = 0; i < g->n_nodes; i++)
    n += is_in(j, i);
  if (n > MAX_EVENTS) {
    j->limit = "more accesses to shared locations than are judged";
    return false;
  }
  j->n_events = n;
  j->n = n + g->n_barriers;
  j->words = (j->n + 63) / 64;
  size_t bits = (size_t)j->n * j->words;
  size_t need = (2 * bits + g->n_locations) * sizeof(uint64_t) +
                ((size_t)3 * n + g->n_nodes + g->n_locations + 2) * sizeof(uint32_t);
  if (need > j->block_bytes) {
    free(j->block);
    j->block = malloc(j->block_bytes = 2 * need);
    if (!j->block) {
      j->block_bytes = 0;
      j->limit = "memory";
      return false;
    }
  }
  j->observed = (matrix){j->block, j->words};
  memset(j->block, 0, 2 * bits * sizeof(uint64_t));
  j->last = (uint64_t *)j->block + 2 * bits;
  j->node = (uint32_t *)(j->last + g->n_locations);
  j->local = j->node + n;
  j->members = j->local + n;
  j->event_of = j->members + n;
  j->first = j->event_of + g->n_nodes;
  memset(j->first, 0, (g->n_locations + 2) * sizeof *j->first);
  memset(j->event_of, 0xff, g->n_nodes * sizeof *j->event_of);
  n = 0;
  for (uint32_t t = 0; t < g->n_threads; t++)
    for (uint32_t i = g->threads[t].run == g->run ? g->threads[t].first : WEAK_NONE; i != WEAK_NONE;
         i = g->nodes[i].next)
      if (is_in(j, i)) {
        j->node[n] = i;
        j->event_of[i] = n++;
        if (g->nodes[i].location != WEAK_NONE)
          j->first[g->nodes[i].location + 2]++;
      }
  for (uint32_t l = 0; l < g->n_locations; l++)
    j->first[l + 2] += j->first[l + 1]; /* now first[l + 1] is where l begins, and grows to where it ends */
  for (uint32_t e = 0; e < n; e++) {
    uint32_t l = g->nodes[j->node[e]].location;
    if (l == WEAK_NONE)
      continue;
    j->members[j->first[l + 1]++] = e;
  }
  for (uint32_t l = 0; l < g->n_locations; l++) {
    writes = 0;
    for (uint32_t k = j->first[l]; k < j->first[l + 1]; k++) {
      j->local[j->members[k]] = k - j->first[l];
      writes += at(j, j->members[k])->kind == WEAK_WRITE;
    }
    if (writes > MAX_WRITES) {
      j->limit = "more writes of one location than are judged";
      return false;
    }
  }
  return true;
}

bool weak_judged(weak_judge *j, const weak_part *p, void (*tell)(void *user, const uint64_t *last),
                 void *user) {
  j->part = p;
  j->g = p->graph;
  j->tell = tell;
  j->racy = false;
  j->user = user;
  j->work += j->g->n_nodes;
  if (!number_events(j))
    return false;
  j->work += (uint64_t)j->n * j->n * j->words;
  matrix base = {(uint64_t *)j->block + (size_t)j->n * j->words, j->words};
  observe(j);
  begin_base(j, &base);
  return fences_ordered(j, &base);
}
