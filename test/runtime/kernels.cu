// Launches of every form, parameters of every size, a program's variables, attributes and occupancy.
#include "check.h"
#include <cooperative_groups.h>

struct Odd {
  char a;
  double b;
  short c[3];
};
__constant__ float table[8];
__device__ int counter = 5;
__device__ int area[16];
__managed__ int managed = 7;
static __device__ int hidden = 3;

__global__ void parameters(char a, short b, int c, long long d, float e, double f, Odd g, int *out) {
  if (threadIdx.x == 0) {
    out[0] = a, out[1] = b, out[2] = c, out[3] = (int)(d >> 32), out[4] = (int)e, out[5] = (int)f;
    out[6] = g.a + g.c[2], out[7] = (int)g.b;
  }
}
__global__ void shape(int *out) {
  if (threadIdx.x + threadIdx.y + threadIdx.z + blockIdx.x + blockIdx.y + blockIdx.z == 0) {
    out[0] = gridDim.x, out[1] = gridDim.y, out[2] = gridDim.z;
    out[3] = blockDim.x, out[4] = blockDim.y, out[5] = blockDim.z;
  }
  atomicAdd(&out[6], 1);
}
__global__ void reverse(int *data) {
  extern __shared__ int shared[];
  shared[threadIdx.x] = data[threadIdx.x];
  __syncthreads();
  data[threadIdx.x] = shared[blockDim.x - 1 - threadIdx.x];
}
__global__ void variables(float *out) {
  out[threadIdx.x] = table[threadIdx.x] * 2;
  if (threadIdx.x == 0) {
    counter += 1;
    managed += counter + hidden;
  }
}
__global__ void everybody(int *count) {
  atomicAdd(count, 1);
  cooperative_groups::this_grid().sync();
  if (threadIdx.x == 0 && *(volatile int *)count != (int)(gridDim.x * blockDim.x))
    atomicExch(count + 1, 1);
}
template <typename T> __global__ void fill(T *to, T value, unsigned n) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    to[i] = value;
}
__global__ void __launch_bounds__(96) bounded(int *p) {
  __shared__ int some[100];
  some[threadIdx.x] = *p;
  __syncthreads();
  *p = some[0];
}

static int *device, got[256];
static void fetch(size_t count) {
  OK(cudaMemcpy(got, device, count * sizeof *got, cudaMemcpyDeviceToHost));
}

