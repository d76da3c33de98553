/* warp.c: collectives of a warp: the rules warp-mask and shuffle-source. A named lane that has left the
 * kernel is no fault: CUDA allows it. One that never comes is a hang, which progress.c tells. */
#include <stdio.h>
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

const char *check_collective_name(const ptx_insn *i) {
  if (!i)
    return "an instruction of the warp";
  switch (i->op) {
  case PTX_OP_shfl_sync:
    return i->mods.lanes == PTX_LANES_UP     ? "__shfl_up_sync"
           : i->mods.lanes == PTX_LANES_DOWN ? "__shfl_down_sync"
           : i->mods.lanes == PTX_LANES_BFLY ? "__shfl_xor_sync"
                                             : "__shfl_sync";
  case PTX_OP_vote_sync:
    return i->mods.vote == PTX_VOTE_ALL   ? "__all_sync"
           : i->mods.vote == PTX_VOTE_ANY ? "__any_sync"
           : i->mods.vote == PTX_VOTE_UNI ? "__uni_sync"
                                          : "__ballot_sync";
  case PTX_OP_match_sync:
    return i->mods.vote == PTX_VOTE_ALL ? "__match_all_sync" : "__match_any_sync";
  case PTX_OP_bar_warp:
    return "__syncwarp";
  case PTX_OP_redux_sync:
    return "redux.sync (__reduce_*_sync)";
  default:
    return ptx_op_get((ptx_op)i->op)->name;
  }
}

static uint32_t first(uint32_t lanes) {
  return (uint32_t)__builtin_ctz(lanes);
}

/* A lane that calls with a mask in which it is not. */
static void check_members(warp *p, const sim_event *e) {
  uint32_t strangers = 0;
  for (uint32_t left = e->who.lanes; left; left &= left - 1)
    strangers |= e->collective.masks[first(left)] >> first(left) & 1 ? 0 : UINT32_C(1) << first(left);
  if (!strangers)
    return;
  uint32_t lane = first(strangers);
  char message[160];
  snprintf(message, sizeof message, "lane %u calls %s with the mask 0x%08x, in which it is not", lane,
           check_collective_name(e->who.insn), e->collective.masks[lane]);
  check_report(p->check,
               &(check_found){.rule = MUSTER_RULE_WARP_MASK,
                              .relation = "warp",
                              .message = message,
                              .missing = "mask",
                              .missing_text = "the calling lane in its own mask",
                              .sides = {{.kind = "mask", .spot = check_spot_of(p->check, &e->who, lane)}}});
}

/* Legal where lanes have program counters of their own; before, they must be converged. */
static void check_places(warp *p, const sim_event *e) {
  const sim_who *other = e->collective.other;
  bool lockstep = check_lockstep(p->check);
  uint32_t there = other->lanes, here = e->collective.met & ~there;
  char message[256];
  snprintf(message, sizeof message, "lanes 0x%08x and 0x%08x of a warp meet in %s at different places%s",
           here, there, check_collective_name(e->who.insn),
           lockstep ? ": undefined on GPUs before Volta" : ": legal from sm_70 on, almost never meant");
  check_report(
      p->check,
      &(check_found){
          .rule = MUSTER_RULE_WARP_MASK,
          .milder = !lockstep,
          .relation = "warp",
          .message = message,
          .missing = "convergence",
          .missing_text = "one call that all lanes of the mask come to, or a mask that names only the "
                          "lanes which take this way (a __ballot_sync before the branch gives it)",
          .sides = {{.kind = "mask", .spot = check_spot_of(p->check, &e->who, here ? first(here) : 0)},
                    {.kind = "mask", .spot = check_spot_of(p->check, other, first(there))}}});
}

static void check_sources(warp *p, const sim_event *e) {
  uint32_t met = e->collective.met, bad = 0;
  for (uint32_t left = met; left; left &= left - 1)
    bad |= met >> e->collective.source[first(left)] & 1 ? 0 : UINT32_C(1) << first(left);
  if (!bad)
    return;
  uint32_t lane = first(bad), source = e->collective.source[lane], mask = e->collective.masks[lane];
  bool named = mask >> source & 1;
  char message[256];
  snprintf(message, sizeof message,
           "lane %u reads lane %u in %s, which %s (mask 0x%08x): the value is undefined", lane, source,
           check_collective_name(e->who.insn),
           named ? "has left the kernel or never was" : "is not in its mask", mask);
  check_report(p->check,
               &(check_found){
                   .rule = MUSTER_RULE_SHUFFLE_SOURCE,
                   .relation = "warp",
                   .message = message,
                   .missing = "mask",
                   .missing_text =
                       named ? "every lane that is read alive: let whole warps run, and guard what they store"
                             : "the lane that is read in the mask and at this call, or a `width` that keeps "
                               "the reads among the lanes that take part",
                   .sides = {{.kind = "mask", .spot = check_spot_of(p->check, &e->who, lane)},
                             {.kind = "mask", .spot = check_spot_of(p->check, &e->who, source)}}});
}

static sim_answer event(void *part, const sim_event *e) {
  warp *p = part;
  if (e->kind == SIM_EVENT_COLLECTIVE_WAIT) { /* who is not in its mask never meets the others at once */
    check_members(p, e);
  } else if (e->kind == SIM_EVENT_COLLECTIVE) {
    if (e->collective.other)
      check_places(p, e);
    if (e->collective.source)
      check_sources(p, e);
  }
  return SIM_GO_ON;
}

const check_part check_part_warp = {"warp", SIM_WATCH_SYNC, new, free, event};
