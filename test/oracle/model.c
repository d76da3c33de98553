/* model.c: the axioms of the PTX memory consistency model as relations over the events of a candidate
 * execution, and the enumeration of all candidates.
 *
 * An atomic operation is two events, its read and its write. Every order that the model leaves to the run is
 * tried: which write each read takes, the order of each pair of morally strong fence.sc, the coherence order
 * of each pair of morally strong writes. Relations that only meet on one location (coherence, communication,
 * causality of memory operations, program order on a location) are judged location by location.
 */
#include <stdlib.h>
#include <string.h>

#include "litmus.h"

enum { MAX = 64 };

typedef uint64_t set;
typedef struct relation {
  set to[MAX];
} relation;
#define BIT(i) (UINT64_C(1) << (i))

typedef enum sort { READ, WRITE, FENCE, BARRIER } sort;

typedef struct event {
  sort sort;
  bool init, strong, acquires, releases, sc, returns;
  lit_scope scope;
  int thread, op, location;
  int mate; /* the other half of an atomic operation; -1 */
} event;

typedef struct search {
  const lit_test *test;
  const lit_outcome *wanted; /* NULL: all */
  lit_set *out;
  bool found;
  int n;
  event e[MAX];
  int read_of[LIT_THREADS][LIT_OPS], write_of[LIT_THREADS][LIT_OPS];
  int source[MAX]; /* of a read */
  uint32_t value[MAX];
  uint8_t state[MAX]; /* of the evaluation: 0 not begun, 1 under way, 2 done */
  bool exists[MAX];
  bool circular;
  relation po, po_loc, ms, rf, obs, fixed; /* fixed: base causality without Fence-SC order */
  set live;
  lit_outcome outcome;
} search;

/* ------------------------------------------------------------------ relations */

/* n: how many events there are; rows behind are empty. */
static void unite(int n, relation *r, const relation *a) {
  for (int i = 0; i < n; i++)
    r->to[i] |= a->to[i];
}

static void compose(int n, relation *out, const relation *a, const relation *b) {
  relation r = {{0}};
  for (int i = 0; i < n; i++)
    for (int k = 0; k < n; k++)
      if (a->to[i] & BIT(k))
        r.to[i] |= b->to[k];
  *out = r;
}

static void close(int n, relation *r) {
  for (int k = 0; k < n; k++)
    for (int i = 0; i < n; i++)
      if (r->to[i] & BIT(k))
        r->to[i] |= r->to[k];
}

static bool irreflexive(int n, const relation *r) {
  for (int i = 0; i < n; i++)
    if (r->to[i] & BIT(i))
      return false;
  return true;
}

static bool acyclic(int n, relation r) {
  close(n, &r);
  return irreflexive(n, &r);
}

/* ------------------------------------------------------------------ events */

static int add(search *s, event e) {
  s->e[s->n] = e;
  return s->n++;
}

static void make_events(search *s) {
  const lit_test *t = s->test;
  for (uint32_t l = 0; l < t->n_locations; l++)
    add(s, (event){.sort = WRITE, .init = true, .thread = -1, .location = (int)l, .mate = -1});
  for (int i = 0; i < (int)t->n_threads; i++)
    for (int k = 0; k < (int)t->n_ops[i]; k++) {
      const lit_op *o = &t->ops[i][k];
      s->read_of[i][k] = s->write_of[i][k] = -1;
      event e = {.thread = i, .op = k, .location = -1, .mate = -1, .scope = o->scope};
      if (o->kind == LIT_BAR || o->kind == LIT_BAR_WARP) {
        e.sort = BARRIER;
        add(s, e);
        continue;
      }
      e.strong = o->order != LIT_WEAK;
      e.acquires = o->order == LIT_ACQUIRE || o->order == LIT_ACQ_REL || o->order == LIT_SC;
      e.releases = o->order == LIT_RELEASE || o->order == LIT_ACQ_REL || o->order == LIT_SC;
      if (o->order == LIT_VOLATILE) /* relaxed at system scope */
        e.scope = LIT_SYS;
      if (o->kind == LIT_FENCE) {
        e.sort = FENCE;
        e.sc = o->order == LIT_SC;
        add(s, e);
        continue;
      }
      e.location = o->location;
      event r = e, w = e;
      r.sort = READ, r.releases = false, r.returns = lit_returns(o->kind);
      w.sort = WRITE, w.acquires = false;
      if (lit_reads(o->kind))
        s->read_of[i][k] = add(s, r);
      if (lit_writes(o->kind))
        s->write_of[i][k] = add(s, w);
      if (s->read_of[i][k] >= 0 && s->write_of[i][k] >= 0) {
        s->e[s->read_of[i][k]].mate = s->write_of[i][k];
        s->e[s->write_of[i][k]].mate = s->read_of[i][k];
      }
    }
}

