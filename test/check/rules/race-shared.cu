// Threads of one block exchange through shared memory: without a barrier between them a thread may read
// before the other one has written. Put __syncthreads() between the write and the read, and another one
// before the array is written again.
__global__ void broken(int *out) {
  __shared__ int box[64];
  box[threadIdx.x] = threadIdx.x;
  out[threadIdx.x] = box[63 - threadIdx.x];
}
__global__ void fixed(int *out) {
  __shared__ int box[64];
  box[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = box[63 - threadIdx.x];
}
LAUNCH(1, 64)
