// Blocks wait for each other, and there are more of them than fit on the GPU at once: those that are resident
// wait for some that can never start. A cooperative launch refuses such a grid; muster plan says how many
// blocks fit. Here each takes 200 KiB of shared memory, so that one fits on each of the 132 SMs.
__global__ void kernel(int *arrived) {
  atomicAdd(arrived, 1);
  while (atomicAdd(arrived, 0) < (int)gridDim.x)
    ;
}
static void run(bool is_fixed, int *memory) {
  int bytes = 200 << 10, blocks = is_fixed ? 132 : 133;
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  kernel<<<blocks, 1, bytes>>>(memory);
}
