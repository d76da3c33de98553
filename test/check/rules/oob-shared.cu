// An access outside of the block's shared memory. Dynamic shared memory is as large as the launch says.
__global__ void broken(int *out) {
  extern __shared__ int box[];
  box[threadIdx.x] = threadIdx.x;
  out[threadIdx.x] = box[threadIdx.x];
}
__global__ void fixed(int *out) {
  extern __shared__ int box[];
  if (threadIdx.x < 32)
    box[threadIdx.x] = threadIdx.x;
  out[threadIdx.x] = threadIdx.x < 32 ? box[threadIdx.x] : 0;
}
static void run(bool is_fixed, int *memory) {
  (is_fixed ? fixed : broken)<<<1, 64, 32 * sizeof(int)>>>(memory);
}
