/* address.c: instructions that make or ask about addresses, read clocks, or rest; and hints, which a machine
 * without caches has nothing to do for.
 */
#include "sim/machine.h"

/* ------------------------------------------------------------------ addresses */

/* imm: what is added; 0 where the generic address is the same. */
SIM_HANDLER1(convert, uint64_t, uint64_t, a + o->imm)

static bool is_in(const sim_run *r, uint32_t space, uint64_t a) {
  const sim_memory *m = r->memory;
  switch (space) {
  case PTX_SPACE_SHARED: {
    uint64_t at = a - SIM_SHARED_WINDOW;
    uint32_t rank = (uint32_t)(at >> SIM_RANK_SHIFT);
    return at < SIM_WINDOW_BYTES && (rank == 0 || rank == r->block->rank + 1);
  }
  case PTX_SPACE_SHARED_CLUSTER:
    return a - SIM_SHARED_WINDOW < SIM_WINDOW_BYTES;
  case PTX_SPACE_LOCAL:
    return a - SIM_LOCAL_WINDOW < SIM_WINDOW_BYTES;
  default: {
    if (a - SIM_SHARED_WINDOW < 2 * SIM_WINDOW_BYTES)
      return false;
    mtx_lock(&r->device->lock);
    const sim_span *s = sim_span_at(m->spans, m->n_spans, a);
    uint32_t kind = s ? s->info.kind : SIM_MEMORY_GLOBAL;
    mtx_unlock(&r->device->lock);
    uint32_t found = kind == SIM_MEMORY_CONST   ? PTX_SPACE_CONST
                     : kind == SIM_MEMORY_PARAM ? PTX_SPACE_PARAM
                                                : PTX_SPACE_GLOBAL;
    return found == space;
  }
  }
}

static const sim_op *isspacep(const sim_op *o, sim_ctx *c) {
  sim_run *r = sim_run_of(c);
  uint32_t yes = 0;
  SIM_EACH(i, c->mask) {
    uint64_t a =
        o->y & SIM_WIDE ? ((const uint64_t *)sim_at(c, o->a))[i] : ((const uint32_t *)sim_at(c, o->a))[i];
    yes |= (uint32_t)is_in(r, o->x, a) << i;
  }
  sim_pred_set(c, o->d, yes, 0);
  return o + 1;
}

/* imm: the window of the address, 0 for one of .shared::cluster; y: SIM_WIDE */
static const sim_op *mapa(const sim_op *o, sim_ctx *c) {
  const uint32_t *rank = sim_at(c, o->b);
  SIM_EACH(i, c->mask) {
    uint64_t a =
        o->y & SIM_WIDE ? ((const uint64_t *)sim_at(c, o->a))[i] : ((const uint32_t *)sim_at(c, o->a))[i];
    uint64_t d = (a & SIM_OFFSET_MASK) | (uint64_t)(rank[i] + 1) << SIM_RANK_SHIFT | o->imm;
    if (o->y & SIM_WIDE)
      ((uint64_t *)sim_at(c, o->d))[i] = d;
    else
      ((uint32_t *)sim_at(c, o->d))[i] = (uint32_t)d;
  }
  return o + 1;
}

static const sim_op *getctarank(const sim_op *o, sim_ctx *c) {
  uint32_t *d = sim_at(c, o->d);
  SIM_EACH(i, c->mask) {
    uint64_t a =
        o->y & SIM_WIDE ? ((const uint64_t *)sim_at(c, o->a))[i] : ((const uint32_t *)sim_at(c, o->a))[i];
    uint32_t rank = (uint32_t)a >> SIM_RANK_SHIFT;
    d[i] = rank ? rank - 1 : sim_run_of(c)->block->rank;
  }
  return o + 1;
}

/* ------------------------------------------------------------------ the stack */

/* b: place of the end of the stack, imm: alignment */
static const sim_op *reserve(const sim_op *o, sim_ctx *c) {
  sim_run *r = sim_run_of(c);
  uint32_t *top = sim_at(c, o->b);
  SIM_EACH(i, c->mask) {
    uint64_t bytes =
        o->y & SIM_WIDE ? ((const uint64_t *)sim_at(c, o->a))[i] : ((const uint32_t *)sim_at(c, o->a))[i];
    uint64_t at = (top[i] + o->imm - 1) / o->imm * o->imm;
    if (bytes > r->warp->local_bytes || at + bytes > r->warp->local_bytes)
      return sim_fault_raise(r, o, SIM_FAULT_STACK, i, 0, 0, "alloca of %llu bytes: the stack is full",
                             (unsigned long long)bytes);
    top[i] = (uint32_t)(at + bytes);
    if (o->y & SIM_WIDE)
      ((uint64_t *)sim_at(c, o->d))[i] = at;
    else
      ((uint32_t *)sim_at(c, o->d))[i] = (uint32_t)at;
  }
  return o + 1;
}

static const sim_op *save(const sim_op *o, sim_ctx *c) {
  const uint32_t *top = sim_at(c, o->b);
  SIM_EACH(i, c->mask) {
    if (o->y & SIM_WIDE)
      ((uint64_t *)sim_at(c, o->d))[i] = top[i];
    else
      ((uint32_t *)sim_at(c, o->d))[i] = top[i];
  }
  return o + 1;
}

static const sim_op *restore(const sim_op *o, sim_ctx *c) {
  sim_run *r = sim_run_of(c);
  uint32_t *top = sim_at(c, o->b);
  SIM_EACH(i, c->mask) {
    uint64_t to =
        o->y & SIM_WIDE ? ((const uint64_t *)sim_at(c, o->a))[i] : ((const uint32_t *)sim_at(c, o->a))[i];
    if (to > r->warp->local_bytes)
      return sim_fault_raise(r, o, SIM_FAULT_STACK, i, to, 0,
                             "stackrestore to 0x%llx, which is no place of the stack",
                             (unsigned long long)to);
    top[i] = (uint32_t)to;
  }
  return o + 1;
}

