// Device memory that is never freed: in a program that lives long it runs out in the end.
__global__ void kernel(int *out) {
  out[threadIdx.x] = 1;
}
static void run(bool is_fixed, int *) {
  int *a;
  cudaMalloc(&a, 32 * sizeof *a);
  kernel<<<1, 32>>>(a);
  cudaDeviceSynchronize();
  if (is_fixed)
    cudaFree(a);
}
