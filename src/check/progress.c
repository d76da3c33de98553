/* progress.c: nobody can move any more: the rules deadlock-* and needs-fairness. */
#include <stdlib.h>

#include "check/state.h"

typedef struct progress {
  check *check;
} progress;

static void *new(check *c) {
  progress *p = calloc(1, sizeof *p);
  if (p)
    p->check = c;
  return p;
}

const check_part check_part_progress = {"progress", 0, new, free, NULL};

void check_stuck(check *c) {
  check_report(c, &(check_found){.rule = MUSTER_RULE_DEADLOCK_SPIN, .message = "nobody can move any more"});
}
