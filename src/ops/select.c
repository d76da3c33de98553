/* select.c: the elements that a mask names. */
#include "operation.h"

static uint64_t tiles_of(uint64_t n) {
  return ops_tiles(n, OPS_TILE_THREADS * OPS_TILE_ELEMS);
}

static uint64_t workspace(uint64_t n) {
  return OPS_HEADER_BYTES + tiles_of(n) * OPS_TILE_TOLD_BYTES;
}

static muster_result kernel_of(muster_device *device, muster_elem elem, muster_kernel **kernel) {
  return ops_kernel_of(device, OPS_FILE_select, ops_unsigned_of(ops_elem_bytes(elem)), 0, kernel, "select");
}

muster_result muster_select_workspace(muster_device *device, muster_elem elem, uint64_t n, size_t *bytes) {
  muster_kernel *kernel;
  ops_begin();
  if (!device || !bytes || ops_elem_bytes(elem) == 0)
    return ops_fail(MUSTER_ERROR_ARGUMENT,
                    "muster_select_workspace: a device, an element type and a place for the size are needed");
  *bytes = workspace(n);
  return kernel_of(device, elem, &kernel);
}

muster_result muster_select(muster_device *device, const muster_call *call, muster_elem elem, uint64_t in,
                            uint64_t mask, uint64_t n, uint64_t out, uint64_t rest, uint64_t count) {
  muster_call c;
  muster_kernel *kernel;
  ops_begin();
  unsigned bytes = ops_elem_bytes(elem);
  if (bytes == 0)
    return ops_fail(MUSTER_ERROR_ARGUMENT, "muster_select: %s", ops_elem_name(elem));
  const ops_array arrays[] = {
      {"the input", in, n, bytes, OPS_READ},      {"the mask", mask, n, 1, OPS_READ},
      {"the result", out, n, bytes, OPS_WRITTEN}, {"the count", count, 1, 8, OPS_WRITTEN},
      {"the rest", rest, n, bytes, OPS_WRITTEN},
  };
  muster_result r = ops_call_begin("muster_select", device, call, &c, workspace(n), arrays, rest ? 5 : 4);
  if (r == MUSTER_OK)
    r = kernel_of(device, elem, &kernel);
  if (r != MUSTER_OK)
    return r;
  uint64_t turns = c.workspace, told = c.workspace + OPS_HEADER_BYTES;
  void *parameters[] = {&in, &mask, &n, &out, &rest, &count, &turns, &told};
  return ops_launch(kernel, &c, (uint32_t)tiles_of(n), OPS_TILE_THREADS, 0, parameters);
}
