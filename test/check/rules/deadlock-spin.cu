// A thread waits for a value that nobody is left to write: here the flag is set to 1 and 2 is waited for.
__global__ void broken(int *flag) {
  if (blockIdx.x == 0)
    atomicExch(flag, 1);
  else
    while (atomicAdd(flag, 0) != 2)
      ;
}
__global__ void fixed(int *flag) {
  if (blockIdx.x == 0)
    atomicExch(flag, 2);
  else
    while (atomicAdd(flag, 0) != 2)
      ;
}
LAUNCH(2, 1)
