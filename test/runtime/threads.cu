// Compiled with --default-stream=per-thread: each host thread has a default stream of its own.
#include "check.h"
#include <thread>

__global__ void wait_for(volatile int *flag) {
  while (*flag == 0)
    ;
}
__global__ void plus(int *p, int n) {
  *p = *p + n;
}

int main() {
  int *flag, *d, h = 0;
  OK(cudaHostAlloc(&flag, 64, cudaHostAllocMapped));
  OK(cudaMalloc(&d, 64));
  *flag = 0;
  wait_for<<<1, 1>>>(flag);
  EXPECT(cudaStreamQuery(0), cudaErrorNotReady);
  // Another thread's default stream does not wait for this one's.
  std::thread([&] {
    OK(cudaMemset(d, 0, 64));
    plus<<<1, 1>>>(d, 5);
    OK(cudaMemcpy(&h, d, 4, cudaMemcpyDeviceToHost));
    EXPECT(h, 5);
    FAILS(cudaFree((void *)&h), cudaErrorInvalidValue);
  }).join();
  EXPECT(cudaGetLastError(), cudaSuccess); // an error is remembered by its own thread
  EXPECT(cudaStreamQuery(0), cudaErrorNotReady);
  *(volatile int *)flag = 1;
  OK(cudaStreamSynchronize(0));
  OK(cudaDeviceSynchronize());
  return check_end();
}
