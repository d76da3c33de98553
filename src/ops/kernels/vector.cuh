// vector.cuh: arrays as vectors of 16 bytes, which is what a thread loads and stores at a time.
//
// Vectors are counted from an array's first element, wherever that lies: which thread takes which element,
// and with it the order of rounding, does not depend on addresses. Where they are no multiple of 16 a vector
// costs as many loads as it has elements.
#ifndef MUSTER_OPS_VECTOR_CUH
#define MUSTER_OPS_VECTOR_CUH

#include "elem.cuh"

enum { ELEM_BITS = 8 * sizeof(elem), LANES = 128 / ELEM_BITS, LANES_OF_HALF = LANES / 2 };

#define OF_BITS_(suffix, bits) MU_UNPACK_##suffix(bits)
#define OF_BITS(suffix, bits) OF_BITS_(suffix, bits)
#define TO_BITS_(suffix, value) MU_PACK_##suffix(value)
#define TO_BITS(suffix, value) TO_BITS_(suffix, value)
#define CARRIER_u32(bits) ((mu_u32)(bits))
#define CARRIER_s32(bits) ((mu_u32)(bits))
#define CARRIER_f32(bits) ((mu_u32)(bits))
#define CARRIER_u64(bits) (bits)
#define CARRIER_s64(bits) (bits)
#define CARRIER_f64(bits) (bits)

MU_FN mu_u32 is_aligned(const void *address) {
  return ((mu_u64)address & 15) == 0;
}

MU_FN elem vector_elem(mu_b128 v, mu_u32 lane) {
  mu_u64 half = lane < LANES_OF_HALF ? v.low : v.high;
  return OF_BITS(ELEM, PASTE(CARRIER_, NEAR)(half >> lane % LANES_OF_HALF * ELEM_BITS));
}

MU_FN mu_b128 vector_none(void) {
  mu_b128 v = {0, 0};
  return v;
}
MU_FN mu_b128 vector_with(mu_b128 v, mu_u32 lane, elem value) { // where nothing is yet
  mu_u64 bits = (mu_u64)TO_BITS(ELEM, value) & ~0ull >> (64 - ELEM_BITS);
  if (lane < LANES_OF_HALF)
    v.low |= bits << lane * ELEM_BITS;
  else
    v.high |= bits << (lane - LANES_OF_HALF) * ELEM_BITS;
  return v;
}
// Vector `i` of an array that this launch may write, too.
MU_FN mu_b128 vector_load(const elem *x, mu_u64 i) {
  return *(const mu_b128 *)(const void *)(x + i * LANES);
}

// Vector `i` of an array that may lie anywhere.
MU_FN mu_b128 vector_gather(const elem *x, mu_u64 i) {
  mu_b128 v = vector_none();
  _Pragma("unroll") for (mu_u32 lane = 0; lane < LANES; lane++) v = vector_with(v, lane, x[i * LANES + lane]);
  return v;
}

MU_FN mu_b128 vector_up_to(const elem *x, mu_u64 n, mu_u64 i) { // the same; zeros from element n on
  mu_b128 v = vector_none();
  _Pragma("unroll") for (mu_u32 lane = 0; lane < LANES; lane++) if (i * LANES + lane < n) v =
      vector_with(v, lane, x[i * LANES + lane]);
  return v;
}

#endif
