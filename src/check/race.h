/* race.h: what the files of the race rule share. Private to src/check/race*.c.
 *
 * The rule (PTX ISA, memory consistency model): two accesses to a byte, one of them a write, race unless one
 * happens before the other or they are morally strong. What happened before is kept as clocks (race_clock.c),
 * which say up to when the past of some thread is known; who touched which bytes last as records
 * (race_shadow.c); what orders (barriers, fences with strong accesses, chains through atomics) in
 * race_sync.c; the rule itself in race.c; and which edge is missing in race_missing.c.
 *
 * Time is counted in each block for itself, and goes on with each release: an access of a thread at time t is
 * known to whoever knows that thread up to t or later. What everybody in a block, or in a warp, knows is kept
 * once for all of them.
 *
 * To say what is missing, the same bookkeeping is done once for each *reading* of the rule: the real one, and
 * some in which one clause is taken to hold everywhere (each writer has its fence, say). The first reading in
 * which two racing accesses are ordered names the edge.
 */
#ifndef MUSTER_CHECK_RACE_H
#define MUSTER_CHECK_RACE_H

#include "check/state.h"

/* ------------------------------------------------------------------ readings */

enum {
  RACE_IF_SCOPED = 1,   /* every scope is wide enough */
  RACE_IF_ACQUIRED = 2, /* every strong read acquires */
  RACE_IF_RELEASED = 4, /* every strong write releases */
  RACE_IF_BEFORE = 8,   /* the block converges before each release */
  RACE_IF_AFTER = 16    /* and after each acquire */
};
/* READING(name, clauses), the smallest change first. */
#define RACE_READINGS(READING)                         \
  READING(REAL, 0)                                     \
  READING(SCOPE, RACE_IF_SCOPED)                       \
  READING(ACQUIRE, RACE_IF_ACQUIRED)                   \
  READING(RELEASE, RACE_IF_RELEASED)                   \
  READING(BEFORE, RACE_IF_BEFORE)                      \
  READING(AFTER, RACE_IF_AFTER)                        \
  READING(FENCES, RACE_IF_ACQUIRED | RACE_IF_RELEASED) \
  READING(ALL, RACE_IF_SCOPED | RACE_IF_ACQUIRED | RACE_IF_RELEASED | RACE_IF_BEFORE | RACE_IF_AFTER)
typedef enum race_reading {
#define READING(name, clauses) RACE_##name,
  RACE_READINGS(READING)
#undef READING
      RACE_N_READINGS
} race_reading;
extern const uint8_t race_clauses[RACE_N_READINGS];

/* ------------------------------------------------------------------ clocks (race_clock.c)
 *
 * A clock is a set of nodes with times: "all that this block (warp, lane) did up to then is known". Finer
 * nodes say more than the coarser ones above them. Clocks never change once made, and are shared, as are
 * their parts.
 */
typedef uint64_t race_node;
#define RACE_WHOLE UINT32_MAX /* all warps of a block, all lanes of a warp */
static inline race_node race_node_of(uint32_t block, uint32_t warp, uint32_t lane) {
  return (uint64_t)block << 12 | (uint64_t)((warp + 1) & 63) << 6 | ((lane + 1) & 63);
}
/* In the number of a block: its asynchronous copies, as threads of their own (race_async.c). */
#define RACE_ASYNC_BLOCK UINT32_C(0x80000000)

typedef struct race_step {
  race_node node;
  uint32_t time;
  check_site via; /* the release or acquire by which it became known */
  uint16_t by;    /* and the thread of it, in its block */
  uint8_t epoch;  /* of its block, then */
} race_step;

typedef struct race_clock {
  uint32_t refs, n; /* n: steps in it */
  uint32_t block;   /* of blocks that have all but their last `bits` bits in common with this one */
  uint8_t bits;
} race_clock;

