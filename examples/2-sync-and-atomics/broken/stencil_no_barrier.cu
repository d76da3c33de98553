// broken: no barrier between writing the tile and reading what other threads wrote; rule: race-shared
//
// Within a warp this often comes out right, between warps it is a matter of timing: the sums at warp edges
// are the ones that go wrong, in some runs. Right: ../stencil.cu.
#include "../../common/tour.h"

enum { BLOCK = 256 };

__global__ void stencil(const float *in, float *out, int n) {
  __shared__ float tile[BLOCK + 2];
  int t = threadIdx.x, i = blockIdx.x * BLOCK + t;
  tile[t + 1] = i < n ? in[i] : 0;
  if (t == 0)
    tile[0] = i > 0 ? in[i - 1] : 0;
  if (t == BLOCK - 1)
    tile[t + 2] = i + 1 < n ? in[i + 1] : 0;
  // here every thread must have arrived
  if (i < n)
    out[i] = tile[t] + tile[t + 1] + tile[t + 2];
}

#ifdef TOUR_HOST

int main(int argc, char **argv) {
  tour_begin(argc, argv, "");
  enum { N = 10000 };
  float in[N], out[N];
  for (int i = 0; i < N; i++)
    in[i] = (float)(1 + tour_hash(i) % 1000);
  float *device_in = (float *)tour_upload(in, sizeof in), *device_out = (float *)tour_alloc(sizeof out);

  stencil<<<(N + BLOCK - 1) / BLOCK, BLOCK>>>(device_in, device_out, N);
  CHECK(cudaGetLastError());
  tour_sync();
  tour_download(out, device_out, sizeof out);

  unsigned long wrong = 0;
  for (int i = 0; i < N; i++)
    wrong += out[i] != (i > 0 ? in[i - 1] : 0) + in[i] + (i + 1 < N ? in[i + 1] : 0);
  CHECK(cudaFree(device_in));
  CHECK(cudaFree(device_out));
  return tour_end_broken(wrong, N, "sums");
}
#endif
