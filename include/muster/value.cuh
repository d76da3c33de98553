// value.cuh: operations on values: half precision without a CUDA header, bits of floats, and the operations
// that reductions, scans and atomic loops share.
//
//   mu_pure_<op>_<elem>(a, b)   op: add sub mul min max (all elements), and or xor (integers), inc dec
//                               (unsigned, as the atomics of these names: a is the old value), exchange (b)
//   mu_same_<elem>(a, b)        whether a and b are the same bits
//
// Callers     any thread. No memory, no order.
// Overflow    integers wrap. Half precision is computed in f32 and rounded to nearest even, which is exact
//             rounding.
// NaN         min, max: the other operand, if that is none. -0 is below +0.
#ifndef MUSTER_VALUE_CUH
#define MUSTER_VALUE_CUH

#include "insn.cuh"

#if MU_DEVICE

typedef void *mu_ptr;

// The bits of a value and back.
MU_FN mu_u32 mu_bits_of_f32(mu_f32 value) {
  mu_u32 bits;
  MU_ASM("mov.b32 %0, %1;" : "=r"(bits) : "f"(value));
  return bits;
}
MU_FN mu_f32 mu_f32_of_bits(mu_u32 bits) {
  mu_f32 value;
  MU_ASM("mov.b32 %0, %1;" : "=f"(value) : "r"(bits));
  return value;
}
MU_FN mu_u64 mu_bits_of_f64(mu_f64 value) {
  mu_u64 bits;
  MU_ASM("mov.b64 %0, %1;" : "=l"(bits) : "d"(value));
  return bits;
}
MU_FN mu_f64 mu_f64_of_bits(mu_u64 bits) {
  mu_f64 value;
  MU_ASM("mov.b64 %0, %1;" : "=d"(value) : "l"(bits));
  return value;
}

// Half precision to single and back, rounded to nearest even.
MU_FN mu_f32 mu_f32_of_f16(mu_f16 value) {
  mu_f32 wide;
  MU_ASM("cvt.f32.f16 %0, %1;" : "=f"(wide) : "h"(value.bits));
  return wide;
}
MU_FN mu_f16 mu_f16_of_f32(mu_f32 value) {
  mu_f16 narrow;
  MU_ASM("cvt.rn.f16.f32 %0, %1;" : "=h"(narrow.bits) : "f"(value));
  return narrow;
}
MU_FN mu_f32 mu_f32_of_bf16(mu_bf16 value) {
  return mu_f32_of_bits((mu_u32)value.bits << 16);
}
MU_FN mu_bf16 mu_bf16_of_f32(mu_f32 value) {
  mu_u32 bits = mu_bits_of_f32(value);
  if (value != value)
    return mu_bf16_of_bits((mu_u16)(bits >> 16 | 0x40));
  return mu_bf16_of_bits((mu_u16)((bits + 0x7fff + (bits >> 16 & 1)) >> 16));
}
// The elements of a pair, and a pair of them.
MU_FN mu_f16 mu_f16_low(mu_f16x2 pair) {
  return mu_f16_of_bits((mu_u16)pair.bits);
}
MU_FN mu_f16 mu_f16_high(mu_f16x2 pair) {
  return mu_f16_of_bits((mu_u16)(pair.bits >> 16));
}
MU_FN mu_f16x2 mu_f16x2_of(mu_f16 low, mu_f16 high) {
  return mu_f16x2_of_bits(low.bits | (mu_u32)high.bits << 16);
}
MU_FN mu_bf16 mu_bf16_low(mu_bf16x2 pair) {
  return mu_bf16_of_bits((mu_u16)pair.bits);
}
MU_FN mu_bf16 mu_bf16_high(mu_bf16x2 pair) {
  return mu_bf16_of_bits((mu_u16)(pair.bits >> 16));
}
MU_FN mu_bf16x2 mu_bf16x2_of(mu_bf16 low, mu_bf16 high) {
  return mu_bf16x2_of_bits(low.bits | (mu_u32)high.bits << 16);
}

// The operations as functions of two values; other headers reduce and scan with them. Signed integers are
// added and multiplied as unsigned ones: they wrap.
#define MU_PURE(op, elem, expression)                               \
  MU_FN mu_##elem mu_pure_##op##_##elem(mu_##elem a, mu_##elem b) { \
    return (mu_##elem)(expression);                                 \
  }
