/* muster.h: the host API of muster, in C11 and C++.
 *
 * It opens a device (a GPU, or the CPU device that models one), loads kernels from PTX, fat binaries or
 * programs that carry them, launches them, and says how many blocks can be resident at once. Which device it
 * is changes nothing for the caller: both are reached through the CUDA Driver API.
 *
 * Errors are values: a function returns a muster_result, and where that is not MUSTER_OK, muster_message()
 * says why in words. Nothing ends the process. Threads: calls on different devices may run at the same time;
 * calls on one device must not. Sizes are bytes, counts are elements; device addresses are uint64_t. Structs
 * begin with their size: initialise them with the macro of their name in capitals and _INIT; they grow at
 * their end only.
 */
#ifndef MUSTER_H
#define MUSTER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MUSTER_API __attribute__((visibility("default")))
#ifdef __cplusplus
#define MUSTER_INIT(type) {sizeof(type)}
#else
#define MUSTER_INIT(type) {.size = sizeof(type)}
#endif

typedef enum muster_result {
#define RESULT(name, number, text) name = number,
#include "muster/result.def"
} muster_result;

/* "MUSTER_ERROR_PTX", "the PTX has an error". Never NULL. */
MUSTER_API const char *muster_result_name(muster_result result);
MUSTER_API const char *muster_result_text(muster_result result);
/* Why the last call of this thread failed: one or several lines without a newline at the end, "" if it did
 * not fail. Valid until the thread's next call. */
MUSTER_API const char *muster_message(void);

/* ------------------------------------------------------------------ devices */

typedef struct muster_device muster_device;

/* Opens the device that `choice` names: "gpu" or "gpu:N" (NVIDIA's driver), "cpu" or "cpu:PROFILE" (the CPU
 * device, modelling that GPU), "auto" (a GPU if there is one, else the CPU device). NULL: what the
 * environment variable MUSTER_DEVICE says, else auto. One process has one kind of device: NVIDIA's or the
 * CPU's, of one profile. Returns MUSTER_ERROR_NO_DEVICE, MUSTER_ERROR_DRIVER. Cost: milliseconds for the CPU
 * device, up to seconds for a GPU's first context. */
MUSTER_API muster_result muster_open(const char *choice, muster_device **device);
/* The same, for a program that will load `image` (see muster_module_load): where the CPU device may choose,
 * it takes the smallest profile that runs what the image carries (rtx4090 if that one does). What is wrong
 * with the image muster_module_load will say. */
MUSTER_API muster_result muster_open_for(const char *choice, const void *image, size_t bytes,
                                         muster_device **device);
/* Waits for its launches, then gives back its modules and memory. NULL is fine. */
MUSTER_API void muster_close(muster_device *device);

typedef struct muster_device_info {
  size_t size;
  char name[128];
  int is_cpu;                  /* the CPU device */
  uint32_t compute_capability; /* 90 for 9.0 */
  uint32_t multiprocessors;
  uint32_t threads_per_sm, blocks_per_sm, threads_per_block;
  uint32_t registers_per_sm;
  uint32_t shared_per_sm_bytes;
  uint32_t shared_per_block_bytes; /* the most a kernel can ask for */
  uint32_t shared_reserved_bytes;  /* what the system takes of each block's */
  uint32_t l2_bytes;
  uint32_t clock_khz;
  uint32_t has_clusters, has_cooperative;
  uint64_t memory_bytes;
  uint32_t memory_clock_khz, memory_bus_bits; /* 0: the driver does not say */
  uint32_t driver_version;                    /* the newest CUDA that the driver knows: 13000 for 13.0 */
} muster_device_info;
#define MUSTER_DEVICE_INFO_INIT MUSTER_INIT(muster_device_info)

/* What the device is. */
MUSTER_API muster_result muster_device_get(const muster_device *device, muster_device_info *info);

/* Waits until everything launched on the device has ended. MUSTER_ERROR_LAUNCH_FAILED: a launch did not end
 * well; from then on the device answers MUSTER_ERROR_DEVICE_LOST. */
MUSTER_API muster_result muster_wait(muster_device *device);

/* The GPUs that the CPU device can model, from 0 to muster_profile_count() - 1; NULL behind them. */
typedef struct muster_profile {
  size_t size;
  const char *name;            /* "h200": what --gpu and cpu:PROFILE take */
  const char *gpu;             /* "NVIDIA H200" */
  uint32_t compute_capability; /* 90 for 9.0 */
  uint32_t multiprocessors;
  uint32_t threads_per_sm, blocks_per_sm;
  uint32_t shared_per_sm_bytes, shared_per_block_bytes;
  uint64_t memory_bytes;
} muster_profile;
#define MUSTER_PROFILE_INIT MUSTER_INIT(muster_profile)

