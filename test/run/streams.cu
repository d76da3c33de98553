// run:
// stdout: in order within a stream
// stdout: events order two streams
// stdout: the default stream waits for both
// stdout: callbacks in order: abc
// stdout: non-blocking streams run beside the default stream
// stdout: time goes forward
// Order: within a stream, between streams by events, with the legacy default stream, host functions.
#include "run.h"
#include <unistd.h>

__global__ void multiply_add(int *word, int factor, int summand) {
  *word = *word * factor + summand;
}

__global__ void wait(volatile int *flag) {
  while (*flag == 0)
    ;
}

static char trace[8];
static void CUDART_CB note(void *letter) {
  usleep(2000);
  strncat(trace, (const char *)letter, 1);
}
static void CUDART_CB note_status(cudaStream_t, cudaError_t status, void *letter) {
  if (status == cudaSuccess)
    note(letter);
}

int main(void) {
  cudaStream_t one, two, free_running;
  cudaEvent_t event, before, after;
  CHECK(cudaStreamCreate(&one));
  CHECK(cudaStreamCreate(&two));
  CHECK(cudaStreamCreateWithFlags(&free_running, cudaStreamNonBlocking));
  CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  CHECK(cudaEventCreate(&before));
  CHECK(cudaEventCreate(&after));
  int *word = device_zeros<int>(1), *host;
  CHECK(cudaMallocHost(&host, sizeof *host));

  // 0 -> 1 -> 3 -> 10 -> 31, a copy between, and only then the host looks.
  *host = -1;
  multiply_add<<<1, 1, 0, one>>>(word, 3, 1);
  multiply_add<<<1, 1, 0, one>>>(word, 3, 0);
  multiply_add<<<1, 1, 0, one>>>(word, 3, 1);
  CHECK(cudaMemcpyAsync(host, word, sizeof *host, cudaMemcpyDeviceToHost, one));
  multiply_add<<<1, 1, 0, one>>>(word, 3, 1);
  CHECK(cudaStreamSynchronize(one));
  EXPECT(*host == 10 && download(word) == 31);
  puts("in order within a stream");

  for (int i = 0; i < 20; i++) {
    CHECK(cudaMemsetAsync(word, 0, sizeof *word, one));
    multiply_add<<<1, 1, 0, one>>>(word, 1, 5);
    CHECK(cudaEventRecord(event, one));
    CHECK(cudaStreamWaitEvent(two, event, 0));
    multiply_add<<<1, 1, 0, two>>>(word, 2, 0);
    CHECK(cudaEventRecord(event, two));
    CHECK(cudaStreamWaitEvent(one, event, 0));
    multiply_add<<<1, 1, 0, one>>>(word, 1, 1);
    CHECK(cudaStreamSynchronize(one));
    EXPECT(download(word) == 11);
  }
  puts("events order two streams");

  int *a = device_zeros<int>(2), *b = a + 1;
  multiply_add<<<1, 1, 0, one>>>(a, 1, 3);
  multiply_add<<<1, 1, 0, two>>>(b, 1, 4);
  multiply_add<<<1, 1>>>(a, 10, 0); // the default stream: after both
  multiply_add<<<1, 1>>>(b, 10, 0);
  multiply_add<<<1, 1, 0, one>>>(b, 1, 1); // and both after it
  multiply_add<<<1, 1, 0, two>>>(a, 1, 1);
  CHECK(cudaDeviceSynchronize());
  EXPECT(download(a) == 31 && download(b) == 41);
  puts("the default stream waits for both");

  CHECK(cudaLaunchHostFunc(one, note, (void *)"a"));
  CHECK(cudaStreamAddCallback(one, note_status, (void *)"b", 0));
  CHECK(cudaEventRecord(event, one));
  CHECK(cudaStreamWaitEvent(two, event, 0));
  CHECK(cudaLaunchHostFunc(two, note, (void *)"c"));
  CHECK(cudaStreamSynchronize(two));
  printf("callbacks in order: %s\n", trace);

  volatile int *flag;
  CHECK(cudaHostAlloc((void **)&flag, sizeof *flag, cudaHostAllocMapped));
  *flag = 0;
  wait<<<1, 1, 0, free_running>>>(flag);
  multiply_add<<<1, 1>>>(word, 0, 9); // does not wait for it
  CHECK(cudaStreamSynchronize(0));
  FAILS(cudaStreamQuery(free_running), cudaErrorNotReady);
  *flag = 1;
  CHECK(cudaStreamSynchronize(free_running));
  CHECK(cudaStreamQuery(free_running));
  EXPECT(download(word) == 9);
  puts("non-blocking streams run beside the default stream");

  CHECK(cudaEventRecord(before, one));
  for (int i = 0; i < 10; i++)
    multiply_add<<<1, 1, 0, one>>>(word, 1, 1);
  CHECK(cudaEventRecord(after, one));
  CHECK(cudaEventSynchronize(after));
  float ms = -1;
  CHECK(cudaEventElapsedTime(&ms, before, after));
  EXPECT(ms > 0 && ms < 1000);
  FAILS(cudaEventElapsedTime(&ms, before, event), cudaErrorInvalidResourceHandle);
  CHECK(cudaStreamDestroy(one));
  CHECK(cudaStreamDestroy(two));
  CHECK(cudaEventDestroy(event));
  puts("time goes forward");
}
