/* junit.c: JUnit's XML, for CI systems that show tests: a case a finding (errors and warnings fail, notes
 * pass), one for whether all could be judged, one for how the program ended. */
#include <string.h>

#include "report/report.h"

static void put_xml(base_text *t, const char *s) {
  base_text valid = {0};
  words_plain(&valid, s);
  for (const char *c = valid.bytes ? valid.bytes : ""; *c; c++) {
    const char *entity = *c == '&'   ? "&amp;"
                         : *c == '<' ? "&lt;"
                         : *c == '>' ? "&gt;"
                         : *c == '"' ? "&quot;"
                                     : NULL;
    if (entity)
      base_puts(t, entity);
    else
      base_put(t, c, 1);
  }
  base_text_free(&valid);
}

/* " NAME="VALUE"" */
static void put_attribute(base_text *t, const char *name, const char *value) {
  base_putf(t, " %s=\"", name);
  put_xml(t, value);
  base_puts(t, "\"");
}

static void begin_case(base_text *t, const char *suite, const char *name) {
  base_puts(t, "  <testcase");
  put_attribute(t, "classname", suite);
  put_attribute(t, "name", name);
  base_puts(t, ">\n");
}

static void put_finding(base_text *t, const char *suite, const muster_finding *f) {
  base_text name = {0}, rest = {0};
  base_puts(&name, muster_rule_get(f->rule)->id);
  if (f->n_accesses && (f->accesses[0].line || f->accesses[0].ptx_line)) {
    base_puts(&name, " at ");
    words_place(&name, f->accesses[0].file, f->accesses[0].line, f->accesses[0].column,
                f->accesses[0].ptx_line, f->kernel);
  }
  begin_case(t, suite, name.bytes);
  bool fails = f->severity > MUSTER_NOTE;
  if (fails) {
    base_puts(t, "    <failure");
    put_attribute(t, "type", muster_severity_name(f->severity));
    put_attribute(t, "message", f->message);
    base_puts(t, ">");
  } else {
    base_puts(t, "    <system-out>note: ");
    put_xml(t, f->message);
    base_puts(t, "\n");
  }
  words_rest(&rest, f, "\n");
  for (char *line = rest.bytes ? rest.bytes : (char *)""; *line;) {
    size_t n = strcspn(line, "\n");
    char end = line[n];
    line[n] = 0;
    put_xml(t, line);
    base_puts(t, end ? "\n" : "");
    line += n + (end != 0);
  }
  base_puts(t, fails ? "</failure>\n" : "</system-out>\n");
  base_puts(t, "  </testcase>\n");
  base_text_free(&name);
  base_text_free(&rest);
}

static void put_errors(base_text *t, const json_t *all) {
  size_t i;
  json_t *one;
  json_array_foreach(all, i, one) {
    base_puts(t, "    <error");
    put_attribute(t, "message", json_string_value(one));
    base_puts(t, "/>\n");
  }
}

bool report_junit(const muster_report *r, const muster_format_options *o, const report_list *l,
                  base_text *t) {
  (void)o;
  muster_verdict v = muster_report_verdict(r);
  base_text suite = {0};
  size_t i;
  json_t *word;
  base_puts(&suite, "muster check");
  json_array_foreach(r->program, i, word) base_putf(&suite, " %s", json_string_value(word));
  bool unjudged = json_array_size(r->reasons) || (json_array_size(r->faults) && r->program_exit == 0);
  size_t failures = l->n_of[MUSTER_ERROR] + l->n_of[MUSTER_WARNING] + (r->program_exit != 0);
  base_puts(t, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
  for (int level = 0; level < 2; level++) {
    base_puts(t, level ? " <testsuite" : "<testsuites");
    put_attribute(t, "name", suite.bytes);
    base_putf(t, " tests=\"%zu\" failures=\"%zu\" errors=\"%d\"%s>\n", l->n + 2, failures, unjudged,
              level ? " skipped=\"0\"" : "");
  }
  base_puts(t, "  <properties>\n    <property name=\"verdict\"");
  put_attribute(t, "value", muster_verdict_name(v));
  base_puts(t, "/>\n  </properties>\n");
  for (i = 0; i < l->n; i++)
    put_finding(t, suite.bytes, l->all[i]);
  begin_case(t, suite.bytes, "everything could be judged");
  put_errors(t, r->reasons);
  if (r->program_exit == 0)
    put_errors(t, r->faults);
  base_puts(t, "  </testcase>\n");
  begin_case(t, suite.bytes, "the program ends with 0");
  if (r->program_exit)
    base_putf(t, "    <failure type=\"exit\" message=\"the program ended with %d\"/>\n", r->program_exit);
  base_puts(t, "  </testcase>\n </testsuite>\n</testsuites>\n");
  base_text_free(&suite);
  return true;
}
