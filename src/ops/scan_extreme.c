/* scan_extreme.c: running extremes of an array. */
#include "operation.h"

uint64_t ops_tiles(uint64_t n, uint64_t tile) {
  return n > tile ? (n - 1) / tile + 1 : 1;
}

static uint64_t tiles_of(muster_elem elem, uint64_t n) {
  return ops_tiles(n, 16 / ops_elem_bytes(elem) * (uint64_t)(OPS_TILE_THREADS * OPS_TILE_ROWS));
}

static uint64_t workspace(muster_elem elem, uint64_t n) {
  return OPS_HEADER_BYTES + tiles_of(elem, n) * OPS_TILE_TOLD_BYTES;
}

static muster_result kernel_of(muster_device *device, muster_elem elem, muster_kernel **kernel) {
  return ops_kernel_of(device, OPS_FILE_scan_extreme, ops_unsigned_of(ops_elem_bytes(elem)), 0, kernel,
                       "scan_extreme");
}

muster_result ops_scan_extreme_workspace(muster_device *device, muster_elem elem, uint64_t n, size_t *bytes) {
  muster_kernel *kernel;
  *bytes = workspace(elem, n);
  return kernel_of(device, elem, &kernel);
}

muster_result ops_scan_extreme(muster_device *device, const muster_call *call, muster_op op,
                               muster_scan_kind kind, muster_elem elem, uint64_t in, uint64_t n,
                               uint64_t out) {
  muster_call c;
  muster_kernel *kernel;
  const ops_array arrays[] = {
      {"the input", in, n, ops_elem_bytes(elem), OPS_READ},
      {"the result", out, n, ops_elem_bytes(elem), OPS_WRITTEN},
  };
  muster_result r = ops_call_begin("muster_scan", device, call, &c, workspace(elem, n), arrays, 2);
  if (r == MUSTER_OK)
    r = kernel_of(device, elem, &kernel);
  if (r != MUSTER_OK || n == 0)
    return r;
  ops_order order = ops_order_of(elem, op == MUSTER_MAX, c.nan);
  uint64_t turns = c.workspace, told = c.workspace + OPS_HEADER_BYTES;
  uint32_t exclusive = kind == MUSTER_EXCLUSIVE;
  void *parameters[] = {&in, &n, &out, &turns, &told, &order, &exclusive};
  return ops_launch(kernel, &c, (uint32_t)tiles_of(elem, n), OPS_TILE_THREADS, 0, parameters);
}
