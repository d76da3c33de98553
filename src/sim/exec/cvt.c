/* cvt.c: cvt between integers, f16, bf16, f32 and f64 of any width, in every mode.
 *
 * The registers may be wider than the types: a source is cut to its type, a result extended from it, with its
 * sign where the type has one. One general way does every pair of types, a lane at a time; the pairs that
 * programs live on have a loop of their own. Packed and smaller floats are in cvt_narrow.c.
 */
#include "sim/exec/arith.h"
#include "sim/exec/narrow.h"

/* ---- the usual pairs, where registers have the width of their types ---- */
SIM_HANDLER1(u64_u32, uint64_t, uint32_t, a)
SIM_HANDLER1(s64_s32, uint64_t, int32_t, (int64_t)a)
SIM_HANDLER1(b32_b64, uint32_t, uint64_t, a)
SIM_HANDLER1(u32_u8, uint32_t, uint32_t, a & 255)
SIM_HANDLER1(s32_s8, uint32_t, uint32_t, (int32_t)(int8_t)a)
SIM_HANDLER1(u32_u16, uint32_t, uint32_t, a & 0xffff)
SIM_HANDLER1(s32_s16, uint32_t, uint32_t, (int32_t)(int16_t)a)
SIM_HANDLER1(f32_s32, float, int32_t, (float)a)
SIM_HANDLER1(f32_u32, float, uint32_t, (float)a)
SIM_HANDLER1(f64_s32, double, int32_t, (double)a)
SIM_HANDLER1(f64_u32, double, uint32_t, (double)a)
SIM_HANDLER1(f64_s64, double, int64_t, (double)a)
SIM_HANDLER1(f64_u64, double, uint64_t, (double)a)
SIM_HANDLER1(f32_f16, float, uint32_t, end_f32(f32_of_f16(a), 0))
SIM_HANDLER1(f32_bf16, uint32_t, uint32_t, a << 16)
SIM_HANDLER1(f16_f32, uint32_t, float, f16_of_f32(a))
SIM_HANDLER1(bf16_f32, uint32_t, float, bf16_of_f32(a))

/* NaNs. f64 has room for the payload of the others and a GPU moves it there and back, quiet, with its sign.
 * From bf16 to f32, and where nothing changes, every bit stays; in all else there is one NaN. */
static inline double wide_of(float a) {
  uint32_t u = bits_of_f32(a);
  uint64_t nan = (uint64_t)(u & 0x80000000) << 32 | 0x7ff8000000000000 | (uint64_t)(u & 0x7fffff) << 29;
  return a == a ? (double)a : f64_of(nan);
}
static inline float short_of(double a) {
  uint64_t u = bits_of_f64(a);
  uint32_t nan = (uint32_t)(u >> 32 & 0x80000000) | 0x7fc00000 | (uint32_t)(u >> 29 & 0x7fffff);
  return a == a ? (float)a : f32_of(nan);
}
SIM_HANDLER1(f64_f32, double, float, wide_of(a))
SIM_HANDLER1(f32_f64, float, double, short_of(a))

