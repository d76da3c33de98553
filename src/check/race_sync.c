/* race_sync.c: what orders: barriers of warps, blocks and clusters, fences, and words through which threads
 * release and acquire. A word keeps heads: one for each block (and level of scope) whose release a reader of
 * the word may meet; atomics continue a chain of heads, other strong writes begin a new one, weak ones end
 * it (race_word.c: where they are).
 */
#include <stdlib.h>
#include <string.h>

#include "check/race.h"

/* ------------------------------------------------------------------ blocks */

/* Steps that may be spent in a launch on what words would release if each strong write did: it only serves to
 * name what is missing, and a counter that all threads use would make it costly. */
enum { HINTS = 1 << 23 };

static uint32_t slot_of(uint32_t number) {
  return number % 1024;
}

race_block *race_block_numbered(race *r, uint32_t number) {
  number &= ~RACE_ASYNC_BLOCK;
  if (r->last && r->last->number == number)
    return r->last;
  race_block *b = r->blocks[slot_of(number)];
  while (b && b->number != number)
    b = b->next;
  return b;
}

race_block *race_block_find(race *r, uint64_t launch, uint64_t block) {
  const race_first *f = race_launch_at(r, launch);
  race_block *b = f ? race_block_numbered(r, f->first + (uint32_t)block) : NULL;
  if (b)
    r->last = b;
  return b;
}

/* Which cluster a block is of, in its launch. */
static uint64_t cluster_of(const check_launch *l, uint64_t block) {
  uint64_t x = block % l->grid[0], y = block / l->grid[0] % l->grid[1], z = block / l->grid[0] / l->grid[1];
  if (!l->cluster[0])
    return block;
  return x / l->cluster[0] +
         (l->grid[0] / l->cluster[0]) *
             (y / l->cluster[1] + (uint64_t)(l->grid[1] / l->cluster[1]) * (z / l->cluster[2]));
}

static void block_begin(race *r, const sim_event *e) {
  const race_first *f = race_launch_at(r, e->who.launch);
  const check_launch *l = check_launch_of(r->check, e->who.launch);
  if (!f || !l)
    return;
  uint32_t n_warps = (l->n_threads + SIM_WARP - 1) / SIM_WARP;
  race_block *b = calloc(1, sizeof *b);
  if (b)
    b->warps = calloc(n_warps, sizeof *b->warps);
  if (!b || !b->warps) {
    free(b);
    r->failed = true;
    return;
  }
  b->launch = *l;
  b->number = f->first + (uint32_t)e->who.block;
  b->id = e->who.block;
  b->now = 1;
  b->n_warps = n_warps, b->n_threads = l->n_threads;
  b->cluster = (uint32_t)cluster_of(l, b->id);
  b->rank = e->who.cluster_rank;
  b->first = f->first, b->n_blocks = f->n;
  b->apart = f->n_apart > 0, b->copies = f->copies, b->bulk = f->bulk;
  for (uint32_t w = 0; w < n_warps; w++) {
    uint32_t left = l->n_threads - w * SIM_WARP;
    b->warps[w].exists = b->warps[w].live = left >= SIM_WARP ? UINT32_MAX : (UINT32_C(1) << left) - 1;
  }
  race_block **at = &r->blocks[slot_of(b->number)];
  b->next = *at, *at = b;
}

static void view_drop(race_view *v) {
  if (v && --v->refs == 0) {
    race_known_drop(&v->known);
    free(v);
  }
}

static void lane_free(race_lane *l) {
  if (!l)
    return;
  race_known_drop(&l->own);
  if (l->due) {
    race_known_drop(&l->due->wide);
    race_known_drop(&l->due->own);
    race_known_drop(&l->due->narrow);
    race_known_drop(&l->due->loose);
    free(l->due);
  }
  for (int k = 0; k < RACE_LEVELS; k++) {
    race_known_drop(&l->pending[k]);
    view_drop(l->fence[k]);
  }
  free(l);
}

static void block_free(race_block *b) {
  for (uint32_t w = 0; w < b->n_warps; w++) {
    for (int i = 0; i < SIM_WARP; i++)
      lane_free(b->warps[w].lanes[i]);
    for (int k = 0; k < RACE_LEVELS; k++)
      view_drop(b->warps[w].fence[k]);
    race_known_drop(&b->warps[w].known);
  }
  for (int i = 0; i < RACE_BARRIERS; i++) {
    race_known_drop(&b->meetings[i].known);
    free(b->meetings[i].arrived);
  }
  race_known_drop(&b->known);
  race_shadow_free(&b->shared);
  race_words_free(&b->words);
  race_objects_free(b);
  free(b->warps);
  free(b);
}

static void block_end(race *r, uint64_t launch, uint64_t block) {
  race_block *b = race_block_of(r, launch, block);
  if (!b)
    return;
  race_block **at = &r->blocks[slot_of(b->number)];
  while (*at != b)
    at = &(*at)->next;
  *at = b->next;
  r->last = NULL;
  block_free(b);
}

static void clusters_end(race *r, uint64_t launch);

