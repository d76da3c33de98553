/* bench.h: what the files of muster bench share: figures, how they are measured, how they are shown. */
#ifndef MUSTER_TOOL_BENCH_H
#define MUSTER_TOOL_BENCH_H

#include <stdio.h>

#include "muster.h"
#include "tool.h"

/* ------------------------------------------------------------------ run.c: the figures of a run */
typedef struct bench_figure {
  const char *what;                 /* of what.def */
  char *how;                        /* "muster", "cooperative groups", "add u32, device scope, one address" */
  uint32_t blocks, groups, threads; /* of a block; 0: it has none */
  uint64_t n;                       /* elements; 0: it has none */
  uint64_t bytes;                   /* that it has to move at least; 0: it moves none */
  double min, median, max;          /* nanoseconds */
} bench_figure;

typedef struct bench_gap { /* what was not measured, and why */
  const char *what;
  char *why;
} bench_gap;

typedef struct bench_run {
  char *version, *commit, *date; /* of muster; of the run */
  char *device, *driver;
  int is_cpu;
  uint32_t compute_capability, multiprocessors;
  double clock_mhz, seen_mhz; /* the highest by the driver's word, and what was measured */
  double peak;                /* bytes a nanosecond between device and memory; 0: not known */
  uint32_t runs;
  bench_figure *figures;
  size_t n;
  bench_gap *gaps;
  size_t n_gaps;
} bench_run;

const char *bench_what(const char *name, size_t length); /* the word of what.def; NULL: none */
/* Adds a copy of the figure; `how` is taken over. */
void bench_add(bench_run *r, bench_figure figure);
void bench_leave_out(bench_run *r, const char *what, char *why); /* takes `why` over */
/* The first figure of that what, how and shape, where 0 is any; NULL: there is none. */
const bench_figure *bench_find(const bench_run *r, const char *what, const char *how, uint32_t blocks,
                               uint32_t threads, uint64_t n);
/* Whether both are of the same thing. */
bool bench_same(const bench_figure *a, const bench_figure *b);
/* "4 x 33 blocks of 128": blocks, groups and threads as far as the figure has them; free() it. */
char *bench_shape(const bench_figure *f);
void bench_free(bench_run *r);

/* ------------------------------------------------------------------ json.c */
char *bench_to_json(const bench_run *r); /* free() it */
/* Reads a file that --json wrote; false, having said what is wrong with it. */
bool bench_from_json(const char *path, bench_run *r);
/* What the process that measures tells the one that keeps it, a line each: the run without figures, a figure,
 * and by `kind` what else there is to say of a what. */
void bench_tell_run(FILE *to, const bench_run *r);
void bench_tell_figure(FILE *to, const bench_figure *f);
void bench_tell(FILE *to, const char *kind, const char *what, const char *text);
/* Adds the run or the figure of a line to the run. Its kind, and what else it says: free() both texts. NULL,
 * having said so: it cannot be read. */
char *bench_hear(const char *line, bench_run *run, const char **what, char **text);

/* ------------------------------------------------------------------ table.c, svg.c, summary.c, compare.c */
char *bench_to_table(const bench_run *r); /* all of these: free() it */
char *bench_to_csv(const bench_run *r);
char *bench_to_svg(const bench_run *r);
char *bench_to_summary(const bench_run *r);
/* The two lines that say of what and how the figures are. */
void bench_put_method(FILE *to, const bench_run *r);
/* Prints what differs by more than `percent`. TOOL_OK; TOOL_SLOWER; TOOL_UNJUDGED: they share no figure. */
int bench_compare(const bench_run *old, const bench_run *new, double percent);

/* ------------------------------------------------------------------ measure.c */
extern const char bench_commit[]; /* the commit of this build: mk/Commit.cmake writes it */
typedef enum bench_file {         /* of tool/bench/kernels */
                          BENCH_primitives,
                          BENCH_atomics,
                          BENCH_remedies,
                          BENCH_cooperative,
                          BENCH_FILES
} bench_file;

typedef struct bench {
  muster_device *device;
  muster_device_info info;
  muster_module *modules[BENCH_FILES];
  bool small;     /* the CPU device: counts that only show that all works */
  bench_run *run; /* without figures: they are told */
  FILE *tell;
  const char *what;     /* is measured now */
  uint32_t begun, done; /* measurements of it: here, and before this process */
  bench_figure now;
} bench;

/* Opens what --device or MUSTER_DEVICE names and begins the run. An exit code. */
int bench_open(bench *b, const tool_options *o);
void bench_close(bench *b);
/* Begins the measurement of that figure and takes `how` over; false: an earlier process has been there. */
bool bench_begin(bench *b, bench_figure figure);
void bench_omit(bench *b, char *why); /* this cannot be measured here; takes `why` over */
/* The measurement has failed, by the library's answer or by what it found; takes `why` over. An exit code. */
int bench_failed(bench *b, muster_result r);
int bench_wrong(bench *b, char *why);
/* The kernel of that name. NULL with TOOL_OK: this build or this device does not have it. */
int bench_kernel(bench *b, bench_file file, const char *name, muster_kernel **kernel);
/* `bytes` of zeroed memory, for as long as the device is open. */
int bench_memory(bench *b, uint64_t bytes, uint64_t *address);

/* A launch that does something `rounds` times. */
typedef struct bench_loop {
  muster_kernel *kernel;
  muster_launch launch;
  void **parameters;
  uint32_t *rounds; /* one of them; NULL: it is the launch that is repeated, in a graph or in a stream */
  bool graph;
} bench_loop;
/* The figure begun is that of one round: the slope between `few` and `many` of them; `divide` things happen
 * in one. */
int bench_slope(bench *b, bench_loop *loop, uint32_t few, uint32_t many, double divide);
/* The figure begun is that of one call of `work`, of `repeat` in a run. */
int bench_calls(bench *b, muster_work work, void *context, uint32_t repeat, bool graph);

/* The functions of what.def, in primitives.c, atomics.c and operations.c. */
#define WHAT(name, function, meaning) int bench_measure_##function(bench *b);
#include "what.def"

/* ------------------------------------------------------------------ watch.c */
/* Measures what is chosen (one member a row of what.def) in another process. An exit code; the run has a
 * version if the device was opened, and is then complete: what is not in it is named in it. */
int bench_watch(const tool_options *o, const bool *chosen, bench_run *run);

#endif
