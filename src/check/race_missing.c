/* race_missing.c: which rule a race comes under, and which edge is missing: the first reading (race.h) under
 * which the two accesses are ordered names it. A pair of instructions is told once a launch, as the widest
 * relation seen between two threads has it, so most wait for the launch's end.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/race.h"

typedef enum relation { IN_WARP, IN_BLOCK, IN_CLUSTER, IN_LAUNCH, IN_DEVICE } relation;
static const char *const relations[] = {"warp", "block", "cluster", "launch", "device"};

/* What was found of two instructions. */
typedef struct found {
  uint64_t launch;
  relation relation;
  muster_rule rule;
  race_reading reading; /* RACE_N_READINGS: ordered under none */
  bool milder, note, allowed, strong, proxy;
  bool waited;           /* the first is a copy for which its issuer has waited */
  bool backwards, round; /* see direct */
  bool fenced;           /* the first thread had a fence of its own behind its access */
  check_side sides[2];
  uint32_t threads[2];
  uint8_t flags[2];
  uint64_t blocks[2];
  check_site release, acquire; /* where they met, if they did; 0: not known */
  uint32_t releaser, acquirer; /* threads */
  uint64_t release_block;
  uint64_t count, told;
} found;

typedef struct race_pairs {
  found *all;
  uint32_t n, capacity;
} race_pairs;

/* ------------------------------------------------------------------ which rule */

static relation relation_of(race *r, const race_pair *p) {
  const race_block *b = p->block;
  uint64_t launch, block;
  uint32_t its = p->first->block & ~RACE_ASYNC_BLOCK, warp = p->first->warp;
  if (p->first->block & RACE_ASYNC_BLOCK)
    warp = race_issuer(race_block_numbered(r, its), p->first->warp, p->first_lane) / SIM_WARP;
  if (its == b->number)
    return warp == p->knower_warp ? IN_WARP : IN_BLOCK;
  race_block_place(r, p->first->block, &launch, &block);
  if (launch != b->launch.id)
    return IN_DEVICE;
  return race_reaches(r, b, RACE_LEVEL_CLUSTER, p->first->block) ? IN_CLUSTER : IN_LAUNCH;
}

/* The smallest change that would order the two; *by: what made the first known then. */
static race_reading smallest(const race_pair *p, const race_step **by) {
  /* within a block, what it released to itself by way of others says nothing */
  int end = p->first->block == p->block->number ? RACE_ALL : RACE_N_READINGS;
  for (int k = RACE_REAL + 1; k < end; k++) {
    *by = NULL;
    if (race_knows(p->block, p->knower_warp, p->knower_lane, (race_reading)k, p->first->block, p->first->warp,
                   p->first_lane, p->first->time, by))
      return (race_reading)k;
    /* what others of the block would have done before the release, had it waited there for them */
    if (race_clauses[k] & RACE_IF_BEFORE && p->first->block != p->block->number &&
        (*by = race_met_in(p->block, p->knower_warp, p->knower_lane, (race_reading)k, p->first->block,
                           p->first->epoch)) &&
        (*by)->by != p->first->warp * (uint32_t)SIM_WARP + p->first_lane)
      return (race_reading)k;
  }
  return RACE_N_READINGS;
}

static bool one_value(const race_pair *p) {
  const race_record *a = p->first, *b = p->second;
  if (!(a->flags & b->flags & RACE_WRITES) || (a->flags | b->flags) & RACE_READS || a->bytes != b->bytes ||
      a->value != b->value)
    return false;
  return (a->flags & b->flags & RACE_ONE_VALUE) ||
         (a->base == b->base && a->stride == b->stride && a->lanes == b->lanes && a->stride);
}

/* Two strong accesses that only a wider scope would make atomic towards each other: that is what they lack,
 * whatever else they meet at. */
static bool lacks_scope(const race_pair *p) {
  const race_record *a = p->first, *b = p->second;
  return a->flags & b->flags & RACE_STRONG && a->block != b->block && a->bytes == b->bytes &&
         p->first_address == p->second_address &&
         (a->level != RACE_LEVEL_DEVICE || b->level != RACE_LEVEL_DEVICE);
}

