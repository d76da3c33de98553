/* context.c: contexts, a host thread's stack of them, limits, and access between devices. A context owns its
 * streams, events, modules and memory, and takes them along when it goes. All contexts of a device share its
 * machine.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/drv.h"

uint32_t drv_threads, drv_blocked;
uint64_t drv_polls;
static uint64_t context_number;
static uint64_t thread_number;
static pthread_key_t thread_key;
static pthread_once_t thread_once = PTHREAD_ONCE_INIT;

/* ------------------------------------------------------------------ host threads */

static void thread_end(void *user) {
  drv_lock();
  drv_thread *t = user;
  /* The thread's own default streams go with it, once their work is done. */
  for (int i = 0; i < drv_device_count; i++)
    for (drv_context *c = drv_devices[i].contexts; c; c = c->next)
      for (drv_stream *s = c->streams; s; s = s->next)
        if (s->thread == t->number)
          s->destroyed = true;
  if (!t->is_device)
    drv_threads--;
  drv_wake();
  drv_unlock();
  free(t);
}

static void thread_make_key(void) {
  pthread_key_create(&thread_key, thread_end);
}

drv_thread *drv_self(void) {
  pthread_once(&thread_once, thread_make_key);
  drv_thread *t = pthread_getspecific(thread_key);
  if (!t && (t = calloc(1, sizeof *t)) != NULL) {
    t->number = ++thread_number;
    drv_threads++;
    pthread_setspecific(thread_key, t);
  }
  return t;
}

drv_context *drv_current(void) {
  drv_thread *t = drv_self();
  drv_context *c = t && t->depth ? t->stack[t->depth - 1] : NULL;
  return drv_find(c, DRV_CONTEXT);
}

static bool push(drv_context *c) {
  drv_thread *t = drv_self();
  if (t->depth == sizeof t->stack / sizeof t->stack[0])
    return false;
  t->stack[t->depth++] = c;
  return true;
}

/* ------------------------------------------------------------------ made and ended */

