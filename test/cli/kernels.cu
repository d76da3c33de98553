// kernels.cu: kernels as people write them, for kernel mode: templates, namespaces, both spaces of memory.
#include <cstdint>

namespace linear {
template <typename T> __global__ void axpy(T a, const T *x, T *y, uint32_t n) {
  uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] += a * x[i];
}
template __global__ void axpy<float>(float, const float *, float *, uint32_t);
template __global__ void axpy<double>(double, const double *, double *, uint32_t);
} // namespace linear

__global__ void histogram(const uint8_t *data, uint32_t n, uint32_t *bins) {
  __shared__ uint32_t local[256];
  for (uint32_t i = threadIdx.x; i < 256; i += blockDim.x)
    local[i] = 0;
  __syncthreads();
  for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&local[data[i]], 1);
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < 256; i += blockDim.x)
    atomicAdd(&bins[i], local[i]);
}
