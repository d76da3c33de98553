// broken: 1024 threads for 1000 elements and no bounds check; rule: oob-global
// Seed 002, section 5.1: rounding the number of blocks up needs the check, or the last block goes past the
// end. A GPU shows nothing: cudaMalloc hands out multiples of 256 bytes, and the 96 bytes past the end fall
// into the padding of each buffer. ../vector_add.cu has the check.
#include "../../common/tour.h"

__global__ void add(int *c, const int *a, const int *b) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  c[i] = a[i] + b[i]; // no if (i < n)
}

#ifdef TOUR_HOST
int main(int argc, char **argv) {
  tour_begin(argc, argv, "");
  enum { N = 1000 }; // 4000 bytes, padded to 4096: as many as 8 blocks of 128 threads touch
  static int a[N], b[N], c[N];
  for (int i = 0; i < N; i++) {
    a[i] = (int)(tour_hash((unsigned)i) >> 2);
    b[i] = (int)(tour_hash(~(unsigned)i) >> 2);
  }
  int *device_a = (int *)tour_upload(a, sizeof a), *device_b = (int *)tour_upload(b, sizeof b);
  int *device_c = (int *)tour_alloc(sizeof c);
  add<<<(N + 127) / 128, 128>>>(device_c, device_a, device_b);
  CHECK(cudaGetLastError());
  tour_sync();
  tour_download(c, device_c, sizeof c);
  unsigned long wrong = 0;
  for (int i = 0; i < N; i++)
    wrong += c[i] != a[i] + b[i];
  return tour_end_broken(wrong, N, "sums");
}
#endif
