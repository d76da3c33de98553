/* launch.c: kernels: launches, attributes, occupancy.
 *
 * The runtime judges a launch's shape itself and calls what is wrong with it an invalid configuration;
 * everything else about a launch is the driver's to judge.
 */
#include <limits.h>
#include <string.h>

#include "runtime/rt.h"

/* ------------------------------------------------------------------ the configuration of <<<>>> */

/* Arguments of a launch are evaluated between push and pop, and may launch something themselves. */
enum { RT_NESTED = 64 };
static _Thread_local struct rt_configuration {
  dim3 grid, block;
  size_t shared_bytes;
  cudaStream_t stream;
} rt_configurations[RT_NESTED];
static _Thread_local unsigned rt_configuration_count;

unsigned rt___cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes, cudaStream_t stream) {
  if (rt_configuration_count == RT_NESTED)
    return cudaErrorMissingConfiguration;
  rt_configurations[rt_configuration_count++] = (struct rt_configuration){grid, block, shared_bytes, stream};
  return 0;
}

cudaError_t rt___cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared_bytes, void *stream) {
  if (rt_configuration_count == 0)
    return cudaErrorMissingConfiguration;
  const struct rt_configuration *top = &rt_configurations[--rt_configuration_count];
  *grid = top->grid;
  *block = top->block;
  *shared_bytes = top->shared_bytes;
  memcpy(stream, &top->stream, sizeof top->stream);
  return cudaSuccess;
}

/* ------------------------------------------------------------------ launches */

static int rt_attribute(const muster_driver *cu, CUdevice_attribute attribute) {
  int value = 0;
  CUdevice device;
  if (cu->cuDeviceGet(&device, rt_device()) != CUDA_SUCCESS ||
      cu->cuDeviceGetAttribute(&value, attribute, device) != CUDA_SUCCESS)
    return INT_MAX; /* let the driver judge */
  return value;
}

static bool rt_shape_fits(const muster_driver *cu, dim3 grid, dim3 block) {
#define RT_MOST(name) (unsigned)rt_attribute(cu, CU_DEVICE_ATTRIBUTE_##name)
  return grid.x && grid.y && grid.z && block.x && block.y && block.z && grid.x <= RT_MOST(MAX_GRID_DIM_X) &&
         grid.y <= RT_MOST(MAX_GRID_DIM_Y) && grid.z <= RT_MOST(MAX_GRID_DIM_Z) &&
         block.x <= RT_MOST(MAX_BLOCK_DIM_X) && block.y <= RT_MOST(MAX_BLOCK_DIM_Y) &&
         block.z <= RT_MOST(MAX_BLOCK_DIM_Z) &&
         (uint64_t)block.x * block.y * block.z <= RT_MOST(MAX_THREADS_PER_BLOCK);
#undef RT_MOST
}

/* A launch in the runtime's terms. */
struct rt_launch {
  const void *function;
  dim3 grid, block;
  void **arguments;
  size_t shared_bytes;
  CUlaunchConfig config; /* stream and attributes; the rest is filled in */
};

static cudaError_t rt_launch(struct rt_launch *l) {
  cudaError_t error;
  CUfunction kernel;
  const muster_driver *cu = rt_enter(&error);
  if (!cu)
    return error;
  error = rt_function(l->function, &kernel);
  if (error != cudaSuccess)
    return error;
  if (l->shared_bytes > UINT_MAX)
    return cudaErrorInvalidValue;
  l->config.gridDimX = l->grid.x, l->config.gridDimY = l->grid.y, l->config.gridDimZ = l->grid.z;
  l->config.blockDimX = l->block.x, l->config.blockDimY = l->block.y, l->config.blockDimZ = l->block.z;
  l->config.sharedMemBytes = (unsigned)l->shared_bytes;
  return rt_error(cu->cuLaunchKernelEx(&l->config, kernel, l->arguments, NULL));
}

/* Before CUDA 13 the runtime had an error of its own for a shape that no device takes. */
static cudaError_t rt_launch_12(struct rt_launch *l) {
  const cudaError_t error = rt_launch(l);
  cudaError_t why;
  const muster_driver *cu = error == cudaErrorInvalidValue ? rt_enter(&why) : NULL;
  return cu && !rt_shape_fits(cu, l->grid, l->block) ? cudaErrorInvalidConfiguration : error;
}

