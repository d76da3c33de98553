/* race_shadow.c: who touched which bytes last. Memory is cut into lines of 128 bytes, what a warp reads at
 * once if its lanes lie side by side; a line has a short list of records. An access that is regular (lane i
 * at base + i * stride) is one record for all its lanes in the line, whatever its size: so it is exact to the
 * byte, and the usual kernel has one or two records a line. Where lanes go one by one (bytes that are
 * counted, say), a long list is cut in parts. Lines are made when they are touched.
 *
 * Of reads and of atomics that nothing orders among themselves only so many are kept (MOST): a later write is
 * then checked against those. One that races with a forgotten one and with none of these is not found.
 */
#include <stdlib.h>
#include <string.h>

#include "check/race.h"

enum { MOST = 24 };

/* The slot of a page, or the free one where it would be. There always is one. Neighbours stand together. */
static race_slot *slot(const race_shadow *s, uint64_t number) {
  uint32_t i = (uint32_t)(race_hash(number / 4) >> s->shift) / 4 * 4 + number % 4;
  while (s->slots[i].page && s->slots[i].number != number)
    i = (i + 1) & (s->n_slots - 1);
  return &s->slots[i];
}

static bool grow(race_shadow *s) {
  race_shadow more = *s;
  more.n_slots = s->n_slots ? s->n_slots * 4 : 16;
  more.shift = s->n_slots ? s->shift - 2 : 60;
  more.slots = calloc(more.n_slots, sizeof *more.slots);
  if (!more.slots)
    return false;
  if (!more.recent)
    more.recent = calloc(1u << RACE_RECENT_BITS, sizeof *more.recent);
  for (uint32_t i = 0; i < s->n_slots; i++)
    if (s->slots[i].page)
      *slot(&more, s->slots[i].number) = s->slots[i];
  free(s->slots);
  *s = more;
  return true;
}

race_page *race_shadow_add(race_shadow *s, uint64_t number) {
  if (number >= RACE_LOW_PAGES && s->n_pages * 2 >= s->n_slots && !grow(s))
    return NULL;
  race_page *p = aligned_alloc(sizeof(race_line), sizeof *p);
  if (!p)
    return NULL;
  memset(p, 0, sizeof *p);
  if (number < RACE_LOW_PAGES)
    return s->low[number] = p;
  *slot(s, number) = (race_slot){number, p};
  s->n_pages++;
  return p;
}

race_page *race_shadow_page(const race_shadow *s, uint64_t number) {
  race_slot *k = s->n_slots ? slot(s, number) : NULL;
  if (!k || !k->page)
    return NULL;
  if (s->recent)
    s->recent[race_hash(number) >> (64 - RACE_RECENT_BITS)] = *k;
  return k->page;
}

race_line *race_shadow_line(race_shadow *s, uint64_t address) {
  race_line *l = race_shadow_peek(s, address);
  if (l)
    return l;
  uint64_t line = address / RACE_LINE;
  race_page *p = race_shadow_add(s, line / RACE_PAGE_LINES);
  return p ? &p->lines[line % RACE_PAGE_LINES] : NULL;
}

static void forget(race_line *l) {
  for (uint32_t k = 0; l->parts && k < RACE_PARTS; k++)
    forget(&l->parts[k]);
  free(l->parts);
  if (l->records != &l->one)
    free(l->records);
  free(l->cells);
  *l = (race_line){0};
}

/* Memory is given back: whoever gets it next has nothing to do with what was. */
void race_shadow_forget(race_shadow *s, uint64_t address, uint64_t bytes) {
  uint64_t from = address / RACE_LINE, to = (address + bytes + RACE_LINE - 1) / RACE_LINE;
  for (uint32_t i = 0; i < s->n_slots; i++)
    for (uint32_t k = 0; k < RACE_PAGE_LINES && s->slots[i].page; k++)
      if (s->slots[i].number * RACE_PAGE_LINES + k >= from && s->slots[i].number * RACE_PAGE_LINES + k < to) {
        if (s->slots[i].page->runs >> k & 1)
          race_run_end(s->slots[i].page, k);
        forget(&s->slots[i].page->lines[k]);
      }
}

static void page_free(race_page *p) {
  for (int k = 0; k < RACE_PAGE_LINES && p; k++)
    forget(&p->lines[k]);
  free(p);
}

void race_shadow_free(race_shadow *s) {
  for (uint32_t i = 0; i < RACE_LOW_PAGES; i++)
    page_free(s->low[i]);
  for (uint32_t i = 0; i < s->n_slots; i++)
    page_free(s->slots[i].page);
  free(s->slots);
  free(s->recent);
  *s = (race_shadow){0};
}

/* ------------------------------------------------------------------ overlap */

/* Lanes 0 to n - 1. */
static inline uint32_t below(int32_t n) {
  return n <= 0 ? 0 : n >= 32 ? UINT32_MAX : (UINT32_C(1) << n) - 1;
}

