// An array of the thread's own that is only partly written.
__global__ void broken(int *out) {
  int own[8];
  for (int i = 0; i < 4 + out[0]; i++)
    own[i * 2 % 8] = i;
  out[threadIdx.x + 1] = own[out[1] + 5];
}
__global__ void fixed(int *out) {
  int own[8];
  for (int i = 0; i < 8 + out[0]; i++)
    own[i] = i;
  out[threadIdx.x + 1] = own[out[1] + 5];
}
LAUNCH(1, 1)
