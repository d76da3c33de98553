// An access of 8 bytes needs an address that is a multiple of 8: a GPU ends the launch.
__global__ void broken(int *out) {
  *(long long *)(out + 1) = 1;
}
__global__ void fixed(int *out) {
  *(long long *)(out + 2) = 1;
}
LAUNCH(1, 1)