race_clock *race_clock_keep(race_clock *c); /* NULL is the empty clock */
void race_clock_drop(race_clock *c);
/* Joins of late. */
typedef struct race_joins {
  bool failed; /* memory ran out */
  struct race_joined *done;
} race_joins;
void race_joins_free(race_joins *j);
/* Both give up the caller's hold on `c`. Out of memory: as c was, and j->failed is set. */
race_clock *race_clock_add(race_clock *c, race_step s, race_joins *j);
race_clock *race_clock_join(race_clock *c, const race_clock *other, race_joins *j);
/* The same again, if that was done to the same two just before: readings mostly agree, and share clocks. */
typedef struct race_memo {
  const race_clock *c, *other;
  race_clock *result;
} race_memo;
race_clock *race_clock_join_like(race_clock *c, const race_clock *other, race_memo *m, race_joins *j);
/* The time up to which a thread's past is known, and by which step; lane or warp may be RACE_WHOLE. */
uint32_t race_clock_time(const race_clock *c, uint32_t block, uint32_t warp, uint32_t lane,
                         const race_step **by);

/* What is known under each reading. */
typedef struct race_known {
  race_clock *of[RACE_N_READINGS];
} race_known;
static inline bool race_known_empty(const race_known *k) { /* nearly always */
  uintptr_t any = 0;
  for (int i = 0; i < RACE_N_READINGS; i++)
    any |= (uintptr_t)k->of[i];
  return !any;
}
void race_known_drop(race_known *k); /* and empties it */
void race_known_join(race_known *k, const race_known *other, race_joins *j);

/* ------------------------------------------------------------------ records (race_shadow.c) */

enum {
  RACE_WRITES = 1,
  RACE_READS = 2, /* both: an atomic */
  RACE_STRONG = 4,
  RACE_VOLATILE = 8,
  RACE_ONE_VALUE = 16, /* all lanes stored the same */
  RACE_IN_ASYNC = 32,  /* done by an asynchronous copy; in the asynchronous proxy if also RACE_PROXY */
  RACE_PROXY = 64,
  RACE_SEEN = 128 /* somebody else has read what it wrote, by a strong read */
};
enum { RACE_LEVEL_BLOCK, RACE_LEVEL_CLUSTER, RACE_LEVEL_DEVICE, RACE_LEVELS };

/* An access of lanes of a warp to one line of memory: lane i touched `bytes` bytes at base + i * stride from
 * the line's beginning. */
typedef struct race_record {
  uint32_t block; /* of the run: see race_block.number */
  uint32_t time;
  check_site site;
  uint32_t lanes;
  uint32_t value; /* a hash of what was stored */
  int16_t base;
  int8_t stride;
  uint8_t bytes, flags, warp, level, epoch;
} race_record;
static inline int32_t race_at(const race_record *r, uint32_t lane) {
  return r->base + (int32_t)lane * r->stride;
}

/* Where the first of its bytes is, and the end of the last, counted from the line's beginning. */
typedef struct race_extent {
  int32_t from, to;
} race_extent;
static inline race_extent race_extent_of(const race_record *r) {
  int32_t a = race_at(r, (uint32_t)__builtin_ctz(r->lanes));
  int32_t b = race_at(r, 31u - (uint32_t)__builtin_clz(r->lanes));
  return (race_extent){a < b ? a : b, (a < b ? b : a) + r->bytes};
}
/* The two touch no byte in common, as far as shows from that. */
static inline bool race_apart(const race_record *a, race_extent b) {
  race_extent e = race_extent_of(a);
  return e.to <= b.from || b.to <= e.from;
}

/* What cells of a line mostly have in common: bytes and level. Never 0, which is that of no cells. */
enum { RACE_MIXED = 255 };
static inline uint8_t race_kind(const race_record *r) {
  return (uint8_t)(r->bytes / 4 | (r->level + 1) << 2);
}

#define RACE_LINE 128u
/* An atomic of one lane to a word, or to two: see race_cell_put. */
typedef struct race_cell {
  uint32_t block, time;
  check_site site;
  uint8_t warp, level, flags;
  uint8_t lane_bytes; /* lane * 4 + bytes / 4; 0: none */
} race_cell;

