/* copy.c: copies and fills, of lines, rectangles and boxes, and of a program's variables.
 *
 * With unified addressing a pointer itself tells where it points; the direction that a program names is
 * checked where it names one, because the driver's functions for a direction refuse a pointer of the other
 * kind. A copy that is not asynchronous goes through the default stream that the caller was given and is
 * waited for there.
 */
#include <stdint.h>

#include "runtime/rt.h"

CUdeviceptr rt_address(const void *pointer) {
  return (CUdeviceptr)(uintptr_t)pointer;
}

static bool rt_is_kind(cudaMemcpyKind kind) {
  return (int)kind >= cudaMemcpyHostToHost && kind <= cudaMemcpyDefault;
}

/* Runs `call`, whose result is an error, then waits for its stream if the default one is the thread's; the
 * driver's own synchronous functions serve the other. */
static cudaError_t rt_wait(const muster_driver *cu, cudaError_t error, cudaStream_t stream) {
  return error == cudaSuccess ? rt_error(cu->cuStreamSynchronize(stream)) : error;
}

/* ------------------------------------------------------------------ lines */

cudaError_t rt_cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                          cudaStream_t stream) {
  cudaError_t error;
  const muster_driver *cu = rt_enter(&error);
  if (!cu)
    return error;
  if (!rt_is_kind(kind))
    return cudaErrorInvalidMemcpyDirection;
  if (bytes == 0)
    return cudaSuccess;
  if (!to || !from)
    return cudaErrorInvalidValue;
  if (stream)
    return rt_wait(cu, rt_cudaMemcpyAsync(to, from, bytes, kind, stream), stream);
  switch (kind) {
  case cudaMemcpyHostToDevice:
    return rt_error(cu->cuMemcpyHtoD(rt_address(to), from, bytes));
  case cudaMemcpyDeviceToHost:
    return rt_error(cu->cuMemcpyDtoH(to, rt_address(from), bytes));
  case cudaMemcpyDeviceToDevice:
    return rt_error(cu->cuMemcpyDtoD(rt_address(to), rt_address(from), bytes));
  default:
    return rt_error(cu->cuMemcpy(rt_address(to), rt_address(from), bytes));
  }
}

cudaError_t rt_cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                               cudaStream_t stream) {
  cudaError_t error;
  const muster_driver *cu = rt_enter(&error);
  if (!cu)
    return error;
  if (!rt_is_kind(kind))
    return cudaErrorInvalidMemcpyDirection;
  if (bytes == 0)
    return cudaSuccess;
  if (!to || !from)
    return cudaErrorInvalidValue;
  switch (kind) {
  case cudaMemcpyHostToDevice:
    return rt_error(cu->cuMemcpyHtoDAsync(rt_address(to), from, bytes, stream));
  case cudaMemcpyDeviceToHost:
    return rt_error(cu->cuMemcpyDtoHAsync(to, rt_address(from), bytes, stream));
  case cudaMemcpyDeviceToDevice:
    return rt_error(cu->cuMemcpyDtoDAsync(rt_address(to), rt_address(from), bytes, stream));
  default:
    return rt_error(cu->cuMemcpyAsync(rt_address(to), rt_address(from), bytes, stream));
  }
}

cudaError_t rt_cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t bytes) {
  CUcontext to_context, from_context;
  cudaError_t error = rt_primary(to_device, &to_context);
  if (error == cudaSuccess)
    error = rt_primary(from_device, &from_context);
  if (error != cudaSuccess)
    return error;
  RT_CALL(cuMemcpyPeer, rt_address(to), to_context, rt_address(from), from_context, bytes);
}

cudaError_t rt_cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t bytes,
                                   cudaStream_t stream) {
  CUcontext to_context, from_context;
  cudaError_t error = rt_primary(to_device, &to_context);
  if (error == cudaSuccess)
    error = rt_primary(from_device, &from_context);
  if (error != cudaSuccess)
    return error;
  RT_CALL(cuMemcpyPeerAsync, rt_address(to), to_context, rt_address(from), from_context, bytes, stream);
}

/* ------------------------------------------------------------------ rectangles */

static CUmemorytype rt_source_of(cudaMemcpyKind kind) {
  return kind == cudaMemcpyDefault                                        ? CU_MEMORYTYPE_UNIFIED
         : kind == cudaMemcpyHostToHost || kind == cudaMemcpyHostToDevice ? CU_MEMORYTYPE_HOST
                                                                          : CU_MEMORYTYPE_DEVICE;
}

