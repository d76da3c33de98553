/* barrier.c: barriers of the block: the rules barrier-divergence, barrier-exited and barrier-count.
 *
 * Of each barrier at work one waiter is remembered, the first that came; all others are compared with it.
 * That another thread of the block passed the barrier by shows at a join (joins.h) of a branch around the
 * barrier: it came there in the round of the loops in which the waiter is, or in a later one. So threads are
 * followed from block to block of the flow graph, but only in kernels where a barrier lies in the region of a
 * branch that may vary within a block; there are few that are right.
 *
 * What follows from that is not told again: a block is quiet until its threads meet at one barrier.
 *
 * A thread found so goes on. The finding is told when it next comes to a barrier or leaves the kernel, since
 * only then both sides are known.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/joins.h"

enum { LEVELS = 6 /* calls deep in which threads are followed */, BARRIERS = 16, HEADS = 1024 };

/* Where the lanes of a warp are in a function: of each loop the round they are in, how often they came by its
 * head in all, and how often by that of the loop around it when they entered; of each point the count of its
 * loop when they last came by. */
typedef struct round_of {
  uint32_t round[SIM_WARP], total[SIM_WARP], outer[SIM_WARP];
} round_of;

typedef struct frame {
  const joins *j;
  uint32_t level;
  round_of *loops;
  uint32_t (*passed)[SIM_WARP];
} frame;

typedef struct warp_state {
  frame *frames;
  uint32_t n_frames, cap_frames;
  uint32_t fresh[LEVELS]; /* lanes that have entered a function, and nobody has looked since */
  const joins *at[LEVELS][SIM_WARP];
  uint32_t call[LEVELS][SIM_WARP]; /* the call on each level below the thread's own */
  uint8_t level[SIM_WARP];
  uint32_t exists, arrived, exited, past; /* lanes; past: known to have passed a waiter by */
  uint32_t together;                      /* they have come the same way, as far as is kept here */
  check_site exit[SIM_WARP];
} warp_state;

typedef struct waiter {
  bool on;
  uint32_t count, lane;
  sim_who who;
  check_spot spot;
} waiter;

typedef struct block_state {
  struct block_state *next; /* of the same hash */
  uint64_t launch, id;
  uint32_t n_warps;
  warp_state *warps; /* NULL: nobody is followed */
  waiter waiters[BARRIERS];
  bool apart, apart_before; /* its threads are at different barriers: in this phase, in the one before */
  uint32_t n_exited;        /* since a barrier was last complete, without those that are past it */
  check_spot first_exit;
  struct {
    bool on;
    waiter waiter;
    check_spot thread, went_on;
    const joins *j;
    const joins_region *region;
  } past; /* the first of this phase */
} block_state;

typedef struct known {
  joins *j;
  bool follow; /* it, or what it calls, has barriers that not all threads may come by */
} known;

typedef struct barrier {
  check *check;
  block_state *heads[HEADS];
  known *known;
  uint32_t n_known, cap_known;
  uint64_t n_followed; /* blocks */
} barrier;

/* ------------------------------------------------------------------ state */

static void *new(check *c) {
  return check_part_new(c, sizeof(barrier));
}

static void free_block(barrier *p, block_state *b) {
  if (b->warps && --p->n_followed == 0)
    p->check->watcher.watch &= ~(uint32_t)SIM_WATCH_BRANCHES;
  for (uint32_t w = 0; b->warps && w < b->n_warps; w++) {
    for (uint32_t f = 0; f < b->warps[w].n_frames; f++)
      free(b->warps[w].frames[f].loops), free(b->warps[w].frames[f].passed);
    free(b->warps[w].frames);
  }
  free(b->warps);
  free(b);
}

