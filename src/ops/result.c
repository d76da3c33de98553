/* result.c: results and their words.
 *
 * The words belong to the thread, so that a device that could not even be opened has some. Every public
 * function that can fail begins with ops_begin; only ops_fail and its kin write them.
 */
#include "ops.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local char words[8192];

const char *muster_result_name(muster_result result) {
  switch (result) {
#define RESULT(name, number, text) \
  case name:                       \
    return #name;
#include "muster/result.def"
  }
  return "an unknown result";
}

const char *muster_result_text(muster_result result) {
  switch (result) {
#define RESULT(name, number, text) \
  case name:                       \
    return text;
#include "muster/result.def"
  }
  return "an unknown result";
}

const char *muster_message(void) {
  return words;
}

void ops_begin(void) {
  words[0] = 0;
}

muster_result ops_fail(muster_result result, const char *format, ...) {
  va_list list;
  va_start(list, format);
  vsnprintf(words, sizeof words, format, list);
  va_end(list);
  for (size_t n = strlen(words); n > 0 && words[n - 1] == '\n'; n--)
    words[n - 1] = 0;
  return result;
}

muster_result ops_no_memory(void) {
  return ops_fail(MUSTER_ERROR_MEMORY, "out of host memory");
}

static muster_result meaning(CUresult answer) {
  switch (answer) {
  case CUDA_SUCCESS:
    return MUSTER_OK;
  case CUDA_ERROR_OUT_OF_MEMORY:
    return MUSTER_ERROR_MEMORY;
  case CUDA_ERROR_NO_DEVICE:
  case CUDA_ERROR_INVALID_DEVICE:
  case CUDA_ERROR_DEVICE_UNAVAILABLE:
    return MUSTER_ERROR_NO_DEVICE;
  case CUDA_ERROR_NOT_SUPPORTED:
    return MUSTER_ERROR_NOT_MODELLED;
  case CUDA_ERROR_STUB_LIBRARY:
  case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
  case CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER:
    return MUSTER_ERROR_DRIVER;
  case CUDA_ERROR_INVALID_PTX:
  case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
    return MUSTER_ERROR_PTX;
  case CUDA_ERROR_NO_BINARY_FOR_GPU:
    return MUSTER_ERROR_NO_CODE;
  case CUDA_ERROR_INVALID_IMAGE:
  case CUDA_ERROR_INVALID_SOURCE:
    return MUSTER_ERROR_IMAGE;
  case CUDA_ERROR_NOT_FOUND:
    return MUSTER_ERROR_NOT_FOUND;
  case CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE:
    return MUSTER_ERROR_LAUNCH_TOO_LARGE;
  case CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES:
  case CUDA_ERROR_INVALID_CLUSTER_SIZE:
    return MUSTER_ERROR_LAUNCH_SHAPE;
  case CUDA_ERROR_ILLEGAL_ADDRESS:
  case CUDA_ERROR_LAUNCH_TIMEOUT:
  case CUDA_ERROR_ASSERT:
  case CUDA_ERROR_HARDWARE_STACK_ERROR:
  case CUDA_ERROR_ILLEGAL_INSTRUCTION:
  case CUDA_ERROR_MISALIGNED_ADDRESS:
  case CUDA_ERROR_INVALID_ADDRESS_SPACE:
  case CUDA_ERROR_INVALID_PC:
  case CUDA_ERROR_LAUNCH_FAILED:
    return MUSTER_ERROR_LAUNCH_FAILED;
  default:
    return MUSTER_ERROR_ARGUMENT;
  }
}

muster_result ops_fail_cu(muster_device *device, CUresult answer, const char *what) {
  muster_result result = meaning(answer);
  const char *name = muster_driver_error_name(answer), *text = muster_driver_error_text(answer);
  if (result == MUSTER_ERROR_LAUNCH_FAILED && device) {
    if (device->lost)
      result = MUSTER_ERROR_DEVICE_LOST;
    device->lost = true;
  }
  return ops_fail(result, "%s%s%s (%s)", what ? what : "", what ? ": " : "", text ? text : "unknown error",
                  name ? name : "unknown");
}
