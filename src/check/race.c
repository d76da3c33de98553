/* race.c: two accesses that nothing orders: the rules race-* and missing-*. See race.h for how it works. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "check/race.h"

/* ------------------------------------------------------------------ instructions */

static bool is_named_once(const ptx_body *body, uint32_t reg) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < body->n_operands; k++)
    n += body->operands[k].kind == PTX_REG && body->operands[k].index == reg;
  return n < 2;
}

/* Does nothing but the atomic itself name its result, which may be a vector? */
static bool result_is_unused(const sim_who *w) {
  const ptx_insn *i = w->insn;
  const ptx_operand *d = i->n_operands ? &w->body->operands[i->operands] : NULL;
  if (!d || (d->kind != PTX_REG && d->kind != PTX_VEC))
    return true;
  const ptx_operand *first = d->kind == PTX_VEC ? &w->body->operands[d->index] : d;
  uint64_t count = d->kind == PTX_VEC ? d->count : 1;
  for (uint64_t k = 0; k < count; k++)
    if (first[k].kind == PTX_REG && !is_named_once(w->body, first[k].index))
      return false;
  return true;
}

static void learn(race *r, struct race_insn *k, const sim_access *a) {
  k->insn = a->who->insn;
  k->weak = a->order == PTX_ORDER_WEAK ||
            (a->order == PTX_ORDER_VOLATILE && r->check->options.volatiles == CHECK_VOLATILE_WEAK);
  k->unused = a->reads && a->writes && (!a->returns || result_is_unused(a->who));
  k->like = (race_record){.site = check_site_of(r->check, a->who),
                          .bytes = (uint8_t)(k->weak ? a->bytes * a->elements : a->bytes),
                          .level = (uint8_t)race_level_of(a->scope),
                          .flags = (uint8_t)((a->writes ? RACE_WRITES : 0) | (a->reads ? RACE_READS : 0) |
                                             (k->weak ? 0 : RACE_STRONG) |
                                             (a->order == PTX_ORDER_VOLATILE ? RACE_VOLATILE : 0))};
}

static inline size_t race_insn_place(const ptx_insn *i) {
  return (uintptr_t)i / sizeof *i % BASE_COUNT(((race *)0)->insns);
}

static inline const struct race_insn *insn_of(race *r, const sim_access *a) {
  const ptx_insn *i = a->who->insn;
  struct race_insn *k = &r->insns[race_insn_place(i)];
  if (k->insn != i || !k->like.site)
    learn(r, k, a);
  return k;
}

/* ------------------------------------------------------------------ one access, one line */

typedef struct access {
  race *race;
  const sim_access *a;
  race_block *block, *home; /* home: whose shared memory it is */
  const struct race_insn *insn;
  uint32_t space; /* as of a race_word */
  race_record record;
  bool strong_work; /* it may release or acquire */
  bool async;       /* done for that lane: */
  uint32_t warp, lane;
} access;

static bool exact(const race_record *a, uint32_t i, const race_record *b, uint32_t k) {
  return race_at(a, i) == race_at(b, k) && a->bytes == b->bytes;
}

/* Known to all of the block: before a barrier of all of it, or of another launch. */
static inline bool whole_block_knows(const race *r, const race_block *b, const race_record *old) {
  if (old->block == b->number && old->time <= b->base)
    return true;
  return (old->block & ~RACE_ASYNC_BLOCK) - b->first >= b->n_blocks &&
         ((!b->apart && r->running < 2) || race_launches_ordered(r, b, old->block));
}

/* Known to every lane of the second's warp at once, by barriers. */
static bool all_know(const race *r, const race_block *b, const race_record *old, uint32_t warp) {
  return whole_block_knows(r, b, old) ||
         race_knows(b, warp, RACE_WHOLE, RACE_REAL, old->block, old->warp, RACE_WHOLE, old->time, NULL);
}

static race_pair pair_of(const access *x, const race_record *old, uint32_t i, uint32_t k, uint64_t line) {
  int32_t at = race_at(old, i), mine = race_at(&x->record, k);
  if (old->bytes > 16 && at < mine) /* several reads, kept as one: the last of them that counts */
    at = mine;
  return (race_pair){.block = x->block,
                     .first = old,
                     .second = &x->record,
                     .first_lane = i,
                     .second_lane = k,
                     .knower_warp = x->warp,
                     .knower_lane = x->async ? x->lane : k,
                     .space = x->home ? PTX_SPACE_SHARED : PTX_SPACE_GLOBAL,
                     .first_address = line + (uint64_t)(int64_t)at,
                     .second_address = line + (uint64_t)(int64_t)mine};
}

static void tell(const access *x, const race_record *old, uint32_t i, uint32_t k, uint64_t line,
                 bool only_volatile) {
  race_pair p = pair_of(x, old, i, k, line);
  if (only_volatile)
    race_volatile_found(x->race, &p);
  else
    race_found(x->race, &p);
}

/* A write that an atomic, or a strong read, has seen is before whatever comes behind that one (causality
 * order begins with observation order), though nothing else that its thread did is. `old`: a record of the
 * line. */
