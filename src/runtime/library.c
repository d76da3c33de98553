/* library.c: kernels that a program loads at run time, versions, and the way to the driver's own functions.
 */
#include "runtime/rt.h"

cudaError_t rt_cudaLibraryLoadData(cudaLibrary_t *library, const void *image, CUjit_option *jit_options,
                                   void **jit_values, unsigned jit_count, CUlibraryOption *options,
                                   void **values, unsigned count) {
  RT_CALL(cuLibraryLoadData, library, image, jit_options, jit_values, jit_count, options, values, count);
}

cudaError_t rt_cudaLibraryLoadFromFile(cudaLibrary_t *library, const char *path, CUjit_option *jit_options,
                                       void **jit_values, unsigned jit_count, CUlibraryOption *options,
                                       void **values, unsigned count) {
  RT_CALL(cuLibraryLoadFromFile, library, path, jit_options, jit_values, jit_count, options, values, count);
}

cudaError_t rt_cudaLibraryUnload(cudaLibrary_t library) {
  RT_CALL(cuLibraryUnload, library);
}

cudaError_t rt_cudaLibraryGetKernel(cudaKernel_t *kernel, cudaLibrary_t library, const char *name) {
  cudaError_t error;
  const muster_driver *cu = rt_enter(&error);
  if (!cu)
    return error;
  error = rt_error(cu->cuLibraryGetKernel(kernel, library, name));
  if (error == cudaSuccess)
    rt_know_kernel(*kernel);
  return error;
}

cudaError_t rt_cudaLibraryGetKernelCount(unsigned *count, cudaLibrary_t library) {
  RT_CALL(cuLibraryGetKernelCount, count, library);
}

cudaError_t rt_cudaLibraryEnumerateKernels(cudaKernel_t *kernels, unsigned count, cudaLibrary_t library) {
  cudaError_t error;
  unsigned all;
  const muster_driver *cu = rt_enter(&error);
  if (!cu)
    return error;
  error = rt_error(cu->cuLibraryEnumerateKernels(kernels, count, library));
  if (error == cudaSuccess)
    error = rt_error(cu->cuLibraryGetKernelCount(&all, library));
  for (unsigned i = 0; error == cudaSuccess && i < count && i < all; i++)
    rt_know_kernel(kernels[i]);
  return error;
}

cudaError_t rt_cudaLibraryGetGlobal(void **pointer, size_t *bytes, cudaLibrary_t library, const char *name) {
  cudaError_t error;
  CUdeviceptr address = 0;
  const muster_driver *cu = rt_enter(&error);
  if (!cu)
    return error;
  error = rt_error(cu->cuLibraryGetGlobal(&address, bytes, library, name));
  if (error == cudaSuccess && pointer)
    *pointer = (void *)(uintptr_t)address;
  return error;
}

cudaError_t rt_cudaLibraryGetManaged(void **pointer, size_t *bytes, cudaLibrary_t library, const char *name) {
  cudaError_t error;
  CUdeviceptr address = 0;
  const muster_driver *cu = rt_enter(&error);
  if (!cu)
    return error;
  error = rt_error(cu->cuLibraryGetManaged(&address, bytes, library, name));
  if (error == cudaSuccess && pointer)
    *pointer = (void *)(uintptr_t)address;
  return error;
}

/* ------------------------------------------------------------------ versions */

cudaError_t rt_cudaDriverGetVersion(int *version) {
  cudaError_t error;
  if (!version)
    return cudaErrorInvalidValue;
  const muster_driver *cu = rt_driver(&error);
  if (!cu) {
    *version = 0; /* no driver is no error here */
    return cudaSuccess;
  }
  return rt_error(cu->cuDriverGetVersion(version));
}

static cudaError_t rt_version(int *version, int value) {
  if (!version)
    return cudaErrorInvalidValue;
  *version = value;
  return cudaSuccess;
}

cudaError_t rt_cudaRuntimeGetVersion_11(int *version) {
  return rt_version(version, 11080);
}

cudaError_t rt_cudaRuntimeGetVersion_12(int *version) {
  return rt_version(version, 12090);
}

cudaError_t rt_cudaRuntimeGetVersion(int *version) {
  return rt_version(version, 13000);
}

/* ------------------------------------------------------------------ entry points */

static cudaError_t rt_entry_point(const char *symbol, void **function, unsigned version,
                                  unsigned long long flags, CUdriverProcAddressQueryResult *status,
                                  bool threads) {
  cudaError_t error;
  CUdriverProcAddressQueryResult found = CU_GET_PROC_ADDRESS_SUCCESS;
  if (!symbol || !function)
    return cudaErrorInvalidValue;
  const muster_driver *cu = rt_driver(&error);
  if (!cu)
    return error;
  if (threads && flags == CU_GET_PROC_ADDRESS_DEFAULT)
    flags = CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
  error = rt_error(cu->cuGetProcAddress(symbol, function, (int)version, flags, &found));
  if (!status)
    return error == cudaErrorSymbolNotFound ? cudaErrorSymbolNotFound : error;
  /* With a status, a function that is not there is no error. */
  *status = found;
  return error == cudaErrorSymbolNotFound ? cudaSuccess : error;
}

enum { RT_VERSION_11 = 11080, RT_VERSION_13 = 13000 };

cudaError_t rt_cudaGetDriverEntryPoint_11(const char *symbol, void **function, unsigned long long flags) {
  return rt_entry_point(symbol, function, RT_VERSION_11, flags, NULL, false);
}

cudaError_t rt_cudaGetDriverEntryPoint_11_ptsz(const char *symbol, void **function,
                                               unsigned long long flags) {
  return rt_entry_point(symbol, function, RT_VERSION_11, flags, NULL, true);
}

cudaError_t rt_cudaGetDriverEntryPoint(const char *symbol, void **function, unsigned long long flags,
                                       CUdriverProcAddressQueryResult *status) {
  return rt_entry_point(symbol, function, RT_VERSION_13, flags, status, false);
}

cudaError_t rt_cudaGetDriverEntryPoint_ptsz(const char *symbol, void **function, unsigned long long flags,
                                            CUdriverProcAddressQueryResult *status) {
  return rt_entry_point(symbol, function, RT_VERSION_13, flags, status, true);
}

cudaError_t rt_cudaGetDriverEntryPointByVersion(const char *symbol, void **function, unsigned version,
                                                unsigned long long flags,
                                                CUdriverProcAddressQueryResult *status) {
  return rt_entry_point(symbol, function, version, flags, status, false);
}

cudaError_t rt_cudaGetDriverEntryPointByVersion_ptsz(const char *symbol, void **function, unsigned version,
                                                     unsigned long long flags,
                                                     CUdriverProcAddressQueryResult *status) {
  return rt_entry_point(symbol, function, version, flags, status, true);
}

cudaChannelFormatDesc rt_cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind kind) {
  return (cudaChannelFormatDesc){x, y, z, w, kind};
}
