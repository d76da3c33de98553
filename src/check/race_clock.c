/* race_clock.c: clocks: what is known of whose past.
 *
 * A clock is a tree over the numbers of blocks: a leaf holds the steps of one, a branch has a part for each
 * value of some four bits of them, and stands only where two parts are needed. Nothing that is shared ever
 * changes: what is added makes new nodes from there up to the root, and the others are the same as before. So
 * a thousand blocks that learn from one another in turn mostly share what they know, and where two clocks
 * share a node, to join them is to look at its address. What the same two branches gave a while ago is known.
 *
 * Invariant: steps of a leaf are sorted by node; a node stands only where its time is later than those of all
 * coarser nodes above it, and coarser nodes sort before finer ones.
 */
#include <stdlib.h>
#include <string.h>

#include "check/race.h"

const uint8_t race_clauses[RACE_N_READINGS] = {
#define READING(name, clauses) clauses,
    RACE_READINGS(READING)
#undef READING
};

enum { BITS = 4, PARTS = 1 << BITS };

typedef struct leaf {
  race_clock head;
  race_step steps[];
} leaf;

typedef struct branch {
  race_clock head;
  race_clock *parts[PARTS];
} branch;

static leaf *leaf_of(race_clock *c) {
  return (leaf *)c;
}
static race_clock *const *parts_of(const race_clock *c) {
  return ((const branch *)c)->parts;
}

race_clock *race_clock_keep(race_clock *c) {
  if (c)
    c->refs++;
  return c;
}

void race_clock_drop(race_clock *c) {
  if (!c || --c->refs)
    return;
  for (int i = 0; c->bits && i < PARTS; i++)
    race_clock_drop(parts_of(c)[i]);
  free(c);
}

/* ------------------------------------------------------------------ leaves */

/* The first step at or behind a node. */
static uint32_t seek(const leaf *l, race_node node) {
  uint32_t low = 0, high = l->head.n;
  while (low < high) {
    uint32_t mid = (low + high) / 2;
    if (l->steps[mid].node < node)
      low = mid + 1;
    else
      high = mid;
  }
  return low;
}

static inline bool is_block(race_node n) {
  return !(n & 0xfff);
}
static inline bool is_warp(race_node n) {
  return !(n & 0x3f) && !is_block(n);
}
static inline uint64_t warp_of(race_node n) {
  return n >> 6;
}

static leaf *leaf_new(uint32_t block, uint32_t room) {
  leaf *l = malloc(sizeof *l + room * sizeof *l->steps);
  if (l)
    l->head = (race_clock){.refs = 1, .block = block};
  return l;
}

/* Puts steps in order at the end of a leaf, unless a coarser one says as much. */
typedef struct writer {
  leaf *to;
  uint32_t block_time, warp_time;
  uint64_t warp; /* whose time that is */
} writer;

static void put(writer *w, const race_step *s) {
  if (w->warp != warp_of(s->node))
    w->warp = warp_of(s->node), w->warp_time = 0;
  if (s->time <= w->block_time || s->time <= w->warp_time)
    return;
  if (is_block(s->node))
    w->block_time = s->time;
  else if (is_warp(s->node))
    w->warp_time = s->time;
  w->to->steps[w->to->head.n++] = *s;
}

/* Is everything of `b` known to `a`? */
static bool holds(const leaf *a, const leaf *b) {
  uint32_t i = 0, block_time = 0, warp_time = 0;
  uint64_t warp = UINT64_MAX;
  for (uint32_t k = 0; k < b->head.n; k++) {
    const race_step *s = &b->steps[k];
    for (; i < a->head.n && a->steps[i].node <= s->node; i++) {
      if (is_block(a->steps[i].node))
        block_time = a->steps[i].time;
      else if (is_warp(a->steps[i].node))
        warp = warp_of(a->steps[i].node), warp_time = a->steps[i].time;
    }
    bool known = (i && a->steps[i - 1].node == s->node && a->steps[i - 1].time >= s->time) ||
                 block_time >= s->time || (warp == warp_of(s->node) && warp_time >= s->time);
    if (!known)
      return false;
  }
  return true;
}

/* The two have the same nodes, and one has the later time at each, or the very same step: that one. NULL: it
 * is not so simple. */
static leaf *later_of(leaf *a, leaf *b) {
  bool is_a = a->head.n == b->head.n, is_b = is_a;
  for (uint32_t i = 0; (is_a || is_b) && i < a->head.n; i++) {
    const race_step *s = &a->steps[i], *t = &b->steps[i];
    bool same = s->via == t->via && s->by == t->by && s->epoch == t->epoch;
    is_a &= s->node == t->node && s->time >= t->time;
    is_b &= s->node == t->node && (s->time < t->time || (s->time == t->time && same));
  }
  return is_a ? a : is_b ? b : NULL;
}

