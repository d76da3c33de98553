/* graph.c: graphs: capture of a stream, nodes, instances. A graph is the driver's; what differs is how a
 * kernel is named (a host stub's address or a kernel handle here, a function there) and how a copy is
 * described. */
#include "runtime/rt.h"

cudaError_t rt_cudaStreamBeginCapture(cudaStream_t stream, CUstreamCaptureMode mode) {
  RT_CALL(cuStreamBeginCapture, stream, mode);
}

cudaError_t rt_cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph) {
  RT_CALL(cuStreamEndCapture, stream, graph);
}

cudaError_t rt_cudaStreamGetCaptureInfo(cudaStream_t stream, CUstreamCaptureStatus *status,
                                        unsigned long long *id, cudaGraph_t *graph,
                                        const cudaGraphNode_t **nodes, const CUgraphEdgeData **edges,
                                        size_t *count) {
  uint64_t number = 0;
  cudaError_t error;
  const muster_driver *cu = rt_enter(&error);
  if (!cu)
    return error;
  error = rt_error(cu->cuStreamGetCaptureInfo(stream, status, &number, graph, nodes, edges, count));
  if (id)
    *id = number;
  return error;
}

cudaError_t rt_cudaStreamGetCaptureInfo_12(cudaStream_t stream, CUstreamCaptureStatus *status,
                                           unsigned long long *id, cudaGraph_t *graph,
                                           const cudaGraphNode_t **nodes, size_t *count) {
  return rt_cudaStreamGetCaptureInfo(stream, status, id, graph, nodes, NULL, count);
}

cudaError_t rt_cudaStreamGetCaptureInfo_11(cudaStream_t stream, CUstreamCaptureStatus *status,
                                           unsigned long long *id) {
  return rt_cudaStreamGetCaptureInfo(stream, status, id, NULL, NULL, NULL, NULL);
}

cudaError_t rt_cudaGraphCreate(cudaGraph_t *graph, unsigned flags) {
  RT_CALL(cuGraphCreate, graph, flags);
}

cudaError_t rt_cudaGraphDestroy(cudaGraph_t graph) {
  RT_CALL(cuGraphDestroy, graph);
}

cudaError_t rt_cudaGraphClone(cudaGraph_t *clone, cudaGraph_t graph) {
  RT_CALL(cuGraphClone, clone, graph);
}

/* ------------------------------------------------------------------ kernel nodes */

static cudaError_t rt_kernel_node(CUDA_KERNEL_NODE_PARAMS *to, const cudaKernelNodeParams *from) {
  CUfunction function;
  if (!from)
    return cudaErrorInvalidValue;
  const cudaError_t error = rt_function(from->func, &function);
  *to = (CUDA_KERNEL_NODE_PARAMS){.func = function,
                                  .gridDimX = from->gridDim.x,
                                  .gridDimY = from->gridDim.y,
                                  .gridDimZ = from->gridDim.z,
                                  .blockDimX = from->blockDim.x,
                                  .blockDimY = from->blockDim.y,
                                  .blockDimZ = from->blockDim.z,
                                  .sharedMemBytes = from->sharedMemBytes,
                                  .kernelParams = from->kernelParams,
                                  .extra = from->extra};
  return error;
}

cudaError_t rt_cudaGraphAddKernelNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
                                      size_t count, const cudaKernelNodeParams *parameters) {
  CUDA_KERNEL_NODE_PARAMS kernel;
  const cudaError_t error = rt_kernel_node(&kernel, parameters);
  if (error != cudaSuccess)
    return error;
  RT_CALL(cuGraphAddKernelNode, node, graph, after, count, &kernel);
}

