/* define.c: what nobody wrote and somebody uses: the rules uninit-*. */
#include <stdlib.h>

#include "check/state.h"

typedef struct define {
  check *check;
} define;

static void *new(check *c) {
  define *p = calloc(1, sizeof *p);
  if (p)
    p->check = c;
  return p;
}

const check_part check_part_define = {"define", SIM_WATCH_DEFINED, new, free, NULL};
