/* t_memory.c: allocations, copies, fills, pointers: good and bad. */
#include "t.h"

static void allocations(void) {
  CUdeviceptr a, b, base;
  size_t free_before, free_after, total, bytes, pitch;
  OK(cuMemGetInfo(&free_before, &total));
  CHECK(free_before <= total);
  OK(cuMemAlloc(&a, 4 << 20));
  EQUAL(a % 256, 0);
  OK(cuMemGetInfo(&free_after, &total));
  CHECK(free_after + (4 << 20) <= free_before);
  OK(cuMemGetAddressRange(&base, &bytes, a + 100));
  EQUAL(base, a);
  EQUAL(bytes, 4 << 20);
  OK(cuMemFree(a));
  GIVES(CUDA_ERROR_INVALID_VALUE, cuMemAlloc(&a, 0));
  GIVES(CUDA_ERROR_INVALID_VALUE, cuMemAlloc(NULL, 16));
  GIVES(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc(&a, (size_t)1 << 46));
  OK(cuMemFree(0));
  OK(cuMemAllocPitch(&a, &pitch, 100, 10, 4));
  CHECK(pitch >= 100 && pitch % 32 == 0);
  GIVES(CUDA_ERROR_INVALID_VALUE, cuMemAllocPitch(&b, &pitch, 100, 0, 4));
  GIVES(CUDA_ERROR_INVALID_VALUE, cuMemFree(a + 4));
  OK(cuMemFree(a));
  GIVES(CUDA_ERROR_INVALID_VALUE, cuMemFree(a));
}

static void copies(void) {
  enum { N = 1000 };
  unsigned char host[N], back[N];
  CUdeviceptr a = t_memory(N), b = t_memory(N);
  for (int i = 0; i < N; i++)
    host[i] = (unsigned char)(i * 7);
  OK(cuMemcpyHtoD(a, host, N));
  OK(cuMemcpyDtoD(b, a, N));
  OK(cuMemcpyDtoH(back, b, N));
  CHECK(memcmp(host, back, N) == 0);
  memset(back, 0, N);
  OK(cuMemcpy((CUdeviceptr)(uintptr_t)back, a, N)); /* one address space */
  CHECK(memcmp(host, back, N) == 0);
  OK(cuMemcpyHtoD(a + 10, host, 5));
  OK(cuMemcpyDtoH(back, a, 20));
  CHECK(back[9] == host[9] && back[10] == host[0] && back[14] == host[4] && back[15] == host[15]);
  OK(cuMemcpyHtoD(a, host, 0));
  GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(0, host, 4));
  GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD((CUdeviceptr)(uintptr_t)back, host, 4));
}

/* A copy or a fill past an allocation, at either end. */
static void bounds(void) {
  enum { N = 1 << 21 }; /* as much as a GPU's allocator rounds to */
  char *host = calloc(1, N + 4096);
  CUdeviceptr a = t_memory(N);
  GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(a, host, N + 4096));
  GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH(host, a, N + 4096));
  GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH(host, a + 4096, N));
  GIVES(CUDA_ERROR_INVALID_VALUE, cuMemsetD8(a, 1, N + 4096));
  GIVES(CUDA_ERROR_INVALID_VALUE, cuMemsetD32(a + 2, 1, 1));
  OK(cuMemcpyDtoH(host, a, N));
  OK(cuMemcpyHtoD(a, host, N));
  free(host);
}

static void bounds_exact(void) {
  char host[64] = {0};
  if (!t_on_cpu)
    t_skip("a GPU's driver rounds allocations up");
  CUdeviceptr a = t_memory(40);
  GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(a, host, 41));
  GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH(host, a, 41));
  GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH(host, a + 1, 40));
  OK(cuMemcpyDtoH(host, a + 1, 39));
  GIVES(CUDA_ERROR_INVALID_VALUE, cuMemsetD8(a, 1, 41));
  GIVES(CUDA_ERROR_INVALID_VALUE, cuMemsetD2D8(a, 20, 1, 20, 3));
  OK(cuMemsetD2D8(a, 20, 1, 20, 2));
}

