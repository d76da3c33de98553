/* record.c: see record.h. Tables are open-addressed hashes that double. */
#include "check/record.h"

#include <stdlib.h>
#include <string.h>

enum { FLIPS = 4096 };

typedef struct warp {
  sim_turn who;
  uint32_t steps;
  uint64_t address, value; /* of the last step's first lane, if it only read; address 0 */
} warp;

typedef struct word {
  uint64_t key;  /* 0: free */
  sim_turn last; /* who was there last; launch 0: nobody */
  uint32_t step;
  check_site site;
  bool wrote;
  sim_turn first; /* who was there first, and with which lane */
  uint32_t lane;
  bool many, written; /* other threads were there; one wrote */
} word;

typedef struct pair {
  uint64_t word;
  check_site first, second;
  uint32_t n;
} pair;

struct check_record {
  warp *warps;
  uint32_t n_warps, cap_warps;
  uint32_t *slots, n_slots;
  word *words;
  uint32_t n_words, cap_words;
  pair *pairs;
  uint32_t n_pairs, cap_pairs;
  check_flip *flips;
  uint32_t n_flips;
  uint64_t total, contended;
  bool keeps, sorted, crosses, failed;
};

check_record *check_record_new(bool flips) {
  check_record *r = calloc(1, sizeof *r);
  if (r)
    r->keeps = flips;
  return r;
}

void check_record_free(check_record *r) {
  if (!r)
    return;
  free(r->warps);
  free(r->slots);
  free(r->words);
  free(r->pairs);
  free(r->flips);
  free(r);
}

static uint64_t mix(uint64_t x) {
  x *= UINT64_C(0x9e3779b97f4a7c15);
  return x ^ x >> 32;
}

/* ------------------------------------------------------------------ warps */

static uint32_t slot_of(const check_record *r, const sim_turn *t) {
  uint32_t k = (uint32_t)mix(mix(t->launch) ^ t->block << 6 ^ t->warp) & (r->n_slots - 1);
  while (r->slots[k] && !check_same_turn(&r->warps[r->slots[k] - 1].who, t))
    k = (k + 1) & (r->n_slots - 1);
  return k;
}

static bool more_warps(check_record *r) {
  uint32_t more = r->cap_warps ? r->cap_warps * 2 : 64;
  warp *warps = realloc(r->warps, more * sizeof *warps);
  uint32_t *slots = calloc(more * 2, sizeof *slots);
  if (warps)
    r->warps = warps;
  if (!warps || !slots) {
    free(slots);
    return false;
  }
  free(r->slots);
  r->slots = slots, r->n_slots = more * 2, r->cap_warps = more;
  for (uint32_t i = 0; i < r->n_warps; i++)
    slots[slot_of(r, &warps[i].who)] = i + 1;
  return true;
}

/* NULL: no memory. */
static warp *warp_of(check_record *r, const sim_turn *t) {
  if (r->n_warps == r->cap_warps && !more_warps(r))
    return NULL;
  uint32_t k = slot_of(r, t);
  if (!r->slots[k]) {
    r->warps[r->n_warps++] = (warp){.who = *t};
    r->slots[k] = r->n_warps;
  }
  return &r->warps[r->slots[k] - 1];
}

uint32_t check_record_warp(check_record *r, const sim_turn *who) {
  const warp *w = warp_of(r, who);
  return w ? (uint32_t)(w - r->warps) : UINT32_MAX;
}

uint64_t check_record_total(const check_record *r) {
  return r->total;
}

uint64_t check_record_contended(const check_record *r) {
  return r->contended;
}

bool check_record_crosses(const check_record *r) {
  return r->crosses;
}

bool check_record_failed(const check_record *r) {
  return r->failed;
}

/* ------------------------------------------------------------------ words */

/* Shared memory is one per block. Never 0. */
uint64_t check_word_of(const sim_event *e, uint32_t lane, uint32_t byte) {
  const sim_access *a = e->access;
  uint64_t at = (sim_address_of(a, lane) + byte) >> 2;
  if (a->space == PTX_SPACE_SHARED)
    at ^= mix(mix(e->who.launch) + e->who.block - e->who.cluster_rank +
              (a->rank ? a->rank[lane] : e->who.cluster_rank));
  return at | 1ull << 63;
}

static word *word_of(check_record *r, uint64_t key) {
  if (r->n_words * 2 >= r->cap_words) {
    uint32_t more = r->cap_words ? r->cap_words * 2 : 256;
    word *words = calloc(more, sizeof *words);
    if (!words)
      return NULL;
    for (uint32_t i = 0; i < r->cap_words; i++)
      if (r->words[i].key) {
        uint32_t k = (uint32_t)mix(r->words[i].key) & (more - 1);
        while (words[k].key)
          k = (k + 1) & (more - 1);
        words[k] = r->words[i];
      }
    free(r->words);
    r->words = words, r->cap_words = more;
  }
  uint32_t k = (uint32_t)mix(key) & (r->cap_words - 1);
  while (r->words[k].key && r->words[k].key != key)
    k = (k + 1) & (r->cap_words - 1);
  if (!r->words[k].key)
    r->words[k].key = key, r->n_words++;
  return &r->words[k];
}

