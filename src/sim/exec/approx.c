/* approx.c: the approximations. PTX bounds their error; a GPU computes them in its own way, so last bits
 * differ from it. Here each is computed in double and rounded once: never further than that bound, usually
 * the nearest.
 *
 *   instruction            PTX's bound                       here, at most
 *   ex2.approx.f32         2^-22 relative                    0.5 ulp + 1e-13
 *   lg2.approx.f32         2^-22 absolute near 1, else rel.  0.5 ulp + 1e-13
 *   sin, cos.approx.f32    2^-20.5 absolute in (-2pi, 2pi)   0.5 ulp + 1e-13, everywhere
 *   tanh.approx.f32        2^-11 relative                    0.5 ulp + 1e-13
 *   rcp.approx.f32         1 ulp                             0.5 ulp
 *   sqrt.approx.f32        2^-23 relative                    0.5 ulp
 *   rsqrt.approx.f32       2^-22.9 relative                  0.5 ulp + 1e-15
 *   div.approx, .full.f32  2 ulp                             0.5 ulp
 *   rcp, rsqrt.approx.ftz.f64: of and to the upper 32 bits   nearest of those
 *   rsqrt.approx.f64                                         1.6 ulp
 * test/sim/approx_all.c tries all 2^32 operands of those with one.
 */
#include <math.h>

#include "sim/exec/arith.h"
#include "sim/exec/narrow.h"
#include "sim/exec/series.h"