static void fills(void) {
  unsigned char b[64];
  unsigned short s[32];
  unsigned w[16];
  CUdeviceptr a = t_memory(64);
  OK(cuMemsetD8(a, 0xab, 64));
  OK(cuMemcpyDtoH(b, a, 64));
  CHECK(b[0] == 0xab && b[63] == 0xab);
  OK(cuMemsetD16(a + 2, 0x1234, 3));
  OK(cuMemcpyDtoH(s, a, 64));
  CHECK(s[0] == 0xabab && s[1] == 0x1234 && s[3] == 0x1234 && s[4] == 0xabab);
  OK(cuMemsetD32(a, 0xdeadbeef, 16));
  OK(cuMemcpyDtoH(w, a, 64));
  CHECK(w[0] == 0xdeadbeef && w[15] == 0xdeadbeef);
  OK(cuMemsetD2D32(a, 16, 7, 2, 4)); /* two words of each row of four */
  OK(cuMemcpyDtoH(w, a, 64));
  for (int i = 0; i < 16; i++)
    CHECK(w[i] == (i % 4 < 2 ? 7 : 0xdeadbeef));
  OK(cuMemsetD2D8(a, 16, 1, 3, 2));
  OK(cuMemcpyDtoH(b, a, 64));
  CHECK(b[2] == 1 && b[3] == 0 && b[18] == 1 && b[19] == 0 && b[34] == 0);
  OK(cuMemsetD2D16(a, 16, 0x0101, 8, 1));
  GIVES(CUDA_ERROR_INVALID_VALUE, cuMemsetD16(a + 1, 1, 1));
}

static void copies_2d(void) {
  unsigned char host[8][10], back[8][10];
  CUdeviceptr a;
  size_t pitch;
  for (int y = 0; y < 8; y++)
    for (int x = 0; x < 10; x++)
      host[y][x] = (unsigned char)(y * 10 + x);
  OK(cuMemAllocPitch(&a, &pitch, 10, 8, 4));
  CUDA_MEMCPY2D c = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                     .srcHost = host,
                     .srcPitch = 10,
                     .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                     .dstDevice = a,
                     .dstPitch = pitch,
                     .WidthInBytes = 10,
                     .Height = 8};
  OK(cuMemcpy2D(&c));
  memset(back, 0xff, sizeof back);
  CUDA_MEMCPY2D part = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                        .srcDevice = a,
                        .srcPitch = pitch,
                        .srcXInBytes = 2,
                        .srcY = 1,
                        .dstMemoryType = CU_MEMORYTYPE_HOST,
                        .dstHost = back,
                        .dstPitch = 10,
                        .dstXInBytes = 1,
                        .dstY = 2,
                        .WidthInBytes = 4,
                        .Height = 3};
  OK(cuMemcpy2D(&part));
  for (int y = 0; y < 8; y++)
    for (int x = 0; x < 10; x++)
      CHECK(back[y][x] == (y >= 2 && y < 5 && x >= 1 && x < 5 ? host[y - 1][x + 1] : 0xff));
  c.dstPitch = 9; /* narrower than a row */
  GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpy2D(&c));
  c.dstPitch = pitch;
  c.srcMemoryType = (CUmemorytype)99;
  GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpy2D(&c));
  GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpy2D(NULL));
}

static void copies_3d(void) {
  unsigned char host[3][4][5], back[3][4][5];
  for (int i = 0; i < 60; i++)
    ((unsigned char *)host)[i] = (unsigned char)i;
  CUdeviceptr a = t_memory(16 * 8 * 3);
  CUDA_MEMCPY3D c = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                     .srcHost = host,
                     .srcPitch = 5,
                     .srcHeight = 4,
                     .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                     .dstDevice = a,
                     .dstPitch = 16,
                     .dstHeight = 8,
                     .WidthInBytes = 5,
                     .Height = 4,
                     .Depth = 3};
  OK(cuMemcpy3D(&c));
  unsigned char one;
  OK(cuMemcpyDtoH(&one, a + 2 * 16 * 8 + 3 * 16 + 4, 1));
  EQUAL(one, 59);
  memset(back, 0, sizeof back);
  CUDA_MEMCPY3D d = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                     .srcDevice = a,
                     .srcPitch = 16,
                     .srcHeight = 8,
                     .srcZ = 1,
                     .dstMemoryType = CU_MEMORYTYPE_HOST,
                     .dstHost = back,
                     .dstPitch = 5,
                     .dstHeight = 4,
                     .WidthInBytes = 5,
                     .Height = 4,
                     .Depth = 2};
  OK(cuMemcpy3D(&d));
  CHECK(memcmp(back, host[1], 40) == 0);
}

