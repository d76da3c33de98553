/* machine.h: what the files of src/sim share. Private to src/sim.
 *
 * Who owns what: a device owns memory, launches and their blocks; a launch its blocks; a block its warps; a
 * warp its units (sim_unit: the lanes that go together). A kernel is decoded once into a sim_code, which
 * nothing changes afterwards; all state of a run is in the objects above.
 */
#ifndef MUSTER_SIM_MACHINE_H
#define MUSTER_SIM_MACHINE_H

#include <threads.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/map.h"
#include "base/text.h"
#include "sim/exec.h"

/* ------------------------------------------------------------------ addresses */

/* A generic address is a device or host address as it stands, or lies in a window. A shared address is an
 * offset in the block's own shared memory if its upper byte is 0, else that of block (upper byte - 1) of the
 * cluster; in a launch with clusters the address of a symbol carries the block's own rank, as on a GPU. */
#define SIM_SHARED_WINDOW UINT64_C(0x100000000000)
#define SIM_LOCAL_WINDOW UINT64_C(0x100100000000)
#define SIM_CODE_WINDOW UINT64_C(0x100200000000) /* addresses of functions */
#define SIM_WINDOW_BYTES UINT64_C(0x100000000)
#define SIM_RANK_SHIFT 24
#define SIM_OFFSET_MASK 0xffffffu
#define SIM_LOCAL_STACK (64u << 10) /* of a thread that may call recursively or reserve at run time */

typedef struct sim_span {
  uint64_t begin, end; /* [begin, end) */
  uint64_t gap;        /* bytes behind it that nothing else may use */
  sim_allocation info;
} sim_span;

/* SIM_PARTLY: an allocation ends in it, and to the byte counts. */
typedef enum sim_granule { SIM_FREE, SIM_PLAIN, SIM_READ_ONLY, SIM_PARTLY } sim_granule;
static inline bool sim_granule_ok(uint8_t g, bool writes) {
  return g == SIM_PLAIN || (g == SIM_READ_ONLY && !writes);
}

typedef struct sim_memory {
  uint8_t *base, *end; /* the reserved range */
  uint64_t bytes, used, limit;
  uint8_t *granules; /* one byte for each SIM_GRANULE bytes: sim_granule */
  sim_span *spans;   /* allocations by address */
  uint32_t n_spans, cap_spans;
  sim_span *host; /* registered host ranges and peers, by address; info.kind HOST: watched */
  uint32_t n_host, cap_host;
  uint64_t next_number, next_own; /* of what the host allocated, and of everything else */
  uint64_t low_end, low_used,
      top; /* the host's allocations lie below low_end, the machine's own from top on */
  uint64_t heap_limit, heap_used;
  uint8_t *defined; /* a bit for each byte, while a watcher asks for it */
  /* While a watcher decides about accesses: sizes count to the byte, allocations lie apart, and what was
   * freed is not used again at once. */
  bool exact;
  uint64_t *gone; /* a ring: where freed allocations begin, in the order of their end */
  uint32_t first_gone, n_gone;
  struct sim_saved *saved; /* states that are kept: saved.c */
  uint8_t *pages;          /* of each SIM_PAGE bytes: which of those hold what it was, a bit each */
  uint8_t kept;            /* their bits */
} sim_memory;
#define SIM_PAGE 4096u

bool sim_memory_init(sim_memory *m, uint64_t bytes, uint32_t device_index);
void sim_memory_end(sim_memory *m);
uint64_t sim_memory_take(sim_memory *m, uint64_t bytes, sim_memory_kind kind, const char *name);
bool sim_memory_give(sim_memory *m, uint64_t address);
void sim_memory_mark(const sim_memory *m, const sim_span *s); /* its granules */
enum { SIM_GONE = 4096 };                                     /* so many freed allocations are remembered */
const sim_span *sim_span_at(const sim_span *spans, uint32_t n, uint64_t address);
bool sim_memory_ends_behind(const sim_memory *m, uint64_t address, uint64_t bytes);
/* Before bytes change: states that are kept take what they were (saved.c). */
void sim_memory_touch(sim_device *d, uint64_t address, uint64_t bytes);
/* Every byte may be used by a kernel. */
static inline bool sim_memory_ok(const sim_memory *m, uint64_t address, uint64_t bytes) {
  uint64_t at = address - (uint64_t)(uintptr_t)m->base;
  if (at < m->bytes && bytes <= m->bytes - at) {
    uint8_t last = m->granules[(at + bytes - 1) / SIM_GRANULE];
    return m->granules[at / SIM_GRANULE] && last &&
           (last != SIM_PARTLY || sim_memory_ends_behind(m, address, bytes));
  }
  const sim_span *s = sim_span_at(m->host, m->n_host, address);
  return s && bytes <= s->end - address;
}

/* ------------------------------------------------------------------ code */

typedef struct sim_code sim_code;
typedef struct sim_func sim_func;

/* Where a brx can go. */
typedef struct sim_table {
  uint32_t n;
  struct {
    uint32_t insn, order;
    const sim_op *op;
  } to[];
} sim_table;

