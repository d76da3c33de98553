/* device.c: cuInit, and the devices: how many, of which profile, with how much memory, what they answer to
 * queries. The machine behind a device is made with its first context and ended with its last, so that a
 * program that only looks costs nothing, and a device with a sticky error can be had anew.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver/drv.h"
#include "driver/fatbin.h"

drv_device drv_devices[DRV_DEVICES];
int drv_device_count;
static bool settled; /* somebody asked for a device: its profile stays */
static bool forked;  /* this process is a child of the one that used the device: CUDA cannot be used in it */

/* The need of all images offered so far: the PTX version and suffix, per image the least that it can do with.
 */
static struct need {
  int sm;
  char suffix;
} needs[256];
static unsigned n_needs;

bool drv_initialised(void) {
  return drv_device_count > 0 && !forked;
}

static void settle(void);

drv_device *drv_device_at(CUdevice device) {
  if (!settled)
    settle();
  return device >= 0 && device < drv_device_count ? &drv_devices[device] : NULL;
}

/* ------------------------------------------------------------------ choosing a profile */

static void need(int sm, char suffix) {
  for (unsigned i = 0; i < n_needs; i++)
    if (needs[i].sm == sm && needs[i].suffix == suffix)
      return;
  if (n_needs < sizeof needs / sizeof needs[0])
    needs[n_needs++] = (struct need){sm, suffix};
}

void muster_cpu_offer(const void *image) {
  const void *const *units = NULL;
  if (fatbin_format_of(image, FATBIN_UNKNOWN_BYTES) == FATBIN_WRAPPER) {
    const void *fat = NULL;
    if (!fatbin_unwrap(image, &fat, &units))
      return;
    image = fat;
  }
  drv_lock();
  if (fatbin_format_of(image, FATBIN_UNKNOWN_BYTES) == FATBIN_PTX) {
    int sm;
    char suffix;
    if (fatbin_ptx_target(image, &sm, &suffix))
      need(sm, suffix);
  }
  for (size_t u = 0; image; image = units ? units[u++] : NULL) {
    fatbin_entry e, least = {.sm = 0};
    const char *error;
    if (fatbin_format_of(image, FATBIN_UNKNOWN_BYTES) != FATBIN_FAT)
      break;
    for (size_t at = 0; fatbin_next(image, FATBIN_UNKNOWN_BYTES, &at, &e, &error);)
      if (e.kind == FATBIN_KIND_PTX && (least.sm == 0 || e.sm < least.sm || (e.sm == least.sm && !e.suffix)))
        least = e;
    if (least.sm)
      need(least.sm, least.suffix);
  }
  drv_unlock();
}

static bool runs_all(const drv_profile *p) {
  for (unsigned i = 0; i < n_needs; i++)
    if (!drv_ptx_runs(needs[i].sm, needs[i].suffix, p->cc))
      return false;
  return true;
}

static const drv_profile *choose_profile(void) {
  const char *name = muster_session_get()->gpu;
  const drv_profile *usual = drv_profile_named("rtx4090");
  if (strcmp(name, "auto") != 0)
    return drv_profile_named(name);
  if (runs_all(usual))
    return usual;
  for (unsigned i = 0; i < drv_profile_count; i++)
    if (runs_all(&drv_profiles[i])) {
      muster_session_say(MUSTER_MESSAGE_NOTE, "--gpu %s: the smallest GPU that runs the program's PTX",
                         drv_profiles[i].name);
      return &drv_profiles[i];
    }
  return usual; /* no GPU runs it all: loading says so */
}

/* Half of what this process may have: the machine's memory, or the limit of its control group. */
static uint64_t host_half(void) {
  uint64_t bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
  FILE *f = fopen("/sys/fs/cgroup/memory.max", "r");
  unsigned long long limit;
  if (f) {
    if (fscanf(f, "%llu", &limit) == 1 && limit < bytes)
      bytes = limit;
    fclose(f);
  }
  return bytes / 2;
}

/* Images may be offered until a device is first asked for: only then is it known what GPU it is. */
static void settle(void) {
  if (drv_device_count == 0)
    return;
  settled = true;
  const drv_profile *p = choose_profile();
  uint64_t memory = (uint64_t)p->memory_mib << 20, half = host_half();
  for (int i = 0; i < drv_device_count; i++) {
    drv_devices[i].profile = p;
    drv_devices[i].memory_bytes = (memory < half ? memory : half) & ~(uint64_t)0xfffff;
  }
}