static void blocks_drop(race *r) {
  for (uint32_t i = 0; i < sizeof r->blocks / sizeof *r->blocks; i++)
    for (race_block *b = r->blocks[i], *next; b; b = next) {
      next = b->next;
      block_free(b);
    }
  memset(r->blocks, 0, sizeof r->blocks);
  r->last = NULL;
  race_words_free(&r->words);
}

void race_blocks_free(race *r) {
  blocks_drop(r);
  clusters_end(r, 0);
  race_clock_drop(r->sc);
  for (uint32_t i = 0; i < r->n_launches; i++)
    free(r->launches[i].apart);
  free(r->launches);
}

/* ------------------------------------------------------------------ what a lane knows */

race_lane *race_lane_at(race *r, race_warp *w, uint32_t lane) {
  if (!w->lanes[lane] && !(w->lanes[lane] = calloc(1, sizeof **w->lanes)))
    r->failed = true;
  else
    w->own |= UINT32_C(1) << lane;
  return w->lanes[lane];
}

bool race_knows(const race_block *b, uint32_t warp, uint32_t lane, race_reading as, uint32_t of_block,
                uint32_t of_warp, uint32_t of_lane, uint32_t time, const race_step **by) {
  const race_warp *w = &b->warps[warp];
  if (of_block == b->number) {
    if (time <= b->base || (of_warp == warp && ((of_lane == lane && lane != RACE_WHOLE) || time <= w->base)))
      return true;
  }
  const race_lane *l = lane == RACE_WHOLE ? NULL : w->lanes[lane];
  const race_clock *clocks[3] = {b->known.of[as], w->known.of[as], l ? l->own.of[as] : NULL};
  for (int k = 0; k < 3; k++) /* mostly they are empty */
    if (clocks[k] && race_clock_time(clocks[k], of_block, of_warp, of_lane, by) >= time)
      return true;
  return false;
}

const race_step *race_met_in(const race_block *b, uint32_t warp, uint32_t lane, race_reading as,
                             uint32_t of_block, uint8_t epoch) {
  const race_warp *w = &b->warps[warp];
  const race_clock *clocks[3] = {b->known.of[as], w->known.of[as],
                                 w->lanes[lane] ? w->lanes[lane]->own.of[as] : NULL};
  for (int k = 0; k < 3; k++) {
    const race_step *s = NULL;
    if (race_clock_time(clocks[k], of_block, RACE_WHOLE, RACE_WHOLE, &s) && s->epoch == epoch)
      return s;
  }
  return NULL;
}

/* Adds a time to every reading. */
void race_know(race *r, race_known *k, race_node node, uint32_t time, check_site via, uint32_t by) {
  race_known one = {0};
  if (!time)
    return;
  one.of[0] = race_clock_add(NULL, (race_step){.node = node, .time = time, .via = via, .by = (uint16_t)by},
                             &r->joins);
  for (int i = 1; i < RACE_N_READINGS; i++)
    one.of[i] = race_clock_keep(one.of[0]);
  race_known_join(k, &one, &r->joins);
  race_known_drop(&one);
}

/* All that a lane knows, but for what the view itself says of its block. */
static race_view *view_new(race *r, const race_block *b, const race_warp *w, const race_lane *l,
                           check_site site) {
  race_view *v = calloc(1, sizeof *v);
  if (!v) {
    r->failed = true;
    return NULL;
  }
  *v = (race_view){.refs = 1,
                   .time = b->now,
                   .block_base = b->base,
                   .warp_base = w->base,
                   .site = site,
                   .epoch = b->epoch};
  race_known_join(&v->known, &b->known, &r->joins);
  race_known_join(&v->known, &w->known, &r->joins);
  if (l)
    race_known_join(&v->known, &l->own, &r->joins);
  return v;
}

/* What a release by that lane hands on, as of the view. */
static race_known handed(race *r, const race_block *b, uint32_t warp, uint32_t lane, const race_view *v,
                         check_site site) {
  race_known k = {0};
  uint32_t thread = warp * SIM_WARP + lane;
  race_known_join(&k, &v->known, &r->joins);
  race_know(r, &k, race_node_of(b->number, RACE_WHOLE, RACE_WHOLE), v->block_base, site, thread);
  race_know(r, &k, race_node_of(b->number, warp, RACE_WHOLE), v->warp_base, site, thread);
  race_know(r, &k, race_node_of(b->number, warp, lane), v->time, site, thread);
  for (int i = 0; i < RACE_N_READINGS; i++)
    if (race_clauses[i] & RACE_IF_BEFORE)
      k.of[i] = race_clock_add(k.of[i],
                               (race_step){.node = race_node_of(b->number, RACE_WHOLE, RACE_WHOLE),
                                           .time = v->time,
                                           .via = site,
                                           .by = (uint16_t)thread,
                                           .epoch = v->epoch},
                               &r->joins);
  return k;
}

/* ------------------------------------------------------------------ fences */

static void settle_lanes(race *r, race_block *b, uint32_t warp, uint32_t lanes);

static void set_fence(race_view **at, race_view *v) {
  v->refs++;
  view_drop(*at);
  *at = v;
}

