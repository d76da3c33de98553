/* narrow.h: numbers of few bits. Widening to f32 is exact and one expression a type; narrowing goes through
 * one function, `narrowed`, which takes any finite number apart from its sign as a significand of 64 bits,
 * and knows every rounding mode and target. The two that are common, f32 to f16 and bf16 to nearest, have a
 * short way that compilers can turn into vector code.
 */
#ifndef MUSTER_SIM_NARROW_H
#define MUSTER_SIM_NARROW_H

#include "sim/exec/arith.h"

/* ---- widening ---- */
static inline float f32_of_f16(uint32_t h) {
  uint32_t m = h & 0x7fff, s = (h & 0x8000) << 16;
  uint32_t tiny = bits_of_f32((float)(int32_t)m * 0x1p-24f); /* never a subnormal f32: those are slow */
  uint32_t big = (m << 13) + (m >= 0x7c00 ? 0x70000000 : 0x38000000);
  return f32_of((m < 0x400 ? tiny : big) | s);
}
static inline float f32_of_bf16(uint32_t h) {
  return f32_of(h << 16);
}

/* ---- narrowing to nearest ---- */
static inline uint32_t f16_of_f32(float x) {
  uint32_t u = bits_of_f32(x), s = u >> 16 & 0x8000, m = u & 0x7fffffff;
  uint32_t big = (m + 0xfff + (m >> 13 & 1) - 0x38000000) >> 13; /* normal: a carry moves the exponent on */
  uint32_t tiny = bits_of_f32(f32_of(m) + 0.5f) - 0x3f000000;    /* 0.5 ends where the smallest f16 does */
  uint32_t r = m < 0x38800000 ? tiny : m >= 0x47800000 ? 0x7c00 : big;
  return m > 0x7f800000 ? NAN_F16 : r | s;
}
static inline uint32_t bf16_of_f32(float x) {
  uint32_t u = bits_of_f32(x);
  return (u & 0x7fffffff) > 0x7f800000 ? NAN_F16 : (u + 0x7fff + (u >> 16 & 1)) >> 16;
}

/* ---- narrowing in every mode ---- */
typedef struct sim_format {
  uint8_t mantissa, width; /* bits, of the mantissa and of all; codes are right-aligned */
  int16_t bias;
  uint64_t max;      /* the largest finite code */
  uint64_t inf, nan; /* inf 0: the format has none */
} sim_format;

static const sim_format sim_f64 = {52, 64, 1023, 0x7fefffffffffffff, 0x7ff0000000000000, 0x7fffffffffffffff};
static const sim_format sim_f32 = {23, 32, 127, 0x7f7fffff, 0x7f800000, NAN_F32};
static const sim_format sim_tf32 = {10, 19, 127, 0x3fbff, 0x3fc00, 0x3ffff};
static const sim_format sim_f16 = {10, 16, 15, 0x7bff, 0x7c00, NAN_F16};
static const sim_format sim_bf16 = {7, 16, 127, 0x7f7f, 0x7f80, NAN_F16};
static const sim_format sim_e5m2 = {2, 8, 15, 0x7b, 0x7c, 0x7f};
static const sim_format sim_e4m3 = {3, 8, 7, 0x7e, 0, 0x7f};
static const sim_format sim_e3m2 = {2, 6, 3, 0x1f, 0, 0x1f};
static const sim_format sim_e2m3 = {3, 6, 1, 0x1f, 0, 0x1f};
static const sim_format sim_e2m1 = {1, 4, 1, 0x7, 0, 0x7};

/* The number (-1)^negative * m * 2^(e-63), m 0 or with its top bit set; `lost`: and a little more than m. */
typedef struct sim_number {
  bool negative, lost, nan, inf;
  int e;
  uint64_t m;
} sim_number;

static inline sim_number number_of_f64(uint64_t u) {
  sim_number n = {.negative = u >> 63};
  int e = (int)(u >> 52 & 2047);
  uint64_t m = u & 0xfffffffffffff;
  n.nan = e == 2047 && m;
  n.inf = e == 2047 && !m;
  m = e ? m | UINT64_C(1) << 52 : m;
  int zeros = m ? __builtin_clzll(m) : 0;
  n.m = m << zeros;
  n.e = (e ? e : 1) - 1023 + 11 - zeros;
  return n;
}
static inline sim_number number_of_int(uint64_t magnitude, bool negative) {
  sim_number n = {.negative = negative};
  int zeros = magnitude ? __builtin_clzll(magnitude) : 0;
  n.m = magnitude << zeros;
  n.e = 63 - zeros;
  return n;
}

enum { FINITE = 1, RELU = 2 }; /* what to do: satfinite, relu */

/* The code of n in format f. */
static inline uint64_t narrowed(sim_number n, const sim_format *f, unsigned mode, int what) {
  uint64_t sign = (uint64_t)n.negative << (f->width - 1);
  if (n.nan)
    return f->nan;
  if (what & RELU && n.negative)
    return 0;
  if (n.inf)
    return sign | (f->inf && !(what & FINITE) ? f->inf : f->max);
  if (n.m == 0)
    return sign;
  int field = n.e + f->bias;   /* the exponent's code, if the number is normal there */
  int drop = 63 - f->mantissa; /* bits of m below the last one kept */
  if (field < 1)
    drop += 1 - field;
  uint64_t kept = drop > 63 ? 0 : n.m >> drop;
  uint64_t rest = drop > 64 ? 0 : drop == 64 ? n.m : n.m & ((UINT64_C(1) << drop) - 1);
  uint64_t half = drop > 64 ? 0 : UINT64_C(1) << (drop - 1);
  bool any = rest || n.lost || drop > 64, up;
  switch (mode) {
  case TO_NEAREST:
    up = drop <= 64 && (rest > half || (rest == half && (n.lost || kept & 1)));
    break;
  case AWAY:
    up = drop <= 64 && rest >= half;
    break;
  case DOWN:
    up = any && n.negative;
    break;
  case UP:
    up = any && !n.negative;
    break;
  default:
    up = false;
  }
  uint64_t code = kept + up;
  if (field >= 1)
    code += (uint64_t)(field - 1) << f->mantissa; /* kept holds the leading one */
  if (code > f->max) {
    bool to_inf =
        mode == TO_NEAREST || mode == AWAY || (mode == DOWN && n.negative) || (mode == UP && !n.negative);
    code = f->inf && to_inf && !(what & FINITE) ? f->inf : f->max;
  }
  return sign | code;
}

#endif