static bool observed(const access *x, const race_line *l, const race_record *old, uint32_t i,
                     uint32_t knower) {
  if (!(old->flags & RACE_STRONG) || !(old->flags & RACE_WRITES) || old < l->records ||
      old >= l->records + l->n)
    return false;
  for (const race_record *o = old + 1; o < l->records + l->n; o++) {
    uint32_t hit = race_overlap(o, old, i);
    for (uint32_t left = hit; left; left &= left - 1) {
      uint32_t v = (uint32_t)__builtin_ctz(left);
      if (o->flags & RACE_STRONG && o->flags & RACE_READS && exact(o, v, old, i) &&
          race_knows(x->block, x->warp, knower, RACE_REAL, o->block, o->warp, v, o->time, NULL))
        return true;
    }
    if (hit && o->flags & RACE_WRITES && !(o->flags & RACE_READS))
      return false; /* from here on others see that one */
  }
  return false;
}

/* Looks for lanes of `old` and of the new access that meet in a byte without order. True: none do. */
static bool meet(const access *x, const race_line *l, const race_record *old, uint64_t line) {
  const race_record *mine = &x->record;
  bool both_strong = old->flags & mine->flags & RACE_STRONG;
  bool reaches =
      both_strong && race_reaches(x->race, x->block, mine->level, old->block) &&
      (old->level == RACE_LEVEL_DEVICE || old->block == x->block->number ||
       (old->level == RACE_LEVEL_CLUSTER && race_reaches(x->race, x->block, RACE_LEVEL_CLUSTER, old->block)));
  bool is_volatile = old->flags & mine->flags & RACE_VOLATILE && (old->flags & RACE_WRITES) &&
                     !(mine->flags & RACE_WRITES) && !(old->flags & RACE_SEEN) &&
                     x->race->check->options.volatiles == CHECK_VOLATILE_MIXED;
  bool same_warp = old->block == mine->block && old->warp == mine->warp;
  /* lanes of one warp that count on volatile to keep them in step */
  is_volatile |= old->flags & mine->flags & RACE_VOLATILE && same_warp &&
                 x->race->check->options.volatiles == CHECK_VOLATILE_MIXED;
  bool ordered = true;
  if (reaches && !is_volatile && old->bytes == mine->bytes && (old->base - mine->base) % mine->bytes == 0 &&
      old->stride % mine->bytes == 0 && mine->stride % mine->bytes == 0)
    return false; /* morally strong, each pair of them; not ordered */
  for (uint32_t left = mine->lanes; left; left &= left - 1) {
    uint32_t k = (uint32_t)__builtin_ctz(left), hit = race_overlap(old, mine, k);
    if (same_warp)
      hit &= ~(UINT32_C(1) << k);
    uint32_t knower = x->async ? x->lane : k;
    if (hit)
      race_settle(x->race, x->block, x->warp, knower);
    for (; hit; hit &= hit - 1) {
      uint32_t i = (uint32_t)__builtin_ctz(hit);
      if (race_knows(x->block, x->warp, knower, RACE_REAL, old->block, old->warp, i, old->time, NULL))
        continue;
      if (reaches && exact(old, i, mine, k)) {
        ordered = false;
        if (is_volatile)
          tell(x, old, i, k, line, true);
        continue;
      }
      if (observed(x, l, old, i, knower))
        continue;
      tell(x, old, i, k, line, false);
      return true; /* told once; later accesses are looked at as if it were ordered */
    }
  }
  return ordered;
}

/* A store of several lanes to one place is a race among them. */
static void meet_itself(const access *x, uint64_t line) {
  const race_record *mine = &x->record;
  if (!(mine->flags & RACE_WRITES) || mine->flags & RACE_STRONG || !(mine->lanes & (mine->lanes - 1)) ||
      abs(mine->stride) >= mine->bytes)
    return;
  uint32_t i = (uint32_t)__builtin_ctz(mine->lanes), rest = mine->lanes & (mine->lanes - 1);
  uint32_t hit = race_overlap(mine, mine, i) & rest;
  if (hit)
    tell(x, mine, i, (uint32_t)__builtin_ctz(hit), line, false);
}

/* What was written in the generic proxy, and is read in the asynchronous one. */
static void meet_proxy(const access *x, const race_record *old, uint64_t line) {
  const race_record *mine = &x->record;
  uint32_t k = (uint32_t)__builtin_ctz(mine->lanes), hit = race_overlap(old, mine, k);
  if (!(old->flags & RACE_WRITES) || !(mine->flags & RACE_READS) || old->flags & RACE_IN_ASYNC ||
      old->block - x->block->first >= x->block->n_blocks)
    return;
  for (; hit; hit &= hit - 1) {
    uint32_t i = (uint32_t)__builtin_ctz(hit);
    if (race_is_proxied(x->race, x->block, old, i, x->warp, x->lane))
      continue;
    race_pair p = pair_of(x, old, i, k, line);
    race_proxy_found(x->race, &p);
    return;
  }
}

/* What a barrier of the block made known to all that can reach its memory is settled for good. */
static inline bool is_settled(const race_block *b, const race_block *home, const race_record *old) {
  return home && !b->launch.cluster[0] && old->time <= b->base && !(old->block & RACE_ASYNC_BLOCK) &&
         !(b->bulk && old->flags & RACE_WRITES);
}

static void settle(const access *x, race_line *l) {
  uint32_t kept = 0;
  if (!x->home)
    return;
  for (uint32_t i = 0; i < l->n; i++)
    if (!is_settled(x->block, x->home, &l->records[i]))
      l->records[kept++] = l->records[i];
  l->n = (uint16_t)kept;
}

