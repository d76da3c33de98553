// atomic.cuh: the complete set of atomic operations, for every element type, order and scope.
//
//   mu_<op>_<order>_<scope>_<elem>(address, operand)    returns the old value
//   mu_red_<op>_<relaxed|release>_<scope>_<elem>(address, operand)    the same without it
//   mu_cas_<order>_<scope>_<elem>(address, expected, desired)
//   mu_update_<order>_<scope>_<elem>(address, function, context)    any function of the old value
//
// order: relaxed, acquire, release, acq_rel. scope: block, cluster, device, system. What is one instruction
// comes from insn.cuh, all else from here, under the same names (atomic.def has the list):
//
//   add sub mul min max   u8 s8 u16 s16 u32 s32 u64 s64 f16 bf16 f32 f64; add, sub also f16x2 bf16x2
//   inc                   u8 u16 u32 u64: old >= operand ? 0 : old + 1
//   dec                   u8 u16 u32 u64: old == 0 || old > operand ? operand : old - 1
//   and or xor            u8 u16 u32 s32 u64 s64
//   exchange cas          all of them and ptr; b128 from 9.0 on
//
// Callers     any thread, alone; the address may lie in global or shared memory, aligned to the element.
// Order       as named. A loop that finds nothing to change (relaxed minimum or maximum) writes nothing.
// Overflow    integers wrap. Half precision is computed in f32 and rounded to nearest even, subnormals kept.
// NaN         min, max: an operand that is NaN changes nothing; -0 is below +0. f32, f64: the word itself
//             must not hold a NaN. cas and the loops compare bits, so a NaN cannot make them spin.
// Undefined   if 8- and 16-bit elements (8-bit only, from 7.0 on) are accessed by others with plain accesses
//             in the same aligned 32-bit word at the same time: they are made of operations on that word.
// Cost        one instruction, or a loop of loads and compare-and-swaps whose length grows with contention.
#ifndef MUSTER_ATOMIC_CUH
#define MUSTER_ATOMIC_CUH

#include "value.cuh"

#if MU_DEVICE

// Where an element of 8 or 16 bits lies: its word, and how far up in it.
MU_OWN mu_u32 *mu_word_around(const void *address) {
  return (mu_u32 *)((mu_u64)address & ~3ull);
}
MU_OWN mu_u32 mu_shift_of(const void *address) {
  return (mu_u32)((mu_u64)address & 3) * 8;
}

// Compare-and-swap of an element that the architecture cannot swap: swap its word, as often as its neighbours
// change meanwhile.
#define MU_CAS_SMALL(order, scope, elem, bits, get, make, mask)                                        \
  MU_FN mu_##elem mu_cas_##order##_##scope##_##elem(mu_##elem *address, mu_##elem expected,            \
                                                    mu_##elem desired) {                               \
    mu_u32 *word = mu_word_around(address), shift = mu_shift_of(address);                              \
    mu_u32 hole = ~((mu_u32)(mask) << shift), old = mu_load_relaxed_##scope##_u32(word), now;          \
    mu_u32 want = (mu_u32)(bits)get(bits, expected) << shift, put = (mu_u32)(bits)get(bits, desired)   \
                                                                    << shift;                          \
    for (;;) {                                                                                         \
      /* a value that differs is confirmed by a swap of the word for itself: that too has the order */ \
      mu_u32 next = (old & ~hole) == want ? (old & hole) | put : old;                                  \
      now = mu_cas_##order##_##scope##_u32(word, old, next);                                           \
      if (now == old)                                                                                  \
        return make(elem, (bits)(old >> shift));                                                       \
      old = now;                                                                                       \
    }                                                                                                  \
  }
