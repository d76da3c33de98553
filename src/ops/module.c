/* module.c: kernels out of an image.
 *
 * A program carries one fat binary a source file; each becomes a module of the driver, and the kernels of all
 * are one list. A part that the device cannot load (a linked cubin beside relocatable PTX) is no error as
 * long as another loads; its reason is kept for when the kernel is then not found.
 */
#include "ops.h"

#include "base/name.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the driver said while it read PTX; the options that make it do so. */
typedef struct reader_log {
  char text[4096];
  CUjit_option options[2];
  void *values[2];
} reader_log;

static void begin_log(reader_log *l) {
  l->text[0] = 0;
  l->options[0] = CU_JIT_ERROR_LOG_BUFFER;
  l->values[0] = l->text;
  l->options[1] = CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES;
  l->values[1] = (void *)(uintptr_t)(sizeof l->text - 1);
}

static muster_result failed(muster_module *m, CUresult answer, const char *name, reader_log *l) {
  muster_result r = ops_fail_cu(m->device, answer, name);
  l->text[sizeof l->text - 1] = 0;
  if (l->text[0]) {
    char *first = strdup(muster_message());
    r = ops_fail(r, "%s\n%s", l->text, first ? first : name);
    free(first);
  }
  return r;
}

/* The part's bytes, aligned as the driver wants them, and PTX with a NUL at its end. */
static void *copy_of(const ops_part *part) {
  char *copy = malloc(part->bytes + 1);
  if (copy) {
    memcpy(copy, part->at, part->bytes);
    copy[part->bytes] = 0;
  }
  return copy;
}

static muster_result load_part(muster_module *m, const char *name, const ops_part *part) {
  reader_log log;
  void *copy = copy_of(part);
  if (!copy)
    return ops_no_memory();
  begin_log(&log);
  CUresult answer = m->device->cu.cuModuleLoadDataEx(&m->parts[m->n_parts], copy, 2, log.options, log.values);
  free(copy);
  m->n_parts += answer == CUDA_SUCCESS;
  return answer == CUDA_SUCCESS ? MUSTER_OK : failed(m, answer, name, &log);
}

/* Links those of the parts that have to be, into one module. Linking also takes the name that messages about
 * PTX begin with, so PTX text comes this way too. Units that the device cannot use at all (libcudadevrt, for
 * newer GPUs) are left out: if they were needed, a symbol is missing and the linker says which. */
static muster_result link_parts(muster_module *m, const char *name, const ops_part *parts, size_t n) {
  muster_driver *cu = &m->device->cu;
  reader_log log;
  CUlinkState state;
  CUresult answer, refused = CUDA_SUCCESS;
  size_t added = 0;
  begin_log(&log);
  answer = cu->cuLinkCreate(2, log.options, log.values, &state);
  if (answer != CUDA_SUCCESS)
    return failed(m, answer, name, &log);
  for (size_t i = 0; i < n && answer == CUDA_SUCCESS; i++) {
    if (!parts[i].relocatable && parts[i].kind != OPS_PTX)
      continue;
    void *copy = copy_of(&parts[i]);
    answer =
        copy ? cu->cuLinkAddData(state, parts[i].kind == OPS_PTX ? CU_JIT_INPUT_PTX : CU_JIT_INPUT_FATBINARY,
                                 copy, parts[i].bytes + (parts[i].kind == OPS_PTX), name, 0, NULL, NULL)
             : CUDA_ERROR_OUT_OF_MEMORY;
    free(copy);
    added += answer == CUDA_SUCCESS;
    if (answer == CUDA_ERROR_NO_BINARY_FOR_GPU) {
      refused = answer;
      answer = CUDA_SUCCESS;
    }
  }
  if (answer == CUDA_SUCCESS && added == 0)
    answer = refused;
  void *image = NULL;
  size_t bytes = 0;
  if (answer == CUDA_SUCCESS)
    answer = cu->cuLinkComplete(state, &image, &bytes);
  if (answer == CUDA_SUCCESS)
    answer = cu->cuModuleLoadData(&m->parts[m->n_parts], image);
  m->n_parts += answer == CUDA_SUCCESS;
  muster_result r = answer == CUDA_SUCCESS ? MUSTER_OK : failed(m, answer, name, &log);
  cu->cuLinkDestroy(state); /* the image goes with it; the module has read it */
  return r;
}

