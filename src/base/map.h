/* map.h: interned strings, and a hash map from words of memory to numbers. Both live in an arena. */
#ifndef MUSTER_BASE_MAP_H
#define MUSTER_BASE_MAP_H

#include "base/arena.h"

/* Keys are pointers, compared as such: strings are interned first. BASE_MISSING is no value. */
#define BASE_MISSING UINT32_MAX

typedef struct base_map {
  base_arena *arena;
  struct base_slot *slots;
  uint32_t n_slots, n_used;
} base_map;

void base_map_init(base_map *m, base_arena *arena);
uint32_t base_map_get(const base_map *m, const void *key);
/* Sets, overwriting; BASE_MISSING takes the key away again. */
void base_map_set(base_map *m, const void *key, uint32_t value);

typedef struct base_strings {
  base_arena *arena;
  const char **slots;
  uint32_t n_slots, n_used;
} base_strings;

void base_strings_init(base_strings *s, base_arena *arena);
/* One pointer for equal strings; NUL-terminated. */
const char *base_intern(base_strings *s, const char *text, size_t bytes);
/* The same, or NULL if nobody interned it yet. */
const char *base_interned(const base_strings *s, const char *text, size_t bytes);

#endif