static CUmemorytype rt_target_of(cudaMemcpyKind kind) {
  return kind == cudaMemcpyDefault                                        ? CU_MEMORYTYPE_UNIFIED
         : kind == cudaMemcpyHostToHost || kind == cudaMemcpyDeviceToHost ? CU_MEMORYTYPE_HOST
                                                                          : CU_MEMORYTYPE_DEVICE;
}

static cudaError_t rt_rectangle(CUDA_MEMCPY2D *copy, void *to, size_t to_pitch, const void *from,
                                size_t from_pitch, size_t width, size_t height, cudaMemcpyKind kind) {
  if (!rt_is_kind(kind))
    return cudaErrorInvalidMemcpyDirection;
  if (height > 1 && (to_pitch < width || from_pitch < width))
    return cudaErrorInvalidPitchValue;
  if (width && height && (!to || !from))
    return cudaErrorInvalidValue;
  *copy = (CUDA_MEMCPY2D){.srcMemoryType = rt_source_of(kind),
                          .srcHost = from,
                          .srcDevice = rt_address(from),
                          .srcPitch = from_pitch,
                          .dstMemoryType = rt_target_of(kind),
                          .dstHost = to,
                          .dstDevice = rt_address(to),
                          .dstPitch = to_pitch,
                          .WidthInBytes = width,
                          .Height = height};
  return cudaSuccess;
}

cudaError_t rt_cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                            size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  CUDA_MEMCPY2D copy;
  cudaError_t error;
  const muster_driver *cu = rt_enter(&error);
  if (!cu)
    return error;
  error = rt_rectangle(&copy, to, to_pitch, from, from_pitch, width, height, kind);
  if (error != cudaSuccess || width == 0 || height == 0)
    return error;
  if (stream)
    return rt_wait(cu, rt_error(cu->cuMemcpy2DAsync(&copy, stream)), stream);
  return rt_error(cu->cuMemcpy2DUnaligned(&copy));
}

cudaError_t rt_cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                                 size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  CUDA_MEMCPY2D copy;
  const cudaError_t error = rt_rectangle(&copy, to, to_pitch, from, from_pitch, width, height, kind);
  if (error != cudaSuccess || width == 0 || height == 0)
    return error;
  RT_CALL(cuMemcpy2DAsync, &copy, stream);
}

/* ------------------------------------------------------------------ boxes */

cudaError_t rt_box(CUDA_MEMCPY3D *copy, const cudaMemcpy3DParms *p) {
  if (!p || (p->srcArray && p->srcPtr.ptr) || (p->dstArray && p->dstPtr.ptr))
    return cudaErrorInvalidValue;
  if (!rt_is_kind(p->kind))
    return cudaErrorInvalidMemcpyDirection;
  if (p->srcArray || p->dstArray)
    return rt_refuse("a copy to or from an array");
  if (p->extent.height > 1 || p->extent.depth > 1)
    if (p->srcPtr.pitch < p->extent.width || p->dstPtr.pitch < p->extent.width)
      return cudaErrorInvalidPitchValue;
  *copy = (CUDA_MEMCPY3D){.srcXInBytes = p->srcPos.x,
                          .srcY = p->srcPos.y,
                          .srcZ = p->srcPos.z,
                          .srcMemoryType = rt_source_of(p->kind),
                          .srcHost = p->srcPtr.ptr,
                          .srcDevice = rt_address(p->srcPtr.ptr),
                          .srcPitch = p->srcPtr.pitch,
                          .srcHeight = p->srcPtr.ysize,
                          .dstXInBytes = p->dstPos.x,
                          .dstY = p->dstPos.y,
                          .dstZ = p->dstPos.z,
                          .dstMemoryType = rt_target_of(p->kind),
                          .dstHost = p->dstPtr.ptr,
                          .dstDevice = rt_address(p->dstPtr.ptr),
                          .dstPitch = p->dstPtr.pitch,
                          .dstHeight = p->dstPtr.ysize,
                          .WidthInBytes = p->extent.width,
                          .Height = p->extent.height,
                          .Depth = p->extent.depth};
  return cudaSuccess;
}

static bool rt_empty(cudaExtent extent) {
  return extent.width == 0 || extent.height == 0 || extent.depth == 0;
}