static void drop(void *part) {
  barrier *p = part;
  if (!p)
    return;
  for (uint32_t h = 0; h < HEADS; h++)
    for (block_state *b = p->heads[h], *next; b; b = next) {
      next = b->next;
      free_block(p, b);
    }
  for (uint32_t k = 0; k < p->n_known; k++)
    joins_free(p->known[k].j);
  free(p->known);
  free(p);
}

static block_state **block_at(barrier *p, uint64_t launch, uint64_t id) {
  block_state **at = &p->heads[(launch * 31 + id) % HEADS];
  while (*at && ((*at)->launch != launch || (*at)->id != id))
    at = &(*at)->next;
  return at;
}

static void no_memory(barrier *p) {
  check_unjudged(p->check, "out of memory: barriers of some blocks were not watched");
}

/* Of a function; NULL: out of memory. */
static known *known_of(barrier *p, const ptx_module *m, uint32_t func, const ptx_body *b) {
  for (uint32_t k = p->n_known; k-- > 0;)
    if (joins_are_of(p->known[k].j, b))
      return &p->known[k];
  if (!BASE_ROOM(p->known, p->n_known, p->cap_known))
    return NULL;
  joins *j = joins_new(m, func, b);
  if (!j)
    return NULL;
  uint32_t at = p->n_known++;
  p->known[at] = (known){j, j->varies}; /* before what it calls: it may call itself */
  for (uint32_t s = 0; s < j->n_stops; s++) {
    const ptx_insn *i = &b->insns[j->stops[s].insn];
    if (i->op != PTX_OP_call_ctl)
      continue;
    uint32_t callee = b->operands[i->operands + 1].index;
    const ptx_body *its = ptx_body_of((ptx_module *)(uintptr_t)m, callee);
    known *k = its ? known_of(p, m, callee, its) : NULL;
    p->known[at].follow |= k && k->follow;
  }
  return &p->known[at];
}

static block_state *add_block(barrier *p, const sim_who *who, bool follow) {
  const check_launch *l = check_launch_of(p->check, who->launch);
  block_state *b = calloc(1, sizeof *b);
  if (!b || !l) {
    free(b);
    no_memory(p);
    return NULL;
  }
  b->launch = who->launch, b->id = who->block;
  b->n_warps = (l->n_threads + SIM_WARP - 1) / SIM_WARP;
  if (follow && !(b->warps = calloc(b->n_warps, sizeof *b->warps)))
    no_memory(p);
  if (b->warps && p->n_followed++ == 0)
    p->check->watcher.watch |= SIM_WATCH_BRANCHES;
  for (uint32_t w = 0; b->warps && w < b->n_warps; w++) {
    uint32_t lanes = l->n_threads - w * SIM_WARP;
    b->warps[w].exists = b->warps[w].fresh[0] = lanes >= SIM_WARP ? UINT32_MAX : (UINT32_C(1) << lanes) - 1;
  }
  return *block_at(p, b->launch, b->id) = b;
}

/* ------------------------------------------------------------------ following threads */

static frame *frame_of(barrier *p, warp_state *w, uint32_t level, const joins *j) {
  for (uint32_t f = 0; f < w->n_frames; f++)
    if (w->frames[f].level == level && w->frames[f].j == j)
      return &w->frames[f];
  if (!BASE_ROOM(w->frames, w->n_frames, w->cap_frames)) {
    no_memory(p);
    return NULL;
  }
  frame f = {.j = j,
             .level = level,
             .loops = calloc(j->n_loops + 1, sizeof *f.loops),
             .passed = calloc(j->n_points + 1, sizeof *f.passed)};
  if (!f.loops || !f.passed) {
    free(f.loops);
    free(f.passed);
    no_memory(p);
    return NULL;
  }
  w->frames[w->n_frames] = f;
  return &w->frames[w->n_frames++];
}

