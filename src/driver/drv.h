/* drv.h: what the files of the driver layer share. Never included from outside.
 *
 * One lock guards everything, the machine included: each API function holds it from its first line to its
 * last (table.c takes it), the engine while it works, and both let go of it while they wait or call the
 * program back. Objects are reached by handle only through drv_find, so that a stale or wild handle is an
 * error and no crash.
 */
#ifndef MUSTER_DRV_H
#define MUSTER_DRV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "driver/cuda_abi.h"
#include "driver/driver.h"
#include "driver/profile.h"
#include "driver/session.h"
#include "ptx/ptx.h"
#include "sim/sim.h"

#define DRV_DEVICES MUSTER_SESSION_GPUS

/* The functions of driver.def, which table.c wraps. */
#define DRIVER(base, suffix, since, needs, per_thread, parameters, arguments) CUresult drv_##base parameters;
#define OLD(base, suffix, since, needs, per_thread, parameters, arguments) \
  CUresult drv_old_##base##suffix parameters;
#include "driver/driver.def"

/* ------------------------------------------------------------------ the inspection (inspect.c) */

struct drv_device;
/* Puts the checker on a new machine if the session asks for it; false: it could not be made. */
bool drv_inspect_begin(struct drv_device *d);
void drv_inspect_end(struct drv_device *d);
struct drv_op;
/* The launch of a kernel was refused. */
void drv_inspect_refused(const char *kernel);
/* The process or the last context of a device ends: what was not freed, what was not asked for. */
void drv_inspect_ending(struct drv_device *d);
void drv_inspect_launched(struct drv_device *d,
                          const struct drv_op *op); /* a launch began: the summary is told */
void drv_inspect_scheduled(struct drv_device *d);   /* so did a set, with its further schedules */

/* Sets of launches that are run again under further schedules (rerun.c). While one is open, nothing else of
 * the device begins, and who has ended is done for the host only with the set. */
bool drv_rerun_wanted(const struct drv_device *d);
/* Whether launches may begin now: the host has said all that it will before it waits. */
bool drv_rerun_gate(struct drv_device *d);
void drv_rerun_asked(struct drv_device *d); /* the host asks whether something is done */
void drv_rerun_begin(struct drv_device *d);
void drv_rerun_add(struct drv_device *d, const sim_launch *l);
bool drv_rerun_ended(struct drv_device *d, struct drv_op *op); /* a launch; false: it is done as usual */
bool drv_rerun_release(
    struct drv_device *d); /* nobody moves: the rest of the device goes on. False: no set */
void drv_rerun_disturb(struct drv_device *d); /* something else of the device happens meanwhile */
void drv_rerun_drop(struct drv_device *d);    /* its launches are gone */

/* ------------------------------------------------------------------ what watchers are told (tell.c) */

struct drv_stream;
struct drv_op;
struct drv_record;
struct drv_memory;
struct drv_box;
struct drv_shape;
void drv_tell_work(const struct drv_stream *s, const struct drv_op *op); /* s gets a piece of work */
void drv_tell_record(const struct drv_stream *s, struct drv_record *r);
void drv_tell_wait(const struct drv_stream *s, const struct drv_record *r);
/* The host waited, or looked and saw that it need not. */
void drv_tell_synced(const struct drv_stream *s);
void drv_tell_record_synced(const struct drv_record *r);
void drv_tell_device_synced(const struct drv_device *d);
void drv_tell_allocated(const struct drv_memory *m);
void drv_tell_freed(const struct drv_memory *m);
/* A copy was made; `from` NULL: a fill. */
void drv_tell_copied(const struct drv_op *op, const struct drv_box *to, const struct drv_box *from,
                     const struct drv_shape *s);

/* ------------------------------------------------------------------ handles (handle.c) */

typedef enum drv_kind {
  DRV_NOTHING,
  DRV_CONTEXT,
  DRV_MODULE,
  DRV_FUNCTION,
  DRV_LIBRARY,
  DRV_KERNEL,
  DRV_STREAM,
  DRV_EVENT,
  DRV_POOL,
  DRV_LINK,
  DRV_GRAPH,
  DRV_NODE,
  DRV_EXEC
} drv_kind;

/* False if memory ran out. */
bool drv_handle_add(void *object, drv_kind kind);
void drv_handle_remove(void *object);
/* `handle` itself if it is a live object of that kind, else NULL. */
void *drv_find(const void *handle, drv_kind kind);

/* ------------------------------------------------------------------ devices and contexts (device.c,
 * context.c) */

typedef struct drv_pool {
  struct drv_device *device;
  bool is_default;
  uint64_t threshold, used, used_high;
  int reuse[4]; /* the three switches, by their number; kept, of no effect */
} drv_pool;

