// run:
// stdout: 8 host threads: right
// Eight host threads with streams of their own launch, copy and wait at the same time.
#include "run.h"
#include <pthread.h>

__global__ void add(int *words, int summand) {
  words[blockIdx.x * blockDim.x + threadIdx.x] += summand;
}

static void *work(void *number) {
  int me = *(int *)number, host[512];
  cudaStream_t stream;
  CHECK(cudaSetDevice(0));
  CHECK(cudaStreamCreate(&stream));
  int *words;
  CHECK(cudaMalloc(&words, sizeof host));
  CHECK(cudaMemsetAsync(words, 0, sizeof host, stream));
  for (int i = 0; i < 50; i++)
    add<<<4, 128, 0, stream>>>(words, me);
  CHECK(cudaMemcpyAsync(host, words, sizeof host, cudaMemcpyDeviceToHost, stream));
  CHECK(cudaStreamSynchronize(stream));
  for (int i = 0; i < 512; i++)
    EXPECT(host[i] == 50 * me);
  FAILS(cudaSetDevice(99), cudaErrorInvalidDevice); // this thread's last error, nobody else's
  FAILS(cudaGetLastError(), cudaErrorInvalidDevice);
  CHECK(cudaGetLastError());
  CHECK(cudaFree(words));
  CHECK(cudaStreamDestroy(stream));
  return NULL;
}

int main(void) {
  pthread_t threads[8];
  int numbers[8];
  for (int i = 0; i < 8; i++) {
    numbers[i] = i + 1;
    EXPECT(pthread_create(&threads[i], NULL, work, &numbers[i]) == 0);
  }
  for (int i = 0; i < 8; i++)
    pthread_join(threads[i], NULL);
  puts("8 host threads: right");
}
