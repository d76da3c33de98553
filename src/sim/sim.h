/* sim.h: the door of the machine. It runs checked PTX programs on a device made of blocks, warps and lanes.
 *
 * The machine is passive: it has no threads of its own, and does something only inside sim_device_run, which
 * one thread of its owner (the driver's device thread) calls with a budget, again and again. Nothing here
 * knows what a correct program is; watchers (hooks.h) may know.
 *
 * Calls on one device must not overlap, except the sim_memory_* reads marked "any thread", and plain loads
 * and stores by the host into the memory itself, which is ordinary memory of this process.
 */
#ifndef MUSTER_SIM_H
#define MUSTER_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ptx_module;
struct sim_watcher;
typedef struct sim_device sim_device;
typedef struct sim_module sim_module;
typedef struct sim_kernel sim_kernel;

/* ------------------------------------------------------------------ the device */

/* What the modelled GPU has room for. All numbers come from the driver's profile; 0 in a field of the second
 * part means no limit of that kind. */
typedef struct sim_limits {
  uint32_t sm; /* compute capability, 89 for 8.9 */
  uint32_t sms;
  uint32_t threads_per_block;
  uint32_t threads_per_sm, warps_per_sm, blocks_per_sm;
  uint32_t registers_per_sm, registers_per_block, registers_per_thread;
  uint32_t register_unit;    /* registers are given to a warp in units of so many (256) */
  uint32_t warp_unit;        /* warps are given to a block in units of so many (4), for registers */
  uint32_t shared_per_sm;    /* bytes, with what the system reserves */
  uint32_t shared_per_block; /* without opting in to more */
  uint32_t shared_per_block_max;
  uint32_t shared_reserved;    /* of each block, at the beginning of its shared memory: 1024 from sm_80 on */
  uint32_t shared_unit;        /* 128 */
  uint32_t max_cluster_blocks; /* 16, of which drivers allow 8 unless the kernel is told otherwise; 0: no
                                  clusters */
  uint32_t n_gpcs;
  const uint8_t *gpc_sms; /* SMs of each GPC, for clusters; NULL: one GPC */
} sim_limits;

typedef struct sim_options {
  sim_limits limits;
  uint64_t memory_bytes; /* how much the device has */
  uint64_t seed;
  uint32_t device_index; /* of several in this process; each has its own part of the address range */
  uint32_t workers;      /* host threads that run blocks: 0 and 1 mean the caller alone, and determinism */
  bool lockstep;         /* warps as before Volta: lanes that parted do not take turns */
  void (*print)(void *user, const char *text, size_t bytes); /* the device's standard output */
  void *print_user;
} sim_options;

/* NULL: no memory, or the address range is taken. `options` is copied, the arrays it points to too. */
sim_device *sim_device_new(const sim_options *options);
void sim_device_free(
    sim_device *d); /* ends running launches; modules must have been unloaded. NULL is fine */

/* The name of the vector level in use ("x86-64-v3"), and a choice for tests: false if this CPU lacks it.
 * Before the first device only. */
const char *sim_vector_level(void);
bool sim_vector_level_set(const char *name);

/* ------------------------------------------------------------------ memory
 *
 * Device memory lies in one range at a fixed address, so that addresses in reports and replays stay. A device
 * address is the address in this process. Allocations begin at multiples of 512 bytes and reach, for kernels,
 * to the next multiple; their exact sizes are kept for watchers.
 */
#define SIM_MEMORY_BASE 0x200000000000u
#define SIM_GRANULE 512u

typedef enum sim_memory_kind {
  SIM_MEMORY_NONE,
  SIM_MEMORY_GLOBAL, /* allocated by the host */
  SIM_MEMORY_HEAP,   /* by a kernel */
  SIM_MEMORY_MODULE, /* a variable of a module */
  SIM_MEMORY_CONST,
  SIM_MEMORY_PARAM,
  SIM_MEMORY_HOST /* registered: the host may write it at any time */
} sim_memory_kind;

typedef struct sim_allocation {
  uint64_t address, bytes;
  uint64_t
      number; /* from 1: counts what the host allocated or registered; apart from that, everything else */
  sim_memory_kind kind;
  const char *name; /* of a variable; NULL */
  bool freed;
} sim_allocation;

uint64_t sim_memory_new(sim_device *d, uint64_t bytes); /* 0: none left. Zeroed only if never used before */
bool sim_memory_free(sim_device *d, uint64_t address);  /* false: no allocation begins there */
void sim_memory_amount(const sim_device *d, uint64_t *free_bytes, uint64_t *total_bytes);
/* The allocation that holds an address, exact. Any thread. */
bool sim_memory_find(const sim_device *d, uint64_t address, sim_allocation *out);
/* Besides, while a watcher decides about accesses: one that held it and was freed; else the nearest within
 * 4 GiB, whose end or begin the address missed. */
