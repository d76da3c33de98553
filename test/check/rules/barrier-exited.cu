// Some threads left the kernel before a barrier of the whole block. Hardware counts them out, so it works;
// CUDA's text says that every thread that has not exited must come to the barrier, and a later edit may turn
// it into a hang.
__global__ void broken(int *out) {
  if (threadIdx.x >= 32)
    return;
  out[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x + 64] = out[31 - threadIdx.x];
}
__global__ void fixed(int *out) {
  if (threadIdx.x < 32)
    out[threadIdx.x] = 1;
  __syncthreads();
  if (threadIdx.x < 32)
    out[threadIdx.x + 64] = out[31 - threadIdx.x];
}
LAUNCH(1, 64)
