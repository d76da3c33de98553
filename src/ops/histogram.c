/* histogram.c: how often each value occurs: where the counters are, and how many blocks count. */
#include "operation.h"

typedef enum style { BY_LANE, BY_PART, IN_TOTALS } style;
static const char *const kernels[] = {
    [BY_LANE] = "histogram_lanes", [BY_PART] = "histogram_parts", [IN_TOTALS] = "histogram_totals"};

/* Elements are read once for each part of the bins, READINGS times however many there are. More parts than
 * that only pay up to so many elements a bin: beyond, what counts in the totals is faster. Each part has a
 * ticket. */
enum { READINGS = 5, ELEMENTS_A_BIN = 32, PARTS = OPS_HEADER_BYTES / 4 };

/* A block clears each of its counters and adds it to the totals in the end, for which it could have read this
 * many elements of its share. */
enum { ELEMENTS_A_COUNTER = 512 };

typedef struct plan {
  style style;
  uint32_t blocks, part_bins; /* IN_TOTALS: the bins that a block can choose */
  size_t shared_bytes;
} plan;

/* Parts of the bins, at least so many that each fits. More are less counters for each block and more elements
 * to read; the sum of both is least where they cost the same. */
static uint64_t parts_of(uint64_t least, uint32_t bins, uint64_t n) {
  uint64_t parts = least;
  while (parts < PARTS && (parts + 1) * (parts + 1) <= (uint64_t)bins * ELEMENTS_A_COUNTER / (n ? n : 1))
    parts++;
  return parts;
}

/* Blocks enough to fill the device, but none without at least a vector a thread and, since each adds its
 * counters to the totals in the end, about as many elements as it has counters. */
static plan plan_of(const muster_device *device, muster_elem elem, uint32_t bins, uint64_t n) {
  const muster_device_info *info = &device->info;
  uint64_t room = info->shared_per_block_bytes / 4, vectors = n * ops_elem_bytes(elem) / 16;
  uint64_t rows = vectors / OPS_HISTOGRAM_THREADS + 1, parts = (bins + room - 1) / room;
  plan p = {.style = BY_LANE, .part_bins = bins};
  if (bins <= OPS_HISTOGRAM_COPIED_BINS) {
    uint64_t counted = ops_elem_bytes(elem) == 1 ? 256 : bins;
    p.shared_bytes = counted * OPS_HISTOGRAM_COPIES * 4;
  } else if (parts <= READINGS || (parts <= PARTS && n <= (uint64_t)bins * ELEMENTS_A_BIN)) {
    p.style = BY_PART;
    parts = parts_of(parts, bins, n);
    p.part_bins = (uint32_t)((bins + parts - 1) / parts);
    parts = (bins + p.part_bins - 1) / p.part_bins; /* rounded up, a part may have become needless */
    p.shared_bytes = (size_t)p.part_bins * 4;
  } else {
    p.style = IN_TOTALS;
    for (p.part_bins = 1; p.part_bins * 2 * 8 <= info->shared_per_block_bytes;)
      p.part_bins *= 2;
    p.shared_bytes = (size_t)p.part_bins * 8;
  }
  uint64_t fit = OPS_HISTOGRAM_RESIDENT;
  while (fit > 1 && fit * (p.shared_bytes + info->shared_reserved_bytes) > info->shared_per_sm_bytes)
    fit--;
  if (fit * OPS_HISTOGRAM_THREADS > info->threads_per_sm)
    fit = 1;
  uint64_t most = fit * info->multiprocessors, useful = rows;
  if (p.style == BY_PART) {
    most = most / parts;
    useful = n / p.part_bins + 1;
    useful = useful < rows ? useful : rows;
  } else {
    parts = 1;
  }
  useful = useful < most ? useful : most;
  p.blocks = (uint32_t)((useful ? useful : 1) * parts);
  return p;
}

static uint64_t workspace(uint32_t bins) {
  return OPS_HEADER_BYTES + 8 * (uint64_t)bins;
}

static muster_result kernel_of(muster_device *device, style s, muster_elem elem, muster_kernel **kernel) {
  return ops_kernel_of(device, OPS_FILE_histogram, elem, s, kernel, "%s", kernels[s]);
}

static muster_result check(const char *what, muster_elem elem, uint32_t bins) {
  unsigned bytes = ops_elem_bytes(elem);
  if (elem != MUSTER_u8 && elem != MUSTER_u16 && elem != MUSTER_u32 && elem != MUSTER_u64)
    return ops_fail(MUSTER_ERROR_ARGUMENT, "%s: elements are u8, u16, u32 or u64, not %s", what,
                    ops_elem_name(elem));
  if (bins == 0 || bins > OPS_HISTOGRAM_BINS)
    return ops_fail(MUSTER_ERROR_ARGUMENT, "%s: %u bins; 1 to %u are possible", what, bins,
                    OPS_HISTOGRAM_BINS);
  if (bytes < 4 && bins > 1u << 8 * bytes)
    return ops_fail(MUSTER_ERROR_ARGUMENT, "%s: %u bins, and %s has %u values", what, bins,
                    ops_elem_name(elem), 1u << 8 * bytes);
  return MUSTER_OK;
}

muster_result muster_histogram_workspace(muster_device *device, muster_elem elem, uint32_t bins, uint64_t n,
                                         size_t *bytes) {
  muster_kernel *kernel;
  ops_begin();
  if (!device || !bytes)
    return ops_fail(MUSTER_ERROR_ARGUMENT,
                    "muster_histogram_workspace: no device, or nowhere to put the size");
  muster_result r = check("muster_histogram_workspace", elem, bins);
  if (r != MUSTER_OK)
    return r;
  *bytes = workspace(bins);
  return kernel_of(device, plan_of(device, elem, bins, n).style, elem, &kernel);
}

muster_result muster_histogram(muster_device *device, const muster_call *call, muster_elem elem, uint64_t in,
                               uint64_t n, uint32_t bins, uint64_t counts) {
  muster_call c;
  muster_kernel *kernel;
  ops_begin();
  muster_result r = check("muster_histogram", elem, bins);
  if (r != MUSTER_OK)
    return r;
  const ops_array arrays[] = {
      {"the input", in, n, ops_elem_bytes(elem), OPS_READ},
      {"the counts", counts, bins, 8, OPS_WRITTEN},
  };
  r = ops_call_begin("muster_histogram", device, call, &c, workspace(bins), arrays, 2);
  if (r != MUSTER_OK)
    return r;
  plan p = plan_of(device, elem, bins, n);
  r = kernel_of(device, p.style, elem, &kernel);
  if (r != MUSTER_OK)
    return r;
  uint64_t tickets = c.workspace, totals = c.workspace + OPS_HEADER_BYTES;
  void *parameters[] = {&in, &n, &bins, &p.part_bins, &counts, &tickets, &totals};
  return ops_launch(kernel, &c, p.blocks, OPS_HISTOGRAM_THREADS, p.shared_bytes, parameters);
}
