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
    bool load_or_store = i->op == PTX_OP_ld_mem || i->op == PTX_OP_ld_const_mem || i->op == PTX_OP_st_mem;
    if (!load_or_store)
      ptx_fail(&b->r, at, "a vector of %u bits; 128 is the most", bits);
    if (i->type[0] == PTX_B128)
      ptx_fail(&b->r, at, "no vector of .b128");
    ptx_need(b, at, 88, 100, false);
    if (i->mods.space != PTX_SPACE_GLOBAL && i->mods.space != PTX_SPACE_GENERIC)
      ptx_fail(&b->r, at, "an access of more than 128 bits is for global memory");
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

/* A constant operand with a range of its own. */
static void check_range(ptx_builder *b, const ptx_insn *i, const ptx_token *at, unsigned n, uint64_t low,
                        uint64_t high) {
  const ptx_operand *o = operand(b, i, n);
  if (o->kind == PTX_IMM && (o->bits < low || o->bits > high))
    ptx_fail(&b->r, at,
             low == high ? "this constant of %s is %llu" : "this constant of %s is from %llu to %llu",
             ptx_op_get((ptx_op)i->op)->name, (unsigned long long)low, (unsigned long long)high);
}

static void check_arrive(ptx_builder *b, const ptx_insn *i, const ptx_token *at) {
  if (i->mods.space == PTX_SPACE_SHARED_CLUSTER && operand(b, i, 0)->kind != PTX_SINK)
    ptx_fail(&b->r, at, "an arrival at another block's barrier has no result: write '_'");
  if (i->mods.space != PTX_SPACE_SHARED_CLUSTER && operand(b, i, 0)->kind == PTX_SINK)
    ptx_need(b, at, 80, 80, false);
  if (operand(b, i, 2)->kind != PTX_ABSENT && !i->mods.no_complete)
    ptx_need(b, at, 78, 90, false);
}

/* Caching hints have no meaning here, but they have their rules: they speak of global memory, and the two
 * generations of them do not mix. */
static void check_hints(ptx_builder *b, const ptx_insn *i, const ptx_token *at) {
  const ptx_mods *m = &i->mods;
  uint8_t hint = m->l1_evict ? m->l1_evict : m->l2_evict ? m->l2_evict : m->l2_hint ? m->l2_hint : m->l2_size;
  if (hint && m->space != PTX_SPACE_GLOBAL && m->space != PTX_SPACE_GENERIC)
    ptx_fail(&b->r, at, "'.%s' is for global memory", ptx_mod_name((ptx_mod)hint));
  if (m->l1_evict && m->cache)
    ptx_fail(&b->r, at, "'.%s' and '.%s' do not go together", ptx_mod_name((ptx_mod)m->l1_evict),
             ptx_mod_name((ptx_mod)m->cache));
  unsigned bits = ptx_type_bits((ptx_type)i->type[0]);
  bool widest = (m->vec == PTX_VEC_8 && bits == 32) || (m->vec == PTX_VEC_4 && bits == 64);
  if (m->l2_evict && !widest)
    ptx_fail(&b->r, at, "'.%s' goes with '.v8' of 32 bits or '.v4' of 64",
             ptx_mod_name((ptx_mod)m->l2_evict));
}

/* Saturation must be able to change something. */
static void check_saturation(ptx_builder *b, const ptx_insn *i, const ptx_token *at) {
  ptx_type to = (ptx_type)i->type[0], from = (ptx_type)i->type[1];
  bool to_signed = ptx_type_base(to) == PTX_BASE_SINT, from_signed = ptx_type_base(from) == PTX_BASE_SINT;
  unsigned to_bits = ptx_type_bits(to) - to_signed, from_bits = ptx_type_bits(from) - from_signed;
  if (i->mods.sat && to_bits >= from_bits && (to_signed || !from_signed))
    ptx_fail(&b->r, at, "'.sat' changes nothing from .%s to .%s", ptx_type_name(from), ptx_type_name(to));
}

void ptx_verify(ptx_builder *b, const ptx_insn *i, const ptx_token *mnemonic) {
  for (unsigned t = 0; t < sizeof i->type && i->type[t]; t++)
    if (i->type[t] == PTX_B128)
      ptx_need(b, mnemonic, i->mods.scope == PTX_SCOPE_SYS ? 84 : 83, 70, false);
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
    check_arrive(b, i, mnemonic);
    break;
  case PTX_OP_bfe_bits:
    check_range(b, i, mnemonic, 2, 0, 255);
    check_range(b, i, mnemonic, 3, 0, 255);
    break;
  case PTX_OP_bfi_bits:
    check_range(b, i, mnemonic, 3, 0, 255);
    check_range(b, i, mnemonic, 4, 0, 255);
    break;
  case PTX_OP_setmaxnreg_warpgroup:
    check_range(b, i, mnemonic, 0, 24, 256);
    break;
  case PTX_OP_pmevent_ctl:
    if (!i->mods.sem)
      check_range(b, i, mnemonic, 0, 0, 15);
    break;
  case PTX_OP_cvt_int:
    check_saturation(b, i, mnemonic);
    break;
  case PTX_OP_vadd_video:
  case PTX_OP_vsub_video:
  case PTX_OP_vabsdiff_video:
  case PTX_OP_vmin_video:
  case PTX_OP_vmax_video:
    if (!i->mods.rop && !operand(b, i, 0)->part != (operand(b, i, 3)->kind == PTX_ABSENT))
      ptx_fail(&b->r, mnemonic, "a part of a result is merged into a fourth operand, a whole one is not");
    break;
  case PTX_OP_st_bulk:
    check_range(b, i, mnemonic, 2, 0, 0);
    break;
  case PTX_OP_applypriority_hint:
  case PTX_OP_discard_hint:
    check_range(b, i, mnemonic, 1, 128, 128);
    break;
  default:
    break;
  }
  ptx_sync sync = ptx_op_get((ptx_op)i->op)->sync;
  if ((sync == PTX_SYNC_LOAD || sync == PTX_SYNC_STORE || sync == PTX_SYNC_RMW) && i->type[0])
    check_hints(b, i, mnemonic);
  check_vector(b, i, mnemonic);
  check_param(b, i, mnemonic);
}
