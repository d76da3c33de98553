/* ops.h: what the files of src/ops share: the objects behind muster.h, and the way errors get their words. */
#ifndef MUSTER_OPS_H
#define MUSTER_OPS_H

#include <stdbool.h>

#include "muster.h"
#include "driver/driver.h"

struct muster_device {
  muster_driver cu;
  CUdevice device;
  CUcontext context;
  bool lost; /* a launch failed: the context is good for nothing any more */
  muster_device_info info;
  muster_module *modules;      /* a list; a device takes its modules along */
  struct ops_kernels *kernels; /* of the whole-device operations; NULL: none asked for yet */
};

struct muster_kernel {
  muster_module *module;
  CUmodule part;
  CUfunction function; /* NULL until somebody asks for the kernel: the driver loads bodies lazily too */
  char *plain;         /* "ns::scale", or the name itself where it is not mangled */
  muster_kernel_info info;
  size_t *parameter_bytes;
};

struct muster_module {
  muster_device *device;
  muster_module *next;
  CUmodule *parts; /* an ELF file can carry several */
  size_t n_parts;
  muster_kernel *kernels;
  size_t n_kernels;
};

/* result.c */
void ops_begin(void); /* a call begins: it has not failed yet */
/* Notes why the current call fails and returns `result`. */
muster_result ops_fail(muster_result result, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same for what the driver answered to `what` (NULL: the caller's next word says it); marks the device
 * lost where that is so. */
muster_result ops_fail_cu(muster_device *device, CUresult answer, const char *what);
muster_result ops_no_memory(void);

/* image.c: what of an image can be given to the driver. */
typedef enum ops_part_kind { OPS_PTX, OPS_FATBIN, OPS_CUBIN } ops_part_kind;
typedef struct ops_part {
  ops_part_kind kind;
  const uint8_t *at;
  size_t bytes;
  bool has_ptx;     /* of a fat binary: at least one of its entries is PTX */
  bool relocatable; /* compiled with -rdc=true: has to be linked with its kind */
} ops_part;
/* Finds the parts of an image; free(*parts) in the end. They point into the image. */
muster_result ops_image_parts(const char *name, const uint8_t *image, size_t bytes, ops_part **parts,
                              size_t *n);

/* module.c */
muster_result ops_kernel_load(muster_kernel *k); /* so that its function and info are there */
/* The register count as it is known by now: the driver may have had it counted since. */
void ops_kernel_registers(muster_kernel *k);
void ops_module_free(muster_module *m); /* without taking it off the device's list */

#endif