bool muster_cpu_select(const char *profile, char *why, size_t why_bytes) {
  muster_session s = *muster_session_get();
  if (strcmp(profile, "auto") != 0 && !drv_profile_named(profile)) {
    char all[256];
    drv_profile_list_for(0, 0, all, sizeof all);
    snprintf(why, why_bytes, "no profile \"%s\": there are auto, %s", profile, all);
    return false;
  }
  snprintf(s.gpu, sizeof s.gpu, "%s", profile);
  if (muster_session_set(&s))
    return true;
  drv_lock();
  drv_device *d = drv_device_at(0);
  drv_unlock();
  if (strcmp(d->profile->name, profile) == 0)
    return true;
  snprintf(why, why_bytes, "the CPU device already runs as %s", drv_devices[0].profile->name);
  return false;
}

static void in_child(void) {
  forked = drv_device_count > 0;
  drv_lock_reset();
}

CUresult drv_cuInit(unsigned flags) {
  if (flags != 0)
    return CUDA_ERROR_INVALID_VALUE;
  const muster_session *s = muster_session_get();
  drv_lock();
  CUresult r = forked ? CUDA_ERROR_NOT_INITIALIZED : CUDA_SUCCESS;
  if (r == CUDA_SUCCESS && drv_device_count == 0) {
    for (uint32_t i = 0; i < s->gpus; i++) {
      drv_device *d = &drv_devices[i];
      d->ordinal = (int)i;
      d->default_pool = (drv_pool){.device = d, .is_default = true, .reuse = {0, 1, 1, 1}};
      d->pool = &d->default_pool;
      d->state = SIM_IDLE;
      if (!drv_handle_add(&d->default_pool, DRV_POOL))
        r = CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (r == CUDA_SUCCESS) {
      drv_device_count = (int)s->gpus;
      muster_session_freeze();
      pthread_atfork(NULL, NULL, in_child);
    }
  }
  drv_unlock();
  return r;
}

CUresult drv_cuDriverGetVersion(int *version) {
  if (!version)
    return CUDA_ERROR_INVALID_VALUE;
  *version = CUDA_VERSION;
  return CUDA_SUCCESS;
}

/* ------------------------------------------------------------------ queries */

CUresult drv_cuDeviceGet(CUdevice *device, int ordinal) {
  if (!device)
    return CUDA_ERROR_INVALID_VALUE;
  if (!drv_device_at(ordinal))
    return CUDA_ERROR_INVALID_DEVICE;
  *device = ordinal;
  return CUDA_SUCCESS;
}

CUresult drv_cuDeviceGetCount(int *count) {
  if (!count)
    return CUDA_ERROR_INVALID_VALUE;
  *count = drv_device_count;
  return CUDA_SUCCESS;
}

CUresult drv_cuDeviceGetName(char *name, int bytes, CUdevice device) {
  drv_device *d = drv_device_at(device);
  if (!name || bytes <= 0)
    return CUDA_ERROR_INVALID_VALUE;
  if (!d)
    return CUDA_ERROR_INVALID_DEVICE;
  snprintf(name, (size_t)bytes, "%s", d->profile->title);
  return CUDA_SUCCESS;
}

CUresult drv_cuDeviceGetUuid(CUuuid *uuid, CUdevice device) {
  drv_device *d = drv_device_at(device);
  if (!uuid)
    return CUDA_ERROR_INVALID_VALUE;
  if (!d)
    return CUDA_ERROR_INVALID_DEVICE;
  memset(uuid, 0, sizeof *uuid);
  snprintf(uuid->bytes, sizeof uuid->bytes, "muster %.7s", d->profile->name);
  uuid->bytes[15] = (char)d->ordinal;
  return CUDA_SUCCESS;
}

CUresult drv_cuDeviceTotalMem(size_t *bytes, CUdevice device) {
  drv_device *d = drv_device_at(device);
  if (!bytes)
    return CUDA_ERROR_INVALID_VALUE;
  if (!d)
    return CUDA_ERROR_INVALID_DEVICE;
  *bytes = d->memory_bytes;
  return CUDA_SUCCESS;
}

CUresult drv_cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device) {
  drv_device *d = drv_device_at(device);
  if (!value)
    return CUDA_ERROR_INVALID_VALUE;
  if (!d)
    return CUDA_ERROR_INVALID_DEVICE;
  const drv_profile *p = d->profile;
  switch ((int)attribute) {
#define ATTRIBUTE(name, number, expression) \
  case number:                              \
    *value = expression;                    \
    return CUDA_SUCCESS;
#include "driver/attribute.def"
  }
  return CUDA_ERROR_INVALID_VALUE;
}

