/* operate.c: muster reduce, dot, scan and histogram: an operation of libmuster on arrays in files.
 *
 * Everything is read and checked first, and the result is written last: what goes wrong leaves no file, and
 * none that was there is changed.
 */
#include "value.h"

#include <stdlib.h>
#include <string.h>

#include "muster.h"

static const char *const ops[MUSTER_OPS] = {
#define OPERATION(name, constant, takes, gives, meaning) #name,
#include "muster/operation.def"
};
static const char *const modes[MUSTER_MODES] = {
#define MODE(name, constant, meaning) #name,
#include "muster/operation.def"
};
static const char *const nans[MUSTER_NANS] = {
#define NAN_RULE(name, constant, meaning) #name,
#include "muster/operation.def"
};

enum { EDGES = 1, WEIGHTS, INPUTS }; /* of a histogram */

typedef struct job {
  const tool_options *o;
  const char *path[INPUTS]; /* NULL: there is none */
  tool_array in[INPUTS], result;
  muster_op op;
  muster_call call;
  uint32_t bins;
  muster_device *device;
  uint64_t x[INPUTS], out; /* on the device; 0: there is none */
} job;

/* The number of `name` among `names`; 0, which is the default, if there is none. */
static unsigned number_of(const char *name, const char *const *names, unsigned n) {
  for (unsigned i = 0; i < n && name; i++)
    if (strcmp(names[i], name) == 0)
      return i;
  return 0;
}

static int check_options(job *j) {
  const tool_options *o = j->o;
  int files = o->command == TOOL_DOT ? 2 : 1;
  if (o->n_rest != files) {
    tool_error("muster %s takes %s; see muster %s --help", tool_command_name(o->command),
               files == 2 ? "two files" : "one file", tool_command_name(o->command));
    return TOOL_USAGE;
  }
  j->path[0] = o->rest[0];
  j->path[EDGES] = files == 2 ? o->rest[1] : o->edges;
  j->path[WEIGHTS] = o->weights;
  if (o->edges && o->has.bins) {
    tool_error("--bins and --edges both say what is counted");
    return TOOL_USAGE;
  }
  if (o->weights && !tool_has_suffix(o->weights, ".npy")) {
    tool_error("--weights %s: a .npy file is needed", o->weights);
    return TOOL_USAGE;
  }
  if (o->json && o->result && tool_has_suffix(o->result, ".npy")) {
    tool_error("--json, and --output %s is to be a .npy file", o->result);
    return TOOL_USAGE;
  }
  if (o->gpu && !tool_profile_check(o->gpu))
    return TOOL_USAGE;
  j->op = (muster_op)number_of(o->op, ops, MUSTER_OPS);
  if (o->op && strcmp(ops[j->op], o->op) != 0) {
    const char *near = tool_nearest(o->op, ops, MUSTER_OPS);
    tool_error("--op %s: no such operation; %s%s%s", o->op,
               near ? "did you mean " : "muster reduce --help lists them", near ? near : "", near ? "?" : "");
    return TOOL_USAGE;
  }
  j->call.mode = (muster_mode)number_of(o->mode, modes, MUSTER_MODES);
  j->call.nan = (muster_nan)number_of(o->nan, nans, MUSTER_NANS);
  return TOOL_OK;
}