/* Which parts become modules: what is linked, as one; every other fat binary by itself, unless it holds
 * nothing but the machine code that the linker of nvcc once made of those, or that the CPU device cannot run.
 */
static muster_result load_parts(muster_module *m, const char *name, const ops_part *parts, size_t n) {
  bool linked = false, ptx = false;
  char *why = NULL;
  muster_result first = MUSTER_OK, r = MUSTER_OK;
  for (size_t i = 0; i < n; i++) {
    linked |= parts[i].relocatable || parts[i].kind == OPS_PTX;
    ptx |= parts[i].has_ptx;
  }
  if (linked)
    first = link_parts(m, name, parts, n);
  if (first != MUSTER_OK)
    why = strdup(muster_message());
  for (size_t i = 0; i < n; i++) {
    if (parts[i].relocatable || parts[i].kind == OPS_PTX ||
        (!parts[i].has_ptx && (linked || (ptx && m->device->info.is_cpu))))
      continue;
    r = load_part(m, name, &parts[i]);
    if (r != MUSTER_OK && first == MUSTER_OK) {
      first = r;
      why = strdup(muster_message());
    }
  }
  r = m->n_parts > 0 ? MUSTER_OK : ops_fail(first, "%s", why ? why : name);
  free(why);
  return r;
}

muster_result ops_kernel_load(muster_kernel *k) {
  muster_driver *cu = &k->module->device->cu;
  static const CUfunction_attribute wanted[] = {
      CU_FUNC_ATTRIBUTE_NUM_REGS, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
      CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES,
      CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES};
  enum { WANTED = sizeof wanted / sizeof *wanted };
  if (k->function)
    return MUSTER_OK;
  int value[WANTED] = {0};
  CUfunction function = NULL;
  cu->cuCtxSetCurrent(k->module->device->context);
  CUresult answer = cu->cuModuleGetFunction(&function, k->part, k->info.name);
  for (int i = 0; i < WANTED && answer == CUDA_SUCCESS; i++)
    answer = cu->cuFuncGetAttribute(&value[i], wanted[i], function);
  if (answer != CUDA_SUCCESS)
    return ops_fail_cu(k->module->device, answer, k->plain);
  k->info.registers = (uint32_t)value[0];
  k->info.threads_per_block = (uint32_t)value[1];
  k->info.shared_bytes = (size_t)value[2];
  k->info.local_bytes = (size_t)value[3];
  k->info.const_bytes = (size_t)value[4];
  size_t offset, bytes;
  k->info.parameters = 0;
  while ((answer = cu->cuFuncGetParamInfo(function, k->info.parameters, &offset, &bytes)) == CUDA_SUCCESS) {
    size_t *more = realloc(k->parameter_bytes, (k->info.parameters + 1) * sizeof *more);
    if (!more)
      return ops_no_memory();
    k->parameter_bytes = more;
    k->parameter_bytes[k->info.parameters++] = bytes;
  }
  if (answer != CUDA_ERROR_INVALID_VALUE) /* that is the answer behind the last */
    return ops_fail_cu(k->module->device, answer,
                       "cannot ask for a kernel's parameters (CUDA 12.4 and later can)");
  k->function = function;
  ops_kernel_registers(k);
  return MUSTER_OK;
}

void ops_kernel_registers(muster_kernel *k) {
  int registers;
  if (k->module->device->cu.cuFuncGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, k->function) ==
      CUDA_SUCCESS)
    k->info.registers = (uint32_t)registers;
  k->info.registers_estimated = k->module->device->info.is_cpu && !muster_driver_counted(k->function);
}