#define MU_PURE_INTEGER(elem, wide)                       \
  MU_PURE(add, elem, (wide)a + (wide)b)                   \
  MU_PURE(mul, elem, (wide)a *(wide)b)                    \
  MU_PURE(min, elem, b < a ? b : a)                       \
  MU_PURE(max, elem, b > a ? b : a)                       \
  MU_PURE(and, elem, a &b)                                \
  MU_PURE(or, elem, a | b)                                \
  MU_PURE(xor, elem, a ^ b)                               \
  MU_PURE(sub, elem, (wide)a - (wide)b)                   \
  MU_PURE(exchange, elem, ((void)a, b))                   \
  MU_FN mu_u32 mu_same_##elem(mu_##elem a, mu_##elem b) { \
    return a == b;                                        \
  }
#define MU_PURE_COUNTER(elem)            \
  MU_PURE(inc, elem, a >= b ? 0 : a + 1) \
  MU_PURE(dec, elem, a == 0 || a > b ? b : (mu_##elem)(a - 1))
MU_PURE_INTEGER(u8, mu_u32)
MU_PURE_INTEGER(s8, mu_u32)
MU_PURE_INTEGER(u16, mu_u32)
MU_PURE_INTEGER(s16, mu_u32)
MU_PURE_INTEGER(u32, mu_u32)
MU_PURE_INTEGER(s32, mu_u32)
MU_PURE_INTEGER(u64, mu_u64)
MU_PURE_INTEGER(s64, mu_u64)
MU_PURE_COUNTER(u8)
MU_PURE_COUNTER(u16)
MU_PURE_COUNTER(u32)
MU_PURE_COUNTER(u64)

// b, where it beats a: not when it is NaN; when a is NaN. -0 is below +0.
#define MU_PURE_FLOAT(elem, bits)                                                             \
  MU_PURE(add, elem, a + b)                                                                   \
  MU_PURE(sub, elem, a - b)                                                                   \
  MU_PURE(mul, elem, a *b)                                                                    \
  MU_PURE(min, elem, b < a || (a != a) || (a == b && (bits)mu_bits_of_##elem(b) < 0) ? b : a) \
  MU_PURE(max, elem, b > a || (a != a) || (a == b && (bits)mu_bits_of_##elem(a) < 0) ? b : a) \
  MU_PURE(exchange, elem, ((void)a, b))                                                       \
  MU_FN mu_u32 mu_same_##elem(mu_##elem a, mu_##elem b) {                                     \
    return mu_bits_of_##elem(a) == mu_bits_of_##elem(b);                                      \
  }
MU_PURE_FLOAT(f32, mu_s32)
MU_PURE_FLOAT(f64, mu_s64)

#define MU_PURE_HALF_OP(op, elem)                                                            \
  MU_FN mu_##elem mu_pure_##op##_##elem(mu_##elem a, mu_##elem b) {                          \
    return mu_##elem##_of_f32(mu_pure_##op##_f32(mu_f32_of_##elem(a), mu_f32_of_##elem(b))); \
  }
#define MU_PURE_HALF(elem)                                            \
  MU_PURE_HALF_OP(add, elem)                                          \
  MU_PURE_HALF_OP(sub, elem)                                          \
  MU_PURE_HALF_OP(mul, elem)                                          \
  MU_PURE_HALF_OP(min, elem)                                          \
  MU_PURE_HALF_OP(max, elem)                                          \
  MU_FN mu_##elem mu_pure_exchange_##elem(mu_##elem a, mu_##elem b) { \
    (void)a;                                                          \
    return b;                                                         \
  }
MU_PURE_HALF(f16)
MU_PURE_HALF(bf16)
MU_FN mu_f16x2 mu_pure_add_f16x2(mu_f16x2 a, mu_f16x2 b) {
  return mu_f16x2_of(mu_pure_add_f16(mu_f16_low(a), mu_f16_low(b)),
                     mu_pure_add_f16(mu_f16_high(a), mu_f16_high(b)));
}
MU_FN mu_bf16x2 mu_pure_add_bf16x2(mu_bf16x2 a, mu_bf16x2 b) {
  return mu_bf16x2_of(mu_pure_add_bf16(mu_bf16_low(a), mu_bf16_low(b)),
                      mu_pure_add_bf16(mu_bf16_high(a), mu_bf16_high(b)));
}
#define MU_SAME_BITS(elem)                                \
  MU_FN mu_u32 mu_same_##elem(mu_##elem a, mu_##elem b) { \
    return a.bits == b.bits;                              \
  }
MU_SAME_BITS(f16)
MU_SAME_BITS(bf16)
MU_SAME_BITS(f16x2)
MU_SAME_BITS(bf16x2)

#endif
#endif
