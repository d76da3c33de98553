// What the runtime answers to what is wrong, and how long it remembers. Argument `fault`: an error that
// destroys the context, in a process of its own.
#include "check.h"

__global__ void set(int *p) {
  if (p)
    *p = 1;
}
__global__ void __launch_bounds__(64) bounded(int *p) {
  if (p)
    *p = 1;
}
__constant__ int constant[4];
__device__ int variable;
static int host[9];

#define LAUNCH_FAILS(error, ...)             \
  do {                                       \
    __VA_ARGS__;                             \
    EXPECT(cudaPeekAtLastError(), error);    \
    EXPECT(cudaGetLastError(), error);       \
    EXPECT(cudaGetLastError(), cudaSuccess); \
  } while (0)

static void launches(int *d) {
#if CUDART_VERSION >= 13000
  const cudaError_t shape = cudaErrorInvalidValue;
#else
  const cudaError_t shape = cudaErrorInvalidConfiguration;
#endif
  LAUNCH_FAILS(shape, (set<<<1, 2048>>>(d)));
  LAUNCH_FAILS(shape, (set<<<0, 1>>>(d)));
  LAUNCH_FAILS(shape, (set<<<1, 0>>>(d)));
  LAUNCH_FAILS(shape, (set<<<1, dim3(1, 1, 65)>>>(d)));
  LAUNCH_FAILS(shape, (set<<<dim3(1, 65536), 1>>>(d)));
  LAUNCH_FAILS(cudaErrorInvalidValue, (set<<<1, 1, 1 << 20>>>(d)));
  LAUNCH_FAILS(cudaErrorInvalidValue, (set<<<1, 1, 50000>>>(d)));
  LAUNCH_FAILS(cudaErrorInvalidValue, (bounded<<<1, 128>>>(d)));
  OK(cudaDeviceSynchronize());
  FAILS(cudaLaunchKernel((const void *)0, 1, 1, 0, 0, 0), cudaErrorInvalidDeviceFunction);
  cudaFuncAttributes attributes;
  FAILS(cudaFuncGetAttributes(&attributes, (const void *)0), cudaErrorInvalidDeviceFunction);
#if CUDART_VERSION >= 13000
  FAILS(cudaFuncGetAttributes(&attributes, (const void *)host), cudaErrorInvalidResourceHandle);
  FAILS(cudaLaunchKernel((const void *)host, 1, 1, 0, 0, 0), cudaErrorInvalidResourceHandle);
#endif
  FAILS(cudaFuncSetAttribute(set, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 20),
        cudaErrorInvalidValue);
  FAILS(cudaFuncSetAttribute(set, (cudaFuncAttribute)77, 1), cudaErrorInvalidValue);
  int n;
  FAILS(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, set, 0, 0), cudaErrorInvalidValue);
  OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, set, 2048, 0));
  EXPECT(n, 0);
}

