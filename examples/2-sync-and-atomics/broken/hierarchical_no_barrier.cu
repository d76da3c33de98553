// broken: no barrier between clearing the block's sum and adding to it; rule: race-shared
//
// The layered sum of section 6.1 of seed 001 without its first barrier. A warp that adds before thread 0 has
// cleared the word loses its part; a warp that adds before anything else adds to what an earlier block left
// there. Right: ../hierarchical_reduce.cu.
#include "../../common/tour.h"

TOUR_C __global__ void block_sums(const int *input, int *sums) {
  __shared__ int block_sum;
  if (threadIdx.x == 0)
    block_sum = 0;

  int value = input[blockIdx.x * blockDim.x + threadIdx.x];
  for (unsigned offset = 16; offset > 0; offset /= 2)
    value += __shfl_down_sync(0xffffffffu, value, offset);
  if (threadIdx.x % 32 == 0)
    atomicAdd(&block_sum, value);
  __syncthreads();

  if (threadIdx.x == 0)
    sums[blockIdx.x] = block_sum;
}

#ifdef TOUR_HOST
int main(int argc, char **argv) {
  enum { THREADS = 256 };
  tour_begin(argc, argv, "[BLOCKS]");
  unsigned blocks = (unsigned)tour_arg(0, 200, 1, 1 << 16), n = blocks * THREADS, wrong = 0;
  int *input = (int *)tour_host_alloc(n * sizeof *input), *got = (int *)tour_host_alloc(blocks * sizeof *got);
  for (unsigned i = 0; i < n; i++)
    input[i] = (int)(tour_hash(i) % 1000);
  int *sums = (int *)tour_alloc(blocks * sizeof *sums);
  block_sums<<<blocks, THREADS>>>((int *)tour_upload(input, n * sizeof *input), sums);
  CHECK(cudaGetLastError());
  tour_sync();
  tour_download(got, sums, blocks * sizeof *got);
  for (unsigned b = 0; b < blocks; b++) {
    int want = 0;
    for (unsigned t = 0; t < THREADS; t++)
      want += input[b * THREADS + t];
    wrong += got[b] != want;
  }
  free(input);
  free(got);
  return tour_end_broken(wrong, blocks, "sums");
}
#endif
