// Shared memory holds what an earlier block left there until somebody writes it: here half of the array is
// never written.
__global__ void broken(int *out) {
  __shared__ int box[64];
  if (threadIdx.x < 32)
    box[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = box[63 - threadIdx.x];
}
__global__ void fixed(int *out) {
  __shared__ int box[64];
  box[threadIdx.x] = threadIdx.x < 32 ? threadIdx.x : 0;
  __syncthreads();
  out[threadIdx.x] = box[63 - threadIdx.x];
}
LAUNCH(1, 64)
