// broken: all threads add one to one counter without an atomic; rule: race-global
// Seed 001, section 5.1. The line is three steps: read, add, write. Between one thread's read and its write
// others read the same old value, and all their increments but one are lost: of 32 lanes of a warp 31.
// The right form: ../counter.cu.
#include "../../common/tour.h"

TOUR_C __global__ void count(unsigned *counter, int n) {
  int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n)
    *counter += 1;
}

#ifdef TOUR_HOST
int main(int argc, char **argv) {
  tour_begin(argc, argv, "[N]");
  int n = (int)tour_arg(0, 5000, 1, 10000000);
  unsigned first = tour_hash((unsigned)n) >> 1, last;
  unsigned *counter = (unsigned *)tour_upload(&first, sizeof first);
  count<<<(n + 95) / 96, 96>>>(counter, n);
  CHECK(cudaGetLastError());
  tour_sync();
  tour_download(&last, counter, sizeof last);
  return tour_end_broken((unsigned long)n - (last - first), (unsigned long)n, "increments");
}
#endif
