/* scan.c: running sums of an array. */
#include "operation.h"

static const char *const kinds[] = {[MUSTER_INCLUSIVE] = "inclusive", [MUSTER_EXCLUSIVE] = "exclusive"};

/* Sums wrap, so signed integers have the bits of unsigned ones. */
static muster_elem summed_as(muster_elem elem) {
  return elem == MUSTER_s32 ? MUSTER_u32 : elem == MUSTER_s64 ? MUSTER_u64 : elem;
}

typedef enum shape { SMALL, MEDIUM, LARGE, SHAPES } shape;
static const struct {
  const char *ending;
  uint32_t threads, rows;
} shapes[] = {[SMALL] = {"_small", OPS_SCAN_SMALL_THREADS, OPS_SCAN_SMALL_ROWS},
              [MEDIUM] = {"_medium", OPS_SCAN_MEDIUM_THREADS, OPS_SCAN_MEDIUM_ROWS},
              [LARGE] = {"", OPS_SCAN_LARGE_THREADS, OPS_SCAN_LARGE_ROWS}};
enum { STREAMED = SHAPES, STYLES }; /* LARGE on devices that can */
static const struct {
  uint64_t vectors;
  shape shape;
} switches[] = {
#define SCAN(vectors, shape) {vectors, shape},
#include "shapes.def"
};

static uint64_t vectors_of(muster_elem elem, uint64_t n) {
  uint64_t lanes = 16 / ops_elem_bytes(elem);
  return n / lanes + (n % lanes != 0);
}

static shape shape_of(muster_elem elem, uint64_t n) {
  size_t i = 0;
  while (switches[i].vectors < vectors_of(elem, n))
    i++;
  return switches[i].shape;
}

static uint64_t tiles(muster_elem elem, uint64_t n) {
  shape s = shape_of(elem, n);
  uint64_t tile = 16 / ops_elem_bytes(elem) * (uint64_t)shapes[s].threads * shapes[s].rows;
  return n > tile ? (n - 1) / tile + 1 : 1;
}

/* What is told lies behind the turns: of each tile, each group, each field. */
static uint64_t groups_at(uint64_t tiles) {
  return (tiles + OPS_SCAN_GROUP - 1) / OPS_SCAN_GROUP * OPS_SCAN_GROUP;
}
static uint64_t fields_at(uint64_t tiles) {
  return groups_at(tiles) + (tiles / OPS_SCAN_FIELD + 1) * OPS_SCAN_GROUP;
}
static uint64_t bytes_for(uint64_t tiles) {
  return OPS_HEADER_BYTES + (fields_at(tiles) + tiles / OPS_SCAN_FIELD + 2) * OPS_SCAN_TOLD_BYTES;
}

/* Fewer elements can be more tiles: those of the last size that has another shape. */
static uint64_t workspace(muster_elem elem, uint64_t n) {
  uint64_t bytes = bytes_for(tiles(elem, n));
  for (size_t i = 0; switches[i].vectors < vectors_of(elem, n); i++) {
    uint64_t fewer = bytes_for(tiles(elem, switches[i].vectors * (16 / ops_elem_bytes(elem))));
    bytes = fewer > bytes ? fewer : bytes;
  }
  return bytes;
}

/* How a scan of n elements is launched. */
typedef struct plan {
  unsigned style; /* the shape, or STREAMED */
  uint32_t blocks, threads;
  uint32_t slots, late; /* of the streamed one */
} plan;

static plan plan_of(const muster_device *device, muster_elem elem, uint64_t n) {
  const muster_device_info *d = &device->info;
  shape s = shape_of(elem, n);
  plan p = {.style = s, .blocks = (uint32_t)tiles(elem, n), .threads = shapes[s].threads};
  if (s == LARGE && d->compute_capability >= 80) {
    uint32_t fit = d->shared_per_block_bytes / OPS_SCAN_SLOT_BYTES;
    p.style = STREAMED;
    p.blocks = p.blocks < d->multiprocessors ? p.blocks : d->multiprocessors;
    p.threads += 32 * OPS_SCAN_HELPERS;
    p.slots = fit < OPS_SCAN_SLOTS ? fit : OPS_SCAN_SLOTS;
    p.late = p.slots > 2 ? p.slots - 2 : 0; /* one slot is worked on, one is filled */
  }
  return p;
}

static muster_result kernel_of(muster_device *device, muster_scan_kind kind, unsigned style, muster_elem elem,
                               muster_kernel **kernel) {
  return ops_kernel_of(device, OPS_FILE_scan, summed_as(elem), kind * STYLES + style, kernel, "scan_%s_sum%s",
                       kinds[kind], style == STREAMED ? "_streamed" : shapes[style].ending);
}

muster_result muster_scan_workspace(muster_device *device, muster_op op, muster_elem elem, uint64_t n,
                                    size_t *bytes) {
  muster_kernel *kernel;
  ops_begin();
  if (!device || !bytes || ops_elem_bytes(elem) == 0)
    return ops_fail(MUSTER_ERROR_ARGUMENT,
                    "muster_scan_workspace: a device, an element type and a place for the size are needed");
  if (op == MUSTER_MIN || op == MUSTER_MAX)
    return ops_scan_extreme_workspace(device, elem, n, bytes);
  *bytes = workspace(elem, n);
  return kernel_of(device, MUSTER_INCLUSIVE, plan_of(device, elem, n).style, elem, &kernel);
}

muster_result muster_scan(muster_device *device, const muster_call *call, muster_op op, muster_scan_kind kind,
                          muster_elem elem, uint64_t in, uint64_t n, uint64_t out) {
  muster_call c;
  muster_kernel *kernel;
  ops_begin();
  bool extreme = op == MUSTER_MIN || op == MUSTER_MAX;
  if (ops_elem_bytes(elem) == 0 || (unsigned)kind > MUSTER_EXCLUSIVE || !(op == MUSTER_SUM || extreme))
    return ops_fail(MUSTER_ERROR_ARGUMENT, "muster_scan: no such scan of elements of type %s",
                    ops_elem_name(elem));
  if (extreme)
    return ops_scan_extreme(device, call, op, kind, elem, in, n, out);
  const ops_array arrays[] = {
      {"the input", in, n, ops_elem_bytes(elem), OPS_READ},
      {"the result", out, n, ops_elem_bytes(elem), OPS_WRITTEN},
  };
  muster_result r = ops_call_begin("muster_scan", device, call, &c, workspace(elem, n), arrays, 2);
  if (r != MUSTER_OK)
    return r;
  plan p = plan_of(device, elem, n);
  r = kernel_of(device, kind, p.style, elem, &kernel);
  if (r != MUSTER_OK || n == 0)
    return r;
  uint64_t turns = c.workspace, all = tiles(elem, n), told = c.workspace + OPS_HEADER_BYTES;
  uint64_t groups = told + groups_at(all) * OPS_SCAN_TOLD_BYTES;
  uint64_t fields = told + fields_at(all) * OPS_SCAN_TOLD_BYTES;
  void *parameters[] = {&in, &n, &out, &turns, &told, &groups, &fields, &p.slots, &p.late};
  return ops_launch(kernel, &c, p.blocks, p.threads, (size_t)p.slots * OPS_SCAN_SLOT_BYTES, parameters);
}