static void judge(found *f, const race_pair *p, const race_step *by) {
  bool strong = p->first->flags & p->second->flags & RACE_STRONG;
  f->strong = strong;
  if (lacks_scope(p))
    f->reading = RACE_N_READINGS;
  switch (f->reading) {
  case RACE_SCOPE:
    f->rule = MUSTER_RULE_RACE_SCOPE;
    break;
  case RACE_ACQUIRE:
  case RACE_AFTER:
    f->rule = MUSTER_RULE_MISSING_ACQUIRE;
    break;
  case RACE_N_READINGS:
    f->rule = f->relation == IN_WARP && !((p->first->flags | p->second->flags) & RACE_IN_ASYNC)
                  ? MUSTER_RULE_RACE_WARP
              : p->space == PTX_SPACE_SHARED ? MUSTER_RULE_RACE_SHARED
              : f->relation == IN_DEVICE     ? MUSTER_RULE_RACE_LAUNCH
                                             : MUSTER_RULE_RACE_GLOBAL;
    if (strong && p->first_address == p->second_address && p->first->bytes == p->second->bytes)
      f->rule = MUSTER_RULE_RACE_SCOPE;
    else if (strong)
      f->rule = MUSTER_RULE_RACE_MIXED_SIZE;
    break;
  default:
    f->rule = MUSTER_RULE_MISSING_RELEASE;
  }
  if (by)
    f->release = by->via, f->releaser = by->by;
}

/* ------------------------------------------------------------------ keeping them */

static const char *kind_of(const race_record *r) {
  return !(r->flags & RACE_WRITES) ? "read" : r->flags & RACE_READS ? "atomic" : "write";
}

static void side(race *r, const race_record *rec, uint32_t lane, uint8_t space, uint64_t address, found *f,
                 int k) {
  check_side *s = &f->sides[k];
  *s = (check_side){.kind = kind_of(rec), .space = space, .address = address, .bytes = rec->bytes};
  race_block_place(r, rec->block, &s->spot.launch, &s->spot.block);
  if (s->spot.launch & CHECK_COPY)
    s->kind = "copy";
  const race_block *home = rec->block & RACE_ASYNC_BLOCK ? race_block_numbered(r, rec->block) : NULL;
  s->spot.thread = f->threads[k] =
      home ? race_issuer(home, rec->warp, lane) : (rec->warp * SIM_WARP + lane) % (32 * SIM_WARP);
  s->spot.site = rec->site;
  f->flags[k] = rec->flags;
  f->blocks[k] = s->spot.block;
}

/* The same instruction, or another of its line that does the same kind of thing (a loop was unrolled). */
static bool is_side(const race *r, const found *f, int k, const race_record *rec) {
  enum { KIND = RACE_READS | RACE_WRITES | RACE_STRONG | RACE_VOLATILE };
  check_site s = f->sides[k].spot.site;
  return s == rec->site || (!((f->flags[k] ^ rec->flags) & KIND) && check_same_line(r->check, s, rec->site));
}

static found *find(race *r, const race_pair *p, bool *fresh) {
  race_pairs *all = r->pairs;
  if (!all && !(all = r->pairs = calloc(1, sizeof *all)))
    return NULL;
  *fresh = false;
  for (uint32_t i = all->n; i--;) {
    found *f = &all->all[i];
    if (f->launch == p->block->launch.id && ((is_side(r, f, 0, p->first) && is_side(r, f, 1, p->second)) ||
                                             (is_side(r, f, 1, p->first) && is_side(r, f, 0, p->second))))
      return f;
  }
  *fresh = true;
  if (!BASE_ROOM(all->all, all->n, all->capacity))
    return NULL;
  found *f = &all->all[all->n++];
  *f = (found){.launch = p->block->launch.id};
  return f;
}

/* What is known of the pair, which is met once more; NULL: out of memory, which is noted. */
static found *meet(race *r, const race_pair *p, bool *fresh) {
  found *f = find(r, p, fresh);
  if (f)
    f->count++;
  else
    r->failed = true;
  return f;
}