typedef struct race_line {
  race_record *records;    /* &one, if there is room for one */
  race_cell *cells;        /* of each 4 bytes, or NULL */
  struct race_line *parts; /* what lies within one of RACE_PARTS, in a list for each; NULL: in records */
  uint16_t n;
  bool syncs;   /* a word of it carries a release */
  uint8_t kind; /* race_kind of all its cells; RACE_MIXED: they differ */
  uint16_t capacity;
  uint8_t run;     /* so many lines from here on are a run; 0: none begins here */
  uint32_t latest; /* time of the last cell that was put there */
  race_record one;
} __attribute__((aligned(64))) race_line; /* a line of the host's cache */

/* What is known of it are the records of its own list. */
static inline bool race_line_is_plain(const race_line *l) {
  return !l->cells && !l->parts && !l->syncs;
}

/* A line in which many narrow accesses met is cut in parts, each with its list; what lies in more than one
 * stays in the line's own. Only weak accesses do that: a strong one finds all in one list again. */
enum { RACE_PART = 8, RACE_PARTS = RACE_LINE / RACE_PART };
/* The lists in which something that touches these bytes may stand, from k = 0; NULL: no more. */
static inline race_line *race_list(race_line *l, race_extent at, uint32_t k) {
  int32_t part = (at.from < 0 ? 0 : at.from / RACE_PART) + (int32_t)k - 1;
  if (!k || !l->parts)
    return k ? NULL : l;
  return part < RACE_PARTS && part * RACE_PART < at.to ? &l->parts[part] : NULL;
}
void race_line_split(race_line *l);                          /* if that helps */
bool race_line_join(race_line *l);                           /* false: out of memory, and something is lost */
race_line *race_list_of(race_line *l, const race_record *r); /* where r would be added */

enum { RACE_PAGE_LINES = 32 };
typedef struct race_page {
  race_line lines[RACE_PAGE_LINES];
  uint32_t runs, heads;            /* lines that are in runs, and those that begin one */
  uint32_t one_value;              /* of lines in runs: what was stored, */
  uint32_t value[RACE_PAGE_LINES]; /* as in a record */
} race_page;
/* race_run.c. The run of exactly these lines: its record, whose lanes are 0 if nobody was there yet. It may
 * be made for that, if they hold nothing, or what a run would: warps one behind the other, each as `like`.
 * NULL: they do not. */
race_record *race_run_at(race_page *p, uint32_t first, uint32_t n, const race_record *like);
void race_run_put(race_page *p, uint32_t first, const race_record *rec);  /* as the first of them has it */
void race_run_value(race_page *p, uint32_t line, const race_record *rec); /* what was stored to that line */
void race_run_end(race_page *p, uint32_t line); /* the run of that line is as many records again */

/* Pages of low addresses, which those in shared memory are, stand in an array; `forget` is only for others.
 * Those were asked for lately stand in `recent`. */
enum { RACE_LOW_PAGES = 64, RACE_RECENT_BITS = 9 };
typedef struct race_slot {
  uint64_t number;
  race_page *page; /* NULL: free */
} race_slot;
typedef struct race_shadow {
  race_page *low[RACE_LOW_PAGES];
  race_slot *slots; /* hash of pages by number */
  race_slot *recent;
  uint32_t n_pages, n_slots, shift;
} race_shadow;
race_line *race_shadow_line(race_shadow *s, uint64_t address);      /* NULL: out of memory */
race_page *race_shadow_page(const race_shadow *s, uint64_t number); /* NULL: none is there */
race_page *race_shadow_add(race_shadow *s, uint64_t number); /* the same, made now; NULL: out of memory */
static inline uint64_t race_hash(uint64_t number) {
  return number * UINT64_C(0x9e3779b97f4a7c15);
}
static inline race_page *race_page_at(const race_shadow *s, uint64_t number) {
  if (number < RACE_LOW_PAGES)
    return s->low[number];
  const race_slot *k = s->recent ? &s->recent[race_hash(number) >> (64 - RACE_RECENT_BITS)] : NULL;
  return k && k->number == number ? k->page : race_shadow_page(s, number);
}
/* NULL: nobody touched it, nor anything near. */
static inline race_line *race_shadow_peek(const race_shadow *s, uint64_t address) {
  uint64_t line = address / RACE_LINE;
  race_page *p = race_page_at(s, line / RACE_PAGE_LINES);
  if (p && p->runs >> line % RACE_PAGE_LINES & 1)
    race_run_end(p, line % RACE_PAGE_LINES);
  return p ? &p->lines[line % RACE_PAGE_LINES] : NULL;
}
void race_shadow_free(race_shadow *s);
void race_shadow_forget(race_shadow *s, uint64_t address, uint64_t bytes);
/* Takes what `r` supersedes out of the line, and adds it; `ordered`: for each of its lists a bit for each
 * record, up to 64, that is ordered before it. *forgot: one that still counts had to go. */
