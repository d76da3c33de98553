/* memory.c: allocations of every kind, pools, what a pointer points to, advice about managed memory. */
#include <stdint.h>

#include "runtime/rt.h"

/* An allocation through a CUdeviceptr, handed out as a pointer. */
#define RT_ALLOCATE(pointer, function, ...)                 \
  do {                                                      \
    cudaError_t rt_why;                                     \
    CUdeviceptr address = 0;                                \
    if (!(pointer))                                         \
      return cudaErrorInvalidValue;                         \
    const muster_driver *cu = rt_enter(&rt_why);            \
    if (!cu)                                                \
      return rt_why;                                        \
    rt_why = rt_error(cu->function(&address, __VA_ARGS__)); \
    if (rt_why == cudaSuccess)                              \
      *(pointer) = (void *)(uintptr_t)address;              \
    return rt_why;                                          \
  } while (0)

/* Nothing to do but what every call does: make the context, tell of an error that destroyed it. */
static cudaError_t rt_touch(void) {
  size_t free_bytes, total_bytes;
  RT_CALL(cuMemGetInfo, &free_bytes, &total_bytes);
}

/* No bytes: CUDA's runtime gives a null pointer, where the driver refuses. */
static cudaError_t rt_nothing(void **pointer) {
  *pointer = NULL;
  return rt_touch();
}

cudaError_t rt_cudaMalloc(void **pointer, size_t bytes) {
  if (pointer && bytes == 0)
    return rt_nothing(pointer);
  RT_ALLOCATE(pointer, cuMemAlloc, bytes);
}

/* Pitches are asked for the widest element, so that any access to a row's start is aligned. */
enum { RT_WIDEST = 16 };

cudaError_t rt_cudaMallocPitch(void **pointer, size_t *pitch, size_t width_bytes, size_t height) {
  if (!pitch)
    return cudaErrorInvalidValue;
  if (pointer && (width_bytes == 0 || height == 0)) {
    *pitch = 0;
    return rt_nothing(pointer);
  }
  RT_ALLOCATE(pointer, cuMemAllocPitch, pitch, width_bytes, height, RT_WIDEST);
}

cudaError_t rt_cudaMalloc3D(cudaPitchedPtr *pointer, cudaExtent extent) {
  if (!pointer)
    return cudaErrorInvalidValue;
  if (extent.depth && extent.height > SIZE_MAX / extent.depth)
    return cudaErrorMemoryAllocation;
  cudaPitchedPtr made = {.xsize = extent.width, .ysize = extent.height};
  const cudaError_t error =
      rt_cudaMallocPitch(&made.ptr, &made.pitch, extent.width, extent.height * extent.depth);
  if (error == cudaSuccess)
    *pointer = made;
  return error;
}

cudaError_t rt_cudaFree(void *pointer) {
  if (!pointer) /* a common way to make the context */
    return rt_touch();
  RT_CALL(cuMemFree, rt_address(pointer));
}

cudaError_t rt_cudaMallocHost(void **pointer, size_t bytes) {
  return rt_cudaHostAlloc(pointer, bytes, 0);
}

cudaError_t rt_cudaHostAlloc(void **pointer, size_t bytes, unsigned flags) {
  if (!pointer)
    return cudaErrorInvalidValue;
  if (bytes == 0)
    return rt_nothing(pointer);
  RT_CALL(cuMemHostAlloc, pointer, bytes, flags);
}

cudaError_t rt_cudaFreeHost(void *pointer) {
  if (!pointer)
    return rt_touch();
  RT_CALL(cuMemFreeHost, pointer);
}

cudaError_t rt_cudaHostRegister(void *pointer, size_t bytes, unsigned flags) {
  RT_CALL(cuMemHostRegister, pointer, bytes, flags);
}

cudaError_t rt_cudaHostUnregister(void *pointer) {
  RT_CALL(cuMemHostUnregister, pointer);
}

cudaError_t rt_cudaHostGetDevicePointer(void **device_pointer, void *pointer, unsigned flags) {
  RT_ALLOCATE(device_pointer, cuMemHostGetDevicePointer, pointer, flags);
}

cudaError_t rt_cudaHostGetFlags(unsigned *flags, void *pointer) {
  RT_CALL(cuMemHostGetFlags, flags, pointer);
}