static void release_fence(race *r, race_block *b, race_warp *w, uint32_t lanes, uint32_t level,
                          check_site site) {
  race_view *common = NULL;
  uint32_t alone = 0;
  for (uint32_t left = lanes & w->own; left; left &= left - 1) {
    uint32_t i = (uint32_t)__builtin_ctz(left);
    if (!race_known_empty(&w->lanes[i]->own))
      alone |= UINT32_C(1) << i;
  }
  if (lanes & ~alone && !(common = view_new(r, b, w, NULL, site)))
    return;
  for (uint32_t k = 0; k <= level; k++) {
    /* those whose fence was the warp's, and are not here now, keep it for themselves */
    for (uint32_t left = w->fenced[k] & ~(lanes & ~alone); left; left &= left - 1) {
      race_lane *l = race_lane_at(r, w, (uint32_t)__builtin_ctz(left));
      if (l)
        set_fence(&l->fence[k], w->fence[k]);
    }
    w->fenced[k] = lanes & ~alone;
    view_drop(w->fence[k]);
    w->fence[k] = common;
    if (common)
      common->refs++;
  }
  view_drop(common);
  for (uint32_t left = alone; left; left &= left - 1) {
    race_lane *l = w->lanes[__builtin_ctz(left)];
    race_view *v = view_new(r, b, w, l, site);
    for (uint32_t k = 0; v && k <= level; k++)
      set_fence(&l->fence[k], v);
    view_drop(v);
  }
  b->now++;
}

static void acquire_pending(race *r, race_block *b, race_lane *l, uint32_t level) {
  for (uint32_t k = 0; k <= level; k++) {
    race_memo memo = {0};
    for (int i = 0; i < RACE_N_READINGS; i++) {
      race_clock **to = race_clauses[i] & RACE_IF_AFTER ? &b->known.of[i] : &l->own.of[i];
      *to = race_clock_join_like(*to, l->pending[k].of[i], &memo, &r->joins);
    }
    race_known_drop(&l->pending[k]);
  }
}

/* fence.sc by fence.sc, where their accidental order is to count. */
static void sc_fence(race *r, race_block *b, uint32_t warp, uint32_t lane, check_site site) {
  race_lane *l = race_lane_at(r, &b->warps[warp], lane);
  if (!l)
    return;
  l->own.of[RACE_REAL] = race_clock_join(l->own.of[RACE_REAL], r->sc, &r->joins);
  race_view *v = view_new(r, b, &b->warps[warp], l, site);
  if (!v)
    return;
  race_known k = handed(r, b, warp, lane, v, site);
  r->sc = race_clock_join(r->sc, k.of[RACE_REAL], &r->joins);
  race_known_drop(&k);
  view_drop(v);
}

static void fence(race *r, const sim_event *e) {
  race_block *b = race_block_of(r, e->who.launch, e->who.block);
  if (!b)
    return;
  if (e->fence.proxy) {
    race_proxy_fence(r, e);
    return;
  }
  race_warp *w = &b->warps[e->who.warp];
  uint32_t level = race_level_of(e->fence.scope);
  check_site site = check_site_of(r->check, &e->who);
  settle_lanes(r, b, e->who.warp, e->who.lanes);
  if (e->fence.order != PTX_ORDER_RELEASE)
    for (uint32_t left = e->who.lanes; left; left &= left - 1)
      if (w->lanes[__builtin_ctz(left)])
        acquire_pending(r, b, w->lanes[__builtin_ctz(left)], level);
  if (e->fence.order == PTX_ORDER_SC && r->check->options.fence_sc_exact)
    for (uint32_t left = e->who.lanes; left; left &= left - 1)
      sc_fence(r, b, e->who.warp, (uint32_t)__builtin_ctz(left), site);
  if (e->fence.order != PTX_ORDER_ACQUIRE)
    release_fence(r, b, w, e->who.lanes, level, site);
}

/* ------------------------------------------------------------------ barriers */

/* What lanes of a warp know beyond their block, and their own times, as a barrier passes it on. */
static void gather(race *r, race_block *b, uint32_t warp, uint32_t lanes, uint32_t time, check_site via,
                   race_known *to) {
  race_warp *w = &b->warps[warp];
  settle_lanes(r, b, warp, lanes);
  race_known_join(to, &w->known, &r->joins);
  for (uint32_t left = lanes; left; left &= left - 1) {
    const race_lane *l = w->lanes[__builtin_ctz(left)];
    if (l)
      race_known_join(to, &l->own, &r->joins);
  }
  uint32_t by = warp * SIM_WARP + (uint32_t)__builtin_ctz(lanes);
  if (lanes == w->exists) {
    race_know(r, to, race_node_of(b->number, warp, RACE_WHOLE), time, via, by);
    return;
  }
  race_know(r, to, race_node_of(b->number, warp, RACE_WHOLE), w->base, via, by);
  for (uint32_t left = lanes; left; left &= left - 1)
    race_know(r, to, race_node_of(b->number, warp, (uint32_t)__builtin_ctz(left)), time, via, by);
}