MU_EACH_ATOM(MU_CAS_SMALL, u8, mu_u8, MU_GET_VALUE, MU_MAKE_VALUE, 0xff)
MU_EACH_ATOM(MU_CAS_SMALL, s8, mu_u8, MU_GET_VALUE, MU_MAKE_VALUE, 0xff)
#if MU_ARCH < 700
MU_EACH_ATOM(MU_CAS_SMALL, u16, mu_u16, MU_GET_VALUE, MU_MAKE_VALUE, 0xffff)
MU_EACH_ATOM(MU_CAS_SMALL, s16, mu_u16, MU_GET_VALUE, MU_MAKE_VALUE, 0xffff)
MU_EACH_ATOM(MU_CAS_SMALL, f16, mu_u16, MU_GET_BITS, MU_MAKE_BITS, 0xffff)
MU_EACH_ATOM(MU_CAS_SMALL, bf16, mu_u16, MU_GET_BITS, MU_MAKE_BITS, 0xffff)
#endif
#define MU_CAS_PTR(order, scope, unused)                                                          \
  MU_FN mu_ptr mu_cas_##order##_##scope##_ptr(mu_ptr *address, mu_ptr expected, mu_ptr desired) { \
    return (mu_ptr)mu_cas_##order##_##scope##_u64((mu_u64 *)(void *)address, (mu_u64)expected,    \
                                                  (mu_u64)desired);                               \
  }
MU_EACH_ATOM(MU_CAS_PTR, )

#define MU_ORDERS_relaxed 0
#define MU_ORDERS_acquire 1
#define MU_ORDERS_release 1
#define MU_ORDERS_acq_rel 1
// The loop. Without an order to keep, nothing to change means nothing to do.
#define MU_HOW_LOOP(order, scope, op, elem)                                                     \
  MU_FN mu_##elem mu_##op##_##order##_##scope##_##elem(mu_##elem *address, mu_##elem operand) { \
    mu_##elem old = mu_load_relaxed_##scope##_##elem(address), now, next;                       \
    for (;;) {                                                                                  \
      next = mu_pure_##op##_##elem(old, operand);                                               \
      if (!MU_ORDERS_##order && mu_same_##elem(old, next))                                      \
        return old;                                                                             \
      now = mu_cas_##order##_##scope##_##elem(address, old, next);                              \
      if (mu_same_##elem(now, old))                                                             \
        return old;                                                                             \
      old = now;                                                                                \
    }                                                                                           \
  }
#define MU_NEGATIVE_u32(x) (0 - (x))
#define MU_NEGATIVE_s32(x) ((mu_s32)(0 - (mu_u32)(x)))
#define MU_NEGATIVE_u64(x) (0 - (x))
#define MU_NEGATIVE_s64(x) ((mu_s64)(0 - (mu_u64)(x)))
#define MU_NEGATIVE_f32(x) (-(x))
#define MU_NEGATIVE_f64(x) (-(x))
#define MU_NEGATIVE_f16(x) mu_f16_of_bits((x).bits ^ 0x8000)
#define MU_NEGATIVE_bf16(x) mu_bf16_of_bits((x).bits ^ 0x8000)
#define MU_NEGATIVE_f16x2(x) mu_f16x2_of_bits((x).bits ^ 0x80008000u)
#define MU_NEGATIVE_bf16x2(x) mu_bf16x2_of_bits((x).bits ^ 0x80008000u)
#define MU_HOW_NEGATE(order, scope, op, elem)                                                   \
  MU_FN mu_##elem mu_##op##_##order##_##scope##_##elem(mu_##elem *address, mu_##elem operand) { \
    return mu_add_##order##_##scope##_##elem(address, MU_NEGATIVE_##elem(operand));             \
  }
