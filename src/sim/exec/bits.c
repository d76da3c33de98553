/* bits.c: counting, finding and moving bits: popc, clz, bfind, fns, brev, bfe, bfi, szext, bmsk; and the dot
 * products of bytes, dp4a and dp2a.
 *
 * Places and counts of bits that are out of range mean what PTX says, never C's undefined shifts.
 */
#include "sim/exec/arith.h"

static inline uint32_t ones_32(uint32_t x) {
  x -= x >> 1 & 0x55555555;
  x = (x & 0x33333333) + (x >> 2 & 0x33333333);
  return ((x + (x >> 4)) & 0x0f0f0f0f) * 0x01010101 >> 24;
}
static inline uint32_t ones_64(uint64_t x) {
  return ones_32((uint32_t)x) + ones_32((uint32_t)(x >> 32));
}
static inline uint32_t zeros_32(uint32_t x) {
  return x ? (uint32_t)__builtin_clz(x) : 32;
}
static inline uint32_t zeros_64(uint64_t x) {
  return x ? (uint32_t)__builtin_clzll(x) : 64;
}
static inline uint32_t reversed_32(uint32_t x) {
  x = (x & 0x55555555) << 1 | (x >> 1 & 0x55555555);
  x = (x & 0x33333333) << 2 | (x >> 2 & 0x33333333);
  x = (x & 0x0f0f0f0f) << 4 | (x >> 4 & 0x0f0f0f0f);
  x = (x & 0x00ff00ff) << 8 | (x >> 8 & 0x00ff00ff);
  return x << 16 | x >> 16;
}
static inline uint64_t reversed_64(uint64_t x) {
  return (uint64_t)reversed_32((uint32_t)x) << 32 | reversed_32((uint32_t)(x >> 32));
}
SIM_HANDLER1(popc_32, uint32_t, uint32_t, ones_32(a))
SIM_HANDLER1(popc_64, uint32_t, uint64_t, ones_64(a))
SIM_HANDLER1(clz_32, uint32_t, uint32_t, zeros_32(a))
SIM_HANDLER1(clz_64, uint32_t, uint64_t, zeros_64(a))
SIM_HANDLER1(brev_32, uint32_t, uint32_t, reversed_32(a))
SIM_HANDLER1(brev_64, uint64_t, uint64_t, reversed_64(a))

