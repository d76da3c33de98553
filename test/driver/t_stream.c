/* t_stream.c: the order of streams, events, host functions, and the host going on meanwhile. */
#include "t.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

static unsigned list_of(CUdeviceptr p, unsigned *values, unsigned most) {
  unsigned n;
  OK(cuMemcpyDtoH(&n, p, 4));
  CHECK(n <= most);
  OK(cuMemcpyDtoH(values, p + 4, 4 * n));
  return n;
}

static void append(CUstream s, CUdeviceptr list, unsigned value) {
  OK(LAUNCH(t_kernel("append"), 1, 1, 0, s, &list, &value));
}

static void nap(CUstream s, unsigned long long ns) {
  OK(LAUNCH(t_kernel("sleep"), 1, 1, 0, s, &ns));
}

/* A stream runs in order. */
static void in_order(void) {
  CUstream s;
  CUdeviceptr list = t_memory(64);
  unsigned values[8];
  OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
  for (unsigned i = 0; i < 5; i++) {
    nap(s, (5 - i) * 200000ull);
    append(s, list, i);
  }
  OK(cuStreamSynchronize(s));
  EQUAL(list_of(list, values, 8), 5);
  for (unsigned i = 0; i < 5; i++)
    EQUAL(values[i], i);
  OK(cuStreamDestroy(s));
}

/* The legacy default stream stands between what blocking streams had before and what they get after. */
static void legacy(void) {
  CUstream a, b;
  CUdeviceptr list = t_memory(64);
  unsigned values[8];
  OK(cuStreamCreate(&a, 0));
  OK(cuStreamCreate(&b, 0));
  nap(a, 2000000);
  append(a, list, 1);
  append(NULL, list, 2);
  append(b, list, 3);
  OK(cuCtxSynchronize(NULL));
  EQUAL(list_of(list, values, 8), 3);
  CHECK(values[0] == 1 && values[1] == 2 && values[2] == 3);
  OK(cuStreamSynchronize(NULL));
  EQUAL(cu.cuStreamQuery(NULL), CUDA_SUCCESS);
}

/* A non-blocking stream does not wait for the default stream. */
static void non_blocking(void) {
  CUstream s;
  CUdeviceptr flag, out = t_memory(4), list = t_memory(64);
  unsigned *host;
  OK(cuMemHostAlloc((void **)&host, 4, CU_MEMHOSTALLOC_DEVICEMAP));
  *host = 0;
  OK(cuMemHostGetDevicePointer(&flag, host, 0));
  OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
  CUfunction spin = t_kernel("spin");
  t_kernel("append");
  append(s, list, 0); /* loaded before the other one spins */
  OK(cuStreamSynchronize(s));
  OK(LAUNCH(spin, 1, 1, 0, NULL, &flag, &out));
  append(s, list, 1);
  OK(cuStreamSynchronize(s)); /* while the other one still waits */
  EQUAL(cu.cuStreamQuery(NULL), CUDA_ERROR_NOT_READY);
  *(volatile unsigned *)host = 41;
  OK(cuCtxSynchronize(NULL));
  unsigned got;
  OK(cuMemcpyDtoH(&got, out, 4));
  EQUAL(got, 42);
}

/* A kernel waits for a flag that the host sets later; the host polls an event meanwhile. */
static void host_flag(void) {
  CUdeviceptr flag, out = t_memory(4);
  CUevent event;
  unsigned *host, got, polls = 0;
  OK(cuMemHostAlloc((void **)&host, 4, CU_MEMHOSTALLOC_DEVICEMAP));
  *host = 0;
  OK(cuMemHostGetDevicePointer(&flag, host, 0));
  OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  EQUAL(cu.cuEventQuery(event), CUDA_SUCCESS); /* never recorded */
  OK(LAUNCH(t_kernel("spin"), 1, 1, 0, NULL, &flag, &out));
  OK(cuEventRecord(event, NULL));
  CUresult r;
  while ((r = cu.cuEventQuery(event)) == CUDA_ERROR_NOT_READY)
    if (++polls == 100)
      *(volatile unsigned *)host = 7;
  EQUAL(r, CUDA_SUCCESS);
  CHECK(polls >= 100);
  OK(cuMemcpyDtoH(&got, out, 4));
  EQUAL(got, 8);
}

