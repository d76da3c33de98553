// The buffer was freed while a kernel may still use it: free it after the kernels that do.
__global__ void kernel(int *out) {
  out[threadIdx.x] = 1;
}
static void run(bool is_fixed, int *) {
  int *a;
  cudaMalloc(&a, 32 * sizeof *a);
  if (is_fixed) {
    kernel<<<1, 32>>>(a);
    cudaDeviceSynchronize();
    cudaFree(a);
  } else {
    cudaFree(a);
    kernel<<<1, 32>>>(a);
  }
}
