// A launch that fails says so only to who asks: look at cudaGetLastError() after it. Here a block has more
// threads than a GPU takes, and the program goes on as if it had run.
__global__ void kernel(int *out) {
  out[threadIdx.x] = 1;
}
static void run(bool is_fixed, int *memory) {
  kernel<<<1, 32>>>(memory);
  kernel<<<1, 2048>>>(memory);
  if (is_fixed && cudaGetLastError() != cudaSuccess)
    kernel<<<1, 1024>>>(memory);
}
