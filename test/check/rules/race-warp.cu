// From sm_70 on the lanes of a warp no longer go in lockstep: an exchange through memory needs __syncwarp().
// Shuffles and votes order no memory.
__global__ void broken(int *out) {
  __shared__ int box[32];
  box[threadIdx.x] = threadIdx.x;
  out[threadIdx.x] = box[threadIdx.x ^ 1];
}
__global__ void fixed(int *out) {
  __shared__ int box[32];
  box[threadIdx.x] = threadIdx.x;
  __syncwarp();
  out[threadIdx.x] = box[threadIdx.x ^ 1];
}
LAUNCH(1, 32)
