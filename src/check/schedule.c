/* schedule.c: which unit goes next: the schedules beyond the plain run, and replays. */
#include <stdlib.h>

#include "check/state.h"

typedef struct schedule {
  check *check;
} schedule;

static void *new(check *c) {
  schedule *p = calloc(1, sizeof *p);
  if (p)
    p->check = c;
  return p;
}

const check_part check_part_schedule = {"schedule", 0, new, free, NULL};

bool check_schedules_wanted(const check *c) {
  return c->options.schedules > 1 || c->options.replay;
}

bool check_schedule_next(check *c) {
  (void)c;
  return false;
}
