/* hooks.h: the second door of the machine, for watchers: what a checker, a tracer or an explorer sees and
 * decides.
 *
 * A watcher is a table of functions. The machine tells it (a) what each warp instruction did, (b) asks it
 * what it may choose, (c) keeps, on request, which registers and bytes hold a value that somebody wrote, and
 * (d) carries the driver's own events through, so that a watcher sees one stream. All calls come from the
 * thread that runs the device, in the order in which things happen. Without a watcher nothing of this costs
 * anything: watched launches run other handlers.
 *
 * Lanes are named by masks; a *unit* is a group of lanes of one warp which go together.
 */
#ifndef MUSTER_SIM_HOOKS_H
#define MUSTER_SIM_HOOKS_H

#include <string.h>

#include "ptx/ptx.h"
#include "sim/sim.h"

#define SIM_WARP 32

/* Who does something. */
typedef struct sim_who {
  uint64_t launch;
  uint64_t block; /* linear, in the grid */
  uint32_t warp;  /* in the block */
  uint32_t lanes;
  uint32_t cluster_rank;
  uint32_t depth; /* calls deep */
  const ptx_module *module;
  const ptx_body *body;
  const ptx_insn *insn;
  uint32_t func; /* of the module */
} sim_who;

typedef enum sim_event_kind {
  SIM_EVENT_LAUNCH,     /* .launch: first, before any of its blocks */
  SIM_EVENT_LAUNCH_END, /* .launch */
  SIM_EVENT_BLOCK,      /* a block became resident; who.lanes 0 */
  SIM_EVENT_BLOCK_END,
  SIM_EVENT_ACCESS,     /* .access: after it happened */
  SIM_EVENT_FENCE,      /* .fence */
  SIM_EVENT_ARRIVE,     /* .barrier: lanes come to a barrier (bar, barrier, barrier.cluster) */
  SIM_EVENT_COMPLETE,   /* .barrier: a barrier let its waiters go; lanes 0 */
  SIM_EVENT_LEAVE,      /* .barrier: lanes go on behind it */
  SIM_EVENT_COLLECTIVE, /* .collective: named lanes have met: shfl, vote, match, redux, elect, bar.warp.sync
                         */
  SIM_EVENT_COLLECTIVE_WAIT, /* .collective: lanes begin to wait for others */
  SIM_EVENT_MBARRIER,        /* .mbarrier */
  SIM_EVENT_COPY,            /* .copy: an asynchronous copy was issued, or awaited */
  SIM_EVENT_BRANCH, /* .branch: lanes parted, or are together again; SIM_WATCH_BRANCHES: all went one way */
  SIM_EVENT_CALL,
  SIM_EVENT_RETURN,
  SIM_EVENT_EXIT,      /* lanes end */
  SIM_EVENT_UNDEFINED, /* .undefined: a value that nobody wrote is used */
  SIM_EVENT_SLEEP,     /* .sleep: a loop would only repeat itself until a word changes */
  SIM_EVENT_WAKE,
  SIM_EVENT_HEAP,  /* .memory: malloc or free in a kernel */
  SIM_EVENT_FAULT, /* .fault: the launch ends */
  /* from the driver, through sim_tell */
  SIM_EVENT_ALLOCATE,  /* .memory */
  SIM_EVENT_FREE,      /* .memory */
  SIM_EVENT_HOST_COPY, /* .memory, .stream: to or from device memory, or a fill */
  SIM_EVENT_STREAM,    /* .stream: an edge between streams, an event, or a wait of the host */
  SIM_EVENTS
} sim_event_kind;
const char *sim_event_name(sim_event_kind k);

typedef enum sim_proxy { SIM_PROXY_GENERIC, SIM_PROXY_ASYNC, SIM_PROXY_CONST } sim_proxy;

/* One element of an access: vectors are told element by element. Arrays are by lane, only entries of
 * who.lanes hold anything. Values lie in `read` and `written`, or, where the watcher chooses nothing, as a
 * register holds them in lanes_read and lanes_written: sim_value_read and sim_value_written look at both. */
