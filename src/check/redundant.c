/* redundant.c: barriers of the block that order nothing: the rule barrier-redundant.
 *
 * Barriers at which all of a block wait cut what it does into phases. Two accesses of different threads to
 * one word, one of them a write, in two phases, need a barrier between them. If none of those known to be
 * needed stands there, the last one before the second access is needed from now on. What is never needed may
 * go, all of it at once. A note must not be wrong, so whatever else a barrier may be there for makes it
 * needed: order with other blocks (a strong access or a fence of a scope wider than the block meets every
 * access to global memory), votes, copies, clusters, freed memory.
 *
 * What is known of barriers goes on through schedules and launches; what is followed of blocks does not.
 * Barriers of one source line are one: of an unrolled loop or a template each copy must be of no use.
 *
 * Following costs much, but soon nothing is open any more: then the blocks of a kernel are followed no
 * longer, once one of them has shown which barriers there are. What then turns up in a block that was not
 * followed is taken for needed.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/joins.h"
#include "check/share.h"

enum {
  NUMBERS = 16, /* barriers of a block */
  HEADS = 1024,
  LINE_WORDS = 32,
  LINE_BYTES = 4 * LINE_WORDS,
  MOST_LINES = 1 << 15, /* of all blocks; a block that needs more is not followed */
  MOST_PHASES = (1 << 22) - 1,
  THREAD_BITS = 10
};

/* ------------------------------------------------------------------ what is known of barriers */

typedef struct group {
  char *file; /* NULL: known by its site alone */
  uint32_t line, column;
  check_spot spot; /* the first time in a launch that is told of */
  uint64_t count;  /* in plain runs */
  bool needed;
  bool judged; /* in a block of more than one thread */
} group;

typedef struct kernel {
  const char *name; /* of check_launch */
  uint32_t ptx;
  bool barriers; /* it may have some */
  bool shown;    /* a block that was followed has come to its end */
  uint32_t *groups, n_groups, cap_groups;
} kernel;

struct check_redundant {
  group *groups; /* [1, n_groups) */
  uint32_t n_groups, cap_groups;
  uint32_t *group_of, n_sites; /* of site; 0: not met */
  kernel *kernels;
  uint32_t n_kernels, cap_kernels;
  bool failed;
};

struct check_redundant *check_redundant_new(void) {
  return calloc(1, sizeof(struct check_redundant));
}

void check_redundant_free(struct check_redundant *t) {
  if (!t)
    return;
  for (uint32_t i = 1; i < t->n_groups; i++)
    free(t->groups[i].file);
  for (uint32_t i = 0; i < t->n_kernels; i++)
    free(t->kernels[i].groups);
  free(t->groups);
  free(t->group_of);
  free(t->kernels);
  free(t);
}

uint32_t check_barriers_known(const check *c) {
  return c->redundant->n_groups;
}

bool check_barrier_needed(const check *c, uint32_t barrier) {
  return c->redundant->groups[barrier].needed;
}

void check_barrier_need(check *c, uint32_t barrier) {
  c->redundant->groups[barrier].needed = true;
}

static bool same_place(const group *g, const muster_access *at) {
  return g->file && at->file && g->line == at->line && g->column == at->column &&
         strcmp(g->file, at->file) == 0;
}

/* 0: no memory. */
static uint32_t group_new(struct check_redundant *t, const check *c, check_site site) {
  muster_access at = {0};
  check_place_fill(c, &(check_spot){.site = site}, &at);
  for (uint32_t i = 1; i < t->n_groups; i++)
    if (same_place(&t->groups[i], &at))
      return i;
  t->n_groups += t->n_groups == 0;
  if (!BASE_ROOM(t->groups, t->n_groups, t->cap_groups))
    return 0;
  t->groups[t->n_groups] =
      (group){.file = at.file ? strdup(at.file) : NULL, .line = at.line, .column = at.column};
  return t->n_groups++;
}

static uint32_t group_of(struct check_redundant *t, const check *c, check_site site) {
  if (site >= t->n_sites) {
    uint32_t n = (site + 1) * 2, *more = realloc(t->group_of, n * sizeof *more);
    if (!more)
      return 0;
    memset(more + t->n_sites, 0, (n - t->n_sites) * sizeof *more);
    t->group_of = more, t->n_sites = n;
  }
  if (!t->group_of[site])
    t->group_of[site] = group_new(t, c, site);
  return t->group_of[site];
}

