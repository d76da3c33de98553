/* int.c: integer arithmetic: add, sub, mul, mad, mul24, mad24, sad, div, rem, abs, neg, min, max.
 *
 * Everything wraps. Division by zero gives all ones, also as the remainder, the most
 * negative number by -1 gives itself, as on a GPU. Carries are in carry.c. Results of 16 bits leave the upper
 * half of the lane zero: each expression ends in the unsigned type of its width.
 */
#include "sim/exec/arith.h"

#define ADD(t, L, V, U) SIM_HANDLER2(add_##t, L, L, L, (U)(a + b))
#define SUB(t, L, V, U) SIM_HANDLER2(sub_##t, L, L, L, (U)(a - b))
#define MUL_LO(t, L, V, U) SIM_HANDLER2(mul_lo_##t, L, L, L, (U)(a * b))
#define MAD_LO(t, L, V, U) SIM_HANDLER3(mad_lo_##t, L, L, L, L, (U)(a * b + c))
EACH_INT(ADD)
EACH_INT(SUB)
EACH_INT(MUL_LO)
EACH_INT(MAD_LO)

/* The high half of a product. */
static inline uint16_t hi_u16(uint16_t a, uint16_t b) {
  return (uint16_t)((uint32_t)a * b >> 16);
}
static inline uint16_t hi_s16(int16_t a, int16_t b) {
  return (uint16_t)((uint32_t)((int32_t)a * b) >> 16);
}
static inline uint32_t hi_u32(uint32_t a, uint32_t b) {
  return (uint32_t)((uint64_t)a * b >> 32);
}
static inline uint32_t hi_s32(int32_t a, int32_t b) {
  return (uint32_t)((uint64_t)((int64_t)a * b) >> 32);
}
__extension__ typedef unsigned __int128 u128;
__extension__ typedef __int128 s128;
static inline uint64_t hi_u64(uint64_t a, uint64_t b) {
  return (uint64_t)((u128)a * b >> 64);
}
static inline uint64_t hi_s64(int64_t a, int64_t b) {
  return (uint64_t)((u128)((s128)a * b) >> 64);
}
#define MUL_HI(t, L, V, U) SIM_HANDLER2(mul_hi_##t, L, L, L, hi_##t((V)a, (V)b))
#define MAD_HI(t, L, V, U) SIM_HANDLER3(mad_hi_##t, L, L, L, L, (U)(hi_##t((V)a, (V)b) + c))
EACH_INT(MUL_HI)
EACH_INT(MAD_HI)