typedef struct drv_device {
  int ordinal;
  const drv_profile *profile;
  uint64_t memory_bytes;
  sim_device *sim; /* made with its first context, ended with its last */
  CUresult sticky; /* an error that only the end of every context clears */
  struct drv_context *contexts, *primary;
  uint32_t primary_users;
  unsigned primary_flags;
  drv_pool default_pool, *pool;
  uint64_t extra_ns;     /* what copies and launches took, on top of the machine's clock */
  uint32_t running;      /* launches in the machine */
  struct check *check;   /* NULL: nobody inspects */
  sim_state state;       /* of the machine, as it last said */
  bool poked;            /* something happened that may let a machine go on which said it cannot */
  struct drv_op **ended; /* launches of the open set that have ended: owned */
  uint32_t n_ended, cap_ended;
  bool set_open, set_released;
  uint64_t gate_ns;  /* since when launches wait to begin; 0: none do */
  base_text printed; /* by kernels, until the program's next synchronisation */
} drv_device;

typedef struct drv_context {
  struct drv_context *next;
  drv_device *device;
  uint64_t id;
  unsigned flags;
  CUfunc_cache cache;
  CUsharedconfig shared_config;
  size_t limits[CU_LIMIT_MAX];
  uint32_t peers; /* bit per device whose memory it may use */
  struct drv_stream *streams, *legacy;
  struct drv_module *modules;
  struct drv_event *events;
} drv_context;

extern drv_device drv_devices[DRV_DEVICES];
extern int drv_device_count; /* 0 before cuInit */
bool drv_initialised(void);
drv_device *drv_device_at(CUdevice device); /* NULL: no such */
/* What the program wrote by printf since the last call goes to its standard output. */
void drv_print(drv_device *d);
void drv_print_take(void *device, const char *text, size_t bytes); /* sim's end of it */
/* The primary context of a device, for functions that need one where the program made none. */
CUresult drv_primary(drv_device *d, drv_context **to);
CUresult drv_context_new(drv_device *d, unsigned flags, drv_context **to);
void drv_context_free(drv_context *c);

/* What a host thread has; made at its first call. */
typedef struct drv_thread {
  struct drv_thread *next;
  drv_context *stack[64];
  uint32_t depth;
  bool per_thread; /* the call in progress came by a _ptsz or _ptds name */
  bool is_device;  /* one of the device's own threads: may not use the API */
  CUstreamCaptureMode capture_mode;
  uint64_t number;
} drv_thread;
drv_thread *drv_self(void);
drv_context *drv_current(void); /* NULL: none */
/* Counts host threads that use the device, and how many of them are inside a wait. */
extern uint32_t drv_threads, drv_blocked;
extern uint64_t drv_polls; /* how often a query said that work is not over yet */

/* ------------------------------------------------------------------ the lock and the engine (engine.c) */

void drv_lock(void);
void drv_unlock(void);
void drv_lock_reset(void); /* in a child of fork: the thread that may hold it is not there */
/* Something changed that a waiting thread or the engine may want to see. */
void drv_wake(void);
/* Waits, the lock let go meanwhile, until done(user), or until the device has a sticky error, which is
 * returned. */
CUresult drv_wait(drv_device *d, bool (*done)(void *user), void *user);
void drv_engine_start(void);
bool drv_ended(void); /* the process ends: nothing works any more */
/* Work of a context that is going away: true when nothing of it is left. */
bool drv_context_idle(const drv_context *c);
CUresult drv_wait_context(drv_context *c);
CUresult drv_wait_device(drv_device *d);
/* Drops everything that waits or runs on the device, or of the context; whoever waits for it goes on. */
void drv_drop_work(drv_device *d);
void drv_drop_context_work(drv_context *c);

/* ------------------------------------------------------------------ streams, operations, events (stream.c,
 * event.c) */

/* One recording of an event: lives while the event, or a wait for it, refers to it. */
typedef struct drv_record {
  uint32_t users;
  bool done;
  uint64_t ns;
  uint64_t number; /* for watchers */
} drv_record;
void drv_record_drop(drv_record *r);

typedef struct drv_event {
  struct drv_event *next;
  drv_context *context;
  unsigned flags;
  drv_record *record; /* the latest; NULL: never recorded */
} drv_event;

void drv_event_free(drv_event *e);

typedef enum drv_op_kind {
  DRV_OP_NONE,
  DRV_OP_LAUNCH,
  DRV_OP_COPY,
  DRV_OP_FILL,
  DRV_OP_RECORD,
  DRV_OP_WAIT,
  DRV_OP_WAIT_VALUE,
  DRV_OP_WRITE_VALUE,
  DRV_OP_CALL,
  DRV_OP_FREE
} drv_op_kind;

/* A box of bytes: rows of `width`, `height` of them `pitch` apart, `depth` such layers `layer` apart. */
typedef struct drv_box {
  uint8_t *at;
  size_t pitch, layer;
} drv_box;