/* May the kernel come to a barrier? */
static bool may_meet(const ptx_body *b) {
  for (uint32_t i = 0; b && i < b->n_insns; i++)
    if (b->insns[i].op == PTX_OP_call_ctl || joins_is_whole_barrier(b, &b->insns[i]))
      return true;
  return false;
}

/* PTX_NONE: no memory. */
static uint32_t kernel_of(struct check_redundant *t, const check_launch *l, const ptx_body *body) {
  for (uint32_t i = 0; i < t->n_kernels; i++)
    if (t->kernels[i].ptx == l->ptx && strcmp(t->kernels[i].name, l->kernel) == 0)
      return i;
  if (!BASE_ROOM(t->kernels, t->n_kernels, t->cap_kernels))
    return PTX_NONE;
  t->kernels[t->n_kernels] = (kernel){.name = l->kernel, .ptx = l->ptx, .barriers = may_meet(body)};
  return t->n_kernels++;
}

static bool is_open(const struct check_redundant *t, const kernel *k) {
  for (uint32_t i = 0; i < k->n_groups; i++)
    if (!t->groups[k->groups[i]].needed)
      return true;
  return false;
}

/* ------------------------------------------------------------------ what is followed of blocks */

/* Who was there, two threads at most of the latest phase and of those before: phase and thread. */
typedef struct seen {
  uint32_t now[2], before[2];
} seen;

typedef struct line {
  uint64_t key; /* 0: free */
  seen reads[LINE_WORDS], writes[LINE_WORDS];
} line;

typedef struct crossing { /* the last time that a barrier of that group was complete */
  uint32_t group, phase;
} crossing;

typedef struct block_state {
  struct block_state *next;
  uint64_t launch, id;
  uint32_t kernel, n_threads;
  uint32_t phase; /* from 1 */
  bool followed;
  line **lines; /* hash; lines do not move */
  uint32_t n_lines, n_slots;
  line *last;
  seen global, outward; /* all accesses to global memory; what may order with other blocks */
  crossing *crossed;
  uint32_t n_crossed, cap_crossed;
  struct {
    uint32_t group; /* 0: nobody has come */
    bool whole;
  } meetings[NUMBERS];
} block_state;

typedef struct redundant {
  check *check;
  block_state *heads[HEADS], *last;
  uint64_t n_followed;
  uint32_t n_lines;
} redundant;

static void *new(check *c) {
  return check_part_new(c, sizeof(redundant));
}

static const uint32_t accesses = CHECK_TAKES_PLAIN | CHECK_TAKES(ACCESS);

static void stop_following(redundant *p, block_state *b) {
  for (uint32_t i = 0; i < b->n_slots; i++)
    free(b->lines[i]);
  free(b->lines);
  p->n_lines -= b->n_lines;
  if (b->followed && --p->n_followed == 0)
    check_takes(p->check, CHECK_PART_redundant, accesses, false);
  b->lines = NULL, b->last = NULL;
  b->n_lines = b->n_slots = 0;
  b->followed = false;
}

static void need(struct check_redundant *t, uint32_t g) {
  t->groups[g].needed = true;
}

/* What the block has come by is not judged. */
static void give_up(redundant *p, block_state *b) {
  for (uint32_t i = 0; i < b->n_crossed; i++)
    need(p->check->redundant, b->crossed[i].group);
  stop_following(p, b);
}

static block_state **block_at(redundant *p, uint64_t launch, uint64_t id) {
  block_state **at = &p->heads[(launch * 31 + id) % HEADS];
  while (*at && ((*at)->launch != launch || (*at)->id != id))
    at = &(*at)->next;
  return at;
}

static block_state *block_of(redundant *p, const sim_who *who) {
  block_state *b = p->last;
  if (!b || b->id != who->block || b->launch != who->launch)
    b = *block_at(p, who->launch, who->block);
  return p->last = b;
}

static void drop_block(redundant *p, block_state **at) {
  block_state *b = *at;
  *at = b->next;
  p->last = NULL;
  stop_following(p, b);
  free(b->crossed);
  free(b);
}

/* Blocks that did not come to their end: nobody knows what would have followed. */
static void drop_all(redundant *p) {
  for (uint32_t h = 0; h < HEADS; h++)
    while (p->heads[h]) {
      give_up(p, p->heads[h]);
      drop_block(p, &p->heads[h]);
    }
}

