/* json.c: findings as JSON text (schema muster-report/1, see doc/report.md). Written here for both ends: the
 * device sends findings so, and a report is made of them. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "muster/check.h"

typedef struct writer {
  base_text text;
  bool first;
} writer;

static void key(writer *w, const char *name) {
  base_putf(&w->text, "%s\"%s\":", w->first ? "" : ",", name);
  w->first = false;
}

static void put_string(base_text *t, const char *s) {
  base_puts(t, "\"");
  for (const unsigned char *c = (const unsigned char *)s; *c; c++) {
    if (*c == '"' || *c == '\\')
      base_putf(t, "\\%c", *c);
    else if (*c < ' ')
      base_putf(t, "\\u%04x", *c);
    else
      base_put(t, (const char *)c, 1);
  }
  base_puts(t, "\"");
}

static void string(writer *w, const char *name, const char *s) {
  key(w, name);
  if (s)
    put_string(&w->text, s);
  else
    base_puts(&w->text, "null");
}

static void number(writer *w, const char *name, uint64_t n) {
  key(w, name);
  base_putf(&w->text, "%llu", (unsigned long long)n);
}

static void boolean(writer *w, const char *name, bool b) {
  key(w, name);
  base_puts(&w->text, b ? "true" : "false");
}

static void triple(writer *w, const char *name, const uint32_t v[3]) {
  key(w, name);
  base_putf(&w->text, "[%u,%u,%u]", v[0], v[1], v[2]);
}

static void open(writer *w, char bracket) {
  base_put(&w->text, &bracket, 1);
  w->first = true;
}

static void shut(writer *w, char bracket) {
  base_put(&w->text, &bracket, 1);
  w->first = false;
}

/* In an array: what stands between its members. */
static void member(writer *w, bool is_first) {
  if (!is_first)
    base_puts(&w->text, ",");
  open(w, '{');
}

static void put_access(writer *w, const muster_access *a) {
  string(w, "kind", a->kind);
  string(w, "space", a->space);
  string(w, "buffer", a->buffer);
  number(w, "offset", a->offset);
  number(w, "bytes", a->bytes);
  if (a->has_thread) {
    triple(w, "block", a->block);
    triple(w, "thread", a->thread);
  }
  if (a->func)
    string(w, "function", a->func);
  string(w, "file", a->file);
  number(w, "line", a->line);
  number(w, "column", a->column);
  string(w, "inlined_at", a->inlined_at);
  number(w, "ptx_line", a->ptx_line);
}

char *muster_finding_json(const muster_finding *f) {
  writer w = {.first = true};
  open(&w, '{');
  string(&w, "rule", muster_rule_get(f->rule)->id);
  string(&w, "severity", muster_severity_name(f->severity));
  string(&w, "process", f->process);
  string(&w, "kernel", f->kernel);
  number(&w, "launch", f->launch);
  string(&w, "relation", f->relation);
  string(&w, "message", f->message);
  number(&w, "count", f->count);
  key(&w, "missing");
  if (f->missing.what) {
    open(&w, '{');
    string(&w, "what", f->missing.what);
    string(&w, "text", f->missing.text);
    string(&w, "file", f->missing.file);
    number(&w, "line", f->missing.line);
    number(&w, "ptx_line", f->missing.ptx_line);
    shut(&w, '}');
  } else {
    base_puts(&w.text, "null");
  }
  string(&w, "replay", f->replay);
  key(&w, "accesses");
  open(&w, '[');
  for (uint32_t i = 0; i < f->n_accesses; i++) {
    member(&w, i == 0);
    put_access(&w, &f->accesses[i]);
    shut(&w, '}');
  }
  shut(&w, ']');
  key(&w, "waiting");
  open(&w, '[');
  for (uint32_t i = 0; i < f->n_waiting; i++) {
    const muster_waiting *a = &f->waiting[i];
    member(&w, i == 0);
    triple(&w, "block", a->block);
    triple(&w, "thread", a->thread);
    string(&w, "on", a->on);
    string(&w, "for", a->awaits);
    string(&w, "file", a->file);
    number(&w, "line", a->line);
    number(&w, "ptx_line", a->ptx_line);
    shut(&w, '}');
  }
  shut(&w, ']');
  key(&w, "residency");
  if (f->residency.needed) {
    open(&w, '{');
    number(&w, "needed", f->residency.needed);
    number(&w, "fits", f->residency.fits);
    string(&w, "limit", f->residency.limit);
    string(&w, "launch", f->residency.launch);
    shut(&w, '}');
  } else {
    base_puts(&w.text, "null");
  }
  shut(&w, '}');
  if (!w.text.failed)
    return w.text.bytes;
  base_text_free(&w.text);
  return NULL;
}

char *muster_summary_json(const muster_summary *s) {
  writer w = {.first = true};
  open(&w, '{');
  string(&w, "gpu", s->gpu);
  number(&w, "seed", s->seed);
  key(&w, "ptx");
  open(&w, '{');
  string(&w, "target", s->ptx_target);
  string(&w, "version", s->ptx_version);
  boolean(&w, "lineinfo", s->lineinfo);
  shut(&w, '}');
  number(&w, "launches", s->launches);
  key(&w, "schedules");
  open(&w, '{');
  number(&w, "asked", s->schedules_asked);
  number(&w, "run", s->schedules_run);
  boolean(&w, "exhaustive", s->exhaustive);
  shut(&w, '}');
  shut(&w, '}');
  if (!w.text.failed)
    return w.text.bytes;
  base_text_free(&w.text);
  return NULL;
}