/* All cells of a line are known to all, and a read does not change that. */
static inline bool cells_are_settled(const race_block *b, const race_block *home, const race_record *mine,
                                     const race_line *l) {
  return home && !b->launch.cluster[0] && l->latest <= b->base && !(mine->flags & RACE_WRITES);
}

/* Atomics that lanes scatter over a line, each looked at as a record. A store clears what it covers. */
static void meet_cells(const access *x, race_line *l, uint64_t line) {
  const race_record *mine = &x->record;
  for (uint32_t left = mine->lanes; left; left &= left - 1) {
    uint32_t k = (uint32_t)__builtin_ctz(left), from = (uint32_t)race_at(mine, k);
    for (uint32_t word = from < 4 ? 0 : from / 4 - 1; word < RACE_LINE / 4 && word * 4 < from + mine->bytes;
         word++) {
      race_record old;
      if (!race_cell_get(l, word, &old))
        continue;
      if (!(x->home && old.time <= x->block->base) && !all_know(x->race, x->block, &old, x->warp))
        meet(x, l, &old, line);
      else if (mine->flags & RACE_WRITES && from <= word * 4 && word * 4 + old.bytes <= from + mine->bytes)
        l->cells[word].lane_bytes = 0;
    }
  }
}

/* An atomic of one lane, whose result nobody reads and which follows no fence: it only matters to accesses
 * that are not atomic, so the last of each word is kept, and nothing else. One whose scope leaves out others
 * that reach the word is none of these. */
static bool in_cell(access *x, uint64_t line) {
  race_shadow *shadow = x->home ? &x->home->shared : &x->race->global;
  race_line *l = race_shadow_line(shadow, line);
  const race_record *mine = &x->record;
  if (!l || l->syncs || (mine->base & (mine->bytes - 1)) || (mine->bytes != 4 && mine->bytes != 8))
    return false;
  if (mine->level != RACE_LEVEL_DEVICE && (!x->home || x->block->launch.cluster[0]))
    return false;
  if (!race_line_join(l))
    x->race->failed = true;
  settle(x, l);
  for (uint32_t i = 0; i < l->n; i++)
    if (!race_apart(&l->records[i], race_extent_of(mine)) &&
        !all_know(x->race, x->block, &l->records[i], x->warp))
      meet(x, l, &l->records[i], line);
  race_record old;
  uint32_t word = (uint32_t)mine->base / 4;
  if (l->cells && race_cell_get(l, word, &old) && old.bytes != mine->bytes &&
      !all_know(x->race, x->block, &old, x->warp))
    meet(x, l, &old, line);
  return race_cell_put(l, mine, word);
}

static bool same_bytes(const race_record *a, const race_record *b) {
  return a->base == b->base && a->stride == b->stride && a->bytes == b->bytes;
}

/* What accesses meet most often: one access to the same bytes, before it or the same lanes' own, which says
 * no more than this one does. False: it is something else, and nothing was done. */
static inline bool is_repeated(const race *r, const race_block *b, const race_block *home,
                               const race_record *mine, race_line *l) {
  race_record *old = l->records;
  if (l->n != 1 || !race_line_is_plain(l) || (b->copies && !home) || !same_bytes(old, mine) ||
      mine->stride < mine->bytes || old->lanes & ~mine->lanes ||
      (old->flags | mine->flags) & (RACE_STRONG | RACE_IN_ASYNC | RACE_PROXY) ||
      old->flags & ~mine->flags & RACE_WRITES)
    return false;
  if (!(old->block == mine->block && old->warp == mine->warp) && !all_know(r, b, old, mine->warp))
    return false;
  *old = *mine;
  return true;
}

/* A warp whose lanes read one word after the other, in one line of the source (of a loop that was unrolled,
 * say): one access to all of them. A lane that is in only one of the two lies beyond the line in the other.
 */
static bool goes_on(const race *r, const race_record *old, const race_record *mine) {
  bool behind = mine->base == old->base + old->bytes, before = mine->base + mine->bytes == old->base;
  if (old->warp != mine->warp || old->block != mine->block || old->time != mine->time ||
      old->flags != mine->flags || mine->flags & RACE_WRITES || old->stride != mine->stride ||
      !(behind || before) || old->bytes + mine->bytes > (int)RACE_LINE)
    return false;
  for (uint32_t left = old->lanes ^ mine->lanes; left; left &= left - 1) {
    uint32_t k = (uint32_t)__builtin_ctz(left);
    int32_t at = race_at(old->lanes >> k & 1 ? mine : old, k);
    if (at + mine->bytes > 0 && at < (int32_t)RACE_LINE)
      return false;
  }
  return old->site == mine->site || check_same_line(r->check, old->site, mine->site);
}

static void go_on(race_record *old, const race_record *mine) {
  old->base = old->base < mine->base ? old->base : mine->base;
  old->bytes = (uint8_t)(old->bytes + mine->bytes);
  old->lanes |= mine->lanes;
}

/* What most others meet: nobody; or accesses that are before it, or were the same lanes' own, or read as it
 * does. What says no more than this one, lane by lane, makes place. False: it is not so simple, and nothing
 * was done. */
