/* reduce.c: one value of one or two arrays: which kernel, and how many blocks of it. */
#include "operation.h"

typedef enum gives { GIVES_SAME, GIVES_WIDE, GIVES_INDEX } gives;
typedef enum takes { TAKES_ALL, TAKES_INTEGER, TAKES_FLOAT } takes;

static const struct {
  const char *name;
  takes takes;
  gives gives;
} operations[MUSTER_OPS] = {
#define OPERATION(name, constant, takes, gives, meaning) {#name, TAKES_##takes, GIVES_##gives},
#include "muster/operation.def"
};

enum { DOT_PRODUCT = MUSTER_OPS, STYLES = 3 }; /* a kernel's number: its operation's and its style's */
typedef enum style { STYLE_PLAIN, STYLE_COMPENSATED, STYLE_IGNORE } style;
_Static_assert((DOT_PRODUCT + 1) * STYLES <= OPS_VARIANTS, "every kernel of the file has a number");

static muster_elem wide(muster_elem elem) {
  if (ops_is_float(elem))
    return elem == MUSTER_f64 ? MUSTER_f64 : MUSTER_f32;
  return ops_is_signed(elem) ? MUSTER_s64 : MUSTER_u64;
}

muster_elem muster_reduce_result(muster_op op, muster_elem elem) {
  if ((unsigned)op >= MUSTER_OPS || (unsigned)elem >= MUSTER_ELEMS ||
      (operations[op].takes != TAKES_ALL && ops_is_float(elem) != (operations[op].takes == TAKES_FLOAT)))
    return MUSTER_ELEMS;
  switch (operations[op].gives) {
  case GIVES_WIDE:
    return wide(elem);
  case GIVES_INDEX:
    return MUSTER_u64;
  default:
    return elem;
  }
}

typedef struct shape {
  uint64_t vectors;
  uint32_t threads, blocks;
} shape;
static const shape reduce_shapes[] = {
#define REDUCE(vectors, threads, blocks) {vectors, threads, blocks},
#include "shapes.def"
};
static const shape dot_shapes[] = {
#define DOT(vectors, threads, blocks) {vectors, threads, blocks},
#include "shapes.def"
};

/* Where not all blocks fit at once, the fast mode takes fewer: a second wave would only queue. */
static shape shape_of(const muster_device *device, muster_mode mode, unsigned op, muster_elem elem,
                      uint64_t n) {
  const shape *s = op == DOT_PRODUCT ? dot_shapes : reduce_shapes;
  while (s->vectors < n * ops_elem_bytes(elem) / 16)
    s++;
  shape result = *s;
  uint32_t resident = OPS_REDUCE_RESIDENT * device->info.multiprocessors;
  if (mode == MUSTER_FAST && result.blocks > resident)
    result.blocks = resident;
  return result;
}

static uint64_t workspace(void) {
  return OPS_HEADER_BYTES + (uint64_t)OPS_REDUCE_BLOCKS * OPS_PARTIAL_BYTES;
}

/* The kernel of operation `op` or DOT_PRODUCT, for what the call asks of it. */
static muster_result kernel_of(muster_device *device, unsigned op, muster_elem elem, const muster_call *call,
                               muster_kernel **kernel) {
  static const char *const endings[STYLES] = {"", "_compensated", "_ignore"};
  bool sums = op == DOT_PRODUCT || op == MUSTER_SUM || op == MUSTER_SUM_OF_SQUARES || op == MUSTER_NORM;
  bool extreme = op == MUSTER_MIN || op == MUSTER_MAX || op == MUSTER_ARGMIN || op == MUSTER_ARGMAX;
  style s = STYLE_PLAIN;
  if (ops_is_float(elem) && sums && call->mode == MUSTER_COMPENSATED)
    s = STYLE_COMPENSATED;
  if (ops_is_float(elem) && extreme && call->nan == MUSTER_NAN_IGNORE)
    s = STYLE_IGNORE;
  return ops_kernel_of(device, OPS_FILE_reduce, elem, op * STYLES + s, kernel, "%s%s%s",
                       op == DOT_PRODUCT ? "" : "reduce_", op == DOT_PRODUCT ? "dot" : operations[op].name,
                       endings[s]);
}