/* The three ways to launch, for CUDA 13 and for those before it. */
#define RT_LAUNCHES(version, run)                                                                            \
  cudaError_t rt_cudaLaunchKernel##version(const void *function, dim3 grid, dim3 block, void **arguments,    \
                                           size_t shared_bytes, cudaStream_t stream) {                       \
    struct rt_launch l = {function, grid, block, arguments, shared_bytes, {.hStream = stream}};              \
    return run(&l);                                                                                          \
  }                                                                                                          \
  cudaError_t rt_cudaLaunchCooperativeKernel##version(const void *function, dim3 grid, dim3 block,           \
                                                      void **arguments, size_t shared_bytes,                 \
                                                      cudaStream_t stream) {                                 \
    CUlaunchAttribute cooperative = {.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE, .value = {.cooperative = 1}};    \
    struct rt_launch l = {                                                                                   \
        function,  grid,         block,                                                                      \
        arguments, shared_bytes, {.hStream = stream, .attrs = &cooperative, .numAttrs = 1}};                 \
    return run(&l);                                                                                          \
  }                                                                                                          \
  static cudaError_t rt_launch_config##version(const cudaLaunchConfig_t *from, cudaStream_t stream,          \
                                               const void *function, void **arguments) {                     \
    struct rt_launch l = {function,                                                                          \
                          from->gridDim,                                                                     \
                          from->blockDim,                                                                    \
                          arguments,                                                                         \
                          from->dynamicSmemBytes,                                                            \
                          {.hStream = stream, .attrs = from->attrs, .numAttrs = from->numAttrs}};            \
    return run(&l);                                                                                          \
  }                                                                                                          \
  cudaError_t rt_cudaLaunchKernelExC##version(const cudaLaunchConfig_t *config, const void *function,        \
                                              void **arguments) {                                            \
    return config ? rt_launch_config##version(config, config->stream, function, arguments)                   \
                  : cudaErrorInvalidValue;                                                                   \
  }                                                                                                          \
  cudaError_t rt_cudaLaunchKernelExC_ptsz##version(const cudaLaunchConfig_t *config, const void *function,   \
                                                   void **arguments) {                                       \
    return config ? rt_launch_config##version(                                                               \
                        config, config->stream ? config->stream : CU_STREAM_PER_THREAD, function, arguments) \
                  : cudaErrorInvalidValue;                                                                   \
  }

RT_LAUNCHES(, rt_launch)
RT_LAUNCHES(_12, rt_launch_12)

cudaError_t rt___cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments,
                                  size_t shared_bytes, cudaStream_t stream) {
  return rt_cudaLaunchKernel(kernel, grid, block, arguments, shared_bytes, stream);
}

cudaError_t rt___cudaLaunchKernel_12(cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments,
                                     size_t shared_bytes, cudaStream_t stream) {
  return rt_cudaLaunchKernel_12(kernel, grid, block, arguments, shared_bytes, stream);
}

cudaError_t rt_cudaLaunchHostFunc(cudaStream_t stream, CUhostFn function, void *user) {
  RT_CALL(cuLaunchHostFunc, stream, function, user);
}

/* ------------------------------------------------------------------ attributes */

/* The first `bytes` of *to: a program compiled against an older runtime has a shorter struct. */
static cudaError_t rt_function_attributes(cudaFuncAttributes *to, size_t bytes, const void *function) {
  cudaError_t error;
  CUfunction kernel;
  const muster_driver *cu = rt_enter(&error);
  if (!cu)
    return error;
  if (!to)
    return cudaErrorInvalidValue;
  error = rt_function(function, &kernel);
  if (error != cudaSuccess)
    return error;
  int value[CU_FUNC_ATTRIBUTE_MAX] = {0};
  for (int i = 0; i < CU_FUNC_ATTRIBUTE_MAX; i++) {
    const CUresult result = cu->cuFuncGetAttribute(&value[i], (CUfunction_attribute)i, kernel);
    if (result != CUDA_SUCCESS && i < CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET)
      return rt_error(result);
  }
  const cudaFuncAttributes all = {
      .sharedSizeBytes = (size_t)value[CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES],
      .constSizeBytes = (size_t)value[CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES],
      .localSizeBytes = (size_t)value[CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES],
      .maxThreadsPerBlock = value[CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK],
      .numRegs = value[CU_FUNC_ATTRIBUTE_NUM_REGS],
      .ptxVersion = value[CU_FUNC_ATTRIBUTE_PTX_VERSION],
      .binaryVersion = value[CU_FUNC_ATTRIBUTE_BINARY_VERSION],
      .cacheModeCA = value[CU_FUNC_ATTRIBUTE_CACHE_MODE_CA],
      .maxDynamicSharedSizeBytes = value[CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES],
      .preferredShmemCarveout = value[CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT],
      .clusterDimMustBeSet = value[CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET],
      .requiredClusterWidth = value[CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH],
      .requiredClusterHeight = value[CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT],
      .requiredClusterDepth = value[CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH],
      .clusterSchedulingPolicyPreference = value[CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE],
      .nonPortableClusterSizeAllowed = value[CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED]};
  memcpy(to, &all, bytes);
  return cudaSuccess;
}

