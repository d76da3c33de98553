// reduce.cu: one value of a whole array, or of two: sums, extremes and where they are, bits, dot products.
//
// reduce_body.cuh holds the algorithm. It is included once for each operation, which says what is joined and
// how:
//
//   KERNEL          the kernel's name, without the element
//   PAIRS           1: of two arrays
//   ACC             type of what is joined; FETCH(acc, lane) is another lane's
//   NEUTRAL         joined with anything changes nothing
//   TAKE(x, y, i)   element x with index i, and y of the other array, as an ACC
//   JOIN(a, b)      associative but for rounding; the same bits as JOIN(b, a)
//   OUT, GIVE(a)    the result and its type
//   IN_VECTOR       type in which a vector's elements are joined, where that is not ACC
//
// It takes KERNEL, PAIRS, TAKE and what is below JOIN away again; the others stay for the next operation.
#include "layout.h"
#include "turns.cuh"

enum { UNROLL = OPS_REDUCE_UNROLL };

// ---------------------------------------------------------------- sums and products

// Sixteen values of 8 or 16 bits fit 32 bits together.
#if SMALL_INTEGER
#define IN_VECTOR near_type
#endif
#define KERNEL reduce_sum
#define PAIRS 0
#define ACC wide_type
#define FETCH PASTE(FETCH_, WIDE)
#define NEUTRAL 0
#define TAKE(x, y, i) near_of(x)
#define JOIN(a, b) PURE(add, WIDE)(a, b)
#define OUT wide_type
#define GIVE(a) (a)
#include "reduce_body.cuh"

#define SQUARE(x) PURE(mul, WIDE)((wide_type)near_of(x), (wide_type)near_of(x))
#define KERNEL reduce_sum_of_squares
#define PAIRS 0
#define TAKE(x, y, i) SQUARE(x)
#define OUT wide_type
#define GIVE(a) (a)
#include "reduce_body.cuh"

#define KERNEL dot
#define PAIRS 1
#define TAKE(x, y, i) PURE(mul, WIDE)((wide_type)near_of(x), (wide_type)near_of(y))
#define OUT wide_type
#define GIVE(a) (a)
#include "reduce_body.cuh"

#if IS_FLOAT
MU_FN wide_type root(wide_type x) {
  wide_type y;
#if IS_DOUBLE
  MU_ASM("sqrt.rn.f64 %0, %1;" : "=d"(y) : "d"(x));
#else
  MU_ASM("sqrt.rn.f32 %0, %1;" : "=f"(y) : "f"(x));
#endif
  return y;
}

#define KERNEL reduce_norm
#define PAIRS 0
#define TAKE(x, y, i) SQUARE(x)
#define OUT wide_type
#define GIVE(a) root(a)
#include "reduce_body.cuh"
#endif

#undef NEUTRAL
#undef JOIN
#define NEUTRAL 1
#define JOIN(a, b) PURE(mul, WIDE)(a, b)
#define KERNEL reduce_product
#define PAIRS 0
#define TAKE(x, y, i) (wide_type) near_of(x)
#define OUT wide_type
#define GIVE(a) (a)
#include "reduce_body.cuh"

// ---------------------------------------------------------------- sums without the rounding of their steps

#if IS_FLOAT
#undef ACC
#undef FETCH
#undef NEUTRAL
#undef JOIN
#if IS_DOUBLE

// A sum and what its roundings lost.
typedef struct {
  mu_f64 sum, lost;
} careful;
MU_FN careful careful_of(mu_f64 sum, mu_f64 lost) {
  careful c;
  c.sum = sum, c.lost = lost;
  return c;
}
MU_FN careful careful_join(careful a, careful b) {
  mu_f64 sum = a.sum + b.sum, of_b = sum - a.sum;
  return careful_of(sum, (a.lost + b.lost) + ((a.sum - (sum - of_b)) + (b.sum - of_b)));
}
MU_FN careful careful_product(mu_f64 x, mu_f64 y) {
  mu_f64 product = x * y, lost;
  MU_ASM("fma.rn.f64 %0, %1, %2, %3;" : "=d"(lost) : "d"(x), "d"(y), "d"(-product));
  return careful_of(product, lost);
}
MU_FN mu_f64 careful_give(careful a) {
  return a.sum - a.sum == 0 ? a.sum + a.lost : a.sum; // of infinity nothing is lost
}
MU_FN careful careful_fetch(careful a, mu_u32 lane) {
  return careful_of(FETCH_f64(a.sum, lane), FETCH_f64(a.lost, lane));
}
#define CAREFUL(x) careful_of(x, 0)
#define NEUTRAL careful_of(0, 0)