// As integers, floats of sign 0 are ordered like their values, and floats of sign 1 like unsigned numbers
// turned round; every float of sign 1 is above all of sign 0 as unsigned, and below them as signed.
#define MU_TURNED_min max
#define MU_TURNED_max min
#define MU_INTEGER_f32(letter) letter##32
#define MU_INTEGER_f64(letter) letter##64
#define MU_SIGN_CALL_(op, order, scope, elem) mu_##op##_##order##_##scope##_##elem
#define MU_SIGN_CALL(op, order, scope, elem) MU_SIGN_CALL_(op, order, scope, elem)
#define MU_SIGN_TYPE_(elem) mu_##elem
#define MU_SIGN_TYPE(elem) MU_SIGN_TYPE_(elem)
#define MU_HOW_SIGN(order, scope, op, elem)                                                                 \
  MU_FN mu_##elem mu_##op##_##order##_##scope##_##elem(mu_##elem *address, mu_##elem operand) {             \
    typedef MU_SIGN_TYPE(MU_INTEGER_##elem(u)) bits_type;                                                   \
    typedef MU_SIGN_TYPE(MU_INTEGER_##elem(s)) signed_type;                                                 \
    bits_type bits = mu_bits_of_##elem(operand), old;                                                       \
    if (operand != operand) {                                                                               \
      if (MU_ORDERS_##order) /* changes nothing, but has the order */                                       \
        return mu_##elem##_of_bits(                                                                         \
            MU_SIGN_CALL(or, order, scope, MU_INTEGER_##elem(u))((bits_type *)(void *)address, 0));         \
      return mu_load_relaxed_##scope##_##elem(address);                                                     \
    }                                                                                                       \
    if ((signed_type)bits >= 0)                                                                             \
      old = (bits_type)MU_SIGN_CALL(op, order, scope, MU_INTEGER_##elem(s))((signed_type *)(void *)address, \
                                                                            (signed_type)bits);             \
    else                                                                                                    \
      old = MU_SIGN_CALL(MU_TURNED_##op, order, scope, MU_INTEGER_##elem(u))((bits_type *)(void *)address,  \
                                                                             bits);                         \
    return mu_##elem##_of_bits(old);                                                                        \
  }
// and: the word's other bits are and-ed with ones; or, xor: with zeros.
#define MU_AROUND_and(mask) (~(mask))
#define MU_AROUND_or(mask) ((mask) & 0)
#define MU_AROUND_xor(mask) ((mask) & 0)
#define MU_MASK_u8 0xffu
#define MU_MASK_u16 0xffffu
#define MU_HOW_BITS(order, scope, op, elem)                                                        \
  MU_FN mu_##elem mu_##op##_##order##_##scope##_##elem(mu_##elem *address, mu_##elem operand) {    \
    mu_u32 shift = mu_shift_of(address), mask = MU_MASK_##elem << shift;                           \
    mu_u32 word = ((mu_u32)operand << shift) | (MU_AROUND_##op(mask));                             \
    return (mu_##elem)(mu_##op##_##order##_##scope##_u32(mu_word_around(address), word) >> shift); \
  }
#define MU_LIKE_s32 u32
#define MU_LIKE_s64 u64
#define MU_LIKE_ptr u64
#define MU_HOW_SAME(order, scope, op, elem)                                                     \
  MU_FN mu_##elem mu_##op##_##order##_##scope##_##elem(mu_##elem *address, mu_##elem operand) { \
    typedef MU_SIGN_TYPE(MU_LIKE_##elem) like;                                                  \
    return (mu_##elem)MU_SIGN_CALL(op, order, scope, MU_LIKE_##elem)((like *)(void *)address,   \
                                                                     (like)operand);            \
  }
#define MU_RED_OF_RMW(order, scope, op, elem)                                                  \
  MU_FN void mu_red_##op##_##order##_##scope##_##elem(mu_##elem *address, mu_##elem operand) { \
    (void)mu_##op##_##order##_##scope##_##elem(address, operand);                              \
  }
#define MU_EMULATED(op, elem, how, native) \
  MU_EACH_ATOM(MU_HOW_##how, op, elem)     \
  MU_EACH_STORE(MU_RED_OF_RMW, op, elem)
#include "atomic.def"

// Any function of the old value; it may be called more often than once, with values that were never there
// together with anything else. A function that the compiler sees is inlined.
#define MU_UPDATE(order, scope, elem)                                                           \
  MU_FN mu_##elem mu_update_##order##_##scope##_##elem(                                         \
      mu_##elem *address, mu_##elem (*function)(mu_##elem old, void *context), void *context) { \
    mu_##elem old = mu_load_relaxed_##scope##_##elem(address), now;                             \
    for (;;) {                                                                                  \
      now = mu_cas_##order##_##scope##_##elem(address, old, function(old, context));            \
      if (mu_same_##elem(now, old))                                                             \
        return old;                                                                             \
      old = now;                                                                                \
    }                                                                                           \
  }
#define MU_MEM(elem, reg, letter, ptx, get, make) MU_EACH_ATOM(MU_UPDATE, elem)
#include "insn.def"

#endif
#endif