/* How many there are. */
MUSTER_API size_t muster_profile_count(void);
/* The one with that index. MUSTER_ERROR_ARGUMENT: there is none. */
MUSTER_API muster_result muster_profile_get(size_t index, muster_profile *profile);

/* ------------------------------------------------------------------ memory */

/* Memory of exactly that many bytes; 0 bytes are one allocation too, of an address that nothing may access.
 */
MUSTER_API muster_result muster_alloc(muster_device *device, size_t bytes, uint64_t *address);
MUSTER_API muster_result muster_free(muster_device *device, uint64_t address); /* 0 is fine */
/* Both wait for everything launched before. */
MUSTER_API muster_result muster_copy_in(muster_device *device, uint64_t to, const void *from, size_t bytes);
MUSTER_API muster_result muster_copy_out(muster_device *device, void *to, uint64_t from, size_t bytes);
MUSTER_API muster_result muster_fill_bytes(muster_device *device, uint64_t to, uint8_t value, size_t bytes);

/* ------------------------------------------------------------------ kernels */

typedef struct muster_module muster_module;
typedef struct muster_kernel muster_kernel;

/* Loads what `image` holds: PTX text, a fat binary, a cubin (GPU only), or an ELF file (program, shared
 * library, object) that carries fat binaries. `name` is for messages. The image is copied where it has to be.
 * Returns MUSTER_ERROR_IMAGE, MUSTER_ERROR_PTX (the message has the place), MUSTER_ERROR_NO_CODE. */
MUSTER_API muster_result muster_module_load(muster_device *device, const char *name, const void *image,
                                            size_t bytes, muster_module **module);
/* The same from a file. Returns MUSTER_ERROR_FILE too. */
MUSTER_API muster_result muster_module_open(muster_device *device, const char *path, muster_module **module);
MUSTER_API void muster_module_unload(muster_module *module); /* NULL is fine; its kernels go with it */

/* Its kernels, from 0 to muster_module_kernels() - 1. */
MUSTER_API size_t muster_module_kernels(const muster_module *module);
MUSTER_API muster_kernel *muster_module_kernel(muster_module *module,
                                               size_t index); /* NULL behind the last */
/* The kernel of that name: the mangled one, or the plain one (with or without its namespaces) where only one
 * kernel has it. Returns MUSTER_ERROR_NOT_FOUND, MUSTER_ERROR_AMBIGUOUS; the message lists candidates. */
MUSTER_API muster_result muster_module_find(muster_module *module, const char *name, muster_kernel **kernel);

typedef struct muster_kernel_info {
  size_t size;
  const char *name;       /* mangled */
  const char *plain_name; /* with namespaces, without parameters: "ns::scale" */
  uint32_t parameters;
  uint32_t registers;         /* a thread */
  uint32_t threads_per_block; /* the most this kernel takes */
  size_t shared_bytes;        /* static */
  size_t local_bytes, const_bytes;
  int registers_estimated; /* no cubin says it and no ptxas was at hand to count: on the CPU device only */
} muster_kernel_info;
#define MUSTER_KERNEL_INFO_INIT MUSTER_INIT(muster_kernel_info)

/* The first question to a kernel loads its body, which can fail as muster_module_load can. */
MUSTER_API muster_result muster_kernel_get(muster_kernel *kernel, muster_kernel_info *info);
/* Size of parameter `index`, from 0. MUSTER_ERROR_ARGUMENT: it has no such parameter. */
MUSTER_API muster_result muster_kernel_parameter_bytes(muster_kernel *kernel, uint32_t index, size_t *bytes);

/* ------------------------------------------------------------------ launches */

typedef struct muster_launch {
  size_t size;
  uint32_t grid[3], block[3]; /* 0 counts as 1 in y and z */
  uint32_t cluster[3];        /* blocks; all 0: no cluster */
  size_t shared_bytes;        /* dynamic */
  int cooperative;
  void *stream; /* a CUstream or cudaStream_t of the device; NULL: the default stream */
} muster_launch;
#define MUSTER_LAUNCH_INIT MUSTER_INIT(muster_launch)

