/* scan.c: running sums of an array. */
#include "operation.h"

static const char *const kinds[] = {[MUSTER_INCLUSIVE] = "inclusive", [MUSTER_EXCLUSIVE] = "exclusive"};

/* Sums wrap, so signed integers have the bits of unsigned ones. */
static muster_elem summed_as(muster_elem elem) {
  return elem == MUSTER_s32 ? MUSTER_u32 : elem == MUSTER_s64 ? MUSTER_u64 : elem;
}

static uint64_t tiles(muster_elem elem, uint64_t n) {
  uint64_t tile = 16 / ops_elem_bytes(elem) * (uint64_t)OPS_SCAN_THREADS * OPS_SCAN_ROWS;
  return n > tile ? (n - 1) / tile + 1 : 1;
}

static uint64_t workspace(muster_elem elem, uint64_t n) {
  return OPS_HEADER_BYTES + tiles(elem, n) * OPS_SCAN_STATE_BYTES;
}

static muster_result kernel_of(muster_device *device, muster_scan_kind kind, muster_elem elem,
                               muster_kernel **kernel) {
  return ops_kernel_of(device, OPS_FILE_scan, summed_as(elem), kind, kernel, "scan_%s_sum", kinds[kind]);
}

muster_result muster_scan_workspace(muster_device *device, muster_elem elem, uint64_t n, size_t *bytes) {
  muster_kernel *kernel;
  ops_begin();
  if (!device || !bytes || ops_elem_bytes(elem) == 0)
    return ops_fail(MUSTER_ERROR_ARGUMENT,
                    "muster_scan_workspace: a device, an element type and a place for the size are needed");
  *bytes = workspace(elem, n);
  return kernel_of(device, MUSTER_INCLUSIVE, elem, &kernel);
}

muster_result muster_scan(muster_device *device, const muster_call *call, muster_scan_kind kind,
                          muster_elem elem, uint64_t in, uint64_t n, uint64_t out) {
  muster_call c;
  muster_kernel *kernel;
  ops_begin();
  if (ops_elem_bytes(elem) == 0 || (unsigned)kind > MUSTER_EXCLUSIVE)
    return ops_fail(MUSTER_ERROR_ARGUMENT, "muster_scan: no such scan of elements of type %s",
                    ops_elem_name(elem));
  const ops_array arrays[] = {
      {"the input", in, n, ops_elem_bytes(elem), OPS_READ},
      {"the result", out, n, ops_elem_bytes(elem), OPS_WRITTEN},
  };
  muster_result r = ops_call_begin("muster_scan", device, call, &c, workspace(elem, n), arrays, 2);
  if (r == MUSTER_OK)
    r = kernel_of(device, kind, elem, &kernel);
  if (r != MUSTER_OK || n == 0)
    return r;
  uint64_t turns = c.workspace, states = c.workspace + OPS_HEADER_BYTES;
  void *parameters[] = {&in, &n, &out, &turns, &states};
  return ops_launch(kernel, &c, (uint32_t)tiles(elem, n), OPS_SCAN_THREADS, 0, parameters);
}
