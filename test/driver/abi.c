/* abi.c: prints the sizes, places and numbers of the driver API's types: once by our own header, once by
 * NVIDIA's
 * (-DNVIDIA), for abi.sh to compare. */
#include <stddef.h>
#include <stdio.h>
#ifdef NVIDIA
#include <cuda.h>
#else
#include "driver/cuda_abi.h"
#endif

#define SIZE(type) printf("%s: %zu bytes\n", #type, sizeof(type));
#define FIELD(type, field) \
  printf("%s.%s at %zu, %zu bytes\n", #type, #field, offsetof(type, field), sizeof(((type *)0)->field));
#define NUMBER(name) printf("%s = %lld\n", #name, (long long)(name));

int main(void) {
#define RESULT(name, value, text) NUMBER(name)
#include "driver/result.def"
#define ATTRIBUTE(name, number, value) NUMBER(CU_DEVICE_ATTRIBUTE_##name)
#include "driver/attribute.def"
  SIZE(CUdeviceptr)
  SIZE(CUdevice)
  SIZE(CUuuid)
  SIZE(CUDA_MEMCPY2D)
  FIELD(CUDA_MEMCPY2D, srcMemoryType)
  FIELD(CUDA_MEMCPY2D, srcArray)
  FIELD(CUDA_MEMCPY2D, dstXInBytes)
  FIELD(CUDA_MEMCPY2D, dstMemoryType)
  FIELD(CUDA_MEMCPY2D, dstPitch)
  FIELD(CUDA_MEMCPY2D, Height)
  SIZE(CUDA_MEMCPY3D)
  FIELD(CUDA_MEMCPY3D, srcLOD)
  FIELD(CUDA_MEMCPY3D, srcHeight)
  FIELD(CUDA_MEMCPY3D, dstMemoryType)
  FIELD(CUDA_MEMCPY3D, dstHeight)
  FIELD(CUDA_MEMCPY3D, Depth)
  SIZE(CUDA_MEMCPY3D_PEER)
  FIELD(CUDA_MEMCPY3D_PEER, srcContext)
  FIELD(CUDA_MEMCPY3D_PEER, dstContext)
  FIELD(CUDA_MEMCPY3D_PEER, Depth)
  SIZE(CUlaunchConfig)
  FIELD(CUlaunchConfig, sharedMemBytes)
  FIELD(CUlaunchConfig, hStream)
  FIELD(CUlaunchConfig, attrs)
  FIELD(CUlaunchConfig, numAttrs)
  SIZE(CUlaunchAttribute)
  FIELD(CUlaunchAttribute, value)
  SIZE(CUlaunchAttributeValue)
  FIELD(CUlaunchAttributeValue, programmaticEvent.triggerAtBlockStart)
  SIZE(CUctxCreateParams)
  FIELD(CUctxCreateParams, cigParams)
  SIZE(CUmemLocation)
  SIZE(CUmemAccessDesc)
  SIZE(CUmemPoolProps)
  FIELD(CUmemPoolProps, location)
  FIELD(CUmemPoolProps, maxSize)
  FIELD(CUmemPoolProps, usage)
  SIZE(CUDA_KERNEL_NODE_PARAMS)
  FIELD(CUDA_KERNEL_NODE_PARAMS, kernelParams)
  FIELD(CUDA_KERNEL_NODE_PARAMS, kern)
  FIELD(CUDA_KERNEL_NODE_PARAMS, ctx)
  SIZE(CUDA_MEMSET_NODE_PARAMS)
  FIELD(CUDA_MEMSET_NODE_PARAMS, elementSize)
  FIELD(CUDA_MEMSET_NODE_PARAMS, height)
  SIZE(CUDA_HOST_NODE_PARAMS)
  SIZE(CUgraphEdgeData)
  SIZE(CUDA_GRAPH_INSTANTIATE_PARAMS)
  FIELD(CUDA_GRAPH_INSTANTIATE_PARAMS, result_out)
  SIZE(CUgraphExecUpdateResultInfo)
  FIELD(CUgraphExecUpdateResultInfo, errorFromNode)
  SIZE(CUDA_MEM_ALLOC_NODE_PARAMS)
  FIELD(CUDA_MEM_ALLOC_NODE_PARAMS, accessDescs)
  FIELD(CUDA_MEM_ALLOC_NODE_PARAMS, bytesize)
  FIELD(CUDA_MEM_ALLOC_NODE_PARAMS, dptr)
  SIZE(CUdevprop)
  FIELD(CUdevprop, textureAlign)
  NUMBER(CU_JIT_NUM_OPTIONS)
  NUMBER(CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES)
  NUMBER(CU_LIMIT_MAX)
  NUMBER(CU_LIMIT_MALLOC_HEAP_SIZE)
  NUMBER(CU_FUNC_ATTRIBUTE_MAX)
  NUMBER(CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED)
  NUMBER(CU_POINTER_ATTRIBUTE_IS_MANAGED)
  NUMBER(CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE)
  NUMBER(CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE)
  NUMBER(CU_MEMORYTYPE_UNIFIED)
  NUMBER(CU_MEMPOOL_ATTR_USED_MEM_HIGH)
  NUMBER(CU_MEMPOOL_ATTR_RELEASE_THRESHOLD)
  NUMBER(CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
  NUMBER(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
  NUMBER(CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING)
  NUMBER(CU_STREAM_WAIT_VALUE_NOR)
  NUMBER(CU_STREAM_WAIT_VALUE_FLUSH)
  NUMBER(CU_STREAM_CAPTURE_MODE_RELAXED)
  NUMBER(CU_GRAPH_NODE_TYPE_CONDITIONAL)
  NUMBER(CU_GRAPH_NODE_TYPE_BATCH_MEM_OP)
  NUMBER(CU_MEM_ADVISE_UNSET_ACCESSED_BY)
  NUMBER(CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT)
  NUMBER(CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT)
  NUMBER(CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH)
  return 0;
}