static bool same_steps(const leaf *a, const leaf *b) {
  bool same = a->head.n == b->head.n;
  for (uint32_t i = 0; same && i < a->head.n; i++) {
    const race_step *s = &a->steps[i], *t = &b->steps[i];
    same = s->node == t->node && s->time == t->time && s->via == t->via && s->by == t->by &&
           s->epoch == t->epoch;
  }
  return same;
}

/* Of two steps that say the same, that of `a` stays. */
static race_clock *unite_leaves(leaf *a, leaf *b, race_joins *j) {
  leaf *later = later_of(a, b);
  if (!later && holds(a, b))
    later = a;
  if (later)
    return race_clock_keep(&later->head);
  writer w = {.to = leaf_new(a->head.block, a->head.n + b->head.n), .warp = UINT64_MAX};
  if (!w.to) {
    j->failed = true;
    return race_clock_keep(&a->head);
  }
  for (uint32_t i = 0, k = 0; i < a->head.n || k < b->head.n;) {
    const race_step *x = i < a->head.n ? &a->steps[i] : NULL, *y = k < b->head.n ? &b->steps[k] : NULL;
    if (x && y && x->node == y->node) {
      put(&w, x->time >= y->time ? x : y);
      i++, k++;
    } else if (!y || (x && x->node < y->node)) {
      put(&w, x);
      i++;
    } else {
      put(&w, y);
      k++;
    }
  }
  if (!same_steps(w.to, b))
    return &w.to->head;
  free(w.to);
  return race_clock_keep(&b->head);
}

/* ------------------------------------------------------------------ trees */

static bool covers(const race_clock *c, uint32_t block) {
  return !(((uint64_t)c->block ^ block) >> c->bits);
}

/* Which part of a branch holds a block. */
static uint32_t part_of(const race_clock *c, uint32_t block) {
  return block >> (c->bits - BITS) & (PARTS - 1);
}

static branch *branch_new(uint32_t block, uint32_t bits) {
  branch *b = calloc(1, sizeof *b);
  if (b)
    b->head =
        (race_clock){.refs = 1, .block = (uint32_t)((uint64_t)block >> bits << bits), .bits = (uint8_t)bits};
  return b;
}

/* Takes over the hold on `c`. */
static void set_part(branch *b, uint32_t part, race_clock *c) {
  b->parts[part] = c;
  b->head.n += c->n;
}

/* A branch above two that have no block in common. */
static race_clock *stand_beside(race_clock *a, race_clock *b, race_joins *j) {
  uint32_t bits = a->bits > b->bits ? a->bits : b->bits;
  while (((uint64_t)a->block ^ b->block) >> bits)
    bits += BITS;
  branch *both = branch_new(a->block, bits);
  if (!both) {
    j->failed = true;
    return race_clock_keep(a);
  }
  set_part(both, part_of(&both->head, a->block), race_clock_keep(a));
  set_part(both, part_of(&both->head, b->block), race_clock_keep(b));
  return &both->head;
}

static race_clock *unite(race_clock *a, race_clock *b, race_joins *j);

/* Joins of two branches alike. Which of a thousand blocks came to a barrier one after the other is mostly the
 * same for all of them, and what they knew before as well. */
typedef struct race_joined {
  race_clock *a, *b, *both; /* NULL: free */
} race_joined;
enum {
  JOINED_BITS = 13,
  SPARSE = 64 /* steps, for each block that may be there: denser ones take much memory */
};

static race_joined *joined_at(race_joins *j, const race_clock *a, const race_clock *b) {
  if (!j->done && !(j->done = calloc((size_t)1 << JOINED_BITS, sizeof *j->done)))
    return NULL;
  uint64_t key = (uint64_t)(uintptr_t)a * 31 + (uint64_t)(uintptr_t)b;
  return &j->done[race_hash(key) >> (64 - JOINED_BITS)];
}

static void joined_drop(race_joined *k) {
  race_clock_drop(k->a);
  race_clock_drop(k->b);
  race_clock_drop(k->both);
}

void race_joins_free(race_joins *j) {
  for (uint32_t i = 0; j->done && i < UINT32_C(1) << JOINED_BITS; i++)
    joined_drop(&j->done[i]);
  free(j->done);
  j->done = NULL;
}

/* Each of the branch's parts, with what `other` has of it: that is all of it in one, or a branch alike.
 * `first`: the steps of `c` stay where both say the same. */
static race_clock *unite_parts(race_clock *c, race_clock *other, bool first, race_joins *j) {
  bool alike = c->bits == other->bits, is_c = true, is_other = alike;
  race_clock *parts[PARTS];
  uint32_t only = alike ? 0 : part_of(c, other->block);
  for (uint32_t i = 0; i < PARTS; i++) {
    race_clock *mine = parts_of(c)[i];
    race_clock *its = alike ? parts_of(other)[i] : i == only ? other : NULL;
    parts[i] = first ? unite(mine, its, j) : unite(its, mine, j);
    is_c &= parts[i] == mine;
    is_other &= parts[i] == its;
  }
  race_clock *same = is_c ? c : is_other ? other : NULL;
  branch *b = same ? NULL : branch_new(c->block, c->bits);
  j->failed |= !same && !b;
  for (uint32_t i = 0; i < PARTS; i++)
    if (b && parts[i])
      set_part(b, i, parts[i]);
    else
      race_clock_drop(parts[i]);
  return b ? &b->head : race_clock_keep(same ? same : first ? c : other);
}

