/* race_launch.c: launches, copies and fills that no stream order holds apart. Which of them come before a
 * launch is asked once, when it begins (stream.c knows); nearly always all do, and then this costs nothing.
 * Copies are not kept in the shadow but in a short list of the latest.
 */
#include <stdlib.h>
#include <string.h>

#include "check/race.h"

static race_first *add(race *r, uint64_t launch, uint64_t n) {
  if (n >= RACE_ASYNC_BLOCK - r->next_block) {
    check_unjudged(r->check, "more than %u blocks were launched: races are no longer sought",
                   RACE_ASYNC_BLOCK);
    return NULL;
  }
  if (!BASE_ROOM(r->launches, r->n_launches, r->cap_launches)) {
    r->failed = true;
    return NULL;
  }
  race_first *f = &r->launches[r->n_launches++];
  *f = (race_first){.launch = launch, .first = r->next_block, .n = (uint32_t)n};
  r->next_block += (uint32_t)n;
  return f;
}

const race_first *race_launch_at(const race *r, uint64_t launch) {
  for (uint32_t i = r->n_launches; i--;)
    if (r->launches[i].launch == launch)
      return &r->launches[i];
  return NULL;
}

static const race_first *of_block(const race *r, uint32_t number) {
  number &= ~RACE_ASYNC_BLOCK;
  uint32_t low = 0, high = r->n_launches;
  while (high - low > 1) {
    uint32_t mid = (low + high) / 2;
    if (r->launches[mid].first <= number)
      low = mid;
    else
      high = mid;
  }
  return &r->launches[low];
}

void race_block_place(const race *r, uint32_t number, uint64_t *launch, uint64_t *block) {
  const race_first *f = of_block(r, number);
  *launch = f->launch;
  *block = (number & ~RACE_ASYNC_BLOCK) - f->first;
}

/* ------------------------------------------------------------------ launches */

/* The first of those that the next may run beside. */
static uint32_t looked_back_to(race *r) {
  while (r->over < r->n_launches && check_launch_over(r->check, r->launches[r->over].launch))
    r->over++;
  return r->over;
}

void race_launch_begin(race *r, const sim_event *e) {
  const sim_launch *l = e->launch.launch;
  race_first *f = add(r, e->who.launch, (uint64_t)l->grid[0] * l->grid[1] * l->grid[2]);
  if (!f)
    return;
  for (uint32_t i = 0; e->who.body && i < e->who.body->n_insns; i++)
    f->bulk |=
        e->who.body->insns[i].op == PTX_OP_cp_bulk || e->who.body->insns[i].op == PTX_OP_cp_bulk_reduce;
  uint32_t here = r->n_launches - 1;
  for (uint32_t i = looked_back_to(r); i < here; i++)
    if (!(r->launches[i].launch & CHECK_COPY) &&
        !check_launch_before(r->check, r->launches[i].launch, f->launch)) {
      if (!BASE_ROOM(f->apart, f->n_apart, f->cap_apart)) {
        r->failed = true;
        return;
      }
      f->apart[f->n_apart++] = r->launches[i].launch;
    }
  for (uint32_t i = 0; i < RACE_COPIES && i < r->n_copies; i++)
    if (!check_launch_before(r->check, CHECK_COPY | r->copies[i].order, f->launch))
      f->copies |= UINT64_C(1) << i;
}

static bool has(const race_first *f, uint64_t launch) {
  for (uint32_t i = 0; i < f->n_apart; i++)
    if (f->apart[i] == launch)
      return true;
  return false;
}

bool race_launches_ordered(const race *r, const race_block *b, uint32_t other) {
  const race_first *mine = of_block(r, b->number), *its = of_block(r, other);
  return !has(mine, its->launch) && !has(its, mine->launch);
}

/* ------------------------------------------------------------------ copies */

/* A copy has no block; for the rule it is a thread of one of its own. */
static void copy_as_block(race *r, const race_copy *c, race_block *b, race_warp *w, race_record *rec) {
  const race_first *f = add(r, CHECK_COPY | c->order, 1);
  *w = (race_warp){.exists = 1, .live = 1};
  *b = (race_block){.number = f ? f->first : 0,
                    .launch = {.id = CHECK_COPY | c->order, .n_blocks = 1, .n_threads = 1},
                    .n_warps = 1,
                    .warps = w};
  *rec = (race_record){.block = b->number,
                       .time = 1,
                       .lanes = 1,
                       .level = RACE_LEVEL_DEVICE,
                       .flags = c->writes ? RACE_WRITES : RACE_READS};
}

