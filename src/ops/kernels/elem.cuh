// elem.cuh: the element that a kernel file is compiled for. The build gives its suffix as ELEM (f32, u8,
// ...).
//
//   elem        the element            near_type   what it is computed in: 32 bits, or 64 where it has them
//   wide_type   sums and products: 64-bit integers, which wrap; f32 for half precision
//   PURE(op, suffix)   mu_pure_<op>_<suffix>, also where the suffix is a macro such as NEAR
//   OF_WARP(function, suffix)   the same for mu_tile_<function>_<suffix>
#ifndef MUSTER_OPS_ELEM_CUH
#define MUSTER_OPS_ELEM_CUH

#include "muster/collect.cuh"

#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)
#define NAME_(a, b) a##_##b
#define NAME(a, b) NAME_(a, b)
#define PURE_(op, suffix) mu_pure_##op##_##suffix
#define PURE(op, suffix) PURE_(op, suffix)

#define OF_TILE_(function, suffix) mu_tile_##function##_##suffix
#define OF_WARP(function, suffix) OF_TILE_(function, suffix)

#define NEAR_u8 u32
#define NEAR_u16 u32
#define NEAR_u32 u32
#define NEAR_u64 u64
#define NEAR_s8 s32
#define NEAR_s16 s32
#define NEAR_s32 s32
#define NEAR_s64 s64
#define NEAR_f16 f32
#define NEAR_bf16 f32
#define NEAR_f32 f32
#define NEAR_f64 f64
#define WIDE_u32 u64
#define WIDE_u64 u64
#define WIDE_s32 s64
#define WIDE_s64 s64
#define WIDE_f32 f32
#define WIDE_f64 f64
#define NEAR PASTE(NEAR_, ELEM)
#define WIDE PASTE(WIDE_, NEAR)

// In #if; what is no macro is 0 there.
#define FLOAT_f32 1
#define FLOAT_f64 1
#define HALF_f16 1
#define HALF_bf16 1
#define SMALL_u8 1
#define SMALL_s8 1
#define SMALL_u16 1
#define SMALL_s16 1
#define SMALL_INTEGER PASTE(SMALL_, ELEM)
#define BYTE_u8 1
#define IS_BYTE PASTE(BYTE_, ELEM)
#define IS_FLOAT PASTE(FLOAT_, NEAR)
#define DOUBLE_f64 1
#define IS_DOUBLE PASTE(DOUBLE_, ELEM)
#define IS_HALF PASTE(HALF_, ELEM)
#define UNSIGNED_u8 1
#define UNSIGNED_u16 1
#define UNSIGNED_u32 1
#define UNSIGNED_u64 1
#define IS_UNSIGNED PASTE(UNSIGNED_, ELEM)
#define SIGNED_s32 1
#define SIGNED_s64 1
#define IS_SIGNED PASTE(SIGNED_, NEAR)
#define BITS_u32 32
#define BITS_s32 32
#define BITS_f32 32
#define BITS_u64 64
#define BITS_s64 64
#define BITS_f64 64
#define KEY_BITS PASTE(BITS_, NEAR) // of near_type, as a number
#if IS_FLOAT
#define IS_NAN(x) ((x) != (x))
#else
#define IS_NAN(x) 0
#endif

typedef PASTE(mu_, ELEM) elem;
typedef PASTE(mu_, NEAR) near_type;
typedef PASTE(mu_, WIDE) wide_type;

#if IS_HALF
MU_FN near_type near_of(elem x) {
  return NAME(mu_f32_of, ELEM)(x);
}
MU_FN elem elem_of(near_type x) {
  return PASTE(PASTE(mu_, ELEM), _of_f32)(x);
}
#else
MU_FN near_type near_of(elem x) {
  return (near_type)x;
}
MU_FN elem elem_of(near_type x) {
  return (elem)x;
}
#endif

// The least and the greatest value, as near_type.
#define LEAST_u8 0u
#define LEAST_u16 0u
#define LEAST_u32 0u
#define LEAST_u64 0ull
#define LEAST_s8 (-0x7f - 1)
#define LEAST_s16 (-0x7fff - 1)
#define LEAST_s32 (-0x7fffffff - 1)
#define LEAST_s64 (-0x7fffffffffffffffll - 1)
#define MOST_u8 0xffu
#define MOST_u16 0xffffu
#define MOST_u32 0xffffffffu
#define MOST_u64 0xffffffffffffffffull
#define MOST_s8 0x7f
#define MOST_s16 0x7fff
#define MOST_s32 0x7fffffff
#define MOST_s64 0x7fffffffffffffffll
#define NAN_f32 mu_f32_of_bits(0x7fffffff)
#define NAN_f64 mu_f64_of_bits(0x7fffffffffffffffull)
#define INFINITY_f32 mu_f32_of_bits(0x7f800000)
#define INFINITY_f64 mu_f64_of_bits(0x7ff0000000000000ull)
#if IS_FLOAT
#define LEAST (-PASTE(INFINITY_, NEAR))
#define MOST PASTE(INFINITY_, NEAR)
#else
#define LEAST PASTE(LEAST_, ELEM)
#define MOST PASTE(MOST_, ELEM)
#endif

// Another lane's value, of the whole warp.
#define FETCH_u32(value, lane) mu_lane_shuffle_u32(0xffffffffu, value, lane)
#define FETCH_u64(value, lane) mu_lane_shuffle_u64(0xffffffffu, value, lane)
#define FETCH_s32(value, lane) MU_LANE_SHUFFLE_s32(0xffffffffu, value, lane)
#define FETCH_s64(value, lane) MU_LANE_SHUFFLE_s64(0xffffffffu, value, lane)
#define FETCH_f32(value, lane) MU_LANE_SHUFFLE_f32(0xffffffffu, value, lane)
#define FETCH_f64(value, lane) MU_LANE_SHUFFLE_f64(0xffffffffu, value, lane)

#endif