/* Towards zero, to 32 bits; NaN is 0, what is too large the largest. */
static inline int32_t s32_of(float a) {
  double x = a == a ? a : 0;
  x = x > 2147483647.0 ? 2147483647.0 : x < -2147483648.0 ? -2147483648.0 : x;
  return (int32_t)x;
}
SIM_HANDLER1(s32_f32, uint32_t, float, s32_of(a))
static inline int32_t s32_of_nearest(float a) {
  double x = a == a ? a : 0;
  x = x > 2147483647.0 ? 2147483647.0 : x < -2147483648.0 ? -2147483648.0 : x;
  return (int32_t)__builtin_rint(x);
}
SIM_HANDLER1(s32_f32_rni, uint32_t, float, s32_of_nearest(a))
#define INTEGRAL(name, function)                                     \
  SIM_HANDLER1(f32_##name, float, float, end_f32(function##f(a), 0)) \
  SIM_HANDLER1(f64_##name, double, double, end_f64(function(a), a, 0, 0))
INTEGRAL(rni, __builtin_rint)
INTEGRAL(rzi, __builtin_trunc)
INTEGRAL(rmi, __builtin_floor)
INTEGRAL(rpi, __builtin_ceil)

/* ---- the general way ---- */
typedef struct conversion {
  uint8_t from, to; /* types */
  uint8_t mode;
  uint8_t ftz, sat, relu, satfinite, integral; /* yes or no */
} conversion;
_Static_assert(sizeof(conversion) == 8, "travels in op->imm");

static inline bool is_float(unsigned t) {
  return t == PTX_F16 || t == PTX_BF16 || t == PTX_F32 || t == PTX_F64;
}
static inline bool is_signed(unsigned t) {
  return t == PTX_S8 || t == PTX_S16 || t == PTX_S32 || t == PTX_S64;
}
static inline unsigned width_of(unsigned t) {
  switch (t) {
  case PTX_U8:
  case PTX_S8:
    return 8;
  case PTX_U16:
  case PTX_S16:
  case PTX_F16:
  case PTX_BF16:
    return 16;
  case PTX_U32:
  case PTX_S32:
  case PTX_F32:
    return 32;
  }
  return 64;
}
static inline uint64_t extended(uint64_t x, unsigned bits, bool sign) {
  unsigned rest = 64 - bits;
  return sign ? (uint64_t)((int64_t)(x << rest) >> rest) : x << rest >> rest;
}
static const sim_format *format_of(unsigned t) {
  return t == PTX_F16 ? &sim_f16 : t == PTX_BF16 ? &sim_bf16 : t == PTX_F32 ? &sim_f32 : &sim_f64;
}
static inline uint64_t f64_bits_of(uint64_t x, unsigned t, bool ftz) {
  switch (t) {
  case PTX_F16:
    return bits_of_f64(wide_of(f32_of_f16((uint32_t)x & 0xffff)));
  case PTX_BF16:
    return bits_of_f64(wide_of(f32_of_bf16((uint32_t)x & 0xffff)));
  case PTX_F32:
    return bits_of_f64(wide_of(flush_f32(f32_of((uint32_t)x), ftz ? FTZ : 0)));
  }
  return x;
}
static inline double integral(double x, unsigned mode) {
  switch (mode) {
  case TO_NEAREST:
    return __builtin_rint(x);
  case TO_ZERO:
    return __builtin_trunc(x);
  case DOWN:
    return __builtin_floor(x);
  }
  return __builtin_ceil(x);
}
static inline bool is_nan(uint64_t u) {
  return (u & INT64_MAX) > 0x7ff0000000000000;
}

static uint64_t to_int(uint64_t u, const conversion *c) {
  unsigned bits = width_of(c->to);
  bool sign = is_signed(c->to);
  if (is_nan(u))
    return c->from == PTX_F64 || bits == 64 ? UINT64_C(1) << (bits - 1) : 0;
  double x = integral(f64_of(u), c->mode);
  double top = f64_of((uint64_t)(1023 + bits - (sign ? 1 : 0)) << 52); /* the first that is too large */
  if (x >= top)
    return sign ? (UINT64_C(1) << (bits - 1)) - 1 : UINT64_MAX >> (64 - bits);
  if (sign)
    return x < -top ? extended(UINT64_C(1) << (bits - 1), bits, true) : (uint64_t)(int64_t)x;
  return x < 0 ? 0 : (uint64_t)x;
}
static uint64_t int_to_int(uint64_t x, const conversion *c) {
  unsigned bits = width_of(c->to);
  bool sign = is_signed(c->to);
  x = extended(x, width_of(c->from), is_signed(c->from));
  if (c->sat) {
    bool negative = is_signed(c->from) && (int64_t)x < 0;
    if (negative && !sign)
      return 0;
    if (negative) {
      int64_t least = INT64_MIN >> (64 - bits);
      return (int64_t)x < least ? (uint64_t)least : x;
    }
    uint64_t most = UINT64_MAX >> (64 - bits + (sign ? 1 : 0));
    return x > most ? most : x;
  }
  return extended(x, bits, sign);
}
/* To a float type, from a number; sat: into [0, 1], NaN to 0. */
static uint64_t to_float(sim_number n, const conversion *c) {
  if (c->sat) {
    if (n.nan || n.negative || (n.m == 0 && !n.inf))
      return 0;
    if (n.inf || n.e >= 0)
      n = number_of_int(1, false);
  }
  uint64_t r = narrowed(n, format_of(c->to), c->mode, (c->satfinite ? FINITE : 0) | (c->relu ? RELU : 0));
  return c->ftz && c->to == PTX_F32 ? flush_bits((uint32_t)r) : r;
}
/* x as it was, u as a NaN of f64. */
static uint64_t nan_to_float(uint64_t x, uint64_t u, const conversion *c) {
  const sim_format *f = format_of(c->to);
  bool same = c->from == c->to && !c->ftz && !c->integral;
  if (c->sat)
    return 0;
  if (same && (c->to == PTX_F32 || c->to == PTX_F64))
    return x;
  if (c->from == PTX_BF16 && c->to == PTX_F32 && !c->ftz)
    return x << 16;
  if (c->to == PTX_F64)
    return c->ftz ? 0x7fffffffe0000000 : u | QUIET;
  if (c->from == PTX_F64) {
    uint64_t payload = (u & 0xfffffffffffff) >> (52 - f->mantissa) | UINT64_C(1) << (f->mantissa - 1);
    return (u >> 63) << (f->width - 1) | f->inf | payload;
  }
  return f->nan;
}
static uint64_t converted(uint64_t x, const conversion *c) {
  if (!is_float(c->from)) {
    if (!is_float(c->to))
      return int_to_int(x, c);
    x = extended(x, width_of(c->from), is_signed(c->from));
    bool negative = is_signed(c->from) && (int64_t)x < 0;
    return to_float(number_of_int(negative ? 0 - x : x, negative), c);
  }
  bool flushes = c->ftz && c->to != PTX_F16; /* a GPU does not for that one */
  uint64_t u = f64_bits_of(x, c->from, flushes);
  if (!is_float(c->to))
    return to_int(u, c);
  if (is_nan(u))
    return nan_to_float(x, u, c);
  if (c->integral)
    u = bits_of_f64(integral(f64_of(u), c->mode));
  return to_float(number_of_f64(u), c);
}

/* o->x: bits of the register written; the lanes are 4 bytes up to 32, else 8. */
#define GENERAL(name, D, A)                                                                          \
  static inline void name(const sim_op *o, sim_ctx *ctx, int full) {                                 \
    D *d = sim_at(ctx, o->d);                                                                        \
    const A *a = sim_at(ctx, o->a);                                                                  \
    conversion c;                                                                                    \
    memcpy(&c, &o->imm, 8);                                                                          \
    unsigned bits = is_float(c.to) ? 64 : width_of(c.to);                                            \
    for (int i = 0; i < SIM_LANES; i++) {                                                            \
      uint64_t r = extended(converted(a[i], &c), bits, is_signed(c.to)) & UINT64_MAX >> (64 - o->x); \
      d[i] = full || ctx->lane[i] ? (D)r : d[i];                                                     \
    }                                                                                                \
  }                                                                                                  \
  SIM_HANDLER(name, name(o, ctx, full))
GENERAL(any_4_4, uint32_t, uint32_t)
GENERAL(any_4_8, uint32_t, uint64_t)
GENERAL(any_8_4, uint64_t, uint32_t)
GENERAL(any_8_8, uint64_t, uint64_t)

/* Integers without saturation: two extensions, from the source's width and from the result's. */
#define RESIZE(name, D, A, W, S, from_sign, to_sign)                           \
  static inline D name##_of(A a, uint32_t from, uint32_t to, D keep) {         \
    W x = (W)a << from;                                                        \
    x = from_sign ? (W)((S)x >> from) : x >> from;                             \
    x <<= to;                                                                  \
    return (D)(to_sign ? (W)((S)x >> to) : x >> to) & keep;                    \
  }                                                                            \
  SIM_LANES1(name, D, A, const uint32_t from = o->x; const uint32_t to = o->y; \
             const D keep = (D)o->imm, SIM_NOTHING, name##_of(a, from, to, keep))
#define RESIZES(lanes, D, A, W, S)            \
  RESIZE(resize_uu_##lanes, D, A, W, S, 0, 0) \
  RESIZE(resize_us_##lanes, D, A, W, S, 0, 1) \
  RESIZE(resize_su_##lanes, D, A, W, S, 1, 0) \
  RESIZE(resize_ss_##lanes, D, A, W, S, 1, 1)
RESIZES(4_4, uint32_t, uint32_t, uint32_t, int32_t)
RESIZES(4_8, uint32_t, uint64_t, uint64_t, int64_t)
RESIZES(8_4, uint64_t, uint32_t, uint64_t, int64_t)
RESIZES(8_8, uint64_t, uint64_t, uint64_t, int64_t)
#define USE_RESIZE(op, f, t, lanes)                                                                \
  (is_signed(f) ? (is_signed(t) ? SIM_USE(op, resize_ss_##lanes) : SIM_USE(op, resize_su_##lanes)) \
                : (is_signed(t) ? SIM_USE(op, resize_us_##lanes) : SIM_USE(op, resize_uu_##lanes)))
static bool select_resize(sim_op *op, const conversion *c, unsigned to_bits, unsigned from_bits) {
  unsigned work = to_bits == 64 || from_bits == 64 ? 64 : 32; /* the width that the shifts are done in */
  op->x = work - width_of(c->from);
  op->y = work - width_of(c->to);
  op->imm = UINT64_MAX >> (64 - to_bits);
  if (to_bits == 64)
    return from_bits == 64 ? USE_RESIZE(op, c->from, c->to, 8_8) : USE_RESIZE(op, c->from, c->to, 8_4);
  return from_bits == 64 ? USE_RESIZE(op, c->from, c->to, 4_8) : USE_RESIZE(op, c->from, c->to, 4_4);
}

/* A loop for just this pair, if there is one: registers as wide as their types (or 32 bits for smaller ones),
 * no words but the mode. */
static bool select_usual(sim_op *op, const conversion *c, unsigned to_bits, unsigned from_bits) {
  unsigned f = c->from, t = c->to;
  bool is32 = to_bits == 32 && from_bits <= 32;
  if (c->sat || c->ftz || c->relu || c->satfinite)
    return false;
  if (c->integral && f == t && (t == PTX_F32 || t == PTX_F64)) {
    switch (c->mode) {
    case TO_NEAREST:
      return t == PTX_F32 ? SIM_USE(op, f32_rni) : SIM_USE(op, f64_rni);
    case TO_ZERO:
      return t == PTX_F32 ? SIM_USE(op, f32_rzi) : SIM_USE(op, f64_rzi);
    case DOWN:
      return t == PTX_F32 ? SIM_USE(op, f32_rmi) : SIM_USE(op, f64_rmi);
    }
    return t == PTX_F32 ? SIM_USE(op, f32_rpi) : SIM_USE(op, f64_rpi);
  }
  if (t == PTX_S32 && f == PTX_F32 && to_bits == 32)
    return c->mode == TO_ZERO      ? SIM_USE(op, s32_f32)
           : c->mode == TO_NEAREST ? SIM_USE(op, s32_f32_rni)
                                   : false;
  if (c->mode != TO_NEAREST)
    return false;
  if (to_bits == 64 && from_bits == 32) {
    switch (t) {
    case PTX_U64:
    case PTX_S64:
      return f == PTX_U32 ? SIM_USE(op, u64_u32) : f == PTX_S32 ? SIM_USE(op, s64_s32) : false;
    case PTX_F64:
      return f == PTX_S32   ? SIM_USE(op, f64_s32)
             : f == PTX_U32 ? SIM_USE(op, f64_u32)
             : f == PTX_F32 ? SIM_USE(op, f64_f32)
                            : false;
    }
    return false;
  }
  if (to_bits == 64 && from_bits == 64 && t == PTX_F64)
    return f == PTX_S64 ? SIM_USE(op, f64_s64) : f == PTX_U64 ? SIM_USE(op, f64_u64) : false;
  if (to_bits == 32 && from_bits == 64 && (t == PTX_U32 || t == PTX_S32) && !is_float(f) && width_of(f) >= 32)
    return SIM_USE(op, b32_b64);
  if (to_bits == 32 && from_bits == 64 && t == PTX_F32 && f == PTX_F64)
    return SIM_USE(op, f32_f64);
  if (is32 && (t == PTX_U32 || t == PTX_S32))
    switch (f) {
    case PTX_U8:
      return SIM_USE(op, u32_u8);
    case PTX_S8:
      return SIM_USE(op, s32_s8);
    case PTX_U16:
      return SIM_USE(op, u32_u16);
    case PTX_S16:
      return SIM_USE(op, s32_s16);
    }
  if (is32 && t == PTX_F32)
    return f == PTX_S32                       ? SIM_USE(op, f32_s32)
           : f == PTX_U32                     ? SIM_USE(op, f32_u32)
           : f == PTX_F16 && from_bits == 16  ? SIM_USE(op, f32_f16)
           : f == PTX_BF16 && from_bits == 16 ? SIM_USE(op, f32_bf16)
                                              : false;
  if (from_bits == 32 && f == PTX_F32 && to_bits <= 32)
    return t == PTX_F16 ? SIM_USE(op, f16_f32) : t == PTX_BF16 ? SIM_USE(op, bf16_f32) : false;
  return false;
}

sim_select SIM_LEVELED(sim_select_cvt);
bool SIM_LEVELED(sim_select_cvt)(sim_build *w, const ptx_body *body, const ptx_insn *i, sim_op *op) {
  (void)w;
  switch (i->op) {
  case PTX_OP_cvt_int:
  case PTX_OP_cvt_to_int:
  case PTX_OP_cvt_from_int:
  case PTX_OP_cvt_float:
    break;
  default:
    return false;
  }
  const ptx_mods *m = &i->mods;
  conversion c = {.from = i->type[1],
                  .to = i->type[0],
                  .mode = (uint8_t)round_mode(m->round),
                  .ftz = m->ftz != 0,
                  .sat = m->sat != 0,
                  .relu = m->relu != 0,
                  .satfinite = m->satfinite != 0,
                  .integral =
                      i->op == PTX_OP_cvt_float && (m->round == PTX_ROUND_RNI || m->round == PTX_ROUND_RZI ||
                                                    m->round == PTX_ROUND_RMI || m->round == PTX_ROUND_RPI)};
  const ptx_operand *to = sim_operand(body, i, 0), *from = sim_operand(body, i, 1);
  unsigned to_bits = to->kind == PTX_REG ? sim_operand_bits(body, to) : width_of(c.to);
  unsigned from_bits = from->kind == PTX_REG ? sim_operand_bits(body, from) : width_of(c.from);
  if (select_usual(op, &c, to_bits, from_bits))
    return true;
  if (i->op == PTX_OP_cvt_int && !c.sat && from_bits >= width_of(c.from) && to_bits >= width_of(c.to))
    return select_resize(op, &c, to_bits, from_bits);
  memcpy(&op->imm, &c, 8);
  op->x = to_bits;
  if (to_bits == 64)
    return from_bits == 64 ? SIM_USE(op, any_8_8) : SIM_USE(op, any_8_4);
  return from_bits == 64 ? SIM_USE(op, any_4_8) : SIM_USE(op, any_4_4);
}
