// An access outside of the thread's own arrays.
__global__ void broken(int *out) {
  int own[4] = {out[0], out[1], out[2], out[3]};
  own[out[4] + 1000000] = 1;
  out[5] = own[out[4]];
}
__global__ void fixed(int *out) {
  int own[4] = {out[0], out[1], out[2], out[3]};
  own[out[4]] = 1;
  out[5] = own[out[4]];
}
LAUNCH(1, 1)
