/* state.h: what the files of src/check share. Private to src/check.
 *
 * Data flows one way: the machine's events come in by watch.c, which hands each to the parts that asked for
 * it (race, barrier, warp, progress, memory, define, api, schedule); a part that finds something fills a
 * check_found and calls check_report (finding.c), which merges equal ones and tells the owner.
 */
#ifndef MUSTER_CHECK_STATE_H
#define MUSTER_CHECK_STATE_H

#include "base/arena.h"
#include "base/base.h"
#include "base/map.h"
#include "base/text.h"
#include "check/check.h"

/* ------------------------------------------------------------------ places (place.c)
 *
 * What a finding must name may be long over: sites and launches are kept as numbers, for as long as the
 * checker. */

typedef uint32_t check_site; /* an instruction in a function of a module; 0: none */

typedef struct check_array {
  const char *name; /* "shared array s", "dynamic shared memory" */
  uint64_t begin, bytes;
} check_array;

typedef struct check_launch {
  uint64_t id;
  const char *kernel; /* plain name, owned */
  uint32_t grid[3], block[3], cluster[3];
  uint64_t stream;
  uint64_t n_blocks;
  uint32_t n_threads; /* of a block */
  bool cooperative;
  uint32_t ptx;              /* muster_replay_hash of its module */
  const check_array *shared; /* kept for each kernel once */
  uint32_t n_shared;
  bool selected; /* findings of it are told */
} check_launch;

check_site check_site_of(check *c, const sim_who *who);
/* Whether a thread that did `from` can come to `to` later, in the same function, both of a launch that runs;
 * unless CHECK_ANY_WAY, without passing a barrier of its block, or one of its warp either. */
typedef enum check_way { CHECK_ANY_WAY, CHECK_NO_BLOCK_BARRIER, CHECK_NO_WARP_BARRIER } check_way;
bool check_site_reaches(const check *c, check_site from, check_site to, check_way way);
bool check_same_line(const check *c, check_site a, check_site b);   /* of the source, as far as it is known */
bool check_site_before(const check *c, check_site a, check_site b); /* a stands before b, in one function */
const check_launch *check_launch_of(const check *c, uint64_t id);   /* NULL: unknown */

/* Who and where, small enough to be kept for each word of memory. */
typedef struct check_spot {
  uint64_t launch, block; /* launch 0: the host */
  uint32_t thread;        /* linear, in the block */
  check_site site;
} check_spot;
check_spot check_spot_of(check *c, const sim_who *who, uint32_t lane);

/* ------------------------------------------------------------------ findings (finding.c) */

typedef struct check_side {
  const char *kind; /* as muster_access.kind; NULL: this side is not there */
  check_spot spot;
  uint8_t space;    /* PTX_SPACE_...; 0: no memory */
  uint64_t address; /* global: device address. Shared, local: offset */
  uint32_t bytes;
} check_side;

typedef struct check_found {
  muster_rule rule;
  bool milder;          /* a warning where the rule is an error */
  bool note;            /* a note */
  bool error;           /* an error, whatever the rule */
  const char *relation; /* NULL */
  uint64_t count;       /* how often; 0: once */
  uint64_t launch;      /* 0: of the first side */
  const char *kernel;   /* NULL: of the launch */
  const char *message;
  const char *missing, *missing_text; /* NULL: nothing is missing */
  check_site missing_site;            /* where it would have to stand */
  check_side sides[MUSTER_ACCESSES];
  uint32_t n_waiting;
  muster_waiting waiting[MUSTER_WAITING]; /* strings live until check_report returns */
  uint64_t needed, fits;
  const char *limit, *launch_that_fits;
} check_found;