/* How often the pair was met before. */
static uint32_t occurrence(check_record *r, uint64_t key, check_site first, check_site second) {
  for (uint32_t i = 0; i < r->n_pairs; i++) {
    pair *p = &r->pairs[i];
    if (p->word == key && p->first == first && p->second == second)
      return p->n++;
  }
  if (r->n_pairs == FLIPS || !BASE_ROOM(r->pairs, r->n_pairs, r->cap_pairs))
    return UINT32_MAX;
  r->pairs[r->n_pairs++] = (pair){key, first, second, 1};
  return 0;
}

static void note_flip(check_record *r, const word *w, const sim_turn *other, check_site site) {
  if (!r->flips && !(r->flips = malloc(FLIPS * sizeof *r->flips)))
    return;
  if (r->n_flips < FLIPS) {
    r->flips[r->n_flips] = (check_flip){.held = w->last,
                                        .held_step = w->step,
                                        .other = *other,
                                        .word = w->key,
                                        .occurrence = occurrence(r, w->key, w->site, site),
                                        .number = r->n_flips};
    r->n_flips++;
  }
}

static void note_thread(check_record *r, word *w, const sim_turn *who, uint32_t lane, bool writes) {
  bool before = w->many && w->written;
  if (!w->first.launch)
    w->first = *who, w->lane = lane;
  w->many |= !check_same_turn(&w->first, who) || w->lane != lane;
  w->written |= writes;
  r->contended += !before && w->many && w->written;
}

static void note_words(check_record *r, check *c, const sim_event *e, const check_step *s) {
  const sim_access *a = e->access;
  check_site site = check_site_of(c, &e->who);
  for (uint32_t lanes = e->who.lanes; lanes; lanes &= lanes - 1) {
    uint32_t i = (uint32_t)__builtin_ctz(lanes);
    word *w = word_of(r, check_word_of(e, i, 0));
    if (!w) {
      r->failed = true;
      return;
    }
    bool wrote = a->writes && a->stored >> i & 1;
    note_thread(r, w, &s->who, i, a->writes);
    bool same = check_same_turn(&w->last, &s->who);
    if (w->last.launch && !same && (w->wrote || a->writes)) {
      r->crosses |= w->last.block != e->who.block || w->last.launch != e->who.launch;
      note_flip(r, w, &s->who, site);
    }
    if (same && w->step == s->number)
      continue; /* another lane was there */
    w->last = s->who, w->step = s->number, w->site = site, w->wrote = wrote;
  }
}

bool check_record_step(check_record *r, check *c, const sim_event *e, check_step *out) {
  if (e->kind != SIM_EVENT_ACCESS)
    return false;
  const sim_access *a = e->access;
  if (a->element || (a->space != PTX_SPACE_GLOBAL && a->space != PTX_SPACE_SHARED))
    return false;
  if (a->order == PTX_ORDER_WEAK && !check_races_at(c, check_site_of(c, &e->who)))
    return false;
  sim_turn who = {e->who.launch, e->who.block, e->who.warp};
  warp *w = warp_of(r, &who);
  if (!w) {
    r->failed = true;
    return false;
  }
  uint32_t lane = (uint32_t)__builtin_ctz(e->who.lanes);
  bool polls = a->reads && !(a->writes && a->stored);
  *out = (check_step){.who = who,
                      .number = ++w->steps,
                      .total = ++r->total,
                      .again = polls && w->address == sim_address_of(a, lane) &&
                               w->value == sim_value_read(a, lane)};
  w->address = polls ? sim_address_of(a, lane) : 0, w->value = sim_value_read(a, lane);
  if (r->keeps)
    note_words(r, c, e, out);
  return true;
}

bool check_flip_meets(const check_flip *f, const sim_event *e) {
  for (uint32_t lanes = e->who.lanes; lanes; lanes &= lanes - 1)
    if (check_word_of(e, (uint32_t)__builtin_ctz(lanes), 0) == f->word)
      return true;
  return false;
}

static int by_occurrence(const void *a, const void *b) {
  const check_flip *x = a, *y = b;
  if (x->occurrence != y->occurrence)
    return x->occurrence < y->occurrence ? -1 : 1;
  return x->number < y->number ? -1 : x->number > y->number;
}

const check_flip *check_record_flips(check_record *r, uint32_t *n) {
  if (!r->sorted && r->n_flips)
    qsort(r->flips, r->n_flips, sizeof *r->flips, by_occurrence);
  r->sorted = true;
  *n = r->n_flips;
  return r->flips;
}
