/* report.c: what several processes said, as one report: findings that are equal for a reader are one, counts
 * and summaries of processes add up, and the verdict follows. */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "report/report.h"

muster_report *muster_report_new(void) {
  muster_report *r = calloc(1, sizeof *r);
  if (!r)
    return NULL;
  r->reasons = json_array(), r->faults = json_array();
  r->program = json_array();
  r->suppressions_end = &r->suppressions;
  if (r->reasons && r->faults && r->program)
    return r;
  muster_report_free(r);
  return NULL;
}

void muster_report_free(muster_report *r) {
  if (!r)
    return;
  for (size_t i = 0; i < r->n_entries; i++)
    free(r->entries[i].process);
  for (size_t i = 0; i < r->n_groups; i++)
    json_decref(r->groups[i].owner);
  for (size_t i = 0; i < r->n_processes; i++) {
    free(r->processes[i].process);
    json_decref(r->processes[i].owner);
  }
  for (report_suppression *s = r->suppressions, *next; s; s = next) {
    next = s->next;
    free(s->told); /* its other strings lie there too */
    free(s);
  }
  json_decref(r->reasons);
  json_decref(r->faults);
  json_decref(r->program);
  free(r->ptx_file);
  free(r->entries);
  free(r->groups);
  free(r->processes);
  free(r);
}

/* ------------------------------------------------------------------ equal findings */

static bool same_text(const char *a, const char *b) {
  return strcmp(a ? a : "", b ? b : "") == 0;
}

/* A reader sees source lines; where there are none, lines of the kernel's PTX. */
static bool same_place(const muster_finding *f, const muster_access *a, const muster_finding *g,
                       const muster_access *b) {
  if (a->line && b->line)
    return a->line == b->line && same_text(a->file, b->file) && same_text(a->inlined_at, b->inlined_at);
  if (a->ptx_line || b->ptx_line)
    return !a->line && !b->line && a->ptx_line == b->ptx_line && same_text(f->kernel, g->kernel);
  return same_text(a->kind, b->kind) && same_text(a->buffer, b->buffer);
}

static bool same_missing(const muster_finding *f, const muster_finding *g) {
  return same_text(f->missing.what, g->missing.what) && same_text(f->missing.file, g->missing.file) &&
         f->missing.line == g->missing.line &&
         (f->missing.line || f->missing.ptx_line == g->missing.ptx_line);
}

static bool equal(const muster_finding *f, const muster_finding *g) {
  if (f->rule != g->rule || f->severity != g->severity || f->n_accesses != g->n_accesses ||
      !same_text(f->process, g->process) || !same_missing(f, g))
    return false;
  const muster_access *a = f->accesses, *b = g->accesses;
  switch (f->n_accesses) {
  case 0:
    return same_text(f->message, g->message) && same_text(f->kernel, g->kernel);
  case 1:
    return same_place(f, a, g, b);
  default: /* in either order */
    return (same_place(f, &a[0], g, &b[0]) && same_place(f, &a[1], g, &b[1])) ||
           (same_place(f, &a[0], g, &b[1]) && same_place(f, &a[1], g, &b[0]));
  }
}

static void name_ptx(const muster_report *r, const char **file, uint32_t *line, uint32_t ptx_line) {
  if (r->ptx_file && !*file && ptx_line)
    *file = r->ptx_file, *line = ptx_line;
}

static void name_places(const muster_report *r, muster_finding *f) {
  for (uint32_t i = 0; i < f->n_accesses; i++)
    name_ptx(r, &f->accesses[i].file, &f->accesses[i].line, f->accesses[i].ptx_line);
  for (uint32_t i = 0; i < f->n_waiting; i++)
    name_ptx(r, &f->waiting[i].file, &f->waiting[i].line, f->waiting[i].ptx_line);
  name_ptx(r, &f->missing.file, &f->missing.line, f->missing.ptx_line);
}