uint32_t race_overlap(const race_record *a, const race_record *b, uint32_t lane) {
  int32_t from = race_at(b, lane), to = from + b->bytes;
  uint32_t hit = 0;
  if (a->stride > 0) { /* lane i where from - bytes < base + i * stride < to: they lie in a row */
    int32_t first = from - a->bytes - a->base, end = to - a->base, stride = a->stride;
    int32_t past = first < 0 ? 0 : first / stride + 1; /* those that end before `from` */
    return a->lanes & below(end <= 0 ? 0 : (end - 1) / stride + 1) & ~below(past);
  }
  for (uint32_t left = a->lanes; left; left &= left - 1) {
    uint32_t i = (uint32_t)__builtin_ctz(left);
    int32_t at = race_at(a, i);
    if (at < to && from < at + a->bytes)
      hit |= UINT32_C(1) << i;
  }
  return hit;
}

static bool same_map(const race_record *a, const race_record *b) {
  return a->base == b->base && a->stride == b->stride && a->bytes == b->bytes;
}

/* Lanes of `a` all of whose bytes `b` touches. */
static uint32_t covered(const race_record *a, const race_record *b) {
  if (same_map(a, b))
    return a->stride ? a->lanes & b->lanes : a->lanes;
  uint32_t all = 0;
  for (uint32_t left = a->lanes; left; left &= left - 1) {
    uint32_t i = (uint32_t)__builtin_ctz(left);
    int32_t at = race_at(a, i), end = at + a->bytes;
    for (uint32_t other = b->lanes; other && at < end;) {
      /* whichever lane of b holds the byte at `at`; side by side ones continue it */
      uint32_t k = (uint32_t)__builtin_ctz(other);
      int32_t begin = race_at(b, k);
      if (b->stride > 0 && begin + b->bytes <= at) { /* go straight to it */
        uint32_t want = (uint32_t)((at - b->base) / b->stride);
        other = want < 32 ? other & ~((UINT32_C(1) << want) - 1) : 0;
        if (!other)
          break;
        k = (uint32_t)__builtin_ctz(other);
        begin = race_at(b, k);
      }
      other &= other - 1;
      if (begin <= at && at < begin + b->bytes)
        at = begin + b->bytes;
      else if (b->stride > 0 && begin > at)
        break;
    }
    if (at >= end)
      all |= UINT32_C(1) << i;
  }
  return all;
}

/* Lanes of `a` whose bytes the same lane touches in `b`. */
static uint32_t own(const race_record *a, const race_record *b) {
  uint32_t both = a->lanes & b->lanes, all = 0;
  if (same_map(a, b))
    return both;
  for (uint32_t left = both; left; left &= left - 1) {
    uint32_t i = (uint32_t)__builtin_ctz(left);
    int32_t at = race_at(a, i), from = race_at(b, i);
    if (from <= at && at + a->bytes <= from + b->bytes)
      all |= UINT32_C(1) << i;
  }
  return all;
}

/* ------------------------------------------------------------------ the list */

static bool is_plain_write(const race_record *r) {
  return (r->flags & RACE_WRITES) && !(r->flags & RACE_STRONG);
}

/* Whoever is not morally strong towards the older of two accesses may be so towards the newer, if that is
 * stronger: then the older one still counts. */
static int strength(const race_record *r) {
  return r->flags & RACE_STRONG ? 1 + r->level : 0;
}

/* If there are too many, one goes: of a block that is there more than once, else the oldest. Where it was, or
 * UINT32_MAX. */
static uint32_t too_many(const race_line *l, uint32_t block) {
  uint32_t out = UINT32_MAX, n = 0;
  for (uint32_t i = 0; i < l->n; i++) {
    if (is_plain_write(&l->records[i]))
      continue;
    if (!n++ || (l->records[i].block == block && l->records[out].block != block))
      out = i;
  }
  return n < MOST ? UINT32_MAX : out;
}

static bool more_room(race_line *l) {
  uint32_t more = l->capacity ? l->capacity * 2u : 1;
  race_record *grown =
      l->capacity ? realloc(l->capacity > 1 ? l->records : NULL, more * sizeof *grown) : &l->one;
  if (!grown)
    return false;
  if (l->capacity == 1)
    *grown = l->one;
  l->records = grown, l->capacity = (uint16_t)more;
  return true;
}

bool race_line_add(race_line *l, const race_record *r, bool *forgot) {
  uint32_t out = l->n < MOST ? UINT32_MAX : too_many(l, r->block);
  *forgot |= out != UINT32_MAX;
  if (out != UINT32_MAX && !((r->flags | l->records[out].flags) & (RACE_WRITES | RACE_STRONG))) {
    l->records[out] = *r; /* reads have no order */
    return true;
  }
  if (out != UINT32_MAX) {
    memmove(&l->records[out], &l->records[out + 1], (l->n - out - 1u) * sizeof *l->records);
    l->n--;
  }
  if (l->n == l->capacity && !more_room(l))
    return false;
  l->records[l->n++] = *r;
  return true;
}

