/* memory.c: what the program allocated: device memory, pinned and registered host memory, managed memory,
 * pools.
 *
 * One sorted list of all of it, over all devices, answers for every address whose it is; sizes in it are
 * exact, and no copy may reach beyond them, in either direction. Host memory that kernels may use has the
 * same address for them; the machines of all devices know it.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/base.h"
#include "driver/drv.h"
#include "driver/graph.h"

#define DEVICE_RANGE ((uint64_t)1 << 40) /* address space of one device, from SIM_MEMORY_BASE on */

static drv_memory *all;
static size_t count;
static uint32_t capacity;
static uint64_t memory_number;

/* ------------------------------------------------------------------ the list */

/* The first that begins behind `address`. */
static size_t behind(uint64_t address) {
  size_t low = 0, high = count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (all[middle].address <= address)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

drv_memory *drv_memory_at(uint64_t address) {
  size_t i = behind(address);
  if (i == 0 || address - all[i - 1].address >= all[i - 1].bytes)
    return NULL;
  return &all[i - 1];
}

static bool overlaps(uint64_t address, uint64_t bytes) {
  size_t i = behind(address + bytes - 1);
  return i > 0 && all[i - 1].address + all[i - 1].bytes > address;
}

static bool add(const drv_memory *m) {
  if (!BASE_ROOM(all, count, capacity))
    return false;
  size_t i = behind(m->address);
  memmove(&all[i + 1], &all[i], (count - i) * sizeof *all);
  all[i] = *m;
  all[i].id = ++memory_number;
  count++;
  return true;
}

static void take_out(drv_memory *m) {
  size_t i = (size_t)(m - all);
  memmove(&all[i], &all[i + 1], (count - i - 1) * sizeof *all);
  count--;
}

bool drv_in_device_range(uint64_t address) {
  return address >= SIM_MEMORY_BASE && address < SIM_MEMORY_BASE + DRV_DEVICES * DEVICE_RANGE;
}

/* A variable of a module that holds the address. */
static bool variable_at(uint64_t address, sim_allocation *out) {
  if (!drv_in_device_range(address))
    return false;
  for (int i = 0; i < drv_device_count; i++)
    if (drv_devices[i].sim && sim_memory_find(drv_devices[i].sim, address, out) &&
        (out->kind == SIM_MEMORY_MODULE || out->kind == SIM_MEMORY_CONST))
      return true;
  return false;
}

bool drv_memory_covers(uint64_t address, uint64_t bytes) {
  const drv_memory *m = drv_memory_at(address);
  sim_allocation variable;
  if (m)
    return bytes <= m->bytes - (address - m->address);
  return variable_at(address, &variable) && bytes <= variable.bytes - (address - variable.address);
}

/* ------------------------------------------------------------------ device memory */

/* Frees that wait in streams give room when their turn comes. */
static uint64_t device_memory(drv_device *d, uint64_t bytes) {
  uint64_t address = sim_memory_new(d->sim, bytes);
  for (size_t i = 0; !address && i < count; i++)
    if (all[i].freeing) {
      if (drv_wait_device(d) != CUDA_SUCCESS)
        return 0;
      return sim_memory_new(d->sim, bytes);
    }
  return address;
}

static CUresult allocate(CUdeviceptr *address, size_t bytes, drv_pool *pool, drv_context *c) {
  if (!address || bytes == 0)
    return CUDA_ERROR_INVALID_VALUE;
  drv_device *d = pool ? pool->device : c->device;
  drv_memory m = {.bytes = bytes, .kind = DRV_DEVICE_MEMORY, .context = c, .pool = pool};
  m.address = device_memory(d, bytes);
  if (!m.address)
    return d->sticky ? d->sticky : CUDA_ERROR_OUT_OF_MEMORY;
  if (!add(&m)) {
    sim_memory_free(d->sim, m.address);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  if (pool) {
    pool->used += bytes;
    if (pool->used > pool->used_high)
      pool->used_high = pool->used;
  }
  *address = m.address;
  drv_tell_allocated(&m);
  return CUDA_SUCCESS;
}

CUresult drv_pool_allocate(CUdeviceptr *address, size_t bytes, drv_pool *pool, drv_context *c) {
  if (address && bytes == 0) { /* unlike cuMemAlloc */
    *address = 0;
    return CUDA_SUCCESS;
  }
  return allocate(address, bytes, pool, c);
}

void drv_memory_leave_pool(const drv_pool *pool) {
  for (size_t i = 0; i < count; i++)
    if (all[i].pool == pool) {
      all[i].pool = &pool->device->default_pool;
      all[i].pool->used += all[i].bytes;
    }
}

CUresult drv_cuMemAlloc(CUdeviceptr *address, size_t bytes) {
  CUresult r = drv_capture_forbids();
  return r == CUDA_SUCCESS ? allocate(address, bytes, NULL, drv_current()) : r;
}

CUresult drv_cuMemAllocPitch(CUdeviceptr *address, size_t *pitch, size_t width_bytes, size_t height,
                             unsigned element_bytes) {
  size_t bytes, row = (width_bytes + 511) & ~(size_t)511;
  if (!pitch || width_bytes == 0 || height == 0 || row < width_bytes ||
      __builtin_mul_overflow(row, height, &bytes))
    return CUDA_ERROR_INVALID_VALUE;
  if (element_bytes != 4 && element_bytes != 8 && element_bytes != 16)
    return CUDA_ERROR_INVALID_VALUE;
  CUresult r = drv_cuMemAlloc(address, bytes);
  if (r == CUDA_SUCCESS)
    *pitch = row;
  return r;
}

static void release(drv_memory *m) {
  drv_memory gone = *m;
  take_out(m);
  drv_tell_freed(&gone);
  if (gone.pool)
    gone.pool->used -= gone.bytes;
  if (gone.kind == DRV_DEVICE_MEMORY) {
    drv_device *d = gone.pool ? gone.pool->device : gone.context->device;
    if (d->sim)
      sim_memory_free(d->sim, gone.address);
    return;
  }
  for (int i = 0; i < drv_device_count; i++)
    if (drv_devices[i].sim)
      sim_host_unregister(drv_devices[i].sim, (void *)(uintptr_t)gone.address);
  if (gone.mapped_bytes)
    munmap((void *)(uintptr_t)gone.address, gone.mapped_bytes);
}

CUresult drv_memory_release(uint64_t address) {
  drv_memory *m = drv_memory_at(address);
  if (!m || m->address != address)
    return CUDA_ERROR_INVALID_VALUE;
  release(m);
  return CUDA_SUCCESS;
}

/* Freeing waits for the work that may still use the memory, as a GPU's driver does. */
CUresult drv_cuMemFree(CUdeviceptr address) {
  if (!address)
    return CUDA_SUCCESS;
  drv_memory *m = drv_memory_at(address);
  if (!m || m->address != address || (m->kind != DRV_DEVICE_MEMORY && m->kind != DRV_MANAGED))
    return CUDA_ERROR_INVALID_VALUE;
  CUresult r = drv_capture_forbids();
  if (r == CUDA_SUCCESS)
    r = drv_wait_device(m->context->device);
  if (r != CUDA_SUCCESS)
    return r;
  m = drv_memory_at(address);
  if (m && m->graph) {
    drv_graph_memory_freed(m->graph);
    return CUDA_SUCCESS;
  }
  return drv_memory_release(address); /* looked up again: it may have gone while we waited */
}

void drv_memory_free_context(drv_context *c) {
  for (size_t i = count; i-- > 0;)
    if (all[i].context == c)
      release(&all[i]);
}

CUresult drv_cuMemGetInfo(size_t *free_bytes, size_t *total_bytes) {
  uint64_t left, total;
  sim_memory_amount(drv_current()->device->sim, &left, &total);
  if (free_bytes)
    *free_bytes = left;
  if (total_bytes)
    *total_bytes = total;
  return CUDA_SUCCESS;
}

CUresult drv_cuMemGetAddressRange(CUdeviceptr *base, size_t *bytes, CUdeviceptr address) {
  const drv_memory *m = drv_memory_at(address);
  sim_allocation variable;
  if (!m && !variable_at(address, &variable))
    return CUDA_ERROR_NOT_FOUND;
  if (base)
    *base = m ? m->address : variable.address;
  if (bytes)
    *bytes = m ? m->bytes : variable.bytes;
  return CUDA_SUCCESS;
}

/* ------------------------------------------------------------------ host memory */

static bool register_host(const drv_memory *m) {
  for (int i = 0; i < drv_device_count; i++)
    if (drv_devices[i].sim &&
        !sim_host_register(drv_devices[i].sim, (void *)(uintptr_t)m->address, m->bytes, true)) {
      while (i-- > 0)
        if (drv_devices[i].sim)
          sim_host_unregister(drv_devices[i].sim, (void *)(uintptr_t)m->address);
      return false;
    }
  return true;
}

void drv_memory_register_all(drv_device *d) {
  for (size_t i = 0; i < count; i++)
    if (all[i].kind != DRV_DEVICE_MEMORY)
      sim_host_register(d->sim, (void *)(uintptr_t)all[i].address, all[i].bytes, true);
}

static CUresult new_host_memory(void **pointer, size_t bytes, drv_memory_kind kind, unsigned flags) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  if (!pointer || bytes == 0)
    return CUDA_ERROR_INVALID_VALUE;
  if (bytes > SIZE_MAX - page)
    return CUDA_ERROR_OUT_OF_MEMORY;
  drv_memory m = {.bytes = bytes, .kind = kind, .flags = flags, .context = drv_current()};
  m.mapped_bytes = (bytes + page - 1) & ~(page - 1);
  void *memory =
      mmap(NULL, m.mapped_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    return CUDA_ERROR_OUT_OF_MEMORY;
  m.address = (uintptr_t)memory;
  if (!register_host(&m)) {
    munmap(memory, m.mapped_bytes);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  if (!add(&m)) {
    munmap(memory, m.mapped_bytes);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  drv_tell_allocated(&m);
  *pointer = memory;
  return CUDA_SUCCESS;
}

CUresult drv_cuMemHostAlloc(void **pointer, size_t bytes, unsigned flags) {
  const unsigned known = CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED;
  if (flags & ~known)
    return CUDA_ERROR_INVALID_VALUE;
  return new_host_memory(pointer, bytes, DRV_PINNED, flags);
}

CUresult drv_cuMemAllocHost(void **pointer, size_t bytes) {
  return new_host_memory(pointer, bytes, DRV_PINNED, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP);
}

CUresult drv_cuMemFreeHost(void *pointer) {
  if (!pointer)
    return CUDA_SUCCESS;
  drv_memory *m = drv_memory_at((uintptr_t)pointer);
  if (!m || m->address != (uintptr_t)pointer || m->kind != DRV_PINNED)
    return CUDA_ERROR_INVALID_VALUE;
  CUresult r = drv_wait_device(m->context->device);
  return r == CUDA_SUCCESS ? drv_memory_release((uintptr_t)pointer) : r;
}

CUresult drv_cuMemAllocManaged(CUdeviceptr *address, size_t bytes, unsigned flags) {
  void *pointer = NULL;
  if (!address ||
      (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST && flags != CU_MEM_ATTACH_SINGLE))
    return CUDA_ERROR_INVALID_VALUE;
  CUresult r = new_host_memory(&pointer, bytes, DRV_MANAGED, flags);
  if (r == CUDA_SUCCESS)
    *address = (uintptr_t)pointer;
  return r;
}

CUresult drv_cuMemHostRegister(void *pointer, size_t bytes, unsigned flags) {
  const unsigned known = CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP |
                         CU_MEMHOSTREGISTER_READ_ONLY | CU_MEMHOSTREGISTER_IOMEMORY;
  uint64_t address = (uintptr_t)pointer;
  if (!pointer || bytes == 0 || (flags & ~known) || address + bytes < address)
    return CUDA_ERROR_INVALID_VALUE;
  if (flags & CU_MEMHOSTREGISTER_IOMEMORY)
    return drv_refuse("cuMemHostRegister of I/O memory");
  if (overlaps(address, bytes))
    return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
  drv_memory m = {
      .address = address, .bytes = bytes, .kind = DRV_REGISTERED, .flags = flags, .context = drv_current()};
  if (!register_host(&m))
    return CUDA_ERROR_OUT_OF_MEMORY;
  if (!add(&m))
    return CUDA_ERROR_OUT_OF_MEMORY;
  drv_tell_allocated(&m);
  return CUDA_SUCCESS;
}

CUresult drv_cuMemHostUnregister(void *pointer) {
  drv_memory *m = drv_memory_at((uintptr_t)pointer);
  if (!pointer)
    return CUDA_ERROR_INVALID_VALUE;
  if (!m || m->address != (uintptr_t)pointer || m->kind != DRV_REGISTERED)
    return CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
  CUresult r = drv_wait_device(m->context->device);
  return r == CUDA_SUCCESS ? drv_memory_release((uintptr_t)pointer) : r;
}

CUresult drv_cuMemHostGetDevicePointer(CUdeviceptr *address, void *pointer, unsigned flags) {
  const drv_memory *m = drv_memory_at((uintptr_t)pointer);
  if (!address || flags != 0 || !m || (m->kind != DRV_PINNED && m->kind != DRV_REGISTERED))
    return CUDA_ERROR_INVALID_VALUE;
  *address = (uintptr_t)pointer;
  return CUDA_SUCCESS;
}

CUresult drv_cuMemHostGetFlags(unsigned *flags, void *pointer) {
  const drv_memory *m = drv_memory_at((uintptr_t)pointer);
  if (!flags || !m || m->kind != DRV_PINNED)
    return CUDA_ERROR_INVALID_VALUE;
  *flags = m->flags | CU_MEMHOSTALLOC_DEVICEMAP;
  return CUDA_SUCCESS;
}

/* ------------------------------------------------------------------ hints about managed memory: taken, of no
 * effect */

static CUresult managed_range(CUdeviceptr address, size_t bytes, const CUmemLocation *where) {
  const drv_memory *m = drv_memory_at(address);
  if (bytes == 0 || !m || m->kind != DRV_MANAGED || !drv_memory_covers(address, bytes))
    return CUDA_ERROR_INVALID_VALUE;
  if (where->type == CU_MEM_LOCATION_TYPE_DEVICE)
    return drv_device_at(where->id) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
  return where->type >= CU_MEM_LOCATION_TYPE_HOST && where->type <= CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT
             ? CUDA_SUCCESS
             : CUDA_ERROR_INVALID_VALUE;
}

static CUmemLocation location_of(CUdevice device) {
  return device == CU_DEVICE_CPU ? (CUmemLocation){CU_MEM_LOCATION_TYPE_HOST, 0}
                                 : (CUmemLocation){CU_MEM_LOCATION_TYPE_DEVICE, device};
}

CUresult drv_cuMemPrefetchAsync(CUdeviceptr address, size_t bytes, CUmemLocation location, unsigned flags,
                                CUstream stream) {
  drv_stream *s;
  CUresult r = drv_stream_of(stream, &s);
  if (flags != 0)
    return CUDA_ERROR_INVALID_VALUE;
  return r == CUDA_SUCCESS ? managed_range(address, bytes, &location) : r;
}

CUresult drv_old_cuMemPrefetchAsync(CUdeviceptr address, size_t bytes, CUdevice device, CUstream stream) {
  return drv_cuMemPrefetchAsync(address, bytes, location_of(device), 0, stream);
}

CUresult drv_cuMemAdvise(CUdeviceptr address, size_t bytes, CUmem_advise advice, CUmemLocation location) {
  if (advice < CU_MEM_ADVISE_SET_READ_MOSTLY || advice > CU_MEM_ADVISE_UNSET_ACCESSED_BY)
    return CUDA_ERROR_INVALID_VALUE;
  if (advice <= CU_MEM_ADVISE_UNSET_READ_MOSTLY || advice == CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION)
    location = location_of(CU_DEVICE_CPU); /* not looked at */
  return managed_range(address, bytes, &location);
}

CUresult drv_old_cuMemAdvise(CUdeviceptr address, size_t bytes, CUmem_advise advice, CUdevice device) {
  return drv_cuMemAdvise(address, bytes, advice, location_of(device));
}

CUresult drv_cuMemRangeGetAttribute(void *data, size_t data_bytes, CUmem_range_attribute attribute,
                                    CUdeviceptr address, size_t bytes) {
  CUmemLocation host = location_of(CU_DEVICE_CPU);
  CUresult r = managed_range(address, bytes, &host);
  if (r != CUDA_SUCCESS || !data || data_bytes < sizeof(int))
    return CUDA_ERROR_INVALID_VALUE;
  switch (attribute) {
  case CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY:
    *(int *)data = 0;
    return CUDA_SUCCESS;
  case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION:
  case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION:
    *(int *)data = CU_DEVICE_INVALID;
    return CUDA_SUCCESS;
  case CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY:
    for (size_t i = 0; i < data_bytes / sizeof(int); i++)
      ((int *)data)[i] = CU_DEVICE_INVALID;
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_VALUE;
}

CUresult drv_cuStreamAttachMemAsync(CUstream stream, CUdeviceptr address, size_t bytes, unsigned flags) {
  drv_stream *s;
  CUresult r = drv_stream_of(stream, &s);
  const drv_memory *m = drv_memory_at(address);
  if (r != CUDA_SUCCESS)
    return r;
  if (!m || m->kind != DRV_MANAGED || (bytes != 0 && bytes != m->bytes) || m->address != address ||
      (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST && flags != CU_MEM_ATTACH_SINGLE))
    return CUDA_ERROR_INVALID_VALUE;
  return CUDA_SUCCESS;
}