/* Takes `v`. */
static bool add(muster_report *r, const char *process, uint64_t id, json_t *v, char **error) {
  report_group new = {.owner = v};
  char *said_by = process ? strdup(process) : NULL;
  if (!report_read_finding(v, &new.f, error) || (process && !said_by) ||
      !BASE_ROOM(r->entries, r->n_entries, r->cap_entries) ||
      !BASE_ROOM(r->groups, r->n_groups, r->cap_groups)) {
    json_decref(v);
    free(said_by);
    return false;
  }
  name_places(r, &new.f);
  if (new.f.count == 0)
    new.f.count = 1;
  size_t at = 0;
  while (at < r->n_groups && !equal(&r->groups[at].f, &new.f))
    at++;
  r->entries[r->n_entries++] =
      (report_entry){.process = said_by, .id = id, .count = new.f.count, .group = at};
  if (at < r->n_groups) {
    report_group *g = &r->groups[at];
    g->f.count += new.f.count;
    g->said_in += g->said_last != r->n_processes;
    g->said_last = r->n_processes;
    json_decref(v);
    return true;
  }
  new.said_in = 1, new.said_last = r->n_processes;
  new.suppressed = report_suppressed(r, &new.f);
  r->groups[r->n_groups++] = new;
  r->suppressed += new.suppressed;
  return true;
}

bool muster_report_add(muster_report *r, const char *process, uint64_t id, const char *json, char **error) {
  json_t *v = report_parse(json, strlen(json), error);
  return v && add(r, process, id, v, error);
}

/* The newest of that id: a process that executes another program counts from 1 again. */
void muster_report_count(muster_report *r, const char *process, uint64_t id, uint64_t count) {
  for (size_t i = r->n_entries; i-- > 0;) {
    report_entry *e = &r->entries[i];
    if (e->id != id || !e->process || strcmp(e->process, process) != 0)
      continue;
    r->groups[e->group].f.count += count - e->count;
    e->count = count;
    return;
  }
}

/* ------------------------------------------------------------------ summaries, reasons */

static report_process *process_of(muster_report *r, const char *process) {
  for (size_t i = 0; i < r->n_processes; i++)
    if (strcmp(r->processes[i].process, process) == 0)
      return &r->processes[i];
  if (!BASE_ROOM(r->processes, r->n_processes, r->cap_processes))
    return NULL;
  report_process *p = &r->processes[r->n_processes];
  *p = (report_process){.process = strdup(process)};
  if (!p->process)
    return NULL;
  r->n_processes++;
  return p;
}

bool muster_report_summarise(muster_report *r, const char *process, const char *json, char **error) {
  json_t *v = report_parse(json, strlen(json), error);
  report_process *p = v ? process_of(r, process) : NULL;
  if (!p) {
    json_decref(v);
    return false;
  }
  uint64_t before = p->summary.launches;
  report_read_summary(v, &p->summary);
  if (p->summary.launches < before) /* another program by now, which counts from 0 */
    p->earlier += before;
  json_decref(p->owner);
  p->owner = v;
  return true;
}

/* One of those that launched something speaks for the device; what each did adds up. */
muster_summary report_total(const muster_report *r) {
  muster_summary total = {0};
  bool any = false;
  for (int launched = 1; launched >= 0; launched--)
    for (size_t i = 0; i < r->n_processes; i++) {
      const muster_summary *s = &r->processes[i].summary;
      if ((s->launches > 0) != launched || (any && !launched))
        continue;
      uint64_t launches = s->launches + r->processes[i].earlier;
      if (!any) {
        total = *s;
        total.launches = launches;
        any = true;
        continue;
      }
      total.launches += launches;
      total.lineinfo &= s->lineinfo;
      total.exhaustive &= s->exhaustive;
      if (r->is_merged) {
        total.schedules_asked += s->schedules_asked;
        total.schedules_run += s->schedules_run;
      } else if (s->schedules_run > total.schedules_run) {
        total.schedules_asked = s->schedules_asked;
        total.schedules_run = s->schedules_run;
      }
    }
  total.lineinfo |= r->ptx_file != NULL;
  return total;
}

