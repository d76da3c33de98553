// Bytes nobody wrote that do not matter: the padding of a structure that is copied whole, the last elements
// of a vector of which only the first are used, a neighbour that is loaded and then not taken.
#include "../check.h"

enum { THREADS = 64 };

struct item {
  char kind; // three bytes of padding behind
  unsigned value;
};

__global__ void copies(const unsigned *in, struct item *items, unsigned *out) {
  __shared__ struct item staged[THREADS];
  __shared__ uint4 vectors[THREADS];
  __shared__ unsigned tile[THREADS + 1];
  unsigned t = threadIdx.x;
  staged[t].kind = (char)in[t];
  staged[t].value = in[t];
  vectors[t].x = in[t];
  vectors[t].y = 2 * in[t];
  tile[t] = in[t];
  __syncthreads();
  items[t] = staged[THREADS - 1 - t];
  uint4 v = vectors[THREADS - 1 - t];
  unsigned right = tile[t + 1]; // of the last thread: unwritten
  out[t] = v.x + v.y + (t < THREADS - 1 ? right : 0);
}

int main(void) {
  unsigned *in = device_numbers(THREADS), *out = device_zeros<unsigned>(THREADS);
  struct item *items;
  CHECK(cudaMalloc(&items, THREADS * sizeof *items));
  copies<<<1, THREADS>>>(in, items, out);
  CHECK(cudaDeviceSynchronize());
  EXPECT(download(items).value == THREADS && download(out + THREADS - 1) == 3);
}
