// Seed 001, section 6.2, once more for the commonest histogram: of bytes. 256 bins stand in shared memory
// whatever the block's size; ./dev demo counts the bytes of a file with this kernel.
// Argument: N, the number of bytes.
#include "../common/tour.h"

enum { BINS = 256 };

TOUR_C __global__ void byte_histogram(const unsigned char *bytes, unsigned n, unsigned *counts) {
  __shared__ unsigned mine[BINS];
  for (unsigned bin = threadIdx.x; bin < BINS; bin += blockDim.x)
    mine[bin] = 0;
  __syncthreads(); // no counter is raised before it was zeroed

  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&mine[bytes[i]], 1u);
  __syncthreads(); // all is counted before it is handed on

  for (unsigned bin = threadIdx.x; bin < BINS; bin += blockDim.x)
    if (mine[bin])
      atomicAdd(&counts[bin], mine[bin]);
}

#ifdef TOUR_HOST
static void verify(unsigned n, unsigned blocks, unsigned threads, int text) {
  unsigned char *bytes = (unsigned char *)tour_host_alloc(n);
  unsigned want[BINS] = {0}, got[BINS];
  for (unsigned i = 0; i < n; i++) {
    unsigned hash = tour_hash(i);
    bytes[i] = (unsigned char)(text ? 'a' + hash % 5 : hash);
    want[bytes[i]]++;
  }
  unsigned char *device_bytes = (unsigned char *)tour_upload(bytes, n);
  unsigned *counts = (unsigned *)tour_zeroed(sizeof got);
  byte_histogram<<<blocks, threads>>>(device_bytes, n, counts);
  CHECK(cudaGetLastError());
  tour_sync();
  tour_download(got, counts, sizeof got);
  for (int bin = 0; bin < BINS; bin++)
    tour_expect_int(text ? "text" : "bytes", bin, got[bin], want[bin]);
  CHECK(cudaFree(device_bytes));
  CHECK(cudaFree(counts));
  free(bytes);
}

int main(int argc, char **argv) {
  tour_begin(argc, argv, "[N]");
  unsigned n = (unsigned)tour_arg(0, 100003, 1, 1L << 30);
  static const unsigned threads[] = {1, 33, 256, 1024};
  for (int i = 0; i < 4; i++) {
    verify(n, 7, threads[i], 0);
    verify(n, 7, threads[i], 1);
    verify(1, 2, threads[i], 0);
  }
  return tour_end("histograms of %u bytes, blocks of 1 to 1024 threads", n);
}
#endif
