/* read.c: JSON of the device or of a written report, into plain structures. What is absent is not known; what
 * is of a wrong type is an error only where nothing can be said without it. */
#include <string.h>

#include "report/report.h"

json_t *report_parse(const char *json, size_t bytes, char **error) {
  json_error_t why;
  json_t *v = json_loadb(json, bytes, JSON_REJECT_DUPLICATES, &why);
  if (!v)
    *error = base_format("line %d, column %d: %s", why.line, why.column, why.text);
  return v;
}

static const char *string(const json_t *v, const char *name) {
  return json_string_value(json_object_get(v, name));
}

static uint64_t number(const json_t *v, const char *name) {
  json_int_t n = json_integer_value(json_object_get(v, name));
  return n < 0 ? 0 : (uint64_t)n;
}

static uint32_t small(const json_t *v, const char *name) {
  uint64_t n = number(v, name);
  return n > UINT32_MAX ? UINT32_MAX : (uint32_t)n;
}

static bool triple(const json_t *v, const char *name, uint32_t out[3]) {
  const json_t *all = json_object_get(v, name);
  for (size_t i = 0; i < 3; i++)
    out[i] = (uint32_t)json_integer_value(json_array_get(all, i));
  return json_array_size(all) == 3;
}

static muster_access read_access(const json_t *v) {
  muster_access a = {.kind = string(v, "kind"),
                     .space = string(v, "space"),
                     .buffer = string(v, "buffer"),
                     .offset = json_integer_value(json_object_get(v, "offset")),
                     .bytes = small(v, "bytes"),
                     .func = string(v, "function"),
                     .file = string(v, "file"),
                     .line = small(v, "line"),
                     .column = small(v, "column"),
                     .inlined_at = string(v, "inlined_at"),
                     .ptx_line = small(v, "ptx_line")};
  bool block = triple(v, "block", a.block);
  a.has_thread = triple(v, "thread", a.thread) && block;
  if (!a.kind)
    a.kind = "access";
  return a;
}

static muster_waiting read_waiting(const json_t *v) {
  muster_waiting w = {.on = string(v, "on"),
                      .awaits = string(v, "for"),
                      .file = string(v, "file"),
                      .line = small(v, "line"),
                      .ptx_line = small(v, "ptx_line")};
  triple(v, "block", w.block);
  triple(v, "thread", w.thread);
  return w;
}

bool report_read_finding(const json_t *v, muster_finding *f, char **error) {
  const char *rule = string(v, "rule"), *severity = string(v, "severity");
  *f = (muster_finding){.rule = rule ? muster_rule_find(rule) : MUSTER_RULES};
  if (f->rule == MUSTER_RULES) {
    *error = rule ? base_format("no rule is named %s", rule) : base_format("a finding without a rule");
    return false;
  }
  f->severity = muster_rule_get(f->rule)->severity;
  for (int s = MUSTER_NOTE; severity && s <= MUSTER_ERROR; s++)
    if (strcmp(muster_severity_name((muster_severity)s), severity) == 0)
      f->severity = (muster_severity)s;
  f->process = string(v, "process");
  f->kernel = string(v, "kernel");
  f->launch = number(v, "launch");
  f->relation = string(v, "relation");
  f->message = string(v, "message");
  f->count = number(v, "count");
  f->replay = string(v, "replay");
  if (!f->message)
    f->message = muster_rule_get(f->rule)->what;
  const json_t *missing = json_object_get(v, "missing"), *residency = json_object_get(v, "residency"), *one;
  f->missing.what = string(missing, "what");
  f->missing.text = string(missing, "text");
  f->missing.file = string(missing, "file");
  f->missing.line = small(missing, "line");
  f->missing.ptx_line = small(missing, "ptx_line");
  f->residency.needed = number(residency, "needed");
  f->residency.fits = number(residency, "fits");
  f->residency.limit = string(residency, "limit");
  f->residency.launch = string(residency, "launch");
  size_t i;
  json_array_foreach(json_object_get(v, "accesses"), i, one) {
    if (f->n_accesses < MUSTER_ACCESSES)
      f->accesses[f->n_accesses++] = read_access(one);
  }
  json_array_foreach(json_object_get(v, "waiting"), i, one) {
    if (f->n_waiting < MUSTER_WAITING)
      f->waiting[f->n_waiting++] = read_waiting(one);
  }
  return true;
}

void report_read_summary(const json_t *v, muster_summary *s) {
  const json_t *ptx = json_object_get(v, "ptx"), *schedules = json_object_get(v, "schedules");
  *s = (muster_summary){.gpu = string(v, "gpu"),
                        .seed = number(v, "seed"),
                        .ptx_target = string(ptx, "target"),
                        .ptx_version = string(ptx, "version"),
                        .lineinfo = json_is_true(json_object_get(ptx, "lineinfo")),
                        .launches = number(v, "launches"),
                        .schedules_asked = number(schedules, "asked"),
                        .schedules_run = number(schedules, "run"),
                        .exhaustive = json_is_true(json_object_get(schedules, "exhaustive"))};
}