typedef uint64_t race_ordered[1 + RACE_PARTS];
bool race_line_put(race_line *l, const race_record *r, const race_ordered ordered, bool *forgot);
/* The same, if there is nothing to take out, to a list. */
bool race_line_add(race_line *l, const race_record *r, bool *forgot);
/* Cells: for atomics that go everywhere (a histogram), the last one of each word. */
race_cell race_cell_of(const race_record *r, uint32_t lane);
bool race_cell_put(race_line *l, const race_record *r, uint32_t word);
bool race_cell_get(const race_line *l, uint32_t word, race_record *out);
/* Lanes of a whose bytes overlap those of lane `lane` of b. */
uint32_t race_overlap(const race_record *a, const race_record *b, uint32_t lane);

/* ------------------------------------------------------------------ who knows what (race_sync.c) */

/* A release as it stood when a fence was passed, or a barrier: for all lanes of a warp at once. */
typedef struct race_view {
  uint32_t refs;
  uint32_t time, block_base, warp_base;
  uint8_t epoch;
  check_site site;
  race_known known;
} race_view;

/* What a lane has met at a word and not yet taken over. */
typedef struct race_due {
  uint64_t chain;                 /* 0: nothing */
  race_known wide, narrow, loose; /* as of the word */
  race_known own;                 /* of its own block's heads */
  uint8_t level;
  bool acquires, linked;
} race_due;

typedef struct race_lane {
  race_due *due;
  race_known own;                  /* beyond what its warp and block know */
  race_known pending[RACE_LEVELS]; /* what a fence of that level would acquire */
  race_view *fence[RACE_LEVELS];   /* its last fence of at least that level */
  check_site acquired;             /* its last strong read that met a release */
  uint64_t looked;                 /* at which version of a word, */
  const ptx_insn *looker;          /* and by which instruction: another may acquire what that did not */
  uint32_t copied;                 /* the last time of its asynchronous copies */
  uint32_t proxied, proxied_base;  /* its last fence between proxies, and its block's base then */
} race_lane;

typedef struct race_warp {
  uint32_t exists, live;
  uint32_t base; /* all lanes know each other up to then */
  race_known known;
  race_view *fence[RACE_LEVELS]; /* of the lanes of fenced[]; others have their own */
  uint32_t fenced[RACE_LEVELS];
  uint32_t own; /* those that are in: */
  race_lane *lanes[SIM_WARP];
} race_warp;

typedef struct race_object { /* an mbarrier */
  uint64_t address;
  race_known arriving, done;
  uint32_t phase;  /* how many are over */
  uint32_t issuer; /* thread of its last copy */
} race_object;

typedef struct race_meeting { /* a barrier at work */
  race_known known;
  uint32_t *arrived;  /* of each warp */
  bool only_releases; /* some did not wait */
} race_meeting;

/* Words of one memory: a hash that doubles. */
typedef struct race_words {
  struct race_word **slots;
  uint32_t n, bits; /* 1 << bits slots */
} race_words;