static void drop(void *part) {
  redundant *p = part;
  if (!p)
    return;
  drop_all(p);
  free(p);
}

/* ------------------------------------------------------------------ pairs */

static uint32_t thread_of(uint32_t s) {
  return s & ((1u << THREAD_BITS) - 1);
}

static uint32_t phase_of(uint32_t s) {
  return s >> THREAD_BITS;
}

static void settle(seen *s, uint32_t phase) {
  if (!s->now[0] || phase_of(s->now[0]) == phase)
    return;
  s->before[1] = s->now[1]                                         ? s->now[1]
                 : thread_of(s->before[0]) != thread_of(s->now[0]) ? s->before[0]
                                                                   : s->before[1];
  s->before[0] = s->now[0];
  s->now[0] = s->now[1] = 0;
}

static void add(seen *s, uint32_t thread, uint32_t phase) {
  uint32_t me = phase << THREAD_BITS | thread;
  settle(s, phase);
  if (!s->now[0])
    s->now[0] = me;
  else if (!s->now[1] && s->now[0] != me)
    s->now[1] = me;
}

/* The last phase before this one in which another thread was there; 0: none. */
static uint32_t others(seen *s, uint32_t thread, uint32_t phase) {
  settle(s, phase);
  return phase_of(s->before[0] && thread_of(s->before[0]) != thread ? s->before[0] : s->before[1]);
}

/* Something of phase `from` has to come before something of now. */
static void pair(redundant *p, block_state *b, uint32_t from) {
  struct check_redundant *t = p->check->redundant;
  const crossing *last = NULL;
  if (!from)
    return;
  for (uint32_t i = 0; i < b->n_crossed; i++) {
    const crossing *x = &b->crossed[i];
    if (x->phase > from && t->groups[x->group].needed)
      return;
    if (!last || x->phase > last->phase)
      last = x;
  }
  if (last)
    need(t, last->group);
}

static line *line_new(redundant *p, block_state *b, uint64_t key) {
  if (2 * b->n_lines >= b->n_slots) {
    uint32_t n = b->n_slots ? 2 * b->n_slots : 16;
    line **lines = calloc(n, sizeof(line *));
    if (!lines)
      return NULL;
    for (uint32_t i = 0; i < b->n_slots; i++)
      if (b->lines[i]) {
        uint32_t k = (uint32_t)(b->lines[i]->key % n);
        while (lines[k])
          k = (k + 1) % n;
        lines[k] = b->lines[i];
      }
    free(b->lines);
    b->lines = lines, b->n_slots = n;
  }
  uint32_t k = (uint32_t)(key % b->n_slots);
  while (b->lines[k])
    k = (k + 1) % b->n_slots;
  if (p->n_lines >= MOST_LINES || !(b->lines[k] = calloc(1, sizeof(line))))
    return NULL;
  b->lines[k]->key = key;
  p->n_lines++, b->n_lines++;
  return b->lines[k];
}

/* NULL: the block cannot be followed. */
static line *line_at(redundant *p, block_state *b, uint8_t space, uint64_t address) {
  uint64_t key = (address / LINE_BYTES) << 2 | (space == PTX_SPACE_SHARED ? 3 : 1);
  if (b->last && b->last->key == key)
    return b->last;
  uint32_t k = b->n_slots ? (uint32_t)(key % b->n_slots) : 0;
  while (b->n_slots && b->lines[k] && b->lines[k]->key != key)
    k = (k + 1) % b->n_slots;
  return b->last = b->n_slots && b->lines[k] ? b->lines[k] : line_new(p, b, key);
}

static void touch(redundant *p, block_state *b, uint32_t thread, uint8_t space, uint64_t address,
                  uint32_t bytes, bool reads, bool writes) {
  for (uint64_t at = address & ~UINT64_C(3); at < address + bytes; at += 4) {
    line *l = line_at(p, b, space, at);
    uint32_t w = (uint32_t)(at % LINE_BYTES / 4);
    if (!l) {
      give_up(p, b);
      return;
    }
    pair(p, b, others(&l->writes[w], thread, b->phase));
    if (writes) {
      pair(p, b, others(&l->reads[w], thread, b->phase));
      add(&l->writes[w], thread, b->phase);
    }
    if (reads)
      add(&l->reads[w], thread, b->phase);
  }
}

