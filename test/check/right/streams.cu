// Launches and copies in several streams that hand one buffer on: by an event, by the host that waits, by the
// legacy default stream, which waits for the others, and by a graph's edges.
#include "../check.h"

enum { THREADS = 64 };

__global__ void add(unsigned *words, unsigned by) {
  words[threadIdx.x] += by;
}

int main(void) {
  unsigned *words = device_numbers(THREADS), *copy = device_zeros<unsigned>(THREADS);
  cudaStream_t a, b;
  cudaEvent_t done;
  CHECK(cudaStreamCreate(&a));
  CHECK(cudaStreamCreate(&b));
  CHECK(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
  add<<<1, THREADS, 0, a>>>(words, 10);
  CHECK(cudaEventRecord(done, a));
  CHECK(cudaStreamWaitEvent(b, done, 0));
  add<<<1, THREADS, 0, b>>>(words, 100);
  CHECK(cudaMemcpyAsync(copy, words, THREADS * 4, cudaMemcpyDeviceToDevice, b));
  CHECK(cudaStreamSynchronize(b));
  add<<<1, THREADS, 0, a>>>(words, 1000);
  add<<<1, THREADS>>>(words, 10000); // the default stream
  add<<<1, THREADS, 0, b>>>(copy, 1);
  CHECK(cudaDeviceSynchronize());
  EXPECT(download(words) == 11111 && download(copy) == 112);

  cudaGraph_t graph;
  cudaGraphExec_t ready;
  CHECK(cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal));
  add<<<1, THREADS, 0, a>>>(words, 1);
  CHECK(cudaMemcpyAsync(copy, words, THREADS * 4, cudaMemcpyDeviceToDevice, a));
  add<<<1, THREADS, 0, a>>>(copy, 1);
  CHECK(cudaStreamEndCapture(a, &graph));
  CHECK(cudaGraphInstantiate(&ready, graph, 0));
  CHECK(cudaGraphLaunch(ready, a));
  CHECK(cudaGraphLaunch(ready, a));
  CHECK(cudaStreamSynchronize(a));
  EXPECT(download(copy) == 11114);
}