typedef struct sim_access {
  const sim_who *who;
  bool reads, writes; /* both: an atomic or a reduction */
  bool regular;       /* lane i of who.lanes is at base + i * stride; else that is not known */
  bool returns;       /* the value read goes to a register (atom, not red) */
  uint8_t space;      /* PTX_SPACE_GLOBAL, SHARED, LOCAL, CONST, PARAM: where it went, never generic */
  uint8_t order;      /* PTX_ORDER_WEAK, VOLATILE, RELAXED, ACQUIRE, RELEASE, ACQ_REL */
  uint8_t scope;      /* PTX_SCOPE_...; PTX_MOD_NONE if weak */
  uint8_t proxy;      /* sim_proxy */
  uint32_t bytes;     /* of the element: 1 to 16 */
  uint32_t element, elements;
  uint32_t stored; /* lanes that really stored: a failed compare-and-swap did not */
  uint64_t base;
  int32_t stride;
  /* 32, or NULL where `regular` says it all (sim_address_of looks at both). Of shared memory: offset in the
   * block's shared memory, without window or rank */
  const uint64_t *address;
  const uint8_t *rank; /* 32: block of the cluster whose shared memory it is; NULL: all their own */
  uint64_t (*read)[2]; /* 32: what was read; of a write, what was there. A watcher may change it; atomics: see
                          sim_watcher.source (b) */
  const uint64_t (*written)[2]; /* 32 */
  uint32_t lane_bytes;          /* of these, of which the first `bytes` are the value: */
  const void *lanes_read, *lanes_written;
  const uint32_t *undefined; /* lanes whose stored value has an undefined byte; NULL: not kept */
} sim_access;

/* One warp's part of an access that warps of a block do one behind the other: all 32 lanes, each its own
 * stride behind the one before. */
typedef struct sim_part {
  uint64_t base;     /* of its lane 0 */
  const void *lanes; /* what they read or wrote, as in sim_access.lanes_read and lanes_written */
  uint32_t warp;
} sim_part;

static inline uint64_t sim_address_of(const sim_access *a, uint32_t lane) {
  return a->address ? a->address[lane] : a->base + (uint64_t)((int64_t)a->stride * lane);
}

/* The value of a lane, or the lower half of one of 16 bytes; 0: it was not read, or not written. */
static inline uint64_t sim_value_of(const sim_access *a, const uint64_t (*wide)[2], const void *lanes,
                                    uint32_t lane) {
  if (wide)
    return wide[lane][0];
  if (!lanes)
    return 0;
  const char *at = (const char *)lanes + (size_t)lane * a->lane_bytes;
  uint16_t half;
  uint32_t word;
  uint64_t all;
  switch (a->bytes) { /* a copy of any size would go by memory, and cost more than all else that is done */
  case 1:
    return *(const unsigned char *)at;
  case 2:
    memcpy(&half, at, sizeof half);
    return half;
  case 4:
    memcpy(&word, at, sizeof word);
    return word;
  default:
    memcpy(&all, at, sizeof all);
    return all;
  }
}
static inline uint64_t sim_value_read(const sim_access *a, uint32_t lane) {
  return sim_value_of(a, (const uint64_t(*)[2])a->read, a->lanes_read, lane);
}
static inline uint64_t sim_value_written(const sim_access *a, uint32_t lane) {
  return sim_value_of(a, a->written, a->lanes_written, lane);
}