/* Lanes of a warp learn. */
static void learn(race *r, race_block *b, uint32_t warp, uint32_t lanes, const race_known *k) {
  race_warp *w = &b->warps[warp];
  if (lanes == w->live) {
    race_known_join(&w->known, k, &r->joins);
    return;
  }
  for (uint32_t left = lanes; left; left &= left - 1) {
    race_lane *l = race_lane_at(r, w, (uint32_t)__builtin_ctz(left));
    if (l)
      race_known_join(&l->own, k, &r->joins);
  }
}

static void forget_own(race_warp *w) {
  race_known_drop(&w->known);
  for (uint32_t left = w->own; left; left &= left - 1)
    race_known_drop(&w->lanes[__builtin_ctz(left)]->own);
}

static race_meeting *meeting_of(race *r, race_block *b, uint32_t number) {
  race_meeting *m = number < RACE_BARRIERS ? &b->meetings[number] : NULL;
  if (m && !m->arrived && !(m->arrived = calloc(b->n_warps, sizeof *m->arrived)))
    r->failed = true;
  return m && m->arrived ? m : NULL;
}

static void arrive(race *r, const sim_event *e) {
  race_block *b = race_block_of(r, e->who.launch, e->who.block);
  race_meeting *m = b ? meeting_of(r, b, e->barrier.number) : NULL;
  if (!m)
    return;
  if (e->barrier.waits) { /* stays as it is until the barrier is complete */
    m->arrived[e->who.warp] |= e->who.lanes;
    return;
  }
  m->only_releases = true;
  race_known_join(&m->known, &b->known, &r->joins);
  race_know(r, &m->known, race_node_of(b->number, RACE_WHOLE, RACE_WHOLE), b->base, 0, 0);
  gather(r, b, e->who.warp, e->who.lanes, b->now, 0, &m->known);
  b->now++;
}

static void complete(race *r, const sim_event *e) {
  race_block *b = race_block_of(r, e->who.launch, e->who.block);
  race_meeting *m = b ? meeting_of(r, b, e->barrier.number) : NULL;
  if (!m)
    return;
  bool living = !m->only_releases, all = living; /* everybody came; nobody had left before */
  for (uint32_t w = 0; w < b->n_warps; w++) {
    living &= m->arrived[w] == b->warps[w].live;
    all &= m->arrived[w] == b->warps[w].exists;
  }
  uint32_t time = b->now++;
  b->epoch += living;
  if (living && all) {
    for (uint32_t w = 0; w < b->n_warps; w++) {
      race_warp *v = &b->warps[w];
      settle_lanes(r, b, w, v->live);
      race_known_join(&b->known, &v->known, &r->joins);
      for (uint32_t left = v->own; left; left &= left - 1)
        race_known_join(&b->known, &v->lanes[__builtin_ctz(left)]->own, &r->joins);
      forget_own(v);
    }
    b->base = time;
  } else {
    for (uint32_t w = 0; w < b->n_warps; w++)
      if (m->arrived[w])
        gather(r, b, w, m->arrived[w], time, 0, &m->known);
    if (living) {
      race_known_join(&b->known, &m->known, &r->joins);
      for (uint32_t w = 0; w < b->n_warps; w++)
        forget_own(&b->warps[w]);
    } else {
      for (uint32_t w = 0; w < b->n_warps; w++)
        if (m->arrived[w])
          learn(r, b, w, m->arrived[w], &m->known);
    }
  }
  memset(m->arrived, 0, b->n_warps * sizeof *m->arrived);
  race_known_drop(&m->known);
  m->only_releases = false;
}

void race_met(race *r, const sim_event *e, const uint32_t *lanes, uint32_t n_warps) {
  race_block *b = race_block_of(r, e->who.launch, e->who.block);
  race_meeting *m = b ? meeting_of(r, b, e->barrier.number) : NULL;
  for (uint32_t w = 0; m && w < n_warps; w++)
    m->arrived[w] |= lanes[w];
  complete(r, e);
}

/* bar.warp.sync: lanes that have met know each other. Shuffles, votes and matches order no memory. */
static void warp_meets(race *r, const sim_event *e) {
  race_block *b = race_block_of(r, e->who.launch, e->who.block);
  if (!b || !e->who.insn || e->who.insn->op != PTX_OP_bar_warp)
    return;
  race_warp *w = &b->warps[e->who.warp];
  uint32_t met = e->collective.met, time = b->now++;
  race_known k = {0};
  if (met == w->exists) {
    settle_lanes(r, b, e->who.warp, met);
    for (uint32_t left = w->own; left; left &= left - 1) {
      race_lane *l = w->lanes[__builtin_ctz(left)];
      race_known_join(&w->known, &l->own, &r->joins);
      race_known_drop(&l->own);
    }
    w->base = time;
    return;
  }
  gather(r, b, e->who.warp, met, time, 0, &k);
  learn(r, b, e->who.warp, met, &k);
  race_known_drop(&k);
}

/* Barriers of a cluster: one at a time. */
typedef struct race_clusters {
  struct race_clusters *next;
  uint64_t launch;
  uint32_t cluster, blocks_left;
  race_known arriving, done;
} race_cluster;