#else

// f64 holds products of two f32 exactly, and 2^20 times more sum than result still leaves 9 bits to spare.
typedef mu_f64 careful;
#define CAREFUL(x) ((mu_f64)near_of(x))
#define careful_join(a, b) ((a) + (b))
#define careful_product(x, y) ((mu_f64)near_of(x) * (mu_f64)near_of(y))
#define careful_give(a) ((mu_f32)(a))
#define careful_fetch(a, lane) FETCH_f64(a, lane)
#define NEUTRAL 0

#endif
#define ACC careful
#define FETCH careful_fetch
#define JOIN(a, b) careful_join(a, b)

#define KERNEL reduce_sum_compensated
#define PAIRS 0
#define TAKE(x, y, i) CAREFUL(x)
#define OUT wide_type
#define GIVE(a) careful_give(a)
#include "reduce_body.cuh"

#define KERNEL reduce_sum_of_squares_compensated
#define PAIRS 0
#define TAKE(x, y, i) careful_product(x, x)
#define OUT wide_type
#define GIVE(a) careful_give(a)
#include "reduce_body.cuh"

#define KERNEL reduce_norm_compensated
#define PAIRS 0
#define TAKE(x, y, i) careful_product(x, x)
#define OUT wide_type
#define GIVE(a) root(careful_give(a))
#include "reduce_body.cuh"

#define KERNEL dot_compensated
#define PAIRS 1
#define TAKE(x, y, i) careful_product(x, y)
#define OUT wide_type
#define GIVE(a) careful_give(a)
#include "reduce_body.cuh"
#endif

// ---------------------------------------------------------------- extremes

#undef ACC
#undef FETCH
#undef NEUTRAL
#undef JOIN
#define ACC near_type
#define FETCH PASTE(FETCH_, NEAR)

// least, greatest: a NaN wins; least_number, greatest_number: it loses. -0 is below +0.
#if IS_FLOAT
#if IS_DOUBLE
#define EXTREME_PTX(ptx) MU_ASM(ptx ".f64 %0, %1, %2;" : "=d"(result) : "d"(a), "d"(b))
#else
#define EXTREME_PTX(ptx) MU_ASM(ptx ".f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b))
#endif
#define EXTREME(name, ptx)                                     \
  MU_FN near_type name##_number(near_type a, near_type b) {    \
    near_type result;                                          \
    EXTREME_PTX(ptx);                                          \
    return result;                                             \
  }                                                            \
  MU_FN near_type name(near_type a, near_type b) {             \
    near_type number = name##_number(a, b);                    \
    return ((a != a) | (b != b)) ? PASTE(NAN_, NEAR) : number; \
  }
EXTREME(least, "min")
EXTREME(greatest, "max")
#else
#define least(a, b) PURE(min, NEAR)(a, b)
#define greatest(a, b) PURE(max, NEAR)(a, b)
#endif

#define NEUTRAL MOST
#define JOIN(a, b) least(a, b)
#define KERNEL reduce_min
#define PAIRS 0
#define TAKE(x, y, i) near_of(x)
#define OUT elem
#define GIVE(a) elem_of(a)
#include "reduce_body.cuh"
#undef NEUTRAL
#undef JOIN

#define NEUTRAL LEAST
#define JOIN(a, b) greatest(a, b)
#define KERNEL reduce_max
#define PAIRS 0
#define TAKE(x, y, i) near_of(x)
#define OUT elem
#define GIVE(a) elem_of(a)
#include "reduce_body.cuh"
#undef NEUTRAL
#undef JOIN

#if IS_FLOAT
#define NEUTRAL PASTE(NAN_, NEAR) // what is passed over: of nothing else the result is NaN
#define JOIN(a, b) least_number(a, b)
#define KERNEL reduce_min_ignore
#define PAIRS 0
#define TAKE(x, y, i) near_of(x)
#define OUT elem
#define GIVE(a) elem_of(a)
#include "reduce_body.cuh"
#undef JOIN