/* Values follow the reads-from relation and dependencies. If they go in a circle, the execution takes a value
 * out of thin air. */
static uint32_t evaluate(search *s, int i);

static bool happens(search *s, const event *e) {
  const lit_op *o = &s->test->ops[e->thread][e->op];
  if (!o->when)
    return true;
  int r = s->read_of[e->thread][o->when - 1];
  uint32_t v = evaluate(s, r);
  return s->exists[r] && v == 1;
}

static uint32_t evaluate(search *s, int i) {
  const event *e = &s->e[i];
  if (s->state[i] == 1)
    s->circular = true;
  if (s->state[i] || s->circular)
    return s->value[i];
  s->state[i] = 1;
  uint32_t v = 0;
  bool exists = true;
  if (!e->init) {
    const lit_op *o = &s->test->ops[e->thread][e->op];
    exists = happens(s, e);
    if (!exists) /* what a later store finds in the register */
      v = LIT_NOTHING;
    if (exists && e->sort == READ) {
      v = evaluate(s, s->source[i]);
    } else if (exists && e->sort == WRITE) {
      v = o->value;
      if (o->kind == LIT_ADD || o->kind == LIT_RED)
        v += evaluate(s, e->mate);
      else if (o->kind == LIT_CAS)
        exists = evaluate(s, e->mate) == o->compare;
      else if (o->from)
        v = evaluate(s, s->read_of[e->thread][o->from - 1]);
    }
  }
  s->state[i] = 2;
  s->exists[i] = exists;
  return s->value[i] = v;
}

/* ------------------------------------------------------------------ relations that do not depend on choices
 */

static bool includes(const search *s, const event *a, const event *b) {
  return a->scope != LIT_CTA || s->test->block[a->thread] == s->test->block[b->thread];
}

static bool morally_strong(const search *s, int i, int k) {
  const event *a = &s->e[i], *b = &s->e[k];
  if (i == k || a->init || b->init)
    return false;
  bool related = a->thread == b->thread || (a->strong && b->strong && includes(s, a, b) && includes(s, b, a));
  return related && (a->location < 0 || b->location < 0 || a->location == b->location);
}

/* Barriers of one thread before this one, of the same sort. */
static int barrier_number(const lit_test *t, int thread, int op) {
  int n = 0;
  for (int k = 0; k < op; k++)
    n += t->ops[thread][k].kind == t->ops[thread][op].kind;
  return n;
}

static bool same_barrier(const lit_test *t, const event *a, const event *b) {
  lit_kind kind = t->ops[a->thread][a->op].kind;
  return a->thread != b->thread && kind == t->ops[b->thread][b->op].kind &&
         t->block[a->thread] == t->block[b->thread] &&
         (kind == LIT_BAR || t->warp[a->thread] == t->warp[b->thread]) &&
         barrier_number(t, a->thread, a->op) == barrier_number(t, b->thread, b->op);
}

