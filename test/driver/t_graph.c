/* t_graph.c: graphs: captured and built by hand, launched, changed. */
#include "t.h"

static unsigned word(CUdeviceptr p) {
  unsigned value;
  OK(cuMemcpyDtoH(&value, p, 4));
  return value;
}

static void capture(void) {
  CUstream s, other;
  CUevent fork, join;
  CUgraph graph;
  CUgraphExec exec;
  CUstreamCaptureStatus status;
  CUdeviceptr list = t_memory(256);
  unsigned one = 1, two = 2;
  size_t nodes = 0;
  OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
  OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
  OK(cuEventCreate(&fork, CU_EVENT_DISABLE_TIMING));
  OK(cuEventCreate(&join, CU_EVENT_DISABLE_TIMING));
  CUfunction append = t_kernel("append");
  OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
  OK(cuStreamIsCapturing(s, &status));
  EQUAL(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
  OK(LAUNCH(append, 1, 1, 0, s, &list, &one));
  OK(cuEventRecord(fork, s));
  OK(cuStreamWaitEvent(other, fork, 0));
  OK(LAUNCH(append, 1, 1, 0, other, &list, &two));
  OK(cuEventRecord(join, other));
  OK(cuMemsetD32Async(list + 128, 9, 1, s));
  OK(cuStreamWaitEvent(s, join, 0));
  OK(cuStreamEndCapture(s, &graph));
  OK(cuStreamIsCapturing(s, &status));
  EQUAL(status, CU_STREAM_CAPTURE_STATUS_NONE);
  EQUAL(word(list), 0); /* nothing ran */
  OK(cuGraphGetNodes(graph, NULL, &nodes));
  EQUAL(nodes, 3);
  OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
  OK(cuGraphLaunch(exec, s));
  OK(cuGraphLaunch(exec, s));
  OK(cuStreamSynchronize(s));
  EQUAL(word(list), 4);
  EQUAL(word(list + 4), 1);
  EQUAL(word(list + 8), 2);
  EQUAL(word(list + 128), 9);
  OK(cuGraphExecDestroy(exec));
  OK(cuGraphDestroy(graph));
}

static void unjoined(void) {
  CUstream s, other;
  CUevent fork;
  CUgraph graph = NULL;
  CUdeviceptr list = t_memory(64);
  unsigned one = 1;
  OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
  OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
  OK(cuEventCreate(&fork, CU_EVENT_DISABLE_TIMING));
  CUfunction append = t_kernel("append");
  OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED));
  OK(LAUNCH(append, 1, 1, 0, s, &list, &one));
  OK(cuEventRecord(fork, s));
  OK(cuStreamWaitEvent(other, fork, 0));
  OK(LAUNCH(append, 1, 1, 0, other, &list, &one));
  GIVES(CUDA_ERROR_STREAM_CAPTURE_UNJOINED, cuStreamEndCapture(s, &graph));
  CHECK(graph == NULL);
  OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED));
  OK(cuEventRecord(fork, s));
  OK(cuStreamWaitEvent(other, fork, 0));
  GIVES(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, cuStreamEndCapture(other, &graph));
  GIVES(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(s, &graph));
}