CUresult drv_cuDeviceGetProperties(CUdevprop *to, CUdevice device) {
  drv_device *d = drv_device_at(device);
  if (!to)
    return CUDA_ERROR_INVALID_VALUE;
  if (!d)
    return CUDA_ERROR_INVALID_DEVICE;
  static const struct {
    CUdevice_attribute attribute;
    size_t at;
  } fields[] = {
      {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, offsetof(CUdevprop, maxThreadsPerBlock)},
      {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, offsetof(CUdevprop, maxThreadsDim[0])},
      {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, offsetof(CUdevprop, maxThreadsDim[1])},
      {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, offsetof(CUdevprop, maxThreadsDim[2])},
      {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, offsetof(CUdevprop, maxGridSize[0])},
      {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, offsetof(CUdevprop, maxGridSize[1])},
      {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, offsetof(CUdevprop, maxGridSize[2])},
      {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, offsetof(CUdevprop, sharedMemPerBlock)},
      {CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY, offsetof(CUdevprop, totalConstantMemory)},
      {CU_DEVICE_ATTRIBUTE_WARP_SIZE, offsetof(CUdevprop, SIMDWidth)},
      {CU_DEVICE_ATTRIBUTE_MAX_PITCH, offsetof(CUdevprop, memPitch)},
      {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, offsetof(CUdevprop, regsPerBlock)},
      {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, offsetof(CUdevprop, clockRate)},
      {CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT, offsetof(CUdevprop, textureAlign)},
  };
  for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
    drv_cuDeviceGetAttribute((int *)(void *)((char *)to + fields[i].at), fields[i].attribute, device);
  return CUDA_SUCCESS;
}

CUresult drv_cuDeviceComputeCapability(int *major, int *minor, CUdevice device) {
  drv_device *d = drv_device_at(device);
  if (!major || !minor)
    return CUDA_ERROR_INVALID_VALUE;
  if (!d)
    return CUDA_ERROR_INVALID_DEVICE;
  *major = d->profile->cc / 10;
  *minor = d->profile->cc % 10;
  return CUDA_SUCCESS;
}

CUresult drv_cuDeviceGetPCIBusId(char *id, int bytes, CUdevice device) {
  drv_device *d = drv_device_at(device);
  if (!id || bytes <= 0)
    return CUDA_ERROR_INVALID_VALUE;
  if (!d)
    return CUDA_ERROR_INVALID_DEVICE;
  if (snprintf(id, (size_t)bytes, "0000:%02X:00.0", d->ordinal + 1) >= bytes)
    return CUDA_ERROR_INVALID_VALUE;
  return CUDA_SUCCESS;
}

CUresult drv_cuDeviceGetByPCIBusId(CUdevice *device, const char *id) {
  unsigned domain, bus, slot, function = 0;
  if (!device || !id)
    return CUDA_ERROR_INVALID_VALUE;
  if (sscanf(id, "%x:%x:%x.%x", &domain, &bus, &slot, &function) < 3) {
    domain = 0;
    if (sscanf(id, "%x:%x.%x", &bus, &slot, &function) < 2)
      return CUDA_ERROR_INVALID_VALUE;
  }
  if (domain != 0 || slot != 0 || function != 0 || !drv_device_at((int)bus - 1))
    return CUDA_ERROR_INVALID_DEVICE;
  *device = (int)bus - 1;
  return CUDA_SUCCESS;
}

CUresult drv_cuDeviceGetTexture1DLinearMaxWidth(size_t *elements, int format, unsigned channels,
                                                CUdevice device) {
  (void)format;
  if (!elements || channels == 0 || channels > 4 || channels == 3)
    return CUDA_ERROR_INVALID_VALUE;
  if (!drv_device_at(device))
    return CUDA_ERROR_INVALID_DEVICE;
  *elements = 268435456;
  return CUDA_SUCCESS;
}

/* ------------------------------------------------------------------ pairs of devices */

CUresult drv_cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer) {
  if (!can)
    return CUDA_ERROR_INVALID_VALUE;
  if (!drv_device_at(device) || !drv_device_at(peer))
    return CUDA_ERROR_INVALID_DEVICE;
  *can = device != peer;
  return CUDA_SUCCESS;
}

CUresult drv_cuDeviceGetP2PAttribute(int *value, CUdevice_P2PAttribute attribute, CUdevice from,
                                     CUdevice to) {
  if (!value || attribute < CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK ||
      attribute > CU_DEVICE_P2P_ATTRIBUTE_ONLY_PARTIAL_NATIVE_ATOMIC_SUPPORTED)
    return CUDA_ERROR_INVALID_VALUE;
  if (!drv_device_at(from) || !drv_device_at(to) || from == to)
    return CUDA_ERROR_INVALID_DEVICE;
  *value = attribute == CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED ||
           attribute == CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED;
  return CUDA_SUCCESS;
}

/* ------------------------------------------------------------------ profiler: nothing to switch */

CUresult drv_cuProfilerStart(void) {
  return CUDA_SUCCESS;
}

CUresult drv_cuProfilerStop(void) {
  return CUDA_SUCCESS;
}