static void global(redundant *p, block_state *b, uint32_t thread, bool outward) {
  pair(p, b, others(&b->outward, thread, b->phase));
  add(&b->global, thread, b->phase);
  if (!outward)
    return;
  pair(p, b, others(&b->global, thread, b->phase));
  add(&b->outward, thread, b->phase);
}

/* ------------------------------------------------------------------ events */

static void begin(redundant *p, const sim_event *e) {
  struct check_redundant *t = p->check->redundant;
  const check_launch *l = check_launch_of(p->check, e->who.launch);
  if (!l || l->cluster[0] > 0 || !check_is_on(p->check, MUSTER_RULE_BARRIER_REDUNDANT))
    return;
  uint32_t k = kernel_of(t, l, e->who.body);
  if (k == PTX_NONE || !t->kernels[k].barriers)
    return;
  block_state *b = calloc(1, sizeof *b);
  if (!b)
    return;
  *b = (block_state){.launch = e->who.launch,
                     .id = e->who.block,
                     .kernel = k,
                     .n_threads = l->n_threads,
                     .phase = 1,
                     .followed = !t->kernels[k].shown || is_open(t, &t->kernels[k])};
  if (b->followed && p->n_followed++ == 0)
    check_takes(p->check, CHECK_PART_redundant, accesses, true);
  *block_at(p, b->launch, b->id) = b;
}

static void end(redundant *p, const sim_event *e) {
  block_state **at = block_at(p, e->who.launch, e->who.block);
  if (!*at)
    return;
  p->check->redundant->kernels[(*at)->kernel].shown = true;
  drop_block(p, at);
}

static void access(redundant *p, const sim_event *e) {
  const sim_access *a = e->access;
  block_state *b = block_of(p, &e->who);
  struct check_redundant *t = p->check->redundant;
  if (!b || !b->followed || (a->space != PTX_SPACE_GLOBAL && a->space != PTX_SPACE_SHARED))
    return;
  if (t->kernels[b->kernel].shown && !is_open(t, &t->kernels[b->kernel])) {
    stop_following(p, b);
    return;
  }
  bool outward = a->order != PTX_ORDER_WEAK && a->scope != PTX_SCOPE_CTA;
  for (uint32_t lanes = e->who.lanes; lanes && b->followed; lanes &= lanes - 1) {
    uint32_t i = (uint32_t)__builtin_ctz(lanes), thread = e->who.warp * SIM_WARP + i;
    if (a->space == PTX_SPACE_GLOBAL)
      global(p, b, thread, outward);
    touch(p, b, thread, a->space, sim_address_of(a, i), a->bytes, a->reads, a->writes);
  }
}

static void fence(redundant *p, const sim_event *e) {
  block_state *b = block_of(p, &e->who);
  if (!b || !b->followed || e->fence.scope == PTX_SCOPE_CTA)
    return;
  for (uint32_t lanes = e->who.lanes; lanes; lanes &= lanes - 1)
    global(p, b, e->who.warp * SIM_WARP + (uint32_t)__builtin_ctz(lanes), true);
}

static void mbarrier(redundant *p, const sim_event *e) {
  block_state *b = block_of(p, &e->who);
  for (uint32_t lanes = e->who.lanes; b && b->followed && lanes; lanes &= lanes - 1)
    touch(p, b, e->who.warp * SIM_WARP + (uint32_t)__builtin_ctz(lanes), PTX_SPACE_SHARED,
          e->mbarrier.address, 8, true, true);
}

static void arrive(redundant *p, const sim_event *e) {
  struct check_redundant *t = p->check->redundant;
  block_state *b = block_of(p, &e->who);
  uint32_t n = e->barrier.number % NUMBERS;
  uint32_t g = b ? group_of(t, p->check, check_site_of(p->check, &e->who)) : 0;
  if (!g)
    return;
  bool whole = e->barrier.waits && !e->barrier.count;
  bool votes = e->who.insn->op == PTX_OP_bar_red || e->who.insn->op == PTX_OP_barrier_red;
  uint32_t *met = &b->meetings[n].group;
  if (!whole || votes)
    need(t, g);
  b->meetings[n].whole = whole && (!*met || b->meetings[n].whole);
  if (*met && *met != g) { /* one barrier, at two places */
    need(t, *met);
    need(t, g);
  }
  const check_launch *l = check_launch_of(p->check, e->who.launch);
  group *x = &t->groups[g];
  if (!x->spot.site && l && l->selected)
    x->spot = check_spot_of(p->check, &e->who, (uint32_t)__builtin_ctz(e->who.lanes));
  x->judged |= b->n_threads > 1;
  *met = g;
}

