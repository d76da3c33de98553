/* verify.c: the rules that a form of the table cannot say, each once. What words an instruction may have is
 * form.c's work, what an operand may be is operand.c's. */
#include <string.h>

#include "ptx/body.h"

static const ptx_operand *operand(const ptx_builder *b, const ptx_insn *i, unsigned n) {
  return &b->operands[i->operands + n];
}

static void check_barrier(ptx_builder *b, const ptx_insn *i, const ptx_token *at) {
  unsigned n = 0;
  while (n < i->n_operands && operand(b, i, n)->written)
    n++;
  const ptx_operand *id = operand(b, i, n), *count = n + 1u < i->n_operands ? operand(b, i, n + 1) : NULL;
  if (id->kind == PTX_IMM && id->bits > 15)
    ptx_fail(&b->r, at, "a block has the barriers 0 to 15, not %llu", (unsigned long long)id->bits);
  if (count && count->kind == PTX_IMM && count->type == PTX_U32 && count->bits % 32)
    ptx_fail(&b->r, at, "the threads of a barrier come in whole warps: %llu is no multiple of 32",
             (unsigned long long)count->bits);
}

static void check_vector(ptx_builder *b, const ptx_insn *i, const ptx_token *at) {
  unsigned n = i->mods.vec == PTX_VEC_2 ? 2 : i->mods.vec == PTX_VEC_4 ? 4 : i->mods.vec == PTX_VEC_8 ? 8 : 1;
  unsigned bits = ptx_type_bits((ptx_type)i->type[0]) * n;
  if (n == 1 || i->op == PTX_OP_mov_move)
    return;
  if (bits > 256)
    ptx_fail(&b->r, at, "an access of %u bits; 256 is the most", bits);
  if (bits > 128) {
    ptx_need(b, at, 88, 100, false);
    if (i->mods.space != PTX_SPACE_GLOBAL)
      ptx_fail(&b->r, at, "an access of more than 128 bits is for global memory");
  } else if (n == 8 && (i->op == PTX_OP_ld_mem || i->op == PTX_OP_st_mem || i->op == PTX_OP_ld_const_mem)) {
    ptx_fail(&b->r, at, "'.v8' is for elements of 32 bits");
  }
}

static void check_copy(ptx_builder *b, const ptx_insn *i, const ptx_token *at) {
  const ptx_operand *size = operand(b, i, 2);
  if (i->mods.cache == PTX_CACHE_CG ? size->bits != 16
                                    : size->bits != 4 && size->bits != 8 && size->bits != 16)
    ptx_fail(&b->r, at,
             i->mods.cache == PTX_CACHE_CG ? "cp.async.cg copies 16 bytes, not %llu"
                                           : "cp.async copies 4, 8 or 16 bytes, not %llu",
             (unsigned long long)size->bits);
}

/* Where a function's own parameters may be read and written. */
static void check_param(ptx_builder *b, const ptx_insn *i, const ptx_token *at) {
  const ptx_func *f = &b->r.unit->m.funcs[b->func];
  for (unsigned n = 0; n < i->n_operands; n++) {
    const ptx_operand *o = operand(b, i, n);
    if (o->kind != PTX_MEM_VAR || !o->in_body || b->vars[o->index].space != PTX_SPACE_PARAM)
      continue;
    bool is_param = o->index >= f->n_rets && o->index < f->n_rets + f->n_params;
    if (is_param && ptx_op_get((ptx_op)i->op)->sync != PTX_SYNC_LOAD)
      ptx_fail(&b->r, at, "'%s' is a parameter and cannot be written", b->vars[o->index].name);
  }
}

/* Instructions without named lanes went with the warps that ran in lockstep. */
static void check_old(ptx_builder *b, const ptx_token *at) {
  const ptx_module *m = &b->r.unit->m;
  if (m->sm >= 70 && m->version >= 64)
    ptx_fail(&b->r, at, "'%.*s' without '.sync' is gone from sm_70 on", PTX_TEXT(at));
}

void ptx_verify(ptx_builder *b, const ptx_insn *i, const ptx_token *mnemonic) {
  for (unsigned t = 0; t < sizeof i->type && i->type[t]; t++)
    if (i->type[t] == PTX_B128)
      ptx_need(b, mnemonic, 83, 70, false);
  switch (i->op) {
  case PTX_OP_bar_block:
  case PTX_OP_bar_arrive:
  case PTX_OP_bar_red:
  case PTX_OP_barrier_block:
  case PTX_OP_barrier_arrive:
  case PTX_OP_barrier_red:
    check_barrier(b, i, mnemonic);
    break;
  case PTX_OP_cp_async:
    check_copy(b, i, mnemonic);
    break;
  case PTX_OP_shfl_old:
  case PTX_OP_vote_old:
    check_old(b, mnemonic);
    break;
  case PTX_OP_mbarrier_arrive:
  case PTX_OP_mbarrier_arrive_drop:
    if (i->mods.space == PTX_SPACE_SHARED_CLUSTER && operand(b, i, 0)->kind != PTX_SINK)
      ptx_fail(&b->r, mnemonic, "an arrival at another block's barrier has no result: write '_'");
    break;
  case PTX_OP_lop3_logic:
    for (unsigned n = 0; n < i->n_operands; n++)
      if (operand(b, i, n)->kind == PTX_IMM && n == (i->n_operands > 5 ? 5u : 4u) &&
          operand(b, i, n)->bits > 255)
        ptx_fail(&b->r, mnemonic, "the table of lop3 has 8 bits");
    break;
  default:
    break;
  }
  check_vector(b, i, mnemonic);
  check_param(b, i, mnemonic);
}