/* Which of the two the program means to come first: a thread can go on from it to the other and meets no
 * barrier on the way. What was seen is only one order of two that are possible. */
static void direct(const race *r, found *f) {
  check_site a = f->sides[0].spot.site, b = f->sides[1].spot.site;
  check_way way = f->relation == IN_WARP ? CHECK_NO_WARP_BARRIER : CHECK_NO_BLOCK_BARRIER;
  bool onwards = check_site_reaches(r->check, a, b, way), back = check_site_reaches(r->check, b, a, way);
  if (onwards == back) /* both, or neither: as they stand in the program */
    f->backwards = check_site_before(r->check, b, a);
  else
    f->backwards = back;
  check_site first = f->backwards ? b : a, second = f->backwards ? a : b;
  f->round = first == second || check_site_before(r->check, second, first);
}

static void fill(race *r, const race_pair *p, found *f, relation rel, race_reading reading,
                 const race_step *by) {
  const race_block *b = p->block;
  uint64_t count = f->count, told = f->told;
  *f = (found){.launch = b->launch.id, .relation = rel, .reading = reading, .count = count, .told = told};
  side(r, p->first, p->first_lane, p->space, p->first_address, f, 0);
  side(r, p->second, p->second_lane, p->space, p->second_address, f, 1);
  judge(f, p, by);
  direct(r, f);
  f->release_block = f->blocks[0];
  const race_lane *l = b->warps[p->knower_warp].lanes[p->knower_lane];
  if (l && l->acquired)
    f->acquire = l->acquired, f->acquirer = f->threads[1];
  else
    f->acquire = b->acquired, f->acquirer = b->acquirer;
  const race_block *first = race_block_numbered(r, p->first->block);
  if (first && p->first->block & RACE_ASYNC_BLOCK) {
    uint32_t by = race_issuer(first, p->first->warp, p->first_lane);
    f->waited = race_knows(first, by / SIM_WARP, by % SIM_WARP, RACE_REAL, p->first->block, p->first->warp,
                           p->first_lane, p->first->time, NULL);
  } else if (first) {
    const race_view *v = race_fence_of(&first->warps[p->first->warp], p->first_lane, RACE_LEVEL_BLOCK);
    f->fenced = v && v->time >= p->first->time;
  }
}

void race_found(race *r, const race_pair *p) {
  bool fresh;
  found *f = meet(r, p, &fresh);
  if (!f)
    return;
  relation rel = relation_of(r, p);
  bool same = one_value(p);
  if (!fresh && rel <= f->relation && (same || f->rule != MUSTER_RULE_SAME_VALUE_WRITE))
    return;
  const race_step *by;
  race_reading reading = smallest(p, &by);
  fill(r, p, f, rel, reading, by);
  f->allowed = f->rule == MUSTER_RULE_MISSING_ACQUIRE && reading == RACE_ACQUIRE &&
               r->check->options.allow_missing_acquire;
  if (same && reading == RACE_N_READINGS) {
    f->rule = MUSTER_RULE_SAME_VALUE_WRITE;
    f->note = !r->check->options.strict;
  }
}

void race_proxy_found(race *r, const race_pair *p) {
  bool fresh;
  found *f = meet(r, p, &fresh);
  if (!f)
    return;
  if (!fresh)
    return;
  fill(r, p, f, relation_of(r, p), RACE_N_READINGS, NULL);
  f->rule = MUSTER_RULE_MISSING_PROXY_FENCE;
  f->proxy = true;
}

void race_volatile_found(race *r, const race_pair *p) {
  bool fresh;
  const race_step *by;
  relation rel = relation_of(r, p);
  race_reading reading = smallest(p, &by);
  /* a flag is ordered with other flags if blocks were to converge: only fences count here */
  if (rel == IN_WARP)
    reading = RACE_N_READINGS;
  else if (reading > RACE_RELEASE && reading != RACE_FENCES)
    return;
  found *f = meet(r, p, &fresh);
  if (!f)
    return;
  if (!fresh)
    return;
  fill(r, p, f, rel, reading, by);
  if (rel == IN_WARP)
    f->rule = MUSTER_RULE_RACE_WARP;
  f->milder = true;
}

