// ends.cu HOW: launches a kernel with a race, and then ends as HOW says. For device.cli.
#include <cstdlib>
#include <cstring>
#include <unistd.h>
#include <sys/wait.h>

__global__ void exchange(int *a) {
  a[threadIdx.x] = threadIdx.x;
  a[threadIdx.x + 64] = a[threadIdx.x ^ 32];
}
__global__ void trap(int *a) {
  if (a[0] == 0)
    __trap();
}

int main(int argc, char **argv) {
  const char *how = argc > 1 ? argv[1] : "";
  int *a;
  cudaMalloc(&a, 1024);
  cudaMemset(a, 0, 1024);
  if (strcmp(how, "trap") == 0) {
    trap<<<1, 1>>>(a);
    return cudaDeviceSynchronize() != cudaSuccess;
  }
  exchange<<<1, 64>>>(a);
  if (strcmp(how, "unsynchronised") == 0)
    return 0;
  cudaDeviceSynchronize();
  cudaFree(a);
  if (strcmp(how, "abort") == 0)
    abort();
  if (strcmp(how, "_exit") == 0)
    _exit(0);
  if (strcmp(how, "hang") == 0)
    pause();
  if (strcmp(how, "fork") == 0) {
    if (fork() == 0)
      _exit(3);
    wait(nullptr);
  }
  if (strcmp(how, "pipe") == 0) {
    int ends[2];
    if (pipe(ends) != 0)
      return 1;
    close(ends[0]);
    return write(ends[1], how, 1) == 1; // ends by SIGPIPE
  }
  return 0;
}
