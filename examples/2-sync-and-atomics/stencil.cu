// stencil.cu: each element plus its two neighbours, through shared memory (seed 001, section 2.2).
//
// The block loads its tile and one element beyond each end (the halo) and meets at a barrier; only then does
// a thread read what others loaded. The printed kernel has no halo, so its sums are wrong at every block
// edge, and it writes past the end unless n is a multiple of the block: broken/stencil.cu.
// Arguments: [N], the number of elements.
#include "../common/tour.h"

enum { BLOCK_MAX = 256 };

TOUR_C __global__ void stencil(const float *in, float *out, int n) {
  __shared__ float tile[BLOCK_MAX + 2];
  int t = threadIdx.x, last = blockDim.x - 1, i = blockIdx.x * blockDim.x + t;

  tile[t + 1] = i < n ? in[i] : 0;
  if (t == 0)
    tile[0] = i > 0 ? in[i - 1] : 0;
  if (t == last)
    tile[t + 2] = i + 1 < n ? in[i + 1] : 0;
  __syncthreads(); // the whole tile is there

  if (i < n)
    out[i] = tile[t] + tile[t + 1] + tile[t + 2];
}

#ifdef TOUR_HOST

// The output has room for every thread of the grid, so that a write past n shows.
static void run(int n, int block) {
  int blocks = (n + block - 1) / block, room = blocks * block;
  float *in = (float *)tour_host_alloc(n * sizeof *in), *out = (float *)tour_host_alloc(room * sizeof *out);
  for (int i = 0; i < n; i++)
    in[i] = (float)(1 + tour_hash(i) % 1000); // small whole numbers: every sum is exact

  float *device_in = (float *)tour_upload(in, n * sizeof *in);
  float *device_out = (float *)tour_alloc(room * sizeof *out);
  stencil<<<blocks, block>>>(device_in, device_out, n);
  CHECK(cudaGetLastError());
  tour_sync();
  tour_download(out, device_out, room * sizeof *out);

  for (int i = 0; i < n; i++) {
    float want = in[i];
    if (i > 0)
      want += in[i - 1];
    if (i + 1 < n)
      want += in[i + 1];
    tour_expect_near("out", i, out[i], want, 0);
  }
  const unsigned poison = 0xA5A5A5A5u;
  for (int i = n; i < room; i++)
    tour_expect(!memcmp(&out[i], &poison, sizeof poison), "out[%d] lies past n = %d and was written", i, n);

  CHECK(cudaFree(device_in));
  CHECK(cudaFree(device_out));
  free(in);
  free(out);
}

int main(int argc, char **argv) {
  tour_begin(argc, argv, "[N]");
  int n = (int)tour_arg(0, 50000, 1, 10000000);

  const int blocks[] = {1, 33, 96, BLOCK_MAX};
  for (int b = 0; b < 4; b++) {
    int block = blocks[b];
    const int sizes[] = {1, 2, block, block + 1, 3 * block - 1};
    for (int s = 0; s < 5; s++)
      run(sizes[s], block);
  }
  run(n, BLOCK_MAX);
  return tour_end("sums of three, n = %d and the edges, blocks of 1, 33, 96 and %d threads", n, BLOCK_MAX);
}
#endif
