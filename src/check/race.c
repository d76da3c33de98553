/* race.c: two accesses that nothing orders: the rules race-* and missing-*. */
#include <stdlib.h>

#include "check/state.h"

typedef struct race {
  check *check;
} race;

static void *new(check *c) {
  race *p = calloc(1, sizeof *p);
  if (p)
    p->check = c;
  return p;
}

const check_part check_part_race = {"race", SIM_WATCH_ACCESS | SIM_WATCH_SYNC, new, free, NULL};