/* The flag lies in device memory, and a copy in another stream sets it. */
static void copied_flag(void) {
  CUdeviceptr flag = t_memory(4), out = t_memory(4);
  CUstream s;
  unsigned one = 1, got;
  OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
  OK(LAUNCH(t_kernel("spin"), 1, 1, 0, NULL, &flag, &out));
  OK(cuMemcpyHtoDAsync(flag, &one, 4, s));
  OK(cuCtxSynchronize(NULL));
  OK(cuMemcpyDtoH(&got, out, 4));
  EQUAL(got, 2);
}

static void *set_later(void *user) {
  nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
  atomic_store((_Atomic unsigned *)user, 5);
  return NULL;
}

/* The only thread that uses the device waits; another one, which does not, sets the flag: that is no hang. */
static void other_thread(void) {
  CUdeviceptr flag, out = t_memory(4);
  unsigned *host, got;
  pthread_t thread;
  OK(cuMemHostAlloc((void **)&host, 4, CU_MEMHOSTALLOC_DEVICEMAP));
  *host = 0;
  OK(cuMemHostGetDevicePointer(&flag, host, 0));
  OK(LAUNCH(t_kernel("spin"), 1, 1, 0, NULL, &flag, &out));
  CHECK(pthread_create(&thread, NULL, set_later, host) == 0);
  OK(cuCtxSynchronize(NULL));
  pthread_join(thread, NULL);
  OK(cuMemcpyDtoH(&got, out, 4));
  EQUAL(got, 6);
}

