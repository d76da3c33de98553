// __syncthreads() is for every thread of the block: here half of it waits at the barrier while the other half
// goes on behind the branch, and reads what it should have waited for. Move the barrier out of the branch.
// also: race-shared
__global__ void broken(int *out) {
  __shared__ int box[64];
  box[threadIdx.x] = threadIdx.x;
  if (threadIdx.x < 32)
    __syncthreads();
  out[threadIdx.x] = box[63 - threadIdx.x];
}
__global__ void fixed(int *out) {
  __shared__ int box[64];
  box[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = box[63 - threadIdx.x];
}
LAUNCH(1, 64)
