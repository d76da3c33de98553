// Data is handed over through a flag. The writer needs a fence between the data and the flag
// (__threadfence(), or a store that releases): without it the flag may be seen before the data. Where a whole
// block wrote the data, __syncthreads() has to stand before the one thread that fences and sets the flag.
__device__ void receive(int *data, int *flag, int *out) {
  while (atomicAdd(flag, 0) == 0)
    ;
  __threadfence();
  *out = *data;
}
__global__ void broken(int *m) {
  if (blockIdx.x == 0) {
    m[0] = 42;
    atomicExch(&m[1], 1);
  } else {
    receive(&m[0], &m[1], &m[2]);
  }
}
__global__ void fixed(int *m) {
  if (blockIdx.x == 0) {
    m[0] = 42;
    __threadfence();
    atomicExch(&m[1], 1);
  } else {
    receive(&m[0], &m[1], &m[2]);
  }
}
LAUNCH(2, 1)
