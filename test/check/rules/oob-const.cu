// An access outside of constant memory or of the kernel's parameters.
__constant__ int table[4];
__global__ void broken(int *out) {
  out[threadIdx.x] = table[threadIdx.x];
}
__global__ void fixed(int *out) {
  out[threadIdx.x] = table[threadIdx.x % 4];
}
LAUNCH(1, 32)
