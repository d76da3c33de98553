/* device.c: devices: which, how many, what they can do; limits, peers, waiting for one. */
#include <string.h>

#include "runtime/rt.h"

/* A device's handle of the driver, or the error to return. */
static cudaError_t rt_handle(int device, const muster_driver **cu, CUdevice *handle) {
  cudaError_t error;
  *cu = rt_driver(&error);
  if (!*cu)
    return error;
  if (device < 0 || device >= rt_device_count())
    return cudaErrorInvalidDevice;
  return rt_error((*cu)->cuDeviceGet(handle, device));
}

cudaError_t rt_cudaGetDeviceCount(int *count) {
  cudaError_t error;
  if (!count)
    return cudaErrorInvalidValue;
  *count = 0;
  if (!rt_driver(&error))
    return error;
  *count = rt_device_count();
  return cudaSuccess;
}

cudaError_t rt_cudaGetDevice(int *device) {
  cudaError_t error;
  if (!device)
    return cudaErrorInvalidValue;
  if (!rt_driver(&error))
    return error;
  *device = rt_device();
  return cudaSuccess;
}

cudaError_t rt_cudaSetDevice(int device) {
  return rt_use_device(device);
}

cudaError_t rt_cudaInitDevice(int device, unsigned device_flags, unsigned flags) {
  CUcontext context;
  enum { FLAGS_ARE_VALID = 1 };
  if (flags & ~(unsigned)FLAGS_ARE_VALID)
    return cudaErrorInvalidValue;
  const muster_driver *cu;
  CUdevice handle;
  cudaError_t error = rt_handle(device, &cu, &handle);
  if (error == cudaSuccess && (flags & FLAGS_ARE_VALID))
    error = rt_error(cu->cuDevicePrimaryCtxSetFlags(handle, device_flags));
  return error == cudaSuccess ? rt_primary(device, &context) : error;
}

cudaError_t rt_cudaSetValidDevices(int *devices, int count) {
  if (count < 0 || (count > 0 && !devices))
    return cudaErrorInvalidValue;
  for (int i = 0; i < count; i++)
    if (devices[i] < 0 || devices[i] >= rt_device_count())
      return cudaErrorInvalidDevice;
  /* The list only says where an implicit context may be made; the first of it is where. */
  return count ? rt_use_device(devices[0]) : cudaSuccess;
}

cudaError_t rt_cudaSetDeviceFlags(unsigned flags) {
  const muster_driver *cu;
  CUdevice handle;
  if (flags & ~(unsigned)CU_CTX_FLAGS_MASK)
    return cudaErrorInvalidValue;
  const cudaError_t error = rt_handle(rt_device(), &cu, &handle);
  return error == cudaSuccess ? rt_error(cu->cuDevicePrimaryCtxSetFlags(handle, flags)) : error;
}

cudaError_t rt_cudaGetDeviceFlags(unsigned *flags) {
  const muster_driver *cu;
  CUdevice handle;
  int active;
  if (!flags)
    return cudaErrorInvalidValue;
  cudaError_t error = rt_handle(rt_device(), &cu, &handle);
  if (error == cudaSuccess)
    error = rt_error(cu->cuDevicePrimaryCtxGetState(handle, flags, &active));
  if (error == cudaSuccess)
    *flags |= CU_CTX_MAP_HOST; /* with unified addressing memory is always mapped, and the runtime says so */
  return error;
}

cudaError_t rt_cudaDeviceGetAttribute(int *value, CUdevice_attribute attribute, int device) {
  const muster_driver *cu;
  CUdevice handle;
  if (!value)
    return cudaErrorInvalidValue;
  const cudaError_t error = rt_handle(device, &cu, &handle);
  return error == cudaSuccess ? rt_error(cu->cuDeviceGetAttribute(value, attribute, handle)) : error;
}

/* ------------------------------------------------------------------ properties */

/* One field of cudaDeviceProp: `count` ints or one size_t, from device attributes. */
struct rt_property {
  uint16_t offset;
  bool is_size;
  uint8_t count;
  uint8_t attributes[3];
};
#define RT_IS_SIZE(type) _Generic(*(type *)0, size_t: true, default: false)
#define RT_AT(name) CU_DEVICE_ATTRIBUTE_##name
#define ZERO 0, {0}
#define OWN 0, {0}
#define ATTRIBUTE1(a) \
  1, {                \
    RT_AT(a)          \
  }
#define ATTRIBUTE2(a, b) \
  2, {                   \
    RT_AT(a), RT_AT(b)   \
  }
#define ATTRIBUTE3(a, b, c)      \
  3, {                           \
    RT_AT(a), RT_AT(b), RT_AT(c) \
  }