/* One finding for each rule, kernel and pair of sites; later ones are counted. Off rules are dropped. */
void check_report(check *c, const check_found *f);
/* Whether that rule was broken in that kernel, as far as is known. */
bool check_was_found(const check *c, muster_rule rule, const char *kernel);
bool check_was_wrong(const check *c, const char *kernel); /* an error or a warning */
void check_note(check *c, const char *text);              /* worth knowing */
/* Says once that something could not be judged. */
void check_unjudged(check *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
static inline bool check_is_on(const check *c, muster_rule r);

/* ------------------------------------------------------------------ the parts
 *
 * Each part is a struct of its own behind a pointer; `new` returns NULL if memory ran out, `free` takes NULL.
 */

/* Events that a part takes, as a set. An access without order, which most are, is one of its own:
 * CHECK_PLAIN; ACCESS are the others, and all atomics. */
#define CHECK_TAKES(kind) (UINT32_C(1) << SIM_EVENT_##kind)
#define CHECK_PLAIN_ACCESS SIM_EVENTS
#define CHECK_TAKES_PLAIN (UINT32_C(1) << CHECK_PLAIN_ACCESS)

typedef struct check_part {
  const char *name;
  uint32_t watch; /* SIM_WATCH_... that it needs */
  uint32_t takes; /* CHECK_TAKES_... */
  void *(*new)(check *c);
  void (*free)(void *part);
  sim_answer (*event)(void *part, const sim_event *e);
  /* As sim_watcher.met; false, or NULL: `event` takes each of what it stands for. */
  bool (*met)(void *part, const sim_event *e, const uint32_t *lanes, uint32_t n_warps);
} check_part;

/* What `new` of most parts does: zeroed memory for a struct that begins with `check *check`. */
void *check_part_new(check *c, size_t bytes);

/* From now on it takes these events as well, or no more. */
void check_takes(check *c, int part, uint32_t kinds, bool on);

/* PART(name): extern const check_part check_part_name. In the order in which they see an event. */
#define CHECK_PARTS(PART) \
  PART(memory)            \
  PART(define)            \
  PART(stream)            \
  PART(race)              \
  PART(barrier)           \
  PART(redundant)         \
  PART(grid)              \
  PART(warp)              \
  PART(progress)          \
  PART(api)               \
  PART(schedule)
#define PART(name) extern const check_part check_part_##name;
CHECK_PARTS(PART)
#undef PART
enum {
#define PART(name) CHECK_PART_##name,
  CHECK_PARTS(PART)
#undef PART
      CHECK_N_PARTS
};

/* redundant.c: what is known of barriers over all launches and schedules; in the end it is told. */
struct check_redundant *check_redundant_new(void);
void check_redundant_free(struct check_redundant *t);
void check_redundant_end(check *c);
/* barrier.c: tells what it has found of threads that still run. */
void check_barriers_flush(check *c);
/* stream.c: whether launch (or copy) a is over before b begins, by the order of streams, whatever happened
 * here. In both and in check_spot.launch a copy or fill is CHECK_COPY | memory.order of its event; such a
 * spot has no thread. Both are works of this device; true where nothing is known of one. */
#define CHECK_COPY (UINT64_C(1) << 63)
bool check_launch_before(check *c, uint64_t a, uint64_t b);
/* The host has waited for it: it comes before everything that has not begun. */
bool check_launch_over(check *c, uint64_t id);
/* grid.c: blocks of a launch that came to a barrier of several blocks a different number of times; `ended`:
 * only if one that came less often has left. False: there are none; else *f is a finding. */
bool check_grid_uneven(check *c, uint64_t launch, bool ended, check_found *f, char *message, size_t bytes);
/* race.c: who wrote a byte last, of those that count, as far as is remembered: of global memory, or of the
 * shared memory of somebody's block. */
bool check_last_write(check *c, const check_spot *shared_of, uint64_t address,
                      bool (*counts)(void *user, const check_spot *s), void *user, bool *atomic,
                      check_spot *out);
/* warp.c: a collective as CUDA C calls it: "__shfl_down_sync". */
const char *check_collective_name(const ptx_insn *i);
/* Lanes of a warp go together: a GPU before Volta, or --lockstep. */
static inline bool check_lockstep(const check *c);

/* race.c: what was held back until the end of a launch, which may not come, is told now. */
void check_race_flush(check *c);
/* race.c: plain accesses, as sim_watcher.several. */
void check_race_several(check *c, const sim_access *a, const sim_part *parts, uint32_t n);
/* race.c: that nothing was found does not say that there is no race. */
bool check_race_forgot(const check *c);
/* api.c: the program ends. */
void check_api_end(check *c);
/* define.c: what waits to be reported is. */
void check_define_flush(check *c);
/* memory.c: which lanes of an access may go on. */
uint32_t check_memory_allow(check *c, const sim_access *a, uint32_t legal);

typedef enum check_unfair {
  CHECK_FAIR,
  CHECK_UNFAIR_QUIET, /* a hang is not told */
  CHECK_UNFAIR_ORDER, /* it is known to end if blocks start in order */
  CHECK_UNFAIR_TURNS  /* they do */
} check_unfair;

struct check {
  check_options options;
  check_sink sink;
  sim_device *device;
  sim_watcher watcher;
  void *parts[CHECK_N_PARTS];
  uint32_t takers[SIM_EVENTS + 1]; /* of each kind of event: a bit for each part that takes it */
  void *plain[CHECK_N_PARTS];      /* those of the plain run, while a further schedule has its own */
  bool start_order_chosen;         /* blocks of the run at hand did not start in the order of their index */
  struct check_places *places;
  struct check_select *select;
  struct check_findings *findings;
  struct check_redundant *redundant;
  struct check_set *set;     /* schedules: rerun.c */
  struct check_share *share; /* this is one of several processes that run them: share.c */
  bool further;              /* a schedule other than the plain run is under way */
  check_unfair unfair;       /* it starts blocks as hardly a GPU would: a hang is only a note */
  struct weak *weak;         /* it has reads take other writes than memory's last (weak.h): */
  bool rehearsal;            /* to see whether they may: nothing is told */
  check_spot stray;          /* the first read that did; launch 0: none yet */
  bool stray_early;          /* what it read is stored later */
  bool muted;                /* findings are counted, and not told: */
  uint64_t n_muted;
  const char *weak_hopeless; /* why none of the set at hand can be explored so; NULL */
};

static inline bool check_is_on(const check *c, muster_rule r) {
  return c->options.rules.on[r];
}

static inline bool check_lockstep(const check *c) {
  return c->options.lockstep || sim_device_limits(c->device)->sm < 70;
}

enum { CHECK_WEAK_WORDS = 512 };
/* weak_run.c: the part of watch.c in such a schedule. */
uint32_t check_weak_source(void *check, const sim_access *a);
/* What else must be said of a finding in it, from ", " on; "": nothing. */
void check_weak_words(const check *c, char text[CHECK_WEAK_WORDS]);

/* A schedule begins or ends: parts of its own (watch.c). False: no memory. */
bool check_parts_fresh(check *c);
void check_parts_back(check *c);
struct check_set *check_set_new(check *c);
void check_set_free(struct check_set *s);
void check_set_over(check *c); /* the program has ended: was there anything to replay? */
/* Makes of a hang what it is under such a schedule; false: nothing. */
bool check_unfair_found(const check *c, check_found *f);
/* The replay of what is found now, about launch `launch`; false: what is found now is not to be told. */
bool check_replay_of(const check *c, uint64_t launch, char id[MUSTER_REPLAY_BYTES]);
bool check_found_race(const check *c, uint64_t launch); /* a rule race-* or missing-* was met (finding.c) */
/* fixed.c: visits each instruction that a kernel may come to; where functions without a body are called, with
 * no instruction. False: a visit was, or not all can be known. */
bool check_each_insn(const sim_who *kernel, bool (*visit)(void *user, const sim_who *at), void *user);
/* Whether all that a kernel does follows from its input and the order of its accesses. */
bool check_is_fixed(const sim_who *kernel);
/* Whether an instruction is one of those of a race: accesses of it are points at which schedules differ. */
bool check_races_at(const check *c, check_site site);

/* Whether findings of the next launch, of that kernel, are to be told (select.c). */
bool check_select_launch(check *c, const char *kernel);
struct check_select *check_select_new(const check_options *o);
void check_select_free(struct check_select *s);

struct check_places *check_places_new(void);
void check_places_free(struct check_places *p);
void check_places_event(check *c, const sim_event *e); /* keeps launches */
void check_place_fill(const check *c, const check_spot *s, muster_access *out);
/* The buffer that holds an address, or lies nearest, in words ("allocation 3", "shared array s"), with its
 * size and the offset in it, which may lie outside. False, and "": none is near. */
typedef struct check_buffer {
  char name[256];
  int64_t offset;
  uint64_t bytes;
  bool freed;
} check_buffer;
bool check_buffer_of(const check *c, uint64_t launch, uint8_t space, uint64_t address, check_buffer *out);
struct check_findings *check_findings_new(void);
void check_findings_free(struct check_findings *f);
void check_findings_counts(check *c); /* tells the owner what has grown */

#endif
