/* call.c: what every whole-device operation refuses before anything is launched. */
#include "operation.h"

#include <string.h>

static const struct {
  const char *name;
  unsigned bytes;
  char kind; /* its first letter */
} elems[] = {
#define ELEM(suffix, bytes, kind, numpy) {#suffix, bytes, #kind[0]},
#include "muster/elem.def"
};

const char *ops_elem_name(muster_elem elem) {
  return (unsigned)elem < MUSTER_ELEMS ? elems[elem].name : "an unknown element type";
}

unsigned ops_elem_bytes(muster_elem elem) {
  return (unsigned)elem < MUSTER_ELEMS ? elems[elem].bytes : 0;
}

bool ops_is_float(muster_elem elem) {
  return elems[elem].kind == 'f' || elems[elem].kind == 'b';
}

bool ops_is_signed(muster_elem elem) {
  return elems[elem].kind == 's';
}

muster_elem ops_unsigned_of(unsigned bytes) {
  return bytes == 1 ? MUSTER_u8 : bytes == 2 ? MUSTER_u16 : bytes == 4 ? MUSTER_u32 : MUSTER_u64;
}

ops_order ops_order_of(muster_elem elem, bool greatest, muster_nan nan) {
  uint64_t all = UINT64_MAX >> (64 - 8 * ops_elem_bytes(elem)), top = all ^ all >> 1;
  bool ignore = nan == MUSTER_NAN_IGNORE;
  ops_order order = {.turned = greatest ? UINT64_MAX : 0, .nan = ignore ? all : 0};
  if (ops_is_float(elem)) {
    order.top = top;
    order.infinity = elem == MUSTER_f16    ? 0x7c00
                     : elem == MUSTER_bf16 ? 0x7f80
                     : elem == MUSTER_f32  ? 0x7f800000
                                           : 0x7ff0000000000000;
    order.nothing = ignore ? top - 1 : greatest ? order.infinity | top : order.infinity;
  } else {
    order.top = ops_is_signed(elem) ? top : 0;
    order.nothing = order.top ^ (greatest ? 0 : all);
  }
  return order;
}

static bool overlap(uint64_t a, uint64_t a_bytes, uint64_t b, uint64_t b_bytes) {
  return a < b + b_bytes && b < a + a_bytes;
}

static muster_result check_array(const char *what, const ops_array *a) {
  uint64_t bytes, end;
  if (__builtin_mul_overflow(a->n, a->elem_bytes, &bytes) ||
      __builtin_add_overflow(a->address, bytes, &end) || bytes > INT64_MAX)
    return ops_fail(MUSTER_ERROR_ARGUMENT, "%s: %s of %llu elements is more than memory can hold", what,
                    a->name, (unsigned long long)a->n);
  if (a->address == 0 && a->n > 0)
    return ops_fail(MUSTER_ERROR_ARGUMENT, "%s: %s has no address", what, a->name);
  if (a->address % a->elem_bytes != 0)
    return ops_fail(MUSTER_ERROR_ARGUMENT,
                    "%s: %s at address %#llx, which is no multiple of its element's %u bytes", what, a->name,
                    (unsigned long long)a->address, a->elem_bytes);
  return MUSTER_OK;
}

static muster_result check_overlaps(const char *what, const muster_call *call, uint64_t workspace_bytes,
                                    const ops_array *arrays, size_t n) {
  for (size_t i = 0; i < n; i++) {
    const ops_array *a = &arrays[i];
    uint64_t bytes = a->n * a->elem_bytes;
    if (overlap(a->address, bytes, call->workspace, workspace_bytes))
      return ops_fail(MUSTER_ERROR_ARGUMENT, "%s: %s and the workspace overlap", what, a->name);
    for (size_t k = 0; k < n; k++)
      if (a->use != OPS_READ && k != i && (arrays[k].use == OPS_READ || k > i) &&
          !(a->use == OPS_IN_PLACE && arrays[k].address == a->address) &&
          overlap(a->address, bytes, arrays[k].address, arrays[k].n * arrays[k].elem_bytes))
        return ops_fail(MUSTER_ERROR_ARGUMENT, "%s: %s and %s overlap", what, arrays[k].name, a->name);
  }
  return MUSTER_OK;
}

muster_result ops_call_begin(const char *what, const muster_device *device, const muster_call *from,
                             muster_call *to, uint64_t workspace_bytes, const ops_array *arrays, size_t n) {
  if (!device || !from || from->size < sizeof(size_t) || from->size > sizeof *to)
    return ops_fail(MUSTER_ERROR_ARGUMENT, "%s: no device, or a call that was not initialised", what);
  memset(to, 0, sizeof *to);
  memcpy(to, from, from->size);
  if ((unsigned)to->mode >= MUSTER_MODES || (unsigned)to->nan >= MUSTER_NANS)
    return ops_fail(MUSTER_ERROR_ARGUMENT, "%s: no such mode", what);
  for (size_t i = 0; i < n; i++) {
    muster_result r = check_array(what, &arrays[i]);
    if (r != MUSTER_OK)
      return r;
  }
  if (workspace_bytes > 0 && (to->workspace == 0 || to->workspace % 16 != 0))
    return ops_fail(MUSTER_ERROR_ARGUMENT, "%s: the workspace has to be at a multiple of 16 and is at %#llx",
                    what, (unsigned long long)to->workspace);
  if (to->workspace_bytes < workspace_bytes)
    return ops_fail(MUSTER_ERROR_ARGUMENT, "%s: a workspace of %zu bytes, and %llu are needed", what,
                    to->workspace_bytes, (unsigned long long)workspace_bytes);
  return check_overlaps(what, to, workspace_bytes, arrays, n);
}
