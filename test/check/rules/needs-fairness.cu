// Block i waits for block i - 1, which works only if blocks start in the order of their index: nothing
// promises that. Blocks that take their number from a counter start in that order by construction. Sought
// with --schedules above 1.
// options: --schedules 64
__global__ void broken(int *done) {
  int me = blockIdx.x;
  while (me > 0 && atomicAdd(&done[me - 1], 0) == 0)
    ;
  atomicExch(&done[me], 1);
}
__global__ void fixed(int *done) {
  int me = atomicAdd(&done[gridDim.x], 1);
  while (me > 0 && atomicAdd(&done[me - 1], 0) == 0)
    ;
  atomicExch(&done[me], 1);
}
static void run(bool is_fixed, int *memory) {
  int bytes = 200 << 10; /* one block on each of the 132 SMs: the others start as these end */
  auto kernel = is_fixed ? fixed : broken;
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  kernel<<<140, 1, bytes>>>(memory);
}