cudaError_t rt_cudaMemcpy3D(const cudaMemcpy3DParms *p, cudaStream_t stream) {
  CUDA_MEMCPY3D copy;
  cudaError_t error;
  const muster_driver *cu = rt_enter(&error);
  if (!cu)
    return error;
  error = rt_box(&copy, p);
  if (error != cudaSuccess || rt_empty(p->extent))
    return error;
  if (stream)
    return rt_wait(cu, rt_error(cu->cuMemcpy3DAsync(&copy, stream)), stream);
  return rt_error(cu->cuMemcpy3D(&copy));
}

cudaError_t rt_cudaMemcpy3DAsync(const cudaMemcpy3DParms *p, cudaStream_t stream) {
  CUDA_MEMCPY3D copy;
  const cudaError_t error = rt_box(&copy, p);
  if (error != cudaSuccess || rt_empty(p->extent))
    return error;
  RT_CALL(cuMemcpy3DAsync, &copy, stream);
}

static cudaError_t rt_peer_box(CUDA_MEMCPY3D_PEER *copy, const cudaMemcpy3DPeerParms *p) {
  CUcontext from, to;
  if (!p)
    return cudaErrorInvalidValue;
  if (p->srcArray || p->dstArray)
    return rt_refuse("a copy to or from an array");
  cudaError_t error = rt_primary(p->srcDevice, &from);
  if (error == cudaSuccess)
    error = rt_primary(p->dstDevice, &to);
  if (error != cudaSuccess)
    return error;
  *copy = (CUDA_MEMCPY3D_PEER){.srcXInBytes = p->srcPos.x,
                               .srcY = p->srcPos.y,
                               .srcZ = p->srcPos.z,
                               .srcMemoryType = CU_MEMORYTYPE_DEVICE,
                               .srcDevice = rt_address(p->srcPtr.ptr),
                               .srcContext = from,
                               .srcPitch = p->srcPtr.pitch,
                               .srcHeight = p->srcPtr.ysize,
                               .dstXInBytes = p->dstPos.x,
                               .dstY = p->dstPos.y,
                               .dstZ = p->dstPos.z,
                               .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                               .dstDevice = rt_address(p->dstPtr.ptr),
                               .dstContext = to,
                               .dstPitch = p->dstPtr.pitch,
                               .dstHeight = p->dstPtr.ysize,
                               .WidthInBytes = p->extent.width,
                               .Height = p->extent.height,
                               .Depth = p->extent.depth};
  return cudaSuccess;
}

cudaError_t rt_cudaMemcpy3DPeer(const cudaMemcpy3DPeerParms *p, cudaStream_t stream) {
  CUDA_MEMCPY3D_PEER copy;
  cudaError_t error;
  const muster_driver *cu = rt_enter(&error);
  if (!cu)
    return error;
  error = rt_peer_box(&copy, p);
  if (error != cudaSuccess || rt_empty(p->extent))
    return error;
  if (stream)
    return rt_wait(cu, rt_error(cu->cuMemcpy3DPeerAsync(&copy, stream)), stream);
  return rt_error(cu->cuMemcpy3DPeer(&copy));
}

cudaError_t rt_cudaMemcpy3DPeerAsync(const cudaMemcpy3DPeerParms *p, cudaStream_t stream) {
  CUDA_MEMCPY3D_PEER copy;
  const cudaError_t error = rt_peer_box(&copy, p);
  if (error != cudaSuccess || rt_empty(p->extent))
    return error;
  RT_CALL(cuMemcpy3DPeerAsync, &copy, stream);
}

/* ------------------------------------------------------------------ variables */

cudaError_t rt_within(const void *symbol, size_t bytes, size_t offset, void **address) {
  CUdeviceptr start;
  size_t size;
  const cudaError_t error = rt_symbol(symbol, &start, &size);
  if (error != cudaSuccess)
    return error;
  if (offset > size || bytes > size - offset)
    return cudaErrorInvalidValue;
  *address = (void *)(uintptr_t)(start + offset);
  return cudaSuccess;
}

static bool rt_is_kind_to(cudaMemcpyKind kind) {
  return kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice || kind == cudaMemcpyDefault;
}

static bool rt_is_kind_from(cudaMemcpyKind kind) {
  return kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice || kind == cudaMemcpyDefault;
}

cudaError_t rt_cudaMemcpyToSymbol(const void *symbol, const void *from, size_t bytes, size_t offset,
                                  cudaMemcpyKind kind, cudaStream_t stream) {
  void *to;
  if (!rt_is_kind_to(kind))
    return cudaErrorInvalidMemcpyDirection;
  const cudaError_t error = rt_within(symbol, bytes, offset, &to);
  return error == cudaSuccess ? rt_cudaMemcpy(to, from, bytes, kind, stream) : error;
}

