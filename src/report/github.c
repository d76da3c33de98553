/* github.c: workflow commands, which GitHub Actions shows beside the changed lines. */
#include <string.h>

#include "report/report.h"

/* A command ends with its line; in a property, colons and commas mean something too. */
static void put_escaped(base_text *t, const char *s, bool property) {
  for (; *s; s++)
    if (*s == '%' || *s == '\r' || *s == '\n' || (property && (*s == ':' || *s == ',')))
      base_putf(t, "%%%02X", (unsigned char)*s);
    else
      base_put(t, s, 1);
}

static const char *command(muster_severity s) {
  return s == MUSTER_ERROR ? "error" : s == MUSTER_WARNING ? "warning" : "notice";
}

static void put_finding(base_text *t, const muster_finding *f) {
  base_putf(t, "::%s ", command(f->severity));
  const muster_access *a = f->accesses;
  if (f->n_accesses && a->file && a->line) {
    base_text file = {0};
    words_plain(&file, words_file(a->file));
    base_puts(t, "file=");
    put_escaped(t, file.bytes ? file.bytes : "", true);
    base_putf(t, ",line=%u", a->line);
    if (a->column)
      base_putf(t, ",col=%u", a->column);
    base_puts(t, ",");
    base_text_free(&file);
  }
  base_putf(t, "title=muster %s::", muster_rule_get(f->rule)->id);
  base_text text = {0};
  words_plain(&text, f->message);
  words_rest(&text, f, "\n");
  put_escaped(t, text.bytes ? text.bytes : "", false);
  base_puts(t, "\n");
  base_text_free(&text);
}

static void put_reasons(base_text *t, const json_t *all, const char *title) {
  size_t i;
  json_t *one;
  json_array_foreach(all, i, one) {
    base_putf(t, "::warning title=muster %s::", title);
    put_escaped(t, json_string_value(one), false);
    base_puts(t, "\n");
  }
}

bool report_github(const muster_report *r, const muster_format_options *o, const report_list *l,
                   base_text *t) {
  for (size_t i = 0; i < l->n; i++)
    if (!o->quiet || l->all[i]->severity > MUSTER_NOTE)
      put_finding(t, l->all[i]);
  put_reasons(t, r->faults, "a launch failed");
  put_reasons(t, r->reasons, "could not judge");
  if (r->program_exit)
    base_putf(t, "::error title=muster program failed::the program ended with %d\n", r->program_exit);
  return true;
}
