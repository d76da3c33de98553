// A program of two objects with device code that refer to each other (-rdc=true); rdc_part.cu is the other.
#include "check.h"

extern __device__ int shared_variable;
extern __constant__ int shared_constant[4];
__device__ int twice(int n);
__global__ void other(int *out);
static __device__ int same_name = 10; // rdc_part.cu has its own

__device__ int back_call(int n) {
  return n + same_name;
}
__global__ void here(int *out) {
  out[0] = twice(21) + shared_variable;
  out[1] = shared_constant[2];
}

int main() {
  int *d, h[4] = {0}, value = 8, table[4] = {1, 2, 3, 4};
  OK(cudaMalloc(&d, sizeof h));
  OK(cudaMemcpyToSymbol(shared_variable, &value, sizeof value));
  OK(cudaMemcpyToSymbol(shared_constant, table, sizeof table));
  here<<<1, 1>>>(d);
  OK(cudaGetLastError());
  other<<<1, 1>>>(d + 2);
  OK(cudaGetLastError());
  OK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
  EXPECT(h[0], 50);
  EXPECT(h[1], 3);
  EXPECT(h[2], 15);
  EXPECT(h[3], 200);
  return check_end();
}
