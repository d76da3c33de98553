/* process.c: what a process does as a whole, for process.sh: it is linked with nothing but libcuda.so.1, as a
 * program that uses the driver API is. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "driver/cuda_abi.h"

CUresult cuInit(unsigned flags);
CUresult cuDeviceGetCount(int *count);
CUresult cuDeviceGetName(char *name, int bytes, CUdevice device);
CUresult cuCtxCreate_v4(CUcontext *c, CUctxCreateParams *p, unsigned flags, CUdevice device);
CUresult cuCtxSynchronize(void);
CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags);
CUresult cuCtxSetCurrent(CUcontext c);
CUresult cuModuleLoad(CUmodule *m, const char *path);
CUresult cuModuleGetFunction(CUfunction *f, CUmodule m, const char *name);
CUresult cuMemAlloc_v2(CUdeviceptr *p, size_t bytes);
CUresult cuMemFree_v2(CUdeviceptr p);
CUresult cuMemsetD32_v2(CUdeviceptr p, unsigned value, size_t n);
CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes);
CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext tc, CUdeviceptr from, CUcontext fc, size_t bytes);
CUresult cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                        unsigned bz, unsigned shared, CUstream s, void **params, void **extra);
CUresult cuArrayCreate_v2(void *array, const void *descriptor);

static CUcontext context;
static CUmodule module;
static CUdeviceptr word, out;

static void ok(CUresult r, const char *what) {
  if (r != CUDA_SUCCESS) {
    printf("%s: %d\n", what, r);
    exit(9);
  }
}
#define OK(call) ok(call, #call)

static CUfunction kernel(const char *name) {
  CUfunction f;
  OK(cuModuleGetFunction(&f, module, name));
  return f;
}

static void spin(void) {
  void *params[] = {&word, &out};
  OK(cuLaunchKernel(kernel("spin"), 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
}

static void at_end(void) {
  printf("freed at exit: %d\n", cuMemFree_v2(word));
  fflush(stdout);
}

int main(int argc, char **argv) {
  if (argc != 3)
    return 2;
  const char *what = argv[1];
  if (strcmp(what, "exit") == 0)
    atexit(at_end); /* before the driver starts, as a program's own constructors do */
  OK(cuInit(0));
  OK(cuCtxCreate_v4(&context, NULL, 0, 0));
  OK(cuModuleLoad(&module, argv[2]));
  OK(cuMemAlloc_v2(&word, 4));
  OK(cuMemAlloc_v2(&out, 4));
  OK(cuMemsetD32_v2(word, 0, 1));
  if (strcmp(what, "hang") == 0) {
    printf("before\n");
    spin();
    printf("synchronize gives %d\n", cuCtxSynchronize());
    return 0;
  }
  if (strcmp(what, "exit") == 0) { /* while a kernel still runs, for ever */
    spin();
    return 5;
  }
  if (strcmp(what, "fork") == 0) {
    pid_t child = fork();
    if (child == 0) {
      CUdeviceptr p;
      _exit(cuMemAlloc_v2(&p, 4) == CUDA_ERROR_NOT_INITIALIZED && cuInit(0) == CUDA_ERROR_NOT_INITIALIZED
                ? 3
                : 4);
    }
    int status;
    waitpid(child, &status, 0);
    OK(cuMemsetD32_v2(word, 1, 1));
    OK(cuCtxSynchronize());
    return WEXITSTATUS(status);
  }
  if (strcmp(what, "fault") == 0) {
    CUdeviceptr nowhere = 16;
    void *params[] = {&nowhere};
    OK(cuLaunchKernel(kernel("stores_to"), 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    printf("synchronize gives %d\n", cuCtxSynchronize());
    return 6;
  }
  if (strcmp(what, "assert") == 0) {
    OK(cuLaunchKernel(kernel("asserts"), 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    printf("synchronize gives %d\n", cuCtxSynchronize());
    return 0;
  }
  if (strcmp(what, "refused") == 0) {
    char array[64], descriptor[64] = {0};
    printf("array gives %d\n", cuArrayCreate_v2(array, descriptor));
    cuArrayCreate_v2(array, descriptor);
    return 0;
  }
  if (strcmp(what, "peers") == 0) { /* a kernel of one device uses the memory of the other */
    int count;
    CUcontext second;
    CUdeviceptr there;
    unsigned n = 64, value = 77, got[64];
    OK(cuDeviceGetCount(&count));
    if (count != 2)
      return 8;
    OK(cuCtxCreate_v4(&second, NULL, 0, 1));
    OK(cuMemAlloc_v2(&there, 256));
    OK(cuMemsetD32_v2(there, 1, 64));
    OK(cuCtxSetCurrent(context));
    OK(cuCtxEnablePeerAccess(second, 0));
    if (cuCtxEnablePeerAccess(second, 0) != CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED)
      return 8;
    void *params[] = {&there, &value, &n};
    OK(cuLaunchKernel(kernel("fill"), 1, 1, 1, 64, 1, 1, 0, NULL, params, NULL));
    OK(cuCtxSynchronize());
    OK(cuCtxSetCurrent(second));
    OK(cuMemcpyDtoH_v2(got, there, 256));
    for (int i = 0; i < 64; i++)
      if (got[i] != 77)
        return 7;
    OK(cuCtxSetCurrent(context));
    OK(cuMemcpyPeer(word, context, there, second, 4));
    OK(cuMemcpyDtoH_v2(got, word, 4));
    return got[0] == 77 ? 0 : 7;
  }
  if (strcmp(what, "name") == 0) {
    char name[64];
    OK(cuDeviceGetName(name, sizeof name, 0));
    puts(name);
    return 0;
  }
  return 2;
}