/* Launches; does not wait. parameters[i] points to the value of parameter i, of the size that
 * muster_kernel_parameter_bytes says; it is copied.
 * Returns MUSTER_ERROR_LAUNCH_SHAPE, MUSTER_ERROR_LAUNCH_TOO_LARGE, MUSTER_ERROR_DEVICE_LOST. */
MUSTER_API muster_result muster_kernel_launch(muster_kernel *kernel, const muster_launch *launch,
                                              void **parameters);

/* What keeps more blocks from being resident on a multiprocessor. */
typedef enum muster_limit {
  MUSTER_LIMIT_BLOCKS,  /* blocks per multiprocessor */
  MUSTER_LIMIT_THREADS, /* threads per multiprocessor */
  MUSTER_LIMIT_REGISTERS,
  MUSTER_LIMIT_SHARED, /* shared memory */
  MUSTER_LIMIT_LAUNCH, /* a single block does not fit: it can never run */
  MUSTER_LIMITS
} muster_limit;
/* "registers" */
MUSTER_API const char *muster_limit_name(muster_limit limit);

typedef struct muster_plan {
  size_t size;
  uint32_t blocks_per_sm;     /* as the driver says */
  uint32_t resident_blocks;   /* on the whole device, clusters regarded: the largest cooperative grid */
  uint32_t clusters;          /* at once on the device; 0 without clusters */
  muster_limit limit;         /* what binds */
  uint32_t by[MUSTER_LIMITS]; /* blocks per multiprocessor if only that limit existed; UINT32_MAX: no limit */
  uint32_t suggested_block;   /* threads of a one-dimensional block that fills a multiprocessor best */
} muster_plan;
#define MUSTER_PLAN_INIT MUSTER_INIT(muster_plan)

/* How many blocks of that shape can be resident; the launch's grid is not looked at. */
MUSTER_API muster_result muster_kernel_plan(muster_kernel *kernel, const muster_launch *launch,
                                            muster_plan *plan);

/* ------------------------------------------------------------------ timing */

/* What is timed: launches on `stream`. It waits for nothing, and returns what the launch returned. */
typedef muster_result (*muster_work)(void *context, void *stream);

typedef struct muster_timing {
  size_t size;
  uint32_t runs;   /* how often it is timed, after one run that is not; 0 counts as 1 */
  uint32_t repeat; /* calls of the work in a run; 0 counts as 1 */
  int graph;       /* the calls are captured in a graph once, and a run launches that */
} muster_timing;
#define MUSTER_TIMING_INIT MUSTER_INIT(muster_timing)

/* Times `work` on a stream of its own by the device's events: ns[i] is how long run i took, all its calls
 * together. Waits for everything that was launched before. On the CPU device these are nanoseconds of its
 * virtual clock: they tell runs on it apart and say nothing about a GPU. Returns what `work` returned, and
 * MUSTER_ERROR_LAUNCH_FAILED. */
MUSTER_API muster_result muster_time(muster_device *device, const muster_timing *timing, muster_work work,
                                     void *context, double *ns);

/* ------------------------------------------------------------------ operations on whole arrays
 *
 * Arrays lie in device memory, at any multiple of their element's size (an operation is fastest at multiples
 * of 16), and have any number of elements from 0. An operation is launched on the call's stream and does not
 * wait; it allocates nothing and can be captured in a graph. Results lie in device memory too.
 *
 * The workspace is the caller's: ask muster_<operation>_workspace for its size (that also loads the kernels,
 * so that the first call in a capture does not have to), allocate it at a multiple of 16, zero it once. Every
 * call leaves it ready for the next of the same operation, of any size that fits; zero it before another
 * operation uses it, and after a launch that failed. Two calls that may run at the same time need one each.
 *
 * A wrong call returns MUSTER_ERROR_ARGUMENT and the message says what is wrong; nothing is written:
 * addresses that are 0 (of more than 0 elements) or no multiple of the element's size, more elements than
 * addresses, a result or a workspace that overlaps an operand, a workspace that is too small, an operation
 * that its elements do not have. */

/* Element types: MUSTER_f32, MUSTER_u8, ... */
typedef enum muster_elem {
#define ELEM(suffix, bytes, kind, numpy) MUSTER_##suffix,
#include "muster/elem.def"
  MUSTER_ELEMS
} muster_elem;

typedef enum muster_op {
#define OPERATION(name, constant, takes, gives, meaning) constant,
#include "muster/operation.def"
  MUSTER_OPS
} muster_op;

