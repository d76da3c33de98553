/* operation.h: what the host side of the whole-device operations shares: wrong calls refused, kernels found.
 */
#ifndef MUSTER_OPS_OPERATION_H
#define MUSTER_OPS_OPERATION_H

#include "ops.h"
#include "kernels/layout.h"

/* ------------------------------------------------------------------ kernels.c */
/* The files of kernels; each is compiled once for each element type that it has. */
typedef enum ops_file {
  OPS_FILE_reduce,
  OPS_FILE_scan,
  OPS_FILE_scan_extreme,
  OPS_FILE_select,
  OPS_FILE_histogram,
  OPS_FILE_histogram_range,
  OPS_FILE_map,
  OPS_FILE_convert,
  OPS_FILE_segments,
  OPS_FILES
} ops_file;
enum { OPS_VARIANTS = 64 }; /* kernels of a file, of one element type, at most */

typedef struct ops_kernels ops_kernels; /* a device's: what was loaded so far */

/* The kernel whose name is NAME_ELEM, where `format` makes NAME; `variant` is its number in `file`, and the
 * name is only asked for at its first use, which also loads the file. */
muster_result ops_kernel_of(muster_device *device, ops_file file, muster_elem elem, unsigned variant,
                            muster_kernel **kernel, const char *format, ...)
    __attribute__((format(printf, 6, 7)));
/* Launches blocks of `threads` threads on the call's stream. */
muster_result ops_launch(muster_kernel *kernel, const muster_call *call, uint32_t blocks, uint32_t threads,
                         size_t shared_bytes, void **parameters);

/* ------------------------------------------------------------------ call.c */
/* What an operation does with an array. What it writes must not overlap any other, nor the workspace;
 * IN_PLACE, it may be where an operand is. */
typedef enum ops_use { OPS_READ, OPS_WRITTEN, OPS_IN_PLACE } ops_use;
typedef struct ops_array {
  const char *name; /* in messages */
  uint64_t address, n;
  unsigned elem_bytes;
  ops_use use;
} ops_array;

/* Copies the caller's struct, whose size says what it has, and refuses what the contract in muster.h names.
 */
muster_result ops_call_begin(const char *what, const muster_device *device, const muster_call *from,
                             muster_call *to, uint64_t workspace_bytes, const ops_array *arrays, size_t n);

const char *ops_elem_name(muster_elem elem); /* "f32" */
unsigned ops_elem_bytes(muster_elem elem);   /* 0: no element type */
bool ops_is_float(muster_elem elem);
bool ops_is_signed(muster_elem elem);        /* a signed integer */
muster_elem ops_unsigned_of(unsigned bytes); /* the unsigned integer of that size */
ops_order ops_order_of(muster_elem elem, bool greatest, muster_nan nan);

/* ------------------------------------------------------------------ scan_extreme.c */
uint64_t ops_tiles(uint64_t n, uint64_t tile); /* how many tiles n elements are; at least 1 */
/* muster_scan of least and greatest elements. */
muster_result ops_scan_extreme_workspace(muster_device *device, muster_elem elem, uint64_t n, size_t *bytes);
muster_result ops_scan_extreme(muster_device *device, const muster_call *call, muster_op op,
                               muster_scan_kind kind, muster_elem elem, uint64_t in, uint64_t n,
                               uint64_t out);

#endif
