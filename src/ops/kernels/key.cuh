// key.cuh: elements by their bits, compared as layout.h's ops_order says; one kernel for all types of a size.
//
// For files compiled for unsigned elements. -0 is below +0. A NaN's key is the order's: 0, and it beats
// everything, or the greatest, and it counts as nothing.
#ifndef MUSTER_OPS_KEY_CUH
#define MUSTER_OPS_KEY_CUH

#include "layout.h"
#include "elem.cuh"

#if IS_UNSIGNED
MU_FN near_type key_of(elem x, ops_order order) {
  near_type top = (near_type)order.top, bits = x;
  if (order.infinity && (bits & ~top) > (near_type)order.infinity)
    return (near_type)order.nan;
  bits = order.infinity && bits & top ? ~bits : bits ^ top;
  return (elem)(bits ^ (near_type)order.turned);
}
MU_FN elem elem_of_key(near_type key, ops_order order) {
  near_type top = (near_type)order.top, bits = (elem)(key ^ (near_type)order.turned);
  if (key == MOST)
    return (elem)order.nothing;
  if (order.infinity && key == 0)
    return (elem)(top - 1);
  return (elem)(order.infinity && !(bits & top) ? ~bits : bits ^ top);
}
#endif

#endif