typedef struct drv_shape {
  size_t width, height, depth;
} drv_shape;

typedef struct drv_launch {
  struct drv_function *function;
  uint32_t grid[3], block[3], cluster[3];
  uint32_t shared_bytes;
  bool cooperative;
  int priority;
  uint8_t *params; /* owned */
} drv_launch;

typedef struct drv_op {
  struct drv_op *next;
  struct drv_stream *stream;
  drv_op_kind kind;
  uint64_t number;                   /* in the order of calls, over all streams of a context */
  uint64_t launch_id;                /* the machine's, of a running LAUNCH */
  uint64_t thread_insns, warp_insns; /* the machine's counts when it started */
  bool running;
  union {
    drv_launch launch;
    struct {
      drv_box to, from;
      drv_shape shape;
      uint8_t *staged; /* a copy of pageable memory, owned; NULL */
    } copy;
    struct {
      drv_box to;
      drv_shape shape;
      uint32_t value;
      uint32_t value_bytes; /* 1, 2 or 4 */
    } fill;
    drv_record *record; /* RECORD, WAIT */
    struct {
      uint64_t address, value;
      unsigned flags;
      uint32_t bytes;
    } word;
    struct {
      CUhostFn host;
      CUstreamCallback callback;
      void *user;
    } call;
    uint64_t address; /* FREE */
  };
} drv_op;

typedef struct drv_stream {
  struct drv_stream *next;
  drv_context *context;
  unsigned flags;
  int priority;
  uint64_t id;
  uint64_t thread;  /* number of the thread whose default stream it is; 0 */
  bool destroyed;   /* by the program, with work left */
  uint32_t waiters; /* host threads that look at it while the lock is free */
  drv_op *first, **end;
  uint64_t last; /* number of the last operation taken */
  struct drv_capture *capture;
  CUstreamAttrValue attributes[32];
} drv_stream;

/* The stream that a handle means: NULL, legacy and per-thread included. */
CUresult drv_stream_of(CUstream handle, drv_stream **to);
drv_stream *drv_stream_new(drv_context *c, unsigned flags, int priority);
void drv_stream_free(drv_stream *s);
/* Takes over the operation; it runs when its turn comes. NULL `op`: out of memory, said as a result. */
CUresult drv_push(drv_stream *s, drv_op *op);
/* The same for a function of the API: a capturing stream gets a node of its graph instead, and what takes no
 * time and has nothing before it is done at once. Takes the operation over whatever the result. */
CUresult drv_issue(drv_stream *s, drv_op *op);
/* The same, and waits until it is done. */
CUresult drv_issue_and_wait(drv_stream *s, drv_op *op);
CUresult drv_event_record(drv_event *e, drv_stream *s);
CUresult drv_event_wait(drv_event *e, drv_stream *s);
drv_op *drv_op_new(drv_op_kind kind);
void drv_op_free(drv_op *op);
/* The first operation of its stream is over: takes it out and frees it. */
void drv_op_done(drv_op *op);
/* Waits until everything pushed so far to the stream (and what that waits for) is done. */
CUresult drv_wait_stream(drv_stream *s);
bool drv_stream_done(const drv_stream *s);
/* Whether an operation pushed to the stream now would run at once. */
bool drv_stream_clear(const drv_stream *s);
/* Whether its first operation may run: nothing before it, in the order of default streams, is left. */
bool drv_op_turn(const drv_stream *s);
extern uint64_t drv_op_number;

/* What an operation does, on the engine or, where nothing is before it, at once (copy.c). */
void drv_do_copy(drv_device *d, const drv_op *op);
void drv_do_fill(drv_device *d, const drv_op *op);
uint64_t drv_clock(const drv_device *d);
CUresult drv_copy_op(const CUDA_MEMCPY3D *c, drv_op **op);
/* A checked copy or fill, not yet given to a stream; NULL and success: there is nothing to do. */
CUresult drv_fill_op(CUdeviceptr to, size_t pitch, uint32_t value, uint32_t value_bytes, size_t width,
                     size_t height, drv_op **op);

/* ------------------------------------------------------------------ modules (module.c, program.c,
 * function.c) */

/* Registers a thread of one kernel, known from a cubin. */
typedef struct drv_count {
  struct drv_count *next;
  uint32_t registers;
  char kernel[];
} drv_count;

/* PTX that was read, for any number of devices. */
typedef struct drv_program {
  uint32_t users;
  uint32_t n_units;
  struct ptx_module **units; /* several after linking; a unit only refers to earlier ones or to no other */
  drv_count *counts;
  bool told; /* what is to be said of its units was said before */
} drv_program;

/* Chooses from an image what `d` can run, and reads it. The error is explained in `log` (if not NULL) and,
 * where it isn't the program's own PTX text that is wrong, said as a message. */
