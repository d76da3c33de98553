/* half.c: f16, bf16 and pairs of them: add, sub, mul, fma, abs, neg, min, max.
 *
 * Each is computed in f32 and rounded once more. For add, sub and mul the second rounding cannot go wrong:
 * f32 has more than twice the bits of f16 or bf16 (and two more). fma keeps what the first rounding lost in
 * the last bit (rounding to odd), which comes to the same. All of it is to nearest: PTX has no other mode
 * here.
 */
#include "sim/exec/arith.h"
#include "sim/exec/narrow.h"

/* What the words of an instruction ask for, in o->y. FTZ and SAT are those of arith.h. */
enum { H_RELU = 4, H_OOB = 8, H_NAN = 16, H_XORSIGN = 32 };

static inline uint32_t flush_f16(uint32_t h) {
  return h & 0x7c00 ? h : h & 0x8000;
}
static inline float in_f16(uint32_t h, int how) {
  return f32_of_f16(how & FTZ ? flush_f16(h) : h);
}
static inline float in_bf16(uint32_t h, int how) {
  (void)how;
  return f32_of_bf16(h);
}
static inline float clamped(float r, int how) {
  if (how & SAT) {
    r = r > 0 ? r : 0.0f;
    r = r < 1 ? r : 1.0f;
  }
  if (how & H_RELU)
    r = r <= 0 ? 0.0f : r;
  return r;
}
/* Flushed is what would be below 2^-14 if there were smaller normal numbers: see unless_tiny. */
static inline uint32_t out_f16(float r, int how) {
  r = clamped(r, how);
  uint32_t h = f16_of_f32(r), larger = f16_of_f32(r * 16) & 0x7fff;
  return (how & FTZ) && larger < 0x1400 ? h & 0x8000 : h;
}
static inline uint32_t out_bf16(float r, int how) {
  return bf16_of_f32(clamped(r, how));
}

/* A product of f16 is exact in f32, one of bf16 in f64; the sum with c is rounded to odd there. */
static inline float fma_in_f16(float a, float b, float c) {
  float p = a * b, s = p + c, q = s - p, lost = (p - (s - q)) + (c - q);
  uint32_t u = bits_of_f32(s), away = (bits_of_f32(lost) ^ u) >> 31;
  uint32_t odd = u & 1 ? u : away ? u - 1 : u + 1;
  return ((lost != 0) & (lost - lost == 0)) ? f32_of(odd) : s;
}
static inline float fma_in_bf16(float a, float b, float c) {
  double p = (double)a * b, z = c, s = p + z, q = s - p, lost = (p - (s - q)) + (z - q);
  uint64_t u = bits_of_f64(s), away = (bits_of_f64(lost) ^ u) >> 63;
  double t = ((lost != 0) & (lost - lost == 0)) ? f64_of(u & 1 ? u : away ? u - 1 : u + 1) : s;
  float f = (float)t;
  uint32_t v = bits_of_f32(f);
  v = ((double)__builtin_fabsf(f) > __builtin_fabs(t) ? v - 1 : v) | 1; /* towards zero, and odd */
  return (((double)f == t) | (t - t != 0)) ? f : f32_of(v);
}
/* .oob: 0x7ff7, the NaN that stands for "outside of a tensor", as either factor makes the result 0, on an
 * H200. */
#define OUTSIDE(h) (((h) & 0x7fff) == 0x7ff7)

#define ONE2(t, name, operator)                                             \
  static inline uint32_t name##_##t##_of(uint32_t a, uint32_t b, int how) { \
    return out_##t(in_##t(a, how) operator in_##t(b, how), how);            \
  }