static void events(void) {
  CUstream a, b;
  CUevent before, after, plain;
  CUdeviceptr list = t_memory(64);
  unsigned values[8];
  float ms;
  OK(cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
  OK(cuStreamCreate(&b, CU_STREAM_NON_BLOCKING));
  OK(cuEventCreate(&before, 0));
  OK(cuEventCreate(&after, 0));
  OK(cuEventCreate(&plain, CU_EVENT_DISABLE_TIMING));
  GIVES(CUDA_ERROR_INVALID_HANDLE, cuEventElapsedTime(&ms, before, after));
  OK(cuEventRecord(before, a));
  nap(a, 3000000);
  append(a, list, 1);
  OK(cuEventRecord(after, a));
  OK(cuEventRecord(plain, a));
  OK(cuStreamWaitEvent(b, after, 0));
  append(b, list, 2);
  OK(cuStreamSynchronize(b));
  EQUAL(list_of(list, values, 8), 2);
  CHECK(values[0] == 1 && values[1] == 2);
  OK(cuEventSynchronize(after));
  OK(cuEventElapsedTime(&ms, before, after));
  if (ms < 3.0f || ms > 1000.0f)
    t_fail(__FILE__, __LINE__, "3 ms of sleep took %g", (double)ms);
  OK(cuEventElapsedTime(&ms, after, before));
  CHECK(ms < 0);
  OK(cuStreamSynchronize(a));
  GIVES(CUDA_ERROR_INVALID_HANDLE, cuEventElapsedTime(&ms, before, plain));
  GIVES(CUDA_ERROR_INVALID_VALUE, cuEventCreate(&plain, 0x80));
  OK(cuEventDestroy(before));
  OK(cuStreamDestroy(a));
  OK(cuStreamDestroy(b));
}

/* Recording an event anew does not change what others already wait for. */
static void recorded_again(void) {
  CUstream a, b;
  CUevent e;
  CUdeviceptr flag, out = t_memory(4), list = t_memory(64);
  unsigned *host, values[4];
  OK(cuMemHostAlloc((void **)&host, 4, CU_MEMHOSTALLOC_DEVICEMAP));
  *host = 0;
  OK(cuMemHostGetDevicePointer(&flag, host, 0));
  OK(cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
  OK(cuStreamCreate(&b, CU_STREAM_NON_BLOCKING));
  OK(cuEventCreate(&e, CU_EVENT_DISABLE_TIMING));
  t_kernel("spin");
  append(b, list, 0);
  OK(cuStreamSynchronize(b));
  OK(cuEventRecord(e, b));
  OK(cuStreamWaitEvent(b, e, 0));
  OK(LAUNCH(t_kernel("spin"), 1, 1, 0, a, &flag, &out));
  OK(cuEventRecord(e, a)); /* this one waits for the flag; b does not */
  append(b, list, 1);
  OK(cuStreamSynchronize(b));
  EQUAL(list_of(list, values, 4), 2);
  *(volatile unsigned *)host = 1;
  OK(cuEventSynchronize(e));
  OK(cuEventDestroy(e));
}

static unsigned order[4], calls;
static void call(void *user) {
  order[calls++] = (unsigned)(uintptr_t)user;
}
static CUresult in_call;
static void use_api(void *user) {
  CUdeviceptr p;
  (void)user;
  in_call = cu.cuMemAlloc(&p, 16);
}
static void callback(CUstream s, CUresult status, void *user) {
  *(CUstream *)user = status == CUDA_SUCCESS ? s : NULL;
}

static void host_functions(void) {
  CUstream s, seen = NULL;
  OK(cuStreamCreate(&s, 0));
  nap(s, 1000000);
  OK(cuLaunchHostFunc(s, call, (void *)1));
  OK(cuLaunchHostFunc(s, call, (void *)2));
  OK(cuStreamAddCallback(s, callback, &seen, 0));
  OK(cuStreamSynchronize(s));
  EQUAL(calls, 2);
  CHECK(order[0] == 1 && order[1] == 2);
  CHECK(seen == s);
  OK(cuLaunchHostFunc(s, use_api, NULL));
  OK(cuStreamSynchronize(s));
  EQUAL(in_call, CUDA_ERROR_NOT_PERMITTED);
  GIVES(CUDA_ERROR_INVALID_VALUE, cuLaunchHostFunc(s, NULL, NULL));
}

/* Memory that the program reuses at once after an asynchronous copy from it. */
static void staged(void) {
  CUstream s;
  CUdeviceptr p = t_memory(1024);
  unsigned char host[1024], back[1024];
  OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
  nap(s, 2000000);
  memset(host, 1, sizeof host);
  OK(cuMemcpyHtoDAsync(p, host, sizeof host, s));
  memset(host, 2, sizeof host);
  OK(cuMemcpyDtoHAsync(back, p, sizeof back, s)); /* pageable: done when it returns */
  CHECK(back[0] == 1 && back[1023] == 1);
  OK(cuStreamSynchronize(s));
}

static void values_in_memory(void) {
  CUstream a, b;
  CUdeviceptr word = t_memory(8), list = t_memory(64);
  unsigned values[4];
  OK(cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
  OK(cuStreamCreate(&b, CU_STREAM_NON_BLOCKING));
  append(b, list, 0); /* loads it: a GPU's driver waits for all streams to do that */
  OK(cuStreamSynchronize(b));
  OK(cuStreamWaitValue32(a, word, 3, CU_STREAM_WAIT_VALUE_GEQ));
  append(a, list, 1);
  append(b, list, 2);
  OK(cuStreamSynchronize(b));
  OK(cuStreamWriteValue32(b, word, 3, 0));
  OK(cuStreamSynchronize(a));
  EQUAL(list_of(list, values, 4), 3);
  CHECK(values[0] == 0 && values[1] == 2 && values[2] == 1);
  GIVES(CUDA_ERROR_INVALID_VALUE, cuStreamWaitValue32(a, word + 2, 3, 0));
}

static void handles(void) {
  CUstream s;
  unsigned flags;
  int priority;
  unsigned long long id, other;
  GIVES(CUDA_ERROR_INVALID_VALUE, cuStreamCreate(&s, 0x10));
  GIVES(CUDA_ERROR_INVALID_VALUE, cuStreamCreate(NULL, 0));
  OK(cuStreamCreateWithPriority(&s, CU_STREAM_NON_BLOCKING, -1));
  OK(cuStreamGetFlags(s, &flags));
  EQUAL(flags, CU_STREAM_NON_BLOCKING);
  OK(cuStreamGetPriority(s, &priority));
  EQUAL(priority, -1);
  OK(cuStreamGetId(s, &id));
  OK(cuStreamGetId(NULL, &other));
  CHECK(id != other);
  EQUAL(cu.cuStreamQuery(s), CUDA_SUCCESS);
  OK(cuStreamDestroy(s));
}

/* Handles that are none: the CPU device answers; a GPU's driver may crash. */
static void stale_handles(void) {
  CUstream s;
  CUevent e;
  char made_up[64] = {0};
  if (!t_on_cpu)
    t_skip("undefined on a GPU");
  OK(cuStreamCreate(&s, 0));
  OK(cuStreamDestroy(s));
  GIVES(CUDA_ERROR_INVALID_HANDLE, cuStreamSynchronize(s));
  GIVES(CUDA_ERROR_INVALID_HANDLE, cuStreamDestroy(s));
  OK(cuEventCreate(&e, 0));
  OK(cuEventDestroy(e));
  GIVES(CUDA_ERROR_INVALID_HANDLE, cuEventQuery(e));
  GIVES(CUDA_ERROR_INVALID_HANDLE, cuEventRecord((CUevent)(void *)made_up, NULL));
  GIVES(CUDA_ERROR_INVALID_HANDLE,
        cuLaunchKernel((CUfunction)(void *)made_up, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
  CUfunction f;
  GIVES(CUDA_ERROR_INVALID_HANDLE, cuModuleGetFunction(&f, (CUmodule)(void *)made_up, "fill"));
  GIVES(CUDA_ERROR_INVALID_CONTEXT, cuCtxSetCurrent((CUcontext)(void *)made_up));
}

/* Two threads, each with its own default stream. */
static CUresult (*sync_own)(CUstream);
static void *own_stream(void *user) {
  CUdeviceptr p = *(CUdeviceptr *)user;
  unsigned n = 256, value = 1;
  OK(cuCtxSetCurrent(t_context));
  for (int i = 0; i < 20; i++) {
    value = (unsigned)i + 1;
    OK(LAUNCH(t_kernel("fill"), 1, 256, 0, CU_STREAM_PER_THREAD, &p, &value, &n));
    unsigned last;
    OK(cuMemcpyDtoHAsync(&last, p + 4 * 255, 4, CU_STREAM_PER_THREAD));
    EQUAL(sync_own(NULL), CUDA_SUCCESS);
    EQUAL(last, value);
  }
  return NULL;
}

static void per_thread(void) {
  pthread_t threads[4];
  CUdeviceptr p[4];
  void *f;
  OK(cuGetProcAddress("cuStreamSynchronize", &f, 12000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, NULL));
  sync_own = (CUresult(*)(CUstream))(uintptr_t)f;
  for (int i = 0; i < 4; i++)
    p[i] = t_memory(1024);
  for (int i = 0; i < 4; i++)
    CHECK(pthread_create(&threads[i], NULL, own_stream, &p[i]) == 0);
  for (int i = 0; i < 4; i++)
    pthread_join(threads[i], NULL);
}

const t_test t_stream_tests[] = {{"in_order", in_order, false},
                                 {"legacy", legacy, false},
                                 {"non_blocking", non_blocking, false},
                                 {"host_flag", host_flag, false},
                                 {"copied_flag", copied_flag, false},
                                 {"other_thread", other_thread, false},
                                 {"events", events, false},
                                 {"recorded_again", recorded_again, false},
                                 {"host_functions", host_functions, false},
                                 {"staged", staged, false},
                                 {"values_in_memory", values_in_memory, false},
                                 {"handles", handles, false},
                                 {"stale_handles", stale_handles, false},
                                 {"per_thread", per_thread, false},
                                 {NULL, NULL, false}};
