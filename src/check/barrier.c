/* barrier.c: barriers of blocks and clusters, and of the grid: the rules barrier-* and not-cooperative. */
#include <stdlib.h>

#include "check/state.h"

typedef struct barrier {
  check *check;
} barrier;

static void *new(check *c) {
  barrier *p = calloc(1, sizeof *p);
  if (p)
    p->check = c;
  return p;
}

const check_part check_part_barrier = {"barrier", SIM_WATCH_SYNC | SIM_WATCH_FLOW, new, free, NULL};
