// broken: no halo (every block edge lacks a neighbour), and no guard on the write past n; rule: oob-global
//
// The stencil as seed 001 prints it in section 2.2. Here the 24 surplus values of the last block fall into
// the padding that an allocation of 4000 bytes has anyway; with another size they land in somebody's data.
// Right: ../stencil.cu.
#include "../../common/tour.h"

enum { BLOCK = 256 };

__global__ void stencil(const float *in, float *out, int n) {
  __shared__ float tile[BLOCK];
  int t = threadIdx.x, i = blockIdx.x * BLOCK + t;
  tile[t] = i < n ? in[i] : 0;
  __syncthreads();
  float left = t > 0 ? tile[t - 1] : 0;
  float right = t < BLOCK - 1 ? tile[t + 1] : 0;
  out[i] = left + tile[t] + right;
}

#ifdef TOUR_HOST

int main(int argc, char **argv) {
  tour_begin(argc, argv, "");
  enum { N = 1000 };
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