#define HALVES(f, a, b) (f((a) & 0xffff, (b) & 0xffff, how) | f((a) >> 16, (b) >> 16, how) << 16)
#define WAYS2(name)                                                                                    \
  static inline uint32_t name##_pair(uint32_t a, uint32_t b, int how) {                                \
    return HALVES(name##_of, a, b);                                                                    \
  }                                                                                                    \
  SIM_HANDLER2(name, uint32_t, uint32_t, uint32_t, name##_of(a & 0xffff, b & 0xffff, 0))               \
  SIM_HANDLER2(name##_x2, uint32_t, uint32_t, uint32_t, name##_pair(a, b, 0))                          \
  SIM_HANDLER2(name##_any, uint32_t, uint32_t, uint32_t, name##_of(a & 0xffff, b & 0xffff, (int)o->y)) \
  SIM_HANDLER2(name##_x2_any, uint32_t, uint32_t, uint32_t, name##_pair(a, b, (int)o->y))
#define BOTH2(name, operator) \
  ONE2(f16, name, operator)   \
  ONE2(bf16, name, operator)  \
  WAYS2(name##_f16)           \
  WAYS2(name##_bf16)
BOTH2(add, +)
BOTH2(sub, -)
BOTH2(mul, *)

#define FMA(t)                                                                                          \
  static inline uint32_t fma_##t##_of(uint32_t a, uint32_t b, uint32_t c, int how) {                    \
    a &= 0xffff, b &= 0xffff, c &= 0xffff;                                                              \
    uint32_t r = out_##t(fma_in_##t(in_##t(a, how), in_##t(b, how), in_##t(c, how)), how);              \
    return how & H_OOB && (OUTSIDE(a) || OUTSIDE(b)) ? 0 : r;                                           \
  }                                                                                                     \
  static inline uint32_t fma_##t##_pair(uint32_t a, uint32_t b, uint32_t c, int how) {                  \
    return fma_##t##_of(a, b, c, how) | fma_##t##_of(a >> 16, b >> 16, c >> 16, how) << 16;             \
  }                                                                                                     \
  SIM_HANDLER3(fma_##t, uint32_t, uint32_t, uint32_t, uint32_t, fma_##t##_of(a, b, c, 0))               \
  SIM_HANDLER3(fma_##t##_x2, uint32_t, uint32_t, uint32_t, uint32_t, fma_##t##_pair(a, b, c, 0))        \
  SIM_HANDLER3(fma_##t##_any, uint32_t, uint32_t, uint32_t, uint32_t, fma_##t##_of(a, b, c, (int)o->y)) \
  SIM_HANDLER3(fma_##t##_x2_any, uint32_t, uint32_t, uint32_t, uint32_t, fma_##t##_pair(a, b, c, (int)o->y))
FMA(f16)
FMA(bf16)

/* ---- signs and order ---- */
static inline uint32_t infinity_of(int bf16) {
  return bf16 ? 0x7f80 : 0x7c00;
}
static inline uint32_t sign_half(uint32_t h, uint32_t keep, uint32_t flip, int bf16, int how) {
  h = how & FTZ ? flush_f16(h) : h;
  return (h & 0x7fff) > infinity_of(bf16) ? NAN_F16 : (h & keep) ^ flip;
}
static inline int32_t order_half(uint32_t h) {
  int32_t s = (int16_t)h;
  return s ^ ((s >> 31) & 0x7fff);
}
static inline uint32_t minmax_half(uint32_t a, uint32_t b, int max, int bf16, int how) {
  if (how & FTZ)
    a = flush_f16(a), b = flush_f16(b);
  uint32_t sign = (a ^ b) & 0x8000, inf = infinity_of(bf16);
  if (how & H_XORSIGN)
    a &= 0x7fff, b &= 0x7fff;
  int a_nan = (a & 0x7fff) > inf, b_nan = (b & 0x7fff) > inf;
  uint32_t r = (max ? order_half(a) < order_half(b) : order_half(b) < order_half(a)) ? b : a;
  r = a_nan ? b : b_nan ? a : r;
  if (how & H_XORSIGN)
    r |= sign;
  return (a_nan & b_nan) | ((a_nan | b_nan) & (how & H_NAN) >> 4) ? NAN_F16 : r;
}
#define MINMAX(name, max, t, is_bf16)                                       \
  static inline uint32_t name##_##t##_of(uint32_t a, uint32_t b, int how) { \
    return minmax_half(a, b, max, is_bf16, how);                            \
  }                                                                         \
  WAYS2(name##_##t)
MINMAX(min, 0, f16, 0)
MINMAX(max, 1, f16, 0)
MINMAX(min, 0, bf16, 1)
MINMAX(max, 1, bf16, 1)

#define SIGN(name, keep, flip, t, is_bf16)                                    \
  static inline uint32_t name##_##t##_of(uint32_t a, int how) {               \
    return sign_half(a & 0xffff, keep, flip, is_bf16, how);                   \
  }                                                                           \
  SIM_HANDLER1(name##_##t, uint32_t, uint32_t, name##_##t##_of(a, (int)o->y)) \
  SIM_HANDLER1(name##_##t##_x2, uint32_t, uint32_t,                           \
               name##_##t##_of(a, (int)o->y) | name##_##t##_of(a >> 16, (int)o->y) << 16)
SIGN(abs, 0x7fff, 0, f16, 0)
SIGN(neg, 0xffff, 0x8000, f16, 0)
SIGN(abs, 0x7fff, 0, bf16, 1)
SIGN(neg, 0xffff, 0x8000, bf16, 1)

#define USE_PLAIN(op, t, name)                     \
  ((t) == PTX_F16     ? SIM_USE(op, name##_f16)    \
   : (t) == PTX_F16X2 ? SIM_USE(op, name##_f16_x2) \
   : (t) == PTX_BF16  ? SIM_USE(op, name##_bf16)   \
                      : SIM_USE(op, name##_bf16_x2))
#define USE_ANY(op, t, name)                           \
  ((t) == PTX_F16     ? SIM_USE(op, name##_f16_any)    \
   : (t) == PTX_F16X2 ? SIM_USE(op, name##_f16_x2_any) \
   : (t) == PTX_BF16  ? SIM_USE(op, name##_bf16_any)   \
                      : SIM_USE(op, name##_bf16_x2_any))
#define USE_HALF(op, t, name) ((op)->y ? USE_ANY(op, t, name) : USE_PLAIN(op, t, name))

sim_select SIM_LEVELED(sim_select_half);
bool SIM_LEVELED(sim_select_half)(sim_build *w, const ptx_body *body, const ptx_insn *i, sim_op *op) {
  (void)w, (void)body;
  const ptx_mods *m = &i->mods;
  unsigned t = i->type[0];
  unsigned how = (m->ftz ? FTZ : 0) | (m->sat ? SAT : 0) | (m->relu ? H_RELU : 0) | (m->oob ? H_OOB : 0) |
                 (m->nan ? H_NAN : 0) | (m->xorsign ? H_XORSIGN : 0);
  switch (i->op) {
  case PTX_OP_add_half:
    op->y = how;
    return USE_HALF(op, t, add);
  case PTX_OP_sub_half:
    op->y = how;
    return USE_HALF(op, t, sub);
  case PTX_OP_mul_half:
    op->y = how;
    return USE_HALF(op, t, mul);
  case PTX_OP_fma_half:
    op->y = how;
    return USE_HALF(op, t, fma);
  case PTX_OP_min_half:
    op->y = how;
    return USE_HALF(op, t, min);
  case PTX_OP_max_half:
    op->y = how;
    return USE_HALF(op, t, max);
  case PTX_OP_abs_half:
    op->y = how;
    return USE_PLAIN(op, t, abs);
  case PTX_OP_neg_half:
    op->y = how;
    return USE_PLAIN(op, t, neg);
  }
  return false;
}