static void memory(int *d) {
  void *v = &v;
  size_t pitch;
  int *e;
  FAILS(cudaMalloc(&v, 1ull << 50), cudaErrorMemoryAllocation);
  OK(cudaMalloc(&v, 0));
  EXPECT_TRUE(v == NULL);
  OK(cudaMallocManaged(&v, 0));
  OK(cudaHostAlloc(&v, 0, 0));
  OK(cudaMallocPitch(&v, &pitch, 0, 4));
  OK(cudaMalloc(&e, 64));
  FAILS(cudaMemcpy(host, host + 4, 4, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  OK(cudaMemcpy(d, e, 4, cudaMemcpyDeviceToHost)); // both are known: the direction does not matter
  FAILS(cudaMemcpy(d, host, 4, cudaMemcpyDeviceToDevice), cudaErrorInvalidValue);
  FAILS(cudaMemcpy(d, host, 4, (cudaMemcpyKind)7), cudaErrorInvalidMemcpyDirection);
  OK(cudaMemcpy(0, host, 0, cudaMemcpyHostToDevice));
  FAILS(cudaMemcpy(0, host, 4, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  static char large[1 << 22];
  FAILS(cudaMemcpy(d, large, sizeof large, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  FAILS(cudaMemset(0, 0, 4), cudaErrorInvalidValue);
  FAILS(cudaMemset(d, 0, 1 << 22), cudaErrorInvalidValue);
  FAILS(cudaMemcpy2D(d, 4, host, 8, 8, 2, cudaMemcpyHostToDevice), cudaErrorInvalidPitchValue);
  FAILS(cudaFree(host), cudaErrorInvalidValue);
  FAILS(cudaFree(d + 1), cudaErrorInvalidValue);
  OK(cudaFree(e));
  FAILS(cudaFree(e), cudaErrorInvalidValue);
  OK(cudaFree(0));
  FAILS(cudaFreeHost(d), cudaErrorInvalidValue);
  FAILS(cudaFreeHost(host), cudaErrorInvalidValue);
  OK(cudaFreeHost(0));
  FAILS(cudaHostUnregister(host), cudaErrorHostMemoryNotRegistered);
  cudaPointerAttributes attributes;
  OK(cudaPointerGetAttributes(&attributes, host));
  EXPECT(attributes.type, cudaMemoryTypeUnregistered);
  EXPECT(attributes.device, -2);
  EXPECT_TRUE(attributes.devicePointer == NULL);
  EXPECT_TRUE(attributes.hostPointer == host);
  OK(cudaPointerGetAttributes(&attributes, d));
  EXPECT(attributes.type, cudaMemoryTypeDevice);
  EXPECT(attributes.device, 0);
  EXPECT_TRUE(attributes.devicePointer == d);
  EXPECT_TRUE(attributes.hostPointer == NULL);
  OK(cudaPointerGetAttributes(&attributes, (void *)0));
  EXPECT(attributes.type, cudaMemoryTypeUnregistered);
  OK(cudaMemcpyToSymbol(constant, host, 16));
  FAILS(cudaMemcpyToSymbol(constant, host, 20), cudaErrorInvalidValue);
  FAILS(cudaMemcpyToSymbol(constant, host, 4, 14), cudaErrorInvalidValue);
  FAILS(cudaMemcpyToSymbol(*host, host, 4), cudaErrorInvalidSymbol);
  FAILS(cudaMemcpyToSymbol(variable, host, 4, 0, cudaMemcpyDeviceToHost), cudaErrorInvalidMemcpyDirection);
}

static void devices(void) {
  static cudaDeviceProp properties;
  int count = 0, n;
  OK(cudaGetDeviceCount(&count));
  EXPECT_TRUE(count >= 1);
  FAILS(cudaSetDevice(99), cudaErrorInvalidDevice);
  FAILS(cudaSetDevice(-1), cudaErrorInvalidDevice);
  FAILS(cudaGetDeviceProperties(&properties, 99), cudaErrorInvalidDevice);
  FAILS(cudaDeviceGetAttribute(&n, (cudaDeviceAttr)9999, 0), cudaErrorInvalidValue);
  FAILS(cudaDeviceEnablePeerAccess(0, 0), cudaErrorPeerAccessUnsupported);
  OK(cudaDeviceCanAccessPeer(&n, 0, 0));
  EXPECT(n, 0);
}

static void streams(void) {
  cudaStream_t stream;
  cudaEvent_t a, b;
  float ms;
  FAILS(cudaStreamCreateWithFlags(&stream, 9), cudaErrorInvalidValue);
  FAILS(cudaStreamDestroy(0), cudaErrorInvalidResourceHandle);
  FAILS(cudaEventCreateWithFlags(&a, 99), cudaErrorInvalidValue);
  OK(cudaEventCreate(&a));
  OK(cudaEventCreate(&b));
  FAILS(cudaEventElapsedTime(&ms, a, b), cudaErrorInvalidResourceHandle);
  OK(cudaEventQuery(a)); // never recorded: nothing to wait for
  OK(cudaEventDestroy(a));
  OK(cudaEventDestroy(b));
}

static void texts(void) {
  EXPECT(strcmp(cudaGetErrorName(cudaErrorInvalidValue), "cudaErrorInvalidValue"), 0);
  EXPECT(strcmp(cudaGetErrorString(cudaErrorInvalidValue), "invalid argument"), 0);
  EXPECT(strcmp(cudaGetErrorName(cudaSuccess), "cudaSuccess"), 0);
  EXPECT(strcmp(cudaGetErrorString(cudaSuccess), "no error"), 0);
  EXPECT(strcmp(cudaGetErrorString((cudaError_t)700), "an illegal memory access was encountered"), 0);
  EXPECT(strcmp(cudaGetErrorString((cudaError_t)12345), "unrecognized error code"), 0);
}

// After a fault every call that needs the context says so; what needs none goes on.
static int fault(void) {
  int *d, n;
  size_t a, b;
  void *v;
  cudaEvent_t event;
  OK(cudaMalloc(&d, 4));
  OK(cudaEventCreate(&event));
  OK(cudaEventRecord(event));
  set<<<1, 1>>>((int *)8);
  EXPECT(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  EXPECT(cudaGetLastError(), cudaErrorIllegalAddress);
  EXPECT(cudaGetLastError(), cudaSuccess);
  FAILS(cudaMalloc(&v, 4), cudaErrorIllegalAddress);
  OK(cudaGetDevice(&n));
  OK(cudaGetDeviceCount(&n));
  OK(cudaDeviceGetAttribute(&n, cudaDevAttrWarpSize, 0));
  OK(cudaSetDevice(0));
  FAILS(cudaFree(0), cudaErrorIllegalAddress);
  FAILS(cudaMemGetInfo(&a, &b), cudaErrorIllegalAddress);
  FAILS(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  FAILS(cudaMemcpy(host, d, 4, cudaMemcpyDeviceToHost), cudaErrorIllegalAddress);
  LAUNCH_FAILS(cudaErrorIllegalAddress, (set<<<1, 1>>>(d)));
  return check_end();
}

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], "fault") == 0)
    return fault();
  int *d;
  OK(cudaMalloc(&d, 64));
  launches(d);
  memory(d);
  devices();
  streams();
  texts();
  EXPECT(cudaGetLastError(), cudaSuccess);
  OK(cudaDeviceSynchronize());
  return check_end();
}