static void forbidden(void) {
  CUstream s;
  CUgraph graph;
  OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
  GIVES(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuStreamBeginCapture(NULL, CU_STREAM_CAPTURE_MODE_GLOBAL));
  GIVES(CUDA_ERROR_ILLEGAL_STATE, cuStreamEndCapture(s, &graph));
  OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
  GIVES(CUDA_ERROR_ILLEGAL_STATE, cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
  GIVES(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuStreamSynchronize(s));
  GIVES(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(s, &graph));
}

static void by_hand(void) {
  CUgraph graph, clone;
  CUgraphExec exec;
  CUgraphNode fill, add, copy, empty, nodes[4];
  CUdeviceptr list = t_memory(64);
  unsigned value = 5, got = 0, other = 6;
  size_t n;
  OK(cuGraphCreate(&graph, 0));
  CUDA_MEMSET_NODE_PARAMS f = {.dst = list, .value = 0, .elementSize = 4, .width = 16, .height = 1};
  OK(cuGraphAddMemsetNode(&fill, graph, NULL, 0, &f, t_context));
  void *params[] = {&list, &value};
  CUDA_KERNEL_NODE_PARAMS k = {.func = t_kernel("append"),
                               .gridDimX = 1,
                               .gridDimY = 1,
                               .gridDimZ = 1,
                               .blockDimX = 1,
                               .blockDimY = 1,
                               .blockDimZ = 1,
                               .kernelParams = params};
  OK(cuGraphAddKernelNode(&add, graph, &fill, 1, &k));
  CUDA_MEMCPY3D c = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                     .srcDevice = list + 4,
                     .srcPitch = 4,
                     .srcHeight = 1,
                     .dstMemoryType = CU_MEMORYTYPE_HOST,
                     .dstHost = &got,
                     .dstPitch = 4,
                     .dstHeight = 1,
                     .WidthInBytes = 4,
                     .Height = 1,
                     .Depth = 1};
  OK(cuGraphAddMemcpyNode(&copy, graph, NULL, 0, &c, t_context));
  OK(cuGraphAddDependencies(graph, &add, &copy, NULL, 1));
  GIVES(CUDA_ERROR_INVALID_VALUE, cuGraphAddDependencies(graph, &copy, &copy, NULL, 1));
  OK(cuGraphAddEmptyNode(&empty, graph, &copy, 1));
  n = 4;
  OK(cuGraphGetNodes(graph, nodes, &n));
  EQUAL(n, 4);
  OK(cuGraphGetRootNodes(graph, nodes, &n));
  EQUAL(n, 1);
  CHECK(nodes[0] == fill);
  CUgraphNodeType type;
  OK(cuGraphNodeGetType(add, &type));
  EQUAL(type, CU_GRAPH_NODE_TYPE_KERNEL);
  OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
  OK(cuGraphLaunch(exec, NULL));
  OK(cuCtxSynchronize(NULL));
  EQUAL(got, 5);
  params[1] = &other;
  OK(cuGraphExecKernelNodeSetParams(exec, add, &k));
  OK(cuGraphLaunch(exec, NULL));
  OK(cuCtxSynchronize(NULL));
  EQUAL(got, 6);
  OK(cuGraphClone(&clone, graph)); /* the clone has the old value */
  OK(cuGraphExecDestroy(exec));
  OK(cuGraphInstantiateWithFlags(&exec, clone, 0));
  OK(cuGraphLaunch(exec, NULL));
  OK(cuCtxSynchronize(NULL));
  EQUAL(got, 5);
  CUgraphExecUpdateResultInfo info;
  OK(cuGraphKernelNodeSetParams(add, &k));
  OK(cuGraphExecUpdate(exec, graph, &info));
  OK(cuGraphLaunch(exec, NULL));
  OK(cuCtxSynchronize(NULL));
  EQUAL(got, 6);
  OK(cuGraphDestroyNode(empty));
  CHECK(cu.cuGraphExecUpdate(exec, graph, &info) == CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
  OK(cuGraphExecDestroy(exec));
  OK(cuGraphDestroy(graph));
  OK(cuGraphDestroy(clone));
}

static int host_calls;
static void call(void *user) {
  host_calls += *(int *)user;
}

static void children(void) {
  CUgraph inner, outer, again;
  CUgraphExec exec;
  CUgraphNode node, host;
  int step = 3;
  CUDA_HOST_NODE_PARAMS h = {call, &step};
  OK(cuGraphCreate(&inner, 0));
  OK(cuGraphAddHostNode(&host, inner, NULL, 0, &h));
  OK(cuGraphCreate(&outer, 0));
  OK(cuGraphAddChildGraphNode(&node, outer, NULL, 0, inner));
  OK(cuGraphAddHostNode(&host, outer, &node, 1, &h));
  OK(cuGraphChildGraphNodeGetGraph(node, &again));
  size_t n;
  OK(cuGraphGetNodes(again, NULL, &n));
  EQUAL(n, 1);
  OK(cuGraphInstantiateWithFlags(&exec, outer, 0));
  OK(cuGraphDestroy(inner));
  OK(cuGraphLaunch(exec, NULL));
  OK(cuCtxSynchronize(NULL));
  EQUAL(host_calls, 6);
  OK(cuGraphExecDestroy(exec));
  OK(cuGraphDestroy(outer));
}

/* Memory that lives from one node of a graph to another. */
static void memory(void) {
  CUgraph graph;
  CUgraphExec exec;
  CUgraphNode alloc, fill, copy, end;
  CUstream s;
  unsigned value = 8, n = 256, got[2] = {0, 0};
  uint64_t used;
  CUdeviceptr p;
  OK(cuGraphCreate(&graph, 0));
  CUDA_MEM_ALLOC_NODE_PARAMS a = {
      .poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}},
      .bytesize = 4096};
  OK(cuGraphAddMemAllocNode(&alloc, graph, NULL, 0, &a));
  CHECK(a.dptr != 0);
  void *params[] = {&a.dptr, &value, &n};
  CUDA_KERNEL_NODE_PARAMS k = {.func = t_kernel("fill"),
                               .gridDimX = 1,
                               .gridDimY = 1,
                               .gridDimZ = 1,
                               .blockDimX = 256,
                               .blockDimY = 1,
                               .blockDimZ = 1,
                               .kernelParams = params};
  OK(cuGraphAddKernelNode(&fill, graph, &alloc, 1, &k));
  CUDA_MEMCPY3D c = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                     .srcDevice = a.dptr + 1020,
                     .dstMemoryType = CU_MEMORYTYPE_HOST,
                     .dstHost = got,
                     .WidthInBytes = 4,
                     .Height = 1,
                     .Depth = 1};
  OK(cuGraphAddMemcpyNode(&copy, graph, &fill, 1, &c, t_context));
  OK(cuGraphAddMemFreeNode(&end, graph, &copy, 1, a.dptr));
  OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
  OK(cuGraphLaunch(exec, NULL));
  OK(cuGraphLaunch(exec, NULL));
  OK(cuCtxSynchronize(NULL));
  EQUAL(got[0], 8);
  OK(cuGraphMemFreeNodeGetParams(end, &p));
  EQUAL(p, a.dptr);
  OK(cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &used));
  CHECK(used >= 4096);
  OK(cuGraphExecDestroy(exec));
  OK(cuGraphDestroy(graph));
  OK(cuDeviceGraphMemTrim(0));
  OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
  OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
  OK(cuMemAllocAsync(&p, 1024, s));
  OK(LAUNCH(t_kernel("fill"), 1, 256, 0, s, &p, &value, &n));
  OK(cuMemcpyDtoHAsync(&got[1], p + 1020, 4, s));
  OK(cuMemFreeAsync(p, s));
  OK(cuStreamEndCapture(s, &graph));
  OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
  OK(cuGraphLaunch(exec, s));
  OK(cuStreamSynchronize(s));
  EQUAL(got[1], 8);
  OK(cuGraphExecDestroy(exec));
  OK(cuGraphDestroy(graph));
}

const t_test t_graph_tests[] = {
    {"capture", capture, false}, {"unjoined", unjoined, false}, {"forbidden", forbidden, false},
    {"by_hand", by_hand, false}, {"children", children, false}, {"graph_memory", memory, false},
    {NULL, NULL, false}};
