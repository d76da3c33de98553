/* sarif.c: SARIF 2.1.0, for code-scanning services: the first access is the result's location, the other one,
 * the waiting threads and the missing edge are related locations. */
#include <string.h>

#include "report/report.h"
#include "report/writer.h"

static void put_message(writer *w, const char *name, const char *text) {
  base_text valid = {0};
  words_plain(&valid, text);
  writer_object(w, name);
  writer_string(w, "text", valid.bytes ? valid.bytes : "");
  writer_shut(w, '}');
  base_text_free(&valid);
}

/* A path as a URI reference: relative to where the inspection ran, or file:. */
static void put_uri(writer *w, const char *file) {
  static const char plain[] =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/!$&'()*+,;=@";
  base_text uri = {0};
  file = words_file(file);
  base_puts(&uri, *file == '/' ? "file://" : "");
  for (; *file; file++)
    if (strchr(plain, *file))
      base_put(&uri, file, 1);
    else
      base_putf(&uri, "%%%02X", (unsigned char)*file);
  writer_string(w, "uri", uri.bytes);
  base_text_free(&uri);
}

static void put_physical(writer *w, const char *file, uint32_t line, uint32_t column) {
  if (!file || !line)
    return;
  writer_object(w, "physicalLocation");
  writer_object(w, "artifactLocation");
  put_uri(w, file);
  writer_shut(w, '}');
  writer_object(w, "region");
  writer_number(w, "startLine", line);
  if (column)
    writer_number(w, "startColumn", column);
  writer_shut(w, '}');
  writer_shut(w, '}');
}

static void put_logical(writer *w, const char *name) {
  if (!name || !*name)
    return;
  writer_array(w, "logicalLocations");
  writer_open(w, '{');
  writer_string(w, "name", name);
  writer_string(w, "kind", "function");
  writer_shut(w, '}');
  writer_shut(w, ']');
}

static void put_access_location(writer *w, const muster_finding *f, const muster_access *a) {
  base_text text = {0};
  words_access(&text, a);
  put_physical(w, a->file, a->line, a->column);
  put_logical(w, a->func ? a->func : f->kernel);
  put_message(w, "message", text.bytes);
  base_text_free(&text);
}

static void put_related(writer *w, const muster_finding *f) {
  uint64_t id = 1;
  writer_array(w, "relatedLocations");
  for (uint32_t i = 1; i < f->n_accesses; i++) {
    writer_open(w, '{');
    writer_number(w, "id", id++);
    put_access_location(w, f, &f->accesses[i]);
    writer_shut(w, '}');
  }
  for (uint32_t i = 0; i < f->n_waiting; i++) {
    base_text text = {0};
    words_waiting(&text, &f->waiting[i]);
    writer_open(w, '{');
    writer_number(w, "id", id++);
    put_physical(w, f->waiting[i].file, f->waiting[i].line, 0);
    put_logical(w, f->kernel);
    put_message(w, "message", text.bytes);
    writer_shut(w, '}');
    base_text_free(&text);
  }
  if (f->missing.text && f->missing.file && f->missing.line) {
    base_text text = {0};
    base_puts(&text, "help: ");
    words_plain(&text, f->missing.text);
    writer_open(w, '{');
    writer_number(w, "id", id++);
    put_physical(w, f->missing.file, f->missing.line, 0);
    put_message(w, "message", text.bytes);
    writer_shut(w, '}');
    base_text_free(&text);
  }
  writer_shut(w, ']');
}

/* What stays the same when lines move elsewhere in the file cannot be told from here; what stays the same
 * from run to run can. */
static void put_fingerprint(writer *w, const muster_finding *f) {
  base_text all = {0};
  base_puts(&all, muster_rule_get(f->rule)->id);
  base_putf(&all, "|%s", f->kernel ? f->kernel : "");
  for (uint32_t i = 0; i < f->n_accesses; i++) {
    base_puts(&all, "|");
    words_place(&all, f->accesses[i].file, f->accesses[i].line, 0, f->accesses[i].ptx_line, f->kernel);
  }
  uint64_t hash = 0xcbf29ce484222325; /* FNV-1a */
  for (size_t i = 0; i < all.length; i++)
    hash = (hash ^ (unsigned char)all.bytes[i]) * 0x100000001b3;
  base_text_free(&all);
  char text[32];
  snprintf(text, sizeof text, "%016llx", (unsigned long long)hash);
  writer_object(w, "partialFingerprints");
  writer_string(w, "musterFinding/v1", text);
  writer_shut(w, '}');
}