/* ------------------------------------------------------------------ in words */

typedef struct words {
  const race *race;
  const found *f;
  base_text text;
} words;

static void put_place(words *w, check_site site) {
  muster_access a = {0};
  check_place_fill(w->race->check, &(check_spot){.site = site}, &a);
  const char *slash = a.file ? strrchr(a.file, '/') : NULL;
  if (a.file && a.line)
    base_putf(&w->text, "%s:%u", slash ? slash + 1 : a.file, a.line);
  else
    base_putf(&w->text, "line %u of the PTX", a.ptx_line);
}

static uint32_t line_of(const words *w, check_site site) {
  muster_access a = {0};
  check_place_fill(w->race->check, &(check_spot){.site = site}, &a);
  return a.line ? a.line : a.ptx_line;
}

static void put_triple(words *w, const uint32_t v[3]) {
  base_putf(&w->text, "(%u,%u,%u)", v[0], v[1], v[2]);
}

/* "thread (0,0,0)", with its block where the two have not the same, and its launch. */
static void put_thread(words *w, uint64_t launch, uint64_t block, uint32_t thread) {
  muster_access a = {0};
  if (launch & CHECK_COPY) {
    base_puts(&w->text, "a copy or fill");
    return;
  }
  check_place_fill(w->race->check, &(check_spot){.launch = launch, .block = block, .thread = thread}, &a);
  base_puts(&w->text, "thread ");
  put_triple(w, a.thread);
  if (w->f->relation > IN_BLOCK) {
    base_puts(&w->text, " of block ");
    put_triple(w, a.block);
  }
  const check_launch *l = check_launch_of(w->race->check, launch);
  if (w->f->relation == IN_DEVICE && l)
    base_putf(&w->text, " of %s (launch %llu)", l->kernel, (unsigned long long)launch);
}

static void put_side(words *w, int k) {
  const check_spot *s = &w->f->sides[k].spot;
  if (w->f->flags[k] & RACE_IN_ASYNC)
    base_puts(&w->text, "an asynchronous copy of ");
  put_thread(w, s->launch, s->block, s->thread);
}

static const char *did(const found *f, int k) {
  return !(f->flags[k] & RACE_WRITES) ? "read" : f->flags[k] & RACE_READS ? "updated" : "wrote";
}
static const char *does(const found *f, int k) {
  return !(f->flags[k] & RACE_WRITES) ? "reads" : f->flags[k] & RACE_READS ? "updates" : "writes";
}

static void put_message(words *w) {
  const found *f = w->f;
  put_side(w, 1);
  base_putf(&w->text, " %s what ", does(f, 1));
  put_side(w, 0);
  base_putf(&w->text, " %s, ", did(f, 0));
  if (f->rule == MUSTER_RULE_SAME_VALUE_WRITE)
    base_puts(&w->text, "the same value, and nothing orders the two");
  else if (f->rule == MUSTER_RULE_RACE_MIXED_SIZE)
    base_putf(&w->text, "%u bytes on %u: only accesses of equal size are atomic towards each other",
              f->sides[1].bytes, f->sides[0].bytes);
  else if (f->rule == MUSTER_RULE_RACE_SCOPE)
    base_puts(&w->text, f->reading == RACE_SCOPE ? "ordered only within a scope that does not hold both"
                                                 : "atomic only within a scope that does not hold both");
  else if (f->proxy)
    base_puts(&w->text, "ordered, but not between the generic and the asynchronous proxy");
  else if (f->reading == RACE_N_READINGS && f->milder)
    base_puts(&w->text, "volatile, which puts no order between lanes");
  else if (f->reading == RACE_N_READINGS)
    base_puts(&w->text, "and nothing orders the two");
  else if (f->milder)
    base_puts(&w->text, "volatile, but not ordered with what signals it");
  else
    base_puts(&w->text, "and their synchronisation does not order the two");
}

