/* carry.c: arithmetic of extended precision: add.cc, addc, sub.cc, subc, mad.cc, madc.
 *
 * The condition code is a predicate of its own at place SIM_CC: after an addition the carry, after a
 * subtraction the borrow. An instruction without .cc leaves it as it was. Signed and unsigned differ in
 * mad.hi alone.
 */
#include "sim/exec/arith.h"

__extension__ typedef unsigned __int128 u128;
__extension__ typedef __int128 s128;

/* first: nothing comes in; keep: .cc is not written. a +/- b or a * b + c are split by the caller into x and
 * y. */
#define CARRY(name, L, WIDE, reads_c, product, first, keep, minus)                \
  static inline void name(const sim_op *o, sim_ctx *ctx, int full) {              \
    L *d_ = sim_at(ctx, o->d);                                                    \
    const L *a_ = sim_at(ctx, o->a), *b_ = sim_at(ctx, o->b);                     \
    const L *c_ = sim_at(ctx, reads_c ? o->c : o->b);                             \
    uint32_t in = first ? 0 : sim_pred(ctx, SIM_CC), out = 0;                     \
    for (unsigned i = 0; i < SIM_LANES; i++) {                                    \
      L a = a_[i], b = b_[i], c = c_[i];                                          \
      (void)c;                                                                    \
      L x = reads_c ? (L)(product) : a, y = reads_c ? c : b, carry = in >> i & 1; \
      WIDE r = minus ? (WIDE)x - y - carry : (WIDE)x + y + carry;                 \
      out |= (uint32_t)(r >> (8 * sizeof(L)) & 1) << i;                           \
      d_[i] = full || ctx->mask >> i & 1 ? (L)r : d_[i];                          \
    }                                                                             \
    if (!keep)                                                                    \
      sim_pred_set(ctx, SIM_CC, out, full);                                       \
  }                                                                               \
  SIM_HANDLER(name, name(o, ctx, full))

/* The three that an operation has: .cc alone, with carry in and .cc, with carry in. */
#define THREE(name, L, WIDE, reads_c, product, minus)        \
  CARRY(name##_cc, L, WIDE, reads_c, product, 1, 0, minus)   \
  CARRY(name##_c_cc, L, WIDE, reads_c, product, 0, 0, minus) \
  CARRY(name##_c, L, WIDE, reads_c, product, 0, 1, minus)
#define BOTH(w, L, WIDE)                                         \
  THREE(add_##w, L, WIDE, 0, 0, 0)                               \
  THREE(sub_##w, L, WIDE, 0, 0, 1)                               \
  THREE(mad_lo_##w, L, WIDE, 1, a *b, 0)                         \
  THREE(mad_hi_u##w, L, WIDE, 1, (WIDE)a *b >> 8 * sizeof(L), 0) \
  THREE(mad_hi_s##w, L, WIDE, 1, (WIDE)(SIGNED_##w(a) * SIGNED_##w(b)) >> 8 * sizeof(L), 0)
#define SIGNED_32(x) ((int64_t)(int32_t)(x))
#define SIGNED_64(x) ((s128)(int64_t)(x))
BOTH(32, uint32_t, uint64_t)
BOTH(64, uint64_t, u128)

#define USE_CARRY(op, in, cc, name) \
  (!(in) ? SIM_USE(op, name##_cc) : (cc) ? SIM_USE(op, name##_c_cc) : SIM_USE(op, name##_c))
#define USE_WIDTH(op, in, cc, name, wide) \
  (wide ? USE_CARRY(op, in, cc, name##64) : USE_CARRY(op, in, cc, name##32))

sim_select SIM_LEVELED(sim_select_carry);
bool SIM_LEVELED(sim_select_carry)(sim_build *w, const ptx_body *body, const ptx_insn *i, sim_op *op) {
  (void)w, (void)body;
  unsigned t = i->type[0];
  bool wide = t == PTX_U64 || t == PTX_S64, sign = t == PTX_S32 || t == PTX_S64, cc = i->mods.cc;
  bool in = i->op == PTX_OP_addc_carry || i->op == PTX_OP_subc_carry || i->op == PTX_OP_madc_carry;
  switch (i->op) {
  case PTX_OP_add_carry:
  case PTX_OP_addc_carry:
    return USE_WIDTH(op, in, cc, add_, wide);
  case PTX_OP_sub_carry:
  case PTX_OP_subc_carry:
    return USE_WIDTH(op, in, cc, sub_, wide);
  case PTX_OP_mad_carry:
  case PTX_OP_madc_carry:
    if (i->mods.part == PTX_PART_LO)
      return USE_WIDTH(op, in, cc, mad_lo_, wide);
    return sign ? USE_WIDTH(op, in, cc, mad_hi_s, wide) : USE_WIDTH(op, in, cc, mad_hi_u, wide);
  }
  return false;
}
