/* opencl.c: PoCL, or whatever OpenCL platform has a CPU. Built only where the OpenCL headers are. */
#include "cpu.h"

#ifdef BENCH_OPENCL
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cl_command_queue queue;
static cl_kernel kernels[KERNELS];
static cl_mem a, b, sum, parts, items, bins;
static size_t elements;

static void check(cl_int error, const char *what) {
  if (error == CL_SUCCESS)
    return;
  fprintf(stderr, "OpenCL: %s: error %d\n", what, error);
  exit(1);
}

static void run(int kernel) {
  const size_t global = GRID * BLOCK, local = BLOCK;
  const cl_uint zero = 0;
  if (kernel == HISTOGRAM)
    check(clEnqueueFillBuffer(queue, bins, &zero, sizeof zero, 0, 256 * sizeof zero, 0, NULL, NULL), "fill");
  check(clEnqueueNDRangeKernel(queue, kernels[kernel], 1, NULL, &global, &local, 0, NULL, NULL), "launch");
  check(clFinish(queue), "finish");
}

static void fetch(bench_data *into) {
  check(clEnqueueReadBuffer(queue, sum, CL_TRUE, 0, elements * 4, into->sum, 0, NULL, NULL), "read");
  check(clEnqueueReadBuffer(queue, parts, CL_TRUE, 0, GRID * 4, into->parts, 0, NULL, NULL), "read");
  check(clEnqueueReadBuffer(queue, bins, CL_TRUE, 0, 256 * 4, into->bins, 0, NULL, NULL), "read");
}

static cl_device_id find_cpu(void) {
  cl_platform_id platforms[8];
  cl_uint count = 0;
  cl_device_id device;
  if (clGetPlatformIDs(8, platforms, &count) != CL_SUCCESS)
    return NULL;
  for (cl_uint i = 0; i < count && i < 8; i++)
    if (clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_CPU, 1, &device, NULL) == CL_SUCCESS)
      return device;
  return NULL;
}

static cl_mem buffer(cl_context context, size_t bytes, const void *from) {
  cl_int error;
  cl_mem memory = clCreateBuffer(context, CL_MEM_READ_WRITE | (from ? CL_MEM_COPY_HOST_PTR : 0), bytes,
                                 (void *)from, &error);
  check(error, "buffer");
  return memory;
}

static void set(int kernel, cl_mem first, cl_mem second, cl_mem third, int n) {
  cl_uint index = 0;
  check(clSetKernelArg(kernels[kernel], index++, sizeof first, &first), "argument");
  check(clSetKernelArg(kernels[kernel], index++, sizeof second, &second), "argument");
  if (third)
    check(clSetKernelArg(kernels[kernel], index++, sizeof third, &third), "argument");
  check(clSetKernelArg(kernels[kernel], index, sizeof n, &n), "argument");
}

const bench_contender *bench_opencl(const bench_data *data, const char *source, const char **why) {
  static char name[128];
  static const bench_contender opencl = {name, run, fetch};
  cl_device_id device = find_cpu();
  if (!device) {
    *why = "no OpenCL platform has a CPU (Debian: pocl-opencl-icd)";
    return NULL;
  }
  cl_platform_id platform;
  char version[96] = "";
  check(clGetDeviceInfo(device, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL), "platform");
  clGetDeviceInfo(device, CL_DRIVER_VERSION, sizeof version, version, NULL);
  snprintf(name, sizeof name, "PoCL %.*s", (int)strcspn(version, " "), version);
  cl_int error;
  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
  check(error, "context");
  queue = clCreateCommandQueue(context, device, 0, &error);
  check(error, "queue");
  cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &error);
  check(error, "program");
  check(clBuildProgram(program, 1, &device, "", NULL, NULL), "build");
  const char *const names[KERNELS] = {"vector_add", "dot_product", "histogram"};
  for (int i = 0; i < KERNELS; i++) {
    kernels[i] = clCreateKernel(program, names[i], &error);
    check(error, names[i]);
  }
  elements = data->n;
  a = buffer(context, data->n * 4, data->a);
  b = buffer(context, data->n * 4, data->b);
  sum = buffer(context, data->n * 4, NULL);
  parts = buffer(context, GRID * 4, NULL);
  items = buffer(context, data->n, data->items);
  bins = buffer(context, 256 * 4, NULL);
  set(VECTOR_ADD, sum, a, b, (int)data->n);
  set(DOT, parts, a, b, (int)data->n);
  set(HISTOGRAM, bins, items, NULL, (int)data->n);
  return &opencl;
}

#else
const bench_contender *bench_opencl(const bench_data *data, const char *source, const char **why) {
  (void)data;
  (void)source;
  *why = "built without OpenCL's headers (Debian: ocl-icd-opencl-dev)";
  return NULL;
}
#endif
