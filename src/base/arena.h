/* arena.h: memory that is freed all at once.
 *
 * An allocation never returns NULL. When memory runs out, the arena jumps to where its owner said, with
 * everything allocated so far still reachable from the arena: the owner frees it there. So code that builds a
 * tree in an arena has no failure paths of its own, and must hold nothing else that needs freeing.
 */
#ifndef MUSTER_BASE_ARENA_H
#define MUSTER_BASE_ARENA_H

#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>

typedef struct base_arena {
  struct base_chunk *chunks;
  unsigned char *at, *end;
  size_t next_bytes;
  jmp_buf *out_of_memory; /* set before the first allocation, valid while anything allocates */
} base_arena;

void base_arena_free(base_arena *a);           /* and leaves it empty, ready for use */
void *base_alloc(base_arena *a, size_t bytes); /* zeroed, aligned for anything */
void *base_alloc_array(base_arena *a, size_t count, size_t item_bytes);
/* A NUL-terminated copy. */
char *base_copy(base_arena *a, const char *text, size_t bytes);

/* Makes room for at least one item more in a growing array that lives in an arena; *capacity doubles, and the
 * old storage is abandoned to the arena: half of what is kept at most. */
void *base_grow(base_arena *a, void *items, uint32_t count, uint32_t *capacity, size_t item_bytes);
#define BASE_PUSH(arena, items, count, capacity) \
  ((items) = base_grow((arena), (items), (count), &(capacity), sizeof *(items)), &(items)[(count)++])

/* Test only: the n-th allocation from now on fails (1 is the next); 0: none does. Counts over all arenas. */
void base_arena_fail_at(unsigned long n);

#endif
