/* report.h: what the files of src/report share. Private to src/report.
 *
 * What comes in is JSON (read.c); it is kept as findings in their plain form, equal ones united (report.c);
 * each format (text.c, json, sarif.c, junit.c, github.c, suppress.c) reads them in the order of
 * report_begin and writes by itself.
 */
#ifndef MUSTER_REPORT_REPORT_H
#define MUSTER_REPORT_REPORT_H

#include <jansson.h>

#include "base/text.h"
#include "muster/check.h"
#include "report/words.h"

/* ------------------------------------------------------------------ read.c */

/* Strings stay in `v`. False with *error: `v` is no finding. */
bool report_read_finding(const json_t *v, muster_finding *out, char **error);
void report_read_summary(const json_t *v, muster_summary *out);
json_t *report_parse(const char *json, size_t bytes, char **error);

/* ------------------------------------------------------------------ report.c: the model */

/* One of several equal findings: all of them are printed as one. */
typedef struct report_entry {
  char *process; /* who said it, for a later count; NULL: it came with a whole report */
  uint64_t id, count;
  size_t group;
} report_entry;

typedef struct report_group {
  muster_finding f; /* count: of all its entries */
  json_t *owner;    /* of the strings */
  bool suppressed;
  uint32_t said_in, said_last; /* of merged reports: in how many, and the number of the last */
} report_group;

typedef struct report_process {
  char *process;
  json_t *owner;
  muster_summary summary;
  uint64_t earlier; /* launches of a program that this process was before exec */
} report_process;

typedef struct report_suppression {
  struct report_suppression *next;
  char *told; /* "FILE:LINE: TEXT" */
  char *rule, *kernel, *process, *at[MUSTER_ACCESSES];
  uint32_t n_at;
  uint64_t used;
} report_suppression;

struct muster_report {
  report_entry *entries;
  report_group *groups;
  report_process *processes;
  uint32_t n_entries, cap_entries, n_groups, cap_groups, n_processes, cap_processes;
  report_suppression *suppressions, **suppressions_end;
  json_t *reasons, *faults; /* arrays of strings */
  json_t *program;          /* an array of strings */
  bool is_merged;
  char *ptx_file;      /* NULL */
  uint64_t suppressed; /* findings */
  int program_exit;
};

bool report_suppressed(muster_report *r, const muster_finding *f); /* suppress.c; marks what matched */
muster_summary report_total(const muster_report *r);               /* of all processes */
bool report_judged_nothing(const muster_report *r);                /* nothing was launched */

/* The findings to print: errors first, then warnings, then notes, each in the order in which they were found
 * (with several processes: in an order that does not depend on who was faster). */
typedef struct report_list {
  const muster_finding **all;
  size_t n;
  size_t n_of[MUSTER_ERROR + 1]; /* by severity */
} report_list;
bool report_begin(const muster_report *r, report_list *out);
void report_end(report_list *l);

/* ------------------------------------------------------------------ source.c */

/* Line `line` of `file` (without its end; lives until source_forget), or NULL. */
const char *source_line(const char *file, uint32_t line, size_t *bytes);
void source_forget(void);

/* ------------------------------------------------------------------ the formats */

typedef bool report_format(const muster_report *r, const muster_format_options *o, const report_list *l,
                           base_text *out);
report_format report_text, report_json, report_sarif, report_junit, report_github, report_suppressions;

#endif
