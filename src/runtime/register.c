/* register.c: what nvcc writes into a program's constructors: fat binaries, and the kernels and variables in
 * them.
 *
 * Registration only takes notes. A fat binary becomes a library of the driver when one of its kernels or
 * variables is first used (CUDA's lazy loading), and a failure then is the answer to every use of it. A
 * program compiled with -rdc=true registers one wrapper for all its objects, with a list of their fat
 * binaries: those are linked first.
 *
 * Kernels and variables are known by a host address: a kernel's stub, a variable's shadow. Template kernels
 * that several objects hold share one address; the first registration counts, for kernels and variables
 * alike, so that both mean the same module.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "driver/fatbin.h"
#include "driver/session.h"
#include "runtime/rt.h"

/* What __cudaRegisterFatBinary is given: 24 bytes in the section .nvFatBinSegment. */
struct rt_wrapper {
  uint32_t magic, version; /* version 2: device-linked, with the objects' own fat binaries in `parts` */
  const void *image;
  const void *const *parts; /* NULL-terminated */
};
enum { RT_WRAPPER_MAGIC = 0x466243b1 };

struct rt_binary {
  const struct rt_wrapper *wrapper;
  CUlibrary library;
  bool tried;
  cudaError_t error;
  const void *left_out; /* the last part that was not linked, because it cannot run here */
  void *linked;         /* the linked image, which the library may go on reading */
  struct rt_symbol *symbols;
  struct rt_binary *next;
};

enum rt_kind { RT_KERNEL, RT_VARIABLE, RT_MANAGED, RT_HANDLE };

struct rt_symbol {
  enum rt_kind kind;
  const void *key;
  struct rt_binary *binary; /* NULL for RT_HANDLE */
  const char *name;
  CUkernel kernel;
  void **host;            /* RT_MANAGED: the pointer to fill in */
  struct rt_symbol *next; /* of the same binary */
};

static pthread_mutex_t rt_lock = PTHREAD_MUTEX_INITIALIZER;
static struct rt_binary *rt_binaries;

/* Set when the process ends: what still runs on the device is then neither waited for nor unloaded. A binary
 * takes its leave in an exit handler too, so this one is registered after each, to be called before it. */
static bool rt_exiting;

static void rt_exit(void) {
  rt_exiting = true;
}

/* ------------------------------------------------------------------ addresses to symbols */

static struct rt_symbol **rt_slots; /* open addressing, at most half full; a removed one is RT_GONE */
static size_t rt_slot_count, rt_slots_used;
static struct rt_symbol rt_gone;

static size_t rt_slot_of(const void *key) {
  return ((uintptr_t)key >> 2) * 0x9e3779b97f4a7c15u >> 20 & (rt_slot_count - 1);
}

static struct rt_symbol *rt_find(const void *key) {
  if (!rt_slot_count)
    return NULL;
  for (size_t i = rt_slot_of(key); rt_slots[i]; i = (i + 1) & (rt_slot_count - 1))
    if (rt_slots[i] != &rt_gone && rt_slots[i]->key == key)
      return rt_slots[i];
  return NULL;
}

static bool rt_insert(struct rt_symbol *symbol) {
  if (rt_slots_used * 2 >= rt_slot_count) {
    const size_t old_count = rt_slot_count;
    struct rt_symbol **old = rt_slots, **grown = calloc(old_count ? old_count * 2 : 256, sizeof *grown);
    if (!grown)
      return false;
    rt_slots = grown;
    rt_slot_count = old_count ? old_count * 2 : 256;
    rt_slots_used = 0;
    for (size_t i = 0; i < old_count; i++)
      if (old[i] && old[i] != &rt_gone)
        rt_insert(old[i]);
    free(old);
  }
  size_t i = rt_slot_of(symbol->key);
  while (rt_slots[i])
    i = (i + 1) & (rt_slot_count - 1);
  rt_slots[i] = symbol;
  rt_slots_used++;
  return true;
}

static void rt_remove(struct rt_symbol *symbol) {
  for (size_t i = rt_slot_of(symbol->key); rt_slot_count && rt_slots[i]; i = (i + 1) & (rt_slot_count - 1))
    if (rt_slots[i] == symbol)
      rt_slots[i] = &rt_gone;
}

static void rt_add(struct rt_binary *binary, enum rt_kind kind, const void *key, const char *name,
                   void **host) {
  pthread_mutex_lock(&rt_lock);
  struct rt_symbol *symbol = rt_find(key) ? NULL : calloc(1, sizeof *symbol);
  if (symbol) {
    *symbol = (struct rt_symbol){.kind = kind, .key = key, .binary = binary, .name = name, .host = host};
    if (rt_insert(symbol)) {
      if (binary) {
        symbol->next = binary->symbols;
        binary->symbols = symbol;
      }
    } else {
      free(symbol);
    }
  }
  pthread_mutex_unlock(&rt_lock);
}

