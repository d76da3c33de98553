/* warp.c: collectives of a warp: the rules warp-mask and shuffle-source. */
#include <stdlib.h>

#include "check/state.h"

typedef struct warp {
  check *check;
} warp;

static void *new(check *c) {
  warp *p = calloc(1, sizeof *p);
  if (p)
    p->check = c;
  return p;
}

const check_part check_part_warp = {"warp", SIM_WATCH_SYNC, new, free, NULL};
