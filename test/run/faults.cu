// run: global
// stdout: cudaErrorIllegalAddress, and again
// stderr~ ^muster: .*past_the_end.*block \(?1,0,0\)?.*thread \(?5,0,0\)?.*faults\.cu:@global@
// lines: 1
// run: null
// stdout: cudaErrorIllegalAddress, and again
// stderr~ ^muster: .*through_null.*faults\.cu:@null@
// lines: 1
// run: misaligned
// stdout: cudaErrorMisalignedAddress, and again
// stderr~ ^muster: .*odd_address.*faults\.cu:@misaligned@
// lines: 1
// run: shared
// stdout: cudaErrorIllegalAddress, and again
// stderr~ ^muster: .*past_shared.*faults\.cu:@shared@
// lines: 1
// run: local
// stdout~ ^cudaError(IllegalAddress|LaunchFailure), and again$
// stderr~ ^muster: .*past_local.*faults\.cu:@local@
// lines: 1
// cpu: a GPU may have mapped what lies behind
// run: freed
// cpu: a GPU may still have the memory mapped
// stdout: cudaErrorIllegalAddress, and again
// stderr~ ^muster: .*past_the_end
// lines: 1
// run: trap
// stdout: cudaErrorLaunchFailure, and again
// stderr~ ^muster: .*trapped.*faults\.cu:@trap@
// lines: 1
// run: assert
// stdout: cudaErrorAssert, and again
// stderr~ faults\.cu:@assert@: .*asserts\(int\): block: \[0,0,0\], thread: \[3,0,0\] Assertion `x != 3` failed\.
// run: stack
// stdout: cudaErrorIllegalAddress, and again
// stderr~ ^muster: .*deep.*stack
// lines: 1
// run: copy
// stdout: cudaErrorInvalidValue, not sticky
// run: exit
// exit: 3
// stderr~ ^muster: .*past_the_end
// lines: 1
// A fault in a kernel ends the launch with the error that a GPU gives, the error stays with every later call,
// and one line says where it was.
#include "run.h"
#include <assert.h>

__global__ void past_the_end(int *words, int index) {
  if (blockIdx.x == 1 && threadIdx.x == 5)
    words[index] = 1; // here: global
}

__global__ void through_null(const int *words, int *out) {
  *out = words[threadIdx.x] + 1; // here: null
}

__global__ void odd_address(char *bytes) {
  *(int *)(bytes + 2) = 1; // here: misaligned
}

__global__ void past_shared(int *out, int index) {
  __shared__ int row[32];
  row[threadIdx.x] = threadIdx.x;
  __syncthreads();
  *out = row[threadIdx.x + index]; // here: shared
}

__global__ void past_local(int *out, int index) {
  volatile int row[8];
  for (int i = 0; i < 8; i++)
    row[i] = i;
  *out = row[index + (threadIdx.x & 7)]; // here: local
}

__global__ void trapped(void) {
  if (threadIdx.x == 7)
    __trap(); // here: trap
}

__global__ void asserts(int unused) {
  int x = threadIdx.x;
  assert(x != 3); // here: assert
}

__device__ __noinline__ int dig(volatile int *row, int depth) {
  volatile int frame[256];
  for (int i = 0; i < 256; i++)
    frame[i] = row[i & 7] + depth;
  return depth ? dig(frame, depth - 1) + frame[depth & 255] : frame[0];
}

__global__ void deep(int *out, int depth) {
  volatile int row[8];
  for (int i = 0; i < 8; i++)
    row[i] = depth;
  *out = dig(row, depth);
}

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  int *words = device_zeros<int>(64);
  if (!strcmp(what, "copy")) {
    static char host[1 << 20];
    FAILS(cudaMemcpy(words, host, sizeof host, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    CHECK(cudaDeviceSynchronize());
    FAILS(cudaGetLastError(), cudaErrorInvalidValue);
    CHECK(cudaGetLastError());
    puts("cudaErrorInvalidValue, not sticky");
    return 0;
  }
  if (!strcmp(what, "null"))
    through_null<<<1, 32>>>(NULL, words);
  else if (!strcmp(what, "misaligned"))
    odd_address<<<1, 32>>>((char *)words);
  else if (!strcmp(what, "shared"))
    past_shared<<<1, 32>>>(words, 1 << 20);
  else if (!strcmp(what, "local"))
    past_local<<<1, 32>>>(words, 1 << 28);
  else if (!strcmp(what, "trap"))
    trapped<<<1, 32>>>();
  else if (!strcmp(what, "assert"))
    asserts<<<1, 32>>>(0);
  else if (!strcmp(what, "stack"))
    deep<<<1, 1>>>(words, 100000);
  else if (!strcmp(what, "freed")) {
    int *gone;
    CHECK(cudaMalloc(&gone, 64 << 20));
    CHECK(cudaFree(gone));
    past_the_end<<<2, 32>>>(gone, 0);
  } else
    past_the_end<<<2, 32>>>(words, 64 << 20);
  CHECK(cudaGetLastError()); // the launch itself went well
  cudaError_t error = cudaDeviceSynchronize();
  if (!strcmp(what, "exit"))
    return error == cudaSuccess ? 0 : 3;
  void *memory;
  FAILS(cudaMalloc(&memory, 4), error);
  FAILS(cudaGetLastError(), error);
  FAILS(cudaDeviceSynchronize(), error);
  FAILS(cudaGetLastError(), error);
  printf("%s, and again\n", cudaGetErrorName(error));
  return error == cudaSuccess;
}
