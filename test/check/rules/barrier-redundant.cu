// Nothing is ordered by one of the two barriers that the other one does not order as well; all barriers that
// are told of may go together. This is said of this input only: another one may need them. A kernel in which
// something is wrong is not judged, nor are barriers behind asynchronous copies, or in clusters.
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
