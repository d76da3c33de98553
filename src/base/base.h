/* base.h: the few helpers that every layer wants. Knows nothing of PTX. */
#ifndef MUSTER_BASE_H
#define MUSTER_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BASE_COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Room for one item more in a growing array of malloc, whose capacity doubles. False: out of memory, and all
 * is as it was. (An array in an arena grows by BASE_PUSH.) */
#define BASE_ROOM(items, count, capacity) base_room(&(items), (count), &(capacity), sizeof *(items))
bool base_room(void *items, size_t count, uint32_t *capacity,
               size_t item_bytes); /* items: where the array's address is */

#endif