/* One function of a kernel, decoded. */
struct sim_func {
  sim_code *code;
  const ptx_module *ptx;
  sim_module *module;
  uint32_t index; /* of the function in the module */
  const ptx_func *decl;
  const ptx_body *body;
  sim_op *ops;
  uint32_t n_ops, cap_ops;
  uint32_t *op_of; /* of instruction: first op; n_insns + 1 entries */
  uint32_t *reg;   /* of register: place */
  uint32_t *vars;  /* of body variable: offset in local memory, or place of the address of a shared one */
  uint64_t *live;  /* a bit for each register: live at the head of a block, n_blocks rows */
  uint32_t live_words;
  uint8_t *hoisted; /* of instruction: its value is the same in the whole block */
  uint32_t frame_bytes;
  uint32_t local_bytes; /* own variables, parameters, arguments of its calls */
  uint32_t link;        /* place of sim_link columns; SIM_NOWHERE in a kernel */
  uint32_t *order;      /* of block: of its first instruction, over all functions of the kernel */
  uint32_t *block_of;   /* of instruction */
  uint32_t classes[3];  /* where places of 4, 8 and 16 bytes a lane begin; behind the last, `trash` */
  uint32_t trash;       /* a place to throw results away, 512 bytes */
  uint32_t stack_top;   /* place: end of the thread's local memory, if the body moves it; SIM_NOWHERE */
  bool moves_stack;
  uint32_t pressure;  /* 32-bit registers live at once */
  sim_func **callees; /* called directly */
  uint32_t n_callees, cap_callees;
  uint32_t deepest, deepest_local; /* frames and local memory below it, on the deepest way found */
  sim_table **tables;              /* of brx */
  uint32_t n_tables, cap_tables;
  struct sim_slice *slices; /* of loops, made when asked for: probe.c */
};

/* The columns behind sim_func.link: for each lane, where its call came from. */
typedef struct sim_link {
  const sim_op *call[SIM_LANES];
  uint32_t frame[SIM_LANES];
  uint32_t local[SIM_LANES]; /* where its local memory begins */
} sim_link;

typedef enum sim_recipe_kind {
  SIM_RECIPE_SREG,
  SIM_RECIPE_PARAM,         /* value of a parameter: offset, bytes, extended */
  SIM_RECIPE_PARAM_ADDRESS, /* offset */
  SIM_RECIPE_SHARED,        /* offset; address of a shared variable */
  SIM_RECIPE_DYNAMIC        /* address of dynamic shared memory */
} sim_recipe_kind;

/* How a value of the block pool comes about. */
typedef struct sim_recipe {
  uint8_t kind, part, bytes, lane_bytes;
  bool is_signed;
  uint32_t what; /* sreg, offset */
  uint32_t place;
} sim_recipe;

struct sim_code {
  base_arena arena;
  jmp_buf out_of_memory;
  sim_kernel *kernel;
  sim_func **funcs; /* [0] is the kernel's */
  uint32_t n_funcs, cap_funcs;
  char *consts;
  uint32_t const_bytes, const_capacity;
  sim_recipe *recipes;
  uint32_t n_recipes, cap_recipes;
  sim_op *prologue; /* run once a block, ends with an op whose handlers return NULL */
  uint32_t n_prologue, cap_prologue;
  uint32_t pool_bytes;   /* of the block pool */
  uint32_t shared_bytes; /* with what the system reserves; dynamic shared memory begins behind, aligned */
  uint32_t shared_align;
  struct sim_shared_var {
    const ptx_var *var;
    uint32_t offset;
  } *shared;
  uint32_t n_shared, cap_shared;
  uint32_t stack_bytes, stack_frames; /* local memory and register frames with all calls */
  uint32_t next_order;
  uint32_t local_bytes, largest_frame;
  bool calls_indirectly, deep, uses_grid_workspace, uses_reserved,
      reads_clock; /* deep: the stack's size is not known before */
  uint32_t sreg_places[PTX_SREG_LANEMASK_GT - PTX_SREG_LANEMASK_EQ + 2]; /* constant vectors, once made */
  const char *refused;
  uint32_t refused_line;
  char *error; /* malloc'ed */
};

struct sim_kernel {
  sim_module *module;
  uint32_t func;
  const ptx_func *decl;
  sim_code *code;
  uint32_t registers;
  bool registers_known;
  struct sim_kernel *next;
};

typedef struct sim_symbol {
  uint64_t address;
  bool placed; /* false: shared, or extern that nobody defined */
  bool own;    /* its memory is this module's */
} sim_symbol;

struct sim_module {
  sim_device *device;
  ptx_module *ptx;
  sim_symbol *symbols; /* of variables */
  sim_module **others; /* that externs are sought in */
  uint32_t n_others;
  uint32_t number;
  uint32_t const_bytes;
  sim_kernel *kernels;
  sim_module *next;
};

sim_func *sim_code_func(sim_build *w, sim_module *m, uint32_t index); /* to be decoded, if it is not yet */
sim_code *sim_code_new(sim_kernel *k, char **error);
void sim_code_free(sim_code *c);
bool sim_symbol_address(const sim_module *m, uint32_t var, uint64_t *address); /* false: it is nowhere */
/* An address of a function, and back; NULL if there is none. */
uint64_t sim_func_address(const sim_module *m, uint32_t func);
sim_func *sim_func_at(const sim_code *c, uint64_t address);
/* Where extern functions and variables really are. */
bool sim_resolve_func(sim_module **m, uint32_t *func);

