/* module.c: modules: a program's units placed on a device, for one context. Loading places variables; kernels
 * are found by name when asked for, and decoded when first needed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/drv.h"
#include "driver/fatbin.h"
#include "driver/library.h"

CUresult drv_module_new(drv_context *c, drv_program *p, base_text *log, drv_module **to) {
  drv_module *m = calloc(1, sizeof *m);
  if (!m || !(m->units = calloc(p->n_units + 1, sizeof(sim_module *))) || !drv_handle_add(m, DRV_MODULE)) {
    free(m ? m->units : NULL);
    free(m);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  m->context = c;
  m->program = p;
  p->users++;
  m->next = c->modules;
  c->modules = m;
  for (uint32_t i = 0; i < p->n_units; i++) {
    char *error = NULL;
    m->units[i] = sim_module_new(c->device->sim, p->units[i], m->units, i, &error);
    if (m->units[i])
      continue;
    muster_session_say(MUSTER_MESSAGE_ERROR, "a module cannot be loaded: %s",
                       error ? error : "out of memory");
    if (log && error)
      base_putf(log, "%s\n", error);
    CUresult r = error ? CUDA_ERROR_INVALID_IMAGE : CUDA_ERROR_OUT_OF_MEMORY;
    free(error);
    drv_module_free(m);
    return r;
  }
  *to = m;
  return CUDA_SUCCESS;
}

void drv_module_free(drv_module *m) {
  drv_library_forget(m);
  for (drv_module **at = &m->context->modules; *at; at = &(*at)->next)
    if (*at == m) {
      *at = m->next;
      break;
    }
  while (m->functions) {
    drv_function *f = m->functions;
    m->functions = f->next;
    drv_handle_remove(f);
    free(f->plain);
    free(f);
  }
  for (uint32_t i = m->program->n_units; i-- > 0;)
    sim_module_free(m->units[i]);
  free(m->units);
  drv_program_drop(m->program);
  drv_handle_remove(m);
  free(m);
}

CUresult drv_module_function(drv_module *m, const char *name, drv_function **to) {
  for (drv_function *f = m->functions; f; f = f->next)
    if (strcmp(f->name, name) == 0) {
      *to = f;
      return CUDA_SUCCESS;
    }
  for (uint32_t i = 0; i < m->program->n_units; i++) {
    struct ptx_module *unit = m->program->units[i];
    uint32_t index = ptx_find_func(unit, name);
    if (index == PTX_NONE || !unit->funcs[index].entry || !unit->funcs[index].defined)
      continue;
    return drv_function_new(m, i, index, to);
  }
  return CUDA_ERROR_NOT_FOUND;
}

bool drv_module_global(const drv_module *m, const char *name, CUdeviceptr *address, size_t *bytes) {
  uint64_t at, n;
  if (address)
    *address = 0;
  if (bytes)
    *bytes = 0;
  for (uint32_t i = 0; i < m->program->n_units; i++)
    if (sim_module_var(m->units[i], name, &at, &n)) {
      if (address)
        *address = at;
      if (bytes)
        *bytes = n;
      return true;
    }
  return false;
}

/* ------------------------------------------------------------------ loading */

static CUresult load(CUmodule *module, const void *image, size_t bytes, base_text *log) {
  drv_context *c = drv_current();
  drv_program *p;
  if (!module || !image)
    return CUDA_ERROR_INVALID_VALUE;
  CUresult r = drv_program_new(c->device, image, bytes, log, &p);
  if (r != CUDA_SUCCESS)
    return r;
  drv_print(c->device);
  r = drv_module_new(c, p, log, module);
  drv_program_drop(p);
  return r;
}

CUresult drv_cuModuleLoadData(CUmodule *module, const void *image) {
  return load(module, image, FATBIN_UNKNOWN_BYTES, NULL);
}

CUresult drv_cuModuleLoadFatBinary(CUmodule *module, const void *image) {
  return load(module, image, FATBIN_UNKNOWN_BYTES, NULL);
}

CUresult drv_cuModuleLoad(CUmodule *module, const char *path) {
  size_t bytes;
  if (!module || !path)
    return CUDA_ERROR_INVALID_VALUE;
  char *image = drv_read_file(path, &bytes);
  if (!image)
    return CUDA_ERROR_FILE_NOT_FOUND;
  CUresult r = load(module, image, bytes, NULL);
  free(image);
  return r;
}

