/* kernel.c: muster run --kernel: one kernel of a file, with arguments from the command line.
 *
 * tool_kernel_check reads everything that the command line names, in the parent; tool_kernel then runs in a
 * child (see parent.c), on whatever device MUSTER_DEVICE names: the CPU device unless it says otherwise.
 * Results are written only if every launch ended well.
 */
#include "value.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "muster.h"

/* What the command line named; made before the child is started, used by it. */
static tool_arg *args;
static tool_out *outs;

char *tool_device_choice(const tool_options *o) {
  const char *device = getenv("MUSTER_DEVICE");
  if (o->gpu && device && strncmp(device, "gpu", 3) == 0) {
    tool_error("--gpu names a GPU to model, and MUSTER_DEVICE=%s asks for a real one", device);
    return NULL;
  }
  if (o->gpu && strcmp(o->gpu, "auto") != 0)
    return tool_format("cpu:%s", o->gpu);
  return tool_format("%s", !o->gpu && device && *device ? device : "cpu");
}

int tool_kernel_check(const tool_options *o) {
  char *choice = tool_device_choice(o);
  if (!choice)
    return TOOL_USAGE;
  free(choice);
  return tool_args_parse(o, &args, &outs);
}

int tool_kernel_open(const tool_options *o, muster_device **device, muster_kernel **kernel) {
  const char *file = o->shown ? o->shown : o->rest[0];
  uint8_t *image;
  size_t bytes;
  muster_module *module = NULL;
  if (!tool_read_file(o->rest[0], &image, &bytes))
    return TOOL_CANNOT;
  char *choice = tool_device_choice(o);
  if (!choice) {
    free(image);
    return TOOL_USAGE;
  }
  muster_result r = muster_open_for(choice, image, bytes, device);
  free(choice);
  if (r != MUSTER_OK) {
    tool_error("%s", muster_message());
    free(image);
    return TOOL_OURS;
  }
  r = muster_module_load(*device, file, image, bytes, &module);
  free(image);
  if (r == MUSTER_OK)
    r = muster_module_find(module, o->kernel, kernel);
  if (r == MUSTER_OK)
    return TOOL_OK;
  bool named = r == MUSTER_ERROR_NOT_FOUND || r == MUSTER_ERROR_AMBIGUOUS;
  tool_error("%s%s%s", named ? file : "", named ? ": " : "",
             muster_message()); /* loading names the file itself */
  return named                                                        ? TOOL_USAGE
         : r == MUSTER_ERROR_NOT_MODELLED || r == MUSTER_ERROR_MEMORY ? TOOL_OURS
                                                                      : TOOL_CANNOT;
}

/* The kernel's parameters against the arguments given. */
static int check_sizes(const tool_options *o, muster_kernel *kernel) {
  muster_kernel_info info = MUSTER_KERNEL_INFO_INIT;
  muster_kernel_get(kernel, &info);
  if (o->arg.n != info.parameters) {
    tool_error("%s takes %u parameter%s, and there %s %zu --arg", info.plain_name, info.parameters,
               info.parameters == 1 ? "" : "s", o->arg.n == 1 ? "is" : "are", o->arg.n);
    return TOOL_USAGE;
  }
  for (uint32_t i = 0; i < info.parameters; i++) {
    size_t wanted = 0, given = args[i].kind == TOOL_ARG_VALUE ? args[i].n_bytes : sizeof args[i].address;
    muster_kernel_parameter_bytes(kernel, i, &wanted);
    if (wanted != given) {
      tool_error("--arg %s: %zu byte%s%s, and parameter %u of %s has %zu", args[i].spec, given,
                 given == 1 ? "" : "s", args[i].kind == TOOL_ARG_VALUE ? "" : " (an address)", i,
                 info.plain_name, wanted);
      return TOOL_USAGE;
    }
  }
  return TOOL_OK;
}

static int failed(const char *what, int code) {
  tool_error("%s: %s", what, muster_message());
  return code;
}