cudaError_t rt_cudaMallocManaged(void **pointer, size_t bytes, unsigned flags) {
  if (pointer && bytes == 0)
    return rt_nothing(pointer);
  RT_ALLOCATE(pointer, cuMemAllocManaged, bytes, flags);
}

cudaError_t rt_cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes) {
  size_t free_scratch, total_scratch;
  RT_CALL(cuMemGetInfo, free_bytes ? free_bytes : &free_scratch, total_bytes ? total_bytes : &total_scratch);
}

/* ------------------------------------------------------------------ in stream order, pools */

cudaError_t rt_cudaMallocAsync(void **pointer, size_t bytes, cudaStream_t stream) {
  if (pointer && bytes == 0)
    return rt_nothing(pointer);
  RT_ALLOCATE(pointer, cuMemAllocAsync, bytes, stream);
}

cudaError_t rt_cudaMallocFromPoolAsync(void **pointer, size_t bytes, cudaMemPool_t pool,
                                       cudaStream_t stream) {
  RT_ALLOCATE(pointer, cuMemAllocFromPoolAsync, bytes, pool, stream);
}

cudaError_t rt_cudaFreeAsync(void *pointer, cudaStream_t stream) {
  RT_CALL(cuMemFreeAsync, rt_address(pointer), stream);
}

static cudaError_t rt_pool_of(CUresult (*get)(CUmemoryPool *, CUdevice), cudaMemPool_t *pool, int device,
                              const muster_driver *cu) {
  CUdevice handle;
  if (!pool)
    return cudaErrorInvalidValue;
  if (device < 0 || device >= rt_device_count())
    return cudaErrorInvalidDevice;
  const cudaError_t error = rt_error(cu->cuDeviceGet(&handle, device));
  return error == cudaSuccess ? rt_error(get(pool, handle)) : error;
}

cudaError_t rt_cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device) {
  cudaError_t error;
  const muster_driver *cu = rt_driver(&error);
  return cu ? rt_pool_of(cu->cuDeviceGetDefaultMemPool, pool, device, cu) : error;
}

cudaError_t rt_cudaDeviceGetMemPool(cudaMemPool_t *pool, int device) {
  cudaError_t error;
  const muster_driver *cu = rt_driver(&error);
  return cu ? rt_pool_of(cu->cuDeviceGetMemPool, pool, device, cu) : error;
}

cudaError_t rt_cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
  cudaError_t error;
  CUdevice handle;
  const muster_driver *cu = rt_driver(&error);
  if (!cu)
    return error;
  if (device < 0 || device >= rt_device_count())
    return cudaErrorInvalidDevice;
  error = rt_error(cu->cuDeviceGet(&handle, device));
  return error == cudaSuccess ? rt_error(cu->cuDeviceSetMemPool(handle, pool)) : error;
}

cudaError_t rt_cudaMemPoolCreate(cudaMemPool_t *pool, const CUmemPoolProps *properties) {
  RT_CALL(cuMemPoolCreate, pool, properties);
}

cudaError_t rt_cudaMemPoolDestroy(cudaMemPool_t pool) {
  RT_CALL(cuMemPoolDestroy, pool);
}

cudaError_t rt_cudaMemPoolTrimTo(cudaMemPool_t pool, size_t keep_bytes) {
  RT_CALL(cuMemPoolTrimTo, pool, keep_bytes);
}

cudaError_t rt_cudaMemPoolSetAttribute(cudaMemPool_t pool, CUmemPool_attribute attribute, void *value) {
  RT_CALL(cuMemPoolSetAttribute, pool, attribute, value);
}

cudaError_t rt_cudaMemPoolGetAttribute(cudaMemPool_t pool, CUmemPool_attribute attribute, void *value) {
  RT_CALL(cuMemPoolGetAttribute, pool, attribute, value);
}

cudaError_t rt_cudaMemPoolSetAccess(cudaMemPool_t pool, const CUmemAccessDesc *accesses, size_t count) {
  RT_CALL(cuMemPoolSetAccess, pool, accesses, count);
}

cudaError_t rt_cudaMemPoolGetAccess(CUmemAccess_flags *flags, cudaMemPool_t pool, CUmemLocation *location) {
  RT_CALL(cuMemPoolGetAccess, flags, pool, location);
}