/* What a histogram's result is. */
static int check_histogram(job *j) {
  const tool_options *o = j->o;
  const tool_array *a = &j->in[0], *edges = &j->in[EDGES], *weights = &j->in[WEIGHTS];
  const tool_type *t = tool_type_get(a->type);
  uint64_t bins = o->has.bins ? o->bins : o->edges ? edges->n - 1 : 1u << 8 * t->bytes;
  if (!o->has.bins && !o->edges && t->bytes > 2) {
    tool_error("%s has %s elements: --bins says how many values are counted", o->rest[0], t->name);
    return TOOL_USAGE;
  }
  if (o->edges && (edges->type != a->type || edges->n < 2)) {
    tool_error("%s has %llu %s elements, and two edges or more are needed, of %s", o->edges,
               (unsigned long long)edges->n, tool_type_get(edges->type)->name, t->name);
    return TOOL_USAGE;
  }
  if (o->weights && weights->n != a->n) {
    tool_error("%s has %llu elements, and %s %llu weights", o->rest[0], (unsigned long long)a->n, o->weights,
               (unsigned long long)weights->n);
    return TOOL_USAGE;
  }
  j->bins = bins > UINT32_MAX ? UINT32_MAX : (uint32_t)bins;
  j->result.n = j->bins;
  j->result.type = o->weights && tool_type_get(weights->type)->kind == TOOL_KIND_f ? MUSTER_f64 : MUSTER_u64;
  return TOOL_OK;
}

/* What the result is; the arrays have been read. */
static int check_arrays(job *j) {
  const tool_options *o = j->o;
  const char *file = o->rest[0];
  const tool_array *a = &j->in[0], *b = &j->in[1];
  const tool_type *t = tool_type_get(a->type);
  muster_elem type = (muster_elem)a->type;
  j->result.n = 1;
  switch (o->command) {
  case TOOL_REDUCE:
    type = muster_reduce_result(j->op, type);
    if (type == MUSTER_ELEMS) {
      tool_error("%s: there is no %s of %s elements", file, ops[j->op], t->name);
      return TOOL_USAGE;
    }
    break;
  case TOOL_DOT:
    type = muster_reduce_result(MUSTER_SUM, type);
    if (a->type != b->type || a->n != b->n) {
      tool_error("%s has %llu %s elements, and %s %llu %s", file, (unsigned long long)a->n, t->name,
                 o->rest[1], (unsigned long long)b->n, tool_type_get(b->type)->name);
      return TOOL_USAGE;
    }
    break;
  case TOOL_SCAN:
    j->result.n = a->n;
    break;
  default:
    if (check_histogram(j) != TOOL_OK)
      return TOOL_USAGE;
    type = (muster_elem)j->result.type;
  }
  const tool_type *of_result = tool_type_get(type);
  j->result.type = type;
  if (o->command == TOOL_SCAN)
    j->result.shape = a->shape;
  else
    j->result.shape.n_dims = o->command == TOOL_HISTOGRAM;
  if (o->command == TOOL_HISTOGRAM)
    j->result.shape.dims[0] = j->bins;
  strcpy(j->result.shape.descr, of_result->numpy);
  j->result.shape.element_bytes = of_result->bytes;
  j->result.shape.bytes = j->result.n * of_result->bytes;
  return TOOL_OK;
}

/* The library's answer as an exit code, having said what it is. Its message begins with the function's name.
 */
static int failed(const job *j, muster_result r) {
  const char *why = muster_message();
  if (strncmp(why, "muster_", 7) == 0 && strchr(why, ' '))
    why = strchr(why, ' ') + 1;
  tool_error("%s: %s", j->o->rest[0], why);
  return r == MUSTER_ERROR_ARGUMENT                                         ? TOOL_USAGE
         : r == MUSTER_ERROR_LAUNCH_FAILED || r == MUSTER_ERROR_DEVICE_LOST ? TOOL_LAUNCH_FAILED
                                                                            : TOOL_OURS;
}

static muster_result workspace_bytes(const job *j, size_t *bytes) {
  muster_elem elem = (muster_elem)j->in[0].type;
  uint64_t n = j->in[0].n;
  switch (j->o->command) {
  case TOOL_REDUCE:
    return muster_reduce_workspace(j->device, j->op, elem, n, bytes);
  case TOOL_DOT:
    return muster_dot_workspace(j->device, elem, n, bytes);
  case TOOL_SCAN:
    return muster_scan_workspace(j->device, j->op, elem, n, bytes);
  default:
    if (j->path[EDGES] || j->path[WEIGHTS])
      return muster_histogram_range_workspace(j->device, elem, j->bins, bytes);
    return muster_histogram_workspace(j->device, elem, j->bins, n, bytes);
  }
}