/* The highest bit that is not a sign bit, as its place or as the shift that brings it to the top. */
#define NO_SIGN_32(a) ((a) ^ (uint32_t)((int32_t)(a) >> 31))
#define NO_SIGN_64(a) ((a) ^ (uint64_t)((int64_t)(a) >> 63))
#define FIND(t, L, width, x)                                                            \
  SIM_HANDLER1(bfind_##t, uint32_t, L, (x) ? width - 1 - zeros_##width(x) : UINT32_MAX) \
  SIM_HANDLER1(bfind_shiftamt_##t, uint32_t, L, (x) ? zeros_##width(x) : UINT32_MAX)
FIND(u32, uint32_t, 32, a)
FIND(s32, uint32_t, 32, NO_SIGN_32(a))
FIND(u64, uint64_t, 64, a)
FIND(s64, uint64_t, 64, NO_SIGN_64(a))

/* The |n|-th one from the base on, upwards for n > 0, downwards for n < 0; n = 0 asks for the base itself. */
static inline uint32_t find_nth(uint32_t mask, uint32_t base, int32_t n) {
  if (base > 31)
    return UINT32_MAX;
  if (n == 0)
    return mask >> base & 1 ? base : UINT32_MAX;
  int step = n > 0 ? 1 : -1;
  uint32_t left = n > 0 ? (uint32_t)n : 0 - (uint32_t)n;
  for (int at = (int)base; at >= 0 && at < 32; at += step)
    if (mask >> at & 1 && --left == 0)
      return (uint32_t)at;
  return UINT32_MAX;
}
SIM_HANDLER3(fns, uint32_t, uint32_t, uint32_t, uint32_t, find_nth(a, b, (int32_t)c))

/* Place and length of a field are the low bytes of their registers. PTX promises no more than 0 to 255; GPUs
 * take larger ones as such in 64 bits, where they have no instruction, and so do we. */
static inline uint32_t field_u32(uint32_t a, uint32_t at, uint32_t n) {
  at &= 255, n &= 255;
  uint32_t x = at > 31 ? 0 : a >> at;
  return n > 31 ? x : x & ((UINT32_C(1) << n) - 1);
}
static inline uint32_t field_s32(uint32_t a, uint32_t at, uint32_t n) {
  at &= 255, n &= 255;
  uint32_t x = (uint32_t)((int32_t)a >> (at > 31 ? 31 : at));
  uint32_t rest = n > 31 ? 0 : n == 0 ? 31 : 32 - n;
  return n == 0 ? 0 : (uint32_t)((int32_t)(x << rest) >> rest);
}
static inline uint64_t field_u64(uint64_t a, uint32_t at, uint32_t n) {
  uint64_t x = at > 63 ? 0 : a >> at;
  return n > 63 ? x : x & ((UINT64_C(1) << n) - 1);
}
static inline uint64_t field_s64(uint64_t a, uint32_t at, uint32_t n) {
  uint64_t x = (uint64_t)((int64_t)a >> (at > 63 ? 63 : at));
  uint32_t rest = n > 63 ? 0 : n == 0 ? 63 : 64 - n;
  return n == 0 ? 0 : (uint64_t)((int64_t)(x << rest) >> rest);
}
SIM_HANDLER3(bfe_u32, uint32_t, uint32_t, uint32_t, uint32_t, field_u32(a, b, c))
SIM_HANDLER3(bfe_s32, uint32_t, uint32_t, uint32_t, uint32_t, field_s32(a, b, c))
SIM_HANDLER3(bfe_u64, uint64_t, uint64_t, uint32_t, uint32_t, field_u64(a, b, c))
SIM_HANDLER3(bfe_s64, uint64_t, uint64_t, uint32_t, uint32_t, field_s64(a, b, c))

static inline uint32_t insert_32(uint32_t a, uint32_t b, uint32_t at, uint32_t n) {
  at &= 255, n &= 255;
  uint32_t m = n > 31 ? UINT32_MAX : (UINT32_C(1) << n) - 1;
  return at > 31 ? b : (b & ~(m << at)) | (a & m) << at;
}
static inline uint64_t insert_64(uint64_t a, uint64_t b, uint32_t at, uint32_t n) {
  uint64_t m = n > 63 ? UINT64_MAX : (UINT64_C(1) << n) - 1;
  return at > 63 ? b : (b & ~(m << at)) | (a & m) << at;
}
SIM_LANES4(bfi_32, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, SIM_NOTHING, SIM_NOTHING,
           insert_32(a, b, c, e))
SIM_LANES4(bfi_64, uint64_t, uint64_t, uint64_t, uint32_t, uint32_t, SIM_NOTHING, SIM_NOTHING,
           insert_64(a, b, c, e))

/* Extension from the low n bits; wrap: n modulo 32, clamp: 32 and more take all bits. */
static inline uint32_t extend(uint32_t a, uint32_t n, int sign, int clamp) {
  if (clamp && n >= 32)
    return a;
  n &= 31;
  if (n == 0)
    return 0;
  return sign ? (uint32_t)((int32_t)(a << (32 - n)) >> (32 - n)) : a & ((UINT32_C(1) << n) - 1);
}
SIM_HANDLER2(szext_wrap_u32, uint32_t, uint32_t, uint32_t, extend(a, b, 0, 0))
SIM_HANDLER2(szext_wrap_s32, uint32_t, uint32_t, uint32_t, extend(a, b, 1, 0))
SIM_HANDLER2(szext_clamp_u32, uint32_t, uint32_t, uint32_t, extend(a, b, 0, 1))
SIM_HANDLER2(szext_clamp_s32, uint32_t, uint32_t, uint32_t, extend(a, b, 1, 1))

/* n ones from place `at` on; what sticks out above is lost. */
static inline uint32_t ones_at(uint32_t at, uint32_t n, int clamp) {
  if (!clamp)
    at &= 31, n &= 31;
  if (at > 31)
    return 0;
  return (n > 31 ? UINT32_MAX : (UINT32_C(1) << n) - 1) << at;
}
SIM_HANDLER2(bmsk_wrap, uint32_t, uint32_t, uint32_t, ones_at(a, b, 0))
SIM_HANDLER2(bmsk_clamp, uint32_t, uint32_t, uint32_t, ones_at(a, b, 1))

/* Products of bytes of b with bytes (dp4a) or half-words (dp2a) of a. */
#define BYTE_u(x, i) ((uint8_t)((x) >> 8 * (i)))
#define BYTE_s(x, i) ((int8_t)((x) >> 8 * (i)))
#define HALF_u(x, i) ((uint16_t)((x) >> 16 * (i)))
#define HALF_s(x, i) ((int16_t)((x) >> 16 * (i)))
#define DP4(s, t, i) (uint32_t)((int32_t)BYTE_##s(a, i) * (int32_t)BYTE_##t(b, i))
#define DP2(s, t, i, j) (uint32_t)((int32_t)HALF_##s(a, i) * (int32_t)BYTE_##t(b, j))
#define DOT(s, t)                                                             \
  SIM_HANDLER3(dp4a_##s##t, uint32_t, uint32_t, uint32_t, uint32_t,           \
               c + DP4(s, t, 0) + DP4(s, t, 1) + DP4(s, t, 2) + DP4(s, t, 3)) \
  SIM_HANDLER3(dp2a_lo_##s##t, uint32_t, uint32_t, uint32_t, uint32_t,        \
               c + DP2(s, t, 0, 0) + DP2(s, t, 1, 1))                         \
  SIM_HANDLER3(dp2a_hi_##s##t, uint32_t, uint32_t, uint32_t, uint32_t, c + DP2(s, t, 0, 2) + DP2(s, t, 1, 3))
DOT(u, u)
DOT(u, s)
DOT(s, u)
DOT(s, s)

#define USE_DOT(op, i, name)                                                                             \
  ((i)->type[0] == PTX_U32 ? ((i)->type[1] == PTX_U32 ? SIM_USE(op, name##_uu) : SIM_USE(op, name##_us)) \
                           : ((i)->type[1] == PTX_U32 ? SIM_USE(op, name##_su) : SIM_USE(op, name##_ss)))
#define USE_TYPE(op, t, name)                 \
  ((t) == PTX_U32   ? SIM_USE(op, name##_u32) \
   : (t) == PTX_S32 ? SIM_USE(op, name##_s32) \
   : (t) == PTX_U64 ? SIM_USE(op, name##_u64) \
                    : SIM_USE(op, name##_s64))
#define USE_BITS(op, wide, name) ((wide) ? SIM_USE(op, name##_64) : SIM_USE(op, name##_32))

sim_select SIM_LEVELED(sim_select_bits);
bool SIM_LEVELED(sim_select_bits)(sim_build *w, const ptx_body *body, const ptx_insn *i, sim_op *op) {
  unsigned t = i->type[0];
  bool wide = ptx_type_bits(t) == 64, clamp = i->mods.shift == PTX_SHIFT_CLAMP, sign = t == PTX_S32;
  switch (i->op) {
  case PTX_OP_popc_bits:
    return USE_BITS(op, wide, popc);
  case PTX_OP_clz_bits:
    return USE_BITS(op, wide, clz);
  case PTX_OP_brev_bits:
    return USE_BITS(op, wide, brev);
  case PTX_OP_bfind_bits:
    return i->mods.shiftamt ? USE_TYPE(op, t, bfind_shiftamt) : USE_TYPE(op, t, bfind);
  case PTX_OP_fns_bits:
    return SIM_USE(op, fns);
  case PTX_OP_bfe_bits:
    return USE_TYPE(op, t, bfe);
  case PTX_OP_bfi_bits:
    op->x = sim_place_at(w, body, sim_operand(body, i, 4));
    return USE_BITS(op, wide, bfi);
  case PTX_OP_szext_bits:
    if (sign)
      return clamp ? SIM_USE(op, szext_clamp_s32) : SIM_USE(op, szext_wrap_s32);
    return clamp ? SIM_USE(op, szext_clamp_u32) : SIM_USE(op, szext_wrap_u32);
  case PTX_OP_bmsk_bits:
    return clamp ? SIM_USE(op, bmsk_clamp) : SIM_USE(op, bmsk_wrap);
  case PTX_OP_dp4a_bits:
    return USE_DOT(op, i, dp4a);
  case PTX_OP_dp2a_bits:
    return i->mods.part == PTX_PART_LO ? USE_DOT(op, i, dp2a_lo) : USE_DOT(op, i, dp2a_hi);
  }
  return false;
}