static void take_out(race_line *l, const race_record *r, race_extent at, uint64_t ordered) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < l->n; i++) {
    race_record *old = &l->records[i];
    bool same_warp = old->block == r->block && old->warp == r->warp && !(old->flags & RACE_IN_ASYNC);
    bool supersedes = (r->flags & RACE_WRITES || !(old->flags & RACE_WRITES)) && strength(r) <= strength(old);
    if (supersedes && race_apart(old, at))
      supersedes = false;
    if (supersedes && i < 64 && ordered >> i & 1)
      old->lanes &= ~covered(old, r);
    else if (supersedes && same_warp)
      old->lanes &= ~own(old, r);
    if (!old->lanes)
      continue;
    if (kept != i)
      l->records[kept] = *old;
    kept++;
  }
  l->n = (uint16_t)kept;
}

bool race_line_put(race_line *l, const race_record *r, const race_ordered ordered, bool *forgot) {
  race_extent at = race_extent_of(r);
  race_line *list;
  for (uint32_t k = 0; (list = race_list(l, at, k)) != NULL; k++)
    take_out(list, r, at, ordered[k]);
  return race_line_add(race_list_of(l, r), r, forgot);
}

/* ------------------------------------------------------------------ parts */

/* The part in which all of it lies, or RACE_PARTS. */
static uint32_t part_of(const race_record *r) {
  race_extent at = race_extent_of(r);
  bool one = !(r->flags & (RACE_STRONG | RACE_IN_ASYNC)) && at.from >= 0 &&
             at.from / RACE_PART == (at.to - 1) / RACE_PART;
  return one ? (uint32_t)at.from / RACE_PART : RACE_PARTS;
}

race_line *race_list_of(race_line *l, const race_record *r) {
  uint32_t part = l->parts ? part_of(r) : RACE_PARTS;
  return part < RACE_PARTS ? &l->parts[part] : l;
}

void race_line_split(race_line *l) {
  uint32_t kept = 0, narrow = 0;
  bool forgot = false;
  for (uint32_t i = 0; i < l->n; i++) {
    narrow += part_of(&l->records[i]) < RACE_PARTS;
    if (l->records[i].flags & RACE_STRONG)
      return;
  }
  if (l->cells || l->syncs || narrow < l->n / 2u)
    return;
  race_line *parts = aligned_alloc(sizeof *parts, RACE_PARTS * sizeof *parts);
  if (!parts)
    return;
  memset(parts, 0, RACE_PARTS * sizeof *parts);
  for (uint32_t i = 0; i < l->n; i++) {
    uint32_t part = part_of(&l->records[i]);
    if (part == RACE_PARTS || !race_line_add(&parts[part], &l->records[i], &forgot))
      l->records[kept++] = l->records[i];
  }
  l->n = (uint16_t)kept;
  l->parts = parts;
}

bool race_line_join(race_line *l) {
  race_line *parts = l->parts;
  bool ok = true;
  l->parts = NULL;
  for (uint32_t k = 0; parts && k < RACE_PARTS; k++) {
    for (uint32_t i = 0; i < parts[k].n; i++) {
      ok = ok && (l->n < l->capacity || more_room(l));
      if (ok)
        l->records[l->n++] = parts[k].records[i];
    }
    forget(&parts[k]);
  }
  free(parts);
  return ok;
}

/* ------------------------------------------------------------------ cells */

race_cell race_cell_of(const race_record *r, uint32_t lane) {
  return (race_cell){.block = r->block,
                     .time = r->time,
                     .site = r->site,
                     .warp = r->warp,
                     .level = r->level,
                     .flags = r->flags,
                     .lane_bytes = (uint8_t)(lane * 4 + r->bytes / 4)};
}

bool race_cell_put(race_line *l, const race_record *r, uint32_t word) {
  if (!l->cells && !(l->cells = calloc(RACE_LINE / 4, sizeof *l->cells)))
    return false;
  l->kind = !l->kind || l->kind == race_kind(r) ? race_kind(r) : RACE_MIXED;
  l->latest = r->time;
  l->cells[word] = race_cell_of(r, (uint32_t)__builtin_ctz(r->lanes));
  return true;
}

bool race_cell_get(const race_line *l, uint32_t word, race_record *out) {
  const race_cell *c = &l->cells[word];
  if (!c->lane_bytes)
    return false;
  *out = (race_record){.block = c->block,
                       .time = c->time,
                       .site = c->site,
                       .lanes = UINT32_C(1) << c->lane_bytes / 4,
                       .base = (int16_t)(word * 4),
                       .bytes = (uint8_t)(c->lane_bytes % 4 * 4),
                       .flags = c->flags,
                       .warp = c->warp,
                       .level = c->level};
  return true;
}
