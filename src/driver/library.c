/* library.c: libraries and kernels: handles that hold for every context. A library becomes a module of a
 * context when something of it is first used there.
 */
#include "base/base.h"
#include "driver/library.h"

#include <stdlib.h>
#include <string.h>

#include "driver/fatbin.h"

/* An attribute that was set for every device's function of this kernel. */
typedef struct setting {
  bool is_set;
  int value;
} setting;

typedef struct drv_kernel {
  struct drv_kernel *next;
  struct drv_library *library;
  const char *name; /* of the program */
  setting settings[CU_FUNC_ATTRIBUTE_MAX];
  uint64_t context_id; /* whose function was asked for last: launches ask again and again */
  drv_function *function;
} drv_kernel;

typedef struct drv_library {
  drv_program *program;
  drv_kernel *kernels;
  drv_module **modules; /* one a context that uses it */
  uint32_t n_modules, capacity;
} drv_library;

void drv_library_forget(drv_module *m) {
  drv_library *l = m->library;
  for (uint32_t i = 0; l && i < l->n_modules; i++)
    if (l->modules[i] == m) {
      l->modules[i] = l->modules[--l->n_modules];
      break;
    }
  for (drv_kernel *k = l ? l->kernels : NULL; k; k = k->next)
    if (k->function && k->function->module == m)
      k->function = NULL;
}

/* The library's module in a context. */
static CUresult module_in(drv_library *l, drv_context *c, drv_module **to) {
  for (uint32_t i = 0; i < l->n_modules; i++)
    if (l->modules[i]->context == c) {
      *to = l->modules[i];
      return CUDA_SUCCESS;
    }
  if (!BASE_ROOM(l->modules, l->n_modules, l->capacity))
    return CUDA_ERROR_OUT_OF_MEMORY;
  CUresult r = drv_module_new(c, l->program, NULL, to);
  if (r != CUDA_SUCCESS)
    return r;
  (*to)->library = l;
  l->modules[l->n_modules++] = *to;
  return CUDA_SUCCESS;
}

/* ------------------------------------------------------------------ libraries */

