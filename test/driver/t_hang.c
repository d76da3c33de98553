/* t_hang.c: hangs, which the CPU device proves; a GPU only hangs. Without a session and MUSTER_OPTIONS the
 * launches end with an error, and the process goes on. */
#include "t.h"

static void need_cpu(void) {
  if (!t_on_cpu)
    t_skip("a GPU would hang");
}

/* One block more than fit waits for all: it can never start. */
static void residency(void) {
  need_cpu();
  int per_sm, sms;
  unsigned fit;
  CUdeviceptr word = t_memory(4);
  CUfunction f = t_kernel("meet");
  OK(cuDeviceGetAttribute(&sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0));
  OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, f, 1024, 0));
  fit = (unsigned)(per_sm * sms);
  OK(LAUNCH(f, fit, 1024, 0, NULL, &word));
  OK(cuCtxSynchronize(NULL));
  OK(cuMemsetD32(word, 0, 1));
  OK(LAUNCH(f, fit + 1, 1024, 0, NULL, &word));
  GIVES(CUDA_ERROR_LAUNCH_TIMEOUT, cuCtxSynchronize(NULL));
}

/* A word of device memory that nobody can write any more. */
static void device_word(void) {
  need_cpu();
  CUdeviceptr flag = t_memory(4), out = t_memory(4);
  OK(LAUNCH(t_kernel("spin"), 1, 1, 0, NULL, &flag, &out));
  GIVES(CUDA_ERROR_LAUNCH_TIMEOUT, cuCtxSynchronize(NULL));
  cu.cuCtxDestroy(t_context);
  OK(cuCtxCreate(&t_context, NULL, 0, 0)); /* the device can be had again */
}

/* A word that the host could write, but its only thread waits. */
static void host_word(void) {
  need_cpu();
  CUdeviceptr flag, out = t_memory(4);
  unsigned *host;
  OK(cuMemHostAlloc((void **)&host, 4, CU_MEMHOSTALLOC_DEVICEMAP));
  *host = 0;
  OK(cuMemHostGetDevicePointer(&flag, host, 0));
  OK(LAUNCH(t_kernel("spin"), 1, 1, 0, NULL, &flag, &out));
  GIVES(CUDA_ERROR_LAUNCH_TIMEOUT, cuCtxSynchronize(NULL));
}

/* A stream waits for a value that nobody writes. */
static void stream_value(void) {
  need_cpu();
  CUdeviceptr word = t_memory(4);
  OK(cuStreamWaitValue32(NULL, word, 1, 0));
  GIVES(CUDA_ERROR_LAUNCH_TIMEOUT, cuCtxSynchronize(NULL));
}

const t_test t_hang_tests[] = {{"residency", residency, false},
                               {"device_word", device_word, false},
                               {"host_word", host_word, false},
                               {"stream_value", stream_value, false},
                               {NULL, NULL, false}};
