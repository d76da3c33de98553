/* replay.c: what names a schedule, so that it can be run again. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "muster/check.h"

void muster_replay_id(const muster_replay *r, char id[MUSTER_REPLAY_BYTES]) {
  snprintf(id, MUSTER_REPLAY_BYTES, "%s.%08" PRIx32 ".%" PRIu64 ".%" PRIu64 ".%" PRIu64, r->gpu, r->ptx,
           r->launch, r->schedule, r->seed);
}

bool muster_replay_parse(const char *id, muster_replay *out) {
  int end = 0;
  memset(out, 0, sizeof *out);
  return strspn(id, "abcdefghijklmnopqrstuvwxyz0123456789.") == strlen(id) &&
         sscanf(id, "%31[a-z0-9].%8" SCNx32 ".%" SCNu64 ".%" SCNu64 ".%" SCNu64 "%n", out->gpu, &out->ptx,
                &out->launch, &out->schedule, &out->seed, &end) == 5 &&
         id[end] == 0;
}

/* FNV-1a, folded. */
uint32_t muster_replay_hash(const char *text, size_t bytes) {
  uint64_t h = UINT64_C(0xcbf29ce484222325);
  for (size_t i = 0; i < bytes; i++)
    h = (h ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
  return (uint32_t)(h ^ h >> 32);
}