typedef struct sim_event {
  sim_event_kind kind;
  sim_who who;
  union {
    const sim_access *access;
    struct {
      uint8_t order, scope; /* PTX_ORDER_SC, ACQ_REL, ACQUIRE, RELEASE */
      uint8_t proxy;        /* PTX_PROXY_...; PTX_MOD_NONE: a fence of threads */
      uint8_t restrict_to;  /* PTX_RESTRICT_... */
    } fence;
    struct {
      bool cluster;
      bool waits; /* not arrive */
      uint32_t number;
      uint32_t count;      /* as the instruction says; 0: the whole block */
      uint32_t have, want; /* threads */
      uint64_t phase;      /* how often this barrier was completed before */
      uint8_t order;       /* barrier.cluster: RELEASE, RELAXED, ACQUIRE */
    } barrier;
    struct {
      const uint32_t *masks;  /* 32: the mask that each lane named */
      uint32_t met;           /* all lanes that met */
      const uint32_t *source; /* shfl: 32, the lane each reads; NULL */
      const sim_who *other;   /* one that stood at another instruction than who; NULL: all at the same */
    } collective;
    struct {
      uint64_t address; /* offset in shared memory */
      uint32_t rank;
      uint32_t count; /* arrivals or bytes */
      uint64_t phase; /* of the object, before */
      bool completes; /* this arrival ended the phase */
      bool succeeded; /* a test or wait saw its phase over */
      uint8_t order, scope;
    } mbarrier;
    struct {
      uint64_t from, to; /* lane by lane: one event a lane */
      uint32_t bytes;
      uint8_t from_space, to_space;
      uint32_t from_rank, to_rank;
      bool bulk, reduces, waits;
      uint32_t group;    /* cp.async groups, numbered for each lane; waits: all up to here are done */
      uint64_t mbarrier; /* the object told at the end, 0: none */
      uint32_t mbarrier_rank;
    } copy;
    struct {
      uint32_t taken;  /* of who.lanes; the others go on behind the instruction */
      bool joins;      /* lanes that had parted are together again: who.lanes */
      uint32_t target; /* instruction */
    } branch;
    struct {
      int use; /* sim_use */
      uint32_t operand;
      /* Where the value of the first of who.lanes was read: */
      const sim_who *read; /* NULL: a register that nobody wrote */
      uint8_t space;
      bool known; /* bytes and address, and the lane is read->lanes; else another read came between */
      uint32_t bytes;
      uint64_t address;
    } undefined;
    struct {
      const sim_word *words;
      uint32_t n_words;
    } sleep;
    struct {
      uint64_t address, bytes, from; /* HOST_COPY: from is the source; a fill has none */
      bool reads, writes;            /* of memory that kernels of this device may use */
      uint64_t stream, order;        /* order: as sim_launch.order */
      bool asynchronous;             /* ALLOCATE, FREE: in stream order */
      bool host;                     /* ALLOCATE, FREE: the host has it too */
    } memory;
    struct {
      uint64_t stream, other, id;
      int what; /* sim_edge, which says what they mean */
    } stream;
    struct {
      const sim_launch *launch;
      sim_fit fit;
      uint64_t workspace; /* %envreg1 and 2: of the grid's barrier, 0: none */
      bool failed;
    } launch;
    const sim_fault *fault;
  };
} sim_event;

typedef enum sim_use {
  SIM_USE_BRANCH,
  SIM_USE_ADDRESS,
  SIM_USE_ATOMIC,
  SIM_USE_STORE,
  SIM_USE_BARRIER,
  SIM_USE_CALL
} sim_use;
/* The order of what the host issues. Streams have numbers; the nodes of a graph lie in lanes, which are
 * streams with numbers above 2^32. Default streams need no further rule: their waits are told as JOIN. */
typedef enum sim_edge {
  SIM_EDGE_WORK,        /* `stream` of device `other` gets work `id`: sim_launch.order, or memory.order */
  SIM_EDGE_JOIN,        /* `stream` waits for what `other` has by now */
  SIM_EDGE_RECORD,      /* recording `id`: what `stream` has by now */
  SIM_EDGE_WAIT,        /* `stream` waits for recording `id` */
  SIM_EDGE_WAIT_VALUE,  /* `stream` waits for a word of memory */
  SIM_EDGE_STREAM_SYNC, /* the host waits for `stream` */
  SIM_EDGE_DEVICE_SYNC, /* for all streams of device `other` */
  SIM_EDGE_EVENT_SYNC   /* for recording `id` */
} sim_edge;

/* What a watcher may choose. It is asked only where there is a choice. */
typedef enum sim_choice_kind {
  SIM_CHOOSE_TURN, /* which warp goes next, of all that can, until it waits, yields or has gone on for long */
  SIM_CHOOSE_UNIT, /* which unit of it, where its lanes have parted */
  SIM_CHOOSE_START /* which cluster becomes resident next, where there is room; asked for the last one too */
} sim_choice_kind;
#define SIM_CHOOSE_NONE UINT32_MAX /* START: none, as long as others are resident */

typedef struct sim_turn {
  uint64_t launch, block;
  uint32_t warp;
} sim_turn;

typedef struct sim_choice {
  sim_choice_kind kind;
  uint64_t launch, block; /* UNIT, START (the launch alone) */
  uint32_t warp;          /* UNIT */
  uint32_t n;             /* one of so many: 0 to n - 1 */
  uint32_t usual;         /* what the machine would take */
  uint64_t resident;      /* START: how many blocks are */
  sim_device *device;     /* TURN: for the functions below */
  const uint64_t *ids;    /* n: UNIT, lane masks; START, numbers of clusters */
} sim_choice;
/* TURN: who the k-th is, from the one on that the machine would take. */
sim_turn sim_turn_at(const sim_choice *c, uint32_t k);
/* TURN: which of them has the highest rank. Ranks are asked for as they are needed, and kept: that of a warp,
 * which is never 0, may change only until its next turn is over. */
