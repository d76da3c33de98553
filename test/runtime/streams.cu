// Streams, events, callbacks: what waits for what, and what the host sees meanwhile.
#include "check.h"
#include <atomic>
#include <thread>

__global__ void wait_for(volatile int *flag, int *done) {
  while (*flag == 0)
    ;
  *done = 1;
}
__global__ void twice(int *p) {
  *p = *p * 2;
}
__global__ void plus(int *p, int n) {
  *p = *p + n;
}

static std::atomic<int> called{0};
static void CUDART_CB host_function(void *user) {
  called += *(int *)user;
}
static void CUDART_CB callback(cudaStream_t, cudaError_t status, void *user) {
  called += status == cudaSuccess ? *(int *)user : 1000;
}

int main() {
  int *flag, *d, h = 0;
  cudaStream_t one, two;
  cudaEvent_t start, stop, event;
  OK(cudaHostAlloc(&flag, 64, cudaHostAllocMapped));
  OK(cudaMalloc(&d, 64));
  OK(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking));
  OK(cudaStreamCreateWithPriority(&two, cudaStreamNonBlocking, 0));
  OK(cudaEventCreate(&start));
  OK(cudaEventCreate(&stop));
  OK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));

  // A kernel waits for the host; the host sees that it is not ready, and nothing is remembered of that.
  *flag = 0;
  OK(cudaMemsetAsync(d, 0, 64, one));
  OK(cudaEventRecord(start, one));
  wait_for<<<1, 1, 0, one>>>(flag, d);
  OK(cudaEventRecord(stop, one));
  EXPECT(cudaStreamQuery(one), cudaErrorNotReady);
  EXPECT(cudaEventQuery(stop), cudaErrorNotReady);
  float ms = -1;
  EXPECT(cudaEventElapsedTime(&ms, start, stop), cudaErrorNotReady);
  EXPECT(cudaGetLastError(), cudaSuccess);
  OK(cudaStreamQuery(two));
  std::thread([&] { *(volatile int *)flag = 1; }).join();
  OK(cudaEventSynchronize(stop));
  OK(cudaStreamQuery(one));
  OK(cudaEventElapsedTime(&ms, start, stop));
  EXPECT_TRUE(ms > 0);
  OK(cudaMemcpy(&h, d, 4, cudaMemcpyDeviceToHost));
  EXPECT(h, 1);

  // Order within a stream, and between two by an event.
  h = 5;
  OK(cudaMemcpyAsync(d, &h, 4, cudaMemcpyHostToDevice, one));
  twice<<<1, 1, 0, one>>>(d);
  OK(cudaEventRecord(event, one));
  OK(cudaStreamWaitEvent(two, event, 0));
  plus<<<1, 1, 0, two>>>(d, 7);
  OK(cudaEventRecord(event, two));
  OK(cudaStreamWaitEvent(one, event, 0));
  twice<<<1, 1, 0, one>>>(d);
  OK(cudaStreamSynchronize(one));
  OK(cudaMemcpy(&h, d, 4, cudaMemcpyDeviceToHost));
  EXPECT(h, 34);

  // The legacy default stream waits for blocking streams, and they for it.
  cudaStream_t blocking;
  OK(cudaStreamCreate(&blocking));
  h = 1;
  OK(cudaMemcpy(d, &h, 4, cudaMemcpyHostToDevice));
  plus<<<1, 1, 0, blocking>>>(d, 1);
  twice<<<1, 1>>>(d);
  plus<<<1, 1, 0, blocking>>>(d, 3);
  OK(cudaDeviceSynchronize());
  OK(cudaMemcpy(&h, d, 4, cudaMemcpyDeviceToHost));
  EXPECT(h, 7);

  // Functions of the host, in stream order.
  int ten = 10, hundred = 100;
  OK(cudaLaunchHostFunc(one, host_function, &ten));
  OK(cudaStreamAddCallback(one, callback, &hundred, 0));
  OK(cudaStreamSynchronize(one));
  EXPECT(called, 110);

  int least = 9, greatest = 9, priority = 9;
  unsigned flags = 9;
  OK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  EXPECT_TRUE(least >= greatest);
  OK(cudaStreamGetPriority(two, &priority));
  EXPECT(priority, 0);
  OK(cudaStreamGetFlags(two, &flags));
  EXPECT(flags, cudaStreamNonBlocking);
  OK(cudaStreamDestroy(blocking));
  OK(cudaStreamDestroy(one));
  OK(cudaStreamDestroy(two));
  OK(cudaEventDestroy(start));
  OK(cudaEventDestroy(stop));
  OK(cudaEventDestroy(event));
  return check_end();
}