static void host_memory(void) {
  unsigned *pinned, *plain = NULL;
  CUdeviceptr as_device, out = t_memory(64);
  unsigned flags;
  OK(cuMemHostAlloc((void **)&pinned, 4096, CU_MEMHOSTALLOC_DEVICEMAP));
  OK(cuMemHostGetFlags(&flags, pinned));
  CHECK(flags & CU_MEMHOSTALLOC_DEVICEMAP);
  OK(cuMemHostGetDevicePointer(&as_device, pinned, 0));
  unsigned n = 64, value = 9;
  OK(LAUNCH(t_kernel("fill"), 1, 64, 0, NULL, &as_device, &value, &n));
  OK(cuCtxSynchronize(NULL));
  CHECK(pinned[0] == 9 && pinned[63] == 9 && pinned[64] == 0);
  GIVES(CUDA_ERROR_INVALID_VALUE, cuMemHostGetDevicePointer(&as_device, &n, 0));
  GIVES(CUDA_ERROR_INVALID_VALUE, cuMemHostAlloc((void **)&plain, 16, 0x80));
  CHECK(posix_memalign((void **)&plain, 4096, 8192) == 0);
  memset(plain, 0, 8192);
  OK(cuMemHostRegister(plain, 8192, CU_MEMHOSTREGISTER_DEVICEMAP));
  GIVES(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, cuMemHostRegister(plain, 8192, 0));
  OK(cuMemHostGetDevicePointer(&as_device, plain, 0));
  OK(LAUNCH(t_kernel("fill"), 1, 64, 0, NULL, &as_device, &value, &n));
  OK(cuCtxSynchronize(NULL));
  CHECK(plain[0] == 9 && plain[63] == 9 && plain[64] == 0);
  OK(cuMemHostUnregister(plain));
  GIVES(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, cuMemHostUnregister(plain));
  free(plain);
  OK(cuMemFreeHost(pinned));
  OK(cuMemFree(out));
}

static void managed(void) {
  CUdeviceptr p;
  unsigned n = 100, value = 3;
  OK(cuMemAllocManaged(&p, 4096, CU_MEM_ATTACH_GLOBAL));
  unsigned *host = (unsigned *)(uintptr_t)p;
  host[100] = 77;
  OK(LAUNCH(t_kernel("fill"), 1, 128, 0, NULL, &p, &value, &n));
  OK(cuCtxSynchronize(NULL));
  CHECK(host[0] == 3 && host[99] == 3 && host[100] == 77);
  CUmemLocation where = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  OK(cuMemPrefetchAsync(p, 4096, where, 0, NULL));
  OK(cuMemAdvise(p, 4096, CU_MEM_ADVISE_SET_READ_MOSTLY, where));
  GIVES(CUDA_ERROR_INVALID_VALUE, cuMemAllocManaged(&p, 4096, 0));
  OK(cuCtxSynchronize(NULL));
  OK(cuMemFree((CUdeviceptr)(uintptr_t)host));
}