cudaError_t rt_cudaMemcpyToSymbolAsync(const void *symbol, const void *from, size_t bytes, size_t offset,
                                       cudaMemcpyKind kind, cudaStream_t stream) {
  void *to;
  if (!rt_is_kind_to(kind))
    return cudaErrorInvalidMemcpyDirection;
  const cudaError_t error = rt_within(symbol, bytes, offset, &to);
  return error == cudaSuccess ? rt_cudaMemcpyAsync(to, from, bytes, kind, stream) : error;
}

cudaError_t rt_cudaMemcpyFromSymbol(void *to, const void *symbol, size_t bytes, size_t offset,
                                    cudaMemcpyKind kind, cudaStream_t stream) {
  void *from;
  if (!rt_is_kind_from(kind))
    return cudaErrorInvalidMemcpyDirection;
  const cudaError_t error = rt_within(symbol, bytes, offset, &from);
  return error == cudaSuccess ? rt_cudaMemcpy(to, from, bytes, kind, stream) : error;
}

cudaError_t rt_cudaMemcpyFromSymbolAsync(void *to, const void *symbol, size_t bytes, size_t offset,
                                         cudaMemcpyKind kind, cudaStream_t stream) {
  void *from;
  if (!rt_is_kind_from(kind))
    return cudaErrorInvalidMemcpyDirection;
  const cudaError_t error = rt_within(symbol, bytes, offset, &from);
  return error == cudaSuccess ? rt_cudaMemcpyAsync(to, from, bytes, kind, stream) : error;
}

/* ------------------------------------------------------------------ fills */

cudaError_t rt_cudaMemset(void *to, int value, size_t bytes, cudaStream_t stream) {
  cudaError_t error;
  const muster_driver *cu = rt_enter(&error);
  if (!cu || bytes == 0)
    return error;
  if (stream)
    return rt_wait(cu, rt_cudaMemsetAsync(to, value, bytes, stream), stream);
  return rt_error(cu->cuMemsetD8(rt_address(to), (unsigned char)value, bytes));
}

cudaError_t rt_cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream) {
  cudaError_t error;
  const muster_driver *cu = rt_enter(&error);
  if (!cu || bytes == 0)
    return error;
  return rt_error(cu->cuMemsetD8Async(rt_address(to), (unsigned char)value, bytes, stream));
}

cudaError_t rt_cudaMemset2D(void *to, size_t pitch, int value, size_t width, size_t height,
                            cudaStream_t stream) {
  cudaError_t error;
  const muster_driver *cu = rt_enter(&error);
  if (!cu || width == 0 || height == 0)
    return error;
  if (height > 1 && pitch < width)
    return cudaErrorInvalidPitchValue;
  if (stream)
    return rt_wait(cu, rt_cudaMemset2DAsync(to, pitch, value, width, height, stream), stream);
  return rt_error(cu->cuMemsetD2D8(rt_address(to), pitch, (unsigned char)value, width, height));
}

cudaError_t rt_cudaMemset2DAsync(void *to, size_t pitch, int value, size_t width, size_t height,
                                 cudaStream_t stream) {
  cudaError_t error;
  const muster_driver *cu = rt_enter(&error);
  if (!cu || width == 0 || height == 0)
    return error;
  if (height > 1 && pitch < width)
    return cudaErrorInvalidPitchValue;
  return rt_error(cu->cuMemsetD2D8Async(rt_address(to), pitch, (unsigned char)value, width, height, stream));
}

/* A box is as many rectangles as it is deep: its layers are `pitch * ysize` apart. */
cudaError_t rt_cudaMemset3DAsync(cudaPitchedPtr to, int value, cudaExtent extent, cudaStream_t stream) {
  cudaError_t error = cudaSuccess;
  if (extent.depth > 1 && to.ysize < extent.height)
    return cudaErrorInvalidValue;
  for (size_t z = 0; z < extent.depth && error == cudaSuccess; z++)
    error = rt_cudaMemset2DAsync((char *)to.ptr + z * to.pitch * to.ysize, to.pitch, value, extent.width,
                                 extent.height, stream);
  return error;
}

cudaError_t rt_cudaMemset3D(cudaPitchedPtr to, int value, cudaExtent extent, cudaStream_t stream) {
  cudaError_t error = rt_cudaMemset3DAsync(to, value, extent, stream);
  cudaError_t why;
  const muster_driver *cu = rt_enter(&why);
  return cu ? rt_wait(cu, error, stream) : why;
}
