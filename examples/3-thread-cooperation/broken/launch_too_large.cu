// broken: a block of 2048 threads, and nobody asks whether it was launched; rule: launch-failed
// Seed 002, section 5.1, its first form with a long vector: a block has at most 1024 threads, the launch
// fails, and every later call succeeds as if the sums were there. ../vector_add.c checks each launch.
#include "../../common/tour.h"

__global__ void add(int *c, const int *a, const int *b) {
  unsigned i = threadIdx.x;
  c[i] = a[i] + b[i];
}

#ifdef TOUR_HOST
int main(int argc, char **argv) {
  tour_begin(argc, argv, "");
  enum { N = 2048 };
  static int a[N], b[N], c[N];
  for (int i = 0; i < N; i++) {
    a[i] = (int)(tour_hash((unsigned)i) >> 2);
    b[i] = (int)(tour_hash(~(unsigned)i) >> 2);
  }
  int *device_a = (int *)tour_upload(a, sizeof a), *device_b = (int *)tour_upload(b, sizeof b);
  int *device_c = (int *)tour_alloc(sizeof c);
  add<<<1, N>>>(device_c, device_a, device_b); // above the limit, and no CHECK(cudaGetLastError()) after it
  tour_download(c, device_c, sizeof c);
  unsigned long wrong = 0;
  for (int i = 0; i < N; i++)
    wrong += c[i] != a[i] + b[i];

  cudaError_t error = cudaGetLastError(); // too late: the results are in use
  if (!tour_invalid_launch(error))
    tour_fail("the launch should have failed as invalid, it says: %s", cudaGetErrorName(error));
  return tour_end_broken(wrong, N, "sums");
}
#endif