static muster_result launch(const job *j) {
  muster_elem elem = (muster_elem)j->in[0].type;
  uint64_t n = j->in[0].n;
  switch (j->o->command) {
  case TOOL_REDUCE:
    return muster_reduce(j->device, &j->call, j->op, elem, j->x[0], n, j->out);
  case TOOL_DOT:
    return muster_dot(j->device, &j->call, elem, j->x[0], j->x[1], n, j->out);
  case TOOL_SCAN:
    return muster_scan(j->device, &j->call, j->op, j->o->exclusive ? MUSTER_EXCLUSIVE : MUSTER_INCLUSIVE,
                       elem, j->x[0], n, j->out);
  default:
    if (j->path[EDGES] || j->path[WEIGHTS])
      return muster_histogram_range(j->device, &j->call, elem, j->x[0], n, j->x[EDGES], j->bins,
                                    (muster_elem)j->in[WEIGHTS].type, j->x[WEIGHTS], j->out);
    return muster_histogram(j->device, &j->call, elem, j->x[0], n, j->bins, j->out);
  }
}

/* On the device that is open: from the files' bytes to the result's. */
static muster_result compute(job *j) {
  size_t bytes = j->result.shape.bytes;
  muster_result r = workspace_bytes(j, &j->call.workspace_bytes);
  tool_progress("copying to the device");
  for (size_t i = 0; i < INPUTS && r == MUSTER_OK; i++) {
    if (!j->path[i])
      continue;
    r = muster_alloc(j->device, j->in[i].shape.bytes, &j->x[i]);
    if (r == MUSTER_OK)
      r = muster_copy_in(j->device, j->x[i], j->in[i].bytes, j->in[i].shape.bytes);
    free(j->in[i].bytes); /* it is on the device now */
    j->in[i].bytes = NULL;
  }
  if (r == MUSTER_OK)
    r = muster_alloc(j->device, bytes, &j->out);
  if (r == MUSTER_OK)
    r = muster_alloc(j->device, j->call.workspace_bytes, &j->call.workspace);
  if (r == MUSTER_OK)
    r = muster_fill_bytes(j->device, j->call.workspace, 0, j->call.workspace_bytes);
  tool_progress("computing");
  if (r == MUSTER_OK)
    r = launch(j);
  if (r == MUSTER_OK)
    r = muster_wait(j->device);
  if (r == MUSTER_OK) {
    j->result.bytes = tool_alloc(bytes);
    r = muster_copy_out(j->device, j->result.bytes, j->out, bytes);
  }
  return r;
}

static int run(job *j) {
  char *choice = tool_device_choice(j->o);
  if (!choice)
    return TOOL_USAGE;
  tool_progress("opening the device");
  muster_result r = muster_open(choice, &j->device);
  free(choice);
  if (r == MUSTER_OK)
    r = compute(j);
  tool_progress(NULL); /* before messages, and before the result */
  int code = r == MUSTER_OK ? TOOL_OK : failed(j, r);
  muster_close(j->device); /* with its memory */
  if (code == TOOL_OK && !tool_array_write(j->o, &j->result, j->o->command == TOOL_HISTOGRAM))
    code = TOOL_OURS;
  return code;
}

int tool_operate(const tool_options *o) {
  job j = {.o = o, .call = MUSTER_CALL_INIT};
  int code = check_options(&j);
  for (size_t i = 0; i < INPUTS && code == TOOL_OK; i++)
    if (j.path[i] && !tool_array_read(j.path[i], i == WEIGHTS ? NULL : o->type, &j.in[i]))
      code = TOOL_USAGE;
  if (code == TOOL_OK)
    code = check_arrays(&j);
  if (code == TOOL_OK)
    code = run(&j);
  for (size_t i = 0; i < INPUTS; i++)
    free(j.in[i].bytes);
  free(j.result.bytes);
  return code;
}
