// Every lane that calls must be named in its mask, every named lane must come, and all must say the same
// mask. Here all lanes of the warp vote, and the mask names the lower half.
__global__ void broken(int *out) {
  out[threadIdx.x] = __any_sync(0x0000ffff, threadIdx.x == 3);
}
__global__ void fixed(int *out) {
  out[threadIdx.x] = __any_sync(0xffffffff, threadIdx.x == 3);
}
LAUNCH(1, 32)