/* ------------------------------------------------------------------ from a fat binary to a library */

/* Whether a part of a device-linked program holds PTX that this device runs. libcudadevrt's, which every
 * program compiled with -rdc=true -arch=compute_XX has, holds PTX for the newest GPU alone. */
static bool rt_runs(const void *part, int cc) {
  fatbin_entry entry;
  const char *error;
  for (size_t at = 0; fatbin_next(part, FATBIN_UNKNOWN_BYTES, &at, &entry, &error);)
    if (entry.kind == FATBIN_KIND_PTX && (entry.suffix ? entry.sm == cc : entry.sm <= cc))
      return true;
  return false;
}

/* A fat binary's length, by its own header: magic, version, the header's bytes, those of the entries behind
 * it. */
static size_t rt_image_bytes(const void *image) {
  struct {
    uint32_t magic;
    uint16_t version, header_bytes;
    uint64_t entries_bytes;
  } header;
  memcpy(&header, image, sizeof header);
  return header.header_bytes + header.entries_bytes;
}

/* Links the objects of a program compiled with -rdc=true. An object that cannot run is left out: what needs
 * it will say so; if none can run, the driver explains. The driver's image belongs to its link state: copied.
 */
static CUresult rt_link(const muster_driver *cu, struct rt_binary *binary) {
  CUlinkState state;
  void *image;
  size_t bytes, added = 0;
  int major = 0, minor = 0;
  if (rt_cudaDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, rt_device()) !=
          cudaSuccess ||
      rt_cudaDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, rt_device()) !=
          cudaSuccess)
    return CUDA_ERROR_INVALID_DEVICE;
  CUresult result = cu->cuLinkCreate(0, NULL, NULL, &state);
  if (result != CUDA_SUCCESS)
    return result;
  for (const void *const *part = binary->wrapper->parts; result == CUDA_SUCCESS && *part; part++) {
    if (!rt_runs(*part, major * 10 + minor) && (added || part[1])) {
      binary->left_out = *part;
      continue;
    }
    result = cu->cuLinkAddData(state, CU_JIT_INPUT_FATBINARY, (void *)(uintptr_t)*part, rt_image_bytes(*part),
                               NULL, 0, NULL, NULL);
    added++;
  }
  if (result == CUDA_SUCCESS)
    result = cu->cuLinkComplete(state, &image, &bytes);
  if (result == CUDA_SUCCESS && !(binary->linked = malloc(bytes + 1)))
    result = CUDA_ERROR_OUT_OF_MEMORY;
  if (result == CUDA_SUCCESS) {
    memcpy(binary->linked, image, bytes);
    ((char *)binary->linked)[bytes] = 0; /* PTX text ends in a NUL */
    result = cu->cuLibraryLoadData(&binary->library, binary->linked, NULL, NULL, 0, NULL, NULL, 0);
  }
  cu->cuLinkDestroy(state);
  return result;
}

/* The kernel is not there; perhaps with an object that was left out. */
static cudaError_t rt_missing(const struct rt_symbol *symbol) {
  char there[256];
  if (!symbol->binary->left_out)
    return cudaErrorInvalidDeviceFunction;
  fatbin_describe(symbol->binary->left_out, FATBIN_UNKNOWN_BYTES, there, sizeof there);
  muster_session_say_once(MUSTER_MESSAGE_UNMODELLED, symbol->name,
                          "kernel %s: its object has no PTX that this GPU runs, only %s", symbol->name,
                          there);
  return cudaErrorNoKernelImageForDevice;
}

/* The library of a binary; managed variables get their addresses with it. Under the lock. */
static cudaError_t rt_load_binary(const muster_driver *cu, struct rt_binary *binary) {
  if (binary->tried)
    return binary->error;
  binary->tried = true;
  atexit(rt_exit);
  const struct rt_wrapper *wrapper = binary->wrapper;
  CUresult result;
  if (wrapper->magic != RT_WRAPPER_MAGIC || wrapper->version < 1 || wrapper->version > 2) {
    muster_session_say(MUSTER_MESSAGE_UNMODELLED,
                       "a fat binary is registered in an unknown form (magic %#x, version %u)",
                       wrapper->magic, wrapper->version);
    result = CUDA_ERROR_INVALID_IMAGE;
  } else if (wrapper->version == 2 && wrapper->parts && wrapper->parts[0] && wrapper->parts[1]) {
    result = rt_link(cu, binary);
  } else {
    const void *image =
        wrapper->version == 2 && wrapper->parts && wrapper->parts[0] ? wrapper->parts[0] : wrapper->image;
    result = cu->cuLibraryLoadData(&binary->library, image, NULL, NULL, 0, NULL, NULL, 0);
  }
  for (struct rt_symbol *symbol = binary->symbols; result == CUDA_SUCCESS && symbol; symbol = symbol->next) {
    CUdeviceptr address = 0;
    if (symbol->kind != RT_MANAGED)
      continue;
    result = cu->cuLibraryGetManaged(&address, NULL, binary->library, symbol->name);
    *symbol->host = (void *)(uintptr_t)address;
  }
  return binary->error = rt_error(result);
}

