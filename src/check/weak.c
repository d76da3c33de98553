/* weak.c: which executions are tried. A plan is a set of decisions: this read takes that write. Plans grow by
 * one decision at a time, in every order, from the graph of a run that followed the plan so far.
 *
 * Why that finds every execution that the model allows: values do not come out of thin air, so the events of
 * an execution can be put in an order in which reads-from and dependencies only lead forward. Deciding its
 * reads in that order, each run has the next read and the write it takes, with the right value, whatever the
 * reads that are still open return.
 *
 * Only what is certain is judged on the way: the events of a thread before its first open read, reads that
 * are decided, and the writes they take. The axioms never allow more when events are added.
 */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/rng.h"
#include "check/weak_graph.h"

enum {
  DEFAULT_EVENTS = 1 << 16,
  MAX_DECISIONS = 256,
  TRIES = 32,
  MOST_WORK = 1 << 26 /* of the judge, for reads that stray: a tenth of a second */
};

typedef struct decision {
  uint32_t thread, name; /* the read */
  uint32_t location;
  uint32_t from_thread, from_name; /* the write; WEAK_INITIAL */
} decision;

typedef struct plan {
  uint32_t parent; /* WEAK_NONE: nothing is decided */
  uint32_t depth;
  uint64_t hash; /* of the set */
  decision last;
} plan;

/* A run that is to be done. */
typedef struct order {
  uint32_t plan, depth, tries;
  weak_run run;
  uint64_t (*values)[2]; /* for each decision, the last one first */
} order;

/* An execution in which a read takes a later write of a circle of threads: allowed if no write of the circle
 * depends on what was read. It is found out by other values for one read after another. */
typedef struct suspect {
  struct suspect *next;
  uint32_t plan;
  weak_graph graph; /* a copy, without maps */
  uint32_t *source;
  uint64_t *last; /* n_last sets of graph.n_locations */
  uint32_t n_last;
  uint32_t *reads, n_reads, at; /* nodes to be tried */
  bool racy;
  bool *depends; /* [read * n_nodes + write] */
  order order;
} suspect;

struct weak {
  weak_options options;
  weak_graph graph;
  weak_judge *judge;
  base_rng rng;
  plan *plans;
  uint32_t n_plans, plans_capacity;
  order *orders; /* a stack */
  uint32_t n_orders, orders_capacity;
  weak_map seen;
  suspect *suspects;
  uint64_t n_executions;
  uint32_t fruitless; /* walks since the last execution */
  bool begun, failed, probing, racy;
  const char *unjudged;
  /* the run at hand */
  order now;
  decision decisions[MAX_DECISIONS];
  uint32_t sources[SIM_WARP];
  bool early;
  /* while a graph is looked at */
  uint32_t *source;
  uint8_t *in;
  uint32_t *writes, *first; /* those of location l, in the order of nodes: writes[first[l]] to first[l + 1] */
  uint32_t space, location_space;
  suspect *leaf;
};

/* ------------------------------------------------------------------ plans */