static void pointers(void) {
  CUdeviceptr a = t_memory(1000), at;
  unsigned type;
  int is;
  size_t bytes;
  void *pinned, *host_pointer;
  CUcontext context;
  OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, a + 10));
  EQUAL(type, CU_MEMORYTYPE_DEVICE);
  OK(cuPointerGetAttribute(&context, CU_POINTER_ATTRIBUTE_CONTEXT, a));
  CHECK(context == t_context);
  OK(cuPointerGetAttribute(&at, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, a + 10));
  EQUAL(at, a);
  OK(cuPointerGetAttribute(&bytes, CU_POINTER_ATTRIBUTE_RANGE_SIZE, a + 10));
  CHECK(bytes >= 1000);
  OK(cuPointerGetAttribute(&is, CU_POINTER_ATTRIBUTE_IS_MANAGED, a));
  EQUAL(is, 0);
  OK(cuMemAllocHost(&pinned, 100));
  OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (uintptr_t)pinned));
  EQUAL(type, CU_MEMORYTYPE_HOST);
  OK(cuPointerGetAttribute(&host_pointer, CU_POINTER_ATTRIBUTE_HOST_POINTER, (uintptr_t)pinned));
  CHECK(host_pointer == pinned);
  GIVES(CUDA_ERROR_INVALID_VALUE,
        cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (uintptr_t)&type));
  CUpointer_attribute which[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
  int ordinal;
  void *values[] = {&type, &ordinal};
  OK(cuPointerGetAttributes(2, which, values, (uintptr_t)&type));
  EQUAL(type, 0);
  EQUAL(ordinal, -2);
  OK(cuPointerGetAttributes(2, which, values, a));
  EQUAL(type, CU_MEMORYTYPE_DEVICE);
  EQUAL(ordinal, 0);
}

static void in_stream_order(void) {
  CUstream stream;
  CUmemoryPool pool, other;
  CUdeviceptr p;
  uint64_t used, threshold = 1 << 20;
  OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  OK(cuMemAllocAsync(&p, 4096, stream));
  unsigned n = 1024, value = 5, last;
  OK(LAUNCH(t_kernel("fill"), 8, 128, 0, stream, &p, &value, &n));
  OK(cuMemcpyDtoHAsync(&last, p + 4092, 4, stream));
  OK(cuMemFreeAsync(p, stream));
  OK(cuStreamSynchronize(stream));
  EQUAL(last, 5);
  OK(cuDeviceGetDefaultMemPool(&pool, 0));
  OK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold));
  threshold = 0;
  OK(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold));
  EQUAL(threshold, 1 << 20);
  OK(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used));
  EQUAL(used, 0);
  CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                          .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
  OK(cuMemPoolCreate(&other, &props));
  OK(cuMemAllocFromPoolAsync(&p, 1 << 16, other, stream));
  OK(cuMemPoolGetAttribute(other, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used));
  CHECK(used >= 1 << 16);
  OK(cuMemFreeAsync(p, stream));
  OK(cuStreamSynchronize(stream));
  OK(cuMemPoolTrimTo(other, 0));
  OK(cuMemPoolDestroy(other));
  p = 1;
  OK(cuMemAllocAsync(&p, 0, stream));
  EQUAL(p, 0);
  OK(cuStreamDestroy(stream));
}

/* More device memory than there is, in turns, only fits if frees take effect. */
static void frees_make_room(void) {
  CUstream stream;
  size_t free_bytes, total;
  OK(cuStreamCreate(&stream, 0));
  OK(cuMemGetInfo(&free_bytes, &total));
  size_t bytes = (free_bytes / 2 + (8 << 20)) & ~(size_t)0x1fffff;
  for (int i = 0; i < 4; i++) {
    CUdeviceptr p;
    OK(cuMemAllocAsync(&p, bytes, stream));
    OK(cuMemFreeAsync(p, stream));
  }
  OK(cuStreamSynchronize(stream));
}

const t_test t_memory_tests[] = {{"allocations", allocations, false},
                                 {"copies", copies, false},
                                 {"bounds", bounds, false},
                                 {"bounds_exact", bounds_exact, false},
                                 {"fills", fills, false},
                                 {"copies_2d", copies_2d, false},
                                 {"copies_3d", copies_3d, false},
                                 {"host_memory", host_memory, false},
                                 {"managed", managed, false},
                                 {"pointers", pointers, false},
                                 {"in_stream_order", in_stream_order, false},
                                 {"frees_make_room", frees_make_room, false},
                                 {NULL, NULL, false}};
