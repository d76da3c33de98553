// segments.cu: one value of each segment of an array: sums and extremes.
//
// A block does as many segments as it has warps: each a short one by itself, then all together the long ones.
// segments_body.cuh holds that, included once for each operation, with the words of reduce.cu: KERNEL, ACC,
// FETCH, JOIN, OUT, GIVE; NONE joined with anything changes nothing, TAKE(x) is an element as an ACC. It
// takes them away again.
//
// Sums of floats are kept in f64. Extremes are those of keys (key.cuh), for unsigned elements, whose bits are
// any type's of their size.
#include "key.cuh"

enum { WARPS = OPS_SEGMENTS_THREADS / 32, STRANDS = 4 };

typedef struct {
  mu_u64 from, end;
} segment;

// Segment i of an array of n elements; offsets that do not rise make an empty one.
MU_FN segment segment_at(const mu_u64 *offsets, mu_u64 i, mu_u64 n) {
  mu_u64 from = offsets[i], end = offsets[i + 1];
  segment s;
  s.end = end < n ? end : n;
  s.from = from < s.end ? from : s.end;
  return s;
}

#define KERNEL segments_sum
#define NONE 0
#define JOIN(a, b) ((a) + (b))
#define OUT wide_type
#define GIVE(a) ((wide_type)(a))
#if IS_FLOAT
#define ACC mu_f64
#define FETCH FETCH_f64
#define TAKE(x) ((mu_f64)near_of(x))
#else
#define ACC mu_u64
#define FETCH FETCH_u64
#define TAKE(x) ((mu_u64)(wide_type)near_of(x))
#endif
#include "segments_body.cuh"

#if IS_UNSIGNED
#define KERNEL segments_extreme
#define ACC near_type
#define FETCH PASTE(FETCH_, NEAR)
#define NONE MOST
#define JOIN(a, b) PURE(min, NEAR)(a, b)
#define TAKE(x) key_of(x, order)
#define OUT elem
#define GIVE(a) elem_of_key(a, order)
#include "segments_body.cuh"
#endif