CUresult drv_program_new(drv_device *d, const void *image, size_t bytes, base_text *log, drv_program **to);
void drv_program_drop(drv_program *p);
char *drv_read_file(const char *path, size_t *bytes);

typedef struct drv_function {
  struct drv_function *next;
  struct drv_module *module;
  struct ptx_module *unit;
  uint32_t unit_index, index; /* ptx_func in its unit */
  const char *name;
  char *plain;        /* as people write it, for messages; owned */
  sim_kernel *kernel; /* NULL until something needs it */
  sim_kernel_info info;
  bool counted; /* info.registers is the real compiler's */
  bool asked;   /* ptxas was */
  uint32_t max_dynamic_shared;
  int carveout, cluster_policy;
  uint32_t cluster[3]; /* required; 0: none */
  bool cluster_non_portable;
  CUfunc_cache cache;
} drv_function;

typedef struct drv_module {
  struct drv_module *next;
  drv_context *context;
  drv_program *program;
  sim_module **units;
  drv_function *functions;
  struct drv_library *library;
} drv_module;

CUresult drv_module_new(drv_context *c, drv_program *p, base_text *log, drv_module **to);
void drv_module_free(drv_module *m);
CUresult drv_function_new(drv_module *m, uint32_t unit, uint32_t index, drv_function **to);
/* Names of a program's kernels, `most` at most; returns how many there are. */
unsigned drv_program_kernels(const drv_program *p, const char **names, unsigned most);
CUresult drv_param_info(const ptx_func *f, size_t index, size_t *offset, size_t *bytes);
CUresult drv_module_function(drv_module *m, const char *name, drv_function **to);
bool drv_module_global(const drv_module *m, const char *name, CUdeviceptr *address, size_t *bytes);
/* The decoded kernel: fills in `info`. */
CUresult drv_function_ready(drv_function *f);
/* The registers as ptxas counts them, if a ptxas is at hand; true if that changed what was known. */
bool drv_function_count(drv_function *f);
/* A function by its handle; a kernel handle counts as its function in the current context. */
CUresult drv_function_of(CUfunction handle, drv_function **to);
CUresult drv_kernel_function(struct drv_kernel *k, drv_context *c, drv_function **to);

/* ------------------------------------------------------------------ launches (launch.c, occupancy.c) */

/* Checks a launch against the limits, and fills in what its operation needs. */
CUresult drv_launch_check(drv_function *f, drv_launch *launch, void **parameters, void **extra);
sim_fit drv_fit(drv_function *f, uint32_t threads, uint32_t shared_bytes, uint32_t cluster_blocks);
uint32_t drv_static_shared_limit(const drv_function *f);
/* "registers (40 a thread, estimated)": which limit binds, with its number. */
void drv_limit_text(const drv_function *f, sim_limit_kind limit, uint32_t threads, uint32_t shared_bytes,
                    char *text, size_t bytes);

/* ------------------------------------------------------------------ memory (memory.c, copy.c) */

typedef enum drv_memory_kind { DRV_DEVICE_MEMORY, DRV_PINNED, DRV_REGISTERED, DRV_MANAGED } drv_memory_kind;

typedef struct drv_memory {
  uint64_t address, bytes;
  drv_memory_kind kind;
  drv_context *context;
  drv_pool *pool; /* allocated in stream order; NULL */
  unsigned flags;
  uint64_t id;
  size_t mapped_bytes;            /* of pinned and managed memory: what munmap gets */
  bool freeing;                   /* cuMemFreeAsync was called */
  struct drv_graph_memory *graph; /* of a graph's node, which frees it; NULL */
  int sync_memops;
} drv_memory;

/* The allocation that holds the byte; NULL: none of the program's. */
drv_memory *drv_memory_at(uint64_t address);
bool drv_in_device_range(uint64_t address);
/* Whether [address, address + bytes) may be used by a copy of this context as device memory: inside one
 * allocation or one variable of a module. */
bool drv_memory_covers(uint64_t address, uint64_t bytes);
void drv_memory_free_context(drv_context *c);
void drv_memory_register_all(drv_device *d);
CUresult drv_memory_release(uint64_t address); /* the end of a cuMemFreeAsync */
CUresult drv_pool_allocate(CUdeviceptr *address, size_t bytes, drv_pool *pool, drv_context *c);
void drv_memory_leave_pool(const drv_pool *pool); /* its memory stays, as the device's default pool's */

/* ------------------------------------------------------------------ words for people (report.c) */

void drv_say_fault(drv_device *d, const sim_fault *fault);
CUresult drv_fault_result(const sim_fault *fault);
void drv_say_hang(drv_device *d);
void drv_say_stats(drv_device *d, const drv_op *op);
/* Names what is not provided, once. */
CUresult drv_refuse(const char *what);

#endif