static race_cluster *cluster_at(race *r, const race_block *b) {
  race_cluster *c = r->clusters;
  while (c && (c->launch != b->launch.id || c->cluster != b->cluster))
    c = c->next;
  if (c)
    return c;
  c = calloc(1, sizeof *c);
  if (!c) {
    r->failed = true;
    return NULL;
  }
  c->launch = b->launch.id, c->cluster = b->cluster;
  c->next = r->clusters;
  return r->clusters = c;
}

static void clusters_end(race *r, uint64_t launch) {
  for (race_cluster **at = &r->clusters; *at;) {
    race_cluster *c = *at;
    if (launch && c->launch != launch) {
      at = &c->next;
      continue;
    }
    *at = c->next;
    race_known_drop(&c->arriving);
    race_known_drop(&c->done);
    free(c);
  }
}

static void cluster_barrier(race *r, const sim_event *e) {
  race_block *b = race_block_of(r, e->who.launch, e->who.block);
  race_cluster *c = b ? cluster_at(r, b) : NULL;
  if (!c)
    return;
  if (e->kind == SIM_EVENT_COMPLETE) {
    race_known_drop(&c->done);
    c->done = c->arriving;
    memset(&c->arriving, 0, sizeof c->arriving);
  } else if (e->kind == SIM_EVENT_ARRIVE && e->barrier.order != PTX_ORDER_RELAXED) {
    race_known_join(&c->arriving, &b->known, &r->joins);
    race_know(r, &c->arriving, race_node_of(b->number, RACE_WHOLE, RACE_WHOLE), b->base, 0, 0);
    gather(r, b, e->who.warp, e->who.lanes, b->now, 0, &c->arriving);
    b->now++;
  } else if (e->kind == SIM_EVENT_LEAVE && e->barrier.order != PTX_ORDER_RELAXED) {
    learn(r, b, e->who.warp, e->who.lanes, &c->done);
  }
}

/* ------------------------------------------------------------------ words */

uint32_t race_level_of(uint8_t scope) {
  return scope == PTX_SCOPE_CTA       ? RACE_LEVEL_BLOCK
         : scope == PTX_SCOPE_CLUSTER ? RACE_LEVEL_CLUSTER
                                      : RACE_LEVEL_DEVICE;
}

bool race_reaches(const race *r, const race_block *b, uint32_t level, uint32_t other) {
  other &= ~RACE_ASYNC_BLOCK;
  if (level == RACE_LEVEL_DEVICE || other == b->number)
    return true;
  if (level == RACE_LEVEL_BLOCK || !b->launch.cluster[0])
    return false;
  uint64_t launch, block;
  race_block_place(r, other, &launch, &block);
  return launch == b->launch.id && cluster_of(&b->launch, block) == b->cluster;
}

/* The smallest level that holds both. */
static uint32_t level_between(const race *r, const race_block *b, uint32_t other) {
  return other == b->number                              ? RACE_LEVEL_BLOCK
         : race_reaches(r, b, RACE_LEVEL_CLUSTER, other) ? RACE_LEVEL_CLUSTER
                                                         : RACE_LEVEL_DEVICE;
}

/* Of a word at which more blocks than that release, a reader whose scope is narrower than the device is taken
 * to have met them all: who released what to its own block is not kept. */
enum { HEADS = 64 };

/* The first head of a block, or where it would stand. */
static uint32_t head_at(const race_word *w, uint32_t block, uint32_t level) {
  uint32_t low = 0, high = w->n_heads;
  while (low < high) {
    uint32_t mid = (low + high) / 2;
    const race_head *h = &w->heads[mid];
    if (h->block < block || (h->block == block && h->level < level))
      low = mid + 1;
    else
      high = mid;
  }
  return low;
}

static void head_add(race *r, race_word *w, uint32_t block, uint32_t level, const race_known *k) {
  uint32_t at = head_at(w, block, level);
  race_known_join(level == RACE_LEVEL_DEVICE ? &w->wide : &w->narrow, k, &r->joins);
  if (w->n_heads >= HEADS && level == RACE_LEVEL_DEVICE)
    w->crowded = true;
  if (w->crowded && level == RACE_LEVEL_DEVICE)
    return;
  if (at == w->n_heads || w->heads[at].block != block || w->heads[at].level != level) {
    if (!BASE_ROOM(w->heads, w->n_heads, w->cap_heads)) {
      r->failed = true;
      return;
    }
    memmove(&w->heads[at + 1], &w->heads[at], (w->n_heads - at) * sizeof *w->heads);
    w->heads[at] = (race_head){.block = block, .level = (uint8_t)level};
    w->n_heads++;
  }
  race_known_join(&w->heads[at].known, k, &r->joins);
}

/* One lane meets what was released at a word. */
typedef struct meeting {
  race *race;
  race_block *block;
  race_lane *lane;
  uint32_t level; /* of the read */
  bool acquires;
  check_site site;
} meeting;