bool sim_memory_near(const sim_device *d, uint64_t address, sim_allocation *out);
/* Lets kernels use a range of host memory under its own address. `watched`: the host may write it while
 * kernels run (pinned, managed): kernels that wait for such words are woken by polling, and are no proof of a
 * hang. */
bool sim_host_register(sim_device *d, void *memory, uint64_t bytes, bool watched);
bool sim_host_unregister(sim_device *d, void *memory);
/* Lets kernels of `d` use the memory of another device of this process. */
bool sim_peer_enable(sim_device *d, sim_device *other);
void sim_heap_limit(sim_device *d, uint64_t bytes); /* for malloc in kernels; 8 MiB unless told */

/* ------------------------------------------------------------------ modules */

/* Places a module's variables. Its symbols that are .extern are sought in `others`, modules loaded before
 * (linking of separately compiled units). On failure NULL and a line of text in *error, which the caller
 * frees. */
sim_module *sim_module_new(sim_device *d, struct ptx_module *program, sim_module *const *others,
                           uint32_t n_others, char **error);
void sim_module_free(sim_module *m);
/* A variable's address and size; false: no such. */
bool sim_module_var(const sim_module *m, const char *name, uint64_t *address, uint64_t *bytes);
/* NULL and a text if there is none, or if it does not compile. Decoded at the first call; owned by the
 * module. */
sim_kernel *sim_module_kernel(sim_module *m, const char *name, char **error);

typedef struct sim_kernel_info {
  const char *name;
  uint32_t max_threads; /* as .maxntid or .reqntid say, or the device's */
  uint32_t reqntid[3], reqnctapercluster[3];
  uint32_t shared_bytes, const_bytes, local_bytes; /* static; local: of a thread, without calls */
  uint32_t param_bytes, n_params;
  uint32_t registers; /* a thread: an estimate, until sim_kernel_set_registers */
  bool registers_known;
  bool uses_grid_workspace; /* reads %envreg1 or 2, itself or in what it calls: a grid barrier */
  bool reads_clock;
  const char *refused; /* it may meet an instruction that is not modelled: its name and why; NULL */
  uint32_t refused_line;
} sim_kernel_info;

void sim_kernel_get(const sim_kernel *k, sim_kernel_info *out);
/* An array of shared memory, by its offset in the block's. */
typedef struct sim_shared {
  const char *name; /* NULL: dynamic shared memory that has no one name */
  uint32_t offset;
  uint64_t bytes;
} sim_shared;
/* The index-th of those that a launch with so much dynamic shared memory has; the dynamic one is last. False:
 * there are no more. */
bool sim_kernel_shared(const sim_kernel *k, uint32_t dynamic_bytes, uint32_t index, sim_shared *out);
void sim_kernel_param(const sim_kernel *k, uint32_t index, uint32_t *offset, uint32_t *bytes, uint32_t *type);
void sim_kernel_set_registers(sim_kernel *k, uint32_t registers); /* what the real compiler used */

/* ------------------------------------------------------------------ residency: pure functions */

typedef enum sim_limit_kind {
  SIM_LIMIT_NONE, /* fits as often as there are SMs times blocks_per_sm */
  SIM_LIMIT_BLOCKS,
  SIM_LIMIT_THREADS,
  SIM_LIMIT_WARPS,
  SIM_LIMIT_REGISTERS,
  SIM_LIMIT_SHARED,
  SIM_LIMIT_CLUSTER
} sim_limit_kind;
const char *sim_limit_name(sim_limit_kind k); /* "registers" */

typedef struct sim_need {
  uint32_t threads;        /* of a block */
  uint32_t registers;      /* of a thread */
  uint32_t shared;         /* of a block: static and dynamic */
  uint32_t cluster_blocks; /* 1: none */
} sim_need;

typedef struct sim_fit {
  uint32_t per_sm;      /* blocks */
  uint32_t blocks;      /* on the device at once */
  uint32_t clusters;    /* likewise, if cluster_blocks > 1 */
  sim_limit_kind limit; /* what binds first */
} sim_fit;

/* No block fits: per_sm is 0 and limit says why. */
sim_fit sim_occupancy(const sim_limits *l, const sim_need *need);

/* ------------------------------------------------------------------ launches */

typedef struct sim_launch {
  sim_kernel *kernel;
  uint32_t grid[3], block[3], cluster[3]; /* cluster 0,0,0: none */
  uint32_t dynamic_shared;
  const void *params; /* the parameter block, copied; sim_kernel_info.param_bytes of it */
  bool cooperative;   /* the caller has checked that it fits */
  uint64_t after;     /* id of a launch whose end griddepcontrol.wait awaits; 0: none */
  uint64_t stream;    /* only told to watchers */
  uint64_t order;     /* likewise: counts what the host issues, launches and copies, over all streams */
  uint32_t priority;  /* higher first, among those not yet resident */
  void *user;
} sim_launch;

/* Takes a launch up; it becomes resident as room is found. Returns its id (from 1 on; %gridid), or 0 and a
 * line of text (freed by the caller) if it can never run: no block fits, or the shape is impossible. */
