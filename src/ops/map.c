/* map.c: the same of each element of an array, and each as another type. */
#include "operation.h"

#include <string.h>

static const struct {
  const char *name;
  unsigned inputs;
  bool factor;
} operations[MUSTER_MAP_OPS] = {
#define USES_NONE false
#define USES_FACTOR true
#define MAP(name, constant, inputs, uses, meaning) {#name, inputs, USES_##uses},
#include "muster/operation.def"
};

/* Integers wrap: signed ones have the bits of unsigned ones. */
static muster_elem computed_as(muster_elem elem) {
  return ops_is_signed(elem) ? ops_unsigned_of(ops_elem_bytes(elem)) : elem;
}

muster_result muster_map(muster_device *device, const muster_call *call, muster_map_op op, muster_elem elem,
                         const void *a, uint64_t x, uint64_t y, uint64_t n, uint64_t out) {
  muster_call c;
  muster_kernel *kernel;
  uint64_t number = 0, bytes = ops_elem_bytes(elem);
  ops_begin();
  if ((unsigned)op >= MUSTER_MAP_OPS || bytes == 0)
    return ops_fail(MUSTER_ERROR_ARGUMENT, "muster_map: no such operation of elements of type %s",
                    ops_elem_name(elem));
  if (operations[op].factor && !a)
    return ops_fail(MUSTER_ERROR_ARGUMENT, "muster_map: %s takes a number", operations[op].name);
  const ops_array arrays[] = {
      {"the result", out, n, (unsigned)bytes, OPS_IN_PLACE},
      {"the first input", x, n, (unsigned)bytes, OPS_READ},
      {"the second input", y, n, (unsigned)bytes, OPS_READ},
  };
  muster_result r = ops_call_begin("muster_map", device, call, &c, 0, arrays, 1 + operations[op].inputs);
  if (r == MUSTER_OK)
    r = ops_kernel_of(device, OPS_FILE_map, computed_as(elem), op, &kernel, "map_%s", operations[op].name);
  if (r != MUSTER_OK || n == 0)
    return r;
  if (operations[op].factor)
    memcpy(&number, a, bytes);
  uint64_t tile = 16 / bytes * OPS_MAP_THREADS * OPS_MAP_UNROLL;
  void *parameters[] = {&number, &x, &y, &n, &out};
  return ops_launch(kernel, &c, (uint32_t)((n - 1) / tile + 1), OPS_MAP_THREADS, 0, parameters);
}

muster_result muster_convert(muster_device *device, const muster_call *call, muster_elem from, uint64_t in,
                             uint64_t n, muster_elem to, uint64_t out) {
  muster_call c;
  muster_kernel *kernel;
  ops_begin();
  unsigned from_bytes = ops_elem_bytes(from), to_bytes = ops_elem_bytes(to);
  if (from_bytes == 0 || to_bytes == 0)
    return ops_fail(MUSTER_ERROR_ARGUMENT, "muster_convert: from %s to %s", ops_elem_name(from),
                    ops_elem_name(to));
  const ops_array arrays[] = {
      {"the result", out, n, to_bytes, from_bytes == to_bytes ? OPS_IN_PLACE : OPS_WRITTEN},
      {"the input", in, n, from_bytes, OPS_READ},
  };
  muster_result r = ops_call_begin("muster_convert", device, call, &c, 0, arrays, 2);
  if (r == MUSTER_OK)
    r = ops_kernel_of(device, OPS_FILE_convert, from, to, &kernel, "convert_%s", ops_elem_name(to));
  if (r != MUSTER_OK || n == 0)
    return r;
  void *parameters[] = {&in, &n, &out};
  uint64_t blocks = ops_tiles(n, OPS_CONVERT_THREADS * OPS_CONVERT_ELEMS);
  return ops_launch(kernel, &c, (uint32_t)blocks, OPS_CONVERT_THREADS, 0, parameters);
}
