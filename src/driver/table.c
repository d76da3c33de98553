/* table.c: the driver API's symbols, generated from driver.def. Each takes the lock, checks what the function
 * needs (cuInit, a current context without a sticky error), calls drv_<function> and lets go of the lock
 * again. So no implementation checks any of that, and none can forget to.
 */
#include <pthread.h>
#include <string.h>

#include "base/base.h"
#include "driver/drv.h"
#include "driver/symbols.h"

enum needs { NEEDS_ANY, NEEDS_INIT, NEEDS_CTX };

static CUresult enter(enum needs needs, bool per_thread) {
  if (needs == NEEDS_ANY)
    return CUDA_SUCCESS;
  drv_lock();
  if (!drv_initialised())
    return CUDA_ERROR_NOT_INITIALIZED;
  if (drv_ended())
    return CUDA_ERROR_DEINITIALIZED;
  drv_thread *self = drv_self();
  if (!self)
    return CUDA_ERROR_OUT_OF_MEMORY;
  self->per_thread = per_thread;
  if (self->is_device) /* a host function must not use the API */
    return CUDA_ERROR_NOT_PERMITTED;
  if (needs == NEEDS_CTX) {
    drv_context *c = drv_current();
    if (!c)
      return CUDA_ERROR_INVALID_CONTEXT;
    return c->device->sticky;
  }
  return CUDA_SUCCESS;
}

static void leave(enum needs needs) {
  if (needs != NEEDS_ANY)
    drv_unlock();
}

#define WRAP(symbol, needs, per_thread, parameters, call) \
  CUresult symbol parameters {                            \
    CUresult r = enter(NEEDS_##needs, per_thread);        \
    if (r == CUDA_SUCCESS)                                \
      r = call;                                           \
    leave(NEEDS_##needs);                                 \
    return r;                                             \
  }
#define WRAP_NONE(base, suffix, needs, parameters, call)
#define WRAP_PTSZ(base, suffix, needs, parameters, call) \
  WRAP(muster_##base##suffix##_ptsz, needs, true, parameters, call)
#define WRAP_PTDS(base, suffix, needs, parameters, call) \
  WRAP(muster_##base##suffix##_ptds, needs, true, parameters, call)

#define DRIVER(base, suffix, since, needs, per_thread, parameters, arguments) \
  WRAP(muster_##base##suffix, needs, false, parameters, drv_##base arguments) \
  WRAP_##per_thread(base, suffix, needs, parameters, drv_##base arguments)
#define SAME(base, suffix, since, needs, per_thread, parameters, arguments) \
  DRIVER(base, suffix, since, needs, per_thread, parameters, arguments)
#define OLD(base, suffix, since, needs, per_thread, parameters, arguments)                \
  WRAP(muster_##base##suffix, needs, false, parameters, drv_old_##base##suffix arguments) \
  WRAP_##per_thread(base, suffix, needs, parameters, drv_old_##base##suffix arguments)
#define NO(base, suffix, since, per_thread)                          \
  WRAP(muster_##base##suffix, ANY, false, (void), drv_refuse(#base)) \
  WRAP_##per_thread(base, suffix, ANY, (void), drv_refuse(#base))
#include "driver/driver.def"

static const muster_driver table = {
#define DRIVER(base, suffix, since, needs, per_thread, parameters, arguments) .base = muster_##base##suffix,
#include "driver/driver.def"
};

const muster_driver *muster_driver_cpu(void) {
  return &table;
}

/* ------------------------------------------------------------------ by name */

typedef void function(void);
typedef struct entry {
  const char *base;
  int since;
  function *plain, *twin; /* twin: per-thread default stream; NULL: there is none */
} entry;

#define SYMBOL(name) (function *)(uintptr_t)name
#define SYMBOL_NONE(base, suffix) NULL
#define SYMBOL_PTSZ(base, suffix) SYMBOL(muster_##base##suffix##_ptsz)
#define SYMBOL_PTDS(base, suffix) SYMBOL(muster_##base##suffix##_ptds)
static const entry entries[] = {
#define NO(base, suffix, since, per_thread) \
  {#base, since, SYMBOL(muster_##base##suffix), SYMBOL_##per_thread(base, suffix)},
#define DRIVER(base, suffix, since, needs, per_thread, parameters, arguments) \
  NO(base, suffix, since, per_thread)
#define OLD(base, suffix, since, needs, per_thread, parameters, arguments) NO(base, suffix, since, per_thread)
#define SAME(base, suffix, since, needs, per_thread, parameters, arguments) \
  NO(base, suffix, since, per_thread)
#include "driver/driver.def"
};

CUresult drv_cuGetProcAddress(const char *symbol, void **to, int cuda_version, uint64_t flags,
                              CUdriverProcAddressQueryResult *status) {
  const uint64_t known = CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
  if (!symbol || !to || (flags & ~known) || flags == known)
    return CUDA_ERROR_INVALID_VALUE;
  const entry *best = NULL;
  bool any = false;
  for (size_t i = 0; i < BASE_COUNT(entries); i++) {
    const entry *e = &entries[i];
    if (strcmp(e->base, symbol) != 0)
      continue;
    any = true;
    if (e->since <= cuda_version && (!best || e->since > best->since))
      best = e;
  }
  CUdriverProcAddressQueryResult found = best  ? CU_GET_PROC_ADDRESS_SUCCESS
                                         : any ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                                               : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  if (status)
    *status = found;
  *to = NULL;
  if (!best) /* no error: `status` and the missing address tell */
    return CUDA_SUCCESS;
  function *f =
      (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) && best->twin ? best->twin : best->plain;
  *to = (void *)(uintptr_t)f;
  return CUDA_SUCCESS;
}

CUresult drv_old_cuGetProcAddress(const char *symbol, void **to, int cuda_version, uint64_t flags) {
  CUresult r = drv_cuGetProcAddress(symbol, to, cuda_version, flags, NULL);
  return r == CUDA_SUCCESS && !*to ? CUDA_ERROR_NOT_FOUND : r;
}

CUresult drv_refuse(const char *what) {
  muster_session_say_once(MUSTER_MESSAGE_UNMODELLED, what, "%s is not provided by the CPU device", what);
  return CUDA_ERROR_NOT_SUPPORTED;
}

/* NVIDIA's runtime and driver speak to each other through private tables, known by a number. There are none.
 */
CUresult drv_cuGetExportTable(const void **to, const CUuuid *id) {
  if (!to || !id)
    return CUDA_ERROR_INVALID_VALUE;
  *to = NULL;
  return CUDA_ERROR_NOT_FOUND;
}

/* ------------------------------------------------------------------ errors */

CUresult drv_cuGetErrorName(CUresult error, const char **name) {
  if (!name)
    return CUDA_ERROR_INVALID_VALUE;
  *name = muster_driver_error_name(error);
  return *name ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult drv_cuGetErrorString(CUresult error, const char **text) {
  if (!text)
    return CUDA_ERROR_INVALID_VALUE;
  *text = muster_driver_error_text(error);
  return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
