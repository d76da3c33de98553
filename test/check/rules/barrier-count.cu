// A numbered barrier completes when as many threads have come as its participants say: they must say the same
// number.
__device__ void meet(int threads) {
  asm volatile("bar.sync 1, %0;" ::"r"(threads) : "memory");
}
__global__ void broken(int *out) {
  meet(threadIdx.x < 32 ? 64 : 96);
  out[threadIdx.x] = 1;
}
__global__ void fixed(int *out) {
  meet(64);
  out[threadIdx.x] = 1;
}
LAUNCH(1, 64)
