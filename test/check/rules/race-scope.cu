// An atomic or a fence of block scope (.cta) says nothing to threads of other blocks. The wider scope is the
// one without _block: .gpu.
__global__ void broken(int *sum) {
  atomicAdd_block(sum, 1);
}
__global__ void fixed(int *sum) {
  atomicAdd(sum, 1);
}
LAUNCH(2, 1)