/* Plain, and with flushing. */
#define APPROX1(name, function)                                    \
  SIM_HANDLER1(name, float, float, end_f32((float)function(a), 0)) \
  SIM_HANDLER1(name##_ftz, float, float, end_f32((float)function(flush_f32(a, FTZ)), FTZ))

static inline double rcp_of(float a) {
  return 1.0 / a;
}
static inline double rsqrt_of(float a) {
  return 1.0 / __builtin_sqrt(a);
}
static inline double sqrt_of(float a) {
  return __builtin_sqrt(a);
}
APPROX1(rcp, rcp_of)
APPROX1(rsqrt, rsqrt_of)
APPROX1(sqrt, sqrt_of)
APPROX1(ex2, series_exp2)
APPROX1(lg2, series_log2)
SIM_HANDLER1(tanh, float, float, end_f32((float)series_tanh(a), 0))

/* approx: a times the reciprocal of b, which above 2^126 would be subnormal and counts as zero. */
static inline float quotient(float a, float b, int how) {
  a = flush_f32(a, how), b = flush_f32(b, how);
  float zero = f32_of(bits_of_f32(b) & 0x80000000);
  return end_f32((bits_of_f32(b) & 0x7fffffff) > 0x7e800000 && b == b ? a * zero : (float)((double)a / b),
                 how);
}
SIM_HANDLER2(div_approx, float, float, float, quotient(a, b, 0))
SIM_HANDLER2(div_approx_ftz, float, float, float, quotient(a, b, FTZ))
SIM_HANDLER2(div_full, float, float, float, end_f32(a / b, 0))
SIM_HANDLER2(div_full_ftz, float, float, float, end_f32(flush_f32(a, FTZ) / flush_f32(b, FTZ), FTZ))

/* Sine (quarter 0) and cosine (quarter 1). Lanes too far out for the short reduction go through the C
 * library. */
static inline void circle(const sim_op *o, sim_ctx *ctx, uint64_t quarter, int how, int full) {
  float *d = sim_at(ctx, o->d);
  const float *a = sim_at(ctx, o->a);
  float r[SIM_LANES], x[SIM_LANES];
  uint32_t far = 0;
  for (int i = 0; i < SIM_LANES; i++) {
    x[i] = flush_f32(a[i], how);
    far |= !(__builtin_fabsf(x[i]) < SERIES_SMALL);
    float y = (float)series_circle(x[i], quarter);
    r[i] = x[i] == 0 && !quarter ? x[i] : y;
  }
  if (far)
    for (int i = 0; i < SIM_LANES; i++)
      if (!(__builtin_fabsf(x[i]) < SERIES_SMALL))
        r[i] = (float)(quarter ? cos((double)x[i]) : sin((double)x[i]));
  for (int i = 0; i < SIM_LANES; i++)
    d[i] = full || ctx->lane[i] ? end_f32(r[i], how) : d[i];
}
SIM_HANDLER(sin, circle(o, ctx, 0, 0, full))
SIM_HANDLER(sin_ftz, circle(o, ctx, 0, FTZ, full))
SIM_HANDLER(cos, circle(o, ctx, 1, 0, full))
SIM_HANDLER(cos_ftz, circle(o, ctx, 1, FTZ, full))

/* f64: the operand's upper 32 bits alone count, the result has no others. Subnormals are zeros. */
static inline uint64_t upper_f64(uint64_t u) {
  u &= 0xffffffff00000000;
  return u & 0x7ff0000000000000 ? u : u & 0x8000000000000000;
}
static inline uint64_t nearest_upper_f64(double r) {
  uint64_t u = bits_of_f64(r);
  return r == r ? upper_f64(u + 0x80000000) : 0x7fffffff00000000;
}
SIM_HANDLER1(rcp_ftz_f64, uint64_t, uint64_t, nearest_upper_f64(1 / f64_of(upper_f64(a))))
SIM_HANDLER1(rsqrt_ftz_f64, uint64_t, uint64_t, nearest_upper_f64(1 / __builtin_sqrt(f64_of(upper_f64(a)))))
SIM_HANDLER1(rsqrt_f64, double, double, end_f64(1 / __builtin_sqrt(a), a, 0, 0))

/* Halves, through f32: 24 bits are more than twice 11, so the second rounding is innocent to within the
 * bound. */
#define SIDES(f, x) (f(x) | f((x) >> 16) << 16)
static inline uint32_t ex2_f16(uint32_t a) {
  return f16_of_f32((float)series_exp2(f32_of_f16(a & 0xffff)));
}
static inline uint32_t ex2_bf16(uint32_t a) {
  return bf16_of_f32(flush_f32((float)series_exp2(flush_f32(f32_of_bf16(a & 0xffff), FTZ)), FTZ));
}
static inline uint32_t tanh_f16(uint32_t a) {
  return f16_of_f32((float)series_tanh(f32_of_f16(a & 0xffff)));
}
static inline uint32_t tanh_bf16(uint32_t a) {
  return bf16_of_f32((float)series_tanh(f32_of_bf16(a & 0xffff)));
}
#define HALVES1(name)                                   \
  SIM_HANDLER1(name##_one, uint32_t, uint32_t, name(a)) \
  SIM_HANDLER1(name##_two, uint32_t, uint32_t, SIDES(name, a))
HALVES1(ex2_f16)
HALVES1(ex2_bf16)
HALVES1(tanh_f16)
HALVES1(tanh_bf16)

#define USE_FTZ(op, ftz, name) ((ftz) ? SIM_USE(op, name##_ftz) : SIM_USE(op, name))
#define USE_HALVES(op, t, name)                      \
  ((t) == PTX_F16     ? SIM_USE(op, name##_f16_one)  \
   : (t) == PTX_F16X2 ? SIM_USE(op, name##_f16_two)  \
   : (t) == PTX_BF16  ? SIM_USE(op, name##_bf16_one) \
                      : SIM_USE(op, name##_bf16_two))

sim_select SIM_LEVELED(sim_select_approx);
bool SIM_LEVELED(sim_select_approx)(sim_build *w, const ptx_body *body, const ptx_insn *i, sim_op *op) {
  (void)w, (void)body;
  bool wide = i->type[0] == PTX_F64, ftz = i->mods.ftz;
  if (i->op == PTX_OP_ex2_half)
    return USE_HALVES(op, i->type[0], ex2);
  if (i->op == PTX_OP_tanh_half)
    return USE_HALVES(op, i->type[0], tanh);
  if (!i->mods.approx)
    return false;
  switch (i->op) {
  case PTX_OP_rcp_float:
    return wide ? SIM_USE(op, rcp_ftz_f64) : USE_FTZ(op, ftz, rcp);
  case PTX_OP_sqrt_float:
    return USE_FTZ(op, ftz, sqrt);
  case PTX_OP_rsqrt_float:
    return wide ? (ftz ? SIM_USE(op, rsqrt_ftz_f64) : SIM_USE(op, rsqrt_f64)) : USE_FTZ(op, ftz, rsqrt);
  case PTX_OP_div_float:
    return i->mods.approx == PTX_FULL ? USE_FTZ(op, ftz, div_full) : USE_FTZ(op, ftz, div_approx);
  case PTX_OP_ex2_float:
    return USE_FTZ(op, ftz, ex2);
  case PTX_OP_lg2_float:
    return USE_FTZ(op, ftz, lg2);
  case PTX_OP_sin_float:
    return USE_FTZ(op, ftz, sin);
  case PTX_OP_cos_float:
    return USE_FTZ(op, ftz, cos);
  case PTX_OP_tanh_float:
    return SIM_USE(op, tanh);
  }
  return false;
}
