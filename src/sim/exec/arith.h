/* arith.h: what the arithmetic of all types shares: loops over lanes, bit patterns, flushing, saturation,
 * NaNs, the rounding mode, predicates from lanes. Only files of exec/ include it.
 *
 * Whoever computes in a rounding mode other than to nearest sets it with round_to and restores it with
 * round_back. Both clobber memory, so a lane loop between them, which loads its operands and stores its
 * results, cannot be moved across; constants must not be folded there, and none of the loops has two of them.
 */
#ifndef MUSTER_SIM_ARITH_H
#define MUSTER_SIM_ARITH_H

#include <string.h>

#include "sim/exec.h"

#if defined(__SSE2__)
#include <immintrin.h>
#else
#include <fenv.h>
#endif

/* A loop that cannot become vector code (a division of integers) is no mistake. */
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

/* ---- bit patterns ---- */
static inline uint32_t bits_of_f32(float x) {
  uint32_t u;
  memcpy(&u, &x, 4);
  return u;
}
static inline uint64_t bits_of_f64(double x) {
  uint64_t u;
  memcpy(&u, &x, 8);
  return u;
}
static inline float f32_of(uint32_t u) {
  float x;
  memcpy(&x, &u, 4);
  return x;
}
static inline double f64_of(uint64_t u) {
  double x;
  memcpy(&x, &u, 8);
  return x;
}

#define NAN_F32 0x7fffffffu /* what every f32 instruction returns for NaN */
#define NAN_F16 0x7fffu     /* likewise f16 and bf16 */

/* ---- what the words of an instruction do to a value ---- */
enum { FTZ = 1, SAT = 2 };

static inline uint32_t flush_bits(uint32_t u) {
  return u & 0x7f800000 ? u : u & 0x80000000;
}
static inline float flush_f32(float x, int how) {
  return how & FTZ ? f32_of(flush_bits(bits_of_f32(x))) : x;
}
/* The end of an f32 instruction: flushed, saturated, or the one NaN. */
static inline float end_f32(float r, int how) {
  if (how & FTZ)
    r = f32_of(flush_bits(bits_of_f32(r)));
  if (how & SAT) {
    r = r > 0 ? r : 0.0f; /* NaN and -0 too */
    return r < 1 ? r : 1.0f;
  }
  return r == r ? r : f32_of(NAN_F32);
}
/* The end of an f64 instruction: a NaN's payload passes, quiet; a NaN that is made here is the negative one
 * without payload. Of several operands that are NaNs a GPU passes on the first of those given here: see
 * callers. */
#define QUIET 0x0008000000000000u
static inline double end_f64(double r, double a, double b, double c) {
  uint64_t u = a != a   ? bits_of_f64(a) | QUIET
               : b != b ? bits_of_f64(b) | QUIET
               : c != c ? bits_of_f64(c) | QUIET
                        : 0xfff8000000000000u;
  return r == r ? r : f64_of(u);
}

/* Is a result, rounded as if there were no smallest exponent, below the normal numbers? A GPU flushes just
 * those, and what was rounded up from below to the smallest normal number is one. So the operation is done
 * once more, its result larger by 2^64. */
#define LARGER(x) ((x) * 0x1p64f)
static inline float unless_tiny(float r, float larger) {
  bool near = (bits_of_f32(r) & 0x7fffffff) <= 0x00800000; /* else `larger` may be what saturated */
  return (near & (__builtin_fabsf(larger) < 0x1p-62f)) ? f32_of(bits_of_f32(r) & 0x80000000) : r;
}

/* ---- rounding modes ---- */
enum { TO_NEAREST, TO_ZERO, DOWN, UP, AWAY }; /* AWAY: to nearest, ties away from zero */

static inline unsigned round_mode(unsigned word) {
  switch (word) {
  case PTX_ROUND_RZ:
  case PTX_ROUND_RZI:
    return TO_ZERO;
  case PTX_ROUND_RM:
  case PTX_ROUND_RMI:
    return DOWN;
  case PTX_ROUND_RP:
  case PTX_ROUND_RPI:
    return UP;
  case PTX_ROUND_RNA:
    return AWAY;
  }
  return TO_NEAREST;
}

#if defined(__SSE2__)
static inline unsigned round_to(unsigned mode) {
  static const uint16_t control[] = {0x0000, 0x6000, 0x2000, 0x4000};
  unsigned was, now;
  __asm__ volatile("stmxcsr %0" : "=m"(was) : : "memory");
  now = (was & ~0x6000u) | control[mode];
  __asm__ volatile("ldmxcsr %0" : : "m"(now) : "memory");
  return was;
}
static inline void round_back(unsigned was) {
  __asm__ volatile("ldmxcsr %0" : : "m"(was) : "memory");
}
#else
static inline unsigned round_to(unsigned mode) {
  static const int control[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
  unsigned was = (unsigned)fegetround();
  fesetround(control[mode]);
  __asm__ volatile("" : : : "memory");
  return was;
}
static inline void round_back(unsigned was) {
  __asm__ volatile("" : : : "memory");
  fesetround((int)was);
}
#endif

/* ---- in a direction ----
 * SIM_LANES1..4 with the rounding mode of o->imm and the words (FTZ, SAT) of o->y as `how`. */
#define DIRECTED             \
  const int how = (int)o->y; \
  (void)how;                 \
  unsigned was_ = round_to((unsigned)o->imm)
#define RESTORED round_back(was_)

/* ---- integer types: name, type of its lane, of its value, the unsigned type of its width ---- */
#define EACH_INT(X)                    \
  X(u16, uint32_t, uint16_t, uint16_t) \
  X(s16, uint32_t, int16_t, uint16_t)  \
  X(u32, uint32_t, uint32_t, uint32_t) \
  X(s32, uint32_t, int32_t, uint32_t)  \
  X(u64, uint64_t, uint64_t, uint64_t) \
  X(s64, uint64_t, int64_t, uint64_t)

#define USE_INT(op, t, name)                  \
  ((t) == PTX_U16   ? SIM_USE(op, name##_u16) \
   : (t) == PTX_S16 ? SIM_USE(op, name##_s16) \
   : (t) == PTX_U32 ? SIM_USE(op, name##_u32) \
   : (t) == PTX_S32 ? SIM_USE(op, name##_s32) \
   : (t) == PTX_U64 ? SIM_USE(op, name##_u64) \
                    : SIM_USE(op, name##_s64))

/* ---- predicates ---- */
/* Bit i of the result is lane i of m, all ones or 0. */
static inline uint32_t bits_of_lanes(const uint32_t m[SIM_LANES]) {
  uint32_t r = 0;
#if defined(__AVX512DQ__)
  for (unsigned i = 0; i < 2; i++)
    r |= (uint32_t)_mm512_movepi32_mask(_mm512_load_si512(m + 16 * i)) << 16 * i;
#elif defined(__AVX2__)
  for (unsigned i = 0; i < 4; i++)
    r |= (uint32_t)_mm256_movemask_ps(_mm256_load_ps((const float *)m + 8 * i)) << 8 * i;
#elif defined(__SSE2__)
  for (unsigned i = 0; i < 8; i++)
    r |= (uint32_t)_mm_movemask_ps(_mm_load_ps((const float *)m + 4 * i)) << 4 * i;
#else
  for (unsigned i = 0; i < SIM_LANES; i++)
    r |= m[i] & UINT32_C(1) << i;
#endif
  return r;
}
#define LANE_MASKS(m) uint32_t m[SIM_LANES] __attribute__((aligned(64)))

#endif
