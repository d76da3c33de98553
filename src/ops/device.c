/* device.c: opening a device, what it is, and its memory.
 *
 * A device is a table of driver functions and a context. Nothing here knows whether NVIDIA's driver or the
 * CPU device is behind the table, except for choosing it.
 */
#include "ops.h"

#include <stdlib.h>
#include <string.h>

/* "gpu:2" is the driver's gpu and device 2; everything else the driver's loader reads itself. False: no
 * number. */
static bool split_choice(const char *choice, char *driver, size_t bytes, int *ordinal) {
  *ordinal = 0;
  if (strlen(choice) >= bytes)
    return false;
  strcpy(driver, choice);
  if (strncmp(choice, "gpu:", 4) != 0)
    return true;
  driver[3] = 0;
  const char *digits = choice + 4;
  if (*digits == 0 || strlen(digits) > 4 || strspn(digits, "0123456789") != strlen(digits))
    return false;
  *ordinal = atoi(digits);
  return true;
}

static muster_result read_info(muster_device *d) {
  muster_device_info *info = &d->info;
  *info = (muster_device_info)MUSTER_DEVICE_INFO_INIT;
  CUresult answer = d->cu.cuDeviceGetName(info->name, sizeof info->name, d->device);
  size_t memory = 0;
  if (answer == CUDA_SUCCESS)
    answer = d->cu.cuDeviceTotalMem(&memory, d->device);
  info->memory_bytes = memory;
  int major = 0, minor = 0;
  const struct {
    CUdevice_attribute attribute;
    uint32_t *to;
  } wanted[] = {
      {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &info->multiprocessors},
      {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, &info->threads_per_sm},
      {CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, &info->blocks_per_sm},
      {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &info->threads_per_block},
      {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, &info->registers_per_sm},
      {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, &info->shared_per_sm_bytes},
      {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, &info->shared_per_block_bytes},
      {CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK, &info->shared_reserved_bytes},
      {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, &info->l2_bytes},
      {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, &info->clock_khz},
      {CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH, &info->has_clusters},
      {CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, &info->has_cooperative},
      {CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, &info->memory_clock_khz},
      {CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, &info->memory_bus_bits},
  };
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted && answer == CUDA_SUCCESS; i++) {
    int value = 0;
    answer = d->cu.cuDeviceGetAttribute(&value, wanted[i].attribute, d->device);
    if (answer == CUDA_ERROR_INVALID_VALUE) /* a driver older than the attribute: the device has none of it */
      answer = CUDA_SUCCESS;
    *wanted[i].to = (uint32_t)value;
  }
  if (answer == CUDA_SUCCESS)
    answer = d->cu.cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, d->device);
  if (answer == CUDA_SUCCESS)
    answer = d->cu.cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, d->device);
  info->compute_capability = (uint32_t)(major * 10 + minor);
  int version = 0;
  if (answer == CUDA_SUCCESS)
    answer = d->cu.cuDriverGetVersion(&version);
  info->driver_version = (uint32_t)version;
  return answer == CUDA_SUCCESS ? MUSTER_OK : ops_fail_cu(d, answer, "cannot ask the device what it is");
}

/* Before the first device is asked for, the CPU device can still become one that runs the image. */
static void offer(const void *image, size_t bytes) {
  ops_part *parts;
  size_t n;
  if (ops_image_parts("", image, bytes, &parts, &n) == MUSTER_OK) {
    for (size_t i = 0; i < n; i++) {
      char *copy = parts[i].has_ptx ? malloc(parts[i].bytes + 1) : NULL; /* PTX ends with a NUL */
      if (!copy)
        continue;
      memcpy(copy, parts[i].at, parts[i].bytes);
      copy[parts[i].bytes] = 0;
      muster_driver_offer(copy);
      free(copy);
    }
    free(parts);
  }
  ops_begin();
}

muster_result muster_open(const char *choice, muster_device **device) {
  return muster_open_for(choice, NULL, 0, device);
}

muster_result muster_open_for(const char *choice, const void *image, size_t bytes, muster_device **device) {
  ops_begin();
  if (!device)
    return ops_fail(MUSTER_ERROR_ARGUMENT, "nowhere to put the device");
  *device = NULL;
  char driver[64], why[512] = "";
  int ordinal, count = 0;
  if (!choice)
    choice = getenv("MUSTER_DEVICE");
  if (!choice || !*choice)
    choice = "auto";
  if (!split_choice(choice, driver, sizeof driver, &ordinal))
    return ops_fail(MUSTER_ERROR_ARGUMENT, "device %s: expected gpu, gpu:N, cpu, cpu:PROFILE or auto",
                    choice);
  muster_device *d = calloc(1, sizeof *d);
  if (!d)
    return ops_no_memory();
  /* auto is settled here, so that it is known which of the two it became */
  bool automatic = strcmp(driver, "auto") == 0, cpu = strncmp(driver, "cpu", 3) == 0;
  bool found = muster_driver_load(&d->cu, automatic ? "gpu" : driver, why, sizeof why);
  if (!found && automatic) {
    cpu = true;
    found = muster_driver_load(&d->cu, "cpu", why, sizeof why);
  }
  if (!found) {
    free(d);
    return ops_fail(MUSTER_ERROR_NO_DEVICE, "device %s: %s", choice, why);
  }
  if (cpu && image)
    offer(image, bytes);
  CUresult answer = d->cu.cuDeviceGetCount(&count);
  muster_result r = MUSTER_OK;
  if (answer != CUDA_SUCCESS)
    r = ops_fail_cu(d, answer, "cannot count the devices");
  else if (ordinal >= count)
    r = ops_fail(MUSTER_ERROR_NO_DEVICE, "device %s: there %s %d", choice,
                 count == 1 ? "is only" : "are only", count);
  if (r == MUSTER_OK && (answer = d->cu.cuDeviceGet(&d->device, ordinal)) != CUDA_SUCCESS)
    r = ops_fail_cu(d, answer, "cannot open the device");
  if (r == MUSTER_OK && (answer = d->cu.cuDevicePrimaryCtxRetain(&d->context, d->device)) != CUDA_SUCCESS)
    r = ops_fail_cu(d, answer, "cannot make a context");
  if (r == MUSTER_OK && (answer = d->cu.cuCtxSetCurrent(d->context)) != CUDA_SUCCESS)
    r = ops_fail_cu(d, answer, "cannot use the context");
  if (r == MUSTER_OK)
    r = read_info(d);
  if (r != MUSTER_OK) {
    if (d->context)
      d->cu.cuDevicePrimaryCtxRelease(d->device);
    free(d);
    return r;
  }
  d->info.is_cpu = cpu;
  *device = d;
  return MUSTER_OK;
}