typedef uint64_t sim_rank(void *user, const sim_turn *who);
uint32_t sim_turn_highest(const sim_choice *c, sim_rank *rank, void *user);

typedef enum sim_answer { SIM_GO_ON, SIM_YIELD } sim_answer;

enum {
  SIM_WATCH_ACCESS = 1, /* accesses to global and shared memory */
  SIM_WATCH_LOCAL = 2,  /* also to local, const and param memory */
  SIM_WATCH_SYNC = 4,   /* fences, barriers, collectives, copies */
  SIM_WATCH_FLOW = 8,   /* branches, calls, exits */
  SIM_WATCH_CHOICES = 16,
  SIM_WATCH_DEFINED = 32,  /* keep definedness, and report uses */
  SIM_WATCH_STEPS = 64,    /* `step` before every instruction */
  SIM_WATCH_BRANCHES = 128 /* with FLOW: every conditional branch, not only where lanes part */
};

typedef struct sim_watcher {
  void *user;
  uint32_t watch; /* SIM_WATCH_...; may change in an event, but for DEFINED */
  /* Something happened. SIM_YIELD: let another unit go before this one goes on. */
  sim_answer (*event)(void *user, const sim_event *e);
  /* Weak accesses of several warps of a block by one instruction happened in this order; `a` and its who say
   * what they have in common. NULL: `event` is told each. */
  void (*several)(void *user, const sim_access *a, const sim_part *parts, uint32_t n);
  /* All that live of a block came to a barrier one behind the other, and went on: in place of ARRIVE for each
   * warp, COMPLETE, and LEAVE for each. `e` is the last ARRIVE, lanes[w] who came of warp w. NULL: `event` is
   * told each. */
  void (*met)(void *user, const sim_event *e, const uint32_t *lanes, uint32_t n_warps);
  /* Before an access some of whose lanes go astray: `legal` are those that stay, to the byte, within memory
   * that they may use so, and are aligned. Returns which of these may do it; the others' writes are dropped,
   * their reads give 0 (and are undefined), and nothing faults. NULL: bad accesses are faults, and memory
   * reaches to the end of its granule. */
  uint32_t (*allow)(void *user, const sim_access *a, uint32_t legal);
  /* Before a read: lanes whose value the watcher chooses instead of memory's; it has put them in a->read. An
   * atomic operation goes on from there. NULL: none. */
  uint32_t (*source)(void *user, const sim_access *a);
  uint32_t (*choose)(void *user, const sim_choice *c); /* NULL: as usual */
  void (*step)(void *user, const sim_who *who);
} sim_watcher;

/* The driver's events, passed to the watcher of the device if it has one. */
void sim_tell(sim_device *d, const sim_event *e);

/* Definedness of device memory, kept while a watcher asks for it (c): the driver says what its copies and
 * fills define. New allocations are undefined, variables of modules defined. */
void sim_memory_define(sim_device *d, uint64_t address, uint64_t bytes, bool defined);
void sim_memory_define_copy(sim_device *d, uint64_t to, uint64_t from, uint64_t bytes);
/* The first undefined byte at or behind address within bytes, or `bytes`. */
uint64_t sim_memory_undefined(const sim_device *d, uint64_t address, uint64_t bytes);

/* Where that is in source and grid, for a report. lane: 0 to 31. */
void sim_place_of(const sim_device *d, const sim_who *who, uint32_t lane, sim_place *out);

/* A watcher that writes one line an event to `out`; for tests and `muster run --trace`. */
struct base_text;
sim_watcher *sim_trace_new(struct base_text *out, uint32_t watch);
void sim_trace_free(sim_watcher *w);

/* The state of a device while no launch runs: global memory, registered host memory, allocations,
 * definedness, clock, numbers of launches. Kept page by page, from the first write of a kernel on, so that it
 * costs what kernels write and not what there is; who writes without the machine calls sim_memory_changes
 * before. At most eight at once; NULL: one too many, or no memory. */
typedef struct sim_saved sim_saved;
sim_saved *sim_memory_save(sim_device *d);
/* Back to it, as often as wanted. What the host allocated since is gone. False: memory ran out meanwhile, and
 * the state is not whole. */
bool sim_memory_restore(sim_device *d, const sim_saved *s);
bool sim_saved_host(const sim_saved *s); /* host memory was written since */
void sim_saved_free(sim_saved *s);
void sim_memory_changes(sim_device *d, uint64_t address, uint64_t bytes);

/* Whether what kernels print is dropped. */
void sim_device_mute(sim_device *d, bool muted);

#endif
