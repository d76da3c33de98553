// A shared library with a kernel, and a variable that the constructor of a C++ object reads through the
// runtime.
__device__ int one = 1;

__global__ void twice(int *p) {
  *p = 2 * *p + one;
}

static struct Early {
  int value = 0;
  Early() {
    cudaMemcpyFromSymbol(&value, one, sizeof value);
  }
} early;

extern "C" int plugin_run(int n) {
  int *d;
  if (early.value != 1 || cudaMalloc(&d, sizeof n) != cudaSuccess)
    return -2;
  cudaMemcpy(d, &n, sizeof n, cudaMemcpyHostToDevice);
  twice<<<1, 1>>>(d);
  cudaMemcpy(&n, d, sizeof n, cudaMemcpyDeviceToHost);
  cudaFree(d);
  return cudaGetLastError() == cudaSuccess ? n : -3;
}
