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
  uint64_t schedules;       /* 1: the plain run only */
  uint32_t threads;         /* so many schedules at once */
  uint64_t shard, shards;   /* this one runs every shards-th schedule, from `shard` on (0 to shards - 1) */
  const char *replay;       /* NULL */
  const char *gpu;          /* the profile's name */
  const char *kernel_regex; /* NULL: all kernels */
  uint64_t launch_skip, launch_count; /* of those that match; count 0: all */
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
  void (*note)(void *user, const char *text);       /* worth knowing */
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
 * A set is what may overlap: launches that were started with the device idle, until it is idle again. The
 * owner begins a set, adds each launch before it starts it, and runs them as they are; at the end further
 * schedules are run from the state at the beginning, what they print is dropped, and the state of the plain
 * run is put back. */
bool check_schedules_wanted(const check *c); /* else the rest need not be called */
void check_set_begin(check *c);
void check_set_add(check *c, const sim_launch *l); /* copied, with its parameters */
void check_set_once(check *c, const char *why); /* the set in progress cannot be run again: why, for a note */
/* `host_waits`: no thread of the host does anything meanwhile. */
void check_set_end(check *c, bool host_waits);
void check_set_drop(check *c); /* it did not end: its launches are gone */
/* For the summary: schedules of the launch with the most; whether they were all there are, of every launch.
 */
void check_schedules_run(const check *c, uint64_t *run, bool *exhaustive);

#endif
