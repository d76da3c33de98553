/* abi.h: the types of the CUDA Runtime API, in our own words.
 *
 * Names, values and layouts are those that programs compiled with NVIDIA's headers rely on, CUDA 13.0's
 * unless a suffix says which older one's; test/runtime/abi.c compares them where a toolkit is at hand. What
 * the Driver API has too (handles, launch attributes, locations, pools) is the same thing there and here.
 */
#ifndef MUSTER_RUNTIME_ABI_H
#define MUSTER_RUNTIME_ABI_H

#include <stddef.h>
#include <stdint.h>

#include "driver/cuda_abi.h"

typedef enum cudaError {
#define ERROR(name, value, text) name = value,
#include "runtime/error.def"
} cudaError_t;

typedef CUstream cudaStream_t;
typedef CUevent cudaEvent_t;
typedef CUfunction cudaFunction_t;
typedef CUkernel cudaKernel_t;
typedef CUlibrary cudaLibrary_t;
typedef CUmemoryPool cudaMemPool_t;
typedef CUgraph cudaGraph_t;
typedef CUgraphNode cudaGraphNode_t;
typedef CUgraphExec cudaGraphExec_t;
typedef CUarray cudaArray_t;

typedef struct dim3 {
  unsigned x, y, z;
} dim3;

typedef enum cudaMemcpyKind {
  cudaMemcpyHostToHost = 0,
  cudaMemcpyHostToDevice = 1,
  cudaMemcpyDeviceToHost = 2,
  cudaMemcpyDeviceToDevice = 3,
  cudaMemcpyDefault = 4
} cudaMemcpyKind;

typedef enum cudaMemoryType {
  cudaMemoryTypeUnregistered = 0,
  cudaMemoryTypeHost = 1,
  cudaMemoryTypeDevice = 2,
  cudaMemoryTypeManaged = 3
} cudaMemoryType;

typedef enum cudaChannelFormatKind {
  cudaChannelFormatKindSigned = 0,
  cudaChannelFormatKindUnsigned = 1,
  cudaChannelFormatKindFloat = 2,
  cudaChannelFormatKindNone = 3
} cudaChannelFormatKind;

typedef struct cudaChannelFormatDesc {
  int x, y, z, w;
  cudaChannelFormatKind f;
} cudaChannelFormatDesc;

typedef struct cudaPitchedPtr {
  void *ptr;
  size_t pitch, xsize, ysize;
} cudaPitchedPtr;

typedef struct cudaExtent {
  size_t width, height, depth;
} cudaExtent;

typedef struct cudaPos {
  size_t x, y, z;
} cudaPos;

typedef struct cudaMemcpy3DParms {
  cudaArray_t srcArray;
  cudaPos srcPos;
  cudaPitchedPtr srcPtr;
  cudaArray_t dstArray;
  cudaPos dstPos;
  cudaPitchedPtr dstPtr;
  cudaExtent extent;
  cudaMemcpyKind kind;
} cudaMemcpy3DParms;

typedef struct cudaMemcpy3DPeerParms {
  cudaArray_t srcArray;
  cudaPos srcPos;
  cudaPitchedPtr srcPtr;
  int srcDevice;
  cudaArray_t dstArray;
  cudaPos dstPos;
  cudaPitchedPtr dstPtr;
  int dstDevice;
  cudaExtent extent;
} cudaMemcpy3DPeerParms;

typedef struct cudaFuncAttributes {
  size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
  int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion, cacheModeCA, maxDynamicSharedSizeBytes,
      preferredShmemCarveout;
  /* from CUDA 12 on */
  int clusterDimMustBeSet, requiredClusterWidth, requiredClusterHeight, requiredClusterDepth,
      clusterSchedulingPolicyPreference, nonPortableClusterSizeAllowed;
  int reserved[16];
} cudaFuncAttributes;

typedef struct cudaPointerAttributes {
  cudaMemoryType type;
  int device;
  void *devicePointer, *hostPointer;
  /* from CUDA 13 on */
  long reserved[8];
} cudaPointerAttributes;

typedef struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim;
  size_t dynamicSmemBytes;
  cudaStream_t stream;
  CUlaunchAttribute *attrs;
  unsigned numAttrs;
} cudaLaunchConfig_t;

typedef struct cudaKernelNodeParams {
  void *func;
  dim3 gridDim, blockDim;
  unsigned sharedMemBytes;
  void **kernelParams, **extra;
} cudaKernelNodeParams;

typedef void (*cudaStreamCallback_t)(cudaStream_t stream, cudaError_t status, void *user);

/* cudaDeviceProp, one struct for each form that programs were compiled against. */
#define PROPERTY_MAJOR 11
#define PROPERTY(type, field, dims, value) type field dims;
typedef struct cudaDeviceProp_11 {
#include "runtime/property.def"
} cudaDeviceProp_11;
#define PROPERTY_MAJOR 12
#define PROPERTY(type, field, dims, value) type field dims;
typedef struct cudaDeviceProp_12 {
#include "runtime/property.def"
} cudaDeviceProp_12;
#define PROPERTY_MAJOR 13
#define PROPERTY(type, field, dims, value) type field dims;
typedef struct cudaDeviceProp_13 {
#include "runtime/property.def"
} cudaDeviceProp_13;

#endif
