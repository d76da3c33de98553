// Nothing on one side of the second barrier is ordered by it that the first one has not ordered already. This
// is said of this input only: another one may need it.
__global__ void broken(int *out) {
  __shared__ int box[64];
  box[threadIdx.x] = threadIdx.x;
  __syncthreads();
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