cudaError_t rt_cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams *parameters) {
  cudaError_t error;
  CUDA_KERNEL_NODE_PARAMS kernel;
  const muster_driver *cu = rt_enter(&error);
  if (!cu)
    return error;
  if (!parameters)
    return cudaErrorInvalidValue;
  error = rt_error(cu->cuGraphKernelNodeGetParams(node, &kernel));
  if (error == cudaSuccess)
    *parameters = (cudaKernelNodeParams){.func = rt_host_of(cu, kernel.func, kernel.kern),
                                         .gridDim = {kernel.gridDimX, kernel.gridDimY, kernel.gridDimZ},
                                         .blockDim = {kernel.blockDimX, kernel.blockDimY, kernel.blockDimZ},
                                         .sharedMemBytes = kernel.sharedMemBytes,
                                         .kernelParams = kernel.kernelParams,
                                         .extra = kernel.extra};
  return error;
}

cudaError_t rt_cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const cudaKernelNodeParams *parameters) {
  CUDA_KERNEL_NODE_PARAMS kernel;
  const cudaError_t error = rt_kernel_node(&kernel, parameters);
  if (error != cudaSuccess)
    return error;
  RT_CALL(cuGraphKernelNodeSetParams, node, &kernel);
}

cudaError_t rt_cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                const cudaKernelNodeParams *parameters) {
  CUDA_KERNEL_NODE_PARAMS kernel;
  const cudaError_t error = rt_kernel_node(&kernel, parameters);
  if (error != cudaSuccess)
    return error;
  RT_CALL(cuGraphExecKernelNodeSetParams, exec, node, &kernel);
}

/* ------------------------------------------------------------------ copies and fills */

/* The context that a node works in: the current one. */
static cudaError_t rt_here(CUcontext *context) {
  RT_CALL(cuCtxGetCurrent, context);
}

static cudaMemcpy3DParms rt_line(void *to, const void *from, size_t bytes, cudaMemcpyKind kind) {
  return (cudaMemcpy3DParms){.srcPtr = {(void *)(uintptr_t)from, bytes, bytes, 1},
                             .dstPtr = {to, bytes, bytes, 1},
                             .extent = {bytes, 1, 1},
                             .kind = kind};
}

cudaError_t rt_cudaGraphAddMemcpyNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
                                      size_t count, const cudaMemcpy3DParms *copy) {
  CUDA_MEMCPY3D box;
  CUcontext context;
  cudaError_t error = rt_box(&box, copy);
  if (error == cudaSuccess)
    error = rt_here(&context);
  if (error != cudaSuccess)
    return error;
  RT_CALL(cuGraphAddMemcpyNode, node, graph, after, count, &box, context);
}

cudaError_t rt_cudaGraphAddMemcpyNode1D(cudaGraphNode_t *node, cudaGraph_t graph,
                                        const cudaGraphNode_t *after, size_t count, void *to,
                                        const void *from, size_t bytes, cudaMemcpyKind kind) {
  const cudaMemcpy3DParms copy = rt_line(to, from, bytes, kind);
  return rt_cudaGraphAddMemcpyNode(node, graph, after, count, &copy);
}

cudaError_t rt_cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t *node, cudaGraph_t graph,
                                              const cudaGraphNode_t *after, size_t count, const void *symbol,
                                              const void *from, size_t bytes, size_t offset,
                                              cudaMemcpyKind kind) {
  void *to;
  const cudaError_t error = rt_within(symbol, bytes, offset, &to);
  return error == cudaSuccess ? rt_cudaGraphAddMemcpyNode1D(node, graph, after, count, to, from, bytes, kind)
                              : error;
}

cudaError_t rt_cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t *node, cudaGraph_t graph,
                                                const cudaGraphNode_t *after, size_t count, void *to,
                                                const void *symbol, size_t bytes, size_t offset,
                                                cudaMemcpyKind kind) {
  void *from;
  const cudaError_t error = rt_within(symbol, bytes, offset, &from);
  return error == cudaSuccess ? rt_cudaGraphAddMemcpyNode1D(node, graph, after, count, to, from, bytes, kind)
                              : error;
}

cudaError_t rt_cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                const cudaMemcpy3DParms *copy) {
  CUDA_MEMCPY3D box;
  CUcontext context;
  cudaError_t error = rt_box(&box, copy);
  if (error == cudaSuccess)
    error = rt_here(&context);
  if (error != cudaSuccess)
    return error;
  RT_CALL(cuGraphExecMemcpyNodeSetParams, exec, node, &box, context);
}

