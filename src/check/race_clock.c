/* race_clock.c: clocks: what is known of whose past.
 *
 * Invariant: steps are sorted by node; a node stands only where its time is later than those of all coarser
 * nodes above it, and coarser nodes sort before finer ones.
 */
#include <stdlib.h>
#include <string.h>

#include "check/race.h"

const uint8_t race_clauses[RACE_N_READINGS] = {
#define READING(name, clauses) clauses,
    RACE_READINGS(READING)
#undef READING
};

race_clock *race_clock_keep(race_clock *c) {
  if (c)
    c->refs++;
  return c;
}

void race_clock_drop(race_clock *c) {
  if (c && --c->refs == 0)
    free(c);
}

/* The first step at or behind a node. */
static uint32_t seek(const race_clock *c, race_node node) {
  uint32_t low = 0, high = c ? c->n : 0;
  while (low < high) {
    uint32_t mid = (low + high) / 2;
    if (c->steps[mid].node < node)
      low = mid + 1;
    else
      high = mid;
  }
  return low;
}

static inline uint64_t block_of(race_node n) {
  return n >> 12;
}
static inline uint64_t warp_of(race_node n) {
  return n >> 6;
}

/* Puts steps in order at the end of a clock, unless a coarser one says as much. */
typedef struct writer {
  race_clock *to;
  uint32_t block_time, warp_time;
  race_node block, warp; /* whose times these are */
} writer;

static void put(writer *w, const race_step *s) {
  if (w->block != block_of(s->node))
    w->block = block_of(s->node), w->block_time = 0;
  if (w->warp != warp_of(s->node))
    w->warp = warp_of(s->node), w->warp_time = 0;
  if (s->time <= w->block_time || s->time <= w->warp_time)
    return;
  if (!(s->node & 0xfff))
    w->block_time = s->time;
  else if (!(s->node & 0x3f))
    w->warp_time = s->time;
  w->to->steps[w->to->n++] = *s;
}

/* Is everything of `b` known to `a`? */
static bool holds(const race_clock *a, const race_clock *b) {
  uint32_t i = 0, block_at = UINT32_MAX, warp_at = UINT32_MAX;
  for (uint32_t k = 0; k < b->n; k++) {
    const race_step *s = &b->steps[k];
    for (; i < a->n && a->steps[i].node <= s->node; i++) {
      if (!(a->steps[i].node & 0xfff))
        block_at = i;
      else if (!(a->steps[i].node & 0x3f))
        warp_at = i;
    }
    bool known = (i && a->steps[i - 1].node == s->node && a->steps[i - 1].time >= s->time) ||
                 (block_at != UINT32_MAX && block_of(a->steps[block_at].node) == block_of(s->node) &&
                  a->steps[block_at].time >= s->time) ||
                 (warp_at != UINT32_MAX && warp_of(a->steps[warp_at].node) == warp_of(s->node) &&
                  a->steps[warp_at].time >= s->time);
    if (!known)
      return false;
  }
  return true;
}

race_clock *race_clock_join(race_clock *c, const race_clock *other, bool *failed) {
  if (!other || c == other)
    return c;
  if (!c)
    return race_clock_keep((race_clock *)(uintptr_t)other);
  if (holds(c, other))
    return c;
  writer w = {.to = malloc(sizeof *c + (size_t)(c->n + other->n) * sizeof *c->steps),
              .block = UINT64_MAX,
              .warp = UINT64_MAX};
  if (!w.to) {
    *failed = true;
    return c;
  }
  w.to->refs = 1, w.to->n = 0;
  for (uint32_t i = 0, k = 0; i < c->n || k < other->n;) {
    const race_step *a = i < c->n ? &c->steps[i] : NULL, *b = k < other->n ? &other->steps[k] : NULL;
    if (a && b && a->node == b->node) {
      put(&w, a->time >= b->time ? a : b);
      i++, k++;
    } else if (!b || (a && a->node < b->node)) {
      put(&w, a);
      i++;
    } else {
      put(&w, b);
      k++;
    }
  }
  race_clock_drop(c);
  return w.to;
}

race_clock *race_clock_add(race_clock *c, race_step s, bool *failed) {
  if (c && c->refs == 1 && (s.node & 0x3f)) { /* a later time of a lane: in place */
    uint32_t i = seek(c, s.node);
    if (i < c->n && c->steps[i].node == s.node) {
      if (c->steps[i].time < s.time)
        c->steps[i] = s;
      return c;
    }
  }
  race_clock *one = malloc(sizeof *one + sizeof s);
  if (!one) {
    *failed = true;
    return c;
  }
  one->refs = 1, one->n = 1;
  one->steps[0] = s;
  c = race_clock_join(c, one, failed);
  race_clock_drop(one);
  return c;
}

uint32_t race_clock_time(const race_clock *c, uint32_t block, uint32_t warp, uint32_t lane,
                         const race_step **by) {
  uint32_t best = 0;
  race_node nodes[3] = {race_node_of(block, RACE_WHOLE, RACE_WHOLE), race_node_of(block, warp, RACE_WHOLE),
                        race_node_of(block, warp, lane)};
  if (!c)
    return 0;
  uint32_t i = seek(c, nodes[0]);
  for (int k = 0; k < 3 && i < c->n && block_of(c->steps[i].node) == block; k++) {
    if (c->steps[i].node != nodes[k])
      i = seek(c, nodes[k]);
    if (i < c->n && c->steps[i].node == nodes[k] && c->steps[i].time > best) {
      best = c->steps[i].time;
      if (by)
        *by = &c->steps[i];
    }
  }
  return best;
}

void race_known_drop(race_known *k) {
  for (int i = 0; i < RACE_N_READINGS; i++)
    race_clock_drop(k->of[i]);
  memset(k, 0, sizeof *k);
}

race_clock *race_clock_join_like(race_clock *c, const race_clock *other, race_memo *m, bool *failed) {
  if (m->result && c == m->c && other == m->other) {
    race_clock_drop(c);
    return race_clock_keep(m->result);
  }
  m->c = c, m->other = other;
  return m->result = race_clock_join(c, other, failed);
}

void race_known_join(race_known *k, const race_known *other, bool *failed) {
  race_memo m = {0};
  for (int i = 0; i < RACE_N_READINGS; i++)
    if (other->of[i])
      k->of[i] = race_clock_join_like(k->of[i], other->of[i], &m, failed);
}

bool race_known_empty(const race_known *k) {
  for (int i = 0; i < RACE_N_READINGS; i++)
    if (k->of[i])
      return false;
  return true;
}