/* Makes the machine of a device that has none. */
static CUresult device_start(drv_device *d) {
  const muster_session *s = muster_session_get();
  sim_options o = {
      .memory_bytes = d->memory_bytes,
      .seed = s->seed,
      .device_index = (uint32_t)d->ordinal,
      .workers = s->check ? 1 : s->threads, /* what is watched runs on one */
      .lockstep = d->profile->cc < 70 || s->checks.lockstep,
      .print = drv_print_take,
      .print_user = d,
  };
  drv_profile_limits(d->profile, &o.limits);
  d->sim = sim_device_new(&o);
  if (!d->sim) {
    muster_session_say(MUSTER_MESSAGE_FAILURE,
                       "device %d cannot be made: no memory, or its address range is taken", d->ordinal);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  if (!drv_inspect_begin(d))
    return CUDA_ERROR_OUT_OF_MEMORY;
  d->sticky = CUDA_SUCCESS;
  d->state = SIM_IDLE;
  d->running = 0;
  drv_memory_register_all(d);
  drv_engine_start();
  return CUDA_SUCCESS;
}

CUresult drv_context_new(drv_device *d, unsigned flags, drv_context **to) {
  CUresult r = d->sim ? CUDA_SUCCESS : device_start(d);
  if (r != CUDA_SUCCESS)
    return r;
  drv_context *c = calloc(1, sizeof *c);
  if (!c || !drv_handle_add(c, DRV_CONTEXT)) {
    free(c);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  c->device = d;
  c->id = ++context_number;
  c->flags = flags | CU_CTX_MAP_HOST;
  c->limits[CU_LIMIT_STACK_SIZE] = 1024;
  c->limits[CU_LIMIT_PRINTF_FIFO_SIZE] = 8650752;
  c->limits[CU_LIMIT_MALLOC_HEAP_SIZE] = 8 << 20;
  c->limits[CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT] = 2048;
  c->limits[CU_LIMIT_MAX_L2_FETCH_GRANULARITY] = 64;
  c->limits[CU_LIMIT_PERSISTING_L2_CACHE_SIZE] =
      d->profile->cc >= 80 ? (size_t)d->profile->l2_kib * 1024 / 16 * 3 : 0;
  c->next = d->contexts;
  d->contexts = c;
  c->legacy = drv_stream_new(c, 0, 0);
  if (!c->legacy) {
    drv_context_free(c);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  *to = c;
  return CUDA_SUCCESS;
}

void drv_context_free(drv_context *c) {
  drv_device *d = c->device;
  drv_print(d);
  drv_drop_context_work(c);
  if (d->contexts == c && !c->next)
    drv_inspect_ending(d);
  while (c->modules)
    drv_module_free(c->modules);
  while (c->streams)
    drv_stream_free(c->streams);
  while (c->events)
    drv_event_free(c->events);
  if (d->sim)
    drv_memory_free_context(c);
  for (drv_context **at = &d->contexts; *at; at = &(*at)->next)
    if (*at == c) {
      *at = c->next;
      break;
    }
  drv_handle_remove(c);
  if (d->primary == c)
    d->primary = NULL;
  if (!d->contexts && d->sim) {
    drv_inspect_end(d);
    sim_device_free(d->sim);
    d->sim = NULL;
    d->sticky = CUDA_SUCCESS;
    d->running = 0;
    d->state = SIM_IDLE;
  }
  free(c);
}

static bool flags_valid(unsigned flags) {
  unsigned schedule = flags & CU_CTX_SCHED_MASK;
  return (flags & ~(unsigned)CU_CTX_FLAGS_MASK) == 0 && (schedule & (schedule - 1)) == 0;
}

CUresult drv_cuCtxCreate(CUcontext *context, CUctxCreateParams *parameters, unsigned flags, CUdevice device) {
  drv_device *d = drv_device_at(device);
  if (!context || !flags_valid(flags))
    return CUDA_ERROR_INVALID_VALUE;
  if (!d)
    return CUDA_ERROR_INVALID_DEVICE;
  if (parameters && (parameters->numExecAffinityParams > 0 || parameters->cigParams))
    return drv_refuse("cuCtxCreate with execution affinity or graphics sharing");
  CUresult r = drv_context_new(d, flags, context);
  if (r == CUDA_SUCCESS && !push(*context)) {
    drv_context_free(*context);
    r = CUDA_ERROR_OUT_OF_MEMORY;
  }
  return r;
}

CUresult drv_old_cuCtxCreate_v2(CUcontext *context, unsigned flags, CUdevice device) {
  return drv_cuCtxCreate(context, NULL, flags, device);
}

CUresult drv_old_cuCtxCreate_v3(CUcontext *context, void *affinity, int affinity_count, unsigned flags,
                                CUdevice device) {
  CUctxCreateParams p = {affinity, affinity_count, NULL};
  return drv_cuCtxCreate(context, &p, flags, device);
}

CUresult drv_cuCtxDestroy(CUcontext context) {
  drv_context *c = drv_find(context, DRV_CONTEXT);
  if (!c)
    return CUDA_ERROR_INVALID_CONTEXT;
  if (c == c->device->primary)
    return CUDA_ERROR_INVALID_CONTEXT;
  drv_wait_context(c);
  drv_thread *t = drv_self();
  if (t->depth && t->stack[t->depth - 1] == c)
    t->depth--;
  drv_context_free(c);
  return CUDA_SUCCESS;
}

/* ------------------------------------------------------------------ the primary context */

CUresult drv_primary(drv_device *d, drv_context **to) {
  CUresult r = d->primary ? CUDA_SUCCESS : drv_context_new(d, d->primary_flags, &d->primary);
  *to = d->primary;
  return r;
}

CUresult drv_cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
  drv_device *d = drv_device_at(device);
  if (!context)
    return CUDA_ERROR_INVALID_VALUE;
  if (!d)
    return CUDA_ERROR_INVALID_DEVICE;
  CUresult r = drv_primary(d, context);
  d->primary_users += r == CUDA_SUCCESS;
  return r;
}

static void primary_end(drv_device *d) {
  drv_context *c = d->primary;
  if (!c)
    return;
  drv_wait_context(c);
  drv_context_free(c);
}

CUresult drv_cuDevicePrimaryCtxRelease(CUdevice device) {
  drv_device *d = drv_device_at(device);
  if (!d)
    return CUDA_ERROR_INVALID_DEVICE;
  if (d->primary_users == 0)
    return CUDA_ERROR_INVALID_CONTEXT;
  if (--d->primary_users == 0)
    primary_end(d);
  return CUDA_SUCCESS;
}

/* The context goes, its users keep their claim: the next retain makes a fresh one. */
CUresult drv_cuDevicePrimaryCtxReset(CUdevice device) {
  drv_device *d = drv_device_at(device);
  if (!d)
    return CUDA_ERROR_INVALID_DEVICE;
  primary_end(d);
  return CUDA_SUCCESS;
}

CUresult drv_cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned flags) {
  drv_device *d = drv_device_at(device);
  if (!flags_valid(flags))
    return CUDA_ERROR_INVALID_VALUE;
  if (!d)
    return CUDA_ERROR_INVALID_DEVICE;
  d->primary_flags = flags;
  if (d->primary)
    d->primary->flags = flags | CU_CTX_MAP_HOST;
  return CUDA_SUCCESS;
}

CUresult drv_cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags, int *active) {
  drv_device *d = drv_device_at(device);
  if (!flags || !active)
    return CUDA_ERROR_INVALID_VALUE;
  if (!d)
    return CUDA_ERROR_INVALID_DEVICE;
  *flags = d->primary_flags;
  *active = d->primary != NULL;
  return CUDA_SUCCESS;
}