/* Loads every kernel of elements `elem`: they come in one module. */
static muster_result prepare(const char *what, muster_device *device, unsigned op, muster_elem elem,
                             size_t *bytes) {
  muster_kernel *kernel;
  const muster_call call = MUSTER_CALL_INIT;
  ops_begin();
  if (!device || !bytes)
    return ops_fail(MUSTER_ERROR_ARGUMENT, "%s: no device, or nowhere to put the size", what);
  if (op == DOT_PRODUCT ? ops_elem_bytes(elem) == 0 : muster_reduce_result(op, elem) == MUSTER_ELEMS)
    return ops_fail(MUSTER_ERROR_ARGUMENT, "%s: no such operation of elements of type %s", what,
                    ops_elem_name(elem));
  *bytes = workspace();
  return kernel_of(device, op, elem, &call, &kernel);
}

muster_result muster_reduce_workspace(muster_device *device, muster_op op, muster_elem elem, uint64_t n,
                                      size_t *bytes) {
  (void)n; /* the same for all */
  return prepare("muster_reduce_workspace", device, op, elem, bytes);
}

muster_result muster_dot_workspace(muster_device *device, muster_elem elem, uint64_t n, size_t *bytes) {
  (void)n;
  return prepare("muster_dot_workspace", device, DOT_PRODUCT, elem, bytes);
}

static muster_result launch(muster_device *device, const muster_call *call, unsigned op, muster_elem elem,
                            uint64_t x, uint64_t y, uint64_t n, uint64_t out) {
  muster_kernel *kernel;
  muster_result r = kernel_of(device, op, elem, call, &kernel);
  if (r != MUSTER_OK)
    return r;
  uint64_t turns = call->workspace, words = call->workspace + OPS_HEADER_BYTES;
  void *parameters[] = {&x, &y, &n, &out, &turns, &words};
  shape s = shape_of(device, call->mode, op, elem, n);
  return ops_launch(kernel, call, s.blocks, s.threads, 0, parameters);
}

muster_result muster_reduce(muster_device *device, const muster_call *call, muster_op op, muster_elem elem,
                            uint64_t in, uint64_t n, uint64_t out) {
  muster_call c;
  ops_begin();
  muster_elem result = muster_reduce_result(op, elem);
  if (result == MUSTER_ELEMS)
    return ops_fail(MUSTER_ERROR_ARGUMENT, "muster_reduce: no such operation of elements of type %s",
                    ops_elem_name(elem));
  const ops_array arrays[] = {
      {"the input", in, n, ops_elem_bytes(elem), OPS_READ},
      {"the result", out, 1, ops_elem_bytes(result), OPS_WRITTEN},
  };
  muster_result r = ops_call_begin("muster_reduce", device, call, &c, workspace(), arrays, 2);
  return r == MUSTER_OK ? launch(device, &c, op, elem, in, in, n, out) : r;
}

muster_result muster_dot(muster_device *device, const muster_call *call, muster_elem elem, uint64_t x,
                         uint64_t y, uint64_t n, uint64_t out) {
  muster_call c;
  ops_begin();
  if (ops_elem_bytes(elem) == 0)
    return ops_fail(MUSTER_ERROR_ARGUMENT, "muster_dot: %s", ops_elem_name(elem));
  const ops_array arrays[] = {
      {"the first input", x, n, ops_elem_bytes(elem), OPS_READ},
      {"the second input", y, n, ops_elem_bytes(elem), OPS_READ},
      {"the result", out, 1, ops_elem_bytes(wide(elem)), OPS_WRITTEN},
  };
  muster_result r = ops_call_begin("muster_dot", device, call, &c, workspace(), arrays, 3);
  return r == MUSTER_OK ? launch(device, &c, DOT_PRODUCT, elem, x, y, n, out) : r;
}
