/* float.c: add, sub, mul and fma (mad) of f32, f64, f32x2, and of f32 with f16 or bf16 operands.
 *
 * The machine that runs us rounds: it is set to the mode an instruction asks for, and left in
 * round-to-nearest. Flushing is done to the values, never by the machine's own mode, since the next
 * instruction may not want it. Where there is no fused multiply-add in hardware, fma_f32 builds one from
 * doubles, exactly.
 */
#include "sim/exec/arith.h"
#include "sim/exec/narrow.h"

#if defined(__FMA__) || !defined(__SSE2__)
static inline float fma_f32(float a, float b, float c) {
  return __builtin_fmaf(a, b, c);
}
#else
/* To nearest only. The product of two floats is exact in a double; the sum is not, but rounded to odd (the
 * last bit set where anything was lost) it keeps all that rounding to a float needs. */
static inline float fma_f32(float a, float b, float c) {
  double p = (double)a * b, z = c, s = p + z;
  double q = s - p, lost = (p - (s - q)) + (z - q); /* p + z - s, exactly (Knuth) */
  uint64_t u = bits_of_f64(s),
           away = (bits_of_f64(lost) ^ u) >> 63; /* lost towards zero? then one step back */
  uint64_t odd = u & 1 ? u : away ? u - 1 : u + 1;
  return (float)(((lost != 0) & (lost - lost == 0)) ? f64_of(odd) : s);
}
#endif
/* In whatever mode is set. The C library's works without hardware, slowly. */
static inline float fma_any_f32(float a, float b, float c) {
  return __builtin_fmaf(a, b, c);
}
static inline double fma_f64(double a, double b, double c) {
  return __builtin_fma(a, b, c);
}

#define F32(x) flush_f32(x, how)