/* ------------------------------------------------------------------ the stack of the calling thread */

CUresult drv_cuCtxPushCurrent(CUcontext context) {
  drv_context *c = drv_find(context, DRV_CONTEXT);
  if (!c)
    return CUDA_ERROR_INVALID_CONTEXT;
  return push(c) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult drv_cuCtxPopCurrent(CUcontext *context) {
  drv_thread *t = drv_self();
  if (t->depth == 0)
    return CUDA_ERROR_INVALID_CONTEXT;
  drv_context *c = t->stack[--t->depth];
  if (context)
    *context = c;
  return CUDA_SUCCESS;
}

CUresult drv_cuCtxSetCurrent(CUcontext context) {
  drv_thread *t = drv_self();
  if (context && !drv_find(context, DRV_CONTEXT))
    return CUDA_ERROR_INVALID_CONTEXT;
  if (t->depth)
    t->depth--;
  if (context)
    push(context);
  return CUDA_SUCCESS;
}

CUresult drv_cuCtxGetCurrent(CUcontext *context) {
  if (!context)
    return CUDA_ERROR_INVALID_VALUE;
  drv_thread *t = drv_self();
  *context = t->depth ? t->stack[t->depth - 1] : NULL;
  return CUDA_SUCCESS;
}

CUresult drv_cuCtxGetDevice(CUdevice *device, CUcontext context) {
  drv_context *c = context ? drv_find(context, DRV_CONTEXT) : drv_current();
  if (!device)
    return CUDA_ERROR_INVALID_VALUE;
  if (!c)
    return CUDA_ERROR_INVALID_CONTEXT;
  *device = c->device->ordinal;
  return CUDA_SUCCESS;
}

CUresult drv_old_cuCtxGetDevice(CUdevice *device) {
  return drv_cuCtxGetDevice(device, NULL);
}

CUresult drv_cuCtxGetFlags(unsigned *flags) {
  drv_context *c = drv_current();
  if (!flags)
    return CUDA_ERROR_INVALID_VALUE;
  if (!c)
    return CUDA_ERROR_INVALID_CONTEXT;
  *flags = c->flags;
  return CUDA_SUCCESS;
}

CUresult drv_cuCtxSetFlags(unsigned flags) {
  drv_context *c = drv_current();
  if (!flags_valid(flags))
    return CUDA_ERROR_INVALID_VALUE;
  if (!c)
    return CUDA_ERROR_INVALID_CONTEXT;
  c->flags = flags | CU_CTX_MAP_HOST;
  return CUDA_SUCCESS;
}

CUresult drv_cuCtxGetId(CUcontext context, unsigned long long *id) {
  drv_context *c = context ? drv_find(context, DRV_CONTEXT) : drv_current();
  if (!id)
    return CUDA_ERROR_INVALID_VALUE;
  if (!c)
    return CUDA_ERROR_INVALID_CONTEXT;
  *id = c->id;
  return CUDA_SUCCESS;
}

CUresult drv_cuCtxGetApiVersion(CUcontext context, unsigned *version) {
  if (!version)
    return CUDA_ERROR_INVALID_VALUE;
  if (context && !drv_find(context, DRV_CONTEXT))
    return CUDA_ERROR_INVALID_CONTEXT;
  *version = 3020;
  return CUDA_SUCCESS;
}

/* ------------------------------------------------------------------ waiting, limits, caches */

CUresult drv_cuCtxSynchronize(CUcontext context) {
  drv_context *c = context ? drv_find(context, DRV_CONTEXT) : drv_current();
  if (!c)
    return CUDA_ERROR_INVALID_CONTEXT;
  CUresult r = drv_wait_context(c);
  drv_print(c->device);
  return r;
}

CUresult drv_old_cuCtxSynchronize(void) {
  return drv_cuCtxSynchronize(NULL);
}

CUresult drv_cuCtxSetLimit(CUlimit limit, size_t value) {
  drv_context *c = drv_current();
  if ((unsigned)limit >= CU_LIMIT_MAX)
    return CUDA_ERROR_INVALID_VALUE;
  if (limit >= CU_LIMIT_SHMEM_SIZE || limit == CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH)
    return CUDA_ERROR_UNSUPPORTED_LIMIT;
  if (limit == CU_LIMIT_MALLOC_HEAP_SIZE)
    sim_heap_limit(c->device->sim, value);
  if (limit == CU_LIMIT_PERSISTING_L2_CACHE_SIZE) { /* a hint: as much of it as there may be */
    int most;
    drv_cuDeviceGetAttribute(&most, CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE, c->device->ordinal);
    if (most == 0)
      return CUDA_ERROR_UNSUPPORTED_LIMIT;
    value = value > (size_t)most ? (size_t)most : value;
  }
  if (limit == CU_LIMIT_MAX_L2_FETCH_GRANULARITY && value > 128)
    return CUDA_ERROR_INVALID_VALUE;
  c->limits[limit] = value;
  return CUDA_SUCCESS;
}

CUresult drv_cuCtxGetLimit(size_t *value, CUlimit limit) {
  if (!value || (unsigned)limit >= CU_LIMIT_MAX)
    return CUDA_ERROR_INVALID_VALUE;
  if (limit >= CU_LIMIT_SHMEM_SIZE || limit == CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH)
    return CUDA_ERROR_UNSUPPORTED_LIMIT;
  *value = drv_current()->limits[limit];
  return CUDA_SUCCESS;
}

CUresult drv_cuCtxGetCacheConfig(CUfunc_cache *config) {
  if (!config)
    return CUDA_ERROR_INVALID_VALUE;
  *config = drv_current()->cache;
  return CUDA_SUCCESS;
}

CUresult drv_cuCtxSetCacheConfig(CUfunc_cache config) {
  if ((unsigned)config > CU_FUNC_CACHE_PREFER_EQUAL)
    return CUDA_ERROR_INVALID_VALUE;
  drv_current()->cache = config;
  return CUDA_SUCCESS;
}

CUresult drv_cuCtxGetSharedMemConfig(CUsharedconfig *config) {
  if (!config)
    return CUDA_ERROR_INVALID_VALUE;
  *config = CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE; /* fixed on every GPU of the profiles */
  return CUDA_SUCCESS;
}

CUresult drv_cuCtxSetSharedMemConfig(CUsharedconfig config) {
  return (unsigned)config <= CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE ? CUDA_SUCCESS
                                                                       : CUDA_ERROR_INVALID_VALUE;
}

CUresult drv_cuCtxGetStreamPriorityRange(int *least, int *greatest) {
  if (least)
    *least = 0;
  if (greatest)
    *greatest = -5;
  return CUDA_SUCCESS;
}

CUresult drv_cuCtxResetPersistingL2Cache(void) {
  return CUDA_SUCCESS;
}

/* ------------------------------------------------------------------ access between devices */

CUresult drv_cuCtxEnablePeerAccess(CUcontext peer, unsigned flags) {
  drv_context *c = drv_current(), *p = drv_find(peer, DRV_CONTEXT);
  if (flags != 0)
    return CUDA_ERROR_INVALID_VALUE;
  if (!p)
    return CUDA_ERROR_INVALID_CONTEXT;
  if (p->device == c->device)
    return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
  if (c->peers & 1u << p->device->ordinal)
    return CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
  if (!sim_peer_enable(c->device->sim, p->device->sim))
    return CUDA_ERROR_OUT_OF_MEMORY;
  c->peers |= 1u << p->device->ordinal;
  return CUDA_SUCCESS;
}

CUresult drv_cuCtxDisablePeerAccess(CUcontext peer) {
  drv_context *c = drv_current(), *p = drv_find(peer, DRV_CONTEXT);
  if (!p)
    return CUDA_ERROR_INVALID_CONTEXT;
  if (!(c->peers & 1u << p->device->ordinal))
    return CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
  c->peers &= ~(1u << p->device->ordinal);
  return CUDA_SUCCESS;
}
