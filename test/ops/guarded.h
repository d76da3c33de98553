/* guarded.h: one device (MUSTER_DEVICE's) with an input, a result and a workspace, and a look at whether
 * anything beside a result was written. */
#ifndef TEST_OPS_GUARDED_H
#define TEST_OPS_GUARDED_H

#include "array.h"

static muster_device *device;
static uint64_t in, out, workspace;
enum { ROOM = 16 << 20, MOST = 150000, GUARD = 32 };
static uint8_t host[2][ROOM], got[ROOM], want[ROOM];

static inline muster_call call_of(void) {
  muster_call call = MUSTER_CALL_INIT;
  call.workspace = workspace;
  call.workspace_bytes = ROOM;
  return call;
}

static inline void fresh_workspace(void) { /* another operation follows */
  CHECK(muster_fill_bytes(device, workspace, 0, ROOM) == MUSTER_OK);
}

/* The result of `bytes` at `at`, and that nothing beside it changed. */
static inline void same(uint64_t at, size_t bytes, const char *what, muster_elem elem, uint64_t n) {
  CHECK(muster_copy_out(device, got, at - GUARD, bytes + 2 * GUARD) == MUSTER_OK);
  for (size_t i = 0; i < GUARD; i++)
    CHECK(got[i] == 0xa5 && got[GUARD + bytes + i] == 0xa5);
  for (size_t i = 0; i < bytes; i++)
    if (got[GUARD + i] != want[i]) {
      failures++;
      fprintf(stderr, "%s of %llu %s: byte %zu of %zu is %#x, expected %#x\n", what, (unsigned long long)n,
              types[elem].name, i, bytes, got[GUARD + i], want[i]);
      return;
    }
}
static inline void guard(uint64_t at, size_t bytes) {
  CHECK(muster_fill_bytes(device, at - GUARD, 0xa5, bytes + 2 * GUARD) == MUSTER_OK);
}

#define REFUSED(words, function, ...) \
  CHECK(function(device, __VA_ARGS__) == MUSTER_ERROR_ARGUMENT && says(words))

static inline void open_device(void) { /* ends the program where there is none */
  muster_result r = muster_open(NULL, &device);
  if (r == MUSTER_ERROR_NO_DEVICE) {
    fprintf(stderr, "skipped: %s\n", muster_message());
    exit(77);
  }
  CHECK(r == MUSTER_OK);
  CHECK(muster_alloc(device, ROOM, &in) == MUSTER_OK && muster_alloc(device, ROOM, &out) == MUSTER_OK &&
        muster_alloc(device, ROOM, &workspace) == MUSTER_OK);
  fresh_workspace();
}

static inline void close_device(void) {
  CHECK(muster_wait(device) == MUSTER_OK);
  CHECK(muster_free(device, in) == MUSTER_OK && muster_free(device, out) == MUSTER_OK &&
        muster_free(device, workspace) == MUSTER_OK);
  muster_close(device);
}

#endif