static void tell(race *r, const race_copy *c, race_block *b, const race_record *rec, uint32_t lane,
                 uint64_t address, uint32_t bytes, bool copy_first) {
  race_block of_copy;
  race_warp warp;
  race_record copy;
  copy_as_block(r, c, &of_copy, &warp, &copy);
  copy.bytes = (uint8_t)(bytes < 128 ? bytes : 128);
  race_found(r, &(race_pair){.block = copy_first ? b : &of_copy,
                             .first = copy_first ? &copy : rec,
                             .second = copy_first ? rec : &copy,
                             .first_lane = copy_first ? 0 : lane,
                             .second_lane = copy_first ? lane : 0,
                             .knower_warp = copy_first && !(rec->block & RACE_ASYNC_BLOCK) ? rec->warp : 0,
                             .knower_lane = copy_first ? lane : 0,
                             .space = PTX_SPACE_GLOBAL,
                             .first_address = address,
                             .second_address = address});
}

/* A kernel's access against copies that were before it, but not in order. */
void race_meet_copies(race *r, race_block *b, const race_record *rec, uint64_t line) {
  uint64_t copies = of_block(r, b->number)->copies;
  for (; copies; copies &= copies - 1) {
    const race_copy *c = &r->copies[__builtin_ctzll(copies)];
    if (!c->writes && !(rec->flags & RACE_WRITES))
      continue;
    for (uint32_t left = rec->lanes; left; left &= left - 1) {
      uint32_t i = (uint32_t)__builtin_ctz(left);
      uint64_t at = line + (uint64_t)(int64_t)race_at(rec, i);
      if (at < c->address + c->bytes && c->address < at + rec->bytes) {
        tell(r, c, b, rec, i, at, rec->bytes, true);
        break;
      }
    }
  }
}

static void look_at(race *r, const race_copy *c, race_record *rec, uint64_t line, uint64_t from,
                    uint64_t to) {
  if ((!(rec->flags & RACE_WRITES) && !c->writes) ||
      check_launch_before(r->check, of_block(r, rec->block)->launch, CHECK_COPY | c->order))
    return;
  for (uint32_t left = rec->lanes; left; left &= left - 1) {
    uint32_t lane = (uint32_t)__builtin_ctz(left);
    uint64_t a = line + (uint64_t)(int64_t)race_at(rec, lane);
    if (a >= to || from >= a + rec->bytes)
      continue;
    tell(r, c, NULL, rec, lane, a, rec->bytes, false);
    return;
  }
}

/* What kernels did before to the bytes of a copy. */
static void look(race *r, const race_copy *c, uint64_t from, uint64_t to) {
  for (uint64_t at = from / RACE_LINE * RACE_LINE; at < to; at += RACE_LINE) {
    race_line *l = race_shadow_peek(&r->global, at), *list;
    race_record cell;
    for (uint32_t k = 0; l && (list = race_list(l, (race_extent){0, RACE_LINE}, k)) != NULL; k++)
      for (uint32_t i = 0; i < list->n; i++)
        look_at(r, c, &list->records[i], at, from, to);
    for (uint32_t word = 0; l && l->cells && word < RACE_LINE / 4; word++)
      if (race_cell_get(l, word, &cell))
        look_at(r, c, &cell, at, from, to);
  }
}

/* Where to keep the copy: in place of one before it that did the same to no other bytes, since what is apart
 * from that one is not behind this one; else the oldest gives way. */
static uint64_t slot_for(race *r, const race_copy *c) {
  for (uint64_t i = 0; i < RACE_COPIES && i < r->n_copies; i++) {
    const race_copy *old = &r->copies[i];
    if (old->writes == c->writes && old->address >= c->address &&
        old->address + old->bytes <= c->address + c->bytes &&
        check_launch_before(r->check, CHECK_COPY | old->order, CHECK_COPY | c->order))
      return i;
  }
  uint64_t slot = r->n_copies++ % RACE_COPIES;
  if (r->copies[slot].bytes && !check_launch_over(r->check, CHECK_COPY | r->copies[slot].order))
    check_unjudged(r->check, "more than %d copies at once: races with the oldest were not sought",
                   RACE_COPIES);
  return slot;
}

static void copied(race *r, uint64_t address, uint64_t bytes, uint64_t order, bool writes) {
  race_copy c = {.address = address, .bytes = bytes, .order = order, .writes = writes};
  uint64_t slot = slot_for(r, &c), bit = UINT64_C(1) << slot;
  bool apart = false;
  r->copies[slot] = c;
  for (uint32_t i = looked_back_to(r); i < r->n_launches; i++) {
    race_first *f = &r->launches[i];
    f->copies &= ~bit;
    if (f->launch & CHECK_COPY || check_launch_before(r->check, f->launch, CHECK_COPY | order))
      continue;
    f->copies |= bit; /* it may be at work, and meet the copy yet */
    apart = true;
  }
  if (!apart)
    return;
  look(r, &c, address, address + bytes);
  for (size_t i = 0; i < BASE_COUNT(r->blocks); i++)
    for (race_block *b = r->blocks[i]; b; b = b->next)
      b->copies = of_block(r, b->number)->copies != 0;
}

void race_copy_event(race *r, const sim_event *e) {
  if (e->memory.writes)
    copied(r, e->memory.address, e->memory.bytes, e->memory.order, true);
  if (e->memory.reads)
    copied(r, e->memory.from, e->memory.bytes, e->memory.order, false);
}