void rt_offer_binaries(void) {
  pthread_mutex_lock(&rt_lock);
  for (const struct rt_binary *binary = rt_binaries; binary; binary = binary->next)
    if (binary->wrapper->magic == RT_WRAPPER_MAGIC)
      muster_driver_offer(binary->wrapper);
  pthread_mutex_unlock(&rt_lock);
}

cudaError_t rt_kernel(const void *function, CUkernel *kernel) {
  cudaError_t error;
  const muster_driver *cu = rt_enter(&error);
  if (!cu)
    return error;
  pthread_mutex_lock(&rt_lock);
  struct rt_symbol *symbol = rt_find(function);
  if (!symbol || (symbol->kind != RT_KERNEL && symbol->kind != RT_HANDLE)) {
    /* an address that nobody registered might be a kernel's handle, and is a wrong one then */
    error = function ? cudaErrorInvalidResourceHandle : cudaErrorInvalidDeviceFunction;
  } else if (!symbol->kernel && (error = rt_load_binary(cu, symbol->binary)) == cudaSuccess) {
    const CUresult result = cu->cuLibraryGetKernel(&symbol->kernel, symbol->binary->library, symbol->name);
    error = result == CUDA_ERROR_NOT_FOUND ? rt_missing(symbol) : rt_error(result);
  }
  *kernel = symbol && error == cudaSuccess ? symbol->kernel : NULL;
  pthread_mutex_unlock(&rt_lock);
  return error;
}

cudaError_t rt_function(const void *function, CUfunction *result) {
  CUkernel kernel;
  const cudaError_t error = rt_kernel(function, &kernel);
  if (error != cudaSuccess)
    return error;
  RT_CALL(cuKernelGetFunction, result, kernel);
}

void *rt_host_of(const muster_driver *cu, CUfunction function, CUkernel kernel) {
  void *host = kernel;
  pthread_mutex_lock(&rt_lock);
  for (size_t i = 0; i < rt_slot_count; i++) {
    CUfunction its;
    const struct rt_symbol *symbol = rt_slots[i];
    if (symbol && symbol->kernel &&
        (symbol->kernel == kernel ||
         (cu->cuKernelGetFunction(&its, symbol->kernel) == CUDA_SUCCESS && its == function))) {
      host = (void *)(uintptr_t)symbol->key;
      if (symbol->kind == RT_KERNEL)
        break;
    }
  }
  pthread_mutex_unlock(&rt_lock);
  return host;
}

void rt_know_kernel(CUkernel kernel) {
  rt_add(NULL, RT_HANDLE, kernel, NULL, NULL);
  pthread_mutex_lock(&rt_lock);
  struct rt_symbol *symbol = rt_find(kernel);
  if (symbol && symbol->kind == RT_HANDLE)
    symbol->kernel = kernel;
  pthread_mutex_unlock(&rt_lock);
}

cudaError_t rt_symbol(const void *key, CUdeviceptr *address, size_t *bytes) {
  cudaError_t error;
  const muster_driver *cu = rt_enter(&error);
  if (!cu)
    return error;
  pthread_mutex_lock(&rt_lock);
  struct rt_symbol *symbol = rt_find(key);
  if (!symbol) /* a managed variable's address is what its name stands for in host code */
    for (struct rt_binary *binary = rt_binaries; binary && !symbol; binary = binary->next)
      for (struct rt_symbol *s = binary->symbols; s && !symbol; s = s->next)
        if (s->kind == RT_MANAGED && binary->library && *s->host == key)
          symbol = s;
  if (!symbol || (symbol->kind != RT_VARIABLE && symbol->kind != RT_MANAGED)) {
    error = cudaErrorInvalidSymbol;
  } else if ((error = rt_load_binary(cu, symbol->binary)) == cudaSuccess) {
    const CUresult result = cu->cuLibraryGetGlobal(address, bytes, symbol->binary->library, symbol->name);
    error = result == CUDA_ERROR_NOT_FOUND ? cudaErrorInvalidSymbol : rt_error(result);
  }
  pthread_mutex_unlock(&rt_lock);
  return error;
}

