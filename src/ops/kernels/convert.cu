// convert.cu: each element as another type has it.
//
// What the other type does not hold becomes the nearest that it does; floats become integers towards zero, a
// NaN 0. Everything is rounded once, to nearest even. Half precision is made of f32, which holds all of it:
// on the way there what f32 does not hold is rounded to odd, so that the second rounding is the only one that
// counts.
#include "layout.h"
#include "elem.cuh"

enum { THREADS = OPS_CONVERT_THREADS, ELEMS = OPS_CONVERT_ELEMS };

// The element as f32, towards zero; with its last bit set if something was lost.
#if IS_DOUBLE
#define TO_F32(result, x) MU_ASM("cvt.rz.f32.f64 %0, %1;" : "=f"(result) : "d"(x))
#elif IS_FLOAT
#define TO_F32(result, x) ((result) = (x))
#elif KEY_BITS == 64 && IS_SIGNED
#define TO_F32(result, x) MU_ASM("cvt.rz.f32.s64 %0, %1;" : "=f"(result) : "l"(x))
#elif KEY_BITS == 64
#define TO_F32(result, x) MU_ASM("cvt.rz.f32.u64 %0, %1;" : "=f"(result) : "l"(x))
#elif IS_SIGNED
#define TO_F32(result, x) MU_ASM("cvt.rz.f32.s32 %0, %1;" : "=f"(result) : "r"(x))
#else
#define TO_F32(result, x) MU_ASM("cvt.rz.f32.u32 %0, %1;" : "=f"(result) : "r"(x))
#endif
MU_FN mu_f32 odd_f32_of(near_type x) {
  mu_f32 result;
  TO_F32(result, x);
  return IS_NAN(x) || (near_type)result == x ? result : mu_f32_of_bits(mu_bits_of_f32(result) | 1);
}

#if IS_FLOAT
#define TO_INTEGER(to)                                        \
  MU_FN mu_##to to_##to(near_type x) {                        \
    return IS_NAN(x)                    ? (mu_##to)0          \
           : x <= (near_type)LEAST_##to ? (mu_##to)LEAST_##to \
           : x >= (near_type)MOST_##to  ? (mu_##to)MOST_##to  \
                                        : (mu_##to)x;          \
  }
#else
enum { NEGATIVES = (near_type)-1 < (near_type)1 }; // it has some
#define TO_INTEGER(to)                                                          \
  MU_FN mu_##to to_##to(near_type x) {                                          \
    if (NEGATIVES && (mu_s64)x < 0)                                             \
      return (mu_s64)x < (mu_s64)LEAST_##to ? (mu_##to)LEAST_##to : (mu_##to)x; \
    return (mu_u64)x > (mu_u64)MOST_##to ? (mu_##to)MOST_##to : (mu_##to)x;     \
  }
#endif
#define TO_FLOAT(to)                   \
  MU_FN mu_##to to_##to(near_type x) { \
    return (mu_##to)x;                 \
  }
#define TO_HALF(to)                         \
  MU_FN mu_##to to_##to(near_type x) {      \
    return mu_##to##_of_f32(odd_f32_of(x)); \
  }

// A block does one tile; a thread reads what it then writes, and no more: elements of one size may stay where
// they are.
#define CONVERT(KIND, to)                                                                       \
  KIND(to)                                                                                      \
  MU_KERNEL MU_BOUNDS(OPS_CONVERT_THREADS, 2)                                                   \
      NAME(convert_##to, ELEM)(const elem *x, mu_u64 n, mu_##to *out) {                         \
    elem mine[ELEMS];                                                                           \
    mu_u64 first = mu_block_x() * (mu_u64)(THREADS * ELEMS) + mu_thread_x();                    \
    _Pragma("unroll") for (mu_u32 k = 0; k < ELEMS; k++) if (first + k * THREADS < n) mine[k] = \
        x[first + k * THREADS];                                                                 \
    _Pragma("unroll") for (mu_u32 k = 0; k < ELEMS; k++) if (first + k * THREADS < n)           \
        out[first + k * THREADS] = to_##to(near_of(mine[k]));                                   \
  }
CONVERT(TO_INTEGER, s8)
CONVERT(TO_INTEGER, s16)
CONVERT(TO_INTEGER, s32)
CONVERT(TO_INTEGER, s64)
CONVERT(TO_INTEGER, u8)
CONVERT(TO_INTEGER, u16)
CONVERT(TO_INTEGER, u32)
CONVERT(TO_INTEGER, u64)
CONVERT(TO_HALF, f16)
CONVERT(TO_HALF, bf16)
CONVERT(TO_FLOAT, f32)
CONVERT(TO_FLOAT, f64)