static bool is_simple(race *r, const race_block *b, const race_block *home, const race_record *mine,
                      race_line *l) {
  bool several = mine->lanes & (mine->lanes - 1), lanes_apart = abs(mine->stride) >= mine->bytes;
  enum { FEW = 8 };
  race_extent at = race_extent_of(mine);
  uint32_t gone = 0;
  race_record *longer = NULL;
  if ((l->cells && !cells_are_settled(b, home, mine, l)) || l->syncs || l->parts ||
      mine->flags & (RACE_STRONG | RACE_IN_ASYNC | RACE_PROXY) || l->n > 32 || (b->copies && !home) ||
      (mine->flags & RACE_WRITES && several && !lanes_apart))
    return false;
  for (uint32_t i = 0; i < l->n; i++) {
    const race_record *old = &l->records[i];
    if (is_settled(b, home, old)) {
      gone |= UINT32_C(1) << i;
      continue;
    }
    if (!longer && goes_on(r, old, mine))
      longer = &l->records[i];
    if (race_apart(old, at))
      continue;
    bool same = same_bytes(old, mine);
    bool own = same && old->block == mine->block && old->warp == mine->warp &&
               (lanes_apart || (!several && old->lanes == mine->lanes));
    bool supersedes = mine->flags & RACE_WRITES || !(old->flags & RACE_WRITES);
    if (old->flags & (RACE_STRONG | RACE_IN_ASYNC))
      return false;
    if (own || all_know(r, b, old, mine->warp)) {
      bool whole = same && !(old->lanes & ~mine->lanes); /* else it is kept, unless the list becomes long */
      if (supersedes && !whole && l->n > FEW)
        return false;
      gone |= supersedes && whole ? UINT32_C(1) << i : 0;
    } else if ((mine->flags | old->flags) & RACE_WRITES) {
      return false;
    }
  }
  if (gone == 1 && l->n == 1) {
    l->records[0] = *mine;
    return true;
  }
  if (longer && !gone) {
    go_on(longer, mine);
    return true;
  }
  uint32_t kept = 0;
  for (uint32_t i = 0; gone && i < l->n; i++)
    if (!(gone >> i & 1))
      l->records[kept++] = l->records[i];
  l->n = gone ? (uint16_t)kept : l->n;
  if (!race_line_add(l, mine, &r->forgot))
    r->failed = true;
  return true;
}

/* The records of a list, one after the other; returns a bit for each, up to 64, that is before the access. */
static uint64_t meet_list(const access *x, race_line *l, uint64_t line) {
  const race_record *mine = &x->record;
  race_extent at = race_extent_of(mine);
  uint64_t ordered = 0;
  settle(x, l);
  for (uint32_t i = 0; i < l->n; i++) {
    const race_record *old = &l->records[i];
    if (race_apart(old, at))
      continue;
    bool known = all_know(x->race, x->block, old, x->warp);
    if (!known && (old->flags | mine->flags) & RACE_WRITES)
      known = meet(x, l, old, line) && !(old->block == mine->block && old->warp == mine->warp);
    if (known && mine->flags & RACE_PROXY)
      meet_proxy(x, old, line);
    if (known && i < 64)
      ordered |= UINT64_C(1) << i;
  }
  return ordered;
}

/* x->record: what lanes do in the line at `line`. */
static void in_line(access *x, uint64_t line) {
  enum { LONG = 32 }; /* records, of which it pays to split the line */
  race *r = x->race;
  race_shadow *shadow = x->home ? &x->home->shared : &r->global;
  race_line *l = race_shadow_line(shadow, line), *list;
  const race_record *mine = &x->record;
  race_extent at = race_extent_of(mine);
  race_ordered ordered;
  if (!l) {
    r->failed = true;
    return;
  }
  if (is_repeated(r, x->block, x->home, mine, l))
    return;
  if (l->parts && mine->flags & RACE_STRONG && !race_line_join(l))
    r->failed = true;
  else if (l->n > LONG && !l->parts && !(mine->flags & RACE_STRONG))
    race_line_split(l);
  list = race_list_of(l, mine);
  if ((list == l ? !l->parts : !l->n) && is_simple(r, x->block, x->home, mine, list))
    return;
  if (l->cells && !cells_are_settled(x->block, x->home, mine, l))
    meet_cells(x, l, line);
  for (uint32_t k = 0; (list = race_list(l, at, k)) != NULL; k++)
    ordered[k] = meet_list(x, list, line);
  meet_itself(x, line);
  if (x->block->copies && !x->home)
    race_meet_copies(r, x->block, mine, line);
  if (x->a && (x->strong_work || (l->syncs && mine->flags & RACE_STRONG)))
    for (uint32_t left = mine->lanes; left; left &= left - 1) {
      uint32_t i = (uint32_t)__builtin_ctz(left);
      race_strong(r, x->block, x->a, i, l, line + (uint64_t)(int64_t)race_at(mine, i), x->space, mine->site,
                  mine->flags & RACE_READS && !x->insn->unused);
    }
  else if (l->syncs && (mine->flags & RACE_WRITES) && !(mine->flags & RACE_STRONG))
    for (uint32_t left = mine->lanes; left; left &= left - 1)
      race_weak_write(r, x->space, line + (uint64_t)(int64_t)race_at(mine, (uint32_t)__builtin_ctz(left)),
                      mine->bytes);
  if (!race_line_put(l, mine, ordered, &x->race->forgot))
    r->failed = true;
}

