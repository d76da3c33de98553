/* root.c: the rest of f32 and f64: div, rcp, sqrt (exact), abs, neg, min, max, copysign, testp.
 *
 * Division and square root are the machine's own, in the mode the instruction asks for. The approximations
 * are in approx.c. The sign of zero counts in min and max: -0 is the smaller.
 */
#include "sim/exec/arith.h"

#define F32(x) flush_f32(x, how)

/* One handler to nearest without words, one for all else. */
#define EXACT1(name, expr32, expr64)                                                          \
  SIM_HANDLER1(name##_rn, float, float, end_f32(expr32(a, 0), 0))                             \
  SIM_LANES1(name##_any, float, float, DIRECTED, RESTORED, end_f32(expr32(F32(a), how), how)) \
  SIM_HANDLER1(name##_f64_rn, double, double, end_f64(expr64(a), a, 0, 0))                    \
  SIM_LANES1(name##_f64_any, double, double, DIRECTED, RESTORED, end_f64(expr64(a), a, 0, 0))
static inline float quotient(float a, float b, int how) {
  return how & FTZ ? unless_tiny(a / b, LARGER(a) / b) : a / b;
}
#define RCP_32(x, how) quotient(1, x, how)
#define RCP_64(x) (1.0 / (x))
#define SQRT_32(x, how) __builtin_sqrtf(x)
EXACT1(rcp, RCP_32, RCP_64)
EXACT1(sqrt, SQRT_32, __builtin_sqrt)
SIM_HANDLER2(div_rn, float, float, float, end_f32(a / b, 0))
SIM_LANES2(div_any, float, float, float, DIRECTED, RESTORED, end_f32(quotient(F32(a), F32(b), how), how))
SIM_HANDLER2(div_f64_rn, double, double, double, end_f64(a / b, a, b, 0))
SIM_LANES2(div_f64_any, double, double, double, DIRECTED, RESTORED, end_f64(a / b, a, b, 0))

/* abs and neg only touch the sign, but f32 has one NaN. */
static inline uint32_t sign_f32(uint32_t u, int how, uint32_t keep, uint32_t flip) {
  u = how & FTZ ? flush_bits(u) : u;
  return (u & 0x7fffffff) > 0x7f800000 ? NAN_F32 : (u & keep) ^ flip;
}
SIM_HANDLER1(abs_f32, uint32_t, uint32_t, sign_f32(a, 0, 0x7fffffff, 0))
SIM_HANDLER1(abs_ftz_f32, uint32_t, uint32_t, sign_f32(a, FTZ, 0x7fffffff, 0))
SIM_HANDLER1(neg_f32, uint32_t, uint32_t, sign_f32(a, 0, UINT32_MAX, 0x80000000))
SIM_HANDLER1(neg_ftz_f32, uint32_t, uint32_t, sign_f32(a, FTZ, UINT32_MAX, 0x80000000))
/* In f64 a NaN keeps its sign and becomes quiet. */
#define IS_NAN_F64(u) (((u) & INT64_MAX) > 0x7ff0000000000000)
SIM_HANDLER1(abs_f64, uint64_t, uint64_t, IS_NAN_F64(a) ? a | QUIET : (a &INT64_MAX))
SIM_HANDLER1(neg_f64, uint64_t, uint64_t, IS_NAN_F64(a) ? a | QUIET : a ^ UINT64_C(1) << 63)

/* Patterns of floats in the order of integers. */
static inline int32_t order_f32(uint32_t u) {
  return (int32_t)(u ^ ((uint32_t)((int32_t)u >> 31) & 0x7fffffff));
}
static inline int64_t order_f64(uint64_t u) {
  return (int64_t)(u ^ ((uint64_t)((int64_t)u >> 63) & INT64_MAX));
}
enum { PASS_NAN = 1, XORSIGN = 2, FLUSH = 4 };
static inline uint32_t minmax_f32(uint32_t a, uint32_t b, int max, int what) {
  if (what & FLUSH)
    a = flush_bits(a), b = flush_bits(b);
  uint32_t sign = (a ^ b) & 0x80000000;
  if (what & XORSIGN)
    a &= 0x7fffffff, b &= 0x7fffffff;
  int a_nan = (a & 0x7fffffff) > 0x7f800000, b_nan = (b & 0x7fffffff) > 0x7f800000;
  uint32_t r = (max ? order_f32(a) < order_f32(b) : order_f32(b) < order_f32(a)) ? b : a;
  r = a_nan ? b : b_nan ? a : r;
  if (what & XORSIGN)
    r |= sign;
  return (a_nan & b_nan) | ((a_nan | b_nan) & (what & PASS_NAN)) ? NAN_F32 : r;
}
static inline uint64_t minmax_f64(uint64_t a, uint64_t b, int max) {
  int a_nan = (a & INT64_MAX) > 0x7ff0000000000000, b_nan = (b & INT64_MAX) > 0x7ff0000000000000;
  uint64_t r = (max ? order_f64(a) < order_f64(b) : order_f64(b) < order_f64(a)) ? b : a;
  r = a_nan ? b : b_nan ? a : r;
  return a_nan & b_nan ? b | QUIET : r;
}
#define MINMAX(name, max)                                                                      \
  SIM_HANDLER2(name##_f32, uint32_t, uint32_t, uint32_t, minmax_f32(a, b, max, 0))             \
  SIM_HANDLER2(name##_ftz_f32, uint32_t, uint32_t, uint32_t, minmax_f32(a, b, max, FLUSH))     \
  SIM_HANDLER2(name##_any_f32, uint32_t, uint32_t, uint32_t, minmax_f32(a, b, max, (int)o->y)) \
  SIM_HANDLER2(name##_f64, uint64_t, uint64_t, uint64_t, minmax_f64(a, b, max))
MINMAX(min, 0)
MINMAX(max, 1)

SIM_HANDLER2(copysign_f32, uint32_t, uint32_t, uint32_t, (a & 0x80000000) | (b & 0x7fffffff))
SIM_HANDLER2(copysign_f64, uint64_t, uint64_t, uint64_t, (a & UINT64_C(1) << 63) | (b & INT64_MAX))

/* testp: the magnitude lies between two patterns, or is zero where o->y says so. The bounds are in o->imm
 * (the first) and o->x: for f64 the upper 32 bits decide, the lower only between infinity and NaN. */
static inline bool is_number(uint64_t m, uint64_t inf, uint64_t normal, unsigned test) {
  switch (test) {
  case PTX_TESTP_FINITE:
    return m < inf;
  case PTX_TESTP_INFINITE:
    return m == inf;
  case PTX_TESTP_NUMBER:
    return m <= inf;
  case PTX_TESTP_NOTANUMBER:
    return m > inf;
  case PTX_TESTP_NORMAL:
    return m < inf && (m >= normal || m == 0);
  }
  return m != 0 && m < normal;
}
static inline void testp_f32(const sim_op *o, sim_ctx *ctx, int full) {
  const uint32_t *a = sim_at(ctx, o->a);
  uint32_t r = 0;
  for (unsigned i = 0; i < SIM_LANES; i++)
    r |= (uint32_t)is_number(a[i] & 0x7fffffff, 0x7f800000, 0x00800000, o->y) << i;
  sim_pred_set(ctx, o->d, r, full);
}
static inline void testp_f64(const sim_op *o, sim_ctx *ctx, int full) {
  const uint64_t *a = sim_at(ctx, o->a);
  uint32_t r = 0;
  for (unsigned i = 0; i < SIM_LANES; i++)
    r |= (uint32_t)is_number(a[i] & INT64_MAX, 0x7ff0000000000000, 0x0010000000000000, o->y) << i;
  sim_pred_set(ctx, o->d, r, full);
}
SIM_HANDLER(testp_f32, testp_f32(o, ctx, full))
SIM_HANDLER(testp_f64, testp_f64(o, ctx, full))

#define USE_EXACT(op, wide, plain, name)                                         \
  ((wide) ? ((plain) ? SIM_USE(op, name##_f64_rn) : SIM_USE(op, name##_f64_any)) \
          : ((plain) ? SIM_USE(op, name##_rn) : SIM_USE(op, name##_any)))
#define USE_MINMAX(op, wide, what, name)           \
  ((wide)            ? SIM_USE(op, name##_f64)     \
   : (what) == 0     ? SIM_USE(op, name##_f32)     \
   : (what) == FLUSH ? SIM_USE(op, name##_ftz_f32) \
                     : SIM_USE(op, name##_any_f32))
#define USE_SIGN(op, wide, ftz, name) \
  ((wide) ? SIM_USE(op, name##_f64) : (ftz) ? SIM_USE(op, name##_ftz_f32) : SIM_USE(op, name##_f32))

sim_select SIM_LEVELED(sim_select_root);
bool SIM_LEVELED(sim_select_root)(sim_build *w, const ptx_body *body, const ptx_insn *i, sim_op *op) {
  (void)w, (void)body;
  bool wide = i->type[0] == PTX_F64, ftz = i->mods.ftz;
  unsigned mode = round_mode(i->mods.round);
  bool plain = mode == TO_NEAREST && !ftz;
  switch (i->op) {
  case PTX_OP_div_float:
  case PTX_OP_rcp_float:
  case PTX_OP_sqrt_float:
    if (i->mods.approx)
      return false;
    op->imm = mode;
    op->y = ftz ? FTZ : 0;
    return i->op == PTX_OP_div_float   ? USE_EXACT(op, wide, plain, div)
           : i->op == PTX_OP_rcp_float ? USE_EXACT(op, wide, plain, rcp)
                                       : USE_EXACT(op, wide, plain, sqrt);
  case PTX_OP_abs_float:
    return USE_SIGN(op, wide, ftz, abs);
  case PTX_OP_neg_float:
    return USE_SIGN(op, wide, ftz, neg);
  case PTX_OP_min_float:
  case PTX_OP_max_float:
    op->y = (i->mods.nan ? PASS_NAN : 0) | (i->mods.xorsign ? XORSIGN : 0) | (ftz ? FLUSH : 0);
    return i->op == PTX_OP_min_float ? USE_MINMAX(op, wide, op->y, min) : USE_MINMAX(op, wide, op->y, max);
  case PTX_OP_copysign_float:
    return wide ? SIM_USE(op, copysign_f64) : SIM_USE(op, copysign_f32);
  case PTX_OP_testp_float:
    op->y = i->mods.testp;
    return wide ? SIM_USE(op, testp_f64) : SIM_USE(op, testp_f32);
  }
  return false;
}
