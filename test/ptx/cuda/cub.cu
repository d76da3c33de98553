// Device-wide algorithms as users call them.
#include <cub/cub.cuh>
__global__ void block_algorithms(int *data) {
  using sort = cub::BlockRadixSort<int, 128, 4>;
  using scan = cub::BlockScan<int, 128>;
  using reduce = cub::BlockReduce<int, 128>;
  __shared__ union {
    sort::TempStorage s;
    scan::TempStorage c;
    reduce::TempStorage r;
  } t;
  int v[4];
  cub::LoadDirectBlocked(threadIdx.x, data, v);
  sort(t.s).Sort(v);
  __syncthreads();
  scan(t.c).ExclusiveSum(v, v);
  __syncthreads();
  int sum = reduce(t.r).Sum(v);
  cub::StoreDirectBlocked(threadIdx.x, data, v);
  if (threadIdx.x == 0)
    data[512] = sum;
}
void all(void *t, size_t &n, int *in, int *out, int *keys) {
  cub::DeviceReduce::Sum(t, n, in, out, 1000);
  cub::DeviceScan::InclusiveSum(t, n, in, out, 1000);
  cub::DeviceSelect::Unique(t, n, in, out, keys, 1000);
  cub::DeviceHistogram::HistogramEven(t, n, in, out, 65, 0, 64, 1000);
}