static race_clock *unite_alike(race_clock *a, race_clock *b, race_joins *j) {
  bool sparse = ((uint64_t)a->n + b->n) >> a->bits <= SPARSE;
  race_joined *k = sparse ? joined_at(j, a, b) : NULL;
  if (k && k->a == a && k->b == b)
    return race_clock_keep(k->both);
  race_clock *both = unite_parts(a, b, true, j);
  if (k && !j->failed) {
    joined_drop(k);
    *k = (race_joined){race_clock_keep(a), race_clock_keep(b), race_clock_keep(both)};
  }
  return both;
}

static race_clock *unite(race_clock *a, race_clock *b, race_joins *j) {
  if (!b || a == b)
    return race_clock_keep(a);
  if (!a)
    return race_clock_keep(b);
  if (!a->bits && !b->bits && a->block == b->block)
    return unite_leaves(leaf_of(a), leaf_of(b), j);
  if (a->bits && a->bits == b->bits && a->block == b->block)
    return unite_alike(a, b, j);
  if (a->bits > b->bits && covers(a, b->block))
    return unite_parts(a, b, true, j);
  if (b->bits > a->bits && covers(b, a->block))
    return unite_parts(b, a, false, j);
  return stand_beside(a, b, j);
}

race_clock *race_clock_join(race_clock *c, const race_clock *other, race_joins *j) {
  race_clock *both = unite(c, (race_clock *)(uintptr_t)other, j); /* it may be held by one more */
  race_clock_drop(c);
  return both;
}

/* The leaf of a block; NULL: nothing is known of it. */
static const leaf *leaf_at(const race_clock *c, uint32_t block) {
  while (c && c->bits && covers(c, block))
    c = parts_of(c)[part_of(c, block)];
  return c && c->block == block && !c->bits ? (const leaf *)c : NULL;
}

/* A step of that node, if nobody else has it, nor what is above; it may be changed. */
static race_step *own_step(race_clock *c, race_node node) {
  uint32_t block = (uint32_t)(node >> 12);
  for (; c && c->refs == 1 && covers(c, block); c = parts_of(c)[part_of(c, block)]) {
    if (c->bits)
      continue;
    leaf *l = leaf_of(c);
    uint32_t i = seek(l, node);
    return i < l->head.n && l->steps[i].node == node ? &l->steps[i] : NULL;
  }
  return NULL;
}

race_clock *race_clock_add(race_clock *c, race_step s, race_joins *j) {
  race_step *own = s.node & 0x3f ? own_step(c, s.node) : NULL;
  if (own) { /* a later time of a lane: in place */
    if (own->time < s.time)
      *own = s;
    return c;
  }
  leaf *one = leaf_new((uint32_t)(s.node >> 12), 1);
  if (!one) {
    j->failed = true;
    return c;
  }
  one->steps[one->head.n++] = s;
  c = race_clock_join(c, &one->head, j);
  race_clock_drop(&one->head);
  return c;
}

uint32_t race_clock_time(const race_clock *c, uint32_t block, uint32_t warp, uint32_t lane,
                         const race_step **by) {
  uint32_t best = 0;
  race_node nodes[3] = {race_node_of(block, RACE_WHOLE, RACE_WHOLE), race_node_of(block, warp, RACE_WHOLE),
                        race_node_of(block, warp, lane)};
  const leaf *l = leaf_at(c, block);
  for (uint32_t k = 0, i = 0; l && k < 3 && i < l->head.n; k++) {
    if (l->steps[i].node != nodes[k])
      i = seek(l, nodes[k]);
    if (i < l->head.n && l->steps[i].node == nodes[k] && l->steps[i].time > best) {
      best = l->steps[i].time;
      if (by)
        *by = &l->steps[i];
    }
  }
  return best;
}

/* ------------------------------------------------------------------ what is known */

void race_known_drop(race_known *k) {
  if (race_known_empty(k))
    return;
  for (int i = 0; i < RACE_N_READINGS; i++)
    race_clock_drop(k->of[i]);
  memset(k, 0, sizeof *k);
}

race_clock *race_clock_join_like(race_clock *c, const race_clock *other, race_memo *m, race_joins *j) {
  if (m->result && c == m->c && other == m->other) {
    race_clock_drop(c);
    return race_clock_keep(m->result);
  }
  m->c = c, m->other = other;
  return m->result = race_clock_join(c, other, j);
}

void race_known_join(race_known *k, const race_known *other, race_joins *j) {
  race_memo m = {0};
  if (race_known_empty(other))
    return;
  for (int i = 0; i < RACE_N_READINGS; i++)
    if (other->of[i])
      k->of[i] = race_clock_join_like(k->of[i], other->of[i], &m, j);
}