static void add_once(json_t *all, const char *text) {
  size_t i;
  json_t *one;
  base_text valid = {0};
  words_plain(&valid, text);
  const char *put = valid.bytes ? valid.bytes : "";
  json_array_foreach(all, i, one) {
    if (strcmp(json_string_value(one), put) == 0)
      put = "";
  }
  if (*put)
    json_array_append_new(all, json_string(put));
  base_text_free(&valid);
}

void muster_report_unjudged(muster_report *r, const char *reason) {
  add_once(r->reasons, reason);
}

void muster_report_fault(muster_report *r, const char *text) {
  add_once(r->faults, text);
}

void muster_report_hang(muster_report *r, const char *text) {
  for (size_t i = 0; i < r->n_groups; i++)
    if (r->groups[i].f.rule >= MUSTER_RULE_DEADLOCK_BARRIER &&
        r->groups[i].f.rule <= MUSTER_RULE_DEADLOCK_RESIDENCY)
      return;
  muster_report_fault(r, text);
}

void muster_report_ptx(muster_report *r, const char *file) {
  free(r->ptx_file);
  r->ptx_file = strdup(file);
}

void muster_report_program(muster_report *r, char *const *argv, int exit_code) {
  json_array_clear(r->program);
  for (; *argv; argv++) {
    base_text valid = {0};
    words_plain(&valid, *argv);
    json_array_append_new(r->program, json_string(valid.bytes ? valid.bytes : ""));
    base_text_free(&valid);
  }
  r->program_exit = exit_code;
  if (report_judged_nothing(r))
    muster_report_unjudged(r, "nothing was launched");
}

/* ------------------------------------------------------------------ whole reports */

static bool verdict_of_name(const char *verdict, muster_verdict *out) {
  for (int v = MUSTER_CLEAN; v <= MUSTER_FAILED; v++)
    if (verdict && strcmp(verdict, muster_verdict_name((muster_verdict)v)) == 0) {
      *out = (muster_verdict)v;
      return true;
    }
  return false;
}

bool muster_report_merge(muster_report *r, const char *json, size_t bytes, char **error) {
  json_t *v = report_parse(json, bytes, error), *one;
  if (!v)
    return false;
  const char *schema = json_string_value(json_object_get(v, "schema"));
  muster_verdict verdict = MUSTER_CLEAN;
  if (!schema || strcmp(schema, MUSTER_REPORT_SCHEMA) != 0 ||
      !verdict_of_name(json_string_value(json_object_get(v, "verdict")), &verdict)) {
    *error = schema ? base_format("a report of schema %s; this muster reads %s", schema, MUSTER_REPORT_SCHEMA)
                    : base_format("no report of muster check");
    json_decref(v);
    return false;
  }
  size_t i;
  bool good = true;
  json_array_foreach(json_object_get(v, "findings"), i, one) {
    good = good && add(r, NULL, 0, json_incref(one), error);
  }
  json_t *reasons = json_object_get(v, "reasons");
  json_array_foreach(reasons, i, one) {
    if (json_is_string(one)) /* of a failed program: how it failed */
      add_once(verdict == MUSTER_FAILED ? r->faults : r->reasons, json_string_value(one));
  }
  int exit_code = (int)json_integer_value(json_object_get(v, "program_exit"));
  if (!r->is_merged)
    r->program = (json_decref(r->program), json_incref(json_object_get(v, "program")));
  if (!r->is_merged || r->program_exit == 0)
    r->program_exit = exit_code;
  if (!r->program)
    r->program = json_array();
  r->is_merged = true;
  char number[32];
  snprintf(number, sizeof number, "%u", r->n_processes);
  report_process *p = process_of(r, number);
  good = good && p;
  if (p) {
    p->owner = json_incref(v);
    report_read_summary(v, &p->summary);
    if (p->summary.launches == 0)
      muster_report_unjudged(r, "nothing was launched");
  }
  json_decref(v);
  return good;
}

