/* function.c: kernels of a module: their attributes, their parameters, and how many registers a thread takes:
 * known from a cubin in the program, else counted by a ptxas at hand when it matters, else estimated by the
 * machine.
 */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/name.h"
#include "driver/drv.h"
#include "driver/fatbin.h"

extern char **environ;

CUresult drv_function_new(drv_module *m, uint32_t unit, uint32_t index, drv_function **to) {
  drv_function *f = calloc(1, sizeof *f);
  if (!f || !drv_handle_add(f, DRV_FUNCTION)) {
    free(f);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  f->module = m;
  f->unit = m->program->units[unit];
  f->unit_index = unit;
  f->index = index;
  f->name = f->unit->funcs[index].name;
  f->carveout = -1;
  char plain[512];
  f->plain = strdup(base_plain_name(f->name, plain, sizeof plain) ? plain : f->name);
  if (!f->plain) {
    drv_handle_remove(f);
    free(f);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  memcpy(f->cluster, f->unit->funcs[index].reqnctapercluster, sizeof f->cluster);
  f->next = m->functions;
  m->functions = f;
  *to = f;
  return CUDA_SUCCESS;
}

/* Static shared memory of a launch that did not opt in to more. */
uint32_t drv_static_shared_limit(const drv_function *f) {
  return (uint32_t)f->module->context->device->profile->shared_block_bytes;
}

static void count_from_cubin(drv_function *f) {
  for (const drv_count *c = f->module->program->counts; c; c = c->next)
    if (strcmp(c->kernel, f->name) == 0) {
      sim_kernel_set_registers(f->kernel, c->registers);
      f->counted = true;
      sim_kernel_get(f->kernel, &f->info);
      return;
    }
}

CUresult drv_function_ready(drv_function *f) {
  if (f->kernel)
    return CUDA_SUCCESS;
  char *error = NULL;
  f->kernel = sim_module_kernel(f->module->units[f->unit_index], f->name, &error);
  if (!f->kernel) {
    muster_session_say_once(MUSTER_MESSAGE_ERROR, f->name, "%s: %s", f->plain,
                            error ? error : "out of memory");
    CUresult r = error ? CUDA_ERROR_INVALID_PTX : CUDA_ERROR_OUT_OF_MEMORY;
    free(error);
    return r;
  }
  sim_kernel_get(f->kernel, &f->info);
  count_from_cubin(f);
  uint32_t limit = drv_static_shared_limit(f);
  if (!f->max_dynamic_shared)
    f->max_dynamic_shared = f->info.shared_bytes < limit ? limit - f->info.shared_bytes : 0;
  return CUDA_SUCCESS;
}

CUresult drv_function_of(CUfunction handle, drv_function **to) {
  *to = drv_find(handle, DRV_FUNCTION);
  if (*to)
    return CUDA_SUCCESS;
  struct drv_kernel *k = drv_find(handle, DRV_KERNEL);
  return k ? drv_kernel_function(k, drv_current(), to) : CUDA_ERROR_INVALID_HANDLE;
}

/* ------------------------------------------------------------------ asking ptxas */

/* The first of these that can be run; NULL: none. */
static const char *find_ptxas(void) {
  static char found[4096];
  static bool sought;
  if (sought)
    return *found ? found : NULL;
  sought = true;
  const char *roots[] = {getenv("CUDA_PATH"), getenv("CUDA_HOME"), "/usr/local/cuda"};
  for (size_t i = 0; i < sizeof roots / sizeof roots[0]; i++)
    if (roots[i] && snprintf(found, sizeof found, "%s/bin/ptxas", roots[i]) < (int)sizeof found &&
        access(found, X_OK) == 0)
      return found;
  for (const char *path = getenv("PATH"); path && *path;) {
    size_t n = strcspn(path, ":");
    if (snprintf(found, sizeof found, "%.*s/ptxas", (int)n, path) < (int)sizeof found &&
        access(found, X_OK) == 0)
      return found;
    path += n + (path[n] == ':');
  }
  *found = 0;
  return NULL;
}

/* Runs it without what preloads muster into the programs that it starts. */
static bool run(const char *tool, char *const arguments[]) {
  size_t n = 0, kept = 0;
  while (environ[n])
    n++;
  char **clean = calloc(n + 1, sizeof *clean);
  pid_t pid;
  int status = -1;
  posix_spawn_file_actions_t files;
  if (!clean)
    return false;
  for (size_t i = 0; i < n; i++)
    if (strncmp(environ[i], "LD_PRELOAD=", 11) != 0 && strncmp(environ[i], "LD_LIBRARY_PATH=", 16) != 0 &&
        strncmp(environ[i], "MUSTER_", 7) != 0)
      clean[kept++] = environ[i];
  posix_spawn_file_actions_init(&files);
  for (int fd = 0; fd <= 2; fd++)
    posix_spawn_file_actions_addopen(&files, fd, "/dev/null", fd ? O_WRONLY : O_RDONLY, 0);
  bool ok = posix_spawn(&pid, tool, &files, NULL, arguments, clean) == 0;
  while (ok && waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  posix_spawn_file_actions_destroy(&files);
  free(clean);
  return ok && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

typedef struct counting {
  drv_module *module;
  uint32_t unit;
  bool changed;
} counting;

static void count_from_ptxas(void *user, const char *kernel, uint32_t registers) {
  counting *c = user;
  drv_function *f;
  if (drv_module_function(c->module, kernel, &f) != CUDA_SUCCESS || f->unit_index != c->unit || f->counted ||
      drv_function_ready(f) != CUDA_SUCCESS)
    return;
  c->changed |= f->info.registers != registers;
  sim_kernel_set_registers(f->kernel, registers);
  f->counted = true;
  sim_kernel_get(f->kernel, &f->info);
}

static bool write_all(int fd, const char *bytes, size_t n) {
  while (n > 0) {
    ssize_t wrote = write(fd, bytes, n);
    if (wrote < 0)
      return false;
    bytes += wrote;
    n -= (size_t)wrote;
  }
  return true;
}

bool drv_function_count(drv_function *f) {
  const char *tool = f->counted || f->asked ? NULL : find_ptxas();
  f->asked = true; /* once: what failed will fail again */
  if (!tool)
    return false;
  char ptx[] = "/tmp/muster-XXXXXX.ptx", cubin[] = "/tmp/muster-XXXXXX.cubin", arch[32];
  int in = mkstemps(ptx, 4), out = mkstemps(cubin, 6);
  counting c = {f->module, f->unit_index, false};
  const char *text = f->unit->text;
  snprintf(arch, sizeof arch, "-arch=sm_%d%.1s", f->module->context->device->profile->cc,
           &f->unit->sm_suffix);
  char *arguments[] = {(char *)(uintptr_t)"ptxas", arch, (char *)(uintptr_t)"-o", cubin, ptx, NULL};
  if (in >= 0 && out >= 0 && write_all(in, text, f->unit->text_bytes) && run(tool, arguments)) {
    size_t n;
    char *bytes = drv_read_file(cubin, &n);
    if (bytes)
      fatbin_cubin_registers(bytes, n, count_from_ptxas, &c);
    free(bytes);
  }
  if (in >= 0) {
    close(in);
    unlink(ptx);
  }
  if (out >= 0) {
    close(out);
    unlink(cubin);
  }
  return c.changed;
}

/* For who shows the count (muster plan): whether it is the real compiler's. */
bool muster_cpu_counted(CUfunction function) {
  drv_function *f;
  drv_lock();
  bool counted = drv_initialised() && drv_current() && drv_function_of(function, &f) == CUDA_SUCCESS &&
                 drv_function_ready(f) == CUDA_SUCCESS;
  if (counted) {
    drv_function_count(f);
    counted = f->counted;
  }
  drv_unlock();
  return counted;
}

/* ------------------------------------------------------------------ attributes */

static int max_threads(const drv_function *f) {
  uint32_t most = f->info.max_threads && f->info.max_threads < 1024 ? f->info.max_threads : 1024;
  /* A block's registers must fit, given out by the warp. */
  while (most > 32 && drv_fit((drv_function *)(uintptr_t)f, most, f->info.shared_bytes, 1).per_sm == 0)
    most -= 32;
  return (int)most;
}

CUresult drv_cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction function) {
  drv_function *f;
  CUresult r = drv_function_of(function, &f);
  if (!value || (unsigned)attribute >= CU_FUNC_ATTRIBUTE_MAX)
    return CUDA_ERROR_INVALID_VALUE;
  if (r == CUDA_SUCCESS)
    r = drv_function_ready(f);
  if (r != CUDA_SUCCESS)
    return r;
  switch (attribute) {
  case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
    *value = max_threads(f);
    break;
  case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
    *value = (int)f->info.shared_bytes;
    break;
  case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
    *value = (int)f->info.const_bytes;
    break;
  case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
    *value = (int)f->info.local_bytes;
    break;
  case CU_FUNC_ATTRIBUTE_NUM_REGS:
    drv_function_count(f);
    *value = (int)f->info.registers;
    break;
  case CU_FUNC_ATTRIBUTE_PTX_VERSION:
    *value = (int)f->unit->sm;
    break;
  case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
    *value = f->module->context->device->profile->cc;
    break;
  case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
    *value = 0;
    break;
  case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
    *value = (int)f->max_dynamic_shared;
    break;
  case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
    *value = f->carveout;
    break;
  case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
    *value = f->unit->funcs[f->index].explicitcluster && !f->cluster[0];
    break;
  case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
  case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
  case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
    *value = (int)f->cluster[attribute - CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH];
    break;
  case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
    *value = f->cluster_non_portable;
    break;
  case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
    *value = f->cluster_policy;
    break;
  case CU_FUNC_ATTRIBUTE_MAX:
    break;
  }
  return CUDA_SUCCESS;
}

CUresult drv_cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
  drv_function *f;
  CUresult r = drv_function_of(function, &f);
  if (r == CUDA_SUCCESS)
    r = drv_function_ready(f);
  if (r != CUDA_SUCCESS)
    return r;
  const drv_profile *p = f->module->context->device->profile;
  bool fixed = f->unit->funcs[f->index].reqnctapercluster[0] != 0; /* the kernel says its cluster itself */
  switch (attribute) {
  case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
    if (value < 0 || (uint32_t)value + f->info.shared_bytes > (uint32_t)p->shared_optin_bytes)
      return CUDA_ERROR_INVALID_VALUE;
    f->max_dynamic_shared = (uint32_t)value;
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
    if (value < -1 || value > 100)
      return CUDA_ERROR_INVALID_VALUE;
    f->carveout = value;
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
  case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
  case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
    if (p->cc < 90)
      return CUDA_ERROR_NOT_SUPPORTED;
    if (fixed)
      return CUDA_ERROR_NOT_PERMITTED;
    if (value < 0)
      return CUDA_ERROR_INVALID_VALUE;
    f->cluster[attribute - CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH] = (uint32_t)value;
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
    if (p->cc < 90)
      return CUDA_ERROR_NOT_SUPPORTED;
    if (value != 0 && value != 1)
      return CUDA_ERROR_INVALID_VALUE;
    f->cluster_non_portable = value;
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
    if (value < 0 || value > 2)
      return CUDA_ERROR_INVALID_VALUE;
    f->cluster_policy = value;
    return CUDA_SUCCESS;
  default:
    return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult drv_cuFuncSetCacheConfig(CUfunction function, CUfunc_cache config) {
  drv_function *f;
  CUresult r = drv_function_of(function, &f);
  if ((unsigned)config > CU_FUNC_CACHE_PREFER_EQUAL)
    return CUDA_ERROR_INVALID_VALUE;
  if (r == CUDA_SUCCESS)
    f->cache = config;
  return r;
}

CUresult drv_cuFuncSetSharedMemConfig(CUfunction function, CUsharedconfig config) {
  drv_function *f;
  CUresult r = drv_function_of(function, &f);
  if ((unsigned)config > CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE)
    return CUDA_ERROR_INVALID_VALUE;
  return r;
}

/* ------------------------------------------------------------------ what it is */

CUresult drv_param_info(const ptx_func *f, size_t index, size_t *offset, size_t *bytes) {
  if (!offset || index >= f->n_params)
    return CUDA_ERROR_INVALID_VALUE;
  *offset = (size_t)f->params[index].offset;
  if (bytes)
    *bytes = (size_t)f->params[index].bytes;
  return CUDA_SUCCESS;
}

CUresult drv_cuFuncGetParamInfo(CUfunction function, size_t index, size_t *offset, size_t *bytes) {
  drv_function *f;
  CUresult r = drv_function_of(function, &f);
  return r == CUDA_SUCCESS ? drv_param_info(&f->unit->funcs[f->index], index, offset, bytes) : r;
}

CUresult drv_cuFuncGetModule(CUmodule *module, CUfunction function) {
  drv_function *f;
  CUresult r = drv_function_of(function, &f);
  if (!module)
    return CUDA_ERROR_INVALID_VALUE;
  if (r == CUDA_SUCCESS)
    *module = f->module;
  return r;
}

CUresult drv_cuFuncGetName(const char **name, CUfunction function) {
  drv_function *f;
  CUresult r = drv_function_of(function, &f);
  if (!name)
    return CUDA_ERROR_INVALID_VALUE;
  if (r == CUDA_SUCCESS)
    *name = f->name;
  return r;
}

CUresult drv_cuFuncIsLoaded(CUfunctionLoadingState *state, CUfunction function) {
  drv_function *f;
  CUresult r = drv_function_of(function, &f);
  if (!state)
    return CUDA_ERROR_INVALID_VALUE;
  if (r == CUDA_SUCCESS)
    *state = f->kernel ? CU_FUNCTION_LOADING_STATE_LOADED : CU_FUNCTION_LOADING_STATE_UNLOADED;
  return r;
}

CUresult drv_cuFuncLoad(CUfunction function) {
  drv_function *f;
  CUresult r = drv_function_of(function, &f);
  return r == CUDA_SUCCESS ? drv_function_ready(f) : r;
}
