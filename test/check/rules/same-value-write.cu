// Several threads store one and the same value. Hardware stores that value; the memory model calls it a race
// all the same, and the day one of them stores another value it is one. --strict makes it an error.
__global__ void broken(int *found) {
  *found = 1;
}
__global__ void fixed(int *found) {
  if (threadIdx.x == 0)
    *found = 1;
}
LAUNCH(1, 64)
