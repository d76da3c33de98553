/* logic.c: and, or, xor, not, cnot, lop3 and the shifts shl, shr, shf.
 *
 * Predicates are words of 32 lanes, so their logic is one C operation. Shifts by more than the width give
 * zeros, or the sign.
 */
#include "sim/exec/arith.h"

#define LOGIC(name, operator)                                         \
  SIM_HANDLER2(name##_32, uint32_t, uint32_t, uint32_t, a operator b) \
  SIM_HANDLER2(name##_64, uint64_t, uint64_t, uint64_t, a operator b) \
  SIM_HANDLER(name##_pred, sim_pred_set(ctx, o->d, sim_pred(ctx, o->a) operator sim_pred(ctx, o->b), full))
LOGIC(and, &)
LOGIC(or, |)
LOGIC(xor, ^)

SIM_HANDLER1(not_16, uint32_t, uint32_t, ~a & 0xffff)
SIM_HANDLER1(not_32, uint32_t, uint32_t, ~a)
SIM_HANDLER1(not_64, uint64_t, uint64_t, ~a)
SIM_HANDLER1(cnot_32, uint32_t, uint32_t, a == 0)
SIM_HANDLER1(cnot_64, uint64_t, uint64_t, a == 0)
SIM_HANDLER(not_pred, sim_pred_set(ctx, o->d, ~sim_pred(ctx, o->a), full))

/* lop3: bit 4a+2b+c of the table, at every place. Choosing by a bit between two words that are all ones or
 * zeros is x ^ ((x ^ y) & bit); the table's eight words are folded by c, b, a. */
static inline uint32_t choose(uint32_t x, uint32_t y, uint32_t by) {
  return x ^ ((x ^ y) & by);
}
#define WORD(n) (0 - (table >> (n) & 1))
#define TABLE                              \
  const uint32_t table = (uint32_t)o->imm; \
  const uint32_t t0 = WORD(0);             \
  const uint32_t t1 = WORD(1);             \
  const uint32_t t2 = WORD(2);             \
  const uint32_t t3 = WORD(3);             \
  const uint32_t t4 = WORD(4);             \
  const uint32_t t5 = WORD(5);             \
  const uint32_t t6 = WORD(6);             \
  const uint32_t t7 = WORD(7)
#define LOOKED_UP \
  choose(choose(choose(t0, t1, c), choose(t2, t3, c), b), choose(choose(t4, t5, c), choose(t6, t7, c), b), a)
SIM_LANES3(lop3, uint32_t, uint32_t, uint32_t, uint32_t, TABLE, SIM_NOTHING, LOOKED_UP)
/* The usual tables by themselves. */
SIM_HANDLER3(lop3_96, uint32_t, uint32_t, uint32_t, uint32_t, a ^ b ^ c)
SIM_HANDLER3(lop3_fe, uint32_t, uint32_t, uint32_t, uint32_t, a | b | c)
SIM_HANDLER3(lop3_80, uint32_t, uint32_t, uint32_t, uint32_t, a &b &c)
SIM_HANDLER3(lop3_ca, uint32_t, uint32_t, uint32_t, uint32_t, choose(c, b, a))
SIM_HANDLER3(lop3_e8, uint32_t, uint32_t, uint32_t, uint32_t, (a & b) | (c & (a | b)))

/* With a predicate: o->x is the operation, o->y the place of the predicate read. */
static inline void lop3_test(const sim_op *o, sim_ctx *ctx, int full) {
  uint32_t *d_ = sim_at(ctx, o->d);
  const uint32_t *a_ = sim_at(ctx, o->a), *b_ = sim_at(ctx, o->b), *c_ = sim_at(ctx, o->c);
  uint32_t p = 0, q = sim_pred(ctx, o->y);
  TABLE;
  for (unsigned i = 0; i < SIM_LANES; i++) {
    uint32_t a = a_[i], b = b_[i], c = c_[i], r = LOOKED_UP;
    p |= (uint32_t)(r != 0) << i;
    d_[i] = full || ctx->mask >> i & 1 ? r : d_[i];
  }
  p = o->x == PTX_BOOL_AND ? p & q : o->x == PTX_BOOL_OR ? p | q : p ^ q;
  sim_pred_set(ctx, o->e, p, full);
}
SIM_HANDLER(lop3_test, lop3_test(o, ctx, full))

SIM_HANDLER2(shl_16, uint32_t, uint32_t, uint32_t, b > 15 ? 0 : a << b & 0xffff)
SIM_HANDLER2(shl_32, uint32_t, uint32_t, uint32_t, b > 31 ? 0 : a << (b & 31))
SIM_HANDLER2(shl_64, uint64_t, uint64_t, uint32_t, b > 63 ? 0 : a << (b & 63))
SIM_HANDLER2(shr_16, uint32_t, uint32_t, uint32_t, b > 15 ? 0 : a >> b)
SIM_HANDLER2(shr_32, uint32_t, uint32_t, uint32_t, b > 31 ? 0 : a >> (b & 31))
SIM_HANDLER2(shr_64, uint64_t, uint64_t, uint32_t, b > 63 ? 0 : a >> (b & 63))
SIM_HANDLER2(shr_s16, uint32_t, uint32_t, uint32_t, (uint16_t)((int16_t)a >> (b > 15 ? 15 : b)))
SIM_HANDLER2(shr_s32, uint32_t, int32_t, uint32_t, a >> (b > 31 ? 31 : b))
SIM_HANDLER2(shr_s64, uint64_t, int64_t, uint32_t, a >> (b > 63 ? 63 : b))

/* shf: the 64 bits b:a; left gives the upper word, right the lower. wrap: modulo 32; clamp: at most 32. */
#define FUNNEL ((uint64_t)b << 32 | a)
#define AT_MOST_32 (c > 32 ? 32 : c)
SIM_HANDLER3(shf_l_wrap, uint32_t, uint32_t, uint32_t, uint32_t, FUNNEL << (c & 31) >> 32)
SIM_HANDLER3(shf_r_wrap, uint32_t, uint32_t, uint32_t, uint32_t, FUNNEL >> (c & 31))
SIM_HANDLER3(shf_l_clamp, uint32_t, uint32_t, uint32_t, uint32_t, FUNNEL << AT_MOST_32 >> 32)
SIM_HANDLER3(shf_r_clamp, uint32_t, uint32_t, uint32_t, uint32_t, FUNNEL >> AT_MOST_32)

#define USE_LOGIC(op, t, name)                 \
  ((t) == PTX_PRED  ? SIM_USE(op, name##_pred) \
   : (t) == PTX_B64 ? SIM_USE(op, name##_64)   \
                    : SIM_USE(op, name##_32))

static bool select_lop3(sim_build *w, const ptx_body *body, const ptx_insn *i, sim_op *op) {
  bool test = i->mods.bool_op != PTX_MOD_NONE;
  op->imm = sim_operand(body, i, test ? 5 : 4)->bits & 255;
  if (test) {
    op->d = sim_place_at(w, body, sim_operand(body, i, 0)); /* a sink has a place too */
    op->x = i->mods.bool_op;
    op->y = sim_place_at(w, body, sim_operand(body, i, 6));
    return SIM_USE(op, lop3_test);
  }
  switch (op->imm) {
  case 0x96:
    return SIM_USE(op, lop3_96);
  case 0xfe:
    return SIM_USE(op, lop3_fe);
  case 0x80:
    return SIM_USE(op, lop3_80);
  case 0xca:
    return SIM_USE(op, lop3_ca);
  case 0xe8:
    return SIM_USE(op, lop3_e8);
  }
  return SIM_USE(op, lop3);
}

static bool select_shr(sim_op *op, unsigned t) {
  unsigned bits = ptx_type_bits(t);
  if (ptx_type_base(t) == PTX_BASE_SINT)
    return bits == 64 ? SIM_USE(op, shr_s64) : bits == 32 ? SIM_USE(op, shr_s32) : SIM_USE(op, shr_s16);
  return bits == 64 ? SIM_USE(op, shr_64) : bits == 32 ? SIM_USE(op, shr_32) : SIM_USE(op, shr_16);
}

sim_select SIM_LEVELED(sim_select_logic);
bool SIM_LEVELED(sim_select_logic)(sim_build *w, const ptx_body *body, const ptx_insn *i, sim_op *op) {
  unsigned t = i->type[0];
  bool clamp = i->mods.shift == PTX_SHIFT_CLAMP;
  switch (i->op) {
  case PTX_OP_and_logic:
    return USE_LOGIC(op, t, and);
  case PTX_OP_or_logic:
    return USE_LOGIC(op, t, or);
  case PTX_OP_xor_logic:
    return USE_LOGIC(op, t, xor);
  case PTX_OP_not_logic:
    return t == PTX_B16 ? SIM_USE(op, not_16) : USE_LOGIC(op, t, not);
  case PTX_OP_cnot_logic:
    return t == PTX_B64 ? SIM_USE(op, cnot_64) : SIM_USE(op, cnot_32);
  case PTX_OP_lop3_logic:
    return select_lop3(w, body, i, op);
  case PTX_OP_shl_shift:
    return t == PTX_B64 ? SIM_USE(op, shl_64) : t == PTX_B32 ? SIM_USE(op, shl_32) : SIM_USE(op, shl_16);
  case PTX_OP_shr_shift:
    return select_shr(op, t);
  case PTX_OP_shf_shift:
    if (i->mods.dir == PTX_DIR_LEFT)
      return clamp ? SIM_USE(op, shf_l_clamp) : SIM_USE(op, shf_l_wrap);
    return clamp ? SIM_USE(op, shf_r_clamp) : SIM_USE(op, shf_r_wrap);
  }
  return false;
}