/* ------------------------------------------------------------------ the verdict */

bool report_judged_nothing(const muster_report *r) {
  for (size_t i = 0; i < r->n_groups; i++)
    if (r->groups[i].f.launch)
      return false;
  return report_total(r).launches == 0;
}

muster_verdict muster_report_verdict(const muster_report *r) {
  for (size_t i = 0; i < r->n_groups; i++)
    if (!r->groups[i].suppressed && r->groups[i].f.severity > MUSTER_NOTE)
      return MUSTER_FINDINGS;
  if (json_array_size(r->reasons) || report_judged_nothing(r))
    return MUSTER_INCONCLUSIVE;
  if (r->program_exit)
    return MUSTER_FAILED;
  return json_array_size(r->faults) ? MUSTER_INCONCLUSIVE : MUSTER_CLEAN;
}

const char *muster_verdict_name(muster_verdict v) {
  static const char *const names[] = {"clean", "findings", "inconclusive", "failed"};
  return names[v];
}

/* ------------------------------------------------------------------ the order of printing */

static int by_text(const char *a, const char *b) {
  return strcmp(a ? a : "", b ? b : "");
}

static int by_place(const muster_access *a, const muster_access *b) {
  int d = by_text(a->file, b->file);
  if (d)
    return d;
  if (a->line != b->line)
    return a->line < b->line ? -1 : 1;
  return a->ptx_line < b->ptx_line ? -1 : a->ptx_line > b->ptx_line;
}

static int by_found(const void *a, const void *b) {
  const muster_finding *f = *(const muster_finding *const *)a, *g = *(const muster_finding *const *)b;
  if (f->severity != g->severity)
    return f->severity > g->severity ? -1 : 1;
  return f < g ? -1 : f > g; /* they lie in one array, as they were found */
}

/* Which of several processes was heard first is no property of the program. */
static int by_content(const void *a, const void *b) {
  const muster_finding *f = *(const muster_finding *const *)a, *g = *(const muster_finding *const *)b;
  int d = (f->severity < g->severity) - (f->severity > g->severity);
  d = d ? d : by_text(f->process, g->process);
  d = d ? d : by_text(f->kernel, g->kernel);
  d = d ? d : (f->launch > g->launch) - (f->launch < g->launch);
  d = d ? d : (f->rule > g->rule) - (f->rule < g->rule);
  for (int i = 0; i < MUSTER_ACCESSES && d == 0; i++)
    d = by_place(&f->accesses[i], &g->accesses[i]);
  d = d ? d : by_text(f->message, g->message);
  return d ? d : by_found(a, b);
}

static bool has_several_processes(const muster_report *r) {
  const char *first = NULL;
  for (size_t i = 0; i < r->n_entries; i++)
    if (r->entries[i].process) {
      if (first && strcmp(first, r->entries[i].process) != 0)
        return true;
      first = r->entries[i].process;
    }
  return false;
}

/* That a barrier orders nothing is so only if no report that was merged knows better. */
static bool stands(const muster_report *r, const report_group *g) {
  return g->f.rule != MUSTER_RULE_BARRIER_REDUNDANT || !r->is_merged || g->said_in == r->n_processes;
}

bool report_begin(const muster_report *r, report_list *l) {
  *l = (report_list){.all = malloc((r->n_groups + 1) * sizeof *l->all)};
  if (!l->all)
    return false;
  for (size_t i = 0; i < r->n_groups; i++)
    if (!r->groups[i].suppressed && stands(r, &r->groups[i])) {
      l->n_of[r->groups[i].f.severity]++;
      l->all[l->n++] = &r->groups[i].f;
    }
  qsort(l->all, l->n, sizeof *l->all, has_several_processes(r) ? by_content : by_found);
  return true;
}

void report_end(report_list *l) {
  free(l->all);
}
