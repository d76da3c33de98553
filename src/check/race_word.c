/* race_word.c: where the words are through which threads synchronise. Those of a block's shared memory end
 * with it. */
#include <stdlib.h>

#include "check/race.h"

static void word_free(race_word *w) {
  for (uint32_t i = 0; i < w->n_heads; i++)
    race_known_drop(&w->heads[i].known);
  race_known_drop(&w->wide);
  race_known_drop(&w->narrow);
  race_known_drop(&w->loose);
  free(w->heads);
  free(w);
}

void race_words_free(race_words *all) {
  for (uint32_t i = 0; all->slots && i < UINT32_C(1) << all->bits; i++)
    for (race_word *w = all->slots[i], *next; w; w = next) {
      next = w->next;
      word_free(w);
    }
  free(all->slots);
  *all = (race_words){0};
}

race_words *race_words_of(race *r, uint32_t space) {
  race_block *b = space ? race_block_numbered(r, space - 1) : NULL;
  return space ? b ? &b->words : NULL : &r->words;
}

static race_word **slot_at(const race_words *all, uint64_t address) {
  return &all->slots[race_hash(address / 8) >> (64 - all->bits)];
}

race_word **race_word_at(const race_words *all, uint64_t address, uint32_t bytes) {
  if (!all || !all->n)
    return NULL;
  race_word **at = slot_at(all, address);
  while (*at && (address >= (*at)->address + (*at)->bytes || (*at)->address >= address + bytes))
    at = &(*at)->next;
  return *at ? at : NULL;
}

static bool more_slots(race_words *all) {
  race_words more = {.bits = all->bits ? all->bits + 1 : 4, .n = all->n};
  more.slots = calloc((size_t)1 << more.bits, sizeof(race_word *));
  if (!more.slots)
    return false;
  for (uint32_t i = 0; all->slots && i < UINT32_C(1) << all->bits; i++)
    for (race_word *w = all->slots[i], *next; w; w = next) {
      race_word **at = slot_at(&more, w->address);
      next = w->next, w->next = *at, *at = w;
    }
  free(all->slots);
  *all = more;
  return true;
}

void race_word_forget(race_words *all, race_word **at) {
  race_word *w = *at;
  *at = w->next;
  all->n--;
  word_free(w);
}

static void words_forget(race_words *all, uint64_t address, uint32_t bytes) {
  for (race_word **w = race_word_at(all, address, bytes); w; w = race_word_at(all, address, bytes))
    race_word_forget(all, w);
}

race_word *race_word_new(race *r, race_words *all, uint64_t at, uint32_t bytes, race_line *line) {
  race_word *w =
      all && (all->n < UINT32_C(1) << all->bits >> 1 || more_slots(all)) ? calloc(1, sizeof *w) : NULL;
  if (!w) {
    r->failed |= all != NULL;
    return NULL;
  }
  race_word **head = slot_at(all, at);
  w->address = at, w->bytes = bytes;
  w->version = w->chain = ++r->versions;
  w->next = *head;
  *head = w;
  all->n++;
  line->syncs = true;
  return w;
}

void race_weak_write(race *r, uint32_t space, uint64_t address, uint32_t bytes) {
  race_words *all = race_words_of(r, space);
  for (uint64_t at = address & ~UINT64_C(7); at < address + bytes; at += 8) {
    uint64_t from = at < address ? address : at, to = at + 8 < address + bytes ? at + 8 : address + bytes;
    words_forget(all, from, (uint32_t)(to - from));
  }
}