#define PROPERTY_MAJOR 11
#define PROPERTY(type, field, dims, ...) {offsetof(cudaDeviceProp_11, field), RT_IS_SIZE(type), __VA_ARGS__},
static const struct rt_property rt_properties_11[] = {
#include "runtime/property.def"
};
#define PROPERTY_MAJOR 12
#define PROPERTY(type, field, dims, ...) {offsetof(cudaDeviceProp_12, field), RT_IS_SIZE(type), __VA_ARGS__},
static const struct rt_property rt_properties_12[] = {
#include "runtime/property.def"
};
#define PROPERTY_MAJOR 13
#define PROPERTY(type, field, dims, ...) {offsetof(cudaDeviceProp_13, field), RT_IS_SIZE(type), __VA_ARGS__},
static const struct rt_property rt_properties_13[] = {
#include "runtime/property.def"
};

static cudaError_t rt_fill(void *to, size_t bytes, const struct rt_property *fields, size_t count,
                           int device) {
  const muster_driver *cu;
  CUdevice handle;
  if (!to)
    return cudaErrorInvalidValue;
  cudaError_t error = rt_handle(device, &cu, &handle);
  if (error != cudaSuccess)
    return error;
  memset(to, 0, bytes);
  for (const struct rt_property *field = fields; field < fields + count; field++)
    for (int i = 0; i < field->count; i++) {
      int value = 0;
      char *at = (char *)to + field->offset;
      if (cu->cuDeviceGetAttribute(&value, (CUdevice_attribute)field->attributes[i], handle) != CUDA_SUCCESS)
        continue; /* a driver older than the field */
      if (field->is_size)
        *(size_t *)at = (size_t)value;
      else
        ((int *)at)[i] = value;
    }
  /* What is no attribute stands at the same place in all forms. */
  cudaDeviceProp_11 *own = to;
  _Static_assert(offsetof(cudaDeviceProp_11, totalGlobalMem) == offsetof(cudaDeviceProp_13, totalGlobalMem),
                 "order");
  error = rt_error(cu->cuDeviceGetName(own->name, sizeof own->name, handle));
  if (error == cudaSuccess)
    error = rt_error(cu->cuDeviceGetUuid(&own->uuid, handle));
  if (error == cudaSuccess)
    error = rt_error(cu->cuDeviceTotalMem(&own->totalGlobalMem, handle));
  return error;
}
#define RT_FILL(major, to, device)                 \
  rt_fill(to, sizeof *(to), rt_properties_##major, \
          sizeof rt_properties_##major / sizeof *rt_properties_##major, device)

cudaError_t rt_cudaGetDeviceProperties_11(cudaDeviceProp_11 *properties, int device) {
  return RT_FILL(11, properties, device);
}

cudaError_t rt_cudaGetDeviceProperties_12(cudaDeviceProp_12 *properties, int device) {
  return RT_FILL(12, properties, device);
}

cudaError_t rt_cudaGetDeviceProperties(cudaDeviceProp_13 *properties, int device) {
  return RT_FILL(13, properties, device);
}

/* The device of the highest compute capability not below what is wanted, else device 0. */
static cudaError_t rt_choose(int *device, int major, int minor) {
  if (!device)
    return cudaErrorInvalidValue;
  *device = 0;
  for (int i = 0, best = -1; i < rt_device_count(); i++) {
    int has_major, has_minor;
    if (rt_cudaDeviceGetAttribute(&has_major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, i) !=
            cudaSuccess ||
        rt_cudaDeviceGetAttribute(&has_minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, i) != cudaSuccess)
      continue;
    const int has = has_major * 10 + has_minor;
    if (has >= major * 10 + minor && has > best) {
      best = has;
      *device = i;
    }
  }
  return cudaSuccess;
}

cudaError_t rt_cudaChooseDevice_11(int *device, const cudaDeviceProp_11 *properties) {
  return properties ? rt_choose(device, properties->major, properties->minor) : cudaErrorInvalidValue;
}

cudaError_t rt_cudaChooseDevice_12(int *device, const cudaDeviceProp_12 *properties) {
  return properties ? rt_choose(device, properties->major, properties->minor) : cudaErrorInvalidValue;
}

cudaError_t rt_cudaChooseDevice(int *device, const cudaDeviceProp_13 *properties) {
  return properties ? rt_choose(device, properties->major, properties->minor) : cudaErrorInvalidValue;
}

/* ------------------------------------------------------------------ waiting, limits, preferences */

cudaError_t rt_cudaDeviceSynchronize(void) {
  RT_CALL(cuCtxSynchronize, NULL);
}

cudaError_t rt_cudaDeviceReset(void) {
  const muster_driver *cu;
  CUdevice handle;
  const int device = rt_device();
  cudaError_t error = rt_handle(device, &cu, &handle);
  if (error == cudaSuccess)
    error = rt_error(cu->cuDevicePrimaryCtxReset(handle));
  if (error == cudaSuccess) {
    rt_forget_primary(device);
    error = rt_error(cu->cuCtxSetCurrent(NULL));
  }
  return error;
}

cudaError_t rt_cudaDeviceSetLimit(CUlimit limit, size_t value) {
  RT_CALL(cuCtxSetLimit, limit, value);
}

cudaError_t rt_cudaDeviceGetLimit(size_t *value, CUlimit limit) {
  RT_CALL(cuCtxGetLimit, value, limit);
}

cudaError_t rt_cudaDeviceSetCacheConfig(CUfunc_cache config) {
  RT_CALL(cuCtxSetCacheConfig, config);
}

cudaError_t rt_cudaDeviceGetCacheConfig(CUfunc_cache *config) {
  RT_CALL(cuCtxGetCacheConfig, config);
}

cudaError_t rt_cudaDeviceSetSharedMemConfig(CUsharedconfig config) {
  RT_CALL(cuCtxSetSharedMemConfig, config);
}

cudaError_t rt_cudaDeviceGetSharedMemConfig(CUsharedconfig *config) {
  RT_CALL(cuCtxGetSharedMemConfig, config);
}

cudaError_t rt_cudaDeviceGetStreamPriorityRange(int *least, int *greatest) {
  RT_CALL(cuCtxGetStreamPriorityRange, least, greatest);
}

cudaError_t rt_cudaCtxResetPersistingL2Cache(void) {
  RT_CALL(cuCtxResetPersistingL2Cache);
}

/* ------------------------------------------------------------------ addresses on the bus, peers */

cudaError_t rt_cudaDeviceGetPCIBusId(char *id, int bytes, int device) {
  const muster_driver *cu;
  CUdevice handle;
  const cudaError_t error = rt_handle(device, &cu, &handle);
  return error == cudaSuccess ? rt_error(cu->cuDeviceGetPCIBusId(id, bytes, handle)) : error;
}

cudaError_t rt_cudaDeviceGetByPCIBusId(int *device, const char *id) {
  cudaError_t error;
  const muster_driver *cu = rt_driver(&error);
  return cu ? rt_error(cu->cuDeviceGetByPCIBusId(device, id)) : error;
}

cudaError_t rt_cudaDeviceGetTexture1DLinearMaxWidth(size_t *elements, const cudaChannelFormatDesc *format,
                                                    int device) {
  const muster_driver *cu;
  CUdevice handle;
  if (!elements || !format)
    return cudaErrorInvalidValue;
  const cudaError_t error = rt_handle(device, &cu, &handle);
  if (error != cudaSuccess)
    return error;
  /* CUarray_format: unsigned 8, 16, 32 bits are 1 to 3, signed 8 to 10, half 0x10, float 0x20 */
  const int log = format->x == 8 ? 0 : format->x == 16 ? 1 : format->x == 32 ? 2 : -1;
  const unsigned channels = (format->x > 0) + (format->y > 0) + (format->z > 0) + (format->w > 0);
  if (log < 0 || channels == 3)
    return cudaErrorInvalidChannelDescriptor;
  const int driver_format = format->f == cudaChannelFormatKindUnsigned ? 1 + log
                            : format->f == cudaChannelFormatKindSigned ? 8 + log
                            : log == 1                                 ? 0x10
                                                                       : 0x20;
  return rt_error(cu->cuDeviceGetTexture1DLinearMaxWidth(elements, driver_format, channels, handle));
}

cudaError_t rt_cudaDeviceCanAccessPeer(int *can, int device, int peer) {
  const muster_driver *cu;
  CUdevice handle, peer_handle;
  cudaError_t error = rt_handle(device, &cu, &handle);
  if (error == cudaSuccess)
    error = rt_handle(peer, &cu, &peer_handle);
  return error == cudaSuccess ? rt_error(cu->cuDeviceCanAccessPeer(can, handle, peer_handle)) : error;
}

cudaError_t rt_cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  CUcontext context;
  const cudaError_t error = rt_primary(peer, &context);
  if (error != cudaSuccess)
    return error;
  RT_CALL(cuCtxEnablePeerAccess, context, flags);
}

cudaError_t rt_cudaDeviceDisablePeerAccess(int peer) {
  CUcontext context;
  const cudaError_t error = rt_primary(peer, &context);
  if (error != cudaSuccess)
    return error;
  RT_CALL(cuCtxDisablePeerAccess, context);
}

cudaError_t rt_cudaDeviceGetP2PAttribute(int *value, CUdevice_P2PAttribute attribute, int from, int to) {
  const muster_driver *cu;
  CUdevice from_handle, to_handle;
  cudaError_t error = rt_handle(from, &cu, &from_handle);
  if (error == cudaSuccess)
    error = rt_handle(to, &cu, &to_handle);
  return error == cudaSuccess
             ? rt_error(cu->cuDeviceGetP2PAttribute(value, attribute, from_handle, to_handle))
             : error;
}