uint64_t sim_launch_start(sim_device *d, const sim_launch *launch, char **error);

typedef enum sim_fault_kind {
  SIM_FAULT_NONE,
  SIM_FAULT_ADDRESS, /* no such memory */
  SIM_FAULT_MISALIGNED,
  SIM_FAULT_SPACE, /* an address of another space than the instruction needs */
  SIM_FAULT_TRAP,
  SIM_FAULT_ASSERT,
  SIM_FAULT_INSTRUCTION, /* illegal use: a barrier number above 15, a bad mbarrier object ... */
  SIM_FAULT_STACK,       /* calls too deep */
  SIM_FAULT_UNMODELLED,
  SIM_FAULT_MEMORY /* the host ran out of memory */
} sim_fault_kind;

/* Where something happens in a launch. */
typedef struct sim_place {
  const char *kernel, *func;
  uint32_t block[3], thread[3];
  const char *file; /* source, from .loc; NULL */
  uint32_t line, column;
  uint32_t ptx_line;
} sim_place;

typedef struct sim_fault {
  sim_fault_kind kind;
  sim_place place;
  uint64_t address;
  uint32_t bytes;
  char text[512]; /* one line with all of this */
} sim_fault;

typedef enum sim_state {
  SIM_BUDGET,  /* the budget is used up; call again */
  SIM_DONE,    /* a launch ended: `launch` */
  SIM_FAULTED, /* a launch ended with a fault; every other launch was ended too, and the device is unusable */
  SIM_ASLEEP,  /* nothing can move until the host writes a word that kernels watch */
  SIM_STUCK,   /* nothing can ever move: a proven hang. The launches stay; see sim_waiting */
  SIM_IDLE     /* no launch */
} sim_state;

typedef struct sim_status {
  sim_state state;
  uint64_t launch;
  void *user;
  uint64_t used;   /* warp instructions run by this call */
  sim_fault fault; /* if SIM_FAULTED */
} sim_status;

/* Runs what can run, for about `budget` warp instructions, or until there is something to say. */
void sim_device_run(sim_device *d, uint64_t budget, sim_status *out);
/* Ends all launches (a program ends, a time limit). */
void sim_device_stop(sim_device *d);

typedef struct sim_stats {
  uint64_t warp_insns, thread_insns; /* of PTX, since the device was made */
  uint64_t launches, blocks, loops_slept, fragments_split;
  uint64_t clock; /* the virtual clock, ns */
} sim_stats;
void sim_device_stats(const sim_device *d, sim_stats *out);
/* The host's part of the virtual clock: time for events. */
uint64_t sim_clock(const sim_device *d);

/* ------------------------------------------------------------------ who waits for whom */

typedef enum sim_wait_kind {
  SIM_WAIT_BARRIER, /* bar, barrier: number, have and want threads */
  SIM_WAIT_CLUSTER,
  SIM_WAIT_WARP,   /* named lanes: `lanes` are awaited */
  SIM_WAIT_MEMORY, /* a loop that would only repeat itself: watches `n_words` words */
  SIM_WAIT_GRID,   /* griddepcontrol.wait */
  SIM_WAIT_ROOM,   /* a block that is not resident */
  SIM_WAIT_BEHIND  /* lockstep: it could go on, but lanes of its warp that are behind go first */
} sim_wait_kind;

typedef struct sim_word {
  uint64_t address; /* generic: shared memory too */
  uint32_t bytes;
  bool host; /* the host can write it */
} sim_word;

typedef struct sim_wait {
  sim_wait_kind kind;
  uint64_t launch;
  const struct sim_who *who; /* hooks.h; NULL: SIM_WAIT_ROOM */
  sim_place place;           /* of its first lane: where it stands, or what it reads again and again */
  uint32_t warp, lanes;      /* which wait */
  uint32_t number, have, want;
  uint32_t awaited, named; /* SIM_WAIT_WARP: lanes that are not at any such instruction; all that are named */
  const sim_word *words;   /* the one that `place` reads first */
  uint32_t n_words;
  uint64_t n_blocks; /* SIM_WAIT_ROOM: how many blocks wait so */
} sim_wait;

typedef struct sim_residency {
  uint64_t launch;
  uint64_t blocks, resident, done; /* of the launch */
  sim_fit fit;
  sim_need need;
  bool registers_known;
} sim_residency;

/* Calls back for every group of lanes that waits, of every launch. Valid after SIM_STUCK or SIM_ASLEEP. */
void sim_waiting(sim_device *d, void (*tell)(void *user, const sim_wait *w), void *user);
const sim_limits *sim_device_limits(const sim_device *d);
bool sim_residency_of(const sim_device *d, uint64_t launch, sim_residency *out);

/* ------------------------------------------------------------------ watchers (hooks.h) */

/* One at a time; NULL takes it away. Only while no launch is running. */
void sim_device_watch(sim_device *d, const struct sim_watcher *w);

#endif
