// Blocks of one launch run in any order, and __syncthreads() holds only within a block. What one block writes
// and another one reads or writes needs a barrier over the grid, a second launch, a flag with a release and
// an acquire, or an atomic.
__global__ void broken(int *sum) {
  if (threadIdx.x == 0)
    *sum += 1;
}
__global__ void fixed(int *sum) {
  if (threadIdx.x == 0)
    atomicAdd(sum, 1);
}
LAUNCH(4, 32)