void muster_close(muster_device *device) {
  ops_begin();
  if (!device)
    return;
  device->cu.cuCtxSetCurrent(device->context);
  device->cu.cuStreamSynchronize(NULL); /* an error here was the caller's to see with muster_wait */
  while (device->modules) {
    muster_module *m = device->modules;
    device->modules = m->next;
    ops_module_free(m);
  }
  device->cu.cuDevicePrimaryCtxRelease(device->device);
  free(device->kernels);
  free(device);
}

muster_result muster_device_get(const muster_device *device, muster_device_info *info) {
  ops_begin();
  if (!device || !info || info->size < sizeof(size_t) || info->size > sizeof *info)
    return ops_fail(MUSTER_ERROR_ARGUMENT,
                    "muster_device_get: no device, or a struct that was not initialised");
  size_t size = info->size;
  memcpy(info, &device->info, size);
  info->size = size;
  return MUSTER_OK;
}

muster_result muster_wait(muster_device *device) {
  ops_begin();
  if (!device)
    return ops_fail(MUSTER_ERROR_ARGUMENT, "muster_wait: no device");
  device->cu.cuCtxSetCurrent(device->context);
  CUresult answer = device->cu.cuStreamSynchronize(NULL);
  return answer == CUDA_SUCCESS ? MUSTER_OK : ops_fail_cu(device, answer, NULL);
}

/* ------------------------------------------------------------------ memory */

muster_result muster_alloc(muster_device *device, size_t bytes, uint64_t *address) {
  ops_begin();
  if (!device || !address)
    return ops_fail(MUSTER_ERROR_ARGUMENT, "muster_alloc: no device, or nowhere to put the address");
  CUdeviceptr p = 0;
  device->cu.cuCtxSetCurrent(device->context);
  CUresult answer = device->cu.cuMemAlloc(&p, bytes ? bytes : 1);
  if (answer == CUDA_ERROR_OUT_OF_MEMORY)
    return ops_fail(MUSTER_ERROR_MEMORY, "the device has no %zu bytes left", bytes);
  if (answer != CUDA_SUCCESS)
    return ops_fail_cu(device, answer, "cannot allocate device memory");
  *address = p;
  return MUSTER_OK;
}

muster_result muster_free(muster_device *device, uint64_t address) {
  ops_begin();
  if (!device)
    return ops_fail(MUSTER_ERROR_ARGUMENT, "muster_free: no device");
  device->cu.cuCtxSetCurrent(device->context);
  CUresult answer = address ? device->cu.cuMemFree(address) : CUDA_SUCCESS;
  return answer == CUDA_SUCCESS ? MUSTER_OK : ops_fail_cu(device, answer, "cannot free device memory");
}

muster_result muster_copy_in(muster_device *device, uint64_t to, const void *from, size_t bytes) {
  ops_begin();
  if (!device || (!from && bytes))
    return ops_fail(MUSTER_ERROR_ARGUMENT, "muster_copy_in: no device, or nothing to copy from");
  device->cu.cuCtxSetCurrent(device->context);
  CUresult answer = bytes ? device->cu.cuMemcpyHtoD(to, from, bytes) : CUDA_SUCCESS;
  return answer == CUDA_SUCCESS ? MUSTER_OK : ops_fail_cu(device, answer, "cannot copy to the device");
}

muster_result muster_copy_out(muster_device *device, void *to, uint64_t from, size_t bytes) {
  ops_begin();
  if (!device || (!to && bytes))
    return ops_fail(MUSTER_ERROR_ARGUMENT, "muster_copy_out: no device, or nowhere to copy to");
  device->cu.cuCtxSetCurrent(device->context);
  CUresult answer = bytes ? device->cu.cuMemcpyDtoH(to, from, bytes) : CUDA_SUCCESS;
  return answer == CUDA_SUCCESS ? MUSTER_OK : ops_fail_cu(device, answer, "cannot copy from the device");
}

muster_result muster_fill_bytes(muster_device *device, uint64_t to, uint8_t value, size_t bytes) {
  ops_begin();
  if (!device)
    return ops_fail(MUSTER_ERROR_ARGUMENT, "muster_fill_bytes: no device");
  device->cu.cuCtxSetCurrent(device->context);
  CUresult answer = bytes ? device->cu.cuMemsetD8(to, value, bytes) : CUDA_SUCCESS;
  return answer == CUDA_SUCCESS ? MUSTER_OK : ops_fail_cu(device, answer, "cannot fill device memory");
}