static void relate(search *s) {
  memset(&s->po, 0, sizeof s->po);
  memset(&s->po_loc, 0, sizeof s->po_loc);
  memset(&s->ms, 0, sizeof s->ms);
  memset(&s->rf, 0, sizeof s->rf);
  memset(&s->fixed, 0, sizeof s->fixed);
  relation release = {{0}}, acquire = {{0}}, rmw = {{0}}, barriers = {{0}};
  for (int i = 0; i < s->n; i++)
    for (int k = 0; k < s->n; k++) {
      const event *a = &s->e[i], *b = &s->e[k];
      if (i == k || !(s->live & BIT(i)) || !(s->live & BIT(k)))
        continue;
      bool before =
          a->init ? !b->init : a->thread == b->thread && i < k; /* the launch is after all of the past */
      bool one_place = a->location >= 0 && a->location == b->location;
      if (before)
        s->po.to[i] |= BIT(k);
      if (before && one_place)
        s->po_loc.to[i] |= BIT(k);
      if (morally_strong(s, i, k))
        s->ms.to[i] |= BIT(k);
      if (b->sort == READ && s->source[k] == i)
        s->rf.to[i] |= BIT(k);
      if (a->mate == k && a->sort == READ)
        rmw.to[i] |= BIT(k);
      if (a->sort == BARRIER && b->sort == BARRIER && same_barrier(s->test, a, b))
        barriers.to[i] |= BIT(k);
      if (before && !a->init && a->releases && b->sort == WRITE && b->strong &&
          (a->sort == FENCE || (a->sort == WRITE && one_place)))
        release.to[i] |= BIT(k);
      if (before && !a->init && b->acquires && a->sort == READ && a->strong && a->returns &&
          (b->sort == FENCE || (b->sort == READ && one_place)))
        acquire.to[i] |= BIT(k);
    }
  for (int i = 0; i < s->n; i++) { /* an operation that releases or acquires is a pattern by itself */
    if (s->live & BIT(i) && s->e[i].sort == WRITE && s->e[i].releases)
      release.to[i] |= BIT(i);
    if (s->live & BIT(i) && s->e[i].sort == READ && s->e[i].acquires)
      acquire.to[i] |= BIT(i);
  }
  s->obs = s->rf;
  for (int i = 0; i < s->n; i++)
    s->obs.to[i] &= s->ms.to[i];
  relation step = s->obs, chain;
  compose(s->n, &chain, &rmw, &step); /* write -> read, rmw, write -> read ... */
  for (int i = 0; i < s->n; i++) {
    compose(s->n, &step, &s->obs, &chain);
    unite(s->n, &s->obs, &step);
  }
  relation sync;
  compose(s->n, &sync, &release, &s->obs);
  compose(s->n, &sync, &sync, &acquire);
  for (int i = 0; i < s->n; i++)
    sync.to[i] &= s->ms.to[i];
  unite(s->n, &s->fixed, &s->po);
  unite(s->n, &s->fixed, &sync);
  unite(s->n, &s->fixed, &barriers);
  close(s->n, &s->fixed);
}

/* ------------------------------------------------------------------ coherence of one location */

typedef struct coherence {
  const search *s;
  int location;
  const relation *cause;
  set last; /* writes that may be the last, in some coherence order that the axioms allow */
} coherence;

static void judge(coherence *c, const relation *co) {
  const search *s = c->s;
  relation fr = {{0}}, com = s->rf, x;
  set last = 0;
  for (int i = 0; i < s->n; i++) {
    if (!(s->live & BIT(i)) || s->e[i].location != c->location) {
      com.to[i] = 0;
      continue;
    }
    if (s->e[i].sort == READ)
      fr.to[i] = co->to[s->source[i]];
    else if (!co->to[i])
      last |= BIT(i);
  }
  /* Atomicity: nothing morally strong comes between an atomic's read and its write */
  for (int i = 0; i < s->n; i++)
    if (s->live & BIT(i) && s->e[i].location == c->location && s->e[i].sort == READ && s->e[i].mate >= 0 &&
        s->live & BIT(s->e[i].mate))
      for (int k = 0; k < s->n; k++)
        if (fr.to[i] & s->ms.to[i] & BIT(k) && co->to[k] & s->ms.to[k] & BIT(s->e[i].mate))
          return;
  /* Causality */
  unite(s->n, &com, &fr);
  compose(s->n, &x, &com, c->cause);
  if (!irreflexive(s->n, &x))
    return;
  /* Sequential consistency per location */
  unite(s->n, &com, co);
  for (int i = 0; i < s->n; i++) {
    com.to[i] &= s->ms.to[i];
    if (s->e[i].location == c->location)
      com.to[i] |= s->po_loc.to[i];
  }
  if (acyclic(s->n, com))
    c->last |= last;
}