static void take(const meeting *m, int reading, const race_clock *c, uint32_t need, race_memo *memo) {
  uint8_t clauses = race_clauses[reading];
  race_clock **to;
  bool now = (m->acquires && need <= m->level) || clauses & RACE_IF_ACQUIRED ||
             (m->acquires && clauses & RACE_IF_SCOPED);
  if (!now)
    to = &m->lane->pending[clauses & RACE_IF_SCOPED ? 0 : need].of[reading];
  else
    to = clauses & RACE_IF_AFTER ? &m->block->known.of[reading] : &m->lane->own.of[reading];
  *to = race_clock_join_like(*to, c, memo, &m->race->joins);
}

static void take_all(const meeting *m, const race_known *k, uint32_t need, bool only_scoped) {
  race_memo memo = {0};
  for (int i = 0; i < RACE_N_READINGS; i++)
    if (k->of[i] && (!only_scoped || race_clauses[i] & RACE_IF_SCOPED))
      take(m, i, k->of[i], need, &memo);
}

/* What a lane has met at a word is taken over when it is needed: while it polls, a later look at the same
 * chain says all that the earlier did. */
static void take_due(race *r, race_block *b, race_lane *l) {
  race_due *d = l->due;
  meeting m = {.race = r, .block = b, .lane = l, .level = d->level, .acquires = d->acquires};
  take_all(&m, &d->wide, RACE_LEVEL_DEVICE, !d->linked);
  take_all(&m, &d->narrow, RACE_LEVEL_DEVICE, true);
  take_all(&m, &d->own, RACE_LEVEL_BLOCK, false);
  take_all(&m, &d->loose, RACE_LEVEL_DEVICE, false);
  race_known_drop(&d->wide);
  race_known_drop(&d->own);
  race_known_drop(&d->narrow);
  race_known_drop(&d->loose);
  d->chain = 0;
}

void race_settle(race *r, race_block *b, uint32_t warp, uint32_t lane) {
  race_lane *l = b->warps[warp].lanes[lane];
  if (l && l->due && l->due->chain)
    take_due(r, b, l);
}

static void settle_lanes(race *r, race_block *b, uint32_t warp, uint32_t lanes) {
  for (lanes &= b->warps[warp].own; lanes; lanes &= lanes - 1)
    race_settle(r, b, warp, (uint32_t)__builtin_ctz(lanes));
}

static void known_set(race_known *to, const race_known *from) {
  race_known_drop(to);
  for (int i = 0; i < RACE_N_READINGS; i++)
    to->of[i] = race_clock_keep(from->of[i]);
}

static void take_heads(const meeting *m, const race_word *w, bool linked) {
  race_lane *l = m->lane;
  if (!l->due && !(l->due = calloc(1, sizeof *l->due))) {
    m->race->failed = true;
    return;
  }
  race_due *d = l->due;
  if (d->chain && (d->chain != w->chain || d->level != m->level || d->acquires != m->acquires))
    take_due(m->race, m->block, l);
  d->chain = w->chain, d->level = (uint8_t)m->level, d->acquires = m->acquires, d->linked = linked;
  known_set(&d->wide, &w->wide);
  known_set(&d->narrow, &w->narrow);
  known_set(&d->loose, &w->loose);
  if (!linked)
    return;
  if (w->crowded)
    known_set(&d->own, &w->wide);
  else
    race_known_drop(&d->own);
  for (uint32_t i = head_at(w, m->block->number, 0); i < w->n_heads && w->heads[i].block == m->block->number;
       i++)
    race_known_join(&d->own, &w->heads[i].known, &m->race->joins);
  for (uint32_t i = 0; m->block->launch.cluster[0] && i < w->n_heads; i++)
    if (w->heads[i].level >= RACE_LEVEL_CLUSTER &&
        race_reaches(m->race, m->block, RACE_LEVEL_CLUSTER, w->heads[i].block))
      take_all(m, &w->heads[i].known, RACE_LEVEL_CLUSTER, false);
}

/* What a strong write would release, for readings in which each does. A writer's past is taken as it is by
 * now, if its block still runs: good enough for a hint. */
static void loosen(race *r, race_known *to, uint32_t block, uint32_t warp, uint32_t lane, uint32_t time,
                   check_site site) {
  const race_block *b = race_block_numbered(r, block);
  const race_warp *v = b ? &b->warps[warp] : NULL;
  for (int k = 0; k < RACE_N_READINGS && r->hints > 0; k++) {
    bool before = race_clauses[k] & RACE_IF_BEFORE;
    if (!(race_clauses[k] & RACE_IF_RELEASED))
      continue;
    race_step s = {.node = race_node_of(block, warp, lane),
                   .time = time,
                   .via = site,
                   .by = (uint16_t)(warp * SIM_WARP + lane),
                   .epoch = b ? b->epoch : 0};
    race_clock *c = race_clock_add(to->of[k], s, &r->joins);
    s.node = race_node_of(block, warp, RACE_WHOLE), s.time = v && v->base < time ? v->base : time;
    if (v && s.time)
      c = race_clock_add(c, s, &r->joins);
    s.node = race_node_of(block, RACE_WHOLE, RACE_WHOLE);
    s.time = before || (b && b->base > time) ? time : b ? b->base : 0;
    if (s.time)
      c = race_clock_add(c, s, &r->joins);
    if (b) {
      c = race_clock_join(c, b->known.of[k], &r->joins);
      c = race_clock_join(c, v->known.of[k], &r->joins);
      if (v->lanes[lane])
        c = race_clock_join(c, v->lanes[lane]->own.of[k], &r->joins);
    }
    to->of[k] = c;
    r->hints -= c ? c->n : 1;
  }
}

