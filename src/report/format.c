/* format.c: the formats by name, and the one that is read again (doc/report.md). */
#include <string.h>

#include "report/report.h"
#include "report/writer.h"

bool report_json(const muster_report *r, const muster_format_options *o, const report_list *l, base_text *t) {
  (void)o;
  muster_summary total = report_total(r);
  size_t i;
  json_t *one;
  writer w = {0};
  writer_open(&w, '{');
  writer_string(&w, "schema", MUSTER_REPORT_SCHEMA);
  writer_string(&w, "verdict", muster_verdict_name(muster_report_verdict(r)));
  writer_array(&w, "reasons");
  json_array_foreach(r->faults, i, one) writer_item(&w, json_string_value(one));
  json_array_foreach(r->reasons, i, one) writer_item(&w, json_string_value(one));
  writer_shut(&w, ']');
  writer_array(&w, "program");
  json_array_foreach(r->program, i, one) writer_item(&w, json_string_value(one));
  writer_shut(&w, ']');
  writer_number(&w, "program_exit", (uint64_t)r->program_exit);
  writer_summary(&w, &total);
  writer_array(&w, "findings");
  for (size_t k = 0; k < l->n; k++) {
    writer_newline(&w); /* a line each: for diff and grep */
    writer_finding(&w, l->all[k]);
  }
  writer_shut(&w, ']');
  writer_shut(&w, '}');
  base_puts(&w.text, "\n");
  *t = w.text;
  return true;
}

static const struct {
  const char *name;
  report_format *write;
} formats[] = {{"text", report_text},   {"json", report_json},     {"sarif", report_sarif},
               {"junit", report_junit}, {"github", report_github}, {"suppressions", report_suppressions}};
enum { FORMATS = sizeof formats / sizeof *formats };

const char *muster_format_name(size_t i) {
  return i < FORMATS ? formats[i].name : NULL;
}

bool muster_report_write(const muster_report *r, const char *format, const muster_format_options *o,
                         FILE *to) {
  size_t i = 0;
  while (i < FORMATS && strcmp(formats[i].name, format) != 0)
    i++;
  report_list l;
  if (i == FORMATS || !report_begin(r, &l))
    return false;
  base_text t = {0};
  bool good = formats[i].write(r, o, &l, &t) && !t.failed;
  report_end(&l);
  source_forget();
  good = good && fwrite(t.bytes ? t.bytes : "", 1, t.length, to) == t.length && fflush(to) == 0;
  base_text_free(&t);
  return good;
}