cudaError_t rt_cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec, cudaGraphNode_t node, void *to,
                                                  const void *from, size_t bytes, cudaMemcpyKind kind) {
  const cudaMemcpy3DParms copy = rt_line(to, from, bytes, kind);
  return rt_cudaGraphExecMemcpyNodeSetParams(exec, node, &copy);
}

cudaError_t rt_cudaGraphAddMemsetNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
                                      size_t count, const CUDA_MEMSET_NODE_PARAMS *parameters) {
  CUcontext context;
  const cudaError_t error = rt_here(&context);
  if (error != cudaSuccess)
    return error;
  RT_CALL(cuGraphAddMemsetNode, node, graph, after, count, parameters, context);
}

cudaError_t rt_cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                const CUDA_MEMSET_NODE_PARAMS *parameters) {
  CUcontext context;
  const cudaError_t error = rt_here(&context);
  if (error != cudaSuccess)
    return error;
  RT_CALL(cuGraphExecMemsetNodeSetParams, exec, node, parameters, context);
}

/* One end of a copy: the driver tells which pointer counts, the runtime has one for all. */
static cudaPitchedPtr rt_end(CUmemorytype type, const void *host, CUdeviceptr device, size_t pitch,
                             size_t width, size_t height) {
  void *pointer = type == CU_MEMORYTYPE_HOST ? (void *)(uintptr_t)host : (void *)(uintptr_t)device;
  return (cudaPitchedPtr){pointer, pitch, width, height};
}

cudaError_t rt_cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, cudaMemcpy3DParms *copy) {
  cudaError_t error;
  CUDA_MEMCPY3D box;
  const muster_driver *cu = rt_enter(&error);
  if (!cu)
    return error;
  if (!copy)
    return cudaErrorInvalidValue;
  error = rt_error(cu->cuGraphMemcpyNodeGetParams(node, &box));
  if (error != cudaSuccess)
    return error;
  const bool from_host = box.srcMemoryType == CU_MEMORYTYPE_HOST,
             to_host = box.dstMemoryType == CU_MEMORYTYPE_HOST;
  *copy = (cudaMemcpy3DParms){.srcPos = {box.srcXInBytes, box.srcY, box.srcZ},
                              .srcPtr = rt_end(box.srcMemoryType, box.srcHost, box.srcDevice, box.srcPitch,
                                               box.WidthInBytes, box.srcHeight),
                              .dstPos = {box.dstXInBytes, box.dstY, box.dstZ},
                              .dstPtr = rt_end(box.dstMemoryType, box.dstHost, box.dstDevice, box.dstPitch,
                                               box.WidthInBytes, box.dstHeight),
                              .extent = {box.WidthInBytes, box.Height, box.Depth},
                              .kind = box.srcMemoryType == CU_MEMORYTYPE_UNIFIED ? cudaMemcpyDefault
                                      : from_host
                                          ? (to_host ? cudaMemcpyHostToHost : cudaMemcpyHostToDevice)
                                          : (to_host ? cudaMemcpyDeviceToHost : cudaMemcpyDeviceToDevice)};
  return cudaSuccess;
}

cudaError_t rt_cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, const cudaMemcpy3DParms *copy) {
  CUDA_MEMCPY3D box;
  const cudaError_t error = rt_box(&box, copy);
  if (error != cudaSuccess)
    return error;
  RT_CALL(cuGraphMemcpyNodeSetParams, node, &box);
}

cudaError_t rt_cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void *to, const void *from, size_t bytes,
                                              cudaMemcpyKind kind) {
  const cudaMemcpy3DParms copy = rt_line(to, from, bytes, kind);
  return rt_cudaGraphMemcpyNodeSetParams(node, &copy);
}

cudaError_t rt_cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, CUDA_MEMSET_NODE_PARAMS *parameters) {
  RT_CALL(cuGraphMemsetNodeGetParams, node, parameters);
}

cudaError_t rt_cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const CUDA_MEMSET_NODE_PARAMS *parameters) {
  RT_CALL(cuGraphMemsetNodeSetParams, node, parameters);
}