void race_touch(race *r, race_block *b, race_block *home, const race_record *rec, uint64_t line,
                uint32_t warp, uint32_t lane) {
  static const struct race_insn none = {.unused = true};
  access x = {.race = r,
              .block = b,
              .home = home,
              .insn = &none,
              .space = home ? home->number + 1 : 0,
              .record = *rec,
              .async = true,
              .warp = warp,
              .lane = lane};
  in_line(&x, line);
}

/* ------------------------------------------------------------------ an access of a warp */

/* Of values side by side, a multiple of 32 bytes, in four chains that do not wait for each other. */
static uint32_t hash(const void *values, size_t bytes) {
  static const uint64_t k = UINT64_C(0x9e3779b97f4a7c15);
  uint64_t a = 1, b = 2, c = 3, d = 4, w[4];
  for (const char *at = values, *end = at + bytes; at < end; at += sizeof w) {
    memcpy(w, at, sizeof w);
    a = (a ^ w[0]) * k, b = (b ^ w[1]) * k, c = (c ^ w[2]) * k, d = (d ^ w[3]) * k;
  }
  a = (a ^ a >> 32 ^ b) * 3 ^ (b >> 32 ^ c) * 5 ^ (c >> 32 ^ d) * 7 ^ d >> 32;
  return (uint32_t)(a ^ a >> 32);
}

/* What 32 lanes stored, as a hash; and whether that is one value. */
static void value_of(const char *all, size_t one, race_record *to) {
  size_t bytes = one * SIM_WARP;
  if (memcmp(all, all + one, one) == 0 && memcmp(all, all + one, bytes - one) == 0) {
    uint64_t first[4] = {0};
    memcpy(first, all, one);
    to->flags |= RACE_ONE_VALUE;
    to->value = hash(first, sizeof first);
  } else {
    to->value = hash(all, bytes);
  }
}

static void values(const sim_access *a, race_record *to) {
  char lane[SIM_WARP * 16];
  uint32_t lanes = a->who->lanes, some = (uint32_t)__builtin_ctz(lanes);
  const char *all = lane;
  size_t one = a->bytes < 4 ? 4 : a->bytes;
  if (lanes == UINT32_MAX && a->lanes_written && a->lane_bytes == a->bytes)
    all = a->lanes_written;
  else /* as they would lie then; lanes that are not there hold what another does */
    for (uint32_t i = 0; i < SIM_WARP; i++) {
      uint32_t from = lanes >> i & 1 ? i : some;
      uint64_t v[2] = {sim_value_written(a, from), a->written ? a->written[from][1] : 0};
      memcpy(lane + i * one, v, one);
    }
  value_of(all, one, to);
}

/* Lane i at base + i * stride: one record a line. */
static void in_lines(access *x, uint32_t lanes, uint64_t base, int32_t stride) {
  x->record.stride = (int8_t)stride;
  while (lanes) {
    uint32_t first = (uint32_t)__builtin_ctz(lanes), here = lanes;
    uint64_t at = base + (uint64_t)((int64_t)stride * first), line = at / RACE_LINE * RACE_LINE;
    uint32_t room = stride < 0 ? (uint32_t)(at - line) : (uint32_t)(RACE_LINE - 1 - (at - line));
    uint32_t n =
        stride ? first + room / (uint32_t)abs(stride) + 1 : SIM_WARP; /* those behind lie elsewhere */
    if (n < SIM_WARP)
      here &= (UINT32_C(1) << n) - 1;
    lanes &= ~here;
    x->record.lanes = here;
    x->record.base = (int16_t)(base - line);
    in_line(x, line);
  }
}

/* The lanes side by side or otherwise regular, though the machine did not say so. */
static bool is_regular(const sim_access *a, uint64_t *base, int32_t *stride) {
  const uint64_t *at = a->address;
  uint32_t lanes = a->who->lanes, first = (uint32_t)__builtin_ctz(lanes), rest = lanes & (lanes - 1);
  int64_t apart = 0;
  if (a->rank)
    return false;
  if (rest) {
    uint32_t second = (uint32_t)__builtin_ctz(rest);
    apart = (int64_t)(at[second] - at[first]);
    if (second - first > 1)
      apart /= (int64_t)(second - first);
    if (apart < -128 || apart > 127)
      return false;
  }
  *stride = (int32_t)apart;
  *base = at[first] - (uint64_t)(apart * first);
  for (; rest; rest &= rest - 1)
    if (at[__builtin_ctz(rest)] != *base + (uint64_t)(apart * __builtin_ctz(rest)))
      return false;
  return true;
}

/* Nothing is known of the line but cells of this kind. */
static inline bool has_only(const race_line *l, uint8_t kind) {
  return l->kind == kind && !l->n && !l->syncs;
}

/* A cell but for its lane, which is in the highest byte, as two words: it is written at once. */
typedef struct cell_words {
  uint64_t word[2];
} cell_words;
_Static_assert(sizeof(race_cell) == sizeof(cell_words) && offsetof(race_cell, lane_bytes) == 15, "two words");

static inline void put_cell(race_cell *c, cell_words w, uint32_t lane) {
  w.word[1] += (uint64_t)lane << 58;
  memcpy(c, &w, sizeof w);
}

/* Atomics for cells that lie scattered, in lines of which nothing else is known. Returns the lanes that were
 * not so simple. */