enum { RACE_BARRIERS = 16 };
typedef struct race_block {
  struct race_block *next; /* of the same hash */
  check_launch launch;
  uint32_t number; /* of the run: counts blocks of all launches */
  uint64_t id;     /* in its launch */
  uint32_t now;    /* time, from 1 */
  uint32_t base;   /* all threads know each other up to then */
  uint8_t epoch;   /* counts barriers of all of it; for hints, so it may wrap */
  uint32_t n_warps, n_threads, cluster;
  uint32_t rank;
  race_known known;    /* of everybody in it */
  check_site acquired; /* where one of its threads last met a release, and which */
  uint32_t acquirer;
  uint32_t first, n_blocks; /* numbers of its launch */
  bool apart;               /* it is not ordered with every other */
  bool copies;              /* nor with every copy */
  bool bulk;                /* has bulk copies: what was written in which proxy matters longer */
  race_warp *warps;
  race_meeting meetings[RACE_BARRIERS];
  race_shadow shared;
  race_words words; /* in its shared memory */
  race_object *objects;
  uint32_t n_objects;
} race_block;

/* A word through which threads synchronise: who released at it. */
typedef struct race_head {
  uint32_t block;
  uint8_t level;
  race_known known;
} race_head;

typedef struct race_word {
  struct race_word *next;
  uint64_t address;
  uint32_t bytes;
  uint32_t block, warp, lane; /* who wrote it last */
  uint8_t level;
  check_site site;
  bool watched;      /* somebody looked at it: `loose` is kept */
  race_known loose;  /* what it would release if each strong write did */
  race_known wide;   /* of the heads that reach the whole device */
  race_known narrow; /* and of the others */
  uint64_t chain;    /* of atomics, since a store began it */
  uint64_t version;  /* changes whenever this does */
  race_head *heads;
  uint32_t n_heads, cap_heads;
  bool crowded; /* not all heads are in the list */
} race_word;

/* A launch, or a copy or fill (CHECK_COPY): numbers of its blocks, and what it is not ordered with. */
enum { RACE_COPIES = 64 };
typedef struct race_first {
  uint64_t launch;
  uint32_t first, n;
  uint32_t n_apart, cap_apart;
  uint64_t *apart; /* launches that began before */
  uint64_t copies; /* a bit for each of race.copies */
  bool bulk;       /* its kernel has bulk copies */
} race_first;
typedef struct race_copy {
  uint64_t address, bytes, order;
  bool writes; /* device memory; else it reads it */
} race_copy;

typedef struct race {
  check *check;
  race_block *blocks[1024]; /* hash */
  race_block *last;
  uint32_t next_block;
  race_words words; /* in global memory */
  race_shadow global;
  bool failed, forgot;  /* forgot: not all accesses of a line were kept */
  race_first *launches; /* by number */
  uint32_t n_launches, cap_launches, running;
  uint32_t over;                 /* the host has waited for all before this one */
  race_copy copies[RACE_COPIES]; /* the latest */
  uint64_t n_copies;
  struct race_clusters *clusters;
  struct race_pairs *pairs;
  struct race_insn { /* instructions met lately */
    const ptx_insn *insn;
    race_record like; /* what each access of it has in common */
    bool weak;
    bool unused;   /* an atomic whose result nobody reads */
    uint64_t last; /* where the first of several warps last was */
  } insns[256];
  int64_t hints; /* see race_sync.c */
  uint64_t versions;
  race_joins joins;
  race_clock *sc; /* of fence.sc, where they order */
} race;

race_block *race_block_find(race *r, uint64_t launch, uint64_t block);
static inline race_block *race_block_of(race *r, uint64_t launch, uint64_t block) {
  race_block *b = r->last;
  return b && b->id == block && b->launch.id == launch ? b : race_block_find(r, launch, block);
}
race_block *race_block_numbered(race *r, uint32_t number); /* NULL: it is over */
/* race_launch.c */
void race_launch_begin(race *r, const sim_event *e);
void race_copy_event(race *r, const sim_event *e);
const race_first *race_launch_at(const race *r, uint64_t launch);
bool race_launches_ordered(const race *r, const race_block *b, uint32_t other);
void race_meet_copies(race *r, race_block *b, const race_record *rec, uint64_t line);
/* Launch and number in it of a block of the run. */
void race_block_place(const race *r, uint32_t number, uint64_t *launch, uint64_t *block);
void race_sync_event(race *r, const sim_event *e);
void race_met(race *r, const sim_event *e, const uint32_t *lanes, uint32_t n_warps); /* check_part.met */
void race_blocks_free(race *r);
/* Does lane `lane` know what (block, warp, its lane) did up to `time`? `as`: under which reading. */
bool race_knows(const race_block *b, uint32_t warp, uint32_t lane, race_reading as, uint32_t of_block,
                uint32_t of_warp, uint32_t of_lane, uint32_t time, const race_step **by);