/* "between a.cu:3 and a.cu:5", or how a loop comes round. */
static void put_between(words *w) {
  int first = w->f->backwards;
  check_site a = w->f->sides[first].spot.site, b = w->f->sides[!first].spot.site;
  uint32_t from = line_of(w, a), to = line_of(w, b);
  if (from == to) {
    base_puts(&w->text,
              w->f->round ? "between the rounds of the loop around " : "between the two accesses of ");
    put_place(w, a);
  } else if (from < to) {
    base_puts(&w->text, "between ");
    put_place(w, a);
    base_puts(&w->text, " and ");
    put_place(w, b);
  } else {
    base_puts(&w->text, "after ");
    put_place(w, a);
    base_puts(&w->text, ", before the loop comes round to ");
    put_place(w, b);
  }
}

static const char *barrier_of(relation r) {
  return r == IN_WARP ? "__syncwarp()" : r == IN_BLOCK ? "__syncthreads()" : "cluster.sync()";
}

/* Nothing at all orders them. Returns the word for what is missing. */
static const char *put_nothing(words *w) {
  const found *f = w->f;
  if (f->proxy) {
    base_puts(&w->text, "a fence.proxy.async is missing behind ");
    put_place(w, f->sides[0].spot.site);
    base_puts(&w->text,
              ", before the barrier that comes ahead of the copy: no barrier orders the two proxies");
    return "proxy-fence";
  }
  if (f->flags[0] & RACE_IN_ASYNC && !f->waited) {
    base_puts(&w->text,
              "nobody has waited for the copy: cp.async.wait_group, or a wait for its mbarrier, by who "
              "issued it, and a barrier for the other threads, have to stand before ");
    put_place(w, f->sides[1].spot.site);
    return "async-wait";
  }
  if (f->rule == MUSTER_RULE_RACE_SCOPE) {
    base_puts(&w->text, "use .gpu scope (an atomic without _block, cuda::thread_scope_device) on both sides");
    return "scope";
  }
  if (f->rule == MUSTER_RULE_RACE_MIXED_SIZE) {
    base_puts(&w->text, "access these bytes with one size everywhere");
    return "size";
  }
  if (f->relation < IN_LAUNCH) {
    base_putf(&w->text, "a %s is missing ", barrier_of(f->relation));
    put_between(w);
    return f->relation == IN_WARP    ? "warp-barrier"
           : f->relation == IN_BLOCK ? "block-barrier"
                                     : "cluster-barrier";
  }
  if (f->relation == IN_DEVICE) {
    base_puts(&w->text,
              "issue the two to one stream, or let one wait for the other by an event or by the host");
    return "stream-order";
  }
  if (f->sides[0].spot.site == f->sides[1].spot.site && f->sides[0].kind[0] == 'w') {
    base_puts(&w->text, "the blocks write one place: give each its own, or use an atomic");
    return "atomic";
  }
  base_puts(&w->text, "the blocks have to meet ");
  put_between(w);
  base_puts(&w->text,
            ": a barrier over all blocks, a release and an acquire through a flag, or two launches");
  return "grid-barrier";
}

static void put_release_place(words *w) {
  if (w->f->release)
    put_place(w, w->f->release);
  else
    base_puts(&w->text, "the signal");
}

static void put_acquire_place(words *w) {
  if (w->f->acquire)
    put_place(w, w->f->acquire);
  else
    base_puts(&w->text, "the read of the signal");
}

/* The block did not converge before its thread released. Of a block of several warps all of them have to: a
 * warp barrier would mend this pair and leave the other warps'. */
static const char *put_before(words *w) {
  const found *f = w->f;
  const check_launch *l = check_launch_of(w->race->check, f->sides[0].spot.launch);
  bool warp = f->releaser / SIM_WARP == f->threads[0] / SIM_WARP && l && l->n_threads <= SIM_WARP;
  put_side(w, 0);
  base_putf(&w->text, " %s this before it met ", did(f, 0));
  put_thread(w, f->sides[0].spot.launch, f->release_block, f->releaser);
  base_puts(&w->text, ", which released it at ");
  put_release_place(w);
  base_putf(&w->text, ": a %s is missing before ", warp ? "__syncwarp()" : "__syncthreads()");
  put_release_place(w);
  return warp ? "warp-barrier" : "block-barrier";
}

