/* histogram_range.c: elements between edges, counted or weighed. */
#include "operation.h"

static const char *const kernels[] = {"range_count", "range_integer", "range_float"};

/* Blocks enough to fill the device, but none without some rounds of elements. */
static uint32_t blocks_of(const muster_device *device, uint64_t n) {
  uint64_t most = 4ull * device->info.multiprocessors, useful = n / (OPS_RANGE_THREADS * 16) + 1;
  return (uint32_t)(useful < most ? useful : most);
}

static uint64_t workspace(uint32_t bins) {
  return OPS_HEADER_BYTES + 8 * (uint64_t)bins;
}

static muster_result kernel_of(muster_device *device, muster_elem elem, unsigned kind,
                               muster_kernel **kernel) {
  return ops_kernel_of(device, OPS_FILE_histogram_range, elem, kind, kernel, "%s", kernels[kind]);
}

static muster_result check(const char *what, muster_elem elem, uint32_t bins) {
  if (ops_elem_bytes(elem) == 0)
    return ops_fail(MUSTER_ERROR_ARGUMENT, "%s: %s", what, ops_elem_name(elem));
  if (bins == 0 || bins > OPS_HISTOGRAM_BINS)
    return ops_fail(MUSTER_ERROR_ARGUMENT, "%s: %u bins; 1 to %u are possible", what, bins,
                    OPS_HISTOGRAM_BINS);
  return MUSTER_OK;
}

muster_result muster_histogram_range_workspace(muster_device *device, muster_elem elem, uint32_t bins,
                                               size_t *bytes) {
  muster_kernel *kernel;
  ops_begin();
  if (!device || !bytes)
    return ops_fail(MUSTER_ERROR_ARGUMENT,
                    "muster_histogram_range_workspace: no device, or nowhere to put the size");
  muster_result r = check("muster_histogram_range_workspace", elem, bins);
  if (r != MUSTER_OK)
    return r;
  *bytes = workspace(bins);
  return kernel_of(device, elem, 0, &kernel);
}

muster_result muster_histogram_range(muster_device *device, const muster_call *call, muster_elem elem,
                                     uint64_t in, uint64_t n, uint64_t edges, uint32_t bins,
                                     muster_elem weight, uint64_t weights, uint64_t out) {
  muster_call c;
  muster_kernel *kernel;
  ops_begin();
  muster_result r = check("muster_histogram_range", elem, bins);
  if (r != MUSTER_OK)
    return r;
  unsigned bytes = ops_elem_bytes(elem), weight_bytes = weights ? ops_elem_bytes(weight) : 0;
  if (!edges && (ops_is_float(elem) || ops_is_signed(elem)))
    return ops_fail(MUSTER_ERROR_ARGUMENT, "muster_histogram_range: %s elements, and no edges",
                    ops_elem_name(elem));
  if (weights && (weight_bytes < 4 || ops_is_signed(weight)))
    return ops_fail(MUSTER_ERROR_ARGUMENT, "muster_histogram_range: weights are u32, u64, f32 or f64, not %s",
                    ops_elem_name(weight));
  ops_array arrays[4] = {
      {"the input", in, n, bytes, OPS_READ},
      {"the result", out, bins, 8, OPS_WRITTEN},
  };
  size_t used = 2;
  if (edges)
    arrays[used++] = (ops_array){"the array of edges", edges, bins + 1, bytes, OPS_READ};
  if (weights)
    arrays[used++] = (ops_array){"the array of weights", weights, n, weight_bytes, OPS_READ};
  r = ops_call_begin("muster_histogram_range", device, call, &c, workspace(bins), arrays, used);
  if (r == MUSTER_OK)
    r = kernel_of(device, elem, !weights ? 0 : ops_is_float(weight) ? 2 : 1, &kernel);
  if (r != MUSTER_OK)
    return r;
  size_t shared = bins <= OPS_RANGE_SHARED_BINS ? 8 * (size_t)bins + (edges ? (bins + 1) * bytes : 0) : 0;
  uint64_t ticket = c.workspace, totals = c.workspace + OPS_HEADER_BYTES;
  void *parameters[] = {&in, &n, &edges, &bins, &weights, &weight_bytes, &out, &ticket, &totals};
  return ops_launch(kernel, &c, blocks_of(device, n), OPS_RANGE_THREADS, shared, parameters);
}
