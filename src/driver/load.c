/* load.c: takes the driver API's functions from NVIDIA's driver or from the CPU device, at run time. Whoever
 * uses this file is linked with neither. */
#define _GNU_SOURCE
#include "driver/driver.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *muster_driver_error_name(CUresult r) {
  switch (r) {
#define RESULT(name, value, text) \
  case name:                      \
    return #name;
#include "driver/result.def"
  }
  return NULL;
}

const char *muster_driver_error_text(CUresult r) {
  switch (r) {
#define RESULT(name, value, text) \
  case name:                      \
    return text;
#include "driver/result.def"
  }
  return NULL;
}

/* In the place of a function that an older driver does not have; reading no arguments is fine in every ABI
 * here. */
static CUresult absent(void) {
  return CUDA_ERROR_NOT_SUPPORTED;
}

static bool from_nvidia(muster_driver *to, char *why, size_t why_bytes) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    snprintf(why, why_bytes, "no NVIDIA driver: %s", dlerror());
    return false;
  }
  if (dlsym(library, "muster_is_cpu")) { /* our own library of that name: no GPU at all */
    snprintf(why, why_bytes, "no NVIDIA driver: libcuda.so.1 is the CPU device's");
    return false;
  }
  void *found;
#define DRIVER(base, suffix, since, needs, per_thread, parameters, arguments) \
  found = dlsym(library, #base #suffix);                                      \
  to->base = (CUresult(*) parameters)(uintptr_t)(found ? found : (void *)(uintptr_t)absent);
#include "driver/driver.def"
  CUresult r = to->cuInit(0);
  int count = 0;
  if (r == CUDA_SUCCESS)
    r = to->cuDeviceGetCount(&count);
  if (r == CUDA_SUCCESS && count > 0)
    return true;
  const char *name = muster_driver_error_name(r);
  snprintf(why, why_bytes, "no GPU: %s",
           r == CUDA_SUCCESS ? "the driver counts none"
           : name            ? name
                             : "unknown error");
  return false;
}

/* Of the CPU device, if that was chosen. */
static void (*offer)(const void *image);
static bool (*counted)(CUfunction function);
static void (*api_error)(const char *function, const char *error);

void muster_driver_offer(const void *image) {
  if (offer)
    offer(image);
}

void muster_driver_api_error(const char *function, const char *error) {
  if (api_error)
    api_error(function, error);
}

bool muster_driver_counted(CUfunction function) {
  return !counted || counted(function);
}

/* libmuster-cpu.so: where this very code lies, in lib/muster beside its folder, or where the loader looks. */
static void *open_device(void) {
  static const char *const places[] = {"", "/../lib/muster", "/muster"};
  char path[4096];
  Dl_info self;
  const char *folder = ".";
  size_t folder_bytes = 1;
  if (dladdr((void *)(uintptr_t)open_device, &self) && self.dli_fname && strrchr(self.dli_fname, '/')) {
    folder = self.dli_fname;
    folder_bytes = (size_t)(strrchr(self.dli_fname, '/') - self.dli_fname);
  }
  for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
    int n = snprintf(path, sizeof path, "%.*s%s/libmuster-cpu.so.0", (int)folder_bytes, folder, places[i]);
    void *library = n > 0 && (size_t)n < sizeof path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    if (library)
      return library;
  }
  return dlopen("libmuster-cpu.so.0", RTLD_NOW | RTLD_LOCAL);
}

static bool from_cpu(muster_driver *to, const char *profile, char *why, size_t why_bytes) {
  void *library = open_device();
  if (!library) {
    snprintf(why, why_bytes, "no CPU device: %s", dlerror());
    return false;
  }
  bool (*select)(const char *, char *, size_t) =
      (bool (*)(const char *, char *, size_t))(uintptr_t)dlsym(library, "muster_cpu_select");
  const muster_driver *(*table)(void) =
      (const muster_driver *(*)(void))(uintptr_t)dlsym(library, "muster_driver_cpu");
  if (!select || !table) {
    snprintf(why, why_bytes, "no CPU device: libmuster-cpu.so.0 is of another version");
    return false;
  }
  if (profile && !select(profile, why, why_bytes))
    return false;
  *to = *table();
  counted = (bool (*)(CUfunction))(uintptr_t)dlsym(library, "muster_cpu_counted");
  api_error = (void (*)(const char *, const char *))(uintptr_t)dlsym(library, "muster_cpu_api_error");
  offer = (void (*)(const void *))(uintptr_t)dlsym(library, "muster_cpu_offer");
  CUresult r = to->cuInit(0);
  if (r != CUDA_SUCCESS)
    snprintf(why, why_bytes, "the CPU device does not start: %s", muster_driver_error_name(r));
  return r == CUDA_SUCCESS;
}

bool muster_driver_load(muster_driver *to, const char *choice, char *why, size_t why_bytes) {
  if (!choice)
    choice = getenv("MUSTER_DEVICE");
  if (!choice || !*choice)
    choice = "auto";
  why[0] = 0;
  if (strcmp(choice, "gpu") == 0)
    return from_nvidia(to, why, why_bytes);
  if (strcmp(choice, "cpu") == 0)
    return from_cpu(to, NULL, why, why_bytes);
  if (strncmp(choice, "cpu:", 4) == 0)
    return from_cpu(to, choice + 4, why, why_bytes);
  if (strcmp(choice, "auto") == 0)
    return from_nvidia(to, why, why_bytes) || from_cpu(to, NULL, why, why_bytes);
  snprintf(why, why_bytes, "no device \"%s\": there are gpu, cpu, cpu:PROFILE and auto", choice);
  return false;
}
