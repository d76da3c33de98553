/* json.c: findings as JSON text (schema muster-report/1, see doc/report.md). Written here for both ends: the
 * device sends findings so, and a report is made of them. */
#include <stdlib.h>

#include "muster/check.h"
#include "report/writer.h"

static void put_triple(writer *w, const char *name, const uint32_t v[3]) {
  writer_key(w, name);
  base_putf(&w->text, "[%u,%u,%u]", v[0], v[1], v[2]);
}

static void put_access(writer *w, const muster_access *a) {
  writer_open(w, '{');
  writer_string(w, "kind", a->kind);
  writer_string(w, "space", a->space);
  writer_string(w, "buffer", a->buffer);
  writer_key(w, "offset");
  base_putf(&w->text, "%lld", (long long)a->offset);
  writer_number(w, "bytes", a->bytes);
  if (a->has_thread) {
    put_triple(w, "block", a->block);
    put_triple(w, "thread", a->thread);
  } else {
    writer_null(w, "block");
    writer_null(w, "thread");
  }
  if (a->func)
    writer_string(w, "function", a->func);
  writer_string(w, "file", a->file);
  writer_number(w, "line", a->line);
  writer_number(w, "column", a->column);
  writer_string(w, "inlined_at", a->inlined_at);
  writer_number(w, "ptx_line", a->ptx_line);
  writer_shut(w, '}');
}

static void put_waiting(writer *w, const muster_waiting *a) {
  writer_open(w, '{');
  put_triple(w, "block", a->block);
  put_triple(w, "thread", a->thread);
  writer_string(w, "on", a->on);
  writer_string(w, "for", a->awaits);
  writer_string(w, "file", a->file);
  writer_number(w, "line", a->line);
  writer_number(w, "ptx_line", a->ptx_line);
  writer_shut(w, '}');
}

void writer_finding(writer *w, const muster_finding *f) {
  writer_open(w, '{');
  writer_string(w, "rule", muster_rule_get(f->rule)->id);
  writer_string(w, "severity", muster_severity_name(f->severity));
  writer_string(w, "process", f->process);
  writer_string(w, "kernel", f->kernel);
  writer_number(w, "launch", f->launch);
  writer_string(w, "relation", f->relation);
  writer_string(w, "message", f->message);
  writer_number(w, "count", f->count);
  if (f->missing.what) {
    writer_object(w, "missing");
    writer_string(w, "what", f->missing.what);
    writer_string(w, "text", f->missing.text);
    writer_string(w, "file", f->missing.file);
    writer_number(w, "line", f->missing.line);
    writer_number(w, "ptx_line", f->missing.ptx_line);
    writer_shut(w, '}');
  } else {
    writer_null(w, "missing");
  }
  writer_string(w, "replay", f->replay);
  writer_array(w, "accesses");
  for (uint32_t i = 0; i < f->n_accesses; i++)
    put_access(w, &f->accesses[i]);
  writer_shut(w, ']');
  writer_array(w, "waiting");
  for (uint32_t i = 0; i < f->n_waiting; i++)
    put_waiting(w, &f->waiting[i]);
  writer_shut(w, ']');
  if (f->residency.needed) {
    writer_object(w, "residency");
    writer_number(w, "needed", f->residency.needed);
    writer_number(w, "fits", f->residency.fits);
    writer_string(w, "limit", f->residency.limit);
    writer_string(w, "launch", f->residency.launch);
    writer_shut(w, '}');
  } else {
    writer_null(w, "residency");
  }
  writer_shut(w, '}');
}

static char *finish(writer *w) {
  if (!w->text.failed)
    return w->text.bytes;
  base_text_free(&w->text);
  return NULL;
}

char *muster_finding_json(const muster_finding *f) {
  writer w = {0};
  writer_finding(&w, f);
  return finish(&w);
}

char *muster_summary_json(const muster_summary *s) {
  writer w = {0};
  writer_open(&w, '{');
  writer_summary(&w, s);
  writer_shut(&w, '}');
  return finish(&w);
}

void writer_summary(writer *w, const muster_summary *s) {
  writer_string(w, "gpu", s->gpu);
  writer_number(w, "seed", s->seed);
  writer_object(w, "ptx");
  writer_string(w, "target", s->ptx_target);
  writer_string(w, "version", s->ptx_version);
  writer_bool(w, "lineinfo", s->lineinfo);
  writer_shut(w, '}');
  writer_number(w, "launches", s->launches);
  writer_object(w, "schedules");
  writer_number(w, "asked", s->schedules_asked);
  writer_number(w, "run", s->schedules_run);
  writer_bool(w, "exhaustive", s->exhaustive);
  writer_shut(w, '}');
}