/* flow.c */
void sim_flow(sim_func *f); /* liveness, places of registers, hoisted instructions */
typedef void sim_reg_fn(void *user, uint32_t reg, bool written);
void sim_each_reg(const sim_func *f, const ptx_insn *i, sim_reg_fn *fn, void *user);
bool sim_is_uniform_sreg(uint32_t sreg); /* the same in a whole block, as long as it runs */
bool sim_is_time(uint32_t sreg);         /* %clock and the like */
uint32_t sim_pool_place(sim_code *c,
                        uint32_t lane_bytes); /* new room in the block pool; 0: for a predicate */
#define SIM_BIT(set, i) ((set)[(i) / 64] >> ((i) % 64) & 1)
#define SIM_BIT_SET(set, i) ((set)[(i) / 64] |= UINT64_C(1) << ((i) % 64))

/* ------------------------------------------------------------------ decode.c and its parts */

/* How an instruction may be guarded: by masking the op, or, where lanes may have to wait or go elsewhere, by
 * a branch around it. Set by a selector in sim_build.blocks. */
struct sim_build {
  sim_code *code;
  sim_func *f;
  const sim_level *level;
  bool blocks; /* the op at work may wait or part lanes */
  bool in_prologue;
  uint8_t *breaks;                /* of instruction: it may wait or part lanes, or they meet there */
  uint32_t at;                    /* the instruction at work */
  struct sim_constant *constants; /* a hash of those made so far */
  uint32_t n_constants, cap_constants;
  uint32_t *fixups; /* ops whose imm is an instruction, to become an op */
  uint32_t n_fixups, cap_fixups;
};
void sim_emit(sim_build *w, const sim_op *op); /* before whatever is at work */
uint32_t sim_const_lanes(sim_build *w, const void *lanes,
                         uint32_t lane_bytes);             /* a vector that differs by lane */
uint32_t sim_temporary(sim_build *w, uint32_t lane_bytes); /* a place in the frame that nothing else uses */
/* The address of a memory operand: place of the base and an offset. *wide: lanes of 8 bytes. */
uint32_t sim_address_place(sim_build *w, const ptx_body *b, const ptx_operand *o, int64_t *offset,
                           bool *wide);
