/* gpu.c: see gpu.h. The driver is opened at run time, so that building needs no toolkit. */
#include "gpu.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* The driver API's launch attributes, as far as they are used: id, and a value of 64 bytes. */
typedef struct attribute {
  int id;
  int pad;
  union {
    struct {
      unsigned x, y, z;
    } cluster;
    int cooperative;
    char bytes[64];
  } value;
} attribute;

typedef struct config {
  unsigned grid[3], block[3], shared;
  void *stream;
  attribute *attributes;
  unsigned n_attributes;
} config;

enum { ATTRIBUTE_COOPERATIVE = 2, ATTRIBUTE_CLUSTER = 4 };

static struct {
  void *library;
  int (*init)(unsigned);
  int (*retain)(void **, int);
  int (*set_current)(void *);
  int (*load)(void **, const void *, unsigned, int *, void **);
  int (*get)(void **, void *, const char *);
  int (*alloc)(uint64_t *, size_t);
  int (*to_device)(uint64_t, const void *, size_t);
  int (*to_host)(void *, uint64_t, size_t);
  int (*launch)(const config *, void *, void **, void **);
  int (*wait)(void);
  int (*set)(void *, int, int);
} cu;

static bool open_driver(char *why, size_t size) {
  static const struct {
    const char *name;
    void *to;
  } names[] = {{"cuInit", &cu.init},
               {"cuDevicePrimaryCtxRetain", &cu.retain},
               {"cuCtxSetCurrent", &cu.set_current},
               {"cuModuleLoadDataEx", &cu.load},
               {"cuModuleGetFunction", &cu.get},
               {"cuMemAlloc_v2", &cu.alloc},
               {"cuMemcpyHtoD_v2", &cu.to_device},
               {"cuMemcpyDtoH_v2", &cu.to_host},
               {"cuLaunchKernelEx", &cu.launch},
               {"cuCtxSynchronize", &cu.wait},
               {"cuFuncSetAttribute", &cu.set}};
  if (cu.library)
    return true;
  cu.library = dlopen("libcuda.so.1", RTLD_NOW);
  for (size_t k = 0; cu.library && k < sizeof names / sizeof names[0]; k++) {
    void *f = dlsym(cu.library, names[k].name);
    memcpy(names[k].to, &f, sizeof f);
    if (!f) {
      snprintf(why, size, "the driver has no %s", names[k].name);
      return false;
    }
  }
  void *context;
  if (!cu.library || cu.init(0) || cu.retain(&context, 0) || cu.set_current(context)) {
    snprintf(why, size, "no driver, or no GPU");
    return false;
  }
  return true;
}

void *gpu_load(const char *text, const char *kernel, char *why, size_t size) {
  void *module, *function, *values[2] = {why, (void *)(uintptr_t)size};
  int options[2] = {5, 6}; /* the error log, and its size */
  if (!open_driver(why, size))
    return NULL;
  int e = cu.load(&module, text, 2, options, values);
  if (e || (e = cu.get(&function, module, kernel))) {
    if (!why[0])
      snprintf(why, size, "loading: error %d", e);
    return NULL;
  }
  return function;
}

uint64_t gpu_new(uint64_t bytes) {
  uint64_t at = 0;
  return cu.alloc(&at, bytes) ? 0 : at;
}

void gpu_copy(uint64_t device, void *host, uint64_t bytes, bool to_device) {
  if (to_device)
    cu.to_device(device, host, bytes);
  else
    cu.to_host(host, device, bytes);
}

bool gpu_launch(void *kernel, const uint32_t grid[3], const uint32_t block[3], const uint32_t cluster[3],
                uint32_t shared, bool cooperative, void **values, char *why, size_t size) {
  attribute a[2];
  config c = {.shared = shared, .attributes = a};
  memset(a, 0, sizeof a);
  memcpy(c.grid, grid, sizeof c.grid);
  memcpy(c.block, block, sizeof c.block);
  if (cluster[0]) {
    a[c.n_attributes].id = ATTRIBUTE_CLUSTER;
    a[c.n_attributes].value.cluster.x = cluster[0];
    a[c.n_attributes].value.cluster.y = cluster[1];
    a[c.n_attributes++].value.cluster.z = cluster[2];
  }
  if (cooperative) {
    a[c.n_attributes].id = ATTRIBUTE_COOPERATIVE;
    a[c.n_attributes++].value.cooperative = 1;
  }
  if (shared)
    cu.set(kernel, 8, (int)shared);
  int e = cu.launch(&c, kernel, values, NULL);
  if (!e)
    e = cu.wait();
  if (e)
    snprintf(why, size, "launch: error %d", e);
  return !e;
}
