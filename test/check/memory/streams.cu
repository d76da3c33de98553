// streams.cu: launches and copies that touch the same bytes, with an order between them or none. streams.txt
// says what is to be found of each.
#include "../../run/run.h"

#include <unistd.h>

__global__ void fill(int *p, int value) {
  p[threadIdx.x] = value;
}

__global__ void count(int *p) {
  atomicAdd(&p[threadIdx.x * 7 % 32], 1);
}

__global__ void fill_when_told(int *p, int *told) {
  atomicExch_system(told + 1, 1);
  while (!atomicAdd_system(told, 0))
    ;
  p[threadIdx.x] = 1;
}

static void CUDART_CB sleep_a_while(void *) {
  usleep(50000);
}

static cudaStream_t a, b;
static cudaEvent_t done;
static int *p, *pinned;

static void graph(bool ordered) {
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaGraphNode_t first, second;
  int one = 1, two = 2;
  void *with_one[] = {&p, &one}, *with_two[] = {&p, &two};
  cudaKernelNodeParams k = {};
  k.func = (void *)fill, k.gridDim = dim3(1), k.blockDim = dim3(32), k.kernelParams = with_one;
  CHECK(cudaGraphCreate(&graph, 0));
  CHECK(cudaGraphAddKernelNode(&first, graph, nullptr, 0, &k));
  k.kernelParams = with_two;
  CHECK(cudaGraphAddKernelNode(&second, graph, &first, ordered ? 1 : 0, &k));
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  CHECK(cudaGraphLaunch(exec, a));
  CHECK(cudaGraphLaunch(exec, a));
  CHECK(cudaStreamSynchronize(a));
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));
}

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  auto is = [&](const char *name) { return !strcmp(what, name); };
  CHECK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
  CHECK(cudaEventCreate(&done));
  p = device_zeros<int>(32);
  CHECK(cudaMallocHost(&pinned, 256));
  memset(pinned, 0, 256);
  CHECK(cudaDeviceSynchronize());
  if (is("two_streams")) {
    fill<<<1, 32, 0, a>>>(p, 1);
    fill<<<1, 32, 0, b>>>(p, 2);
  } else if (is("default_beside_non_blocking")) {
    fill<<<1, 32, 0, a>>>(p, 1);
    fill<<<1, 32>>>(p, 2);
  } else if (is("copy_beside")) {
    fill<<<1, 32, 0, a>>>(p, 1);
    CHECK(cudaMemcpyAsync(pinned, p, 128, cudaMemcpyDeviceToHost, b));
  } else if (is("copy_beside_atomics")) {
    count<<<1, 32, 0, a>>>(p);
    CHECK(cudaLaunchHostFunc(b, sleep_a_while, nullptr));
    CHECK(cudaMemcpyAsync(pinned, p, 128, cudaMemcpyDeviceToHost, b));
  } else if (is("atomics_beside_copy")) {
    CHECK(cudaMemcpyAsync(pinned, p, 128, cudaMemcpyDeviceToHost, b));
    count<<<1, 32, 0, a>>>(p);
  } else if (is("copy_amid")) { // it is made while the kernel waits, but nobody sees to it
    int *told = pinned + 32;
    fill_when_told<<<1, 32, 0, a>>>(p, told);
    while (!__atomic_load_n(told + 1, __ATOMIC_ACQUIRE))
      ;
    CHECK(cudaMemcpyAsync(pinned, p, 128, cudaMemcpyDeviceToHost, b));
    usleep(50000);
    __atomic_store_n(told, 1, __ATOMIC_RELEASE);
  } else if (is("hundred_copies")) { // of which each but the last says no more than the next
    for (int i = 0; i < 100; i++)
      CHECK(cudaMemcpyAsync(pinned, p, 128, cudaMemcpyDeviceToHost, b));
    fill<<<1, 32, 0, a>>>(p, 1);
  } else if (is("hundred_copies_in_order")) {
    for (int i = 0; i < 100; i++)
      CHECK(cudaMemcpyAsync(pinned, p, 128, cudaMemcpyDeviceToHost, b));
    fill<<<1, 32, 0, b>>>(p, 1);
  } else if (is("event_too_early")) {
    CHECK(cudaEventRecord(done, a));
    fill<<<1, 32, 0, a>>>(p, 1);
    CHECK(cudaStreamWaitEvent(b, done, 0));
    fill<<<1, 32, 0, b>>>(p, 2);
  } else if (is("nodes")) {
    graph(false);
  } else if (is("one_of_two_waited_for")) {
    fill<<<1, 32, 0, a>>>(p, 1);
    fill<<<1, 32, 0, b>>>(p, 2);
    CHECK(cudaStreamSynchronize(a));
  } else if (is("begins_after_the_wait")) { // the host waits for a before b's second launch begins
    fill<<<1, 32, 0, a>>>(p, 1);
    CHECK(cudaLaunchHostFunc(b, sleep_a_while, nullptr));
    fill<<<1, 32, 0, b>>>(p, 2);
    CHECK(cudaStreamSynchronize(a));
  } else if (is("right")) {
    fill<<<1, 32, 0, a>>>(p, 1);
    CHECK(cudaEventRecord(done, a));
    CHECK(cudaStreamWaitEvent(b, done, 0));
    fill<<<1, 32, 0, b>>>(p, 2);
    CHECK(cudaStreamSynchronize(b)); // and so for what b waited for
    fill<<<1, 32>>>(p, 3);
    cudaStream_t blocking;
    CHECK(cudaStreamCreate(&blocking));
    fill<<<1, 32, 0, blocking>>>(p, 4);
    CHECK(cudaMemcpy(pinned, p, 128, cudaMemcpyDeviceToHost));
    fill<<<1, 32, 0, a>>>(p, 5);
    CHECK(cudaEventRecord(done, a));
    CHECK(cudaEventSynchronize(done));
    CHECK(cudaMemcpyAsync(pinned, p, 128, cudaMemcpyDeviceToHost, b));
    CHECK(cudaStreamSynchronize(b));
    graph(true);
    fill<<<1, 32, 0, b>>>(p, 6);
    while (cudaStreamQuery(b) == cudaErrorNotReady)
      ;
    fill<<<1, 32, 0, a>>>(p, 7);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaStreamDestroy(blocking));
  } else {
    printf("no case %s\n", what);
    return 2;
  }
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaFree(p));
  printf("%s done\n", what);
}