/* ------------------------------------------------------------------ time */

/* x: the register; y: SIM_WIDE */
static const sim_op *read_time(const sim_op *o, sim_ctx *c) {
  sim_run *r = sim_run_of(c);
  if (r->probe)
    r->probe->clock = true;
  r->ticks++; /* who reads it twice sees it move */
  uint64_t t = sim_now(r);
  if (o->x == PTX_SREG_CLOCK_HI || o->x == PTX_SREG_GLOBALTIMER_HI)
    t >>= 32;
  else if (o->x >= PTX_SREG_PM0 && o->x <= PTX_SREG_PM7_64)
    t = 0; /* counters that nobody set up */
  SIM_EACH(i, c->mask) {
    if (o->y & SIM_WIDE)
      ((uint64_t *)sim_at(c, o->d))[i] = t;
    else
      ((uint32_t *)sim_at(c, o->d))[i] = (uint32_t)t;
  }
  return o + 1;
}

/* While a loop is looked at, resting is nothing: whether the loop does anything does not depend on it. */
static const sim_op *rest(const sim_op *o, sim_ctx *c) {
  sim_run *r = sim_run_of(c);
  if (r->probe)
    return o + 1;
  const uint32_t *ns = sim_at(c, o->a);
  uint32_t longest = 0;
  SIM_EACH(i, c->mask)
  longest = ns[i] > longest ? ns[i] : longest;
  if (longest > 1000000) /* PTX: at most a millisecond */
    longest = 1000000;
  sim_unit *u = r->unit;
  sim_stop(r, o, o + 1);
  u->wake = sim_now(r) + longest;
  u->naps++;
  if (longest)
    sim_unit_state_set(r->warp, u, SIM_RESTS);
  return NULL;
}

/* ------------------------------------------------------------------ decoding */

static void wide(sim_op *op, const ptx_body *b, const ptx_operand *o) {
  op->y = sim_operand_bits(b, o) == 64 ? SIM_WIDE : 0;
}

/* The value of the address of a variable where cvta names one; a generic result for a symbol of .shared or
 * .local. */
static bool select_cvta(const ptx_body *b, const ptx_insn *i, sim_op *op) {
  uint32_t space = i->mods.space;
  uint64_t window = space == PTX_SPACE_SHARED || space == PTX_SPACE_SHARED_CLUSTER ? SIM_SHARED_WINDOW
                    : space == PTX_SPACE_LOCAL                                     ? SIM_LOCAL_WINDOW
                                                                                   : 0;
  if (ptx_type_bits((ptx_type)i->type[0]) != 64 || sim_operand_bits(b, sim_operand(b, i, 0)) != 64)
    return false;
  op->imm = i->mods.to ? 0 - window : window;
  return SIM_USE(op, convert);
}

bool sim_select_address(sim_build *w, const ptx_body *b, const ptx_insn *i, sim_op *op) {
  switch (i->op) {
  case PTX_OP_cvta_addr:
    return select_cvta(b, i, op);
  case PTX_OP_isspacep_addr:
    op->x = i->mods.space;
    wide(op, b, sim_operand(b, i, 1));
    return sim_use_one(op, isspacep);
  case PTX_OP_mapa_addr:
    op->imm = i->mods.space ? 0 : SIM_SHARED_WINDOW;
    op->y = ptx_type_bits((ptx_type)i->type[0]) == 64 ? SIM_WIDE : 0;
    return sim_use_one(op, mapa);
  case PTX_OP_getctarank_addr:
    op->y = ptx_type_bits((ptx_type)i->type[0]) == 64 ? SIM_WIDE : 0;
    return sim_use_one(op, getctarank);
  case PTX_OP_alloca_addr: {
    const ptx_operand *align = sim_operand(b, i, 2);
    op->imm = align->kind == PTX_IMM && align->bits ? align->bits : 8;
    op->b = w->f->stack_top;
    wide(op, b, sim_operand(b, i, 0));
    return sim_use_one(op, reserve);
  }
  case PTX_OP_stacksave_addr:
    if (w->f->stack_top == SIM_NOWHERE) /* nothing moves it */
      return false;
    op->b = w->f->stack_top;
    wide(op, b, sim_operand(b, i, 0));
    return sim_use_one(op, save);
  case PTX_OP_stackrestore_addr:
    op->b = w->f->stack_top;
    wide(op, b, sim_operand(b, i, 0));
    return sim_use_one(op, restore);
  case PTX_OP_mov_move: {
    const ptx_operand *s = sim_operand(b, i, 1);
    if (s->kind != PTX_SPECIAL || !sim_is_time(s->index))
      return false;
    op->x = s->index;
    wide(op, b, sim_operand(b, i, 0));
    w->code->reads_clock = true;
    return sim_use_one(op, read_time);
  }
  case PTX_OP_nanosleep_time:
    w->blocks = true;
    return sim_use_one(op, rest);
  case PTX_OP_createpolicy_hint: /* a policy has no effect here, but is a value */
    op->a = sim_constant(w, 0, 8);
    op->imm = 0;
    return SIM_USE(op, convert);
  case PTX_OP_prefetch_hint:
  case PTX_OP_prefetchu_hint:
  case PTX_OP_applypriority_hint:
  case PTX_OP_discard_hint:         /* the old contents are one of those that it allows */
  case PTX_OP_setmaxnreg_warpgroup: /* registers are never short here */
    return true;
  default:
    return false;
  }
}
