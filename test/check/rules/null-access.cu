// An access through a null pointer: an allocation that failed, or a buffer that was never set.
__global__ void broken(int *out) {
  if (out)
    *(int *)(out[0] * 1ll) = 1;
}
__global__ void fixed(int *out) {
  out[1] = 1;
}
LAUNCH(1, 1)
