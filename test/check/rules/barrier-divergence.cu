// __syncthreads() is for every thread of the block: here half of it waits at the barrier while the other half
// goes on behind the branch. Move the barrier out of the branch.
__global__ void broken(int *out) {
  if (threadIdx.x < 32)
    __syncthreads();
  out[threadIdx.x] = 1;
}
__global__ void fixed(int *out) {
  __syncthreads();
  out[threadIdx.x] = 1;
}
LAUNCH(1, 64)
