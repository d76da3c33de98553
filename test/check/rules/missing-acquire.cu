// The other side of a hand-over: the reader needs a fence between the flag and the data. That it waited for
// the flag orders nothing by itself: the data may have been read before.
__device__ void send(int *data, int *flag) {
  *data = 42;
  __threadfence();
  atomicExch(flag, 1);
}
__global__ void broken(int *m) {
  if (blockIdx.x == 0) {
    send(&m[0], &m[1]);
  } else {
    while (atomicAdd(&m[1], 0) == 0)
      ;
    m[2] = m[0];
  }
}
__global__ void fixed(int *m) {
  if (blockIdx.x == 0) {
    send(&m[0], &m[1]);
  } else {
    while (atomicAdd(&m[1], 0) == 0)
      ;
    __threadfence();
    m[2] = m[0];
  }
}
LAUNCH(2, 1)
