// cudaMalloc gives memory with no value. It may be copied; a branch, an address or an atomic must not depend
// on it.
__global__ void broken(int *flag, int *out) {
  if (flag[threadIdx.x])
    out[threadIdx.x] = 1;
}
__global__ void fixed(int *flag, int *out) {
  flag[threadIdx.x] = 0;
  if (flag[threadIdx.x])
    out[threadIdx.x] = 1;
}
static void run(bool is_fixed, int *memory) {
  int *flag;
  cudaMalloc(&flag, 32 * sizeof *flag);
  (is_fixed ? fixed : broken)<<<1, 32>>>(flag, memory);
  cudaDeviceSynchronize();
  cudaFree(flag);
}
