/* segments.c: one value of each segment of an array. */
#include "operation.h"

muster_result muster_reduce_segments(muster_device *device, const muster_call *call, muster_op op,
                                     muster_elem elem, uint64_t in, uint64_t n, uint64_t offsets,
                                     uint64_t segments, uint64_t out) {
  muster_call c;
  muster_kernel *kernel;
  ops_begin();
  bool extreme = op == MUSTER_MIN || op == MUSTER_MAX;
  unsigned bytes = ops_elem_bytes(elem);
  if (bytes == 0 || !(op == MUSTER_SUM || extreme))
    return ops_fail(MUSTER_ERROR_ARGUMENT, "muster_reduce_segments: no such operation of elements of type %s",
                    ops_elem_name(elem));
  const ops_array arrays[] = {
      {"the input", in, n, bytes, OPS_READ},
      {"the array of offsets", offsets, segments ? segments + 1 : 0, 8, OPS_READ},
      {"the result", out, segments, ops_elem_bytes(muster_reduce_result(op, elem)), OPS_WRITTEN},
  };
  muster_result r = ops_call_begin("muster_reduce_segments", device, call, &c, 0, arrays, 3);
  if (r == MUSTER_OK)
    r = ops_kernel_of(device, OPS_FILE_segments, extreme ? ops_unsigned_of(bytes) : elem, extreme, &kernel,
                      "segments_%s", extreme ? "extreme" : "sum");
  if (r != MUSTER_OK || segments == 0)
    return r;
  ops_order order = ops_order_of(elem, op == MUSTER_MAX, c.nan);
  void *parameters[] = {&in, &n, &offsets, &segments, &out, &order};
  uint64_t blocks = ops_tiles(segments, OPS_SEGMENTS_THREADS / 32);
  return ops_launch(kernel, &c, (uint32_t)blocks, OPS_SEGMENTS_THREADS, 0, parameters);
}
