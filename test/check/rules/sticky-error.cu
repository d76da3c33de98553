// A function of the API failed and nobody looked: what follows works on something else than it believes.
__global__ void kernel(int *out) {
  out[threadIdx.x] = 1;
}
static void run(bool is_fixed, int *memory) {
  int host = 0;
  cudaError_t e =
      cudaMemcpy(memory, &host, sizeof host, (cudaMemcpyKind)(is_fixed ? cudaMemcpyHostToDevice : 99));
  kernel<<<1, 32>>>(memory);
  (void)e;
}