static const char *put_after(words *w) {
  const found *f = w->f;
  bool warp = f->acquire && f->acquirer / SIM_WARP == f->threads[1] / SIM_WARP;
  put_thread(w, f->sides[1].spot.launch, f->sides[1].spot.block, f->acquirer);
  base_puts(&w->text, " acquired this at ");
  put_acquire_place(w);
  base_puts(&w->text, ", but ");
  put_side(w, 1);
  base_putf(&w->text, " did not wait for it: a %s is missing after ",
            warp ? "__syncwarp()" : "__syncthreads()");
  put_acquire_place(w);
  return warp ? "warp-barrier" : "block-barrier";
}

static const char *put_missing(words *w) {
  const found *f = w->f;
  switch (f->reading) {
  case RACE_SCOPE:
    base_puts(&w->text, "they meet at ");
    put_release_place(w);
    base_puts(&w->text, ", but the scope there does not hold both threads: use .gpu scope (__threadfence(), "
                        "cuda::thread_scope_device) on both sides");
    return "scope";
  case RACE_ACQUIRE:
    base_puts(&w->text, "a __threadfence(), or an acquiring read, is missing behind ");
    put_acquire_place(w);
    base_puts(&w->text, ": a read alone orders nothing that follows it");
    return "acquire";
  case RACE_RELEASE:
    base_puts(&w->text, "a __threadfence(), or a releasing write, is missing before ");
    put_release_place(w);
    if (f->fenced && f->releaser != f->threads[0]) {
      base_puts(&w->text,
                ": the fences before the block barrier cover each thread's own writes only. It works "
                "on current hardware, not in the model: ");
      put_thread(w, f->sides[0].spot.launch, f->release_block, f->releaser);
      base_puts(&w->text, " needs its fence behind the barrier");
    }
    return "release";
  case RACE_BEFORE:
    return put_before(w);
  case RACE_AFTER:
    return put_after(w);
  case RACE_FENCES:
    base_puts(&w->text, "both fences are missing: a __threadfence() before ");
    put_release_place(w);
    base_puts(&w->text, ", and one behind ");
    put_acquire_place(w);
    return "fence";
  case RACE_ALL:
    base_puts(&w->text, "they meet at ");
    put_release_place(w);
    base_puts(&w->text,
              ", with more than one edge missing: all that wrote have to meet (__syncthreads()) and "
              "fence before it, and all that read have to fence and meet behind it");
    return "release-acquire";
  default:
    return put_nothing(w);
  }
}

static void report(race *r, found *f) {
  words message = {.race = r, .f = f}, missing = {.race = r, .f = f};
  if (f->allowed || f->count == f->told)
    return;
  put_message(&message);
  const char *what = put_missing(&missing);
  check_report(r->check,
               &(check_found){.rule = f->rule,
                              .milder = f->milder,
                              .note = f->note,
                              .error = f->rule == MUSTER_RULE_SAME_VALUE_WRITE && !f->note,
                              .relation = relations[f->relation],
                              .count = f->count - f->told,
                              .launch = f->launch,
                              .message = message.text.bytes,
                              .missing = what,
                              .missing_text = missing.text.bytes,
                              .missing_site = f->reading == RACE_ACQUIRE || f->reading == RACE_AFTER
                                                  ? f->acquire
                                              : f->reading == RACE_N_READINGS ? f->sides[1].spot.site
                                                                              : f->release,
                              .sides = {f->sides[0], f->sides[1]}});
  base_text_free(&message.text);
  base_text_free(&missing.text);
  f->told = f->count;
}

/* At a launch's end: no wider relation will come. */
void race_pairs_flush(race *r) {
  for (uint32_t i = 0; r->pairs && i < r->pairs->n; i++)
    report(r, &r->pairs->all[i]);
  if (r->pairs)
    r->pairs->n = 0;
}

void race_pairs_free(race *r) {
  if (r->pairs)
    free(r->pairs->all);
  free(r->pairs);
}