static void come_by(redundant *p, block_state *b, uint32_t g) {
  struct check_redundant *t = p->check->redundant;
  kernel *k = &t->kernels[b->kernel];
  uint32_t i = 0;
  t->groups[g].count += !p->check->further;
  while (i < k->n_groups && k->groups[i] != g)
    i++;
  if (i == k->n_groups && BASE_ROOM(k->groups, k->n_groups, k->cap_groups))
    k->groups[k->n_groups++] = g;
  if (!b->followed || b->phase == MOST_PHASES) {
    need(t, g);
    give_up(p, b);
    return;
  }
  for (i = 0; i < b->n_crossed && b->crossed[i].group != g;)
    i++;
  if (i == b->n_crossed && !BASE_ROOM(b->crossed, b->n_crossed, b->cap_crossed)) {
    need(t, g);
    give_up(p, b);
    return;
  }
  b->n_crossed += i == b->n_crossed;
  b->crossed[i] = (crossing){g, ++b->phase};
}

static void complete(redundant *p, const sim_event *e) {
  block_state *b = block_of(p, &e->who);
  uint32_t n = e->barrier.number % NUMBERS;
  if (!b || !b->meetings[n].group)
    return;
  if (b->meetings[n].whole)
    come_by(p, b, b->meetings[n].group);
  b->meetings[n].group = 0;
}

static sim_answer event(void *part, const sim_event *e) {
  redundant *p = part;
  block_state *b;
  switch (e->kind) {
  case SIM_EVENT_ACCESS:
    access(p, e);
    break;
  case SIM_EVENT_BLOCK:
    begin(p, e);
    break;
  case SIM_EVENT_BLOCK_END:
    end(p, e);
    break;
  case SIM_EVENT_FAULT:
    drop_all(p);
    break;
  case SIM_EVENT_FENCE:
    fence(p, e);
    break;
  case SIM_EVENT_MBARRIER:
    mbarrier(p, e);
    break;
  case SIM_EVENT_COPY: /* done nobody knows when */
  case SIM_EVENT_HEAP:
    b = block_of(p, &e->who);
    if (b)
      give_up(p, b);
    break;
  case SIM_EVENT_ARRIVE:
    if (!e->barrier.cluster)
      arrive(p, e);
    break;
  case SIM_EVENT_COMPLETE:
    if (!e->barrier.cluster)
      complete(p, e);
    break;
  default:
    break;
  }
  return SIM_GO_ON;
}

static bool met(void *part, const sim_event *e, const uint32_t *lanes, uint32_t n_warps) {
  (void)lanes, (void)n_warps; /* arrivals of one block at one barrier are alike */
  arrive(part, e);
  complete(part, e);
  return true;
}

const check_part check_part_redundant = {
    .name = "redundant",
    .watch = SIM_WATCH_ACCESS | SIM_WATCH_SYNC,
    .takes = CHECK_TAKES(BLOCK) | CHECK_TAKES(BLOCK_END) | CHECK_TAKES(FAULT) | CHECK_TAKES(FENCE) |
             CHECK_TAKES(MBARRIER) | CHECK_TAKES(COPY) | CHECK_TAKES(HEAP) | CHECK_TAKES(ARRIVE) |
             CHECK_TAKES(COMPLETE),
    .new = new,
    .free = drop,
    .event = event,
    .met = met};

/* ------------------------------------------------------------------ in the end */

void check_redundant_end(check *c) {
  struct check_redundant *t = c->redundant;
  drop_all(c->parts[CHECK_PART_redundant]);
  for (uint32_t i = 1; i < t->n_groups; i++) {
    const group *g = &t->groups[i];
    const check_launch *l = check_launch_of(c, g->spot.launch);
    if (g->needed || !g->judged || !g->count || !l || check_was_wrong(c, l->kernel))
      continue;
    check_report(c,
                 &(check_found){
                     .rule = MUSTER_RULE_BARRIER_REDUNDANT,
                     .relation = "block",
                     .count = g->count,
                     .message =
                         "this barrier orders nothing: what threads of the block did before it meets nothing "
                         "that others did behind it, but what another barrier orders as well",
                     .sides = {{.kind = "barrier", .spot = g->spot}}});
  }
}
