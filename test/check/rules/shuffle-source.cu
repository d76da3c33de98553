// A shuffle gives an undefined value where the lane that is read takes no part in it.
__global__ void broken(int *out) {
  int mine = threadIdx.x;
  if (threadIdx.x < 16)
    mine = __shfl_sync(0x0000ffff, mine, 20);
  out[threadIdx.x] = mine;
}
__global__ void fixed(int *out) {
  int mine = threadIdx.x;
  if (threadIdx.x < 16)
    mine = __shfl_sync(0x0000ffff, mine, 4);
  out[threadIdx.x] = mine;
}
LAUNCH(1, 32)