/* Had the other block converged when it released to this one: did the release come in this epoch of it? */
const race_step *race_met_in(const race_block *b, uint32_t warp, uint32_t lane, race_reading as,
                             uint32_t of_block, uint8_t epoch);
/* A lane's last fence of at least that level; NULL. */
const race_view *race_fence_of(const race_warp *w, uint32_t lane, uint32_t level);
uint32_t race_level_of(uint8_t scope);
bool race_reaches(const race *r, const race_block *b, uint32_t level, uint32_t other);
/* A strong access of one lane; `line` holds the records of before it. `looks`: what it reads is used. */
void race_strong(race *r, race_block *b, const sim_access *a, uint32_t lane, race_line *line, uint64_t at,
                 uint32_t space, check_site site, bool looks);
/* One lane releases to, or acquires, what is kept elsewhere than at a word. */
void race_release(race *r, race_block *b, uint32_t warp, uint32_t lane, race_known *to, bool releases,
                  check_site site);
void race_acquire(race *r, race_block *b, uint32_t warp, uint32_t lane, const race_known *from, uint32_t of,
                  uint32_t level, bool acquires, check_site site);
void race_know(race *r, race_known *k, race_node node, uint32_t time, check_site via, uint32_t by);
race_lane *race_lane_at(race *r, race_warp *w, uint32_t lane);
/* race_async.c */
race_block *race_mate(race *r, const race_block *b, uint32_t rank);
void race_mbarrier_event(race *r, const sim_event *e);
void race_async_event(race *r, const sim_event *e);
void race_proxy_fence(race *r, const sim_event *e);
bool race_is_proxied(race *r, const race_block *b, const race_record *old, uint32_t i, uint32_t warp,
                     uint32_t lane);
/* The thread that issued an asynchronous access. */
uint32_t race_issuer(const race_block *home, uint32_t warp, uint32_t lane);
void race_objects_free(race_block *b);
/* race.c: one access of an asynchronous copy, issued by that lane. */
void race_touch(race *r, race_block *b, race_block *home, const race_record *rec, uint64_t line,
                uint32_t warp, uint32_t lane);
/* race_word.c. `space`: 0, of global memory; else 1 + number of the block whose shared memory it is. NULL:
 * that is over. */
race_words *race_words_of(race *r, uint32_t space);
void race_words_free(race_words *all);
/* Where a word is that overlaps these bytes; NULL: there is none. */
race_word **race_word_at(const race_words *all, uint64_t address, uint32_t bytes);
void race_word_forget(race_words *all, race_word **at);
race_word *race_word_new(race *r, race_words *all, uint64_t at, uint32_t bytes, race_line *line);
/* Before it is asked what a lane knows. */
void race_settle(race *r, race_block *b, uint32_t warp, uint32_t lane);
void race_weak_write(race *r, uint32_t space, uint64_t address, uint32_t bytes);

/* ------------------------------------------------------------------ what is said (race_missing.c) */

/* `b`, `lane`: who came second, with record `new` to the line at `line_address`. */
typedef struct race_pair {
  race_block *block;
  const race_record *first, *second;
  uint32_t first_lane, second_lane;
  uint32_t knower_warp, knower_lane; /* the second's lane, or that which issued it */
  uint8_t space;
  uint64_t first_address, second_address;
} race_pair;
void race_found(race *r, const race_pair *p);
/* In order, but written in one proxy and read in another. */
void race_proxy_found(race *r, const race_pair *p);
/* Volatile data that is not ordered, though strong: a warning if it meets through a chain that lacks fences.
 */
void race_volatile_found(race *r, const race_pair *p);
void race_pairs_flush(race *r);
void race_pairs_free(race *r);

#endif
