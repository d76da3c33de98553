/* fixed.c: whether all that a kernel can do follows from its input and from the order of its accesses to
 * memory: only of such a one can it be said that all schedules were run. Not so if it asks where or when it
 * runs, or which lanes are with it; if it waits for a time, for other grids, or at barriers where not the
 * whole block meets; or if something works for it beside its threads.
 */
#include <stdlib.h>
#include <string.h>

#include "check/joins.h"

static bool is_elsewhere(const ptx_operand *o) {
  return o->kind == PTX_SPECIAL && check_special_moves(o->index);
}

static bool is_fixed(const ptx_body *b, const ptx_insn *i) {
  switch (ptx_op_get((ptx_op)i->op)->sync) {
  case PTX_SYNC_COPY:
  case PTX_SYNC_CLUSTER:
  case PTX_SYNC_MBARRIER:
  case PTX_SYNC_GRID:
  case PTX_SYNC_TIME:
    return false;
  case PTX_SYNC_BARRIER:
    return joins_is_whole_barrier(b, i);
  case PTX_SYNC_WARP:
    return i->op != PTX_OP_activemask_warp && i->op != PTX_OP_vote_old && i->op != PTX_OP_shfl_old &&
           i->op != PTX_OP_setmaxnreg_warpgroup;
  default:
    break;
  }
  for (uint32_t n = 0; n < i->n_operands; n++)
    if (is_elsewhere(&b->operands[i->operands + n]))
      return false;
  return true;
}

/* What is called has no body: the machine does it. */
static bool is_fixed_builtin(const char *name) {
  return strcmp(name, "vprintf") == 0 || strcmp(name, "__assertfail") == 0;
}

typedef struct walk {
  uint8_t *seen; /* of function */
  void *user;
  bool (*visit)(void *user, const sim_who *at); /* insn NULL: a call of what has no body */
} walk;

static bool each_insn(const walk *w, sim_who at) {
  for (uint32_t k = 0; k < at.body->n_insns; k++) {
    const ptx_insn *i = at.insn = &at.body->insns[k];
    if (!w->visit(w->user, &at))
      return false;
    if (i->op != PTX_OP_call_ctl)
      continue;
    const ptx_operand *callee = &at.body->operands[i->operands + 1];
    if (callee->kind != PTX_FUNC)
      return false;
    if (w->seen[callee->index])
      continue;
    w->seen[callee->index] = 1;
    sim_who there = {.module = at.module, .func = callee->index};
    there.body = ptx_body_of((ptx_module *)(uintptr_t)at.module, there.func);
    if (there.body ? !each_insn(w, there) : !w->visit(w->user, &there))
      return false;
  }
  return true;
}

bool check_each_insn(const sim_who *kernel, bool (*visit)(void *user, const sim_who *at), void *user) {
  walk w = {.seen = calloc(kernel->module->n_funcs, 1), .user = user, .visit = visit};
  bool all = w.seen && kernel->body && each_insn(&w, *kernel);
  free(w.seen);
  return all;
}

static bool is_fixed_at(void *user, const sim_who *at) {
  (void)user;
  return at->insn ? is_fixed(at->body, at->insn) : is_fixed_builtin(at->module->funcs[at->func].name);
}

bool check_is_fixed(const sim_who *kernel) {
  return check_each_insn(kernel, is_fixed_at, NULL);
}
