/* kernels.c: the kernels of the whole-device operations: embedded as PTX, loaded when they are first asked
 * for.
 *
 * The build compiles each file of src/ops/kernels for each element type and some architectures and lists the
 * results in ops_images; a device gets the highest that it runs.
 */
#include "operation.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct ops_image {
  const char *file, *elem; /* NULL behind the last */
  uint64_t arch;           /* 90 for sm_90 */
  const char *ptx;
  uint64_t bytes;
} ops_image;
extern const ops_image ops_images[];

struct ops_kernels {
  muster_module *modules[OPS_FILES][MUSTER_ELEMS];
  muster_kernel *kernels[OPS_FILES][MUSTER_ELEMS][OPS_VARIANTS];
};

static const char *const file_names[OPS_FILES] = {[OPS_FILE_reduce] = "reduce",
                                                  [OPS_FILE_scan] = "scan",
                                                  [OPS_FILE_scan_extreme] = "scan_extreme",
                                                  [OPS_FILE_select] = "select",
                                                  [OPS_FILE_histogram] = "histogram",
                                                  [OPS_FILE_histogram_range] = "histogram_range",
                                                  [OPS_FILE_map] = "map",
                                                  [OPS_FILE_convert] = "convert",
                                                  [OPS_FILE_segments] = "segments"};

static muster_result load(muster_device *device, ops_file file, muster_elem elem) {
  const ops_image *best = NULL;
  uint64_t lowest = UINT64_MAX;
  for (const ops_image *i = ops_images; i->file; i++) {
    if (strcmp(i->file, file_names[file]) != 0 || strcmp(i->elem, ops_elem_name(elem)) != 0)
      continue;
    lowest = i->arch < lowest ? i->arch : lowest;
    if (i->arch <= device->info.compute_capability && (!best || i->arch > best->arch))
      best = i;
  }
  if (!ops_images->file)
    return ops_fail(MUSTER_ERROR_NO_CODE, "this libmuster was built without a compiler for its kernels "
                                          "(clang-19 or nvcc): it has no operations on arrays");
  if (lowest == UINT64_MAX)
    return ops_fail(MUSTER_ERROR_ARGUMENT, "%s: not for elements of type %s", file_names[file],
                    ops_elem_name(elem));
  if (!best)
    return ops_fail(MUSTER_ERROR_NO_CODE,
                    "this libmuster's kernels need compute capability %u.%u, and the device has %u.%u",
                    (unsigned)lowest / 10, (unsigned)lowest % 10, device->info.compute_capability / 10,
                    device->info.compute_capability % 10);
  char name[64];
  snprintf(name, sizeof name, "muster's %s.%s.sm_%u.ptx", best->file, best->elem, (unsigned)best->arch);
  return muster_module_load(device, name, best->ptx, best->bytes, &device->kernels->modules[file][elem]);
}

muster_result ops_kernel_of(muster_device *device, ops_file file, muster_elem elem, unsigned variant,
                            muster_kernel **kernel, const char *format, ...) {
  if (!device->kernels && !(device->kernels = calloc(1, sizeof *device->kernels)))
    return ops_no_memory();
  muster_module **module = &device->kernels->modules[file][elem];
  muster_kernel **known = &device->kernels->kernels[file][elem][variant];
  muster_result r = *module ? MUSTER_OK : load(device, file, elem);
  if (r == MUSTER_OK && !*known) {
    char name[64], full[80];
    va_list list;
    va_start(list, format);
    vsnprintf(name, sizeof name, format, list);
    va_end(list);
    snprintf(full, sizeof full, "%s_%s", name, ops_elem_name(elem));
    r = muster_module_find(*module, full, known);
  }
  *kernel = *known;
  return r;
}

muster_result ops_launch(muster_kernel *kernel, const muster_call *call, uint32_t blocks, uint32_t threads,
                         size_t shared_bytes, void **parameters) {
  muster_launch launch = MUSTER_LAUNCH_INIT;
  launch.grid[0] = blocks;
  launch.block[0] = threads;
  launch.shared_bytes = shared_bytes;
  launch.stream = call->stream;
  return muster_kernel_launch(kernel, &launch, parameters);
}