/* ------------------------------------------------------------------ what constructors call */

void **rt___cudaRegisterFatBinary(void *wrapper) {
  struct rt_binary *binary = calloc(1, sizeof *binary);
  if (!binary) {
    muster_session_say(MUSTER_MESSAGE_FAILURE, "out of host memory while a fat binary registers");
    abort();
  }
  binary->wrapper = wrapper;
  pthread_mutex_lock(&rt_lock);
  binary->next = rt_binaries;
  rt_binaries = binary;
  pthread_mutex_unlock(&rt_lock);
  return (void **)binary;
}

void rt___cudaRegisterFatBinaryEnd(void **handle) {
  (void)handle;
}

void rt___cudaUnregisterFatBinary(void **handle) {
  struct rt_binary *binary = (struct rt_binary *)handle;
  pthread_mutex_lock(&rt_lock);
  struct rt_binary **link = &rt_binaries;
  while (*link && *link != binary)
    link = &(*link)->next;
  if (*link) {
    *link = binary->next;
    while (binary->symbols) {
      struct rt_symbol *symbol = binary->symbols;
      binary->symbols = symbol->next;
      rt_remove(symbol);
      free(symbol);
    }
    cudaError_t why;
    const muster_driver *cu = binary->library && !rt_exiting ? rt_driver(&why) : NULL;
    if (cu)
      cu->cuLibraryUnload(binary->library);
    free(binary->linked);
    free(binary);
  }
  pthread_mutex_unlock(&rt_lock);
}

void rt___cudaRegisterFunction(void **handle, const char *host, char *device_name, const char *name,
                               int thread_limit, void *thread, void *block, void *block_dim, void *grid_dim,
                               int *warp_size) {
  (void)name, (void)thread_limit, (void)thread, (void)block, (void)block_dim, (void)grid_dim, (void)warp_size;
  rt_add((struct rt_binary *)handle, RT_KERNEL, host, device_name, NULL);
}

void rt___cudaRegisterVar(void **handle, char *host, char *device_name, const char *name, int external,
                          size_t bytes, int constant, int global) {
  (void)name, (void)external, (void)bytes, (void)constant, (void)global;
  rt_add((struct rt_binary *)handle, RT_VARIABLE, host, device_name, NULL);
}

void rt___cudaRegisterManagedVar(void **handle, void **host, char *device_name, const char *name,
                                 int external, size_t bytes, int constant, int global) {
  (void)name, (void)external, (void)bytes, (void)constant, (void)global;
  rt_add((struct rt_binary *)handle, RT_MANAGED, host, device_name, host);
}

/* Called before host code first touches a managed variable. */
char rt___cudaInitModule(void **handle) {
  cudaError_t error;
  const muster_driver *cu = rt_enter(&error);
  if (cu) {
    pthread_mutex_lock(&rt_lock);
    error = rt_load_binary(cu, (struct rt_binary *)handle);
    pthread_mutex_unlock(&rt_lock);
  }
  return error == cudaSuccess;
}

/* Called at each place of a launch, before it. What hinders the kernel is told by the launch: until then the
 * stub's address serves as its handle. */
cudaError_t rt___cudaGetKernel(cudaKernel_t *kernel, const void *host) {
  if (rt_kernel(host, kernel) == cudaSuccess)
    rt_know_kernel(*kernel);
  else
    *kernel = (cudaKernel_t)(uintptr_t)host;
  return cudaSuccess;
}

cudaError_t rt_cudaGetKernel(cudaKernel_t *kernel, const void *function) {
  const cudaError_t error = kernel ? rt_kernel(function, kernel) : cudaErrorInvalidValue;
  if (error == cudaSuccess)
    rt_know_kernel(*kernel);
  return error;
}

cudaError_t rt_cudaGetFuncBySymbol(cudaFunction_t *function, const void *symbol) {
  return function ? rt_function(symbol, function) : cudaErrorInvalidValue;
}

cudaError_t rt_cudaGetSymbolAddress(void **pointer, const void *symbol) {
  CUdeviceptr address = 0;
  if (!pointer)
    return cudaErrorInvalidValue;
  const cudaError_t error = rt_symbol(symbol, &address, NULL);
  *pointer = (void *)(uintptr_t)address;
  return error;
}

cudaError_t rt_cudaGetSymbolSize(size_t *bytes, const void *symbol) {
  CUdeviceptr address;
  return bytes ? rt_symbol(symbol, &address, bytes) : cudaErrorInvalidValue;
}