int main() {
  OK(cudaMalloc(&device, sizeof got));
  OK(cudaMemset(device, 0, sizeof got));

  Odd odd = {1, 2.5, {3, 4, 5}};
  parameters<<<1, 32>>>(-1, -2, 3, 4ll << 32, 5.5f, 6.5, odd, device);
  OK(cudaGetLastError());
  fetch(8);
  const int wanted[] = {-1, -2, 3, 4, 5, 6, 6, 2};
  for (int i = 0; i < 8; i++)
    EXPECT(got[i], wanted[i]);

  OK(cudaMemset(device, 0, sizeof got));
  shape<<<dim3(2, 3, 4), dim3(5, 6, 7)>>>(device);
  OK(cudaGetLastError());
  fetch(7);
  const int shape_wanted[] = {2, 3, 4, 5, 6, 7, 24 * 210};
  for (int i = 0; i < 7; i++)
    EXPECT(got[i], shape_wanted[i]);

  for (int i = 0; i < 256; i++)
    got[i] = i;
  OK(cudaMemcpy(device, got, sizeof got, cudaMemcpyHostToDevice));
  reverse<<<1, 256, 256 * sizeof(int)>>>(device);
  fetch(256);
  for (int i = 0; i < 256; i++)
    EXPECT(got[i], 255 - i);

  float in[8], out[8];
  for (int i = 0; i < 8; i++)
    in[i] = i + 0.5f;
  OK(cudaMemcpyToSymbol(table, in, sizeof in));
  EXPECT(managed, 7);
  managed = 10;
  variables<<<1, 8>>>((float *)device);
  OK(cudaDeviceSynchronize());
  OK(cudaMemcpy(out, device, sizeof out, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 8; i++)
    EXPECT_TRUE(out[i] == 2 * in[i]);
  int value = 0;
  OK(cudaMemcpyFromSymbol(&value, counter, sizeof value));
  EXPECT(value, 6);
  EXPECT(managed, 10 + 6 + 3);
  value = 40;
  OK(cudaMemcpyToSymbol(hidden, &value, sizeof value));
  variables<<<1, 1>>>((float *)device);
  OK(cudaDeviceSynchronize());
  EXPECT(managed, 19 + 7 + 40);
  size_t bytes = 0;
  void *address = NULL;
  OK(cudaGetSymbolSize(&bytes, area));
  EXPECT(bytes, 64);
  OK(cudaGetSymbolAddress(&address, area));
  OK(cudaMemset(address, 1, 64));
  OK(cudaMemcpyFromSymbol(got, area, 8, 56));
  EXPECT(got[1], 0x01010101);

  OK(cudaMemset(device, 0, sizeof got));
  void *arguments[] = {&device};
  OK(cudaLaunchCooperativeKernel((const void *)everybody, 4, 64, arguments, 0, 0));
  OK(cudaDeviceSynchronize());
  fetch(2);
  EXPECT(got[0], 256);
  EXPECT(got[1], 0);

  double *wide;
  OK(cudaMalloc(&wide, 1000 * sizeof *wide));
  fill<<<3, 64>>>(wide, 1.25, 1000u);
  fill<unsigned char><<<1, 64>>>((unsigned char *)wide, 7, 8u);
  double back[2];
  OK(cudaMemcpy(back, wide, sizeof back, cudaMemcpyDeviceToHost));
  EXPECT_TRUE(back[1] == 1.25);
  EXPECT(((unsigned char *)back)[7], 7);

  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(1), config.blockDim = dim3(128), config.dynamicSmemBytes = 512;
  for (int i = 0; i < 128; i++)
    got[i] = i;
  OK(cudaMemcpy(device, got, sizeof got, cudaMemcpyHostToDevice));
  OK(cudaLaunchKernelEx(&config, reverse, device));
  fetch(128);
  EXPECT(got[0], 127);

  cudaFuncAttributes attributes;
  OK(cudaFuncGetAttributes(&attributes, bounded));
  EXPECT(attributes.maxThreadsPerBlock, 96);
  EXPECT(attributes.sharedSizeBytes, 400);
  EXPECT_TRUE(attributes.numRegs > 0 && attributes.numRegs <= 255);
  OK(cudaFuncGetAttributes(&attributes, reverse));
  EXPECT(attributes.sharedSizeBytes, 0);
  EXPECT(attributes.maxThreadsPerBlock, 1024);
  OK(cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, 60000));
  OK(cudaFuncGetAttributes(&attributes, reverse));
  EXPECT(attributes.maxDynamicSharedSizeBytes, 60000);
  reverse<<<1, 32, 60000>>>(device);
  OK(cudaGetLastError());
  OK(cudaDeviceSynchronize());
  OK(cudaFuncSetCacheConfig(reverse, cudaFuncCachePreferShared));

  int blocks = 0, minimal = 0, best = 0;
  OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, bounded, 96, 0));
  EXPECT_TRUE(blocks >= 1 && blocks <= 32);
  OK(cudaOccupancyMaxPotentialBlockSize(&minimal, &best, shape, 0, 0));
  EXPECT_TRUE(minimal > 0 && best > 0 && best <= 1024);
  const char *name = NULL;
  OK(cudaFuncGetName(&name, (const void *)shape));
  EXPECT(strcmp(name ? name : "", "_Z5shapePi"), 0);
  cudaKernel_t kernel;
  OK(cudaGetKernel(&kernel, (const void *)shape));
  OK(cudaMemset(device, 0, sizeof got));
  OK(cudaLaunchKernel((const void *)kernel, dim3(2), dim3(3), arguments, 0, 0));
  fetch(7);
  EXPECT(got[6], 6);
  OK(cudaFree(device));
  return check_end();
}