cudaError_t rt_cudaFuncGetAttributes(cudaFuncAttributes *attributes, const void *function) {
  return rt_function_attributes(attributes, sizeof *attributes, function);
}

cudaError_t rt_cudaFuncGetAttributes_11(cudaFuncAttributes *attributes, const void *function) {
  /* its last field was preferredShmemCarveout; the struct ended in four bytes of padding */
  return rt_function_attributes(attributes, offsetof(cudaFuncAttributes, clusterDimMustBeSet), function);
}

/* With the function of `function` in `kernel`, calls one function of the table and returns its result. */
#define RT_WITH_FUNCTION(function, call, ...)                    \
  do {                                                           \
    CUfunction kernel;                                           \
    const cudaError_t rt_found = rt_function(function, &kernel); \
    if (rt_found != cudaSuccess)                                 \
      return rt_found;                                           \
    RT_CALL(call, __VA_ARGS__);                                  \
  } while (0)

cudaError_t rt_cudaFuncSetAttribute(const void *function, CUfunction_attribute attribute, int value) {
  RT_WITH_FUNCTION(function, cuFuncSetAttribute, kernel, attribute, value);
}

cudaError_t rt_cudaFuncSetCacheConfig(const void *function, CUfunc_cache config) {
  RT_WITH_FUNCTION(function, cuFuncSetCacheConfig, kernel, config);
}

cudaError_t rt_cudaFuncSetSharedMemConfig(const void *function, CUsharedconfig config) {
  RT_WITH_FUNCTION(function, cuFuncSetSharedMemConfig, kernel, config);
}

cudaError_t rt_cudaFuncGetName(const char **name, const void *function) {
  RT_WITH_FUNCTION(function, cuFuncGetName, name, kernel);
}

cudaError_t rt_cudaFuncGetParamInfo(const void *function, size_t index, size_t *offset, size_t *bytes) {
  RT_WITH_FUNCTION(function, cuFuncGetParamInfo, kernel, index, offset, bytes);
}

cudaError_t rt_cudaKernelSetAttributeForDevice(cudaKernel_t kernel, CUfunction_attribute attribute, int value,
                                               int device) {
  CUkernel known;
  const cudaError_t error = rt_kernel(kernel, &known);
  if (error != cudaSuccess)
    return error;
  if (device < 0 || device >= rt_device_count())
    return cudaErrorInvalidDevice;
  RT_CALL(cuKernelSetAttribute, attribute, value, known, device);
}

/* ------------------------------------------------------------------ occupancy */

cudaError_t rt_cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *function,
                                                             int block_size, size_t shared_bytes) {
  return rt_cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, block_size, shared_bytes,
                                                                   0);
}

cudaError_t rt_cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *function,
                                                                      int block_size, size_t shared_bytes,
                                                                      unsigned flags) {
  RT_WITH_FUNCTION(function, cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, blocks, kernel, block_size,
                   shared_bytes, flags);
}

cudaError_t rt_cudaOccupancyAvailableDynamicSMemPerBlock(size_t *shared_bytes, const void *function,
                                                         int blocks, int block_size) {
  RT_WITH_FUNCTION(function, cuOccupancyAvailableDynamicSMemPerBlock, shared_bytes, kernel, blocks,
                   block_size);
}

static bool rt_driver_config(CUlaunchConfig *to, const cudaLaunchConfig_t *from) {
  if (!from || from->dynamicSmemBytes > UINT_MAX)
    return false;
  *to = (CUlaunchConfig){.gridDimX = from->gridDim.x,
                         .gridDimY = from->gridDim.y,
                         .gridDimZ = from->gridDim.z,
                         .blockDimX = from->blockDim.x,
                         .blockDimY = from->blockDim.y,
                         .blockDimZ = from->blockDim.z,
                         .sharedMemBytes = (unsigned)from->dynamicSmemBytes,
                         .hStream = from->stream,
                         .attrs = from->attrs,
                         .numAttrs = from->numAttrs};
  return true;
}

cudaError_t rt_cudaOccupancyMaxPotentialClusterSize(int *cluster_size, const void *function,
                                                    const cudaLaunchConfig_t *config) {
  CUlaunchConfig driver_config;
  if (!rt_driver_config(&driver_config, config))
    return cudaErrorInvalidValue;
  RT_WITH_FUNCTION(function, cuOccupancyMaxPotentialClusterSize, cluster_size, kernel, &driver_config);
}

cudaError_t rt_cudaOccupancyMaxActiveClusters(int *clusters, const void *function,
                                              const cudaLaunchConfig_t *config) {
  CUlaunchConfig driver_config;
  if (!rt_driver_config(&driver_config, config))
    return cudaErrorInvalidValue;
  RT_WITH_FUNCTION(function, cuOccupancyMaxActiveClusters, clusters, kernel, &driver_config);
}