static void order_writes(coherence *c, relation co) {
  const search *s = c->s;
  close(s->n, &co);
  if (!irreflexive(s->n, &co))
    return;
  for (int i = 0; i < s->n; i++)
    for (int k = i + 1; k < s->n; k++)
      if (s->ms.to[i] & BIT(k) && s->e[i].sort == WRITE && s->e[k].sort == WRITE &&
          s->e[i].location == c->location && !(co.to[i] & BIT(k)) && !(co.to[k] & BIT(i))) {
        relation other = co;
        co.to[i] |= BIT(k);
        other.to[k] |= BIT(i);
        order_writes(c, co);
        order_writes(c, other);
        return;
      }
  judge(c, &co);
}

/* ------------------------------------------------------------------ an execution */

static void tell(search *s, const set *last, uint32_t location) {
  if (location == s->test->n_locations) {
    s->found = true;
    if (s->out)
      lit_set_add(s->out, &s->outcome);
    return;
  }
  for (int i = 0; i < s->n; i++)
    if (last[location] & BIT(i)) {
      uint32_t *slot = &s->outcome.slots[LIT_THREADS * LIT_OPS + location];
      if (s->wanted && s->wanted->slots[LIT_THREADS * LIT_OPS + location] != s->value[i])
        continue;
      *slot = s->value[i];
      tell(s, last, location + 1);
    }
}

static void order_fences(search *s, relation base) {
  close(s->n, &base);
  for (int i = 0; i < s->n; i++) /* Fence-SC: it cannot contradict causality */
    if (s->e[i].sort == FENCE && base.to[i] & BIT(i))
      return;
  for (int i = 0; i < s->n; i++)
    for (int k = i + 1; k < s->n; k++)
      if (s->e[i].sc && s->e[k].sc && s->ms.to[i] & BIT(k) && !(base.to[i] & BIT(k)) &&
          !(base.to[k] & BIT(i))) {
        relation other = base;
        base.to[i] |= BIT(k);
        other.to[k] |= BIT(i);
        order_fences(s, base);
        order_fences(s, other);
        return;
      }
  /* Causality order: base causality on one location, perhaps behind an observation */
  relation cause = base, seen;
  for (int i = 0; i < s->n; i++)
    for (int k = 0; k < s->n; k++)
      if (s->e[i].location < 0 || s->e[i].location != s->e[k].location)
        cause.to[i] &= ~BIT(k);
  compose(s->n, &seen, &s->obs, &cause);
  unite(s->n, &cause, &seen);
  set last[LIT_LOCATIONS];
  for (uint32_t l = 0; l < s->test->n_locations; l++) {
    coherence c = {.s = s, .location = (int)l, .cause = &cause};
    relation co = {{0}};
    for (int i = 0; i < s->n; i++)
      for (int k = 0; k < s->n; k++)
        if (cause.to[i] & BIT(k) && s->e[i].location == (int)l && s->e[i].sort == WRITE &&
            s->e[k].sort == WRITE)
          co.to[i] |= BIT(k); /* Coherence */
    order_writes(&c, co);
    last[l] = c.last;
    if (!c.last)
      return;
  }
  tell(s, last, 0);
}

