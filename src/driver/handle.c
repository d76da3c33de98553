/* handle.c: the set of live objects that the program has handles of. A handle is an object's address; asking
 * for it here before touching it turns stale and made-up handles into errors. Open addressing, at most half
 * full.
 */
#include <stdlib.h>

#include "driver/drv.h"

typedef struct slot {
  const void *object;
  drv_kind kind; /* DRV_NOTHING with an object: it was removed */
} slot;
static slot *slots;
static size_t capacity, used; /* used: with the removed ones */

static size_t place(const void *object) {
  return (size_t)(((uintptr_t)object >> 4) * 0x9E3779B97F4A7C15u >> 20) & (capacity - 1);
}

static slot *seek(const void *object) {
  for (size_t i = place(object);; i = (i + 1) & (capacity - 1))
    if (slots[i].object == object || !slots[i].object)
      return &slots[i];
}

static bool grow(void) {
  slot *old = slots;
  size_t n = capacity, live = 0;
  for (size_t i = 0; i < n; i++)
    live += old[i].kind != DRV_NOTHING;
  size_t wanted = 64;
  while (wanted < live * 4)
    wanted *= 2;
  slot *new = calloc(wanted, sizeof *new);
  if (!new)
    return false;
  slots = new;
  capacity = wanted;
  used = live;
  for (size_t i = 0; i < n; i++)
    if (old[i].kind != DRV_NOTHING)
      *seek(old[i].object) = old[i];
  free(old);
  return true;
}

bool drv_handle_add(void *object, drv_kind kind) {
  if ((used + 1) * 2 > capacity && !grow())
    return false;
  slot *s = seek(object);
  used += s->object == NULL;
  *s = (slot){object, kind};
  return true;
}

void drv_handle_remove(void *object) {
  if (capacity == 0)
    return;
  slot *s = seek(object);
  if (s->object)
    s->kind = DRV_NOTHING;
}

void *drv_find(const void *handle, drv_kind kind) {
  if (capacity == 0 || !handle)
    return NULL;
  slot *s = seek(handle);
  return s->object && s->kind == kind ? (void *)(uintptr_t)handle : NULL;
}