#define EACH(i, mask)                                                                            \
  for (uint32_t each_##i = (mask), i; each_##i && (i = (uint32_t)__builtin_ctz(each_##i), true); \
       each_##i &= each_##i - 1)

static uint32_t total_of(const frame *f, uint32_t loop, uint32_t lane) {
  return loop == PTX_NONE ? 1 : f->loops[loop].total[lane];
}

static inline void next_round(round_of *r, const uint32_t *outer, uint32_t i) {
  r->round[i] = (r->outer[i] == outer[i] ? r->round[i] : 0) + 1;
  r->outer[i] = outer[i];
  r->total[i]++;
}

static void come_by_head(frame *f, uint32_t l, uint32_t lanes) {
  static const uint32_t once[SIM_WARP] = {[0 ... SIM_WARP - 1] = 1};
  round_of *r = &f->loops[l];
  uint32_t parent = f->j->loops[l].parent;
  const uint32_t *outer = parent == PTX_NONE ? once : f->loops[parent].total;
  if (lanes == UINT32_MAX) /* one loop of vectors */
    for (uint32_t i = 0; i < SIM_WARP; i++)
      next_round(r, outer, i);
  else
    EACH(i, lanes)
  next_round(r, outer, i);
}

static void pass(frame *f, uint32_t point, uint32_t lanes) {
  uint32_t loop = f->j->points[point].loop;
  if (lanes == UINT32_MAX && loop != PTX_NONE)
    memcpy(f->passed[point], f->loops[loop].total, sizeof f->passed[point]);
  else
    EACH(i, lanes)
  f->passed[point][i] = total_of(f, loop, i);
}

/* Lanes are at an instruction, and go on to where the next word about them must come. True: on the way was
 * what others may be compared by. */
static bool walk(frame *f, uint32_t lanes, uint32_t insn) {
  const joins *j = f->j;
  bool counts = false;
  for (uint32_t steps = 0; lanes && steps <= j->n_blocks && insn < j->n_insns; steps++) {
    const ptx_block *k = &j->body->blocks[j->block_of[insn]];
    for (uint32_t l = 0; insn == k->first && l < j->n_loops; l++)
      if (j->loops[l].head == j->block_of[insn]) {
        come_by_head(f, l, lanes);
        counts = true;
      }
    for (uint32_t q = 0; q < j->n_points; q++)
      if (j->points[q].insn == insn) {
        pass(f, q, lanes);
        counts = true;
      }
    for (; insn < k->end; insn++)
      if (j->halts[insn])
        return counts;
    const ptx_insn *last = &j->insns[k->end - 1];
    if (k->n_succ != 1 || (last->op == PTX_OP_bra_ctl && last->guard != PTX_NONE))
      return counts;
    insn = j->body->blocks[j->body->edges[k->succ]].first;
  }
  return counts;
}

/* What is kept of some lanes changes. */
static void move(warp_state *w, uint32_t lanes) {
  uint32_t some = w->together & lanes;
  if (some && some != w->together)
    w->together = 0;
}

/* Makes sure that the lanes are known to be in this function. */
static frame *settle(barrier *p, warp_state *w, const sim_who *who, const joins *j) {
  uint32_t lanes = who->lanes & w->fresh[who->depth];
  frame *f = frame_of(p, w, who->depth, j);
  if (!f || !lanes)
    return f;
  w->fresh[who->depth] &= ~lanes;
  move(w, lanes);
  EACH(i, lanes) {
    w->level[i] = (uint8_t)who->depth;
    w->at[who->depth][i] = j;
    for (uint32_t l = 0; l < j->n_loops; l++)
      f->loops[l].round[i] = f->loops[l].total[i] = f->loops[l].outer[i] = 0;
    for (uint32_t q = 0; q < j->n_points; q++)
      f->passed[q][i] = 0;
  }
  walk(f, lanes, 0);
  return f;
}

/* ------------------------------------------------------------------ who is past whom */

typedef struct thread {
  warp_state *w;
  uint32_t lane;
} thread;

static uint32_t round_in(const frame *f, uint32_t l, uint32_t lane) {
  uint32_t parent = f->j->loops[l].parent;
  uint32_t outer = parent == PTX_NONE ? 1 : f->loops[parent].total[lane];
  return f->loops[l].outer[lane] == outer ? f->loops[l].round[lane] : 0;
}

/* Which of two threads is in a later round of the loops around and including l; 0: both in the same. */
static int compare(const frame *a, uint32_t a_lane, const frame *b, uint32_t b_lane, uint32_t l) {
  if (l == PTX_NONE)
    return 0;
  int outer = compare(a, a_lane, b, b_lane, a->j->loops[l].parent);
  uint32_t x = round_in(a, l, a_lane), y = round_in(b, l, b_lane);
  return outer ? outer : x < y ? -1 : x > y;
}

static frame *frame_at(const thread *t, uint32_t level) {
  for (uint32_t f = 0; f < t->w->n_frames; f++)
    if (t->w->frames[f].level == level && t->w->frames[f].j == t->w->at[level][t->lane])
      return &t->w->frames[f];
  return NULL;
}

static const joins_region *passed_on_level(const frame *t, uint32_t lane, const frame *w, uint32_t w_lane,
                                           const joins_stop *stop) {
  for (uint32_t k = 0; k < stop->n; k++) {
    const joins_region *r = &w->j->regions[stop->first + k];
    const joins_point *q = &w->j->points[r->point];
    int order = compare(t, lane, w, w_lane, q->loop);
    if (order > 0 || (order == 0 && !q->head && t->passed[r->point][lane] == total_of(t, q->loop, lane)))
      return r;
  }
  return NULL;
}

/* The branch around a waiter's barrier whose join t has come by; NULL: none, as far as is known.
 * `same_round`: whether t, which is at that barrier too, is in the same round of all loops. */
static const joins_region *passed(const thread *t, const waiter *x, thread w, const joins **where,
                                  bool *same_round) {
  *same_round = true;
  for (uint32_t d = 0; d <= x->who.depth && d < LEVELS; d++) {
    const frame *f = frame_at(t, d), *g = frame_at(&w, d);
    bool top = d == x->who.depth;
    if (!f || !g || f->j != g->j)
      return NULL;
    uint32_t insn = top ? (uint32_t)(x->who.insn - g->j->insns) : w.w->call[d][w.lane];
    const joins_stop *stop = joins_stop_at(g->j, insn);
    if (!stop)
      return NULL;
    *where = g->j;
    const joins_region *r = passed_on_level(f, t->lane, g, w.lane, stop);
    if (r)
      return r;
    if (compare(f, t->lane, g, w.lane, stop->loop))
      *same_round = false;
    if (!*same_round || (!top && (t->w->level[t->lane] <= d || t->w->call[d][t->lane] != insn)))
      return NULL;
  }
  return NULL;
}

/* ------------------------------------------------------------------ findings */

static void put_line(const joins *j, uint32_t insn, char *out, size_t bytes) {
  const ptx_insn *i = &j->insns[insn];
  const ptx_loc *l = i->loc == PTX_NONE ? NULL : &j->body->locs[i->loc];
  const char *slash = l && l->file ? strrchr(l->file, '/') : NULL;
  if (l && l->file)
    snprintf(out, bytes, "%s:%u", slash ? slash + 1 : l->file, l->line);
  else
    snprintf(out, bytes, "PTX line %u", i->place.line);
}

static check_site site_in(barrier *p, const joins *j, uint32_t insn) {
  sim_who who = {.module = j->module, .func = j->func, .body = j->body, .insn = &j->insns[insn]};
  return check_site_of(p->check, &who);
}

/* The thread that went past is now at a barrier, or has left, or (kind NULL) its end is not known. */
static void tell_past(barrier *p, block_state *b, const char *kind, const check_spot *now) {
  char branch[280], went_on[280], message[900], missing[400];
  if (!b->past.on)
    return;
  b->past.on = false;
  b->apart = true;
  if (b->apart_before)
    return;
  const joins *j = b->past.j;
  put_line(j, b->past.region->branch, branch, sizeof branch);
  put_line(j, j->points[b->past.region->point].insn, went_on, sizeof went_on);
  snprintf(message, sizeof message,
           "some threads of the block wait at this barrier, others went past it: they parted at %s, and "
           "those went on at "
           "%s%s",
           branch, went_on,
           !kind                       ? ""
           : strcmp(kind, "exit") == 0 ? " and left the kernel"
                                       : " to another barrier");
  snprintf(missing, sizeof missing,
           "the barrier where every thread of the block comes by equally often, outside of the branch at %s",
           branch);
  check_found f = {.rule = MUSTER_RULE_BARRIER_DIVERGENCE,
                   .relation = "block",
                   .message = message,
                   .missing = "block-barrier",
                   .missing_text = missing,
                   .missing_site = site_in(p, j, b->past.region->branch),
                   .sides = {{.kind = "barrier", .spot = b->past.waiter.spot}}};
  if (kind)
    f.sides[1] = (check_side){.kind = kind, .spot = *now};
  check_report(p->check, &f);
}

static void note_past(barrier *p, block_state *b, warp_state *w, uint32_t lane, const waiter *x,
                      const joins *j, const joins_region *r) {
  check_spot thread = {
      .launch = b->launch, .block = b->id, .thread = (uint32_t)(w - b->warps) * SIM_WARP + lane};
  w->past |= UINT32_C(1) << lane;
  if (!b->past.on) {
    b->past.on = true;
    b->past.waiter = *x, b->past.thread = thread, b->past.j = j, b->past.region = r;
  }
  if (w->exited >> lane & 1) {
    b->n_exited -= b->n_exited > 0;
    thread.site = w->exit[lane];
    tell_past(p, b, "exit", &thread);
  }
}

/* Those of the lanes that have come the same way as this one. */
static uint32_t alike(const warp_state *w, uint32_t lane, uint32_t lanes) {
  uint32_t differs[SIM_WARP] = {0}, same = 0;
  for (uint32_t f = 0; f < w->n_frames; f++) {
    const frame *g = &w->frames[f];
    for (uint32_t l = 0; l < g->j->n_loops; l++) {
      const round_of *r = &g->loops[l];
      for (uint32_t i = 0; i < SIM_WARP; i++)
        differs[i] |=
            (r->round[i] ^ r->round[lane]) | (r->total[i] ^ r->total[lane]) | (r->outer[i] ^ r->outer[lane]);
    }
    for (uint32_t q = 0; q < g->j->n_points; q++)
      for (uint32_t i = 0; i < SIM_WARP; i++)
        differs[i] |= g->passed[q][i] ^ g->passed[q][lane];
  }
  EACH(i, lanes) {
    bool is = !differs[i] && w->level[i] == w->level[lane];
    for (uint32_t d = 0; is && d <= w->level[lane] && d < LEVELS; d++)
      is = w->at[d][i] == w->at[d][lane] && (d == w->level[lane] || w->call[d][i] == w->call[d][lane]);
    same |= (uint32_t)is << i;
  }
  return same;
}

/* Compares lanes with whoever waits at a barrier of the whole block. */
static void look(barrier *p, block_state *b, warp_state *w, uint32_t lanes) {
  lanes &= ~(w->arrived | w->past);
  for (uint32_t n = 0; n < BARRIERS && lanes; n++) {
    const waiter *x = &b->waiters[n];
    if (!x->on || x->count || x->who.depth >= LEVELS)
      continue;
    for (uint32_t left = lanes; left;) {
      const joins *j = NULL;
      bool same;
      uint32_t i = (uint32_t)__builtin_ctz(left);
      thread t = {w, i};
      const joins_region *r = passed(&t, x, (thread){&b->warps[x->who.warp], x->lane}, &j, &same);
      left &= left - 1;
      if (r)
        note_past(p, b, w, i, x, j, r);
      else if (left & ~w->together || !(w->together >> i & 1)) {
        uint32_t same = left ? alike(w, i, left) : 0;
        w->together = same == left ? same | UINT32_C(1) << i : w->together;
        left &= ~same;
      } else {
        left = 0;
      }
    }
  }
}

static void look_at_all(barrier *p, block_state *b) {
  for (uint32_t w = 0; w < b->n_warps; w++)
    look(p, b, &b->warps[w], b->warps[w].exists);
}

static void differ(barrier *p, block_state *b, const waiter *x, const check_spot *other,
                   const char *message) {
  b->apart = true;
  if (b->apart_before)
    return;
  check_report(
      p->check,
      &(check_found){.rule = MUSTER_RULE_BARRIER_DIVERGENCE,
                     .relation = "block",
                     .message = message,
                     .missing = "block-barrier",
                     .missing_text = "one barrier where every thread of the block comes by equally often; "
                                     "or numbered barriers with a count, for parts of the block",
                     .sides = {{.kind = "barrier", .spot = x->spot}, {.kind = "barrier", .spot = *other}}});
}

static void count_differs(barrier *p, const waiter *x, uint32_t number, uint32_t count,
                          const check_spot *other) {
  char message[160], of[2][32];
  const uint32_t counts[2] = {x->count, count};
  for (int k = 0; k < 2; k++)
    snprintf(of[k], sizeof of[k], counts[k] ? "%u threads" : "all threads", counts[k]);
  snprintf(message, sizeof message, "barrier %u is entered for %s and for %s at the same time", number, of[0],
           of[1]);
  check_report(
      p->check,
      &(check_found){.rule = MUSTER_RULE_BARRIER_COUNT,
                     .relation = "block",
                     .message = message,
                     .missing = "count",
                     .missing_text = "one number of threads for all that take part in a phase of the barrier",
                     .sides = {{.kind = "barrier", .spot = x->spot}, {.kind = "barrier", .spot = *other}}});
}

static void exited(barrier *p, block_state *b, const waiter *x) {
  char message[200];
  snprintf(
      message, sizeof message,
      "%u thread%s of the block left the kernel before this barrier; the hardware counts %s out, and goes on",
      b->n_exited, b->n_exited == 1 ? "" : "s", b->n_exited == 1 ? "it" : "them");
  check_report(p->check, &(check_found){.rule = MUSTER_RULE_BARRIER_EXITED,
                                        .relation = "block",
                                        .message = message,
                                        .sides = {{.kind = "barrier", .spot = x->spot},
                                                  {.kind = "exit", .spot = b->first_exit}}});
}

/* ------------------------------------------------------------------ events */

static void arrive(barrier *p, block_state *b, const sim_event *e, const joins *j) {
  uint32_t number = e->barrier.number % BARRIERS, lane = (uint32_t)__builtin_ctz(e->who.lanes);
  waiter *x = &b->waiters[number];
  check_spot spot = check_spot_of(p->check, &e->who, lane);
  warp_state *w = b->warps ? &b->warps[e->who.warp] : NULL;
  bool first = !x->on, followed = w && j && e->who.depth < LEVELS && !e->barrier.count;
  if (followed)
    settle(p, w, &e->who, j);
  if (w) {
    w->arrived |= e->barrier.waits ? e->who.lanes : 0;
    if (w->past & e->who.lanes)
      tell_past(p, b, "barrier", &spot);
  }
  if (first) {
    *x = (waiter){true, e->barrier.count, lane, e->who, spot};
    if (followed)
      look_at_all(p, b);
    return;
  }
  if (x->count != e->barrier.count) {
    count_differs(p, x, number, e->barrier.count, &spot);
  } else if (!x->count && x->who.insn != e->who.insn) {
    if (!w || !(w->past & e->who.lanes))
      differ(p, b, x, &spot, "threads of one block wait at different barriers, each for the whole block");
  } else if (followed) {
    const joins *where;
    bool same;
    thread t = {w, lane};
    passed(&t, x, (thread){&b->warps[x->who.warp], x->lane}, &where, &same);
    if (!same && !(w->past & e->who.lanes))
      differ(p, b, x, &spot, "threads of one block meet at this barrier in different rounds of its loop");
  }
}

static void complete(barrier *p, block_state *b, uint32_t number) {
  waiter *x = &b->waiters[number];
  if (x->on && !x->count) {
    if (b->n_exited && !b->apart && !b->apart_before)
      exited(p, b, x);
    b->n_exited = 0;
    b->apart_before = b->apart, b->apart = false;
    for (uint32_t w = 0; b->warps && w < b->n_warps; w++)
      b->warps[w].past = b->past.on ? b->warps[w].past : 0;
  }
  x->on = false;
}

static void leave_kernel(barrier *p, block_state *b, const sim_event *e) {
  check_spot spot = check_spot_of(p->check, &e->who, (uint32_t)__builtin_ctz(e->who.lanes));
  uint32_t quiet = e->who.lanes;
  if (b->warps) {
    warp_state *w = &b->warps[e->who.warp];
    if (w->past & e->who.lanes)
      tell_past(p, b, "exit", &spot);
    quiet &= ~w->past;
    w->exited |= e->who.lanes;
    EACH(i, e->who.lanes)
    w->exit[i] = spot.site;
  }
  if (b->n_exited == 0)
    b->first_exit = spot;
  b->n_exited += (uint32_t)__builtin_popcount(quiet);
}

static void follow(barrier *p, block_state *b, const sim_event *e, const joins *j) {
  const sim_who *who = &e->who;
  uint32_t d = who->depth, n = (uint32_t)(who->insn - j->insns);
  warp_state *w = &b->warps[who->warp];
  bool counts = d < LEVELS && who->lanes & w->fresh[d];
  frame *f = d < LEVELS ? settle(p, w, who, j) : NULL;
  if (!f)
    return;
  switch (e->kind) {
  case SIM_EVENT_BRANCH:
    if (ptx_op_get((ptx_op)who->insn->op)->sync == PTX_SYNC_BRANCH) {
      counts |= walk(f, e->branch.taken, e->branch.target);
      counts |= walk(f, who->lanes & ~e->branch.taken, n + 1);
    } else if (j->halts[n]) {
      counts |= walk(f, e->branch.taken, e->branch.target);
    }
    if (!counts)
      return;
    move(w, e->branch.taken);
    move(w, who->lanes & ~e->branch.taken);
    break;
  case SIM_EVENT_LEAVE:
    w->arrived &= ~who->lanes;
    move(w, who->lanes);
    walk(f, who->lanes, n + 1);
    break;
  case SIM_EVENT_CALL:
    move(w, who->lanes);
    EACH(i, joins_stop_at(j, n) ? who->lanes : 0) {
      w->call[d][i] = n;
      w->level[i] = (uint8_t)(d + 1);
      if (d + 1 < LEVELS)
        w->fresh[d + 1] |= UINT32_C(1) << i;
    }
    break;
  case SIM_EVENT_RETURN:
    w->together = 0; /* each to where its call was */
    EACH(i, d ? who->lanes : 0) {
      thread t = {w, i};
      frame *g = frame_at(&t, d - 1);
      w->level[i] = (uint8_t)(d - 1);
      if (g)
        walk(g, UINT32_C(1) << i, w->call[d - 1][i] + 1);
    }
    break;
  default:
    break;
  }
  look(p, b, w, who->lanes);
}

static void begin(barrier *p, const sim_event *e) {
  known *k = e->who.body ? known_of(p, e->who.module, e->who.func, e->who.body) : NULL;
  if (!k)
    no_memory(p);
  else if (k->j->stops_at_all)
    add_block(p, &e->who, k->follow);
}

static void end(barrier *p, const sim_event *e) {
  block_state **at = block_at(p, e->who.launch, e->who.block), *b = *at;
  if (!b)
    return;
  tell_past(p, b, NULL, NULL);
  *at = b->next;
  free_block(p, b);
}

void check_barriers_flush(check *c) {
  barrier *p = c->parts[CHECK_PART_barrier];
  for (uint32_t h = 0; h < HEADS; h++)
    for (block_state *b = p->heads[h]; b; b = b->next)
      tell_past(p, b, NULL, NULL);
}

static sim_answer event(void *part, const sim_event *e) {
  barrier *p = part;
  switch (e->kind) {
  case SIM_EVENT_BLOCK:
    begin(p, e);
    return SIM_GO_ON;
  case SIM_EVENT_BLOCK_END:
    end(p, e);
    return SIM_GO_ON;
  case SIM_EVENT_FAULT:
    check_barriers_flush(p->check);
    return SIM_GO_ON;
  case SIM_EVENT_ARRIVE:
  case SIM_EVENT_COMPLETE:
  case SIM_EVENT_LEAVE:
    if (e->barrier.cluster)
      return SIM_GO_ON;
    break;
  case SIM_EVENT_BRANCH:
    if (e->branch.joins)
      return SIM_GO_ON;
    break;
  case SIM_EVENT_CALL:
  case SIM_EVENT_RETURN:
  case SIM_EVENT_EXIT:
    break;
  default:
    return SIM_GO_ON;
  }
  block_state *b = *block_at(p, e->who.launch, e->who.block);
  if (!b && e->kind == SIM_EVENT_ARRIVE) /* only numbered barriers with a count */
    b = add_block(p, &e->who, false);
  if (!b)
    return SIM_GO_ON;
  if (e->kind == SIM_EVENT_COMPLETE) {
    complete(p, b, e->barrier.number % BARRIERS);
    return SIM_GO_ON;
  }
  if (e->kind == SIM_EVENT_EXIT) {
    leave_kernel(p, b, e);
    return SIM_GO_ON;
  }
  const known *k = b->warps && e->who.insn ? known_of(p, e->who.module, e->who.func, e->who.body) : NULL;
  const joins *j = k && k->j->stops_at_all ? k->j : NULL;
  if (e->kind == SIM_EVENT_ARRIVE)
    arrive(p, b, e, j);
  else if (j)
    follow(p, b, e, j);
  return SIM_GO_ON;
}

/* Of a block whose threads need not be followed: the first who comes stands for all. */
static bool met(void *part, const sim_event *e, const uint32_t *lanes, uint32_t n_warps) {
  barrier *p = part;
  block_state *b = *block_at(p, e->who.launch, e->who.block);
  sim_event first = *e;
  if (b && b->warps)
    return false;
  for (uint32_t w = n_warps; w-- > 0;)
    if (lanes[w])
      first.who.warp = w, first.who.lanes = lanes[w];
  event(p, &first);
  first.kind = SIM_EVENT_COMPLETE;
  event(p, &first);
  return true;
}

const check_part check_part_barrier = {
    .name = "barrier",
    .watch = SIM_WATCH_SYNC | SIM_WATCH_FLOW,
    .takes = CHECK_TAKES(BLOCK) | CHECK_TAKES(BLOCK_END) | CHECK_TAKES(FAULT) | CHECK_TAKES(ARRIVE) |
             CHECK_TAKES(COMPLETE) | CHECK_TAKES(LEAVE) | CHECK_TAKES(BRANCH) | CHECK_TAKES(CALL) |
             CHECK_TAKES(RETURN) | CHECK_TAKES(EXIT),
    .new = new,
    .free = drop,
    .event = event,
    .met = met};
