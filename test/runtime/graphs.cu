// Graphs: captured from streams and built node by node, launched, changed, cloned.
#include "check.h"

__global__ void plus(int *p, int n) {
  *p = *p + n;
}
__global__ void times(int *p, int n) {
  *p = *p * n;
}
static int called;
static void CUDART_CB host_function(void *user) {
  called += *(int *)user;
}

int main() {
  int *d, *e, h = 1, back = 0;
  cudaStream_t one, two;
  cudaEvent_t event;
  cudaGraph_t graph, clone;
  cudaGraphExec_t exec;
  OK(cudaMalloc(&d, 64));
  OK(cudaMalloc(&e, 64));
  OK(cudaStreamCreate(&one));
  OK(cudaStreamCreate(&two));
  OK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));

  // captured, with a fork and a join
  int ten = 10;
  OK(cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal));
  cudaStreamCaptureStatus status;
  OK(cudaStreamIsCapturing(one, &status));
  EXPECT(status, cudaStreamCaptureStatusActive);
  OK(cudaMemcpyAsync(d, &h, 4, cudaMemcpyHostToDevice, one));
  plus<<<1, 1, 0, one>>>(d, 4);
  OK(cudaEventRecord(event, one));
  OK(cudaStreamWaitEvent(two, event, 0));
  times<<<1, 1, 0, two>>>(d, 3);
  OK(cudaEventRecord(event, two));
  OK(cudaStreamWaitEvent(one, event, 0));
  OK(cudaLaunchHostFunc(one, host_function, &ten));
  OK(cudaMemcpyAsync(&back, d, 4, cudaMemcpyDeviceToHost, one));
  OK(cudaStreamEndCapture(one, &graph));
  EXPECT(back, 0);
  size_t nodes = 0, roots = 0;
  OK(cudaGraphGetNodes(graph, NULL, &nodes));
  EXPECT(nodes, 5);
  OK(cudaGraphGetRootNodes(graph, NULL, &roots));
  EXPECT(roots, 1);
  OK(cudaGraphInstantiate(&exec, graph, 0));
  for (int i = 1; i <= 3; i++) {
    h = i;
    OK(cudaGraphLaunch(exec, one));
    OK(cudaStreamSynchronize(one));
    EXPECT(back, (i + 4) * 3);
  }
  EXPECT(called, 30);
  OK(cudaGraphExecDestroy(exec));
  OK(cudaGraphDestroy(graph));

  // a capture that is spoiled
  OK(cudaStreamBeginCapture(one, cudaStreamCaptureModeThreadLocal));
  EXPECT(cudaStreamSynchronize(one), cudaErrorStreamCaptureUnsupported);
  EXPECT(cudaStreamEndCapture(one, &graph), cudaErrorStreamCaptureInvalidated);
  (void)cudaGetLastError();

  // node by node
  cudaGraphNode_t fill, add, copy, host;
  OK(cudaGraphCreate(&graph, 0));
  cudaMemsetParams set = {};
  set.dst = e, set.value = 2, set.elementSize = 4, set.width = 3, set.height = 1;
  OK(cudaGraphAddMemsetNode(&fill, graph, NULL, 0, &set));
  int n = 5;
  void *arguments[] = {&e, &n};
  cudaKernelNodeParams kernel = {};
  kernel.func = (void *)plus, kernel.gridDim = dim3(1), kernel.blockDim = dim3(1),
  kernel.kernelParams = arguments;
  OK(cudaGraphAddKernelNode(&add, graph, &fill, 1, &kernel));
  OK(cudaGraphAddMemcpyNode1D(&copy, graph, &add, 1, &back, e, 4, cudaMemcpyDeviceToHost));
  cudaHostNodeParams call = {host_function, &ten};
  OK(cudaGraphAddHostNode(&host, graph, &copy, 1, &call));
  cudaGraphNodeType type;
  OK(cudaGraphNodeGetType(add, &type));
  EXPECT(type, cudaGraphNodeTypeKernel);
  OK(cudaGraphInstantiate(&exec, graph, 0));
  n = 1000; // the node has its own copy of the arguments
  OK(cudaGraphLaunch(exec, one));
  OK(cudaStreamSynchronize(one));
  EXPECT(back, 7);
  EXPECT(called, 40);
  n = 8;
  OK(cudaGraphExecKernelNodeSetParams(exec, add, &kernel));
  OK(cudaGraphLaunch(exec, one));
  OK(cudaStreamSynchronize(one));
  EXPECT(back, 10);
  cudaKernelNodeParams is;
  OK(cudaGraphKernelNodeGetParams(add, &is));
  EXPECT(is.blockDim.x, 1);
  EXPECT(*(int *)is.kernelParams[1], 5);
  n = 20;
  OK(cudaGraphKernelNodeSetParams(add, &kernel));
  cudaGraphExecUpdateResultInfo info;
  OK(cudaGraphExecUpdate(exec, graph, &info));
  EXPECT(info.result, cudaGraphExecUpdateSuccess);
  OK(cudaGraphLaunch(exec, one));
  OK(cudaStreamSynchronize(one));
  EXPECT(back, 22);
  OK(cudaGraphExecDestroy(exec));

  OK(cudaGraphClone(&clone, graph));
  OK(cudaGraphDestroy(graph));
  OK(cudaGraphInstantiate(&exec, clone, 0));
  back = 0;
  OK(cudaGraphLaunch(exec, two));
  OK(cudaStreamSynchronize(two));
  EXPECT(back, 22);
  OK(cudaGraphExecDestroy(exec));
  OK(cudaGraphDestroy(clone));

  // memory that lives within a launch of the graph
  cudaGraphNode_t last[2];
  OK(cudaGraphCreate(&graph, 0));
  cudaMemAllocNodeParams allocate = {};
  allocate.bytesize = 4096;
  allocate.poolProps.allocType = cudaMemAllocationTypePinned;
  allocate.poolProps.location.type = cudaMemLocationTypeDevice;
  OK(cudaGraphAddMemAllocNode(&fill, graph, NULL, 0, &allocate));
  EXPECT_TRUE(allocate.dptr != NULL);
  set.dst = allocate.dptr, set.value = 77;
  OK(cudaGraphAddMemsetNode(&add, graph, &fill, 1, &set));
  OK(cudaGraphAddMemcpyNode1D(&last[0], graph, &add, 1, &back, allocate.dptr, 4, cudaMemcpyDeviceToHost));
  OK(cudaGraphAddEmptyNode(&last[1], graph, &add, 1));
  OK(cudaGraphAddMemFreeNode(&host, graph, last, 2, allocate.dptr));
  OK(cudaGraphInstantiate(&exec, graph, 0));
  OK(cudaGraphLaunch(exec, one));
  OK(cudaStreamSynchronize(one));
  EXPECT(back, 77);
  OK(cudaGraphExecDestroy(exec));
  OK(cudaGraphDestroy(graph));
  return check_end();
}