typedef enum muster_map_op {
#define MAP(name, constant, inputs, uses, meaning) constant,
#include "muster/operation.def"
  MUSTER_MAP_OPS
} muster_map_op;

typedef enum muster_scan_kind { MUSTER_INCLUSIVE, MUSTER_EXCLUSIVE } muster_scan_kind;

typedef enum muster_mode {
#define MODE(name, constant, meaning) constant,
#include "muster/operation.def"
  MUSTER_MODES
} muster_mode;

typedef enum muster_nan {
#define NAN_RULE(name, constant, meaning) constant,
#include "muster/operation.def"
  MUSTER_NANS
} muster_nan;

/* How and where an operation runs. */
typedef struct muster_call {
  size_t size;
  void *stream; /* as in muster_launch */
  uint64_t workspace;
  size_t workspace_bytes;
  muster_mode mode;
  muster_nan nan;
} muster_call;
#define MUSTER_CALL_INIT MUSTER_INIT(muster_call)

/* The type of a reduction's result. MUSTER_ELEMS: these elements do not have the operation. */
MUSTER_API muster_elem muster_reduce_result(muster_op op, muster_elem elem);
MUSTER_API muster_result muster_reduce_workspace(muster_device *device, muster_op op, muster_elem elem,
                                                 uint64_t n, size_t *bytes);
/* One value of n elements, in one launch; operation.def says which operations there are and what they are of
 * nothing. Sums and products of integers are kept in 64 bits and wrap beyond, of half precision in f32; -0
 * equals +0 for the index of an extreme, and is below it for the extreme itself. Error of sums of floats, u
 * half a unit in the last place of 1 (2^-24 for f32): |error| <= (n / 2^16 + 40) u sum|x|, in practice a few
 * u sum|x|. Compensated, f32 is summed in f64 and f64 in pairs: within 2 units in the result's last place
 * where sum|x| <= 2^20 |sum x|, else |error| <= u |sum x| + (n / 2^16 + 40) 2^-52 u sum|x| (f32: 2^-28
 * instead of 2^-52). */
MUSTER_API muster_result muster_reduce(muster_device *device, const muster_call *call, muster_op op,
                                       muster_elem elem, uint64_t in, uint64_t n, uint64_t out);

/* One value of each segment: segment i is in[offsets[i]] to in[offsets[i + 1] - 1], with segments + 1 offsets
 * (u64) in device memory. MUSTER_SUM, MUSTER_MIN, MUSTER_MAX, of all elements; results as muster_reduce's,
 * also of nothing. An offset beyond n counts as n, and where one is greater than the next the segment is
 * empty. The same bits in all modes and on every device; sums of floats are kept in f64: f16, bf16 and f32
 * are rounded once, f64 has |error| <= (n / 128 + 20) u sum|x| of a segment's n elements. A warp does a
 * segment of up to 4,096 elements, a block a longer one: for few segments of millions muster_reduce is
 * faster. One launch, no workspace. */
MUSTER_API muster_result muster_reduce_segments(muster_device *device, const muster_call *call, muster_op op,
                                                muster_elem elem, uint64_t in, uint64_t n, uint64_t offsets,
                                                uint64_t segments, uint64_t out);

/* The sum of products x[i] y[i]; type of the result, modes and errors as a sum of their |x y| has them. */
MUSTER_API muster_result muster_dot_workspace(muster_device *device, muster_elem elem, uint64_t n,
                                              size_t *bytes);
MUSTER_API muster_result muster_dot(muster_device *device, const muster_call *call, muster_elem elem,
                                    uint64_t x, uint64_t y, uint64_t n, uint64_t out);

/* Running values: out[i] = op of in[0] to in[i], exclusive without in[i] (out[0]: of nothing, as
 * operation.def says). One launch, one pass; the same bits in all modes, from run to run and from device to
 * device.
 * MUSTER_SUM: elements u32 s32 u64 s64, which wrap, f32 and f64. Error of f32: a few u sum|x| of the 16,384
 * elements around, and one rounding: sums are carried in f64.
 * MUSTER_MIN, MUSTER_MAX: all elements. -0 is below +0. From the first NaN on the extreme is NaN; where the
 * call ignores NaNs they are passed over, and before the first number it is NaN. */
MUSTER_API muster_result muster_scan_workspace(muster_device *device, muster_op op, muster_elem elem,
                                               uint64_t n, size_t *bytes);