static void judge_sources(search *s) {
  memset(s->state, 0, sizeof s->state);
  s->circular = false;
  s->live = 0;
  for (int i = 0; i < s->n; i++) {
    if (s->e[i].sort == READ || s->e[i].sort == WRITE)
      evaluate(s, i);
    else
      s->exists[i] = true;
    if (s->exists[i])
      s->live |= BIT(i);
  }
  if (s->circular)
    return;
  for (size_t k = 0; k < LIT_SLOTS; k++)
    s->outcome.slots[k] = LIT_NOTHING;
  for (int i = 0; i < s->n; i++)
    if (s->e[i].sort == READ) {
      uint32_t *slot = &s->outcome.slots[s->e[i].thread * LIT_OPS + s->e[i].op];
      if (s->exists[i] ? !s->exists[s->source[i]] : s->source[i] != s->e[i].location)
        return; /* reads what is not written; or does not read, told for the first source only */
      if (s->exists[i] && s->e[i].returns)
        *slot = s->value[i];
      if (s->wanted && s->e[i].returns && *slot != s->wanted->slots[slot - s->outcome.slots])
        return;
    }
  relate(s);
  order_fences(s, s->fixed);
}

/* A constant that is not what the read shall take. */
static bool unwanted(const search *s, int read, int write) {
  const event *r = &s->e[read], *w = &s->e[write];
  if (!s->wanted || !r->returns || s->wanted->slots[r->thread * LIT_OPS + r->op] == LIT_NOTHING)
    return false;
  const lit_op *o = w->init ? NULL : &s->test->ops[w->thread][w->op];
  if (o && (o->from || o->kind == LIT_ADD || o->kind == LIT_RED))
    return false;
  return s->wanted->slots[r->thread * LIT_OPS + r->op] != (o ? o->value : 0);
}

static void choose_sources(search *s, int from) {
  int r = from;
  while (r < s->n && s->e[r].sort != READ)
    r++;
  if (s->found && s->wanted)
    return;
  if (r == s->n) {
    judge_sources(s);
    return;
  }
  for (int w = 0; w < s->n; w++) /* the first is the initial write, event `location` */
    if (s->e[w].sort == WRITE && s->e[w].location == s->e[r].location && w != s->e[r].mate &&
        !unwanted(s, r, w)) {
      s->source[r] = w;
      choose_sources(s, r + 1);
    }
}

static bool look(const lit_test *t, const lit_outcome *wanted, lit_set *out) {
  search *s = calloc(1, sizeof *s);
  if (!s)
    abort();
  s->test = t;
  s->wanted = wanted;
  s->out = out;
  make_events(s);
  choose_sources(s, 0);
  bool found = s->found;
  free(s);
  return found;
}

void lit_allowed(const lit_test *t, lit_set *out) {
  look(t, NULL, out);
  lit_set_sort(out);
}

bool lit_allows(const lit_test *t, const lit_outcome *o) {
  return look(t, o, NULL);
}

/* ------------------------------------------------------------------ sets */

static int compare(const void *a, const void *b) {
  return memcmp(a, b, sizeof(lit_outcome));
}

void lit_set_add(lit_set *s, const lit_outcome *o) {
  if (s->n == s->capacity) {
    if (s->n)
      lit_set_sort(s);
    if (s->n * 2 >= s->capacity) {
      s->capacity = s->capacity ? 2 * s->capacity : 64;
      s->items = realloc(s->items, s->capacity * sizeof *s->items);
      if (!s->items)
        abort();
    }
  }
  s->items[s->n++] = *o;
}

void lit_set_sort(lit_set *s) {
  size_t n = 0;
  if (s->n)
    qsort(s->items, s->n, sizeof *s->items, compare);
  for (size_t i = 0; i < s->n; i++)
    if (!n || compare(&s->items[n - 1], &s->items[i]))
      s->items[n++] = s->items[i];
  s->n = n;
}

bool lit_set_has(const lit_set *s, const lit_outcome *o) {
  return s->n && bsearch(o, s->items, s->n, sizeof *s->items, compare);
}

void lit_set_free(lit_set *s) {
  free(s->items);
  *s = (lit_set){0};
}
