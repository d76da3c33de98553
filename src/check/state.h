/* state.h: what the files of src/check share. Private to src/check.
 *
 * Data flows one way: the machine's events come in by watch.c, which hands each to the parts that asked for
 * it (race, barrier, warp, progress, memory, define, api, schedule); a part that finds something fills a
 * check_found and calls check_report (finding.c), which merges equal ones and tells the owner.
 */
#ifndef MUSTER_CHECK_STATE_H
#define MUSTER_CHECK_STATE_H

#include "base/arena.h"
#include "base/map.h"
#include "base/text.h"
#include "check/check.h"

/* ------------------------------------------------------------------ places (place.c)
 *
 * What a finding must name may be long over: sites and launches are kept as numbers, for as long as the
 * checker. */

typedef uint32_t check_site; /* an instruction in a function of a module; 0: none */

typedef struct check_launch {
  uint64_t id;
  const char *kernel; /* plain name, owned */
  uint32_t grid[3], block[3], cluster[3];
  uint64_t stream;
  uint64_t n_blocks;
  uint32_t n_threads; /* of a block */
  bool cooperative;
} check_launch;

check_site check_site_of(check *c, const sim_who *who);
const check_launch *check_launch_of(const check *c, uint64_t id); /* NULL: unknown */

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
  const char *relation; /* NULL */
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
/* Says once that something could not be judged. */
void check_unjudged(check *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
static inline bool check_is_on(const check *c, muster_rule r);

/* ------------------------------------------------------------------ the parts
 *
 * Each part is a struct of its own behind a pointer; `new` returns NULL if memory ran out, `free` takes NULL.
 */

typedef struct check_part {
  const char *name;
  uint32_t watch; /* SIM_WATCH_... that it needs */
  void *(*new)(check *c);
  void (*free)(void *part);
  sim_answer (*event)(void *part, const sim_event *e);
} check_part;

/* PART(name): extern const check_part check_part_name. In the order in which they see an event. */
#define CHECK_PARTS(PART) \
  PART(memory) PART(define) PART(stream) PART(race) PART(barrier) PART(warp) PART(progress) PART(schedule)
#define PART(name) extern const check_part check_part_##name;
CHECK_PARTS(PART)
#undef PART
enum {
#define PART(name) CHECK_PART_##name,
  CHECK_PARTS(PART)
#undef PART
      CHECK_N_PARTS
};

/* memory.c: which lanes of an access may go on. */
uint32_t check_memory_allow(check *c, const sim_access *a, uint32_t legal);

struct check {
  check_options options;
  check_sink sink;
  sim_device *device;
  sim_watcher watcher;
  void *parts[CHECK_N_PARTS];
  struct check_places *places;
  struct check_findings *findings;
};

static inline bool check_is_on(const check *c, muster_rule r) {
  return c->options.rules.on[r];
}

struct check_places *check_places_new(void);
void check_places_free(struct check_places *p);
void check_places_event(check *c, const sim_event *e); /* keeps launches */
void check_place_fill(const check *c, const check_spot *s, muster_access *out);
struct check_findings *check_findings_new(void);
void check_findings_free(struct check_findings *f);
void check_findings_counts(check *c); /* tells the owner what has grown */

#endif
