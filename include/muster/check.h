/* check.h: what the inspection says, as data: findings, the report they make, and its formats.
 *
 * The device makes findings while a program runs and sends each as JSON; the tool collects them in a report
 * and writes it. A report holds no host address and no wall-clock time: a replay is equal byte for byte.
 *
 * Strings are UTF-8, owned by whoever made the structure; "" or NULL is "not known". Functions that return
 * bool return false when memory ran out or, where they read, with a line of text in *error, which the caller
 * frees. No function here is safe to call on one report from two threads at once.
 */
#ifndef MUSTER_CHECK_H
#define MUSTER_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MUSTER_REPORT_SCHEMA "muster-report/1"

/* ------------------------------------------------------------------ rules (rules.def) */

typedef enum muster_severity { MUSTER_NOTE, MUSTER_WARNING, MUSTER_ERROR } muster_severity;

typedef enum muster_rule {
#define RULE(name, id, severity, what) MUSTER_RULE_##name,
#include "muster/rules.def"
  MUSTER_RULES
} muster_rule;

typedef struct muster_rule_row {
  const char *id;           /* "race-global" */
  muster_severity severity; /* unless a finding says otherwise */
  const char *what;
} muster_rule_row;

/* The row of a rule, one below MUSTER_RULES. */
const muster_rule_row *muster_rule_get(muster_rule r);
/* MUSTER_RULES: there is none of that id. */
muster_rule muster_rule_find(const char *id);
const char *muster_severity_name(muster_severity s); /* "error" */

/* Which rules are on: LIST is ids, `prefix*` and `-id`, with commas; the first word decides whether it begins
 * with all (a `-id`) or with none. NULL: all. False with *error: an unknown id. */
typedef struct muster_rule_set {
  bool on[MUSTER_RULES];
} muster_rule_set;
bool muster_rule_set_parse(const char *list, muster_rule_set *out, char **error);

/* ------------------------------------------------------------------ replays
 *
 * GPU.PTX.LAUNCH.SCHEDULE.SEED, as in "h200.3f2a91c4.1.12.0": schedule 12 of launch 1 of the program with
 * that PTX. A schedule is a pure function of these; 0 is the plain run. */
typedef struct muster_replay {
  char gpu[32];
  uint32_t ptx; /* muster_replay_hash of its text */
  uint64_t launch, schedule, seed;
} muster_replay;
enum { MUSTER_REPLAY_BYTES = 128 };
void muster_replay_id(const muster_replay *r, char id[MUSTER_REPLAY_BYTES]);
bool muster_replay_parse(const char *id, muster_replay *out); /* false: it is none */
uint32_t muster_replay_hash(const char *text, size_t bytes);

/* ------------------------------------------------------------------ a finding */

/* A place in the program: a PTX instruction. Source lines are for people, and may be unknown. */
typedef struct muster_access {
  const char *kind;   /* read write atomic fence barrier mask exit alloc free copy launch */
  const char *space;  /* global shared local const, NULL */
  const char *buffer; /* "allocation 3", a variable's name, "shared memory" */
  int64_t offset;     /* in it; before it: negative */
  uint32_t bytes;
  bool has_thread; /* block and thread mean something: false for the host's doings */
  uint32_t block[3], thread[3];
  const char *func; /* the device function, where it is not the kernel itself */
  const char *file;
  uint32_t line, column;
  const char *inlined_at; /* "a.cu:12", outwards, where the function was inlined */
  uint32_t ptx_line;
} muster_access;

/* Who waits for what, in a finding about a hang. */
typedef struct muster_waiting {
  uint32_t block[3], thread[3];
  const char *on;     /* "barrier 0", "allocation 2, offset 4" */
  const char *awaits; /* "for": "128 of 256 threads", "a change" */
  const char *file;
  uint32_t line, ptx_line;
} muster_waiting;

enum { MUSTER_ACCESSES = 2, MUSTER_WAITING = 8 };

