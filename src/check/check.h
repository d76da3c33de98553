/* check.h: the door of the checker. It watches one device (hooks.h) and tells its owner, the driver, what it
 * found. It knows the rules, and nothing of how reports look: see muster/check.h for findings as data.
 *
 * All calls come from the thread that runs the device, or with it stopped.
 */
#ifndef MUSTER_CHECK_CHECK_H
#define MUSTER_CHECK_CHECK_H

#include "muster/check.h"
#include "sim/hooks.h"

typedef struct check check;

typedef enum check_volatile {
  CHECK_VOLATILE_MIXED,
  CHECK_VOLATILE_STRONG,
  CHECK_VOLATILE_WEAK
} check_volatile;

typedef struct check_options {
  muster_rule_set rules;
  uint64_t seed;
  uint64_t schedules;     /* 1: the plain run only */
  uint64_t shard, shards; /* this one runs every shards-th schedule, from `shard` on (0 to shards - 1) */
  const char *replay;     /* NULL */
  check_volatile volatiles;
  bool strict, fence_sc_exact, lockstep, allow_missing_acquire;
} check_options;

typedef struct check_sink {
  void *user;
  /* A finding, at its first occurrence; id from 1. `f` and all it points to live until the call returns. */
  void (*finding)(void *user, uint64_t id, const muster_finding *f);
  void (*count)(void *user, uint64_t id,
                uint64_t count);                    /* how often it was met so far: at ends of launches */
  void (*unjudged)(void *user, const char *reason); /* once for each reason */
} check_sink;

/* NULL: no memory. */
check *check_new(const check_options *o, const check_sink *sink, sim_device *d);
void check_free(check *c);
/* For sim_device_watch; owned by the checker. */
const sim_watcher *check_watcher(check *c);

/* The device is stuck (SIM_STUCK): who waits for whom becomes a finding. */
void check_stuck(check *c);
/* What the API says, which the machine does not see (rules launch-failed, sticky-error, leak). */
void check_launch_failed(check *c, const char *kernel, const char *error); /* NULL: not known which */
void check_api_error(check *c, const char *function, const char *error);
void check_api_asked(check *c); /* the program asked for the last error */
/* The program or the context ends: leaks, counts. */
void check_end(check *c);

/* ------------------------------------------------------------------ schedules
 *
 * The owner runs each launch (or set of launches that overlap) once as it is; then, while check_schedule_next
 * says so, restores memory as it was before and runs the set again, output dropped. */
bool check_schedule_next(check *c);          /* true: run the set once more */
bool check_schedules_wanted(const check *c); /* more than the plain run */

#endif
