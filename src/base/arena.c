/* arena.c: chunks that double in size, so that n bytes cost O(log n) calls of malloc. */
#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_BYTES = 4096, LARGEST_BYTES = 1 << 20 };

struct base_chunk {
  struct base_chunk *next;
  max_align_t data[];
};

static _Thread_local unsigned long fail_at;

void base_arena_fail_at(unsigned long n) {
  fail_at = n;
}

static void out_of_memory(base_arena *a) {
  longjmp(*a->out_of_memory, 1);
}

void base_arena_free(base_arena *a) {
  for (struct base_chunk *c = a->chunks, *next; c; c = next) {
    next = c->next;
    free(c);
  }
  a->chunks = NULL;
  a->at = a->end = NULL;
  a->next_bytes = 0;
}

void *base_alloc(base_arena *a, size_t bytes) {
  if (fail_at && --fail_at == 0)
    out_of_memory(a);
  if (bytes > SIZE_MAX / 2)
    out_of_memory(a);
  bytes = (bytes + sizeof(max_align_t) - (bytes != 0)) / sizeof(max_align_t) *
          sizeof(max_align_t); /* never none */
  if ((size_t)(a->end - a->at) < bytes) {
    size_t room = a->next_bytes ? a->next_bytes : FIRST_BYTES;
    a->next_bytes = room < LARGEST_BYTES ? room * 2 : room;
    if (room < bytes)
      room = bytes;
    struct base_chunk *c = calloc(1, sizeof *c + room);
    if (!c)
      out_of_memory(a);
    c->next = a->chunks;
    a->chunks = c;
    a->at = (unsigned char *)c->data;
    a->end = a->at + room;
  }
  void *p = a->at;
  a->at += bytes;
  return p;
}

void *base_alloc_array(base_arena *a, size_t count, size_t item_bytes) {
  if (item_bytes && count > SIZE_MAX / 2 / item_bytes)
    out_of_memory(a);
  return base_alloc(a, count * item_bytes);
}

char *base_copy(base_arena *a, const char *text, size_t bytes) {
  char *p = base_alloc_array(a, bytes + 1, 1);
  if (bytes)
    memcpy(p, text, bytes);
  return p;
}

void *base_grow(base_arena *a, void *items, uint32_t count, uint32_t *capacity, size_t item_bytes) {
  if (count < *capacity)
    return items;
  if (*capacity > UINT32_MAX / 2)
    out_of_memory(a);
  uint32_t larger = *capacity ? *capacity * 2 : 8;
  void *p = base_alloc_array(a, larger, item_bytes);
  if (count)
    memcpy(p, items, (size_t)count * item_bytes);
  *capacity = larger;
  return p;
}
