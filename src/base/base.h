/* base.h: the few helpers that every layer wants. Knows nothing of PTX. */
#ifndef MUSTER_BASE_H
#define MUSTER_BASE_H

#define BASE_COUNT(array) (sizeof(array) / sizeof((array)[0]))

#endif
