#include "base/base.h"

#include <stdlib.h>
#include <string.h>

bool base_room(void *items, size_t count, uint32_t *capacity, size_t item_bytes) {
  enum { FIRST = 4 };
  if (count < *capacity)
    return true;
  if (*capacity > UINT32_MAX / 2)
    return false;
  uint32_t more = *capacity ? *capacity * 2 : FIRST;
  void *old, *grown;
  memcpy(&old, items, sizeof old);
  grown = realloc(old, more * item_bytes);
  if (!grown)
    return false;
  memcpy(items, &grown, sizeof grown);
  *capacity = more;
  return true;
}