static CUresult load(CUlibrary *library, const void *image, size_t bytes, unsigned count,
                     CUlibraryOption *options) {
  if (!library || !image || (count && !options))
    return CUDA_ERROR_INVALID_VALUE;
  for (unsigned i = 0; i < count; i++)
    if (options[i] != CU_LIBRARY_BINARY_IS_PRESERVED)
      return options[i] == CU_LIBRARY_HOST_UNIVERSAL_FUNCTION_AND_DATA_TABLE
                 ? drv_refuse("cuLibraryLoadData with a table of host functions")
                 : CUDA_ERROR_INVALID_VALUE;
  drv_library *l = calloc(1, sizeof *l);
  if (!l || !drv_handle_add(l, DRV_LIBRARY)) {
    free(l);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  CUresult r = drv_program_new(drv_device_at(0), image, bytes, NULL, &l->program);
  if (r != CUDA_SUCCESS) {
    drv_handle_remove(l);
    free(l);
    return r;
  }
  *library = l;
  return CUDA_SUCCESS;
}

CUresult drv_cuLibraryLoadData(CUlibrary *library, const void *image, CUjit_option *jit_options,
                               void **jit_values, unsigned jit_count, CUlibraryOption *options, void **values,
                               unsigned count) {
  (void)values;
  if (jit_count && (!jit_options || !jit_values))
    return CUDA_ERROR_INVALID_VALUE;
  return load(library, image, FATBIN_UNKNOWN_BYTES, count, options);
}

CUresult drv_cuLibraryLoadFromFile(CUlibrary *library, const char *path, CUjit_option *jit_options,
                                   void **jit_values, unsigned jit_count, CUlibraryOption *options,
                                   void **values, unsigned count) {
  size_t bytes;
  (void)values;
  if (!path || (jit_count && (!jit_options || !jit_values)))
    return CUDA_ERROR_INVALID_VALUE;
  char *image = drv_read_file(path, &bytes);
  if (!image)
    return CUDA_ERROR_FILE_NOT_FOUND;
  CUresult r = load(library, image, bytes, count, options);
  free(image);
  return r;
}

CUresult drv_cuLibraryUnload(CUlibrary library) {
  drv_library *l = drv_find(library, DRV_LIBRARY);
  if (!l)
    return CUDA_ERROR_INVALID_HANDLE;
  while (l->n_modules) {
    drv_module *m = l->modules[l->n_modules - 1];
    drv_wait_device(m->context->device);
    drv_module_free(m);
  }
  while (l->kernels) {
    drv_kernel *k = l->kernels;
    l->kernels = k->next;
    drv_handle_remove(k);
    free(k);
  }
  free(l->modules);
  drv_program_drop(l->program);
  drv_handle_remove(l);
  free(l);
  return CUDA_SUCCESS;
}

CUresult drv_cuLibraryGetModule(CUmodule *module, CUlibrary library) {
  drv_library *l = drv_find(library, DRV_LIBRARY);
  if (!module)
    return CUDA_ERROR_INVALID_VALUE;
  return l ? module_in(l, drv_current(), module) : CUDA_ERROR_INVALID_HANDLE;
}

CUresult drv_cuLibraryGetGlobal(CUdeviceptr *address, size_t *bytes, CUlibrary library, const char *name) {
  drv_library *l = drv_find(library, DRV_LIBRARY);
  drv_module *m;
  if (!name || (!address && !bytes))
    return CUDA_ERROR_INVALID_VALUE;
  if (!l)
    return CUDA_ERROR_INVALID_HANDLE;
  CUresult r = module_in(l, drv_current(), &m);
  if (r != CUDA_SUCCESS)
    return r;
  return drv_module_global(m, name, address, bytes) ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

/* Managed variables have one place for all devices: that of the first device's primary context. */
CUresult drv_cuLibraryGetManaged(CUdeviceptr *address, size_t *bytes, CUlibrary library, const char *name) {
  drv_library *l = drv_find(library, DRV_LIBRARY);
  if (!name || (!address && !bytes))
    return CUDA_ERROR_INVALID_VALUE;
  if (!l)
    return CUDA_ERROR_INVALID_HANDLE;
  bool managed = false;
  for (uint32_t i = 0; i < l->program->n_units && !managed; i++) {
    uint32_t index = ptx_find_var(l->program->units[i], name);
    managed = index != PTX_NONE && l->program->units[i]->vars[index].managed;
  }
  if (!managed)
    return CUDA_ERROR_NOT_FOUND;
  if (drv_device_count > 1)
    return drv_refuse("a __managed__ variable with several devices");
  drv_context *c = drv_current();
  drv_module *m;
  CUresult r = c ? CUDA_SUCCESS : drv_primary(&drv_devices[0], &c);
  if (r == CUDA_SUCCESS)
    r = module_in(l, c, &m);
  if (r != CUDA_SUCCESS)
    return r;
  return drv_module_global(m, name, address, bytes) ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

/* ------------------------------------------------------------------ kernels */

static CUresult kernel_named(drv_library *l, const char *name, drv_kernel **to) {
  for (drv_kernel *k = l->kernels; k; k = k->next)
    if (strcmp(k->name, name) == 0) {
      *to = k;
      return CUDA_SUCCESS;
    }
  unsigned n = drv_program_kernels(l->program, NULL, 0);
  const char **names = calloc(n + 1, sizeof *names), *found = NULL;
  if (!names)
    return CUDA_ERROR_OUT_OF_MEMORY;
  drv_program_kernels(l->program, names, n);
  for (unsigned i = 0; i < n && !found; i++)
    if (strcmp(names[i], name) == 0)
      found = names[i];
  free(names);
  if (!found)
    return CUDA_ERROR_NOT_FOUND;
  drv_kernel *k = calloc(1, sizeof *k);
  if (!k || !drv_handle_add(k, DRV_KERNEL)) {
    free(k);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  k->library = l;
  k->name = found;
  k->next = l->kernels;
  l->kernels = k;
  *to = k;
  return CUDA_SUCCESS;
}

CUresult drv_kernel_function(drv_kernel *k, drv_context *c, drv_function **to) {
  if (k->function && k->context_id == c->id) {
    *to = k->function;
    return CUDA_SUCCESS;
  }
  drv_module *m;
  CUresult r = module_in(k->library, c, &m);
  if (r == CUDA_SUCCESS)
    r = drv_module_function(m, k->name, to);
  for (int i = 0; i < CU_FUNC_ATTRIBUTE_MAX && r == CUDA_SUCCESS; i++)
    if (k->settings[i].is_set)
      r = drv_cuFuncSetAttribute(*to, (CUfunction_attribute)i, k->settings[i].value);
  if (r == CUDA_SUCCESS) {
    k->function = *to;
    k->context_id = c->id;
  }
  return r;
}

/* The function of a kernel on a device: in the current context if that is of the device, else the primary
 * one. */
static CUresult function_on(CUkernel kernel, CUdevice device, drv_function **to) {
  drv_kernel *k = drv_find(kernel, DRV_KERNEL);
  drv_device *d = drv_device_at(device);
  if (!k)
    return CUDA_ERROR_INVALID_HANDLE;
  if (!d)
    return CUDA_ERROR_INVALID_DEVICE;
  drv_context *c = drv_current();
  CUresult r = c && c->device == d ? CUDA_SUCCESS : drv_primary(d, &c);
  return r == CUDA_SUCCESS ? drv_kernel_function(k, c, to) : r;
}

CUresult drv_cuLibraryGetKernel(CUkernel *kernel, CUlibrary library, const char *name) {
  drv_library *l = drv_find(library, DRV_LIBRARY);
  if (!kernel || !name)
    return CUDA_ERROR_INVALID_VALUE;
  return l ? kernel_named(l, name, kernel) : CUDA_ERROR_INVALID_HANDLE;
}

CUresult drv_cuLibraryGetKernelCount(unsigned *count, CUlibrary library) {
  drv_library *l = drv_find(library, DRV_LIBRARY);
  if (!count)
    return CUDA_ERROR_INVALID_VALUE;
  if (!l)
    return CUDA_ERROR_INVALID_HANDLE;
  *count = drv_program_kernels(l->program, NULL, 0);
  return CUDA_SUCCESS;
}

CUresult drv_cuLibraryEnumerateKernels(CUkernel *kernels, unsigned count, CUlibrary library) {
  drv_library *l = drv_find(library, DRV_LIBRARY);
  if (!kernels || count == 0)
    return CUDA_ERROR_INVALID_VALUE;
  if (!l)
    return CUDA_ERROR_INVALID_HANDLE;
  unsigned n = drv_program_kernels(l->program, NULL, 0);
  const char **names = calloc(n + 1, sizeof *names);
  if (!names)
    return CUDA_ERROR_OUT_OF_MEMORY;
  drv_program_kernels(l->program, names, n);
  CUresult r = CUDA_SUCCESS;
  for (unsigned i = 0; i < n && i < count && r == CUDA_SUCCESS; i++)
    r = kernel_named(l, names[i], &kernels[i]);
  free(names);
  return r;
}

CUresult drv_cuKernelGetFunction(CUfunction *function, CUkernel kernel) {
  drv_kernel *k = drv_find(kernel, DRV_KERNEL);
  if (!function)
    return CUDA_ERROR_INVALID_VALUE;
  return k ? drv_kernel_function(k, drv_current(), function) : CUDA_ERROR_INVALID_HANDLE;
}

CUresult drv_cuKernelGetLibrary(CUlibrary *library, CUkernel kernel) {
  drv_kernel *k = drv_find(kernel, DRV_KERNEL);
  if (!library)
    return CUDA_ERROR_INVALID_VALUE;
  if (!k)
    return CUDA_ERROR_INVALID_HANDLE;
  *library = k->library;
  return CUDA_SUCCESS;
}

CUresult drv_cuKernelGetName(const char **name, CUkernel kernel) {
  drv_kernel *k = drv_find(kernel, DRV_KERNEL);
  if (!name)
    return CUDA_ERROR_INVALID_VALUE;
  if (!k)
    return CUDA_ERROR_INVALID_HANDLE;
  *name = k->name;
  return CUDA_SUCCESS;
}

CUresult drv_cuKernelGetAttribute(int *value, CUfunction_attribute attribute, CUkernel kernel,
                                  CUdevice device) {
  drv_function *f;
  CUresult r = function_on(kernel, device, &f);
  return r == CUDA_SUCCESS ? drv_cuFuncGetAttribute(value, attribute, f) : r;
}

CUresult drv_cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel kernel,
                                  CUdevice device) {
  drv_function *f;
  CUresult r = function_on(kernel, device, &f);
  if (r == CUDA_SUCCESS)
    r = drv_cuFuncSetAttribute(f, attribute, value);
  if (r == CUDA_SUCCESS)
    kernel->settings[attribute] = (setting){true, value};
  return r;
}

CUresult drv_cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config, CUdevice device) {
  drv_function *f;
  CUresult r = function_on(kernel, device, &f);
  return r == CUDA_SUCCESS ? drv_cuFuncSetCacheConfig(f, config) : r;
}

/* Needs no device: the program says it. */
CUresult drv_cuKernelGetParamInfo(CUkernel kernel, size_t index, size_t *offset, size_t *bytes) {
  drv_kernel *k = drv_find(kernel, DRV_KERNEL);
  if (!k)
    return CUDA_ERROR_INVALID_HANDLE;
  for (uint32_t u = 0; u < k->library->program->n_units; u++) {
    struct ptx_module *unit = k->library->program->units[u];
    uint32_t i = ptx_find_func(unit, k->name);
    if (i != PTX_NONE && unit->funcs[i].entry && unit->funcs[i].defined)
      return drv_param_info(&unit->funcs[i], index, offset, bytes);
  }
  return CUDA_ERROR_NOT_FOUND;
}
