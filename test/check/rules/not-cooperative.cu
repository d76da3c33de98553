// A barrier of the whole grid needs a cooperative launch: only that makes sure that all blocks are resident
// at once, and gives the barrier its memory.
__global__ void kernel(int *out) {
  out[blockIdx.x] = 1;
  cooperative_groups::this_grid().sync();
  out[2 + blockIdx.x] = out[1 - blockIdx.x];
}
static void run(bool is_fixed, int *memory) {
  void *arguments[] = {&memory};
  if (is_fixed)
    cudaLaunchCooperativeKernel((void *)kernel, dim3(2), dim3(1), arguments, 0, 0);
  else
    kernel<<<2, 1>>>(memory);
}
