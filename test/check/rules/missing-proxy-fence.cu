// Bulk copies (TMA) read and write shared memory through the asynchronous proxy: what ordinary stores wrote
// reaches it only after fence.proxy.async. A barrier is not enough.
__device__ void copy_out(int *to, int *box) {
  unsigned from = (unsigned)__cvta_generic_to_shared(box);
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 128;" ::"l"(to), "r"(from)
               : "memory");
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}
__global__ void broken(int *out) {
  __shared__ alignas(128) int box[32];
  box[threadIdx.x] = threadIdx.x;
  __syncthreads();
  if (threadIdx.x == 0)
    copy_out(out, box);
}
__global__ void fixed(int *out) {
  __shared__ alignas(128) int box[32];
  box[threadIdx.x] = threadIdx.x;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0)
    copy_out(out, box);
}
LAUNCH(1, 32)
