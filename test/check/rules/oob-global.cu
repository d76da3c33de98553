// An access outside of every allocation, to the byte: the grid is rounded up to whole blocks, and the last
// threads have no element.
__global__ void broken(int *a, int n) {
  a[threadIdx.x] = n;
}
__global__ void fixed(int *a, int n) {
  if ((int)threadIdx.x < n)
    a[threadIdx.x] = n;
}
static void run(bool is_fixed, int *) {
  int *a;
  cudaMalloc(&a, 50 * sizeof *a);
  (is_fixed ? fixed : broken)<<<1, 64>>>(a, 50);
  cudaDeviceSynchronize();
  cudaFree(a);
}