static uint32_t in_cells(const access *x, uint32_t lanes) {
  const race_shadow *shadow = x->home ? &x->home->shared : &x->race->global;
  const race_record *mine = &x->record;
  const uint64_t *at = x->a->address, page_bytes = RACE_LINE * RACE_PAGE_LINES;
  const race_cell cell = race_cell_of(mine, 0);
  uint8_t kind = race_kind(mine);
  cell_words words;
  memcpy(&words, &cell, sizeof words);
  uint64_t some = 0, all = UINT64_MAX;
  uint32_t lines = 0; /* of the page */
  for (uint32_t i = 0; i < SIM_WARP && lanes == UINT32_MAX; i++)
    some |= at[i], all &= at[i], lines |= UINT32_C(1) << at[i] / RACE_LINE % RACE_PAGE_LINES;
  if (lanes == UINT32_MAX && (some ^ all) < page_bytes && !(some & (mine->bytes - 1u))) { /* within a page */
    race_page *p = race_page_at(shadow, some / page_bytes);
    bool only = p;
    for (uint32_t left = lines; left && only; left &= left - 1)
      only = has_only(&p->lines[__builtin_ctz(left)], kind);
    for (uint32_t i = 0; i < SIM_WARP && only; i++)
      put_cell(&p->lines[at[i] / RACE_LINE % RACE_PAGE_LINES].cells[at[i] % RACE_LINE / 4], words, i);
    for (uint32_t left = lines; left && only; left &= left - 1)
      p->lines[__builtin_ctz(left)].latest = mine->time;
    if (only)
      return 0;
  }
  uint32_t left = 0;
  for (; lanes; lanes &= lanes - 1) {
    uint32_t i = (uint32_t)__builtin_ctz(lanes);
    race_line *l = race_shadow_peek(shadow, at[i]);
    if (l && has_only(l, kind) && !(at[i] & (mine->bytes - 1u))) {
      put_cell(&l->cells[at[i] % RACE_LINE / 4], words, i);
      l->latest = mine->time;
    } else {
      left |= lanes & -lanes;
    }
  }
  return left;
}

/* Of lanes that lie irregularly: the first, and those that are regular with it, by the stride that takes
 * most. (Halves of a warp in two rows, or pairs of a butterfly: a few such pieces are all.) */
static uint32_t piece(const uint64_t *at, uint32_t lanes, int32_t *stride) {
  enum { TRIES = 6 };
  uint32_t first = (uint32_t)__builtin_ctz(lanes), most = lanes & -lanes, left = lanes & (lanes - 1);
  *stride = 0;
  for (uint32_t tried = 0; left && tried < TRIES && most != lanes; left &= left - 1) {
    uint32_t other = (uint32_t)__builtin_ctz(left), some = 0;
    int64_t step = (int64_t)(other - first), apart = (int64_t)(at[other] - at[first]);
    if (most >> other & 1 || apart % step || apart < -128 * step || apart > 127 * step)
      continue;
    apart /= step, tried++;
    for (uint32_t i = 0; i < SIM_WARP; i++)
      some |= (uint32_t)(at[i] == at[first] + (uint64_t)apart * (i - (uint64_t)first)) << i;
    some &= lanes;
    if (__builtin_popcount(some) > __builtin_popcount(most))
      most = some, *stride = (int32_t)apart;
  }
  return most;
}

/* Not inlined: in_cells beside it, which must be fast, would lose its registers. */
__attribute__((noinline)) static void in_pieces(access *x, uint32_t lanes) {
  enum { WORTH = 4 }; /* lanes; else they lie anyhow, and it is not tried again */
  while (lanes) {
    int32_t stride;
    uint32_t here = piece(x->a->address, lanes, &stride), first = (uint32_t)__builtin_ctz(here);
    if (__builtin_popcount(here) < WORTH)
      break;
    in_lines(x, here, x->a->address[first] - (uint64_t)((int64_t)stride * first), stride);
    lanes &= ~here;
  }
  for (; lanes; lanes &= lanes - 1)
    in_lines(x, lanes & -lanes, x->a->address[__builtin_ctz(lanes)], 0);
}

static void each_alone(access *x, uint32_t lanes) {
  bool cells = !x->strong_work && x->record.flags & RACE_STRONG && (x->home || !x->block->copies);
  x->record.stride = 0;
  if (!x->strong_work && !(x->record.flags & RACE_STRONG) && !x->a->rank) {
    in_pieces(x, lanes);
    return;
  }
  if (cells && !x->a->rank && (x->a->bytes == 4 || x->a->bytes == 8))
    lanes = in_cells(x, lanes);
  for (uint32_t left = lanes; left; left &= left - 1) {
    uint32_t i = (uint32_t)__builtin_ctz(left);
    uint64_t at = x->a->address[i];
    if (x->a->rank) {
      x->home = race_mate(x->race, x->block, x->a->rank[i]);
      if (!x->home)
        continue;
      x->space = x->home->number + 1;
    }
    x->record.lanes = UINT32_C(1) << i;
    x->record.base = (int16_t)(at % RACE_LINE);
    if (!cells || !in_cell(x, at / RACE_LINE * RACE_LINE))
      in_line(x, at / RACE_LINE * RACE_LINE);
  }
}