static muster_result name_kernel(muster_kernel *k, CUfunction lazy) {
  const char *name = NULL;
  char plain[1024];
  CUresult answer = k->module->device->cu.cuFuncGetName(&name, lazy);
  if (answer != CUDA_SUCCESS || !name)
    return ops_fail_cu(k->module->device, answer, "cannot ask for a kernel's name (CUDA 12.3 and later can)");
  k->info = (muster_kernel_info){.size = sizeof k->info, .name = name};
  k->plain = strdup(base_plain_name(name, plain, sizeof plain) ? plain : name);
  if (!k->plain)
    return ops_no_memory();
  k->info.plain_name = k->plain;
  return MUSTER_OK;
}

static muster_result list_kernels(muster_module *m, CUmodule part) {
  muster_driver *cu = &m->device->cu;
  unsigned count = 0;
  CUresult answer = cu->cuModuleGetFunctionCount(&count, part);
  CUfunction *functions = calloc(count + 1, sizeof *functions);
  muster_kernel *more = realloc(m->kernels, (m->n_kernels + count + 1) * sizeof *more);
  if (more)
    m->kernels = more;
  if (!functions || !more) {
    free(functions);
    return ops_no_memory();
  }
  if (answer == CUDA_SUCCESS && count > 0)
    answer = cu->cuModuleEnumerateFunctions(functions, count, part);
  muster_result r = MUSTER_OK;
  if (answer != CUDA_SUCCESS)
    r = ops_fail_cu(m->device, answer, "cannot list the kernels of a module (CUDA 12.4 and later can)");
  for (unsigned i = 0; i < count && r == MUSTER_OK; i++) {
    muster_kernel *k = &m->kernels[m->n_kernels++];
    *k = (muster_kernel){.module = m, .part = part};
    r = name_kernel(k, functions[i]);
  }
  free(functions);
  return r;
}

void ops_module_free(muster_module *m) {
  for (size_t i = 0; i < m->n_parts; i++)
    m->device->cu.cuModuleUnload(m->parts[i]);
  for (size_t i = 0; i < m->n_kernels; i++) {
    free(m->kernels[i].plain);
    free(m->kernels[i].parameter_bytes);
  }
  free(m->kernels);
  free(m->parts);
  free(m);
}

muster_result muster_module_load(muster_device *device, const char *name, const void *image, size_t bytes,
                                 muster_module **module) {
  ops_begin();
  if (!device || !name || !image || !module)
    return ops_fail(MUSTER_ERROR_ARGUMENT,
                    "muster_module_load: a device, a name, an image and a place are needed");
  *module = NULL;
  ops_part *parts;
  size_t n;
  muster_result r = ops_image_parts(name, image, bytes, &parts, &n);
  if (r != MUSTER_OK)
    return r;
  muster_module *m = calloc(1, sizeof *m);
  CUmodule *modules = calloc(n + 1, sizeof *modules);
  if (!m || !modules) {
    free(m);
    free(modules);
    free(parts);
    return ops_no_memory();
  }
  *m = (muster_module){.device = device, .parts = modules};
  device->cu.cuCtxSetCurrent(device->context);
  r = load_parts(m, name, parts, n);
  free(parts);
  for (size_t i = 0; i < m->n_parts && r == MUSTER_OK; i++)
    r = list_kernels(m, m->parts[i]);
  if (r != MUSTER_OK) {
    ops_module_free(m);
    return r;
  }
  m->next = device->modules;
  device->modules = m;
  *module = m;
  ops_begin();
  return MUSTER_OK;
}

muster_result muster_module_open(muster_device *device, const char *path, muster_module **module) {
  ops_begin();
  FILE *file = path ? fopen(path, "rbe") : NULL;
  if (!file)
    return ops_fail(MUSTER_ERROR_FILE, "%s: %s", path ? path : "(no path)",
                    path ? strerror(errno) : "not given");
  uint8_t *image = NULL;
  size_t bytes = 0, room = 0, got;
  do {
    if (room - bytes < 65536) {
      uint8_t *more = realloc(image, room = room * 2 + 65536);
      if (!more) {
        free(image);
        fclose(file);
        return ops_no_memory();
      }
      image = more;
    }
    got = fread(image + bytes, 1, room - bytes, file);
    bytes += got;
  } while (got > 0);
  bool bad = ferror(file) != 0;
  int why = errno;
  fclose(file);
  muster_result r = bad ? ops_fail(MUSTER_ERROR_FILE, "%s: %s", path, strerror(why))
                        : muster_module_load(device, path, image, bytes, module);
  free(image);
  return r;
}

