/* patch.h: redirects functions of code that is already mapped. */
#ifndef MUSTER_RUNTIME_PATCH_H
#define MUSTER_RUNTIME_PATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One redirected function. `room` bytes from `at` on belong to it (its own, and padding behind it). The first
 * call asks patch_target for the function to run; every later one goes there directly. */
struct patch_site {
  uint8_t *at;
  size_t room;
  const char *name; /* kept as it is, for patch_target */
  int major;        /* likewise */
};

/* Redirects all `count` sites of one object, whose text spans [low, high). `refused`, if not NULL, is told of
 * each that has no room for a jump. False: no memory within a jump's reach, or the text cannot be written;
 * nothing was changed then. */
bool patch_apply(const struct patch_site *sites, size_t count, uintptr_t low, uintptr_t high,
                 void (*refused)(const struct patch_site *));

/* Redirects one function to `target` for good. */
bool patch_direct(uint8_t *at, size_t room, void (*target)(void));

/* How much padding stands at `at`, at most `limit` bytes. */
size_t patch_padding(const uint8_t *at, size_t limit);

/* The caller's: what a redirected function shall run. Never NULL. */
void *patch_target(const char *name, int major);

#endif