/* The line in which all of it lies, if it is one and somebody was there before: then the record is whole. */
static race_line *only_line(const sim_access *a, const race_shadow *shadow, race_record *mine) {
  uint32_t lanes = a->who->lanes;
  uint64_t first = a->base + (uint64_t)((int64_t)a->stride * __builtin_ctz(lanes));
  uint64_t last = a->base + (uint64_t)((int64_t)a->stride * (31 - __builtin_clz(lanes)));
  if (first / RACE_LINE != last / RACE_LINE)
    return NULL;
  race_line *l = race_shadow_peek(shadow, first);
  __builtin_prefetch(l, 1);
  __builtin_prefetch(l + 2, 1); /* where a later turn will want to be */
  mine->lanes = lanes;
  mine->base = (int16_t)(a->base - first / RACE_LINE * RACE_LINE);
  mine->stride = (int8_t)a->stride;
  return l;
}

static void on_access(race *r, const sim_event *e) {
  const sim_access *a = e->access;
  if (a->space != PTX_SPACE_GLOBAL && a->space != PTX_SPACE_SHARED)
    return;
  const struct race_insn *insn = insn_of(r, a);
  bool weak = insn->weak;
  if (a->element && weak)
    return; /* the first element stood for all of the vector */
  race_block *b = race_block_of(r, e->who.launch, e->who.block);
  if (!b)
    return;
  race_warp *w = &b->warps[a->who->warp];
  if (r->check->options.lockstep)
    w->base = b->now++;
  race_block *home = a->space == PTX_SPACE_SHARED ? b : NULL;
  access x = {.race = r,
              .a = a,
              .block = b,
              .home = home,
              .insn = insn,
              .space = home ? b->number + 1 : 0,
              .record = insn->like,
              .strong_work = !weak,
              .warp = a->who->warp};
  race_record *mine = &x.record;
  mine->block = b->number, mine->time = b->now, mine->epoch = b->epoch, mine->warp = (uint8_t)a->who->warp;
  race_line *only = a->regular && weak ? only_line(a, home ? &home->shared : &r->global, mine) : NULL;
  if (a->writes && !a->reads)
    values(a, mine);
  if (only && (is_repeated(r, b, home, mine, only) || is_simple(r, b, home, mine, only)))
    return;
  if (!weak && x.insn->unused && a->order == PTX_ORDER_RELAXED && !w->fenced[0]) {
    bool fenced = false; /* an atomic that neither carries a release nor looks at what it finds */
    for (uint32_t left = a->who->lanes & w->own; left && !fenced; left &= left - 1)
      fenced = w->lanes[__builtin_ctz(left)]->fence[0];
    x.strong_work = fenced;
  }
  uint64_t base = a->base;
  int32_t stride = a->stride;
  if (a->regular || is_regular(a, &base, &stride))
    in_lines(&x, a->who->lanes, base, stride);
  else
    each_alone(&x, a->who->lanes);
  if (!weak && a->writes)
    b->now++;
}

/* Where a loop will be next time: as far from here as this is from where it last was. */
static void expect(race *r, const sim_access *a, const sim_part *parts, uint32_t n) {
  struct race_insn *k = &r->insns[race_insn_place(a->who->insn)];
  uint64_t ahead = parts->base - k->last, bytes = SIM_WARP * (uint64_t)a->bytes;
  k->last = parts->base;
  for (uint32_t i = 0; i < n; i++)
    for (uint64_t at = parts[i].base + ahead; at < parts[i].base + ahead + bytes; at += RACE_LINE) {
      uint64_t line = at / RACE_LINE;
      const race_page *p = race_page_at(&r->global, line / RACE_PAGE_LINES);
      __builtin_prefetch(p ? &p->lines[line % RACE_PAGE_LINES] : NULL, 1);
    }
}

static void value_in(const access *x, const sim_part *part, race_record *rec) {
  rec->warp = (uint8_t)part->warp, rec->flags = x->insn->like.flags;
  if (x->a->writes)
    value_of(part->lanes, x->a->bytes, rec);
}

/* So many of the parts, from the first, are whole lines one behind the other, in one page. */
static uint32_t run_of(const sim_part *parts, uint32_t n) {
  uint32_t room = RACE_PAGE_LINES - parts->base / RACE_LINE % RACE_PAGE_LINES, run = 1;
  while (run < n && run < room && parts[run].base == parts->base + run * RACE_LINE &&
         parts[run].warp == parts->warp + run)
    run++;
  return parts->base % RACE_LINE ? 1 : run;
}

/* True: whoever was at these lines before is before them, or was the same warps, and it is one run now. */
static bool in_run(access *x, const sim_part *parts, uint32_t run) {
  race *r = x->race;
  race_record *mine = &x->record;
  uint64_t line = parts->base / RACE_LINE;
  uint32_t first = line % RACE_PAGE_LINES;
  race_page *p = race_page_at(&r->global, line / RACE_PAGE_LINES);
  if (!p && !(p = race_shadow_add(&r->global, line / RACE_PAGE_LINES)))
    return false;
  mine->base = 0, mine->lanes = UINT32_MAX, mine->stride = (int8_t)x->a->stride;
  const race_record *old = race_run_at(p, first, run, mine);
  if (!old || (old->lanes && (old->flags & ~mine->flags & RACE_WRITES ||
                              (!whole_block_knows(r, x->block, old) &&
                               !(old->block == mine->block && old->warp == parts->warp)))))
    return false;
  for (uint32_t i = 0; i < (x->a->writes ? run : 1); i++) {
    value_in(x, &parts[i], mine);
    race_run_value(p, first + i, mine);
    if (!i)
      race_run_put(p, first, mine);
  }
  return true;
}

