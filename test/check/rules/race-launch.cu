// Two launches in streams that do not wait for each other touch the same bytes. An event, one stream for
// both, or a host synchronisation between them orders them.
__global__ void kernel(int *a) {
  a[threadIdx.x] += 1;
}
static void run(bool is_fixed, int *memory) {
  cudaStream_t streams[2];
  cudaDeviceSynchronize();
  for (auto &s : streams)
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
  kernel<<<1, 32, 0, streams[0]>>>(memory);
  kernel<<<1, 32, 0, streams[is_fixed ? 0 : 1]>>>(memory);
  cudaDeviceSynchronize();
  for (auto &s : streams)
    cudaStreamDestroy(s);
}
