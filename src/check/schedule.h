/* schedule.h: one schedule as choices: a pure function of seed, index and what the plain run recorded. */
#ifndef MUSTER_CHECK_SCHEDULE_H
#define MUSTER_CHECK_SCHEDULE_H

#include "check/record.h"
#include "check/search.h"

typedef enum check_plan_kind {
  CHECK_PLAIN,  /* as the machine would */
  CHECK_FLIP,   /* one pair of steps in the other order */
  CHECK_PCT,    /* priorities, and points at which the running warp's drops below all (PCT) */
  CHECK_WALK,   /* anybody may go on at each step */
  CHECK_LONELY, /* one block at a time, the last first */
  CHECK_FIRST,  /* one block at a time, the first first */
  CHECK_ORDER,  /* as a search for all orders says */
  CHECK_WEAK    /* as the machine would, but a few reads take other writes than memory's last */
} check_plan_kind;

enum { CHECK_CHANGES = 2 };

typedef struct check_plan {
  check_plan_kind kind;
  uint64_t random; /* seed of all that is drawn */
  uint64_t nth;    /* CHECK_WEAK: from 1 */
  search *orders;  /* CHECK_ORDER */
  bool shuffles;   /* blocks start in any order; else as the kind says */
  bool parts;      /* lanes that have parted go in any order too */
  check_flip flip;
  uint32_t n_changes;
  uint64_t changes[CHECK_CHANGES]; /* numbers of steps, over all warps */
} check_plan;

/* Schedules of a search are numbered from here on, and are pure functions of what is run. */
#define CHECK_ORDERS UINT64_C(1000000000)
/* The index-th schedule, from 1. False: there is none of this index that differs. */
bool check_plan_of(check_record *plain, uint64_t seed, uint64_t index, check_plan *out);

typedef enum check_outcome {
  CHECK_ENDED,
  CHECK_HUNG,
  CHECK_FAULTED,
  CHECK_ENDLESS,
  CHECK_FAILED /* no memory */
} check_outcome;
/* rerun.c: one schedule from the beginning of the set. The device is left as that leaves it. */
check_outcome check_play(check *c, const check_plan *plan, check_unfair unfair);
/* weak_run.c: one of CHECK_WEAK; nothing is told of it if the memory model allows nothing else. */
check_outcome check_play_weak(check *c, const check_plan *plan);
/* Whether all executions that the memory model allows, of a small set, were tried and are free of faults and
 * data races; says nothing else. */
bool check_weak_exhausts(check *c);

/* A schedule under way. */
typedef struct check_player check_player;
check_player *check_player_new(check *c, const check_plan *p);
void check_player_free(check_player *p);
sim_answer check_player_event(check_player *p, const sim_event *e);
uint32_t check_player_choose(check_player *p, const sim_choice *c);

#endif