void muster_module_unload(muster_module *module) {
  ops_begin();
  if (!module)
    return;
  module->device->cu.cuCtxSetCurrent(module->device->context);
  for (muster_module **m = &module->device->modules; *m; m = &(*m)->next)
    if (*m == module) {
      *m = module->next;
      break;
    }
  ops_module_free(module);
}

size_t muster_module_kernels(const muster_module *module) {
  return module ? module->n_kernels : 0;
}

muster_kernel *muster_module_kernel(muster_module *module, size_t index) {
  return module && index < module->n_kernels ? &module->kernels[index] : NULL;
}

/* The names of the kernels that match `asked` (all if NULL), at most a few. */
static void list_names(const muster_module *m, const char *asked, char *to, size_t bytes) {
  size_t n = 0, at = 0;
  to[0] = 0;
  for (size_t i = 0; i < m->n_kernels && at < bytes; i++) {
    const muster_kernel *k = &m->kernels[i];
    if (asked && !base_name_matches(asked, k->info.name, k->plain))
      continue;
    if (n++ == 8) {
      snprintf(to + at, bytes - at, ", ...");
      return;
    }
    at += (size_t)snprintf(to + at, bytes - at, "%s%s", n > 1 ? ", " : "", k->info.name);
  }
}

muster_result muster_module_find(muster_module *module, const char *name, muster_kernel **kernel) {
  ops_begin();
  if (!module || !name || !kernel)
    return ops_fail(MUSTER_ERROR_ARGUMENT, "muster_module_find: a module, a name and a place are needed");
  *kernel = NULL;
  muster_kernel *found = NULL;
  size_t matches = 0;
  for (size_t i = 0; i < module->n_kernels; i++) {
    muster_kernel *k = &module->kernels[i];
    if (strcmp(k->info.name, name) == 0) { /* the mangled name is always one kernel's */
      found = k;
      matches = 1;
      break;
    }
    if (base_name_matches(name, k->info.name, k->plain)) {
      matches++;
      found = k;
    }
  }
  if (matches == 1) {
    muster_result r = ops_kernel_load(found);
    *kernel = r == MUSTER_OK ? found : NULL;
    return r;
  }
  char names[2048];
  list_names(module, matches ? name : NULL, names, sizeof names);
  if (matches > 1)
    return ops_fail(MUSTER_ERROR_AMBIGUOUS, "%zu kernels are called %s: %s", matches, name, names);
  return ops_fail(MUSTER_ERROR_NOT_FOUND, "no kernel is called %s; there %s %s", name,
                  module->n_kernels == 1 ? "is" : "are", module->n_kernels ? names : "no kernels at all");
}

muster_result muster_kernel_get(muster_kernel *kernel, muster_kernel_info *info) {
  ops_begin();
  if (!kernel || !info || info->size < sizeof(size_t) || info->size > sizeof *info)
    return ops_fail(MUSTER_ERROR_ARGUMENT,
                    "muster_kernel_get: no kernel, or a struct that was not initialised");
  muster_result r = ops_kernel_load(kernel);
  size_t size = info->size;
  memcpy(info, &kernel->info, size);
  info->size = size;
  return r;
}

muster_result muster_kernel_parameter_bytes(muster_kernel *kernel, uint32_t index, size_t *bytes) {
  ops_begin();
  muster_result r = kernel && bytes ? ops_kernel_load(kernel) : MUSTER_OK;
  if (r != MUSTER_OK)
    return r;
  if (!kernel || !bytes || index >= kernel->info.parameters)
    return ops_fail(MUSTER_ERROR_ARGUMENT, "no parameter %u", index);
  *bytes = kernel->parameter_bytes[index];
  return MUSTER_OK;
}