/* Whole warps, one behind the other, each with its lanes side by side or all at one place. */
void check_race_several(check *c, const sim_access *a, const sim_part *parts, uint32_t n) {
  race *r = c->parts[CHECK_PART_race];
  const struct race_insn *insn = insn_of(r, a);
  race_block *b = race_block_of(r, a->who->launch, a->who->block);
  if (!b)
    return;
  access x = {.race = r, .a = a, .block = b, .home = a->space == PTX_SPACE_SHARED ? b : NULL, .insn = insn};
  bool runs = !x.home && (uint32_t)a->stride * SIM_WARP == RACE_LINE &&
              (uint32_t)a->stride == insn->like.bytes && !b->copies && !r->check->options.lockstep;
  x.space = x.home ? b->number + 1 : 0;
  x.record = insn->like;
  x.record.block = b->number, x.record.epoch = b->epoch, x.record.time = b->now;
  if (!x.home && a->stride)
    expect(r, a, parts, n);
  for (uint32_t i = 0, run; i < n; i += run) {
    run = runs ? run_of(parts + i, n - i) : 1;
    if (run > 1 && in_run(&x, parts + i, run))
      continue;
    for (uint32_t k = i; k < i + run; k++) {
      x.warp = parts[k].warp;
      if (r->check->options.lockstep)
        b->warps[x.warp].base = b->now++;
      x.record.time = b->now;
      value_in(&x, &parts[k], &x.record);
      in_lines(&x, UINT32_MAX, parts[k].base, a->stride);
    }
  }
}

/* ------------------------------------------------------------------ for others */

bool check_last_write(check *c, const check_spot *shared_of, uint64_t address,
                      bool (*counts)(void *user, const check_spot *s), void *user, bool *atomic,
                      check_spot *out) {
  race *r = c->parts[CHECK_PART_race];
  const race_block *b = shared_of ? race_block_of(r, shared_of->launch, shared_of->block) : NULL;
  race_line *l = b           ? race_shadow_peek(&b->shared, address)
                 : shared_of ? NULL
                             : race_shadow_peek(&r->global, address);
  const race_line *list;
  int32_t at = (int32_t)(address % RACE_LINE);
  for (uint32_t k = 0; l && (list = race_list(l, (race_extent){at, at + 1}, k)) != NULL; k++)
    for (uint32_t i = list->n; i-- > 0;) {
      const race_record *w = &list->records[i];
      for (uint32_t left = w->flags & RACE_WRITES ? w->lanes : 0; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        if (at < race_at(w, lane) || at >= race_at(w, lane) + w->bytes)
          continue;
        race_block_place(r, w->block, &out->launch, &out->block);
        out->thread = w->warp * SIM_WARP + lane;
        out->site = w->site;
        *atomic = w->flags & RACE_READS;
        if (counts(user, out))
          return true;
      }
    }
  return false;
}

/* ------------------------------------------------------------------ the part */

static void *new(check *c) {
  race *r = check_part_new(c, sizeof *r);
  if (r)
    r->next_block = 1;
  return r;
}

static void end(void *part) {
  race *r = part;
  if (!r)
    return;
  race_pairs_free(r);
  race_blocks_free(r);
  race_shadow_free(&r->global);
  race_joins_free(&r->joins);
  free(r);
}

static sim_answer event(void *part, const sim_event *e) {
  race *r = part;
  if (e->kind == SIM_EVENT_ACCESS) {
    on_access(r, e);
  } else {
    if (e->kind == SIM_EVENT_LAUNCH)
      memset(r->insns, 0, sizeof r->insns);
    race_sync_event(r, e);
    if (e->kind == SIM_EVENT_LAUNCH_END || e->kind == SIM_EVENT_FAULT)
      race_pairs_flush(r);
  }
  if (r->failed || r->joins.failed) {
    check_unjudged(r->check, "out of memory: races were not all sought");
    r->failed = r->joins.failed = false;
  }
  return SIM_GO_ON;
}

bool check_race_forgot(const check *c) {
  const race *r = c->parts[CHECK_PART_race];
  return r->forgot;
}

void check_race_flush(check *c) {
  race_pairs_flush(c->parts[CHECK_PART_race]);
}

static bool met(void *part, const sim_event *e, const uint32_t *lanes, uint32_t n_warps) {
  race_met(part, e, lanes, n_warps);
  return true;
}

const check_part check_part_race = {
    .name = "race",
    .watch = SIM_WATCH_ACCESS | SIM_WATCH_SYNC | SIM_WATCH_FLOW,
    .takes = CHECK_TAKES(LAUNCH) | CHECK_TAKES(LAUNCH_END) | CHECK_TAKES(BLOCK) | CHECK_TAKES(BLOCK_END) |
             CHECK_TAKES(FAULT) | CHECK_TAKES_PLAIN | CHECK_TAKES(ACCESS) | CHECK_TAKES(FENCE) |
             CHECK_TAKES(ARRIVE) | CHECK_TAKES(COMPLETE) | CHECK_TAKES(LEAVE) | CHECK_TAKES(MBARRIER) |
             CHECK_TAKES(COPY) | CHECK_TAKES(COLLECTIVE) | CHECK_TAKES(EXIT) | CHECK_TAKES(HOST_COPY) |
             CHECK_TAKES(FREE),
    .new = new,
    .free = end,
    .event = event,
    .met = met};