#define JOIN(a, b) greatest_number(a, b)
#define KERNEL reduce_max_ignore
#define PAIRS 0
#define TAKE(x, y, i) near_of(x)
#define OUT elem
#define GIVE(a) elem_of(a)
#include "reduce_body.cuh"
#undef NEUTRAL
#undef JOIN
#endif

// ---------------------------------------------------------------- where extremes are

#undef ACC
#undef FETCH

// An element's place is its index and a key: a number whose order is that of the elements, turned round for
// the greatest. A NaN comes before all of them, or behind them and nowhere. (A key of 32 bits would leave a
// hole in the struct, which goes through memory.)
#define TOP_BIT (1ull << (KEY_BITS - 1))
#define NOWHERE (~0ull)
typedef struct {
  mu_u64 key;
  mu_u64 index;
} place;
MU_FN place place_of(mu_u64 key, mu_u64 index) {
  place p;
  p.key = key, p.index = index;
  return p;
}
MU_FN place place_fetch(place a, mu_u32 lane) {
  return place_of(FETCH_u64(a.key, lane), FETCH_u64(a.index, lane));
}
MU_FN place place_first(place a, place b) {
  return a.key < b.key || (a.key == b.key && a.index < b.index) ? a : b;
}
MU_FN mu_u64 key_of(near_type x) {
#if IS_FLOAT
  mu_u64 bits = x == 0 ? 0 : PASTE(mu_bits_of_, NEAR)(x);
  return bits & TOP_BIT ? TOP_BIT * 2 - 1 - bits : bits | TOP_BIT;
#elif IS_SIGNED
  return (mu_u64)x + TOP_BIT;
#else
  return x;
#endif
}
MU_FN place place_take(near_type x, mu_u64 i, mu_u64 turned) {
  return place_of(IS_NAN(x) ? 0 : key_of(x) ^ turned, i);
}
MU_FN place place_take_number(near_type x, mu_u64 i, mu_u64 turned) {
  return IS_NAN(x) ? place_of(~0ull, NOWHERE) : place_of(key_of(x) ^ turned, i);
}

#define ACC place
#define FETCH place_fetch
#define NEUTRAL place_of(~0ull, NOWHERE)
#define JOIN(a, b) place_first(a, b)

#define KERNEL reduce_argmin
#define PAIRS 0
#define TAKE(x, y, i) place_take(near_of(x), i, 0)
#define OUT mu_u64
#define GIVE(a) (a).index
#include "reduce_body.cuh"

#define KERNEL reduce_argmax
#define PAIRS 0
#define TAKE(x, y, i) place_take(near_of(x), i, ~0ull)
#define OUT mu_u64
#define GIVE(a) (a).index
#include "reduce_body.cuh"

#if IS_FLOAT
#define KERNEL reduce_argmin_ignore
#define PAIRS 0
#define TAKE(x, y, i) place_take_number(near_of(x), i, 0)
#define OUT mu_u64
#define GIVE(a) (a).index
#include "reduce_body.cuh"

#define KERNEL reduce_argmax_ignore
#define PAIRS 0
#define TAKE(x, y, i) place_take_number(near_of(x), i, ~0ull)
#define OUT mu_u64
#define GIVE(a) (a).index
#include "reduce_body.cuh"
#endif

// ---------------------------------------------------------------- bits

#if !IS_FLOAT
#undef ACC
#undef FETCH
#undef NEUTRAL
#undef JOIN
#define ACC near_type
#define FETCH PASTE(FETCH_, NEAR)

#define NEUTRAL ((near_type) ~(near_type)0)
#define JOIN(a, b) ((a) & (b))
#define KERNEL reduce_and
#define PAIRS 0
#define TAKE(x, y, i) near_of(x)
#define OUT elem
#define GIVE(a) elem_of(a)
#include "reduce_body.cuh"
#undef NEUTRAL
#undef JOIN

#define NEUTRAL 0
#define JOIN(a, b) ((a) | (b))
#define KERNEL reduce_or
#define PAIRS 0
#define TAKE(x, y, i) near_of(x)
#define OUT elem
#define GIVE(a) elem_of(a)
#include "reduce_body.cuh"
#endif