uint32_t sim_sreg_place(sim_build *w, uint32_t sreg, uint32_t part);
uint32_t sim_order_of(const sim_func *f, uint32_t insn);
_Noreturn void sim_decode_fail(sim_build *w, const ptx_insn *i, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Selectors of src/sim itself, asked before those of the level. */
sim_select sim_select_control, sim_select_barrier, sim_select_collective, sim_select_copy,
    sim_select_mbarrier, sim_select_address;
/* One handler for every way to run a warp. */
static inline bool sim_use_one(sim_op *op, sim_fn *fn) {
  op->fn[SIM_FULL] = op->fn[SIM_MASKED] = op->fn[SIM_SLOW] = fn;
  return true;
}
/* control.c: ops that the decoder makes itself. */
void sim_make_branch(sim_op *op, uint32_t pred); /* target, orders and direction are the decoder's */
void sim_make_guard(sim_op *op, uint32_t pred);
void sim_make_join(sim_op *op);
void sim_make_return(sim_op *op, const sim_func *f);
void sim_make_unmodelled(sim_op *op);
void sim_make_stop(sim_op *op);
void sim_make_local_address(sim_op *op, uint32_t base, uint64_t offset);
bool sim_is_join(const sim_op *op);
bool sim_is_guard(const sim_op *op);
bool sim_is_branch(const sim_op *op);
void sim_link_calls(sim_func *f);

/* ------------------------------------------------------------------ running */

typedef enum sim_unit_state {
  SIM_READY,
  SIM_AT_BARRIER, /* of the block */
  SIM_AT_CLUSTER,
  SIM_AT_WARP, /* named lanes are to meet */
  SIM_AT_GRID, /* waits for another grid */
  SIM_RESTS,   /* until `wake` on the virtual clock */
  SIM_SLEEPS   /* in a loop that would only repeat itself */
} sim_unit_state;

/* A word that a loop read while it was looked at. */
typedef struct sim_watched {
  sim_word word;
  uint8_t *at;
  uint64_t value[2];
  const sim_func *func; /* where it was read first, */
  uint32_t insn, depth;
} sim_watched;

/* One time round a loop, looked at: probe.c. */
typedef struct sim_probe {
  const sim_op *head;
  uint32_t mask, frame;
  uint8_t *before; /* the relevant registers at the head */
  uint32_t before_capacity;
  sim_watched *watched;
  uint32_t n_watched, cap_watched;
  int64_t insns;
  bool running;
  bool wrote;   /* a byte changed, or might have */
  bool clock;   /* it read one */
  bool spoiled; /* nothing can be said */
  bool host;    /* it read a word that the host may write */
} sim_probe;

typedef struct sim_unit {
  uint32_t mask;
  uint8_t state;
  bool yielded; /* has had its turn */
  bool polls;   /* asleep or at rest but for the clock */
  const sim_op *pc;
  const sim_func *func;
  uint32_t frame; /* offset of its registers in the warp's */
  uint32_t depth;
  uint64_t key;           /* deeper calls first, then the order of blocks: the lowest goes first */
  uint32_t number, count; /* barrier */
  uint32_t rank;          /* scratch of collectives */
  uint64_t wake;
  int64_t turn;        /* warp instructions left before other units of the warp get a turn */
  uint32_t naps;       /* nanosleeps since it last was a quantum's end */
  const sim_op *loop;  /* where its quantum last ended, */
  uint32_t loops;      /* how often there, */
  uint32_t next_probe; /* and at which of those it probes again */
  bool polled; /* a watcher chooses: it read a word that others may write since it last was at a head */
  sim_probe *probe;
} sim_unit;

typedef struct sim_warp {
  struct sim_block *block;
  uint32_t index;
  uint32_t exists, live;  /* lanes */
  uint32_t used;          /* units in use */
  uint32_t ready, asleep; /* units in that state; asleep: SLEEPS or RESTS */
  uint32_t at_warp;       /* units in state SIM_AT_WARP */
  char *regs;
  bool grown;             /* they outgrew the block's frames, and are elsewhere */
  char *shadow, *origins; /* of regs, while definedness is kept: define.c */
  bool undefined;         /* some register may be: otherwise `shadow` is all zeros */
  uint32_t steps;         /* since that was looked at */
  uint32_t regs_bytes;
  uint8_t *local, *local_defined;
  uint32_t local_bytes; /* of a lane */
  uint32_t at_cluster,
      cluster_phase;          /* lanes that arrived and have not waited, and in which phase (parity) */
  uint32_t groups[SIM_LANES]; /* cp.async groups committed */
  sim_unit units[SIM_LANES];
  uint32_t special[4][SIM_LANES] __attribute__((aligned(64))); /* tid x, y, z, warpid */
  char apart[64]; /* so that the same of all warps does not fall into the same lines of a cache */
} sim_warp;
enum { SIM_SPECIAL_TID_X, SIM_SPECIAL_TID_Y, SIM_SPECIAL_TID_Z, SIM_SPECIAL_WARPID };

#define SIM_BARRIERS 16
typedef struct sim_barrier {
  uint32_t have; /* threads that arrived in this phase */
  uint32_t want; /* 0: all that live */
  uint32_t popc; /* of those, with a true predicate: bar.red */
  uint64_t phase;
  uint32_t *lanes; /* of each warp: who arrived in this phase */
} sim_barrier;

typedef struct sim_cluster {
  uint32_t n_blocks, n_ended;
  struct sim_block **blocks; /* by rank; they stay until the last has ended */
  uint32_t live, arrived;    /* threads */
  uint64_t phase;
} sim_cluster;

typedef struct sim_block {
  struct sim_grid *grid;
  struct sim_block *next, *prev; /* resident blocks of the device, a ring */
  uint64_t number;
  uint32_t id[3];
  uint32_t sm, rank;
  sim_cluster *cluster; /* a block without one is a cluster by itself */
  uint32_t n_warps, n_threads, live;
  uint32_t ready;        /* warps that have a ready unit */
  uint32_t asleep;       /* warps that have one asleep */
  uint32_t turn;         /* warp */
  struct sim_seat *seat; /* under a watcher that chooses; else NULL, or nobody looks there */
  bool ended, started;
  char *pool;
  uint8_t *shared;
  uint32_t shared_bytes;
  uint8_t *shared_defined;
  bool all_defined;   /* every byte of it is, */
  uint32_t looked_up; /* which is looked up now and then */
  uint32_t *barrier_lanes;
  uint32_t open; /* barriers that somebody has arrived at */
  sim_barrier barriers[SIM_BARRIERS];
  sim_warp *warps;
  char *frames; /* their registers, one behind the other */
  uint32_t frame_step;
  uint32_t gang_most;      /* how many may go together */
  struct sim_store *store; /* what these point into; NULL before the first turn and after the last */
} sim_block;

/* What the choice of a turn needs of a resident block: side by side, in the order of the ring. turn.c */
typedef struct sim_seat {
  uint32_t ready, asleep; /* as the block's */
  uint32_t tried;         /* warps that had a turn and got nowhere, since somebody got somewhere */
  uint32_t ranked;        /* of those that could move sim_seats.highest is known */
} sim_seat;

typedef struct sim_seats {
  sim_seat *all;
  sim_block **blocks; /* of each; NULL: it is free, and holds zeros */
  uint32_t n, capacity;
  uint64_t (*ranks)[SIM_LANES]; /* of each warp; 0: not known. NULL: nobody has asked for the highest */
  uint64_t *highest;
} sim_seats;

/* A launch. */
typedef struct sim_grid {
  struct sim_grid *next;
  sim_launch launch;
  uint64_t id;
  const sim_code *code;
  uint64_t n_blocks, next_block, done, resident;
  uint64_t taken; /* a watcher chose blocks out of turn: clusters behind the next that became resident, a bit
                     each */
  uint32_t n_threads, cluster_blocks;
  uint32_t cluster_dim[3];
  uint32_t shared_bytes, shared_begin; /* begin: what the system reserves may not be used */
  sim_need need;
  sim_fit fit;
  uint64_t params; /* address */
  uint64_t workspace;
  bool told, watched;
  sim_block *spare;         /* ended blocks, to be used again */
  struct sim_store *stores; /* and their memory */
} sim_grid;

typedef struct sim_sm {
  uint32_t blocks, threads, warps, registers, shared; /* free */
  uint32_t gpc;
} sim_sm;

struct sim_device {
  sim_options options;
  const sim_level *level;
  sim_memory memory;
  sim_sm *sms;
  sim_grid *grids, **grids_end;
  sim_block *current; /* whose turn it is in the ring */
  uint64_t n_resident;
  uint64_t next_grid, next_module;
  sim_module *modules;
  const sim_watcher *watcher;
  struct sim_run *run;
  uint64_t clock;      /* how far the virtual clock is ahead of the instructions run */
  uint64_t clock_step; /* by which it jumps when only the clock can wake anybody */
  uint64_t random;
  sim_stats stats;
  sim_device *peers[16];
  uint32_t n_peers;
  uint32_t next_sm;
  bool muted;                  /* what kernels print is dropped */
  sim_seats seats;             /* under a watcher that chooses */
  bool seated;                 /* every resident block is */
  bool any_tried;              /* somebody is, of sim_seat.tried */
  struct sim_origins *origins; /* while definedness is kept */
  struct sim_workers *workers; /* NULL: the caller runs everything */
  mtx_t lock;                  /* what workers share: spare memory, the heap, output */
};

#define SIM_FRAMES_MAX (256u << 20) /* bytes of registers of one warp */
/* Where an op's memory was. */
typedef struct sim_last {
  const sim_op *op;
  const uint8_t *at;
} sim_last;

typedef struct sim_run {
  sim_ctx ctx; /* first: a sim_ctx * is a sim_run * */
  sim_device *device;
  sim_block *block;
  sim_warp *warp;
  sim_unit *unit;
  const sim_grid *grid;
  uint8_t *shared;
  uint32_t shared_bytes;
  const sim_memory *memory;
  uint32_t from;      /* instruction at which straight-line running began, for counting */
  int64_t budget;     /* warp instructions left of this turn */
  uint64_t lanes;     /* popcount of the mask; of a gang's masks, all together */
  uint32_t warps;     /* 1, or how many are in the gang */
  uint64_t depth_key; /* the part of the unit's key that its depth makes */
  uint64_t other_key; /* the lowest key, of those above its own, of the warp's other ready units; UINT64_MAX:
                         none */
  bool quantum;       /* the unit stopped because its budget was used up, at a loop's head */
  bool progress;      /* something was run but loops that only look at the clock */
  uint64_t warp_insns, thread_insns;
  sim_probe *probe; /* the unit's, while it runs */
  const sim_watcher *watcher;
  bool yield; /* a watcher asked for it */
  bool parts; /* a gang that is told ends behind the op: one of its warps has a register that nobody wrote */
  bool defines;   /* definedness is kept */
  bool only_told; /* the watcher chooses nothing, and no loop is probed: exec/told.c */
  sim_event told; /* while that holds: its accesses are told with this; .who is the running unit */
  sim_access told_access;
  uint64_t ticks;  /* how far its clock is ahead of its own instructions */
  sim_stats stats; /* its part of the device's */
  sim_fault fault;
  sim_last last[16]; /* by op */
  uint64_t address[SIM_LANES] __attribute__((aligned(64)));
  uint8_t *pointer[SIM_LANES];
} sim_run;

static inline sim_run *sim_run_of(sim_ctx *c) {
  return (sim_run *)c;
}
/* How far the memory of an op is from where it was when the op was last carried out: in a loop, that is where
 * it will be next time. */
static inline uintptr_t sim_ahead(sim_run *r, const sim_op *o, const uint8_t *at) {
  sim_last *l = &r->last[(uintptr_t)o / sizeof *o % BASE_COUNT(r->last)];
  uintptr_t far = l->op == o ? (uintptr_t)at - (uintptr_t)l->at : 0;
  *l = (sim_last){o, at};
  return far;
}
/* What sim_ctx.base holds for memory of one kind. */
static inline char *sim_biased(const void *p, uintptr_t kind) {
  return (char *)((uintptr_t)p - kind);
}
static inline uint32_t sim_first(uint32_t mask) {
  return (uint32_t)__builtin_ctz(mask);
}
static inline uint32_t sim_count(uint32_t mask) {
  return (uint32_t)__builtin_popcount(mask);
}
/* sched.c: units of a warp. All of them may be called by handlers; a handler that changed who goes next
 * returns NULL. */
enum { SIM_WARP_QUANTUM = 128, SIM_UNIT_TURN = 8192, SIM_BLOCK_QUANTUM = 1 << 16 };
static inline uint64_t sim_depth_key(uint32_t depth) {
  return (uint64_t)(UINT32_MAX - depth) << 32;
}
sim_unit *sim_unit_new(sim_warp *w, uint32_t lanes, const sim_unit *like);
sim_unit *sim_unit_split(sim_warp *w, sim_unit *u,
                         uint32_t lanes); /* lanes leave u for a new unit, like it */
void sim_unit_state_set(sim_warp *w, sim_unit *u, sim_unit_state s);
void sim_unit_drop(sim_warp *w, sim_unit *u);
static inline void sim_unit_at(sim_unit *u, const sim_op *pc, uint32_t order) {
  u->pc = pc;
  u->key = sim_depth_key(u->depth) + order;
}
/* Counts what was run up to and with o, and goes on counting from op `to`. */
static inline void sim_counted(sim_run *r, const sim_op *o, const sim_op *to) {
  int64_t n = (int64_t)o->insn + 1 - r->from;
  r->warp_insns += (uint64_t)n * r->warps;
  r->thread_insns += (uint64_t)n * r->lanes;
  r->budget -= n;
  r->from = to->insn;
}
/* The same up to o, which is still to come. */
static inline void sim_counted_before(sim_run *r, const sim_op *o) {
  uint32_t n = o->insn - r->from;
  r->warp_insns += (uint64_t)n * r->warps;
  r->thread_insns += n * r->lanes;
  r->budget -= n;
  r->from = o->insn;
}
/* Ends the unit's turn behind o, to go on at `next`: the usual end of a handler that waits or parts. Returns
 * NULL. */
const sim_op *sim_stop(sim_run *r, const sim_op *o, const sim_op *next);
void sim_lanes_exit(sim_run *r, const sim_op *o, uint32_t lanes);
void sim_warp_run(sim_run *r, sim_warp *w, int64_t budget);
void sim_quantum_over(sim_run *r, sim_warp *w, sim_unit *u);
bool sim_warp_grow(sim_warp *w, uint32_t regs_bytes); /* launch.c */
void sim_mask_set(sim_run *r, uint32_t mask);
void sim_say(sim_run *r, sim_event *e, uint32_t lanes,
             const sim_op *o); /* fills who; only if there is a watcher */
void sim_say_own(sim_run *r, sim_event *e, uint32_t lanes,
                 const sim_op *o); /* the same of the running unit */
void sim_who_of(const sim_run *r, uint32_t lanes, const sim_op *o, sim_who *out);
static inline bool sim_watches(const sim_run *r, uint32_t what) {
  return r->watcher && (r->watcher->watch & what);
}
/* The watcher chooses nothing, so that it makes no difference to it when what is told happened. */
static inline bool sim_only_tells(const sim_watcher *w) {
  return w && !w->source && w->event && !(w->watch & (SIM_WATCH_CHOICES | SIM_WATCH_STEPS));
}

/* gang.c: warps that go together, as many as have their registers in the first-level cache. Warps of a block
 * are bits. */
enum { SIM_GANG_BYTES = 24 << 10, SIM_GANG_QUANTUM = 4 * SIM_WARP_QUANTUM };
uint32_t sim_gang_of(const sim_run *r, sim_block *b, uint32_t first,
                     uint32_t among); /* who may go with warp `first`, and it; 0: it goes alone */
void sim_gang_run(sim_run *r, sim_block *b, uint32_t gang);
void sim_gang_set(sim_run *r, uint32_t gang); /* from now on these */
void sim_gang_at(sim_run *r, uint32_t gang, const sim_op *pc, uint32_t order);
void sim_gang_one(sim_run *r, uint32_t w); /* for a handler that is not a gang's; r->lanes is the caller's */
void sim_gang_all(sim_run *r);             /* the gang again */
/* Ways of a gang for ops that have none. */
sim_fn sim_gang_each;  /* that only go on, to where they all go on */
sim_fn sim_gang_told;  /* the same, behind the op, where something is told */
sim_fn sim_gang_apart; /* that may stop */

/* probe.c */
enum { SIM_PROBE_INSNS = 65536 };
void sim_probe_begin(sim_run *r, sim_unit *u); /* u stands at a loop's head */
void sim_probe_end(sim_run *r);                /* r->unit is at the head again: it sleeps, or not */
void sim_probe_read(sim_run *r, const sim_op *o, uint64_t address, uint8_t *at, uint32_t bytes);
void sim_probe_spoil(sim_probe *p);
bool sim_probe_wakes(const sim_device *d, const sim_unit *u);
void sim_probe_free(sim_probe *p);
void sim_slices_free(sim_func *f);

/* The virtual clock, in ns and in cycles: each SM runs an instruction in one, all of them at once, as far as
 * the clock is concerned. So a deadline does not expire only because this machine runs one after the other.
 */
static inline uint64_t sim_now(const sim_run *r) {
  return r->device->clock + r->ticks + r->warp_insns / r->device->options.limits.sms;
}

/* barrier.c */
void sim_barriers_exit(sim_run *r, sim_block *b);
void sim_cluster_exit(sim_run *r, sim_block *b, uint32_t threads);
/* Whoever waits at griddepcontrol.wait for grid `id` goes on. */
void sim_grid_ended(sim_run *r, uint64_t id);
/* mbarrier.c: bytes have come for an object; false: a fault was raised */
bool sim_mbarrier_complete(sim_run *r, const sim_op *o, uint8_t space, uint64_t address, uint32_t rank,
                           uint32_t bytes, uint32_t lane);
/* warp.c */
/* Lanes that a unit in SIM_AT_WARP waits for, and all that it names. */
uint32_t sim_awaited(const sim_warp *w, const sim_unit *u, uint32_t *named);
void sim_warp_meet(sim_run *r, sim_warp *w); /* lets go whoever has met */

/* launch.c */
bool sim_admit(sim_device *d); /* false: out of memory */
void sim_block_release(sim_device *d, sim_block *b);
bool sim_cluster_begin(sim_run *r,
                       sim_block *b); /* starts the block and those of its cluster; false: out of memory */
void sim_block_enter(sim_run *r, sim_block *b); /* r runs it now */
bool sim_block_end(sim_run *r, sim_block *b);   /* true: its grid has ended */
void sim_grid_free(sim_device *d, sim_grid *g);
void sim_drop_all(sim_device *d);
void sim_sms_fill(sim_device *d);
void sim_need_of(const sim_kernel *k, uint32_t threads, uint32_t dynamic_shared, uint32_t cluster_blocks,
                 sim_need *out);

/* device.c */
sim_run *sim_run_new(sim_device *d);
void sim_block_wake(sim_run *r, sim_block *b, uint32_t warps);
/* Nobody moved: what now? False: *out says it. */
bool sim_wait_for_time(sim_device *d, sim_status *out);
void sim_end_grid(sim_device *d, sim_grid *g, sim_status *out);
void sim_end_all(sim_device *d, sim_run *r, sim_status *out);   /* r met a fault */
void sim_block_run(sim_run *r, sim_block *b, uint64_t quantum); /* sets r->progress if it got anywhere */
void sim_no_memory(sim_run *r);
void sim_stats_add(const sim_run *r, sim_stats *to);
void sim_float_default(void);
/* turn.c: a watcher chooses whose turn it is */
void sim_run_chosen(sim_device *d, uint64_t budget, sim_status *out);
void sim_seat_take(sim_device *d, sim_block *b); /* b becomes the last in the ring */
void sim_seat_leave(sim_device *d, sim_block *b);
void sim_seats_free(sim_seats *s);
/* workers.c */
typedef struct sim_workers sim_workers;
sim_workers *sim_workers_new(sim_device *d, uint32_t n);
void sim_workers_free(sim_workers *w);
sim_run *sim_workers_round(sim_workers *w, bool *progress, uint64_t *used);
void sim_workers_sum(const sim_workers *w, sim_stats *out);

/* ------------------------------------------------------------------ access.c: memory */

/* What an access does, for whoever does not have it compiled into a handler. In an op of memory, a is the
 * place of the address, x an offset to it, y a sim_access_flag, more a sim_moves. */
typedef void sim_atom_fn(const sim_op *o, sim_ctx *c, void *found, void *left);
typedef struct sim_moves {
  uint8_t
      space; /* as the instruction says; of a function's parameters and results LOCAL, of a kernel's PARAM */
  uint8_t bytes; /* of an element */
  uint8_t n;     /* elements */
  uint8_t order, scope, proxy;
  uint8_t type, rop;
  bool is_signed, noftz;
  uint8_t reg_bits, lane_bytes; /* of the registers */
  uint32_t places[8];           /* registers that are loaded or stored, or an atomic's operand b */
  uint32_t compare;    /* atom.cas: its operand c is what is stored, b what is compared; place of c */
  uint32_t results[8]; /* of an atomic; SIM_NOWHERE: none */
  sim_atom_fn *told;   /* does an atomic at r->pointer, and says what each lane found and left there; NULL */
} sim_moves;

enum {
  SIM_WIDE = 1,    /* lanes of the address have 8 bytes */
  SIM_ORDERED = 2, /* acquires or releases */
  SIM_GLOBAL = 0,  /* and const, and a kernel's parameters */
  SIM_SHARED = 4,
  SIM_LOCAL = 8,
  SIM_GENERIC = 12,
  SIM_SPACES = 12
};

sim_moves *sim_moves_new(sim_build *w, const ptx_body *b, const ptx_insn *i, sim_op *op,
                         unsigned address_operand);
void sim_moves_regs(sim_build *w, const ptx_body *b, const ptx_operand *o, uint32_t places[8], sim_moves *m);

typedef struct sim_found {
  uint8_t *at; /* NULL: no memory, or one that may not be used so */
  uint8_t space;
  bool misaligned;
  uint32_t rank;   /* shared memory of which block; SIM_NOWHERE: the own one */
  uint64_t offset; /* in shared or local memory; else the address */
} sim_found;
sim_found sim_find(const sim_run *r, uint8_t space, uint64_t address, uint32_t bytes, uint32_t align,
                   uint32_t lane, bool writes);
const sim_op *sim_bad_access(sim_run *r, const sim_op *o, const sim_found *f, uint8_t space, uint64_t address,
                             uint32_t bytes, uint32_t lane, bool writes);
/* A bad access of one lane, told to a watcher that decides about them: it is not done, and is no fault. */
bool sim_drops(sim_run *r, const sim_op *o, const sim_found *f, uint32_t bytes, uint32_t lane, bool writes);
/* r->address and r->pointer of the lanes of the mask; false: a fault was raised. */
bool sim_resolve(sim_run *r, const sim_op *o, const sim_moves *m, uint32_t bytes, bool writes);
sim_fn sim_load_slow, sim_store_slow, sim_atom_slow;
sim_select sim_select_atom;
/* One atomic operation on memory; *old is what was there, *stored what is now. False: nothing was stored.
 * locked: others of this process may be at it too. */
bool sim_atomic(const sim_moves *m, void *at, const uint64_t b[2], const uint64_t c[2], uint64_t old[2],
                uint64_t stored[2], bool locked, bool shared);
static inline uint64_t sim_extend(const sim_moves *m, uint64_t v) {
  if (m->is_signed && m->bytes < 8)
    v = (uint64_t)((int64_t)(v << (64 - 8 * m->bytes)) >> (64 - 8 * m->bytes));
  return m->reg_bits < 64 ? v & ((UINT64_C(1) << m->reg_bits) - 1) : v;
}

/* ------------------------------------------------------------------ define.c: only while r->defines */

/* Before op o, where a register of the warp may be undefined (w->undefined). */
void sim_define_step(sim_run *r, const sim_op *o);
/* Registers of the running unit, by place. Origins: sim_origin_new. */
uint32_t sim_undefined_at(const sim_run *r, uint32_t place); /* lanes */
uint32_t sim_origin_at(const sim_run *r, uint32_t place, uint32_t lanes);
void sim_define_at(sim_run *r, uint32_t place, uint32_t lanes, uint32_t undefined, uint32_t origin);
/* What a load found: of each lane a bit for each byte that nobody wrote. */
void sim_define_loaded(sim_run *r, const sim_op *o, const sim_moves *m, uint32_t place, const uint16_t *bad,
                       const sim_found *found, uint32_t lanes);
/* Lanes are about to store from there: what that defines, and is told. Returns those with undefined bytes. */
uint32_t sim_define_stored(sim_run *r, const sim_op *o, const sim_moves *m, uint32_t place,
                           const sim_found *found, uint32_t lanes);
/* An atomic uses what it finds, or hands it out. */
void sim_define_atomic(sim_run *r, const sim_op *o, const sim_moves *m, uint32_t result,
                       const sim_found *found, uint32_t lanes);
void sim_define_report(sim_run *r, const sim_op *o, uint32_t place, uint32_t lanes, sim_use use,
                       uint32_t operand);
/* Frames of calls. */
void sim_define_frame(sim_warp *w, const sim_func *f, uint32_t frame, uint32_t lanes);
void sim_define_pass(sim_warp *w, const sim_func *f, uint32_t from_frame, uint32_t from, const sim_func *to_f,
                     uint32_t to_frame, uint32_t to, uint32_t lanes);
void sim_define_to_memory(sim_run *r, const sim_func *f, uint32_t frame, uint32_t place, const sim_found *to,
                          uint32_t lane, uint32_t bytes);
void sim_define_from_memory(sim_run *r, const sim_func *f, uint32_t frame, uint32_t place,
                            const sim_found *from, uint32_t lane, uint32_t bytes);
/* Memory. */
uint32_t sim_undefined_bytes(const sim_run *r, const sim_found *f, uint32_t lane,
                             uint32_t bytes); /* at most 16 bytes: a bit for each */
void sim_define_memory(sim_run *r, const sim_found *f, uint32_t lane, uint32_t bytes, bool defined);
void sim_define_copied(sim_run *r, const sim_found *to, const sim_found *from, uint32_t lane, uint32_t bytes);
bool sim_define_begin(sim_device *d);
bool sim_define_block(sim_block *b, uint64_t shared_begin);
bool sim_define_grow(sim_warp *w, uint32_t bytes); /* regs_bytes is still the old size */
/* origin.c: where undefined values came from, as numbers; 0: a register that nobody wrote. */
#define SIM_ORIGIN_OWN \
  0x80000000u /* every byte of it was undefined, and it lay in the thread's or block's own memory */
typedef struct sim_origins sim_origins;
sim_origins *sim_origins_new(void);
void sim_origins_forget(sim_origins *all); /* no launch is left: nothing has an origin */
uint32_t sim_origin_new(sim_run *r, const sim_op *o, const sim_found *found, uint32_t lanes, uint32_t bytes);
/* Fills in `undefined` of the event for a lane of the running warp. */
void sim_origin_tell(const sim_run *r, uint32_t origin, uint32_t lane, sim_event *e);
bool sim_origin_same(uint32_t a, uint32_t b); /* of one instruction */

/* bits.c */
enum { SIM_SOURCES = 5 };
typedef struct sim_bits {
  uint64_t value, bad; /* bad: bits that nobody wrote */
} sim_bits;
uint64_t sim_bad_bits(const ptx_insn *i, const sim_bits sources[SIM_SOURCES], unsigned bits);

/* fault.c */
const sim_op *sim_fault_raise(sim_run *r, const sim_op *o, sim_fault_kind kind, uint32_t lane,
                              uint64_t address, uint32_t bytes, const char *format, ...)
    __attribute__((format(printf, 7, 8)));
void sim_place_fill(const sim_block *b, const sim_warp *w, const sim_func *f, const ptx_insn *i,
                    uint32_t lane, sim_place *out);

/* builtin.c: functions that the machine itself has: vprintf, malloc, free, __assertfail */
typedef bool sim_builtin(sim_run *r, const sim_op *o, uint32_t lane, uint8_t *const *args, uint8_t *result);
sim_builtin *sim_builtin_find(const char *name);

uint64_t sim_random(sim_device *d);

#endif