/* Lanes of a record that stored, by a strong write of this launch, what a lane reads now. */
static uint32_t observed_of(const race_block *b, const race_record *old, const race_record *read,
                            uint32_t lane) {
  bool counts = old->flags & RACE_WRITES && old->flags & RACE_STRONG && old->block - b->first < b->n_blocks;
  return counts && !race_apart(old, race_extent_of(read)) ? race_overlap(old, read, lane) : 0;
}

static void observe(race *r, race_block *b, const sim_access *a, uint32_t lane, race_line *line, uint64_t at,
                    race_words *all, race_word *word, uint32_t level, check_site site) {
  race_warp *w = &b->warps[a->who->warp];
  meeting m = {.race = r,
               .block = b,
               .lane = word ? race_lane_at(r, w, lane) : w->lanes[lane],
               .level = level,
               .acquires = a->order == PTX_ORDER_ACQUIRE || a->order == PTX_ORDER_ACQ_REL,
               .site = site};
  if (word && m.lane && word->watched && m.lane->looked == word->version && m.lane->looker == a->who->insn)
    return; /* it polls, and nothing has happened since */
  if (word && m.lane)
    take_heads(&m, word,
               word->address == at && word->bytes == a->bytes && race_reaches(r, b, level, word->block) &&
                   (word->level == RACE_LEVEL_DEVICE || level_between(r, b, word->block) <= word->level));
  race_record me = {
      .lanes = UINT32_C(1) << lane, .base = (int16_t)(at % RACE_LINE), .bytes = (uint8_t)a->bytes};
  race_known found = {0};
  const race_record *last = NULL;
  bool news = word != NULL, meets = false; /* news: not all is known by other ways, mostly barriers */
  for (uint32_t i = 0; i < line->n; i++) {
    race_record *old = &line->records[i];
    uint32_t hit = observed_of(b, old, &me, lane), others = hit;
    if (old->block == b->number && old->warp == a->who->warp)
      others &= ~(UINT32_C(1) << lane);
    last = old->bytes == a->bytes && hit ? old : last;
    if (others)
      old->flags |= RACE_SEEN, meets = true;
    for (; hit && !news; hit &= hit - 1)
      news = !race_knows(b, a->who->warp, lane, RACE_REAL, old->block, old->warp,
                         (uint32_t)__builtin_ctz(hit), old->time, NULL);
  }
  if (!news || (!m.lane && !(m.lane = race_lane_at(r, w, lane))))
    return;
  for (uint32_t i = 0; i < line->n && !(word && word->watched); i++) {
    const race_record *old = &line->records[i];
    for (uint32_t hit = observed_of(b, old, &me, lane); hit; hit &= hit - 1)
      loosen(r, &found, old->block, old->warp, (uint32_t)__builtin_ctz(hit), old->time, old->site);
  }
  if (meets) {
    m.lane->acquired = b->acquired = site;
    b->acquirer = a->who->warp * (uint32_t)SIM_WARP + lane;
  }
  race_memo memo = {0};
  for (int k = 0; k < RACE_N_READINGS; k++)
    if (found.of[k])
      take(&m, k, found.of[k], RACE_LEVEL_DEVICE, &memo);
  if (!word && last && (word = race_word_new(r, all, at, a->bytes, line)) != NULL) {
    word->block = last->block, word->warp = last->warp, word->level = last->level, word->site = last->site;
    word->lane = (uint32_t)__builtin_ctz(last->lanes);
  }
  if (word && !word->watched) {
    word->loose = found, word->watched = true;
    memset(&found, 0, sizeof found);
  }
  m.lane->looked = word ? word->version : 0, m.lane->looker = a->who->insn;
  race_known_drop(&found);
}

const race_view *race_fence_of(const race_warp *w, uint32_t lane, uint32_t level) {
  if (w->fenced[level] >> lane & 1)
    return w->fence[level];
  return w->lanes[lane] ? w->lanes[lane]->fence[level] : NULL;
}

