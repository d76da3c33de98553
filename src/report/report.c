/* report.c: what several processes said, as one report. Findings are kept as the JSON values that came. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "muster/check.h"

typedef struct entry {
  const char *process;
  uint64_t id;
  json_t *finding;
} entry;

struct muster_report {
  entry *entries;
  size_t n, capacity;
  json_t *reasons;
  json_t *summary; /* NULL */
  json_t *program;
  int program_exit;
};

muster_report *muster_report_new(void) {
  muster_report *r = calloc(1, sizeof *r);
  if (r)
    r->reasons = json_array(), r->program = json_array();
  return r;
}

void muster_report_free(muster_report *r) {
  if (!r)
    return;
  for (size_t i = 0; i < r->n; i++)
    json_decref(r->entries[i].finding);
  json_decref(r->reasons);
  json_decref(r->summary);
  json_decref(r->program);
  free(r->entries);
  free(r);
}

static json_t *parse(const char *json, size_t bytes, char **error) {
  json_error_t why;
  json_t *v = json_loadb(json, bytes, JSON_REJECT_DUPLICATES, &why);
  if (!v) {
    base_text t = {0};
    base_putf(&t, "line %d, column %d: %s", why.line, why.column, why.text);
    *error = t.bytes;
  }
  return v;
}

bool muster_report_add(muster_report *r, const char *process, uint64_t id, const char *json, char **error) {
  json_t *f = parse(json, strlen(json), error);
  if (!f)
    return false;
  if (r->n == r->capacity) {
    size_t more = r->capacity ? 2 * r->capacity : 16;
    entry *grown = realloc(r->entries, more * sizeof *grown);
    if (!grown)
      return false;
    r->entries = grown, r->capacity = more;
  }
  r->entries[r->n++] = (entry){.process = process, .id = id, .finding = f};
  return true;
}

void muster_report_count(muster_report *r, const char *process, uint64_t id, uint64_t count) {
  for (size_t i = 0; i < r->n; i++)
    if (r->entries[i].id == id && strcmp(r->entries[i].process, process) == 0)
      json_object_set_new(r->entries[i].finding, "count", json_integer((json_int_t)count));
}

bool muster_report_summarise(muster_report *r, const char *process, const char *json, char **error) {
  (void)process;
  json_decref(r->summary);
  return (r->summary = parse(json, strlen(json), error)) != NULL;
}

void muster_report_unjudged(muster_report *r, const char *reason) {
  json_array_append_new(r->reasons, json_string(reason));
}

void muster_report_program(muster_report *r, char *const *argv, int exit_code) {
  for (; *argv; argv++)
    json_array_append_new(r->program, json_string(*argv));
  r->program_exit = exit_code;
}

static bool counts(const json_t *finding) {
  const char *severity = json_string_value(json_object_get(finding, "severity"));
  return severity && strcmp(severity, "note") != 0;
}

muster_verdict muster_report_verdict(const muster_report *r) {
  for (size_t i = 0; i < r->n; i++)
    if (counts(r->entries[i].finding))
      return MUSTER_FINDINGS;
  if (json_array_size(r->reasons) || json_integer_value(json_object_get(r->summary, "launches")) == 0)
    return MUSTER_INCONCLUSIVE;
  return r->program_exit ? MUSTER_FAILED : MUSTER_CLEAN;
}

const char *muster_verdict_name(muster_verdict v) {
  static const char *const names[] = {"clean", "findings", "inconclusive", "failed"};
  return names[v];
}

bool muster_format_exists(const char *format) {
  return strcmp(format, "text") == 0 || strcmp(format, "json") == 0;
}

static bool write_json(const muster_report *r, FILE *to) {
  json_t *all = json_object(), *findings = json_array();
  json_object_set_new(all, "schema", json_string(MUSTER_REPORT_SCHEMA));
  json_object_set_new(all, "verdict", json_string(muster_verdict_name(muster_report_verdict(r))));
  json_object_set(all, "reasons", r->reasons);
  json_object_set(all, "program", r->program);
  json_object_set_new(all, "program_exit", json_integer(r->program_exit));
  json_object_update_missing(all, r->summary);
  for (size_t i = 0; i < r->n; i++)
    json_array_append(findings, r->entries[i].finding);
  json_object_set_new(all, "findings", findings);
  bool good = json_dumpf(all, to, JSON_INDENT(1)) == 0 && fputc('\n', to) != EOF;
  json_decref(all);
  return good;
}

static void write_text(const muster_report *r, FILE *to) {
  for (size_t i = 0; i < r->n; i++) {
    const json_t *f = r->entries[i].finding, *a;
    size_t k;
    fprintf(to, "%s: %s [%s] in %s\n", json_string_value(json_object_get(f, "severity")),
            json_string_value(json_object_get(f, "message")), json_string_value(json_object_get(f, "rule")),
            json_string_value(json_object_get(f, "kernel")));
    json_array_foreach(json_object_get(f, "accesses"), k, a) {
      const char *file = json_string_value(json_object_get(a, "file"));
      fprintf(to, "  %s at %s:%d\n", json_string_value(json_object_get(a, "kind")), file ? file : "PTX line",
              (int)json_integer_value(json_object_get(a, file ? "line" : "ptx_line")));
    }
    const char *text = json_string_value(json_object_get(json_object_get(f, "missing"), "text"));
    if (text)
      fprintf(to, "  missing: %s\n", text);
  }
}

bool muster_report_write(const muster_report *r, const char *format, const muster_format_options *o,
                         FILE *to) {
  (void)o;
  if (strcmp(format, "json") == 0)
    return write_json(r, to);
  write_text(r, to);
  return !ferror(to);
}
