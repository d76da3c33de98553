/* oracle_parts.h: what oracle_int.c and oracle.c share. */
#ifndef MUSTER_TEST_ORACLE_PARTS_H
#define MUSTER_TEST_ORACLE_PARTS_H

#include "oracle.h"

static inline uint64_t mask(unsigned bits) {
  return bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
}
static inline bool sign_type(ptx_type t) {
  return ptx_type_base(t) == PTX_BASE_SINT || t == PTX_S2 || t == PTX_S4 || t == PTX_S16X2;
}
/* The number that the low `bits` of x are. */
static inline s128 value(uint64_t x, unsigned bits, bool sign) {
  x &= mask(bits);
  return sign && x >> (bits - 1) ? (s128)x - ((s128)1 << bits) : (s128)x;
}
static inline s128 clamp(s128 x, unsigned bits, bool sign) {
  s128 most = ((s128)1 << (bits - (sign ? 1 : 0))) - 1, least = sign ? -most - 1 : 0;
  return x > most ? most : x < least ? least : x;
}
static inline bool bool_op(const ptx_insn *i, bool r, bool q) {
  switch (i->mods.bool_op) {
  case PTX_BOOL_AND:
    return r && q;
  case PTX_BOOL_OR:
    return r || q;
  case PTX_BOOL_XOR:
    return r != q;
  }
  return r;
}

oracle_verdict oracle_int_op(oracle_case *c);
oracle_verdict oracle_carry_op(oracle_case *c);
oracle_verdict oracle_bits_op(oracle_case *c);
oracle_verdict oracle_logic_op(oracle_case *c);
oracle_verdict oracle_video_op(oracle_case *c, unsigned what, unsigned lanes);

#endif
