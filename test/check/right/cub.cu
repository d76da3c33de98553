// CUB's blocks and its passes over the whole device: scans that look back, tickets, scratch memory in several
// lives.
#include "../check.h"
#include <cub/block/block_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>

enum { THREADS = 64, EACH = 4, KEYS = THREADS * EACH };

__global__ void sort(const unsigned *in, unsigned *out) {
  typedef cub::BlockRadixSort<unsigned, THREADS, EACH> sorter;
  __shared__ typename sorter::TempStorage scratch;
  unsigned keys[EACH];
  for (unsigned i = 0; i < EACH; i++)
    keys[i] = in[KEYS - 1 - (threadIdx.x * EACH + i)];
  sorter(scratch).Sort(keys);
  for (unsigned i = 0; i < EACH; i++)
    out[threadIdx.x * EACH + i] = keys[i];
}

int main(void) {
  const int items = 10000;
  unsigned *in = device_numbers(items), *out = device_zeros<unsigned>(items);
  sort<<<1, THREADS>>>(in, out);
  CHECK(cudaDeviceSynchronize());
  EXPECT(download(out) == 1 && download(out + KEYS - 1) == KEYS);

  size_t bytes = 0, more = 0;
  void *scratch;
  CHECK(cub::DeviceReduce::Sum(NULL, bytes, in, out, items));
  CHECK(cub::DeviceScan::InclusiveSum(NULL, more, in, out, items));
  CHECK(cudaMalloc(&scratch, bytes > more ? bytes : more));
  CHECK(cub::DeviceReduce::Sum(scratch, bytes, in, out, items));
  EXPECT(download(out) == 5000u * 10001);
  CHECK(cub::DeviceScan::InclusiveSum(scratch, more, in, out, items));
  EXPECT(download(out + 99) == 5050 && download(out + items - 1) == 5000u * 10001);
}