static uint64_t mix(uint64_t z) {
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

static uint64_t hash_of(const decision *d) {
  return mix(mix((uint64_t)d->thread << 32 | d->name) +
             mix((uint64_t)d->from_thread << 32 | d->from_name) * 3);
}

/* The plan with one decision more; WEAK_NONE: no memory. */
static uint32_t extend(weak *w, uint32_t parent, const decision *d) {
  w->failed |= !BASE_ROOM(w->plans, w->n_plans, w->plans_capacity);
  if (w->failed)
    return WEAK_NONE;
  plan *p = &w->plans[w->n_plans];
  *p = (plan){.parent = parent, .depth = 1, .hash = hash_of(d), .last = *d};
  if (parent != WEAK_NONE) {
    p->depth += w->plans[parent].depth;
    p->hash += w->plans[parent].hash;
  }
  return w->n_plans++;
}

static uint32_t depth_of(const weak *w, uint32_t p) {
  return p == WEAK_NONE ? 0 : w->plans[p].depth;
}

static bool make_order(weak *w, order *o, uint32_t p, weak_run run) {
  *o = (order){.plan = p, .depth = depth_of(w, p), .run = run};
  o->values = calloc(o->depth + 1, sizeof *o->values);
  w->failed |= !o->values;
  return !w->failed;
}

static void push(weak *w, const order *o) {
  w->failed |= !BASE_ROOM(w->orders, w->n_orders, w->orders_capacity);
  if (w->failed)
    free(o->values);
  else
    w->orders[w->n_orders++] = *o;
}

/* ------------------------------------------------------------------ what a graph says */

static const uint64_t *value_of(const weak_graph *g, uint32_t node, uint32_t location) {
  return node == WEAK_INITIAL ? g->locations[location].initial : g->nodes[node].value;
}

static bool is_open(const weak *w, uint32_t node) {
  return w->graph.nodes[node].kind == WEAK_READ && w->source[node] == WEAK_UNDECIDED;
}

/* The node of a decision's read and of its write; false: the run has none such. */
static bool find(const weak_graph *g, const decision *d, uint32_t *read, uint32_t *from) {
  *read = weak_graph_node(g, d->thread, d->name);
  *from = d->from_thread == WEAK_INITIAL ? WEAK_INITIAL : weak_graph_node(g, d->from_thread, d->from_name);
  if (*read == WEAK_NONE || g->nodes[*read].kind != WEAK_READ || g->nodes[*read].location != d->location)
    return false;
  return *from == WEAK_INITIAL || (*from != WEAK_NONE && g->nodes[*from].kind == WEAK_WRITE &&
                                   g->nodes[*from].location == d->location);
}

/* Marks what is certain while some reads are open. */
static void mark_certain(weak *w) {
  const weak_graph *g = &w->graph;
  memset(w->in, 0, g->n_nodes);
  for (uint32_t t = 0; t < g->n_threads; t++) {
    uint32_t i = g->threads[t].run == g->run ? g->threads[t].first : WEAK_NONE;
    for (; i != WEAK_NONE && !is_open(w, i); i = g->nodes[i].next)
      w->in[i] = 1;
  }
  for (uint32_t i = 0; i < g->n_nodes; i++) {
    if (g->nodes[i].kind != WEAK_READ || w->source[i] == WEAK_UNDECIDED ||
        !weak_is_shared(g, g->nodes[i].location))
      continue;
    w->in[i] = 1;
    if (w->source[i] != WEAK_INITIAL)
      w->in[w->source[i]] = 1;
    if (g->nodes[i].mate != WEAK_NONE)
      w->in[g->nodes[i].mate] = 1;
  }
}

static bool may_be(weak *w, bool whole) {
  if (w->options.max_work && weak_judge_work(w->judge) > w->options.max_work) {
    w->unjudged = "more executions than are tried";
    return false;
  }
  if (!whole)
    mark_certain(w);
  weak_part p = {.graph = &w->graph,
                 .in = whole ? NULL : w->in,
                 .source = w->source,
                 .as_run = w->options.decisions != 0};
  bool ok = weak_judged(w->judge, &p, NULL, NULL);
  if (weak_judge_limit(w->judge))
    w->unjudged = weak_judge_limit(w->judge);
  return ok;
}

/* ------------------------------------------------------------------ executions, and those under suspicion */

static void suspect_free(suspect *s) {
  if (!s)
    return;
  weak_graph_free(&s->graph);
  free(s->source);
  free(s->last);
  free(s->reads);
  free(s->depends);
  free(s->order.values);
  free(s);
}

static void keep_last(void *user, const uint64_t *last) {
  weak *w = user;
  suspect *s = w->leaf;
  size_t n = w->graph.n_locations;
  uint64_t *more = realloc(s->last, (s->n_last + 1) * (n + 1) * sizeof *more);
  if (!more) {
    w->failed = true;
    return;
  }
  memcpy(more + s->n_last++ * n, last, n * sizeof *more);
  s->last = more;
}

static void tell(weak *w, suspect *s) {
  w->n_executions++;
  w->racy |= s->racy;
  w->fruitless = 0;
  for (uint32_t i = 0; i < s->n_last && w->options.execution; i++)
    w->options.execution(w->options.user,
                         &(weak_execution){&s->graph, s->last + (size_t)i * s->graph.n_locations});
  if (!w->options.show)
    return;
  order o = s->order;
  o.run = WEAK_SHOW;
  s->order.values = NULL;
  push(w, &o);
}

/* Whether edges from reads to writes (dependencies, or program order where depends is NULL) and from writes
 * to the reads that take them make a circle; `on`: nodes that are on one, or behind one. */
static bool circular(const suspect *s, uint8_t *on) {
  const weak_graph *g = &s->graph;
  memset(on, 1, g->n_nodes);
  for (bool moves = true; moves;) {
    moves = false;
    for (uint32_t i = 0; i < g->n_nodes; i++) {
      const weak_node *n = &g->nodes[i];
      bool waits = n->kind == WEAK_READ && s->source[i] < WEAK_UNDECIDED && on[s->source[i]];
      if (s->depends && n->kind == WEAK_WRITE)
        for (uint32_t k = 0; k < s->n_reads; k++)
          waits |= s->depends[(size_t)k * g->n_nodes + i] && on[s->reads[k]];
      if (!s->depends) /* the event before it */
        for (uint32_t k = g->threads[n->thread].first; k != i; k = g->nodes[k].next)
          waits |= on[k] != 0;
      if (on[i] && !waits) {
        on[i] = 0;
        moves = true;
      }
    }
  }
  return memchr(on, 1, g->n_nodes) != NULL;
}

static bool copy_graph(weak_graph *to, const weak_graph *g) {
  *to = *g;
  to->thread_of = to->location_at = to->node_of = to->site_of = to->times = (weak_map){0};
  to->meeting = to->met = (weak_map){0};
  to->nodes = malloc((g->n_nodes + 1) * sizeof *g->nodes);
  to->threads = malloc((g->n_threads + 1) * sizeof *g->threads);
  to->locations = malloc((g->n_locations + 1) * sizeof *g->locations);
  if (!to->nodes || !to->threads || !to->locations)
    return false;
  memcpy(to->nodes, g->nodes, g->n_nodes * sizeof *g->nodes);
  memcpy(to->threads, g->threads, g->n_threads * sizeof *g->threads);
  memcpy(to->locations, g->locations, g->n_locations * sizeof *g->locations);
  return true;
}

/* All reads are decided. */
static void judge_leaf(weak *w, uint32_t p, const order *like) {
  const weak_graph *g = &w->graph;
  suspect *s = calloc(1, sizeof *s);
  w->leaf = s;
  w->failed |= !s || !copy_graph(&s->graph, g) || !(s->source = malloc((g->n_nodes + 1) * sizeof *s->source));
  uint8_t *on = malloc(g->n_nodes + 1);
  w->failed |= !on;
  if (w->failed)
    goto out;
  memcpy(s->source, w->source, g->n_nodes * sizeof *s->source);
  weak_part part = {.graph = g, .source = w->source, .as_run = w->options.decisions != 0};
  if (!weak_judged(w->judge, &part, keep_last, w) || w->failed || !make_order(w, &s->order, p, WEAK_TRY))
    goto out;
  s->racy = weak_judge_racy(w->judge);
  memcpy(s->order.values, like->values, s->order.depth * sizeof *s->order.values);
  s->plan = p;
  if (!circular(s, on)) {
    tell(w, s);
    goto out;
  }
  s->reads = malloc((g->n_nodes + 1) * sizeof *s->reads);
  for (uint32_t i = 0; i < g->n_nodes && s->reads; i++)
    if (on[i] && g->nodes[i].kind == WEAK_READ && weak_is_shared(g, g->nodes[i].location))
      s->reads[s->n_reads++] = i;
  s->depends = calloc((size_t)s->n_reads * g->n_nodes + 1, sizeof *s->depends);
  w->failed |= !s->reads || !s->depends;
  free(on);
  s->next = w->suspects;
  w->suspects = s;
  return;
out:
  suspect_free(s);
  free(on);
}

/* Which decision of a plan is on this read, from the last one on; WEAK_NONE: it is as it came. */
static uint32_t decides_on(const weak *w, uint32_t p, const weak_node *read) {
  for (uint32_t k = 0; p != WEAK_NONE; p = w->plans[p].parent, k++)
    if (w->plans[p].last.thread == read->thread && w->plans[p].last.name == read->name)
      return k;
  return WEAK_NONE;
}

/* Another value for the read that is tried. */
static void disturb(weak *w, suspect *s, order *o) {
  const weak_node *n = &s->graph.nodes[s->reads[s->at]];
  uint32_t bytes = s->graph.locations[n->location].place.bytes;
  if (!make_order(w, o, s->plan, WEAK_TRY))
    return;
  memcpy(o->values, s->order.values, o->depth * sizeof *o->values);
  uint32_t k = decides_on(w, s->plan, n);
  if (k != WEAK_NONE)
    o->values[k][0] ^= UINT64_C(0x5a5a5a5a5a5a5a5a) >> (bytes < 8 ? 64 - 8 * bytes : 0);
}

/* The run with another value is over: what differs depends on the read. What follows a read that no plan
 * decides on is taken to. */
static void compare(weak *w, bool ended) {
  suspect *s = w->suspects;
  const weak_graph *g = &s->graph, *h = &w->graph;
  const weak_node *r = &g->nodes[s->reads[s->at]];
  bool tried = decides_on(w, s->plan, r) != WEAK_NONE;
  for (uint32_t i = 0; i < g->n_nodes; i++) {
    const weak_node *a = &g->nodes[i];
    if (a->kind != WEAK_WRITE || a->thread != r->thread || a->number < r->number)
      continue;
    uint32_t k = ended ? weak_graph_node(h, a->thread, a->name) : WEAK_NONE;
    const weak_node *b = k == WEAK_NONE ? NULL : &h->nodes[k];
    s->depends[(size_t)s->at * g->n_nodes + i] = !tried || !b || b->kind != a->kind ||
                                                 b->location != a->location ||
                                                 memcmp(b->value, a->value, sizeof a->value) != 0;
  }
  if (++s->at < s->n_reads)
    return;
  w->suspects = s->next;
  uint8_t *on = malloc(g->n_nodes + 1);
  w->failed |= !on;
  if (on && !circular(s, on))
    tell(w, s);
  free(on);
  suspect_free(s);
}

/* ------------------------------------------------------------------ growing plans */

/* What a read may take is numbered from 0, the initial value, on: its location's writes. WEAK_NONE: not this
 * one, as far as the order of its own thread goes. */
static uint32_t n_candidates(const weak *w, uint32_t read) {
  uint32_t l = w->graph.nodes[read].location;
  return 1 + w->first[l + 1] - w->first[l];
}

static uint32_t candidate(const weak *w, uint32_t read, uint32_t k) {
  const weak_node *r = &w->graph.nodes[read];
  if (!k)
    return WEAK_INITIAL;
  uint32_t write = w->writes[w->first[r->location] + k - 1];
  const weak_node *x = &w->graph.nodes[write];
  return x->thread != r->thread || x->number < r->number ? write : WEAK_NONE;
}

static decision decide(const weak_graph *g, uint32_t read, uint32_t write) {
  const weak_node *r = &g->nodes[read];
  decision d = {.thread = r->thread, .name = r->name, .location = r->location, .from_thread = WEAK_INITIAL};
  if (write != WEAK_INITIAL)
    d.from_thread = g->nodes[write].thread, d.from_name = g->nodes[write].name;
  return d;
}

/* `o`: the values that the run at hand had for plan p. The plan with one decision more: by this graph if the
 * read took that value anyhow, else by a run. */
static void explore(weak *w, uint32_t p, const order *o);

static void try(weak *w, uint32_t p, const order *o, uint32_t read, uint32_t write) {
  const weak_graph *g = &w->graph;
  decision d = decide(g, read, write);
  uint64_t hash = (p == WEAK_NONE ? 0 : w->plans[p].hash) + hash_of(&d);
  if (weak_map_get(&w->seen, hash) != WEAK_NONE)
    return;
  w->failed |= !weak_map_set(&w->seen, hash, 1);
  const uint64_t *value = value_of(g, write, d.location);
  bool same = !memcmp(value, g->nodes[read].value, sizeof g->nodes[read].value);
  order next;
  uint32_t child = depth_of(w, p) < MAX_DECISIONS ? extend(w, p, &d) : WEAK_NONE;
  if (child == WEAK_NONE) {
    w->unjudged = "more reads of shared locations than are decided on";
    return;
  }
  if (!make_order(w, &next, child, WEAK_TRY))
    return;
  memcpy(next.values[0], value, sizeof next.values[0]);
  memcpy(next.values + 1, o->values, o->depth * sizeof *next.values);
  if (!same) {
    push(w, &next);
    return;
  }
  w->source[read] = write;
  if (may_be(w, false))
    explore(w, child, &next);
  w->source[read] = WEAK_UNDECIDED;
  free(next.values);
}

static void explore(weak *w, uint32_t p, const order *o) {
  const weak_graph *g = &w->graph;
  bool all = true;
  uint32_t reads = 0;
  for (uint32_t r = 0; r < g->n_nodes; r++)
    reads += is_open(w, r);
  if (w->options.max_reads && reads > w->options.max_reads)
    w->unjudged = "more executions than are tried";
  for (uint32_t r = 0; r < g->n_nodes && !w->failed && !w->unjudged; r++) {
    if (!is_open(w, r))
      continue;
    all = false;
    for (uint32_t k = 0; k < n_candidates(w, r) && !w->unjudged; k++)
      if (candidate(w, r, k) != WEAK_NONE)
        try(w, p, o, r, candidate(w, r, k));
  }
  if (all && !w->unjudged)
    judge_leaf(w, p, o);
}

/* ------------------------------------------------------------------ at random */

/* Adds the decision that `read` takes `write` to plan *p and its values. False: a run is needed, and ordered.
 */
static bool settled(weak *w, uint32_t *p, order *o, uint32_t read, uint32_t write) {
  const weak_graph *g = &w->graph;
  decision d = decide(g, read, write);
  order next;
  *p = depth_of(w, *p) < MAX_DECISIONS ? extend(w, *p, &d) : WEAK_NONE;
  if (*p == WEAK_NONE || !make_order(w, &next, *p, WEAK_TRY))
    return false;
  const uint64_t *value = value_of(g, write, d.location);
  memcpy(next.values[0], value, sizeof next.values[0]);
  memcpy(next.values + 1, o->values, o->depth * sizeof *next.values);
  if (memcmp(value, g->nodes[read].value, sizeof g->nodes[read].value)) {
    push(w, &next);
    return false;
  }
  free(o->values);
  *o = next;
  return true;
}

/* Decides on every read, until a run is needed. */
static void wander(weak *w, uint32_t p, order *o) {
  const weak_graph *g = &w->graph;
  for (;;) {
    uint32_t open = 0, read = WEAK_NONE, n = 0, write = WEAK_NONE;
    for (uint32_t r = 0; r < g->n_nodes; r++)
      if (is_open(w, r) && !base_rng_below(&w->rng, ++open))
        read = r;
    if (read == WEAK_NONE) {
      judge_leaf(w, p, o);
      return;
    }
    for (uint32_t k = 0; k < n_candidates(w, read); k++) { /* one of those that may be */
      uint32_t x = candidate(w, read, k);
      if (x == WEAK_NONE)
        continue;
      w->source[read] = x;
      if (may_be(w, false) && !base_rng_below(&w->rng, ++n))
        write = x;
    }
    w->source[read] = write == WEAK_NONE ? WEAK_UNDECIDED : write;
    if (write == WEAK_NONE || w->failed || !settled(w, &p, o, read, write))
      return;
  }
}

/* Whether the model allows that this read takes another value, with all others as they are. */
static bool strays(weak *w, uint32_t read, uint32_t write) {
  const weak_graph *g = &w->graph;
  const weak_node *r = &g->nodes[read];
  if (write != WEAK_INITIAL && w->options.stale && write > read)
    return false;
  if (w->unjudged || weak_judge_work(w->judge) > MOST_WORK)
    return false;
  if (!memcmp(value_of(g, write, r->location), r->value, sizeof r->value))
    return false;
  uint32_t usual = w->source[read];
  w->source[read] = write;
  bool ok = may_be(w, true);
  w->source[read] = usual;
  return ok;
}

/* The nth pair that strays: stale values first, then those that are stored later. */
static bool nth_stray(weak *w, uint32_t *read, uint32_t *write) {
  const weak_graph *g = &w->graph;
  uint64_t left = w->options.nth;
  uint32_t n = g->n_nodes;
  for (uint32_t i = 0; i < 2 * n; i++)
    for (uint32_t k = 0, r = i % n; w->in[r] && k < n_candidates(w, r); k++) {
      uint32_t x = candidate(w, r, k);
      bool later = k && x > r;
      if (w->failed || w->unjudged)
        return false;
      if (x != WEAK_NONE && later == (i >= n) && strays(w, r, x) && !--left) {
        *read = r, *write = x;
        return true;
      }
    }
  return false;
}

static bool random_stray(weak *w, uint32_t *read, uint32_t *write) {
  const weak_graph *g = &w->graph;
  for (uint32_t tries = 0; tries < TRIES && !w->failed && !w->unjudged; tries++) {
    uint32_t open = 0, n = 0;
    for (uint32_t r = 0; r < g->n_nodes; r++)
      if (w->in[r] && !base_rng_below(&w->rng, ++open))
        *read = r;
    if (!open)
      return false;
    for (uint32_t k = 0; k < n_candidates(w, *read); k++)
      if (candidate(w, *read, k) != WEAK_NONE && !base_rng_below(&w->rng, ++n))
        *write = candidate(w, *read, k);
    if (strays(w, *read, *write))
      return true;
  }
  return false;
}

/* Decides on one read more, as long as the plan wants more and there is one. */
static void stray(weak *w, uint32_t p, order *o) {
  const weak_graph *g = &w->graph;
  uint32_t read = WEAK_NONE, write = WEAK_NONE;
  for (uint32_t i = 0; i < g->n_nodes; i++) {
    bool open = is_open(w, i);
    w->in[i] = open;
    if (open)
      w->source[i] = g->nodes[i].source;
  }
  bool more = depth_of(w, p) < (w->options.nth ? 1 : w->options.decisions);
  if (more && w->options.nth && !nth_stray(w, &read, &write))
    w->options.nth = 0;
  if (more && (w->options.nth || random_stray(w, &read, &write)))
    settled(w, &p, o, read, write);
  else if (p != WEAK_NONE)
    judge_leaf(w, p, o);
}

/* ------------------------------------------------------------------ runs */

weak *weak_new(const weak_options *o) {
  weak *w = calloc(1, sizeof *w);
  if (!w)
    return NULL;
  w->options = *o;
  w->graph.max_nodes = o->max_events ? o->max_events : DEFAULT_EVENTS;
  w->graph.strong_only = o->stale;
  base_rng_seed(&w->rng, o->seed);
  w->judge = weak_judge_new();
  if (w->judge)
    return w;
  weak_free(w);
  return NULL;
}

void weak_free(weak *w) {
  if (!w)
    return;
  while (w->suspects) {
    suspect *s = w->suspects;
    w->suspects = s->next;
    suspect_free(s);
  }
  for (uint32_t i = 0; i < w->n_orders; i++)
    free(w->orders[i].values);
  free(w->orders);
  free(w->plans);
  free(w->now.values);
  free(w->source);
  free(w->in);
  free(w->writes);
  free(w->first);
  weak_map_free(&w->seen);
  weak_graph_free(&w->graph);
  weak_judge_free(w->judge);
  free(w);
}

weak_run weak_next(weak *w) {
  free(w->now.values);
  w->now = (order){0};
  bool tired = w->options.decisions && weak_judge_work(w->judge) > MOST_WORK;
  if (w->failed || w->unjudged || (tired && !w->n_orders && !w->suspects))
    return WEAK_NO_RUN;
  w->probing = w->suspects != NULL;
  if (w->probing) {
    disturb(w, w->suspects, &w->now);
  } else if (w->n_orders) {
    w->now = w->orders[--w->n_orders];
  } else if (!w->begun || (!w->options.exhaustive && w->fruitless < TRIES)) {
    w->begun = true;
    w->fruitless++;
    if (!w->options.exhaustive) /* plans of other walks are not needed */
      w->n_plans = 0;
    make_order(w, &w->now, WEAK_NONE, WEAK_TRY);
  } else {
    return WEAK_NO_RUN;
  }
  uint32_t k = 0;
  for (uint32_t p = w->now.plan; p != WEAK_NONE && !w->failed; p = w->plans[p].parent)
    w->decisions[k++] = w->plans[p].last;
  memset(w->sources, 0xff, sizeof w->sources); /* WEAK_NONE */
  weak_graph_begin(&w->graph);
  return w->failed ? WEAK_NO_RUN : w->now.run;
}

uint32_t weak_source(weak *w, const sim_access *a) {
  uint32_t chosen = 0;
  if (w->graph.failed || w->graph.unmodelled ||
      (a->space != PTX_SPACE_GLOBAL && a->space != PTX_SPACE_SHARED))
    return 0;
  for (uint32_t lanes = a->who->lanes; lanes; lanes &= lanes - 1) {
    uint32_t i = (uint32_t)__builtin_ctz(lanes);
    uint32_t thread = weak_graph_thread(&w->graph, a->who, i),
             location = weak_graph_location(&w->graph, a, i);
    if (thread == WEAK_NONE || location == WEAK_NONE)
      break;
    weak_graph_initial(&w->graph, location, a->read[i]);
    uint32_t name = w->now.depth ? weak_graph_name(&w->graph, a, thread) : 0;
    for (uint32_t k = 0; k < w->now.depth; k++) {
      const decision *d = &w->decisions[k];
      if (d->thread != thread || d->name != name || d->location != location)
        continue;
      memcpy(a->read[i], w->now.values[k], sizeof a->read[i]);
      w->sources[i] = WEAK_UNDECIDED;
      w->early = d->from_thread != WEAK_INITIAL &&
                 weak_graph_node(&w->graph, d->from_thread, d->from_name) == WEAK_NONE;
      chosen |= UINT32_C(1) << i;
    }
  }
  return chosen;
}

bool weak_is_early(const weak *w) {
  return w->early;
}

void weak_event(weak *w, const sim_event *e) {
  weak_graph_event(&w->graph, e, w->sources);
  if (e->kind == SIM_EVENT_ACCESS)
    memset(w->sources, 0xff, sizeof w->sources); /* WEAK_NONE */
}

/* Puts the decisions into the graph. 1: it follows the plan; 0: it does if other values are read; -1: it
 * cannot. */
static int settle(weak *w) {
  weak_graph *g = &w->graph;
  int follows = 1;
  for (uint32_t k = 0; k < w->now.depth; k++) {
    uint32_t read, from;
    if (!find(g, &w->decisions[k], &read, &from))
      return -1;
    const uint64_t *value = value_of(g, from, w->decisions[k].location);
    if (memcmp(value, w->now.values[k], sizeof w->now.values[k]))
      follows = 0;
    memcpy(w->now.values[k], value, sizeof w->now.values[k]);
    w->source[read] = from;
  }
  return follows;
}

static bool make_space(weak *w) {
  uint32_t n = w->graph.n_nodes + 1, l = w->graph.n_locations + 2;
  if (n > w->space) {
    free(w->source);
    free(w->in);
    free(w->writes);
    w->source = malloc(2 * n * sizeof *w->source);
    w->in = malloc(2 * n);
    w->writes = malloc(2 * n * sizeof *w->writes);
    w->space = 2 * n;
    w->failed |= !w->source || !w->in || !w->writes;
  }
  if (l > w->location_space) {
    free(w->first);
    w->first = malloc(2 * l * sizeof *w->first);
    w->location_space = 2 * l;
    w->failed |= !w->first;
  }
  return !w->failed;
}

/* Sorts the writes by location. */
static void gather_writes(weak *w) {
  const weak_graph *g = &w->graph;
  memset(w->first, 0, (g->n_locations + 2) * sizeof *w->first);
  for (uint32_t i = 0; i < g->n_nodes; i++)
    if (g->nodes[i].kind == WEAK_WRITE)
      w->first[g->nodes[i].location + 2]++;
  for (uint32_t l = 0; l < g->n_locations; l++)
    w->first[l + 2] += w->first[l + 1]; /* now first[l + 1] is where l begins, and grows to where it ends */
  for (uint32_t i = 0; i < g->n_nodes; i++)
    if (g->nodes[i].kind == WEAK_WRITE)
      w->writes[w->first[g->nodes[i].location + 1]++] = i;
}

void weak_ran(weak *w, bool ended) {
  weak_graph *g = &w->graph;
  w->failed |= g->failed;
  if (g->unmodelled)
    w->unjudged = g->unmodelled;
  if (w->failed || w->unjudged || w->now.run != WEAK_TRY)
    return;
  if (w->probing) {
    compare(w, ended);
    return;
  }
  if (!ended || !make_space(w))
    return;
  gather_writes(w);
  for (uint32_t k = 0, read, from; k < w->now.depth; k++)
    if (find(g, &w->decisions[k], &read, &from))
      g->locations[w->decisions[k].location].planned =
          true; /* judged, even where no other thread comes in this run */
  for (uint32_t i = 0; i < g->n_nodes; i++) {
    bool open = g->nodes[i].kind == WEAK_READ && weak_is_shared(g, g->nodes[i].location);
    w->source[i] = open ? WEAK_UNDECIDED : g->nodes[i].source;
  }
  int follows = settle(w);
  if (!follows && ++w->now.tries <= w->now.depth + 1) { /* a value depends on others: once more */
    push(w, &w->now);
    w->now.values = NULL;
  }
  if (follows <= 0 || !may_be(w, false))
    return;
  if (w->options.exhaustive)
    explore(w, w->now.plan, &w->now);
  else if (w->options.decisions)
    stray(w, w->now.plan, &w->now);
  else
    wander(w, w->now.plan, &w->now);
}

const char *weak_unjudged(const weak *w) {
  return w->failed ? "memory" : w->unjudged;
}

bool weak_races(const weak *w) {
  return w->racy;
}

uint64_t weak_executions(const weak *w) {
  return w->n_executions;
}

uint32_t weak_values(const weak_execution *x, const weak_place *place, uint64_t (*values)[2], uint32_t max) {
  const weak_graph *g = x->graph;
  uint32_t n = 0, k = 0;
  for (uint32_t l = 0; l < g->n_locations; l++) {
    const weak_location *p = &g->locations[l];
    if (p->place.space != place->space || p->place.block != place->block ||
        p->place.address != place->address || p->place.bytes != place->bytes || p->run != g->run)
      continue;
    if (!weak_is_shared(g, l)) {
      if (max)
        memcpy(values[n++], value_of(g, p->last_write, l), sizeof values[0]);
      return n;
    }
    /* in the order of threads and programs, as the judge numbered them */
    for (uint32_t t = 0; t < g->n_threads; t++)
      for (uint32_t i = g->threads[t].run == g->run ? g->threads[t].first : WEAK_NONE; i != WEAK_NONE;
           i = g->nodes[i].next)
        if (g->nodes[i].kind == WEAK_WRITE && g->nodes[i].location == l && x->last[l] >> k++ & 1 && n < max)
          memcpy(values[n++], g->nodes[i].value, sizeof values[0]);
  }
  return n;
}
