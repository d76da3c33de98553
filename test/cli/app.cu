// app.cu: a CUDA program that does what its words say, for run.cli: sum | fault | hang | crash | quit | fork
// | later | devices | wait. Every call's result is checked; a failed one prints its error and ends with 9.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(call)                                     \
  do {                                                  \
    cudaError_t e = (call);                             \
    if (e != cudaSuccess) {                             \
      printf("%s: %s\n", #call, cudaGetErrorString(e)); \
      fflush(stdout);                                   \
      exit(9);                                          \
    }                                                   \
  } while (0)

__global__ void sum(const int *a, int n, int *out) {
  __shared__ int box[128];
  int t = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    t += a[i];
  box[threadIdx.x] = t;
  __syncthreads();
  for (int s = 64; s > 0; s /= 2) {
    if (threadIdx.x < s)
      box[threadIdx.x] += box[threadIdx.x + s];
    __syncthreads();
  }
  if (threadIdx.x == 0)
    atomicAdd(out, box[0]);
}

__global__ void fault(int *p) {
  *p = 1;
}

__global__ void spin(volatile int *p) {
  while (*p == 0) {
  }
}

static void do_sum() {
  const int n = 10000;
  int *host = (int *)malloc(n * sizeof *host), *a, *out, result = 0;
  for (int i = 0; i < n; i++)
    host[i] = i;
  CHECK(cudaMalloc(&a, n * sizeof *a));
  CHECK(cudaMalloc(&out, sizeof *out));
  CHECK(cudaMemcpy(a, host, n * sizeof *a, cudaMemcpyHostToDevice));
  CHECK(cudaMemset(out, 0, sizeof *out));
  sum<<<8, 128>>>(a, n, out);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(&result, out, sizeof result, cudaMemcpyDeviceToHost));
  printf("sum %d\n", result);
  fflush(stdout);
  free(host);
}

int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "sum") == 0) {
      do_sum();
    } else if (strcmp(argv[i], "fault") == 0) {
      fault<<<1, 1>>>(nullptr);
      CHECK(cudaDeviceSynchronize());
    } else if (strcmp(argv[i], "hang") == 0) {
      int *p;
      CHECK(cudaMalloc(&p, sizeof *p));
      CHECK(cudaMemset(p, 0, sizeof *p));
      spin<<<1, 1>>>(p);
      CHECK(cudaDeviceSynchronize());
    } else if (strcmp(argv[i], "crash") == 0) {
      raise(SIGSEGV);
    } else if (strcmp(argv[i], "quit") == 0) {
      _exit(4);
    } else if (strcmp(argv[i], "fork") ==
               0) { // before any CUDA call in the parent: the child is a user of its own
      pid_t pid = fork();
      if (pid == 0) {
        do_sum();
        fault<<<1, 1>>>(nullptr);
        cudaDeviceSynchronize();
        _exit(6);
      }
      int status;
      waitpid(pid, &status, 0);
      printf("child ended with %d\n", WEXITSTATUS(status));
      fflush(stdout);
    } else if (strcmp(argv[i], "later") ==
               0) { // a kernel waits for a flag that the host sets after the launch
      int *flag;
      CHECK(cudaMallocHost(&flag, sizeof *flag));
      *(volatile int *)flag = 0;
      spin<<<1, 1>>>(flag);
      usleep(100000);
      *(volatile int *)flag = 1;
      CHECK(cudaDeviceSynchronize());
      puts("let go");
    } else if (strcmp(argv[i], "wait") ==
               0) { // for ever, and not provably: the host could still set the flag
      int *flag;
      CHECK(cudaMallocHost(&flag, sizeof *flag));
      *(volatile int *)flag = 0;
      spin<<<1, 1>>>(flag);
      for (;;)
        usleep(100000);
    } else if (strcmp(argv[i], "devices") == 0) {
      int n;
      cudaDeviceProp p;
      CHECK(cudaGetDeviceCount(&n));
      CHECK(cudaGetDeviceProperties(&p, n - 1));
      printf("%d of %s\n", n, p.name);
    }
  }
  return 0;
}
