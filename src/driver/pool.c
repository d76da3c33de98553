/* pool.c: allocation in stream order, and the pools behind it. Memory is there at once (its address has to
 * be); what stream order decides is when a freed one is gone. Pools keep accounts, not memory: freed memory
 * is free for all.
 */
#include <stdlib.h>

#include "driver/drv.h"
#include "driver/graph.h"

CUresult drv_cuMemAllocFromPoolAsync(CUdeviceptr *address, size_t bytes, CUmemoryPool pool, CUstream stream) {
  drv_stream *s;
  drv_pool *p = drv_find(pool, DRV_POOL);
  CUresult r = drv_stream_of(stream, &s);
  if (r != CUDA_SUCCESS)
    return r;
  if (!p)
    return CUDA_ERROR_INVALID_VALUE;
  if (s->capture)
    return drv_capture_alloc(s, bytes, address);
  return drv_pool_allocate(address, bytes, p, s->context);
}

CUresult drv_cuMemAllocAsync(CUdeviceptr *address, size_t bytes, CUstream stream) {
  drv_stream *s;
  CUresult r = drv_stream_of(stream, &s);
  return r == CUDA_SUCCESS ? drv_cuMemAllocFromPoolAsync(address, bytes, s->context->device->pool, stream)
                           : r;
}

CUresult drv_cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
  drv_stream *s;
  CUresult r = drv_stream_of(stream, &s);
  drv_memory *m = drv_memory_at(address);
  if (r != CUDA_SUCCESS || !address)
    return r;
  if (!m || m->address != address || m->kind != DRV_DEVICE_MEMORY || m->freeing)
    return CUDA_ERROR_INVALID_VALUE;
  if (s->capture)
    return drv_capture_free(s, address);
  if (m->graph) { /* stays the graph's: its next launch has it again */
    drv_graph_memory_freed(m->graph);
    return CUDA_SUCCESS;
  }
  drv_op *op = drv_op_new(DRV_OP_FREE);
  if (!op)
    return CUDA_ERROR_OUT_OF_MEMORY;
  m->freeing = true;
  op->address = address;
  return drv_push(s, op);
}

/* ------------------------------------------------------------------ pools */

CUresult drv_cuDeviceGetDefaultMemPool(CUmemoryPool *pool, CUdevice device) {
  drv_device *d = drv_device_at(device);
  if (!pool)
    return CUDA_ERROR_INVALID_VALUE;
  if (!d)
    return CUDA_ERROR_INVALID_DEVICE;
  *pool = &d->default_pool;
  return CUDA_SUCCESS;
}

CUresult drv_cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice device) {
  drv_device *d = drv_device_at(device);
  if (!pool)
    return CUDA_ERROR_INVALID_VALUE;
  if (!d)
    return CUDA_ERROR_INVALID_DEVICE;
  *pool = d->pool;
  return CUDA_SUCCESS;
}

CUresult drv_cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool) {
  drv_device *d = drv_device_at(device);
  drv_pool *p = drv_find(pool, DRV_POOL);
  if (!d)
    return CUDA_ERROR_INVALID_DEVICE;
  if (!p || p->device != d)
    return CUDA_ERROR_INVALID_VALUE;
  d->pool = p;
  return CUDA_SUCCESS;
}

CUresult drv_cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *properties) {
  if (!pool || !properties || properties->allocType != CU_MEM_ALLOCATION_TYPE_PINNED)
    return CUDA_ERROR_INVALID_VALUE;
  if (properties->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
    return drv_refuse("cuMemPoolCreate for memory that is not a device's");
  if (properties->handleTypes != 0)
    return drv_refuse("cuMemPoolCreate for several processes");
  drv_device *d = drv_device_at(properties->location.id);
  if (!d)
    return CUDA_ERROR_INVALID_DEVICE;
  drv_pool *p = calloc(1, sizeof *p);
  if (!p || !drv_handle_add(p, DRV_POOL)) {
    free(p);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  *p = (drv_pool){.device = d, .reuse = {0, 1, 1, 1}};
  *pool = p;
  return CUDA_SUCCESS;
}

CUresult drv_cuMemPoolDestroy(CUmemoryPool pool) {
  drv_pool *p = drv_find(pool, DRV_POOL);
  if (!p || p->is_default)
    return CUDA_ERROR_INVALID_VALUE;
  if (p->device->pool == p)
    p->device->pool = &p->device->default_pool;
  drv_memory_leave_pool(p);
  drv_handle_remove(p);
  free(p);
  return CUDA_SUCCESS;
}

CUresult drv_cuMemPoolTrimTo(CUmemoryPool pool, size_t keep_bytes) {
  (void)keep_bytes; /* nothing is kept */
  return drv_find(pool, DRV_POOL) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult drv_cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value) {
  drv_pool *p = drv_find(pool, DRV_POOL);
  if (!p || !value)
    return CUDA_ERROR_INVALID_VALUE;
  switch (attribute) {
  case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
  case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
  case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
    p->reuse[attribute] = *(int *)value != 0;
    return CUDA_SUCCESS;
  case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
    p->threshold = *(uint64_t *)value;
    return CUDA_SUCCESS;
  case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
  case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
    if (*(uint64_t *)value != 0)
      return CUDA_ERROR_INVALID_VALUE;
    p->used_high = p->used;
    return CUDA_SUCCESS;
  default:
    return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult drv_cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value) {
  drv_pool *p = drv_find(pool, DRV_POOL);
  if (!p || !value)
    return CUDA_ERROR_INVALID_VALUE;
  switch (attribute) {
  case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
  case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
  case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
    *(int *)value = p->reuse[attribute];
    return CUDA_SUCCESS;
  case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
    *(uint64_t *)value = p->threshold;
    return CUDA_SUCCESS;
  case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
  case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
    *(uint64_t *)value = p->used;
    return CUDA_SUCCESS;
  case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
  case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
    *(uint64_t *)value = p->used_high;
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_VALUE;
}

CUresult drv_cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *accesses, size_t count) {
  drv_pool *p = drv_find(pool, DRV_POOL);
  if (!p || (count && !accesses))
    return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < count; i++) {
    drv_device *d = drv_device_at(accesses[i].location.id);
    if (accesses[i].location.type != CU_MEM_LOCATION_TYPE_DEVICE || !d)
      return CUDA_ERROR_INVALID_DEVICE;
    if (d == p->device && accesses[i].flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
      return CUDA_ERROR_INVALID_VALUE;
    if (d != p->device && accesses[i].flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE) {
      drv_context *unused;
      CUresult r = d->sim ? CUDA_SUCCESS : drv_primary(d, &unused);
      if (r == CUDA_SUCCESS && !p->device->sim)
        r = drv_primary(p->device, &unused);
      if (r != CUDA_SUCCESS)
        return r;
      if (!sim_peer_enable(d->sim, p->device->sim))
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
  }
  return CUDA_SUCCESS;
}

CUresult drv_cuMemPoolGetAccess(CUmemAccess_flags *flags, CUmemoryPool pool, CUmemLocation *location) {
  drv_pool *p = drv_find(pool, DRV_POOL);
  if (!p || !flags || !location)
    return CUDA_ERROR_INVALID_VALUE;
  if (location->type != CU_MEM_LOCATION_TYPE_DEVICE || !drv_device_at(location->id))
    return CUDA_ERROR_INVALID_DEVICE;
  *flags = drv_device_at(location->id) == p->device ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE
                                                    : CU_MEM_ACCESS_FLAGS_PROT_NONE;
  return CUDA_SUCCESS;
}
