// Threads wait at a barrier that nobody else will come to: here it counts on two warps, and only one takes
// this way.
__global__ void broken(int *out) {
  if (threadIdx.x < 32)
    asm volatile("bar.sync 1, 64;" ::: "memory");
  out[threadIdx.x] = 1;
}
__global__ void fixed(int *out) {
  if (threadIdx.x < 32)
    asm volatile("bar.sync 1, 32;" ::: "memory");
  out[threadIdx.x] = 1;
}
LAUNCH(1, 64)
