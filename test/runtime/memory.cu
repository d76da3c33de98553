// Memory of every kind, copies and fills of lines, rectangles and boxes.
#include "check.h"
#include <vector>

__global__ void add_one(int *p, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    p[i] += 1;
}

int main() {
  enum { W = 37, H = 11, D = 5 };
  static unsigned char from[D][H][W], to[D][H][W];
  for (int i = 0; i < D * H * W; i++)
    (&from[0][0][0])[i] = (unsigned char)(i * 7);

  // rectangles
  void *pitched, *line;
  size_t pitch = 0;
  OK(cudaMallocPitch(&pitched, &pitch, W, H));
  EXPECT_TRUE(pitch >= W && pitch % 32 == 0);
  OK(cudaMemcpy2D(pitched, pitch, from, W, W, H, cudaMemcpyHostToDevice));
  OK(cudaMemcpy2D(to, W, pitched, pitch, W, H, cudaMemcpyDeviceToHost));
  EXPECT(memcmp(to, from, W * H), 0);
  OK(cudaMemset2D(pitched, pitch, 0xab, 3, 2));
  OK(cudaMemcpy2D(to, W, pitched, pitch, W, H, cudaMemcpyDefault));
  EXPECT(to[0][0][0], 0xab);
  EXPECT(to[0][1][2], 0xab);
  EXPECT(to[0][0][3], from[0][0][3]);
  EXPECT(to[0][2][0], from[0][2][0]);

  // boxes
  cudaPitchedPtr box;
  OK(cudaMalloc3D(&box, make_cudaExtent(W, H, D)));
  EXPECT(box.xsize, W);
  EXPECT(box.ysize, H);
  cudaMemcpy3DParms p = {};
  p.srcPtr = make_cudaPitchedPtr(from, W, W, H);
  p.dstPtr = box;
  p.extent = make_cudaExtent(W, H, D);
  p.kind = cudaMemcpyHostToDevice;
  OK(cudaMemcpy3D(&p));
  memset(to, 0, sizeof to);
  cudaMemcpy3DParms q = {};
  q.srcPtr = box;
  q.srcPos = make_cudaPos(1, 2, 3);
  q.dstPtr = make_cudaPitchedPtr(to, W, W, H);
  q.extent = make_cudaExtent(W - 1, H - 2, D - 3);
  q.kind = cudaMemcpyDeviceToHost;
  OK(cudaMemcpy3D(&q));
  EXPECT(to[0][0][0], from[3][2][1]);
  EXPECT(to[1][H - 3][W - 2], from[4][H - 1][W - 1]);
  OK(cudaMemset3D(box, 9, make_cudaExtent(2, 2, 2)));
  q.srcPos = make_cudaPos(0, 0, 0);
  OK(cudaMemcpy3D(&q));
  EXPECT(to[0][0][0], 9);
  EXPECT(to[1][1][1], 9);
  EXPECT(to[0][0][2], from[0][0][2]);

  // lines
  std::vector<int> a(5000), b(5000);
  for (int i = 0; i < 5000; i++)
    a[i] = i;
  OK(cudaMalloc(&line, 20000));
  OK(cudaMemcpy(line, a.data(), 20000, cudaMemcpyHostToDevice));
  add_one<<<1, 256>>>((int *)line, 5000);
  OK(cudaMemcpyAsync(b.data(), line, 20000, cudaMemcpyDeviceToHost, 0));
  OK(cudaStreamSynchronize(0));
  int wrong = 0;
  for (int i = 0; i < 5000; i++)
    wrong += b[i] != i + 1;
  EXPECT(wrong, 0);
  void *second;
  OK(cudaMalloc(&second, 20000));
  OK(cudaMemcpy(second, line, 20000, cudaMemcpyDeviceToDevice));
  OK(cudaMemset(line, 0, 20000));
  OK(cudaMemcpy(b.data(), second, 20000, cudaMemcpyDefault));
  EXPECT(b[4999], 5000);
  OK(cudaMemcpy(b.data(), a.data(), 20000, cudaMemcpyHostToHost));
  EXPECT(b[4999], 4999);

  // pinned, mapped, registered
  int *pinned, *alias;
  OK(cudaHostAlloc(&pinned, 4096, cudaHostAllocMapped));
  OK(cudaHostGetDevicePointer(&alias, pinned, 0));
  for (int i = 0; i < 1024; i++)
    pinned[i] = 2 * i;
  add_one<<<1, 128>>>(alias, 1024);
  OK(cudaDeviceSynchronize());
  EXPECT(pinned[1023], 2047);
  unsigned flags = 0;
  OK(cudaHostGetFlags(&flags, pinned));
  EXPECT_TRUE(flags & cudaHostAllocMapped);
  cudaPointerAttributes attributes;
  OK(cudaPointerGetAttributes(&attributes, pinned + 3));
  EXPECT(attributes.type, cudaMemoryTypeHost);
  EXPECT_TRUE(attributes.hostPointer == pinned + 3);
  OK(cudaFreeHost(pinned));
  static int plain[4096];
  OK(cudaHostRegister(plain, sizeof plain, cudaHostRegisterMapped));
  EXPECT(cudaHostRegister(plain, sizeof plain, 0), cudaErrorHostMemoryAlreadyRegistered);
  OK(cudaHostGetDevicePointer(&alias, plain, 0));
  add_one<<<1, 128>>>(alias, 4096);
  OK(cudaDeviceSynchronize());
  EXPECT(plain[4095], 1);
  OK(cudaHostUnregister(plain));
  (void)cudaGetLastError();

  // managed
  int *shared;
  OK(cudaMallocManaged(&shared, 4000));
  for (int i = 0; i < 1000; i++)
    shared[i] = i;
  add_one<<<1, 128>>>(shared, 1000);
  OK(cudaDeviceSynchronize());
  EXPECT(shared[999], 1000);
  OK(cudaPointerGetAttributes(&attributes, shared));
  EXPECT(attributes.type, cudaMemoryTypeManaged);
  EXPECT_TRUE(attributes.devicePointer == shared && attributes.hostPointer == shared);
  OK(cudaFree(shared));

  // in stream order
  cudaStream_t stream;
  cudaMemPool_t pool;
  OK(cudaStreamCreate(&stream));
  OK(cudaMallocAsync(&line, 4000, stream));
  OK(cudaMemsetAsync(line, 0, 4000, stream));
  add_one<<<1, 64, 0, stream>>>((int *)line, 1000);
  OK(cudaMemcpyAsync(b.data(), line, 4000, cudaMemcpyDeviceToHost, stream));
  OK(cudaFreeAsync(line, stream));
  OK(cudaStreamSynchronize(stream));
  EXPECT(b[999], 1);
  OK(cudaDeviceGetDefaultMemPool(&pool, 0));
  unsigned long long threshold = 1 << 20, is = 0;
  OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
  OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &is));
  EXPECT(is, threshold);
  OK(cudaStreamDestroy(stream));

  size_t free_bytes = 0, total_bytes = 0;
  OK(cudaMemGetInfo(&free_bytes, &total_bytes));
  EXPECT_TRUE(free_bytes > 0 && free_bytes <= total_bytes);
  OK(cudaFree(second));
  OK(cudaFree(pitched));
  OK(cudaFree(box.ptr));
  return check_end();
}