/* ------------------------------------------------------------------ pointers */

cudaError_t rt_cudaPointerGetAttributes(cudaPointerAttributes *attributes, const void *pointer) {
  cudaError_t error;
  const muster_driver *cu = rt_enter(&error);
  if (!cu)
    return error;
  if (!attributes)
    return cudaErrorInvalidValue;
  unsigned memory = 0, managed = 0;
  int device = CU_DEVICE_INVALID;
  CUdeviceptr device_pointer = 0;
  void *host_pointer = NULL;
  CUpointer_attribute which[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED,
                                 CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
                                 CU_POINTER_ATTRIBUTE_HOST_POINTER};
  void *values[] = {&memory, &managed, &device, &device_pointer, &host_pointer};
  error =
      rt_error(cu->cuPointerGetAttributes(sizeof which / sizeof *which, which, values, rt_address(pointer)));
  if (error != cudaSuccess)
    return error;
  /* Only the fields that every version's struct has; the driver leaves zeros for memory that it does not
   * know. */
  attributes->type = managed                          ? cudaMemoryTypeManaged
                     : memory == CU_MEMORYTYPE_HOST   ? cudaMemoryTypeHost
                     : memory == CU_MEMORYTYPE_DEVICE ? cudaMemoryTypeDevice
                                                      : cudaMemoryTypeUnregistered;
  const bool known = attributes->type != cudaMemoryTypeUnregistered;
  attributes->device = known ? device : CU_DEVICE_INVALID;
  attributes->devicePointer = known ? (void *)(uintptr_t)device_pointer : NULL;
  attributes->hostPointer = known ? host_pointer : (void *)(uintptr_t)pointer;
  return cudaSuccess;
}

/* ------------------------------------------------------------------ managed memory */

/* How CUDA 11 and 12 named a place: a device's number or -1 for the host. */
static CUmemLocation rt_location(int device) {
  return device == CU_DEVICE_CPU ? (CUmemLocation){.type = CU_MEM_LOCATION_TYPE_HOST}
                                 : (CUmemLocation){.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device};
}

cudaError_t rt_cudaMemPrefetchAsync(const void *pointer, size_t bytes, CUmemLocation location, unsigned flags,
                                    cudaStream_t stream) {
  RT_CALL(cuMemPrefetchAsync, rt_address(pointer), bytes, location, flags, stream);
}

cudaError_t rt_cudaMemPrefetchAsync_11(const void *pointer, size_t bytes, int device, cudaStream_t stream) {
  return rt_cudaMemPrefetchAsync(pointer, bytes, rt_location(device), 0, stream);
}

cudaError_t rt_cudaMemAdvise(const void *pointer, size_t bytes, CUmem_advise advice, CUmemLocation location) {
  RT_CALL(cuMemAdvise, rt_address(pointer), bytes, advice, location);
}

cudaError_t rt_cudaMemAdvise_11(const void *pointer, size_t bytes, CUmem_advise advice, int device) {
  return rt_cudaMemAdvise(pointer, bytes, advice, rt_location(device));
}

cudaError_t rt_cudaMemRangeGetAttribute(void *data, size_t data_bytes, CUmem_range_attribute attribute,
                                        const void *pointer, size_t bytes) {
  RT_CALL(cuMemRangeGetAttribute, data, data_bytes, attribute, rt_address(pointer), bytes);
}

cudaError_t rt_cudaMemRangeGetAttributes(void **data, size_t *data_bytes, CUmem_range_attribute *attributes,
                                         size_t count, const void *pointer, size_t bytes) {
  if (!data || !data_bytes || !attributes)
    return cudaErrorInvalidValue;
  cudaError_t error = cudaSuccess;
  for (size_t i = 0; i < count && error == cudaSuccess; i++)
    error = rt_cudaMemRangeGetAttribute(data[i], data_bytes[i], attributes[i], pointer, bytes);
  return error;
}

cudaError_t rt_cudaStreamAttachMemAsync(cudaStream_t stream, void *pointer, size_t bytes, unsigned flags) {
  RT_CALL(cuStreamAttachMemAsync, stream, rt_address(pointer), bytes, flags);
}
