// broken: the last warp's shuffles read lanes that do not exist; rule: shuffle-source
//
// The warp sum of section 6.1 of seed 001 in a block of 40 threads: the second warp has 8 lanes and shuffles
// with the full mask. It does not hang, but what the missing lanes give is undefined; the sum may even come
// out right. Right: ../hierarchical_reduce.cu, whose mask has the lanes that exist and where each lane reads
// one of them.
#include "../../common/tour.h"

#define THREADS 40

TOUR_C __global__ void warp_sums(const int *input, int *sums) {
  int value = input[blockIdx.x * blockDim.x + threadIdx.x];
  for (unsigned offset = 16; offset > 0; offset /= 2)
    value += __shfl_down_sync(0xffffffffu, value, offset);
  if (threadIdx.x % 32 == 0)
    sums[blockIdx.x * 2 + threadIdx.x / 32] = value;
}

#ifdef TOUR_HOST
int main(int argc, char **argv) {
  tour_begin(argc, argv, "[BLOCKS]");
  unsigned blocks = (unsigned)tour_arg(0, 100, 1, 1 << 16), n = blocks * THREADS, wrong = 0;
  int *input = (int *)tour_host_alloc(n * sizeof *input),
      *got = (int *)tour_host_alloc(2 * blocks * sizeof *got);
  for (unsigned i = 0; i < n; i++)
    input[i] = (int)(tour_hash(i) % 1000) + 1;
  int *sums = (int *)tour_alloc(2 * blocks * sizeof *sums);
  warp_sums<<<blocks, THREADS>>>((int *)tour_upload(input, n * sizeof *input), sums);
  CHECK(cudaGetLastError());
  tour_sync();
  tour_download(got, sums, 2 * blocks * sizeof *got);
  for (unsigned w = 0; w < 2 * blocks; w++) {
    int want = 0;
    for (unsigned t = w % 2 ? 32 : 0; t < (w % 2 ? THREADS : 32); t++)
      want += input[w / 2 * THREADS + t];
    wrong += got[w] != want;
  }
  free(input);
  free(got);
  return tour_end_broken(wrong, 2 * blocks, "sums");
}
#endif