static int make_buffers(const tool_options *o, muster_device *device, void **parameters) {
  for (size_t i = 0; i < o->arg.n; i++) {
    tool_arg *a = &args[i];
    parameters[i] = a->kind == TOOL_ARG_VALUE ? (void *)a->bytes : &a->address;
    if (a->kind == TOOL_ARG_REF)
      a->address = args[a->ref].address + a->offset;
    if (a->kind != TOOL_ARG_BUFFER)
      continue;
    muster_result r = muster_alloc(device, a->n_bytes, &a->address);
    if (r == MUSTER_OK && a->bytes)
      r = muster_copy_in(device, a->address, a->bytes, a->n_bytes);
    else if (r == MUSTER_OK && a->zero)
      r = muster_fill_bytes(device, a->address, 0, a->n_bytes);
    if (r != MUSTER_OK)
      return failed(a->spec, TOOL_OURS);
    free(a->bytes); /* large ones come in pairs otherwise */
    a->bytes = NULL;
  }
  return TOOL_OK;
}

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int launch(const tool_options *o, muster_device *device, muster_kernel *kernel, void **parameters) {
  muster_device_info info = MUSTER_DEVICE_INFO_INIT;
  muster_device_get(device, &info);
  muster_launch l = MUSTER_LAUNCH_INIT;
  memcpy(l.grid, &o->grid, sizeof l.grid);
  memcpy(l.block, &o->block, sizeof l.block);
  memcpy(l.cluster, &o->cluster, sizeof l.cluster);
  l.shared_bytes = o->shared;
  l.cooperative = o->cooperative;
  uint64_t launches = o->has.launches ? o->launches : 1;
  for (uint64_t i = 1; i <= launches; i++) {
    double start = seconds();
    muster_result r = muster_kernel_launch(kernel, &l, parameters);
    if (r == MUSTER_OK)
      r = muster_wait(device);
    if (r != MUSTER_OK) {
      tool_error("launch %llu of %llu failed: %s", (unsigned long long)i, (unsigned long long)launches,
                 muster_message());
      return r == MUSTER_ERROR_NOT_MODELLED ? TOOL_OURS : TOOL_LAUNCH_FAILED;
    }
    if (o->stats && !info.is_cpu) /* the CPU device counts for itself */
      tool_error("launch %llu: %.3f ms on the host's clock", (unsigned long long)i,
                 1e3 * (seconds() - start));
  }
  return TOOL_OK;
}

static int write_outs(const tool_options *o, muster_device *device) {
  for (size_t i = 0; i < o->out.n; i++) {
    const tool_arg *a = &args[outs[i].arg];
    uint8_t *bytes = malloc(a->n_bytes + 1);
    if (!bytes) {
      tool_error("--out %s: %zu bytes do not fit into memory", o->out.items[i], a->n_bytes);
      return TOOL_OURS;
    }
    size_t head_bytes = 0;
    char *head = NULL;
    bool good = muster_copy_out(device, bytes, a->address, a->n_bytes) == MUSTER_OK;
    if (!good)
      failed(o->out.items[i], TOOL_OURS);
    if (good && tool_has_suffix(outs[i].path, ".npy"))
      head = tool_npy_header(&a->shape, &head_bytes);
    good = good && tool_write_file(outs[i].path, head, head_bytes, bytes, a->n_bytes);
    free(head);
    free(bytes);
    if (!good)
      return TOOL_OURS;
  }
  return TOOL_OK;
}

int tool_kernel(const tool_options *o) {
  muster_device *device = NULL;
  muster_kernel *kernel = NULL;
  int code = tool_kernel_open(o, &device, &kernel);
  if (code == TOOL_OK)
    code = check_sizes(o, kernel);
  void **parameters = tool_alloc((o->arg.n + 1) * sizeof *parameters);
  if (code == TOOL_OK)
    code = make_buffers(o, device, parameters);
  if (code == TOOL_OK)
    code = launch(o, device, kernel, parameters);
  if (code == TOOL_OK)
    code = write_outs(o, device);
  for (size_t i = 0; device && i < o->arg.n; i++)
    if (args[i].kind == TOOL_ARG_BUFFER && args[i].address)
      muster_free(device, args[i].address);
  free(parameters);
  muster_close(device);
  return code;
}