void race_strong(race *r, race_block *b, const sim_access *a, uint32_t lane, race_line *line, uint64_t at,
                 uint32_t space, check_site site, bool looks) {
  race_warp *w = &b->warps[a->who->warp];
  uint32_t level = race_level_of(a->scope);
  race_words *all = race_words_of(r, space);
  race_word **found = line->syncs ? race_word_at(all, at, a->bytes) : NULL, *word = found ? *found : NULL;
  bool writes = a->writes && a->stored >> lane & 1;
  bool releases = a->order == PTX_ORDER_RELEASE || a->order == PTX_ORDER_ACQ_REL;
  if (looks)
    observe(r, b, a, lane, line, at, all, word, level, site);
  if (!writes)
    return;
  bool chained = word && a->reads && word->address == at && word->bytes == a->bytes &&
                 race_reaches(r, b, level, word->block) && level_between(r, b, word->block) <= word->level;
  bool watched = looks && r->hints > 0; /* an atomic whose result is used: others will look as well */
  while (!chained && line->syncs && (found = race_word_at(all, at, a->bytes))) { /* all that it overlaps */
    watched |= (*found)->watched;
    race_word_forget(all, found);
  }
  if (!chained)
    word = NULL;
  if (!releases && !race_fence_of(w, lane, RACE_LEVEL_BLOCK) && !word && !watched)
    return;
  if (!word && !(word = race_word_new(r, all, at, a->bytes, line)))
    return;
  word->watched |= watched;
  if (word->watched)
    loosen(r, &word->loose, b->number, a->who->warp, lane, b->now, site);
  word->block = b->number, word->warp = a->who->warp, word->lane = lane;
  word->level = (uint8_t)level, word->site = site;
  word->version = ++r->versions;
  const race_view *last = NULL;
  for (int k = RACE_LEVELS; k--;) {
    const race_view *v = race_fence_of(w, lane, (uint32_t)k);
    if (!v || v == last)
      continue;
    race_known known = handed(r, b, a->who->warp, lane, v, site);
    head_add(r, word, b->number, (uint32_t)k, &known);
    race_known_drop(&known);
    last = v;
  }
  if (releases) {
    race_settle(r, b, a->who->warp, lane);
    race_view *v = view_new(r, b, w, w->lanes[lane], site);
    if (!v)
      return;
    race_known known = handed(r, b, a->who->warp, lane, v, site);
    head_add(r, word, b->number, level, &known);
    race_known_drop(&known);
    view_drop(v);
  }
}

/* ------------------------------------------------------------------ elsewhere */

void race_release(race *r, race_block *b, uint32_t warp, uint32_t lane, race_known *to, bool releases,
                  check_site site) {
  race_warp *w = &b->warps[warp];
  race_settle(r, b, warp, lane);
  race_view *now = releases ? view_new(r, b, w, w->lanes[lane], site) : NULL;
  const race_view *v = releases ? now : race_fence_of(w, lane, RACE_LEVEL_BLOCK);
  if (v) {
    race_known k = handed(r, b, warp, lane, v, site);
    race_known_join(to, &k, &r->joins);
    race_known_drop(&k);
  }
  view_drop(now);
  b->now++;
}

void race_acquire(race *r, race_block *b, uint32_t warp, uint32_t lane, const race_known *from, uint32_t of,
                  uint32_t level, bool acquires, check_site site) {
  race_settle(r, b, warp, lane);
  meeting m = {.race = r,
               .block = b,
               .lane = race_lane_at(r, &b->warps[warp], lane),
               .level = level,
               .acquires = acquires,
               .site = site};
  if (!m.lane)
    return;
  m.lane->acquired = b->acquired = site;
  b->acquirer = warp * (uint32_t)SIM_WARP + lane;
  take_all(&m, from, level_between(r, b, of), false);
}

/* ------------------------------------------------------------------ events */

void race_sync_event(race *r, const sim_event *e) {
  switch (e->kind) {
  case SIM_EVENT_LAUNCH:
    r->hints = HINTS;
    r->running++;
    race_launch_begin(r, e);
    break;
  case SIM_EVENT_LAUNCH_END:
    clusters_end(r, e->who.launch);
    if (--r->running == 0)
      race_words_free(&r->words);
    break;
  case SIM_EVENT_HOST_COPY:
    race_copy_event(r, e);
    break;
  case SIM_EVENT_FREE:
    race_shadow_forget(&r->global, e->memory.address, e->memory.bytes);
    break;
  case SIM_EVENT_FAULT: /* everything ends, and nothing says so */
    blocks_drop(r);
    clusters_end(r, 0);
    r->running = 0;
    break;
  case SIM_EVENT_BLOCK:
    block_begin(r, e);
    break;
  case SIM_EVENT_BLOCK_END:
    block_end(r, e->who.launch, e->who.block);
    break;
  case SIM_EVENT_FENCE:
    fence(r, e);
    break;
  case SIM_EVENT_ARRIVE:
    if (e->barrier.cluster)
      cluster_barrier(r, e);
    else
      arrive(r, e);
    break;
  case SIM_EVENT_COMPLETE:
    if (e->barrier.cluster)
      cluster_barrier(r, e);
    else
      complete(r, e);
    break;
  case SIM_EVENT_LEAVE:
    if (e->barrier.cluster)
      cluster_barrier(r, e);
    break;
  case SIM_EVENT_MBARRIER:
    race_mbarrier_event(r, e);
    break;
  case SIM_EVENT_COPY:
    race_async_event(r, e);
    break;
  case SIM_EVENT_COLLECTIVE:
    warp_meets(r, e);
    break;
  case SIM_EVENT_EXIT: {
    race_block *b = race_block_of(r, e->who.launch, e->who.block);
    if (b)
      b->warps[e->who.warp].live &= ~e->who.lanes;
    break;
  }
  default:
    break;
  }
}
