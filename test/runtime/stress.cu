// Many host threads at once: first launches of one kernel, streams, events, memory, symbols, errors of one
// thread.
#include "check.h"
#include <atomic>
#include <thread>
#include <vector>

__device__ int total;
__device__ int table[64];

__global__ void work(int *p, int n, int add) {
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    p[i] += add;
  if (threadIdx.x == 0)
    atomicAdd(&total, 1);
}

enum { THREADS = 8, ROUNDS = 40, N = 500 };
static std::atomic<int> wrong{0};
#define MUST(call) wrong += (call) != cudaSuccess

static void one_thread(int id) {
  cudaStream_t stream;
  cudaEvent_t event;
  std::vector<int> host(N);
  MUST(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  MUST(cudaEventCreate(&event));
  for (int round = 0; round < ROUNDS; round++) {
    int *d, is;
    for (int i = 0; i < N; i++)
      host[i] = i;
    MUST(cudaMallocAsync(&d, N * sizeof *d, stream));
    MUST(cudaMemcpyAsync(d, host.data(), N * sizeof *d, cudaMemcpyHostToDevice, stream));
    work<<<1, 64, 0, stream>>>(d, N, id);
    MUST(cudaGetLastError());
    MUST(cudaEventRecord(event, stream));
    wrong += cudaMalloc(NULL, 4) != cudaErrorInvalidValue || cudaGetLastError() != cudaErrorInvalidValue;
    MUST(cudaMemcpyAsync(host.data(), d, N * sizeof *d, cudaMemcpyDeviceToHost, stream));
    MUST(cudaFreeAsync(d, stream));
    MUST(cudaEventSynchronize(event));
    MUST(cudaStreamSynchronize(stream));
    for (int i = 0; i < N; i++)
      wrong += host[i] != i + id;
    const int mine = id * 1000 + round;
    MUST(
        cudaMemcpyToSymbolAsync(table, &mine, sizeof mine, id * sizeof mine, cudaMemcpyHostToDevice, stream));
    MUST(cudaMemcpyFromSymbolAsync(&is, table, sizeof is, id * sizeof is, cudaMemcpyDeviceToHost, stream));
    MUST(cudaStreamSynchronize(stream));
    wrong += is != mine;
  }
  MUST(cudaEventDestroy(event));
  MUST(cudaStreamDestroy(stream));
}

int main() {
  std::vector<std::thread> threads;
  for (int i = 0; i < THREADS; i++)
    threads.emplace_back(one_thread, i);
  for (auto &thread : threads)
    thread.join();
  EXPECT(wrong.load(), 0);
  int launches = 0;
  OK(cudaMemcpyFromSymbol(&launches, total, sizeof launches));
  EXPECT(launches, THREADS * ROUNDS);
  EXPECT(cudaGetLastError(), cudaSuccess);
  return check_end();
}