MUSTER_API muster_result muster_scan(muster_device *device, const muster_call *call, muster_op op,
                                     muster_scan_kind kind, muster_elem elem, uint64_t in, uint64_t n,
                                     uint64_t out);

/* The elements whose byte of `mask` is not 0, in their order, to `out`; how many to `count` (one u64).
 * `rest`: where the others go, in their order, which makes it a partition; 0: nowhere. All elements. `out`
 * and `rest` have room for n elements each, of which only those that there are are written. One launch, one
 * pass. */
MUSTER_API muster_result muster_select_workspace(muster_device *device, muster_elem elem, uint64_t n,
                                                 size_t *bytes);
MUSTER_API muster_result muster_select(muster_device *device, const muster_call *call, muster_elem elem,
                                       uint64_t in, uint64_t mask, uint64_t n, uint64_t out, uint64_t rest,
                                       uint64_t count);

/* How often each value from 0 to bins - 1 occurs; others are not counted. Elements u8 u16 u32 u64; bins from
 * 1 to 2^20, but no more than the element has values. `counts` are bins u64. One launch. */
MUSTER_API muster_result muster_histogram_workspace(muster_device *device, muster_elem elem, uint32_t bins,
                                                    uint64_t n, size_t *bytes);
MUSTER_API muster_result muster_histogram(muster_device *device, const muster_call *call, muster_elem elem,
                                          uint64_t in, uint64_t n, uint32_t bins, uint64_t counts);

/* How many elements are in each of `bins` ranges, 1 to 2^20: element x counts in bin b if edges[b] <= x <
 * edges[b + 1]. `edges` are bins + 1 elements that do not fall, equal ones being an empty bin; 0, of unsigned
 * elements: value b counts in bin b. NaNs count nowhere. `weights` are n numbers of type `weight` (u32, u64,
 * f32, f64), added up instead of counted; 0: each counts 1. The result is bins u64, which wrap, or bins f64
 * of floats. Those are added in the order in which they meet: in all modes their last bits may differ from
 * run to run. Up to 2,048 bins blocks add up by themselves; more bins cost an atomic of global memory for
 * each that 32 neighbours fall into. All elements. One launch. */
MUSTER_API muster_result muster_histogram_range_workspace(muster_device *device, muster_elem elem,
                                                          uint32_t bins, size_t *bytes);
MUSTER_API muster_result muster_histogram_range(muster_device *device, const muster_call *call,
                                                muster_elem elem, uint64_t in, uint64_t n, uint64_t edges,
                                                uint32_t bins, muster_elem weight, uint64_t weights,
                                                uint64_t out);

/* Of each element: out[i] = op of x[i], y[i] and the number at `a` on the host, one of the element's type
 * (NULL where the operation takes none). An array that the operation does not take is not looked at; `out`
 * may be x or y. All elements: integers wrap, floats are rounded once to nearest even (half precision is
 * computed in f32). Needs no workspace. */
MUSTER_API muster_result muster_map(muster_device *device, const muster_call *call, muster_map_op op,
                                    muster_elem elem, const void *a, uint64_t x, uint64_t y, uint64_t n,
                                    uint64_t out);

/* Each element as type `to` has it, between any two. What `to` does not hold becomes the nearest that it
 * does: integers saturate, floats beyond become infinite; floats become integers towards zero, a NaN 0.
 * Everything else is rounded once, to nearest even. Where both are of one size `out` may be `in`. Needs no
 * workspace. */
MUSTER_API muster_result muster_convert(muster_device *device, const muster_call *call, muster_elem from,
                                        uint64_t in, uint64_t n, muster_elem to, uint64_t out);

/* ------------------------------------------------------------------ what the CPU device understands */

/* A row of the table of PTX instructions. */
typedef struct muster_instruction {
  size_t size;
  const char *name; /* "add" */
  const char *kind; /* "int" */
  const char *meaning;
  const char *refused;      /* why it is not modelled; NULL: it is */
  uint32_t forms;           /* how many spellings */
  uint32_t ptx_version, sm; /* of the oldest: 60 for PTX ISA 6.0 */
} muster_instruction;
#define MUSTER_INSTRUCTION_INIT MUSTER_INIT(muster_instruction)

/* Its rows, from 0 to muster_instruction_count() - 1. MUSTER_ERROR_ARGUMENT: no such index. */
MUSTER_API size_t muster_instruction_count(void);
MUSTER_API muster_result muster_instruction_get(size_t index, muster_instruction *instruction);

#ifdef __cplusplus
}
#endif
#endif