typedef struct muster_finding {
  muster_rule rule;
  muster_severity severity;
  const char *process; /* of several: "name (pid)"'s name part; filled in by the parent */
  const char *kernel;
  uint64_t launch;      /* from 1; 0: none */
  const char *relation; /* lane warp block cluster launch device; NULL */
  const char *message;  /* one sentence, no full stop */
  uint64_t count;
  struct {
    const char
        *what; /* a word: block-barrier, fence, acquire, release, scope, warp-barrier, ...; NULL: nothing */
    const char *text; /* the smallest change that would order the two, a sentence */
    const char *file;
    uint32_t line, ptx_line;
  } missing;
  const char *replay;
  uint32_t n_accesses, n_waiting;
  muster_access accesses[MUSTER_ACCESSES];
  muster_waiting waiting[MUSTER_WAITING];
  struct {
    uint64_t needed, fits; /* blocks; needed 0: this is no finding about residency */
    const char *limit, *launch;
  } residency;
} muster_finding;

/* What one process did, besides its findings. */
typedef struct muster_summary {
  const char *gpu;
  uint64_t seed;
  const char *ptx_target, *ptx_version;
  uint64_t launches;
  uint64_t schedules_asked, schedules_run;
  bool exhaustive; /* all schedules of this input */
  bool lineinfo;   /* every launched module has source lines */
} muster_summary;

/* Both as one JSON object without line breaks, NULL where memory ran out; the caller frees it. */
char *muster_finding_json(const muster_finding *f);
char *muster_summary_json(const muster_summary *s);
/* In one line: "a.cu:41:3: error: MESSAGE [race-global]; a.cu:12: ...; missing: ...". The caller frees it. */
char *muster_finding_line(const muster_finding *f);

/* ------------------------------------------------------------------ a report */

typedef struct muster_report muster_report;

/* An empty report. NULL: memory ran out. */
muster_report *muster_report_new(void);
void muster_report_free(muster_report *r); /* NULL is fine */

/* Takes what a process said; `process` tells the processes apart and is not printed: a finding, how often it
 * was met by now, the summary (later ones replace it), something that could not be judged, a launch that
 * ended with an error (which makes a report inconclusive unless the program failed by it), a proven hang
 * (told only where no finding tells it). */
bool muster_report_add(muster_report *r, const char *process, uint64_t id, const char *json, char **error);
void muster_report_count(muster_report *r, const char *process, uint64_t id, uint64_t count);
bool muster_report_summarise(muster_report *r, const char *process, const char *json, char **error);
void muster_report_unjudged(muster_report *r, const char *reason);
void muster_report_fault(muster_report *r, const char *text);
void muster_report_hang(muster_report *r, const char *text);
/* PTX lines that come without a source line are lines of `file`, a .ptx that somebody wrote. */
void muster_report_ptx(muster_report *r, const char *file);
/* How the program ended, once it did. */
void muster_report_program(muster_report *r, char *const *argv, int exit_code);
/* Adds a whole report that was written as JSON before (muster merge). */
bool muster_report_merge(muster_report *r, const char *json, size_t bytes, char **error);

/* Suppressions, in the text of the file `name` (doc/report.md): what they match is not printed and does not
 * count. */
bool muster_report_suppress(muster_report *r, const char *name, const char *text, char **error);
/* The i-th suppression that matched nothing, "FILE:LINE: TEXT"; NULL: there are no more. */
const char *muster_report_unused(const muster_report *r, size_t i);

typedef enum muster_verdict {
  MUSTER_CLEAN,
  MUSTER_FINDINGS,     /* an error or a warning */
  MUSTER_INCONCLUSIVE, /* something could not be judged, or nothing was launched */
  MUSTER_FAILED        /* the program did not end with 0 */
} muster_verdict;

/* What the report says as a whole, by what it holds now. */
muster_verdict muster_report_verdict(const muster_report *r);
const char *muster_verdict_name(muster_verdict v); /* "clean" */

typedef struct muster_format_options {
  bool colour, quiet; /* quiet: no notes */
  uint32_t columns;   /* of the terminal; 0: lines may be long */
  const char
      *command; /* what to run anew, up to the program: "muster check --gpu h200"; NULL: from the report */
} muster_format_options;
/* FORMAT: one of muster_format_name. False: no such format, or `to` cannot be written. */
bool muster_report_write(const muster_report *r, const char *format, const muster_format_options *o,
                         FILE *to);
const char *muster_format_name(size_t i); /* NULL: there are no more */

#ifdef __cplusplus
}
#endif
#endif