static void put_result(writer *w, const muster_finding *f, uint64_t rule_index) {
  base_text text = {0};
  words_plain(&text, f->message);
  if (f->missing.text) {
    base_puts(&text, ". ");
    words_plain(&text, f->missing.text);
  }
  writer_newline(w);
  writer_open(w, '{');
  writer_string(w, "ruleId", muster_rule_get(f->rule)->id);
  writer_number(w, "ruleIndex", rule_index);
  writer_string(w, "level", muster_severity_name(f->severity));
  put_message(w, "message", text.bytes);
  writer_array(w, "locations");
  if (f->n_accesses) {
    writer_open(w, '{');
    put_access_location(w, f, &f->accesses[0]);
    writer_shut(w, '}');
  }
  writer_shut(w, ']');
  put_related(w, f);
  put_fingerprint(w, f);
  if (f->count)
    writer_number(w, "occurrenceCount", f->count);
  writer_object(w, "properties"); /* the finding as it is in muster's own format */
  writer_key(w, "muster");
  writer_finding(w, f);
  writer_shut(w, '}');
  writer_shut(w, '}');
  base_text_free(&text);
}

static void put_rules(writer *w) {
  writer_array(w, "rules");
  for (int i = 0; i < MUSTER_RULES; i++) {
    const muster_rule_row *row = muster_rule_get((muster_rule)i);
    writer_newline(w);
    writer_open(w, '{');
    writer_string(w, "id", row->id);
    put_message(w, "shortDescription", row->what);
    writer_object(w, "defaultConfiguration");
    writer_string(w, "level", muster_severity_name(row->severity));
    writer_shut(w, '}');
    writer_shut(w, '}');
  }
  writer_shut(w, ']');
}

static void put_notifications(writer *w, const json_t *all, const char *level) {
  size_t i;
  json_t *one;
  json_array_foreach(all, i, one) {
    writer_open(w, '{');
    writer_string(w, "level", level);
    put_message(w, "message", json_string_value(one));
    writer_shut(w, '}');
  }
}

static void put_invocation(writer *w, const muster_report *r) {
  muster_verdict v = muster_report_verdict(r);
  writer_array(w, "invocations");
  writer_open(w, '{');
  writer_bool(w, "executionSuccessful", v == MUSTER_CLEAN || v == MUSTER_FINDINGS);
  writer_array(w, "toolExecutionNotifications");
  put_notifications(w, r->faults, "error");
  put_notifications(w, r->reasons, "warning");
  writer_shut(w, ']');
  writer_object(w, "properties");
  writer_string(w, "verdict", muster_verdict_name(v));
  writer_number(w, "programExit", (uint64_t)r->program_exit);
  writer_shut(w, '}');
  writer_shut(w, '}');
  writer_shut(w, ']');
}

bool report_sarif(const muster_report *r, const muster_format_options *o, const report_list *l,
                  base_text *t) {
  (void)o;
  writer w = {0};
  writer_open(&w, '{');
  writer_string(&w, "$schema", "https://json.schemastore.org/sarif-2.1.0.json");
  writer_string(&w, "version", "2.1.0");
  writer_array(&w, "runs");
  writer_open(&w, '{');
  writer_object(&w, "tool");
  writer_object(&w, "driver");
  writer_string(&w, "name", "muster check");
  writer_string(&w, "semanticVersion", MUSTER_VERSION);
  put_rules(&w);
  writer_shut(&w, '}');
  writer_shut(&w, '}');
  put_invocation(&w, r);
  writer_string(&w, "columnKind", "unicodeCodePoints");
  writer_array(&w, "results");
  for (size_t i = 0; i < l->n; i++)
    put_result(&w, l->all[i], l->all[i]->rule);
  writer_shut(&w, ']');
  writer_shut(&w, '}');
  writer_shut(&w, ']');
  writer_shut(&w, '}');
  base_puts(&w.text, "\n");
  *t = w.text;
  return true;
}
