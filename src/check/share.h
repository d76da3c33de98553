/* share.h: schedules at once, and what is said in them (share.c). */
#ifndef MUSTER_CHECK_SHARE_H
#define MUSTER_CHECK_SHARE_H

#include "check/state.h"

/* What one finding has that others have not. */
typedef struct check_key {
  muster_rule rule;
  muster_severity severity;
  uint64_t launch;
  check_site sites[MUSTER_ACCESSES];
  uint64_t count; /* how often it was met now */
} check_key;

typedef struct check_shares {
  void *user;
  bool (*nth)(void *user, uint64_t i, uint64_t *schedule); /* from 0; false: there are no more */
  bool (*play)(check *c, uint64_t schedule);               /* false: this was the last that could be run */
} check_shares;

/* Runs them in n processes; adds to *run how many were. False: not all was heard of them. */
bool check_share_out(check *c, const check_shares *what, uint32_t n, uint64_t *run);

/* In such a process, check.share is set, and what would be said goes there. */
void check_share_finding(struct check_share *s, const check_key *key, const muster_finding *f);
void check_share_race(struct check_share *s, uint64_t launch);
void check_share_text(struct check_share *s, bool unjudged, const char *text);

/* And is said here. f: NULL if it was told before. */
void check_keep(check *c, const check_key *key, const muster_finding *f);
void check_note_race(check *c, uint64_t launch);
/* redundant.c: barriers that are known, by number, [1, n). */
uint32_t check_barriers_known(const check *c);
bool check_barrier_needed(const check *c, uint32_t barrier);
void check_barrier_need(check *c, uint32_t barrier);

#endif
