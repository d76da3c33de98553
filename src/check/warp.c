/* warp.c: collectives of a warp: the rules warp-mask and shuffle-source. A named lane that has left the
 * kernel is no fault: CUDA allows it. One that never comes is a hang, which progress.c tells. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/state.h"

enum { JUDGED = 64, LATELY = 64 };

typedef struct warp {
  check *check;
  check_site judged[JUDGED]; /* shuffles whose mask was looked at already */
  uint32_t n_judged;
  const ptx_insn *lately[LATELY]; /* of those, in the launch at hand: a place for each */
} warp;

static void *new(check *c) {
  return check_part_new(c, sizeof(warp));
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
  if (met == UINT32_MAX)
    return; /* all are there */
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

/* ------------------------------------------------------------------ masks of whoever is here
 *
 * __activemask names the lanes that happen to be here. A shuffle over them that reads a lane which was not
 * chosen among them relies on a convergence that nothing promises, even where this run had it. */

static bool writes(const ptx_body *b, const ptx_insn *i, uint32_t reg) {
  for (unsigned n = 0; n < i->n_operands; n++) {
    const ptx_operand *o = &b->operands[i->operands + n];
    if (o->kind == PTX_REG && o->written && o->index == reg)
      return true;
    for (uint64_t k = 0; o->kind == PTX_VEC && k < o->count; k++)
      if (b->operands[o->index + k].kind == PTX_REG && b->operands[o->index + k].index == reg)
        return true;
  }
  return false;
}

/* Nothing but an activemask gives the register its value. */
static bool is_activemask(const ptx_body *b, const ptx_operand *o) {
  bool any = false;
  for (uint32_t n = 0; o->kind == PTX_REG && n < b->n_insns; n++) {
    if (!writes(b, &b->insns[n], o->index))
      continue;
    if (b->insns[n].op != PTX_OP_activemask_warp)
      return false;
    any = true;
  }
  return any;
}

/* The operand comes of the given register, or of something that cannot be followed. */
static bool comes_of(const ptx_body *b, const ptx_operand *o, uint32_t reg, unsigned depth) {
  if (o->kind != PTX_REG)
    return o->kind == PTX_VEC || o->kind == PTX_MEM_REG;
  if (o->index == reg || depth == 0)
    return true;
  for (uint32_t n = 0; n < b->n_insns; n++) {
    const ptx_insn *i = &b->insns[n];
    if (!writes(b, i, o->index))
      continue;
    if (ptx_op_get((ptx_op)i->op)->sync != PTX_SYNC_NONE || i->guard != PTX_NONE)
      return true;
    for (unsigned k = 0; k < i->n_operands; k++) {
      const ptx_operand *from = &b->operands[i->operands + k];
      if (!from->written && !(from->kind == PTX_REG && from->index == o->index) &&
          comes_of(b, from, reg, depth - 1))
        return true;
    }
  }
  return false;
}

static void check_chance(warp *p, const sim_event *e) {
  const ptx_insn *i = e->who.insn;
  const ptx_body *b = e->who.body;
  if (!i || i->op != PTX_OP_shfl_sync || p->n_judged == JUDGED)
    return;
  const ptx_insn **lately = &p->lately[(uintptr_t)i / sizeof *i % LATELY];
  if (*lately == i)
    return;
  *lately = i;
  check_site site = check_site_of(p->check, &e->who);
  for (uint32_t k = 0; k < p->n_judged; k++)
    if (p->judged[k] == site)
      return;
  p->judged[p->n_judged++] = site;
  const ptx_operand *lane = &b->operands[i->operands + 3], *mask = &b->operands[i->operands + 5];
  if (!is_activemask(b, mask) || comes_of(b, lane, mask->index, 8))
    return;
  char message[200];
  snprintf(message, sizeof message,
           "%s reads a lane by its number among those that __activemask found here: that it is among them is "
           "chance",
           check_collective_name(i));
  check_report(
      p->check,
      &(check_found){
          .rule = MUSTER_RULE_WARP_MASK,
          .milder = true,
          .relation = "warp",
          .message = message,
          .missing = "mask",
          .missing_text = "the mask of the lanes that must take part, which the program knows, or "
                          "a lane chosen among those found (__ffs(mask) - 1)",
          .sides = {{.kind = "mask", .spot = check_spot_of(p->check, &e->who, first(e->collective.met))}}});
}

static sim_answer event(void *part, const sim_event *e) {
  warp *p = part;
  if (e->kind == SIM_EVENT_LAUNCH) {
    memset(p->lately, 0, sizeof p->lately);
  } else if (e->kind ==
             SIM_EVENT_COLLECTIVE_WAIT) { /* who is not in its mask never meets the others at once */
    check_members(p, e);
  } else if (e->kind == SIM_EVENT_COLLECTIVE) {
    if (e->collective.other)
      check_places(p, e);
    if (e->collective.source) {
      check_sources(p, e);
      check_chance(p, e);
    }
  }
  return SIM_GO_ON;
}

const check_part check_part_warp = {.name = "warp",
                                    .watch = SIM_WATCH_SYNC,
                                    .takes = CHECK_TAKES(LAUNCH) | CHECK_TAKES(COLLECTIVE_WAIT) |
                                             CHECK_TAKES(COLLECTIVE),
                                    .new = new,
                                    .free = free,
                                    .event = event};
