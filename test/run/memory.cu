// run:
// stdout: pitched copies
// stdout: fills of every width
// stdout: pinned, mapped, registered
// stdout: asynchronous allocation
// stdout: kinds of pointers
// The memory functions of the runtime, each result checked on the other side.
#include "run.h"

__global__ void increment(int *words, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count)
    words[i]++;
}

__global__ void scale_rows(float *rows, size_t pitch, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x < width && y < height)
    ((float *)((char *)rows + y * pitch))[x] *= 2;
}

int main(void) {
  float sent[7][33], got[7][33];
  for (int y = 0; y < 7; y++)
    for (int x = 0; x < 33; x++)
      sent[y][x] = y * 100 + x;
  float *rows;
  size_t pitch;
  CHECK(cudaMallocPitch(&rows, &pitch, sizeof sent[0], 7));
  EXPECT(pitch >= sizeof sent[0] && pitch % 32 == 0);
  CHECK(cudaMemcpy2D(rows, pitch, sent, sizeof sent[0], sizeof sent[0], 7, cudaMemcpyHostToDevice));
  scale_rows<<<dim3(2, 7), 32>>>(rows, pitch, 33, 7);
  CHECK(cudaMemset2D((char *)rows + 4, pitch, 0, 8, 7));
  CHECK(cudaMemcpy2DAsync(got, sizeof got[0], rows, pitch, sizeof got[0], 7, cudaMemcpyDeviceToHost, 0));
  CHECK(cudaDeviceSynchronize());
  for (int y = 0; y < 7; y++)
    for (int x = 0; x < 33; x++)
      EXPECT(got[y][x] == (x == 1 || x == 2 ? 0 : 2 * sent[y][x]));
  struct cudaPitchedPtr volume;
  CHECK(cudaMalloc3D(&volume, make_cudaExtent(12, 3, 2)));
  struct cudaMemcpy3DParms copy = {};
  char flat[72], back[72];
  for (int i = 0; i < 72; i++)
    flat[i] = i;
  copy.srcPtr = make_cudaPitchedPtr(flat, 12, 12, 3);
  copy.dstPtr = volume;
  copy.extent = make_cudaExtent(12, 3, 2);
  copy.kind = cudaMemcpyHostToDevice;
  CHECK(cudaMemcpy3D(&copy));
  copy.srcPtr = volume;
  copy.dstPtr = make_cudaPitchedPtr(back, 12, 12, 3);
  copy.kind = cudaMemcpyDeviceToHost;
  CHECK(cudaMemcpy3D(&copy));
  EXPECT(!memcmp(flat, back, sizeof flat));
  puts("pitched copies");

  unsigned char *bytes = device_zeros<unsigned char>(1001), host[1001];
  CHECK(cudaMemset(bytes + 1, 0x1ab, 999)); // only the low byte counts
  CHECK(cudaMemsetAsync(bytes + 500, 2, 1, 0));
  CHECK(cudaMemcpy(host, bytes, sizeof host, cudaMemcpyDefault));
  EXPECT(host[0] == 0 && host[1] == 0xab && host[499] == 0xab && host[500] == 2 && host[501] == 0xab &&
         host[999] == 0xab && host[1000] == 0);
  puts("fills of every width");

  int *pinned, *device_side, own[64];
  CHECK(cudaMallocHost(&pinned, 64 * sizeof(int)));
  memset(pinned, 0, 64 * sizeof(int));
  increment<<<1, 64>>>(pinned, 64); // one address for both sides
  CHECK(cudaHostRegister(own, sizeof own, cudaHostRegisterDefault));
  memset(own, 0, sizeof own);
  CHECK(cudaHostGetDevicePointer((void **)&device_side, own, 0));
  increment<<<1, 64>>>(device_side + 1, 3);
  CHECK(cudaDeviceSynchronize());
  EXPECT(pinned[0] == 1 && pinned[63] == 1 && own[0] == 0 && own[1] == 1 && own[3] == 1 && own[4] == 0);
  CHECK(cudaHostUnregister(own));
  puts("pinned, mapped, registered");

  int *pooled;
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaMallocAsync(&pooled, 1000 * sizeof(int), stream));
  CHECK(cudaMemsetAsync(pooled, 0, 1000 * sizeof(int), stream));
  increment<<<4, 256, 0, stream>>>(pooled, 1000);
  CHECK(cudaMemcpyAsync(pinned, pooled + 999, sizeof(int), cudaMemcpyDeviceToHost, stream));
  CHECK(cudaFreeAsync(pooled, stream));
  CHECK(cudaStreamSynchronize(stream));
  EXPECT(pinned[0] == 1);
  puts("asynchronous allocation");

  struct cudaPointerAttributes attributes;
  CHECK(cudaPointerGetAttributes(&attributes, bytes + 3));
  EXPECT(attributes.type == cudaMemoryTypeDevice && attributes.device == 0);
  CHECK(cudaPointerGetAttributes(&attributes, pinned));
  EXPECT(attributes.type == cudaMemoryTypeHost && attributes.devicePointer == pinned);
  CHECK(cudaPointerGetAttributes(&attributes, &pitch));
  EXPECT(attributes.type == cudaMemoryTypeUnregistered);
  int *managed;
  CHECK(cudaMallocManaged(&managed, 4));
  CHECK(cudaPointerGetAttributes(&attributes, managed));
  EXPECT(attributes.type == cudaMemoryTypeManaged);
  size_t available, total, after;
  CHECK(cudaMemGetInfo(&available, &total));
  void *large;
  CHECK(cudaMalloc(&large, 64 << 20));
  CHECK(cudaMemGetInfo(&after, &total));
  EXPECT(after <= available - (64 << 20) && after < total);
  CHECK(cudaFree(large));
  CHECK(cudaFree(NULL));
  CHECK(cudaFreeHost(pinned));
  puts("kinds of pointers");
}
