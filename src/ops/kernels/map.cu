// map.cu: the same of each element of an array: sums with another's, multiples, one number everywhere.
//
// map_body.cuh holds the algorithm, included once for each operation: KERNEL is its name, INPUTS how many
// arrays it reads, OF(a, x, y) the result, of near_type: half precision is computed in f32.
#include "layout.h"
#include "vector.cuh"

enum { THREADS = OPS_MAP_THREADS, UNROLL = OPS_MAP_UNROLL, TILE_VECTORS = THREADS * UNROLL };

#if IS_DOUBLE
#define FMA(result, rounding) \
  MU_ASM("fma." rounding ".f64 %0, %1, %2, %3;" : "=d"(result) : "d"(a), "d"(x), "d"(y))
#elif IS_FLOAT
#define FMA(result, rounding) \
  MU_ASM("fma." rounding ".f32 %0, %1, %2, %3;" : "=f"(result) : "f"(a), "f"(x), "f"(y))
#endif

MU_FN near_type multiply_add(near_type a, near_type x, near_type y) {
#if IS_HALF // to odd: what lies between two f32 becomes the one whose last bit is set, and is rounded once,
            // to half
  near_type result, below, above;
  FMA(result, "rz");
  FMA(below, "rm");
  FMA(above, "rp");
  return below == above ? result : mu_f32_of_bits(mu_bits_of_f32(result) | 1);
#elif IS_FLOAT
  near_type result;
  FMA(result, "rn");
  return result;
#else
  return a * x + y;
#endif
}

#define KERNEL map_add
#define INPUTS 2
#define OF(a, x, y) ((x) + (y))
#include "map_body.cuh"

#define KERNEL map_subtract
#define INPUTS 2
#define OF(a, x, y) ((x) - (y))
#include "map_body.cuh"

#define KERNEL map_multiply
#define INPUTS 2
#define OF(a, x, y) ((x) * (y))
#include "map_body.cuh"

#define KERNEL map_axpy
#define INPUTS 2
#define OF(a, x, y) multiply_add(a, x, y)
#include "map_body.cuh"

#define KERNEL map_scale
#define INPUTS 1
#define OF(a, x, y) ((a) * (x))
#include "map_body.cuh"

#define KERNEL map_fill
#define INPUTS 0
#define OF(a, x, y) (a)
#include "map_body.cuh"