/* ------------------------------------------------------------------ other nodes */

cudaError_t rt_cudaGraphHostNodeGetParams(cudaGraphNode_t node, CUDA_HOST_NODE_PARAMS *parameters) {
  RT_CALL(cuGraphHostNodeGetParams, node, parameters);
}

cudaError_t rt_cudaGraphHostNodeSetParams(cudaGraphNode_t node, const CUDA_HOST_NODE_PARAMS *parameters) {
  RT_CALL(cuGraphHostNodeSetParams, node, parameters);
}

cudaError_t rt_cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t *graph) {
  RT_CALL(cuGraphChildGraphNodeGetGraph, node, graph);
}

cudaError_t rt_cudaGraphAddHostNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
                                    size_t count, const CUDA_HOST_NODE_PARAMS *parameters) {
  RT_CALL(cuGraphAddHostNode, node, graph, after, count, parameters);
}

cudaError_t rt_cudaGraphExecHostNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                              const CUDA_HOST_NODE_PARAMS *parameters) {
  RT_CALL(cuGraphExecHostNodeSetParams, exec, node, parameters);
}

cudaError_t rt_cudaGraphAddEmptyNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
                                     size_t count) {
  RT_CALL(cuGraphAddEmptyNode, node, graph, after, count);
}

cudaError_t rt_cudaGraphAddChildGraphNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                          const cudaGraphNode_t *after, size_t count, cudaGraph_t child) {
  RT_CALL(cuGraphAddChildGraphNode, node, graph, after, count, child);
}

cudaError_t rt_cudaGraphAddEventRecordNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                           const cudaGraphNode_t *after, size_t count, cudaEvent_t event) {
  RT_CALL(cuGraphAddEventRecordNode, node, graph, after, count, event);
}

cudaError_t rt_cudaGraphAddEventWaitNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                         const cudaGraphNode_t *after, size_t count, cudaEvent_t event) {
  RT_CALL(cuGraphAddEventWaitNode, node, graph, after, count, event);
}

cudaError_t rt_cudaGraphAddMemAllocNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                        const cudaGraphNode_t *after, size_t count,
                                        CUDA_MEM_ALLOC_NODE_PARAMS *parameters) {
  RT_CALL(cuGraphAddMemAllocNode, node, graph, after, count, parameters);
}

cudaError_t rt_cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node, CUDA_MEM_ALLOC_NODE_PARAMS *parameters) {
  RT_CALL(cuGraphMemAllocNodeGetParams, node, parameters);
}

cudaError_t rt_cudaGraphAddMemFreeNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
                                       size_t count, void *pointer) {
  RT_CALL(cuGraphAddMemFreeNode, node, graph, after, count, rt_address(pointer));
}

/* `pointer` is where the address goes. */
cudaError_t rt_cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void *pointer) {
  RT_CALL(cuGraphMemFreeNodeGetParams, node, pointer);
}

cudaError_t rt_cudaDeviceGetGraphMemAttribute(int device, CUgraphMem_attribute attribute, void *value) {
  RT_CALL(cuDeviceGetGraphMemAttribute, device, attribute, value);
}

cudaError_t rt_cudaDeviceSetGraphMemAttribute(int device, CUgraphMem_attribute attribute, void *value) {
  RT_CALL(cuDeviceSetGraphMemAttribute, device, attribute, value);
}

cudaError_t rt_cudaDeviceGraphMemTrim(int device) {
  RT_CALL(cuDeviceGraphMemTrim, device);
}

/* ------------------------------------------------------------------ the shape of a graph */

cudaError_t rt_cudaGraphNodeGetType(cudaGraphNode_t node, CUgraphNodeType *type) {
  RT_CALL(cuGraphNodeGetType, node, type);
}

cudaError_t rt_cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count) {
  RT_CALL(cuGraphGetNodes, graph, nodes, count);
}

cudaError_t rt_cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count) {
  RT_CALL(cuGraphGetRootNodes, graph, nodes, count);
}

cudaError_t rt_cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to,
                                 CUgraphEdgeData *edges, size_t *count) {
  RT_CALL(cuGraphGetEdges, graph, from, to, edges, count);
}

