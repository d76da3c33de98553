// histogram_range.cu: how many elements, or how much weight, lies between neighbouring edges.
//
// A block adds up few bins in shared memory, and many in the workspace, lanes that meet together; the last
// block moves the totals to the result. histogram_range_body.cuh holds that, included once for each kind of
// sum: KERNEL is its name; PART what a block keeps of a bin, TOTAL what the result has;
// WEIGHT(weights, bytes, i) what element i counts. It takes them away again.
#include "layout.h"
#include "totals.cuh"

// The bin that holds x, the last whose edge is no greater: not below `bins` if there is none. Without edges x
// is its bin.
MU_FN mu_u32 bin_of(elem x, const elem *edges, mu_u32 bins) {
  mu_u32 low = 0, high = bins + 1; // how many edges are no greater
#if IS_UNSIGNED
  if (!edges)
    return x < bins ? (mu_u32)x : bins;
#endif
  MU_ROLLED while (low < high) {
    mu_u32 middle = (low + high) / 2;
    if (near_of(edges[middle]) <= near_of(x))
      low = middle + 1;
    else
      high = middle;
  }
  return low - 1;
}

MU_FN mu_u64 weight_integer(const void *weights, mu_u32 bytes, mu_u64 i) {
  return bytes == 8 ? ((const mu_u64 *)weights)[i] : ((const mu_u32 *)weights)[i];
}
MU_FN mu_f64 weight_float(const void *weights, mu_u32 bytes, mu_u64 i) {
  return bytes == 8 ? ((const mu_f64 *)weights)[i] : ((const mu_f32 *)weights)[i];
}

// 32-bit counters are one instruction in shared memory; no block meets 2^32 elements.
#define KERNEL range_count
#define PART u32
#define TOTAL u64
#define WEIGHT(weights, bytes, i) 1
#include "histogram_range_body.cuh"

#define KERNEL range_integer
#define PART u64
#define TOTAL u64
#define WEIGHT(weights, bytes, i) weight_integer(weights, bytes, i)
#include "histogram_range_body.cuh"

#define KERNEL range_float
#define PART f64
#define TOTAL f64
#define WEIGHT(weights, bytes, i) weight_float(weights, bytes, i)
#include "histogram_range_body.cuh"
