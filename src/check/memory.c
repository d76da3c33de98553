/* memory.c: accesses to memory that is none, or not that much: the rules oob-*, null-access, use-after-free
 * and misaligned. A bad write is dropped, a bad read gives an undefined 0, and the launch goes on. */
#include <stdlib.h>

#include "check/state.h"

typedef struct memory {
  check *check;
} memory;

static void *new(check *c) {
  memory *m = calloc(1, sizeof *m);
  if (m)
    m->check = c;
  return m;
}

uint32_t check_memory_allow(check *c, const sim_access *a, uint32_t legal) {
  uint32_t bad = a->who->lanes & ~legal;
  if (a->space == PTX_SPACE_GLOBAL)
    for (uint32_t lanes = legal; lanes; lanes &= lanes - 1) {
      uint32_t i = (uint32_t)__builtin_ctz(lanes);
      sim_allocation found;
      if (sim_memory_find(c->device, a->address[i], &found) && found.kind != SIM_MEMORY_HOST &&
          a->address[i] + a->bytes > found.address + found.bytes)
        bad |= UINT32_C(1) << i;
    }
  for (uint32_t lanes = bad; lanes; lanes &= lanes - 1) {
    uint32_t i = (uint32_t)__builtin_ctz(lanes);
    check_report(c, &(check_found){.rule = MUSTER_RULE_OOB_GLOBAL,
                                   .message = "the access reaches outside of every allocation",
                                   .sides = {{.kind = a->writes ? "write" : "read",
                                              .spot = check_spot_of(c, a->who, i),
                                              .space = a->space,
                                              .address = a->address[i],
                                              .bytes = a->bytes}}});
  }
  return legal & ~bad;
}

const check_part check_part_memory = {"memory", SIM_WATCH_ACCESS, new, free, NULL};