/* Of the options only the logs have a meaning here; the others tune a compiler that is not there. */
CUresult drv_cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned count, CUjit_option *options,
                                void **values) {
  char *log_to = NULL, *info_to = NULL;
  size_t log_bytes = 0, info_bytes = 0;
  if (count && (!options || !values))
    return CUDA_ERROR_INVALID_VALUE;
  for (unsigned i = 0; i < count; i++) {
    if ((unsigned)options[i] >= CU_JIT_NUM_OPTIONS)
      return CUDA_ERROR_INVALID_VALUE;
    if (options[i] == CU_JIT_ERROR_LOG_BUFFER)
      log_to = values[i];
    if (options[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES)
      log_bytes = (uint32_t)(uintptr_t)values[i];
    if (options[i] == CU_JIT_INFO_LOG_BUFFER)
      info_to = values[i];
    if (options[i] == CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES)
      info_bytes = (uint32_t)(uintptr_t)values[i];
  }
  base_text log = {0};
  CUresult r = load(module, image, FATBIN_UNKNOWN_BYTES, &log);
  if (log_to && log_bytes)
    snprintf(log_to, log_bytes, "%s", log.bytes ? log.bytes : "");
  if (info_to && info_bytes)
    info_to[0] = 0;
  for (unsigned i = 0; i < count; i++) { /* the sizes come back as what was written */
    if (options[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES && log_to && log_bytes)
      values[i] = (void *)(uintptr_t)strlen(log_to);
    if (options[i] == CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES)
      values[i] = (void *)(uintptr_t)0;
  }
  base_text_free(&log);
  return r;
}

CUresult drv_cuModuleUnload(CUmodule module) {
  drv_module *m = drv_find(module, DRV_MODULE);
  if (!m || m->library)
    return CUDA_ERROR_INVALID_HANDLE;
  CUresult r = drv_wait_device(m->context->device);
  if (r == CUDA_SUCCESS)
    drv_module_free(m);
  return r;
}

CUresult drv_cuModuleGetLoadingMode(CUmoduleLoadingMode *mode) {
  if (!mode)
    return CUDA_ERROR_INVALID_VALUE;
  *mode = CU_MODULE_LAZY_LOADING;
  return CUDA_SUCCESS;
}

/* ------------------------------------------------------------------ what is in it */

CUresult drv_cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
  drv_module *m = drv_find(module, DRV_MODULE);
  if (!function || !name)
    return CUDA_ERROR_INVALID_VALUE;
  return m ? drv_module_function(m, name, function) : CUDA_ERROR_INVALID_HANDLE;
}

CUresult drv_cuModuleGetFunctionCount(unsigned *count, CUmodule module) {
  drv_module *m = drv_find(module, DRV_MODULE);
  if (!count)
    return CUDA_ERROR_INVALID_VALUE;
  if (!m)
    return CUDA_ERROR_INVALID_HANDLE;
  *count = drv_program_kernels(m->program, NULL, 0);
  return CUDA_SUCCESS;
}

CUresult drv_cuModuleEnumerateFunctions(CUfunction *functions, unsigned count, CUmodule module) {
  drv_module *m = drv_find(module, DRV_MODULE);
  if (!functions || count == 0)
    return CUDA_ERROR_INVALID_VALUE;
  if (!m)
    return CUDA_ERROR_INVALID_HANDLE;
  unsigned n = drv_program_kernels(m->program, NULL, 0);
  const char **names = calloc(n + 1, sizeof *names);
  if (!names)
    return CUDA_ERROR_OUT_OF_MEMORY;
  drv_program_kernels(m->program, names, n);
  CUresult r = CUDA_SUCCESS;
  for (unsigned i = 0; i < n && i < count && r == CUDA_SUCCESS; i++)
    r = drv_module_function(m, names[i], &functions[i]);
  free(names);
  return r;
}

CUresult drv_cuModuleGetGlobal(CUdeviceptr *address, size_t *bytes, CUmodule module, const char *name) {
  drv_module *m = drv_find(module, DRV_MODULE);
  if (!name || (!address && !bytes))
    return CUDA_ERROR_INVALID_VALUE;
  if (!m)
    return CUDA_ERROR_INVALID_HANDLE;
  return drv_module_global(m, name, address, bytes) ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

unsigned drv_program_kernels(const drv_program *p, const char **names, unsigned most) {
  unsigned n = 0;
  for (uint32_t u = 0; u < p->n_units; u++)
    for (uint32_t i = 0; i < p->units[u]->n_funcs; i++) {
      const ptx_func *f = &p->units[u]->funcs[i];
      if (!f->entry || !f->defined)
        continue;
      if (n < most)
        names[n] = f->name;
      n++;
    }
  return n;
}
