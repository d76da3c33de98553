/* pointer.c: what an address is: cuPointerGetAttribute and its kin. */
#include <string.h>

#include "driver/drv.h"

typedef struct pointer {
  const drv_memory *memory; /* NULL: a module's variable */
  sim_allocation variable;
  drv_device *device;
} pointer;

static bool look_up(uint64_t address, pointer *out) {
  memset(out, 0, sizeof *out);
  out->memory = drv_memory_at(address);
  if (out->memory) {
    out->device = out->memory->pool ? out->memory->pool->device : out->memory->context->device;
    return true;
  }
  for (int i = 0; drv_in_device_range(address) && i < drv_device_count; i++)
    if (drv_devices[i].sim && sim_memory_find(drv_devices[i].sim, address, &out->variable) &&
        out->variable.kind != SIM_MEMORY_HOST) {
      out->device = &drv_devices[i];
      return true;
    }
  return false;
}

/* One attribute of a pointer that is known. */
static CUresult answer(const pointer *p, void *value, CUpointer_attribute attribute, CUdeviceptr address) {
  const drv_memory *m = p->memory;
  bool host = m && (m->kind == DRV_PINNED || m->kind == DRV_REGISTERED),
       managed = m && m->kind == DRV_MANAGED;
  switch (attribute) {
  case CU_POINTER_ATTRIBUTE_CONTEXT:
    *(CUcontext *)value = m ? m->context : p->device->contexts;
    return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    *(unsigned *)value = host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
    return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
    *(CUdeviceptr *)value = address;
    return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_HOST_POINTER:
    if (!host && !managed)
      return CUDA_ERROR_INVALID_VALUE;
    *(void **)value = (void *)(uintptr_t)address;
    return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    *(int *)value = m ? m->sync_memops : 0;
    return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_BUFFER_ID:
  case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
    *(unsigned long long *)value = m ? m->id : p->variable.number;
    return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    *(int *)value = managed;
    return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
    *(int *)value = p->device->ordinal;
    return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
  case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
    *(CUdeviceptr *)value = m ? m->address : p->variable.address;
    return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
  case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
    *(size_t *)value = m ? m->bytes : p->variable.bytes;
    return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_MAPPED:
    *(int *)value = 1;
    return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
    *(uint64_t *)value = 0;
    return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
  case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
  case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE:
    *(int *)value = 0;
    return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
    *(int *)value = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
    *(CUmemoryPool *)value = m ? m->pool : NULL;
    return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_P2P_TOKENS:
    return drv_refuse("cuPointerGetAttribute of P2P tokens");
  }
  return CUDA_ERROR_INVALID_VALUE;
}

CUresult drv_cuPointerGetAttribute(void *value, CUpointer_attribute attribute, CUdeviceptr address) {
  pointer p;
  if (!value)
    return CUDA_ERROR_INVALID_VALUE;
  return look_up(address, &p) ? answer(&p, value, attribute, address) : CUDA_ERROR_INVALID_VALUE;
}

/* How much an attribute's value takes, to clear it. */
static size_t value_bytes(CUpointer_attribute attribute) {
  switch (attribute) {
  case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
  case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
  case CU_POINTER_ATTRIBUTE_IS_MANAGED:
  case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
  case CU_POINTER_ATTRIBUTE_MAPPED:
  case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
  case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
  case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE:
  case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
    return sizeof(int);
  case CU_POINTER_ATTRIBUTE_P2P_TOKENS:
    return 16;
  default:
    return 8;
  }
}

/* Unlike its sister this one answers for any address: zeros for what is not the device's, and -2 as its
 * device. */
CUresult drv_cuPointerGetAttributes(unsigned count, CUpointer_attribute *attributes, void **values,
                                    CUdeviceptr address) {
  pointer p;
  if (count == 0 || !attributes || !values)
    return CUDA_ERROR_INVALID_VALUE;
  bool known = look_up(address, &p);
  for (unsigned i = 0; i < count; i++) {
    CUpointer_attribute a = attributes[i];
    if (a < CU_POINTER_ATTRIBUTE_CONTEXT || a > CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE || !values[i])
      return CUDA_ERROR_INVALID_VALUE;
    if (known && answer(&p, values[i], a, address) == CUDA_SUCCESS)
      continue;
    memset(values[i], 0, value_bytes(a));
    if (!known && a == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL)
      *(int *)values[i] = CU_DEVICE_INVALID;
  }
  return CUDA_SUCCESS;
}

CUresult drv_cuPointerSetAttribute(const void *value, CUpointer_attribute attribute, CUdeviceptr address) {
  drv_memory *m = drv_memory_at(address);
  if (!value || attribute != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS || !m || m->kind != DRV_DEVICE_MEMORY)
    return CUDA_ERROR_INVALID_VALUE;
  m->sync_memops = *(const int *)value != 0;
  return CUDA_SUCCESS;
}
