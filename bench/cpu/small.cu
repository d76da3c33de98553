// small.cu: a small program, for the time that muster run takes to start one.
#include <cuda_runtime.h>
#include <stdio.h>

__global__ void add(int *words, int summand) {
  words[threadIdx.x] += summand;
}

int main(void) {
  int host[256] = {0}, *words;
  if (cudaMalloc(&words, sizeof host) != cudaSuccess)
    return 1;
  cudaMemcpy(words, host, sizeof host, cudaMemcpyHostToDevice);
  add<<<1, 256>>>(words, 7);
  cudaMemcpy(host, words, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(words);
  return host[255] == 7 ? 0 : 1;
}
