/* map.c: open addressing, linear probing, at most half full. */
#include "base/map.h"

#include <string.h>

enum { FIRST_SLOTS = 16 };

struct base_slot {
  const void *key;
  uint32_t value;
};

static uint32_t mix(uint64_t x) {
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdu;
  x ^= x >> 33;
  return (uint32_t)x;
}

static uint32_t hash_text(const char *text, size_t bytes) {
  uint64_t h = 1469598103934665603u;
  for (size_t i = 0; i < bytes; i++)
    h = (h ^ (unsigned char)text[i]) * 1099511628211u;
  return mix(h);
}

void base_map_init(base_map *m, base_arena *arena) {
  *m = (base_map){.arena = arena};
}

/* The slot of a key, or the empty one where it would go; there must be slots. */
static struct base_slot *find(const base_map *m, const void *key) {
  uint32_t i = mix((uintptr_t)key) & (m->n_slots - 1);
  while (m->slots[i].key && m->slots[i].key != key)
    i = (i + 1) & (m->n_slots - 1);
  return &m->slots[i];
}

uint32_t base_map_get(const base_map *m, const void *key) {
  if (!m->n_slots)
    return BASE_MISSING;
  struct base_slot *s = find(m, key);
  return s->key ? s->value : BASE_MISSING;
}

void base_map_set(base_map *m, const void *key, uint32_t value) {
  if (m->n_used * 2 >= m->n_slots) {
    base_map larger = *m;
    larger.n_slots = m->n_slots ? m->n_slots * 2 : FIRST_SLOTS;
    larger.slots = base_alloc_array(m->arena, larger.n_slots, sizeof *larger.slots);
    for (uint32_t i = 0; i < m->n_slots; i++)
      if (m->slots[i].key)
        *find(&larger, m->slots[i].key) = m->slots[i];
    *m = larger;
  }
  struct base_slot *s = find(m, key);
  if (!s->key) {
    s->key = key;
    m->n_used++;
  }
  s->value = value;
}

void base_strings_init(base_strings *s, base_arena *arena) {
  *s = (base_strings){.arena = arena};
}

static const char **find_text(const base_strings *s, const char *text, size_t bytes) {
  uint32_t i = hash_text(text, bytes) & (s->n_slots - 1);
  while (s->slots[i] && (strncmp(s->slots[i], text, bytes) != 0 || s->slots[i][bytes]))
    i = (i + 1) & (s->n_slots - 1);
  return &s->slots[i];
}

const char *base_interned(const base_strings *s, const char *text, size_t bytes) {
  return s->n_slots ? *find_text(s, text, bytes) : NULL;
}

const char *base_intern(base_strings *s, const char *text, size_t bytes) {
  if (s->n_used * 2 >= s->n_slots) {
    base_strings larger = *s;
    larger.n_slots = s->n_slots ? s->n_slots * 2 : FIRST_SLOTS;
    larger.slots = base_alloc_array(s->arena, larger.n_slots, sizeof *larger.slots);
    for (uint32_t i = 0; i < s->n_slots; i++)
      if (s->slots[i])
        *find_text(&larger, s->slots[i], strlen(s->slots[i])) = s->slots[i];
    *s = larger;
  }
  const char **slot = find_text(s, text, bytes);
  if (!*slot) {
    *slot = base_copy(s->arena, text, bytes);
    s->n_used++;
  }
  return *slot;
}
