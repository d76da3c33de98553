// Every lane that calls must be named in its mask, every named lane must come, and all must say the same
// mask. Here all lanes of the warp call, and the mask names the lower half.
__global__ void broken(int *out) {
  int mine = threadIdx.x;
  out[threadIdx.x] = __shfl_xor_sync(0x0000ffff, mine, 1);
}
__global__ void fixed(int *out) {
  int mine = threadIdx.x;
  out[threadIdx.x] = __shfl_xor_sync(0xffffffff, mine, 1);
}
LAUNCH(1, 32)