#define WIDE(t, A, V, D)                                      \
  SIM_HANDLER2(mul_wide_##t, D, A, A, (D)((D)(V)a * (D)(V)b)) \
  SIM_HANDLER3(mad_wide_##t, D, A, A, D, (D)((D)(V)a * (D)(V)b + c))
WIDE(u16, uint32_t, uint16_t, uint32_t)
WIDE(s16, uint32_t, int16_t, uint32_t)
WIDE(u32, uint32_t, uint32_t, uint64_t)
WIDE(s32, uint32_t, int32_t, uint64_t)

/* Indices times the size of an element: by a power of two, 2^imm. */
SIM_LANES1(widen_s32, uint64_t, int32_t, const unsigned by = (unsigned)o->imm, SIM_NOTHING,
           (uint64_t)(int64_t)a << by)
SIM_LANES1(widen_u32, uint64_t, uint32_t, const unsigned by = (unsigned)o->imm, SIM_NOTHING,
           (uint64_t)a << by)

/* Sums with saturation, without leaving 32 bits. */
static inline uint32_t add_sat(uint32_t a, uint32_t b) {
  uint32_t r = a + b, over = (a ^ r) & (b ^ r);
  return (int32_t)over < 0 ? (uint32_t)((int32_t)a >> 31) ^ 0x7fffffff : r;
}
static inline uint32_t sub_sat(uint32_t a, uint32_t b) {
  uint32_t r = a - b, over = (a ^ b) & (a ^ r);
  return (int32_t)over < 0 ? (uint32_t)((int32_t)a >> 31) ^ 0x7fffffff : r;
}
SIM_HANDLER2(add_sat_s32, uint32_t, uint32_t, uint32_t, add_sat(a, b))
SIM_HANDLER2(sub_sat_s32, uint32_t, uint32_t, uint32_t, sub_sat(a, b))
SIM_HANDLER3(mad_hi_sat_s32, uint32_t, uint32_t, uint32_t, uint32_t,
             add_sat(hi_s32((int32_t)a, (int32_t)b), c))

/* 24 bits: the product has 48, lo means the lowest 32 of them, hi the highest. */
static inline uint64_t product24_u32(uint32_t a, uint32_t b) {
  return (uint64_t)(a & 0xffffff) * (b & 0xffffff);
}
static inline uint64_t product24_s32(uint32_t a, uint32_t b) {
  return (uint64_t)((int64_t)((int32_t)(a << 8) >> 8) * ((int32_t)(b << 8) >> 8));
}
#define MUL24(t)                                                                                        \
  SIM_HANDLER2(mul24_lo_##t, uint32_t, uint32_t, uint32_t, product24_##t(a, b))                         \
  SIM_HANDLER2(mul24_hi_##t, uint32_t, uint32_t, uint32_t, product24_##t(a, b) >> 16)                   \
  SIM_HANDLER3(mad24_lo_##t, uint32_t, uint32_t, uint32_t, uint32_t, (uint32_t)product24_##t(a, b) + c) \
  SIM_HANDLER3(mad24_hi_##t, uint32_t, uint32_t, uint32_t, uint32_t,                                    \
               (uint32_t)(product24_##t(a, b) >> 16) + c)
MUL24(u32)
MUL24(s32)
SIM_HANDLER3(mad24_hi_sat_s32, uint32_t, uint32_t, uint32_t, uint32_t,
             add_sat((uint32_t)(product24_s32(a, b) >> 16), c))

#define SAD(t, L, V, U) SIM_HANDLER3(sad_##t, L, L, L, L, (U)(((V)a < (V)b ? (U)b - (U)a : (U)a - (U)b) + c))
EACH_INT(SAD)

#define DIVISION(t, L, V, U, MIN)                                 \
  static inline U div_one_##t(V a, V b) {                         \
    if (b == 0)                                                   \
      return (U) ~(U)0;                                           \
    return MIN && (U)b == (U) ~(U)0 ? (U)(0 - (U)a) : (U)(a / b); \
  }                                                               \
  static inline U rem_one_##t(V a, V b) {                         \
    if (b == 0)                                                   \
      return (U) ~(U)0;                                           \
    return MIN && (U)b == (U) ~(U)0 ? (U)0 : (U)(a % b);          \
  }                                                               \
  SIM_HANDLER2(div_##t, L, L, L, div_one_##t((V)a, (V)b))         \
  SIM_HANDLER2(rem_##t, L, L, L, rem_one_##t((V)a, (V)b))
DIVISION(u16, uint32_t, uint16_t, uint16_t, 0)
DIVISION(s16, uint32_t, int16_t, uint16_t, 1)
DIVISION(u32, uint32_t, uint32_t, uint32_t, 0)
DIVISION(s32, uint32_t, int32_t, uint32_t, 1)
DIVISION(u64, uint64_t, uint64_t, uint64_t, 0)
DIVISION(s64, uint64_t, int64_t, uint64_t, 1)

#define ABS(t, L, V, U)                                           \
  SIM_HANDLER1(abs_##t, L, L, (U)((V)a < 0 ? (U)0 - (U)a : (U)a)) \
  SIM_HANDLER1(neg_##t, L, L, (U)(0 - (U)a))
ABS(s16, uint32_t, int16_t, uint16_t)
ABS(s32, uint32_t, int32_t, uint32_t)
ABS(s64, uint64_t, int64_t, uint64_t)

#define MINMAX(t, L, V, U)                            \
  SIM_HANDLER2(min_##t, L, L, L, (V)b < (V)a ? b : a) \
  SIM_HANDLER2(max_##t, L, L, L, (V)b > (V)a ? b : a)
EACH_INT(MINMAX)

/* Pairs of half-words. */
#define PAIR(f, T, a, b) \
  ((uint32_t)(uint16_t)f((T)(a), (T)(b)) | (uint32_t)(uint16_t)f((T)((a) >> 16), (T)((b) >> 16)) << 16)
#define SUM(x, y) ((x) + (y))
#define LESS(x, y) ((x) < (y) ? (x) : (y))
#define MORE(x, y) ((x) > (y) ? (x) : (y))
#define NOT_NEGATIVE(x) ((x) < 0 ? 0 : (x))
#define LESS_RELU(x, y) NOT_NEGATIVE(LESS(x, y))
#define MORE_RELU(x, y) NOT_NEGATIVE(MORE(x, y))
SIM_HANDLER2(add_x2, uint32_t, uint32_t, uint32_t, PAIR(SUM, uint16_t, a, b))
SIM_HANDLER2(min_u16x2, uint32_t, uint32_t, uint32_t, PAIR(LESS, uint16_t, a, b))
SIM_HANDLER2(max_u16x2, uint32_t, uint32_t, uint32_t, PAIR(MORE, uint16_t, a, b))
SIM_HANDLER2(min_s16x2, uint32_t, uint32_t, uint32_t, PAIR(LESS, int16_t, a, b))
SIM_HANDLER2(max_s16x2, uint32_t, uint32_t, uint32_t, PAIR(MORE, int16_t, a, b))
SIM_HANDLER2(min_relu_s16x2, uint32_t, uint32_t, uint32_t, PAIR(LESS_RELU, int16_t, a, b))
SIM_HANDLER2(max_relu_s16x2, uint32_t, uint32_t, uint32_t, PAIR(MORE_RELU, int16_t, a, b))
SIM_HANDLER2(min_relu_s32, uint32_t, int32_t, int32_t, LESS_RELU(a, b))
SIM_HANDLER2(max_relu_s32, uint32_t, int32_t, int32_t, MORE_RELU(a, b))

static bool select_minmax(sim_op *op, unsigned t, bool relu, bool max) {
  if (t == PTX_U16X2)
    return max ? SIM_USE(op, max_u16x2) : SIM_USE(op, min_u16x2);
  if (t == PTX_S16X2 && relu)
    return max ? SIM_USE(op, max_relu_s16x2) : SIM_USE(op, min_relu_s16x2);
  if (t == PTX_S16X2)
    return max ? SIM_USE(op, max_s16x2) : SIM_USE(op, min_s16x2);
  if (relu)
    return max ? SIM_USE(op, max_relu_s32) : SIM_USE(op, min_relu_s32);
  return max ? USE_INT(op, t, max) : USE_INT(op, t, min);
}

#define USE_WIDE(op, t, name)                 \
  ((t) == PTX_U16   ? SIM_USE(op, name##_u16) \
   : (t) == PTX_S16 ? SIM_USE(op, name##_s16) \
   : (t) == PTX_U32 ? SIM_USE(op, name##_u32) \
                    : SIM_USE(op, name##_s32))
#define USE_SIGNED(op, t, name)               \
  ((t) == PTX_S16   ? SIM_USE(op, name##_s16) \
   : (t) == PTX_S32 ? SIM_USE(op, name##_s32) \
                    : SIM_USE(op, name##_s64))
#define USE_32(op, t, name) ((t) == PTX_U32 ? SIM_USE(op, name##_u32) : SIM_USE(op, name##_s32))

static bool select_wide(const ptx_body *body, const ptx_insn *i, sim_op *op, unsigned t) {
  const ptx_operand *by = sim_operand(body, i, 2);
  uint32_t factor = (uint32_t)by->bits;
  if (ptx_type_bits(t) == 32 && by->kind == PTX_IMM && (int32_t)factor > 0 && !(factor & (factor - 1))) {
    op->imm = (unsigned)__builtin_ctz(factor);
    return t == PTX_S32 ? SIM_USE(op, widen_s32) : SIM_USE(op, widen_u32);
  }
  return USE_WIDE(op, t, mul_wide);
}

static bool select_mad(const ptx_insn *i, sim_op *op, unsigned t) {
  if (i->mods.part == PTX_PART_WIDE)
    return USE_WIDE(op, t, mad_wide);
  if (i->mods.part == PTX_PART_LO)
    return USE_INT(op, t, mad_lo);
  return i->mods.sat ? SIM_USE(op, mad_hi_sat_s32) : USE_INT(op, t, mad_hi);
}

static bool select_24(const ptx_insn *i, sim_op *op, unsigned t, bool mad) {
  if (mad && i->mods.sat)
    return SIM_USE(op, mad24_hi_sat_s32);
  if (i->mods.part == PTX_PART_LO)
    return mad ? USE_32(op, t, mad24_lo) : USE_32(op, t, mul24_lo);
  return mad ? USE_32(op, t, mad24_hi) : USE_32(op, t, mul24_hi);
}

sim_select SIM_LEVELED(sim_select_int);
bool SIM_LEVELED(sim_select_int)(sim_build *w, const ptx_body *body, const ptx_insn *i, sim_op *op) {
  (void)w;
  unsigned t = i->type[0];
  switch (i->op) {
  case PTX_OP_add_int:
    return t == PTX_U16X2 || t == PTX_S16X2 ? SIM_USE(op, add_x2)
           : i->mods.sat                    ? SIM_USE(op, add_sat_s32)
                                            : USE_INT(op, t, add);
  case PTX_OP_sub_int:
    return i->mods.sat ? SIM_USE(op, sub_sat_s32) : USE_INT(op, t, sub);
  case PTX_OP_mul_int:
    return i->mods.part == PTX_PART_WIDE ? select_wide(body, i, op, t)
           : i->mods.part == PTX_PART_HI ? USE_INT(op, t, mul_hi)
                                         : USE_INT(op, t, mul_lo);
  case PTX_OP_mad_int:
    return select_mad(i, op, t);
  case PTX_OP_mul24_int:
    return select_24(i, op, t, false);
  case PTX_OP_mad24_int:
    return select_24(i, op, t, true);
  case PTX_OP_sad_int:
    return USE_INT(op, t, sad);
  case PTX_OP_div_int:
    return USE_INT(op, t, div);
  case PTX_OP_rem_int:
    return USE_INT(op, t, rem);
  case PTX_OP_abs_int:
    return USE_SIGNED(op, t, abs);
  case PTX_OP_neg_int:
    return USE_SIGNED(op, t, neg);
  case PTX_OP_min_int:
    return select_minmax(op, t, i->mods.relu, false);
  case PTX_OP_max_int:
    return select_minmax(op, t, i->mods.relu, true);
  }
  return false;
}
