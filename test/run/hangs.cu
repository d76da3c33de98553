// run: flag
// exit: 124
// stderr~ ^muster: .*wait_flag.*
// stderr~ hangs.cu:
// seconds: 20
// cpu: hangs
// run: lock
// exit: 124
// stderr~ ^muster: .*take_lock.*
// seconds: 20
// cpu: hangs
// run: barrier
// exit: 124
// stderr~ ^muster: .*barrier_and_flag.*
// seconds: 20
// cpu: hangs
// run: numbered
// exit: 124
// stderr~ ^muster: .*numbered.*
// seconds: 20
// cpu: hangs
// run: lanes
// exit: 124
// stderr~ ^muster: .*absent_lane.*
// seconds: 20
// cpu: hangs
// run: forever
// options: --time-limit 2
// exit: 124
// stderr~ ^muster: .*time limit
// seconds: 20
// cpu: runs for ever
// run: host
// options: --time-limit 1
// exit: 124
// stderr~ ^muster: .*time limit
// seconds: 20
// cpu: runs for ever
// Kernels that never end: a hang that nobody can end is said as soon as it stands, anything else by
// --time-limit.
#include "run.h"
#include <unistd.h>

__global__ void wait_flag(volatile int *flag) {
  while (*flag == 0)
    ;
}

__global__ void take_lock(int *lock) {
  while (atomicCAS(lock, 0, 1) != 0)
    ;
  // Never released.
}

// Half of the block waits at the barrier, the other half for a flag that is set behind it.
__global__ void barrier_and_flag(volatile int *flag) {
  if (threadIdx.x < 32) {
    __syncthreads();
    *flag = 1;
  } else {
    while (*flag == 0)
      ;
    __syncthreads();
  }
}

// 64 threads are awaited, 32 come and the others wait at another barrier.
__global__ void numbered(int *word) {
  if (threadIdx.x < 32)
    asm volatile("barrier.sync 1, 64;");
  else
    asm volatile("barrier.sync 2, 64;");
  *word = 1;
}

// A shuffle that names a lane which waits for the result.
__global__ void absent_lane(volatile int *word) {
  if (threadIdx.x == 0) {
    while (*word == 0)
      ;
  } else {
    *word = __shfl_sync(0xffffffff, 1, 0);
  }
}

__global__ void forever(unsigned *counter) {
  while (atomicAdd(counter, 1) != 0xffffffffu || threadIdx.x < 2)
    ;
}

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  int *word = device_zeros<int>(1);
  if (!strcmp(what, "flag"))
    wait_flag<<<2, 64>>>(word);
  else if (!strcmp(what, "lock"))
    take_lock<<<1, 2>>>(word);
  else if (!strcmp(what, "barrier"))
    barrier_and_flag<<<1, 64>>>(word);
  else if (!strcmp(what, "numbered"))
    numbered<<<1, 64>>>(word);
  else if (!strcmp(what, "lanes"))
    absent_lane<<<1, 32>>>(word);
  else if (!strcmp(what, "forever"))
    forever<<<1, 2>>>((unsigned *)word);
  else
    for (;;)
      pause();
  CHECK(cudaDeviceSynchronize());
  puts("not reached");
}
