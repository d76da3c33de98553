// map.cu: the same of each element of an array: sums with another's, multiples, one number everywhere.
//
// map_body.cuh holds the algorithm, included once for each operation: KERNEL is its name, INPUTS how many
// arrays it reads, OF(a, x, y) the result.
#include "layout.h"
#include "vector.cuh"

enum { THREADS = OPS_MAP_THREADS, UNROLL = OPS_MAP_UNROLL, TILE_VECTORS = THREADS * UNROLL };

#if IS_DOUBLE
MU_FN elem multiply_add(elem a, elem x, elem y) {
  elem result;
  MU_ASM("fma.rn.f64 %0, %1, %2, %3;" : "=d"(result) : "d"(a), "d"(x), "d"(y));
  return result;
}
#elif IS_FLOAT
MU_FN elem multiply_add(elem a, elem x, elem y) {
  elem result;
  MU_ASM("fma.rn.f32 %0, %1, %2, %3;" : "=f"(result) : "f"(a), "f"(x), "f"(y));
  return result;
}
#else
MU_FN elem multiply_add(elem a, elem x, elem y) {
  return a * x + y;
}
#endif

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