cudaError_t rt_cudaGraphGetEdges_11(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to,
                                    size_t *count) {
  return rt_cudaGraphGetEdges(graph, from, to, NULL, count);
}

cudaError_t rt_cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                        const cudaGraphNode_t *to, const CUgraphEdgeData *edges,
                                        size_t count) {
  RT_CALL(cuGraphAddDependencies, graph, from, to, edges, count);
}

cudaError_t rt_cudaGraphAddDependencies_11(cudaGraph_t graph, const cudaGraphNode_t *from,
                                           const cudaGraphNode_t *to, size_t count) {
  return rt_cudaGraphAddDependencies(graph, from, to, NULL, count);
}

cudaError_t rt_cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *nodes,
                                            CUgraphEdgeData *edges, size_t *count) {
  RT_CALL(cuGraphNodeGetDependencies, node, nodes, edges, count);
}

cudaError_t rt_cudaGraphNodeGetDependencies_11(cudaGraphNode_t node, cudaGraphNode_t *nodes, size_t *count) {
  return rt_cudaGraphNodeGetDependencies(node, nodes, NULL, count);
}

cudaError_t rt_cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t *nodes,
                                              CUgraphEdgeData *edges, size_t *count) {
  RT_CALL(cuGraphNodeGetDependentNodes, node, nodes, edges, count);
}

cudaError_t rt_cudaGraphNodeGetDependentNodes_11(cudaGraphNode_t node, cudaGraphNode_t *nodes,
                                                 size_t *count) {
  return rt_cudaGraphNodeGetDependentNodes(node, nodes, NULL, count);
}

cudaError_t rt_cudaGraphDestroyNode(cudaGraphNode_t node) {
  RT_CALL(cuGraphDestroyNode, node);
}

/* ------------------------------------------------------------------ instances */

cudaError_t rt_cudaGraphInstantiateWithFlags(cudaGraphExec_t *exec, cudaGraph_t graph,
                                             unsigned long long flags) {
  RT_CALL(cuGraphInstantiateWithFlags, exec, graph, flags);
}

cudaError_t rt_cudaGraphInstantiate_11(cudaGraphExec_t *exec, cudaGraph_t graph, cudaGraphNode_t *wrong,
                                       char *log, size_t log_bytes) {
  if (wrong)
    *wrong = NULL;
  if (log && log_bytes)
    *log = 0;
  return rt_cudaGraphInstantiateWithFlags(exec, graph, 0);
}

cudaError_t rt_cudaGraphInstantiateWithParams(cudaGraphExec_t *exec, cudaGraph_t graph,
                                              CUDA_GRAPH_INSTANTIATE_PARAMS *parameters) {
  RT_CALL(cuGraphInstantiateWithParams, exec, graph, parameters);
}

cudaError_t rt_cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream) {
  RT_CALL(cuGraphUpload, exec, stream);
}

cudaError_t rt_cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  RT_CALL(cuGraphLaunch, exec, stream);
}

cudaError_t rt_cudaGraphExecDestroy(cudaGraphExec_t exec) {
  RT_CALL(cuGraphExecDestroy, exec);
}

cudaError_t rt_cudaGraphExecGetFlags(cudaGraphExec_t exec, unsigned long long *flags) {
  uint64_t value = 0;
  cudaError_t error;
  const muster_driver *cu = rt_enter(&error);
  if (!cu)
    return error;
  error = rt_error(cu->cuGraphExecGetFlags(exec, &value));
  if (flags)
    *flags = value;
  return error;
}

cudaError_t rt_cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                                   CUgraphExecUpdateResultInfo *info) {
  RT_CALL(cuGraphExecUpdate, exec, graph, info);
}

cudaError_t rt_cudaGraphExecUpdate_11(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphNode_t *wrong,
                                      int *result) {
  CUgraphExecUpdateResultInfo info = {0};
  const cudaError_t error = rt_cudaGraphExecUpdate(exec, graph, &info);
  if (wrong)
    *wrong = info.errorNode;
  if (result)
    *result = info.result;
  return error;
}