/* Round to nearest: one handler for each way to flush and saturate; else the words are looked at. */
#define PLUS(x, y) ((x) + (y))
#define MINUS(x, y) ((x) - (y))
/* Sums are exact where they are tiny; a product is rounded there. */
#define TIMES(x, y) (how & FTZ ? unless_tiny((x) * (y), LARGER(x) * (y)) : (x) * (y))
#define NEAREST2(name, how_, OP)                    \
  static inline float name##_of(float a, float b) { \
    const int how = how_;                           \
    float x = F32(a), y = F32(b);                   \
    return end_f32(OP(x, y), how);                  \
  }                                                 \
  SIM_HANDLER2(name, float, float, float, name##_of(a, b))
#define ALL2(name, OP, operator)                                                                         \
  NEAREST2(name##_rn, 0, OP)                                                                             \
  NEAREST2(name##_rn_ftz, FTZ, OP)                                                                       \
  NEAREST2(name##_rn_sat, SAT, OP)                                                                       \
  NEAREST2(name##_rn_ftz_sat, FTZ | SAT, OP)                                                             \
  SIM_LANES2(name##_directed, float, float, float, DIRECTED, RESTORED, end_f32(OP(F32(a), F32(b)), how)) \
  SIM_HANDLER2(name##_f64_rn, double, double, double, end_f64(a operator b, b, a, 0))                    \
  SIM_LANES2(name##_f64_directed, double, double, double, DIRECTED, RESTORED,                            \
             end_f64(a operator b, b, a, 0))                                                             \
  SIM_LANES2(name##_f32x2, uint64_t, uint64_t, uint64_t, DIRECTED, RESTORED,                             \
             JOIN(OP(LOW(a), LOW(b)), OP(HIGH(a), HIGH(b))))
/* Pairs of f32 in 64 bits, in any mode. */
#define LOW(x) F32(f32_of((uint32_t)(x)))
#define HIGH(x) F32(f32_of((uint32_t)((x) >> 32)))
#define JOIN(x, y) (bits_of_f32(end_f32(x, how)) | (uint64_t)bits_of_f32(end_f32(y, how)) << 32)
ALL2(add, PLUS, +)
ALL2(sub, MINUS, -)
ALL2(mul, TIMES, *)

static inline float fused(float a, float b, float c, int how, int directed) {
  a = F32(a), b = F32(b), c = F32(c);
  float r = directed ? fma_any_f32(a, b, c) : fma_f32(a, b, c);
  if (how & FTZ)
    r = unless_tiny(r, directed ? fma_any_f32(LARGER(a), b, LARGER(c)) : fma_f32(LARGER(a), b, LARGER(c)));
  return end_f32(r, how);
}
#define NEAREST_FMA(name, how) SIM_HANDLER3(name, float, float, float, float, fused(a, b, c, how, 0))
NEAREST_FMA(fma_rn, 0)
NEAREST_FMA(fma_rn_ftz, FTZ)
NEAREST_FMA(fma_rn_sat, SAT)
NEAREST_FMA(fma_rn_ftz_sat, FTZ | SAT)
SIM_LANES3(fma_directed, float, float, float, float, DIRECTED, RESTORED, fused(a, b, c, how, 1))
SIM_HANDLER3(fma_f64_rn, double, double, double, double, end_f64(fma_f64(a, b, c), b, c, a))
SIM_LANES3(fma_f64_directed, double, double, double, double, DIRECTED, RESTORED,
           end_f64(fma_f64(a, b, c), b, c, a))

#define LOW_WORD(x) f32_of((uint32_t)(x))
#define HIGH_WORD(x) f32_of((uint32_t)((x) >> 32))
SIM_LANES3(fma_f32x2, uint64_t, uint64_t, uint64_t, uint64_t, DIRECTED, RESTORED,
           bits_of_f32(fused(LOW_WORD(a), LOW_WORD(b), LOW_WORD(c), how, 1)) |
               (uint64_t)bits_of_f32(fused(HIGH_WORD(a), HIGH_WORD(b), HIGH_WORD(c), how, 1)) << 32)

/* f32 with a narrower first operand (fma: the first two), which is widened, exactly. */
#define MIXED(t)                                                                                   \
  SIM_LANES2(add_##t, float, uint32_t, float, DIRECTED, RESTORED, end_f32(f32_of_##t(a) + b, how)) \
  SIM_LANES2(sub_##t, float, uint32_t, float, DIRECTED, RESTORED, end_f32(f32_of_##t(a) - b, how)) \
  SIM_LANES3(fma_##t, float, uint32_t, uint32_t, float, DIRECTED, RESTORED,                        \
             end_f32(fma_any_f32(f32_of_##t(a), f32_of_##t(b), c), how))
MIXED(f16)
MIXED(bf16)

#define USE_WAYS(op, mode, how, name)                  \
  ((mode) != TO_NEAREST ? SIM_USE(op, name##_directed) \
   : (how) == 0         ? SIM_USE(op, name##_rn)       \
   : (how) == FTZ       ? SIM_USE(op, name##_rn_ftz)   \
   : (how) == SAT       ? SIM_USE(op, name##_rn_sat)   \
                        : SIM_USE(op, name##_rn_ftz_sat))
#define USE_F64(op, mode, name) \
  ((mode) != TO_NEAREST ? SIM_USE(op, name##_f64_directed) : SIM_USE(op, name##_f64_rn))
#define USE_FLOAT(op, i, mode, how, name)                  \
  ((i)->type[0] == PTX_F64     ? USE_F64(op, mode, name)   \
   : (i)->type[0] == PTX_F32X2 ? SIM_USE(op, name##_f32x2) \
                               : USE_WAYS(op, mode, how, name))
#define USE_MIXED(op, i, name) ((i)->type[1] == PTX_F16 ? SIM_USE(op, name##_f16) : SIM_USE(op, name##_bf16))

sim_select SIM_LEVELED(sim_select_float);
bool SIM_LEVELED(sim_select_float)(sim_build *w, const ptx_body *body, const ptx_insn *i, sim_op *op) {
  (void)w, (void)body;
  unsigned mode = round_mode(i->mods.round), how = (i->mods.ftz ? FTZ : 0) | (i->mods.sat ? SAT : 0);
  bool mixed = i->type[1] == PTX_F16 || i->type[1] == PTX_BF16;
  switch (i->op) {
  case PTX_OP_add_float:
  case PTX_OP_sub_float:
  case PTX_OP_mul_float:
  case PTX_OP_fma_float:
  case PTX_OP_mad_float:
    op->imm = mode;
    op->y = how;
  }
  switch (i->op) {
  case PTX_OP_add_float:
    return mixed ? USE_MIXED(op, i, add) : USE_FLOAT(op, i, mode, how, add);
  case PTX_OP_sub_float:
    return mixed ? USE_MIXED(op, i, sub) : USE_FLOAT(op, i, mode, how, sub);
  case PTX_OP_mul_float:
    return USE_FLOAT(op, i, mode, how, mul);
  case PTX_OP_fma_float:
  case PTX_OP_mad_float:
    return mixed ? USE_MIXED(op, i, fma) : USE_FLOAT(op, i, mode, how, fma);
  }
  return false;
}
