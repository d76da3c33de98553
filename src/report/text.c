/* text.c: a report for people, as a compiler writes: a finding begins with its place, shows the source line
 * with what happened there, then the other place, then what is missing and how to see it again. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "report/report.h"

typedef struct paint {
  const char *place, *error, *warning, *note, *caret, *off;
} paint;
static const paint plain = {"", "", "", "", "", ""};
static const paint bright = {"\033[1m", "\033[1;31m", "\033[1;35m", "\033[1;36m", "\033[1;32m", "\033[0m"};

typedef struct printer {
  base_text *t;
  const paint *ink;
  uint32_t columns;
} printer;

/* ------------------------------------------------------------------ source lines */

/* What stands at `column`, as people would point at it: a name with its index, a call's name, an operator. */
static size_t token_bytes(const char *at, size_t bytes) {
  size_t n = 0;
  while (n < bytes && (isalnum((unsigned char)at[n]) || at[n] == '_'))
    n++;
  if (n == 0)
    return bytes > 0;
  if (n < bytes && at[n] == '[')
    for (int depth = 0; n < bytes; n++) {
      depth += (at[n] == '[') - (at[n] == ']');
      if (depth == 0)
        return n + 1;
    }
  return n;
}

static void put_source(printer *p, const char *file, uint32_t line, uint32_t column, const char *label) {
  enum { INDENT = 6, TAB = 8 };
  size_t bytes;
  const char *text = source_line(file, line, &bytes);
  if (!text) {
    if (label)
      base_putf(p->t, "%*s%s\n", INDENT + 3, "", label);
    return;
  }
  while (bytes > 0 && isspace((unsigned char)text[bytes - 1]))
    bytes--;
  size_t shift = 0; /* a block's indentation says nothing here */
  while (shift < bytes && (text[shift] == ' ' || text[shift] == '\t') && (!column || shift + 1 < column))
    shift++;
  size_t caret = column > 0 && column <= bytes ? column - 1 : shift;
  base_putf(p->t, "%*u | ", INDENT, line);
  size_t shown = 0, at = 0; /* columns on the terminal: of the line, before the caret */
  base_text body = {0};
  for (size_t i = shift; i < bytes; i++) {
    if (i == caret)
      at = shown;
    if (text[i] == '\t') {
      size_t to = (shown / TAB + 1) * TAB;
      for (; shown < to; shown++)
        base_puts(&body, " ");
      continue;
    }
    base_put(&body, &text[i], 1);
    shown += (text[i] & 0xc0) != 0x80; /* UTF-8: one column a character */
  }
  words_plain(p->t, body.bytes ? body.bytes : "");
  base_text_free(&body);
  size_t under = column ? token_bytes(text + caret, bytes - caret) : bytes - caret;
  base_putf(p->t, "\n%*s | %*s%s%s", INDENT, "", (int)at, "", p->ink->caret, under || column ? "^" : "");
  for (size_t i = 1; i < under; i++)
    base_puts(p->t, "~");
  base_puts(p->t, p->ink->off);
  if (label) {
    bool fits = p->columns == 0 || INDENT + 3 + at + under + 1 + strlen(label) <= p->columns;
    if (fits)
      base_putf(p->t, " %s", label);
    else
      base_putf(p->t, "\n%*s | %s", INDENT, "", label);
  }
  base_puts(p->t, "\n");
}

/* ------------------------------------------------------------------ a finding */

static void put_head(printer *p, const char *file, uint32_t line, uint32_t column, uint32_t ptx_line,
                     const char *kernel) {
  base_text place = {0};
  words_place(&place, file, line, column, ptx_line, kernel);
  if (place.length)
    base_putf(p->t, "%s%s:%s ", p->ink->place, place.bytes, p->ink->off);
  base_text_free(&place);
}

static const char *severity_ink(const paint *ink, muster_severity s) {
  return s == MUSTER_ERROR ? ink->error : s == MUSTER_WARNING ? ink->warning : ink->note;
}

static void put_note(printer *p) {
  base_putf(p->t, "%snote:%s ", p->ink->note, p->ink->off);
}

static void put_access(printer *p, const muster_finding *f, uint32_t i) {
  const muster_access *a = &f->accesses[i];
  base_text label = {0};
  words_access(&label, a);
  if (i > 0) {
    put_head(p, a->file, a->line, a->column, a->ptx_line, f->kernel);
    put_note(p);
    base_putf(p->t, "%s\n", label.bytes);
    put_source(p, a->file, a->line, a->column, NULL);
  } else if (a->has_thread || a->buffer || a->line) { /* that it was the host is no news */
    put_source(p, a->file, a->line, a->column, label.bytes);
  }
  base_text_free(&label);
}

/* A line that stands there already is not repeated. */
static bool is_shown(const muster_finding *f, uint32_t line) {
  for (uint32_t i = 0; i < f->n_accesses; i++)
    if (f->accesses[i].line == line)
      return true;
  return false;
}

static void put_waiting(printer *p, const muster_finding *f) {
  for (uint32_t i = 0; i < f->n_waiting; i++) {
    const muster_waiting *w = &f->waiting[i];
    put_head(p, w->file, w->line, 0, w->ptx_line, f->kernel);
    put_note(p);
    words_waiting(p->t, w);
    base_puts(p->t, "\n");
    bool shown = i > 0 && w[-1].line == w->line && w[-1].ptx_line == w->ptx_line;
    if (!shown && !is_shown(f, w->line))
      put_source(p, w->file, w->line, 0, NULL);
  }
}

static void put_missing(printer *p, const muster_finding *f) {
  if (!f->missing.what && !f->missing.text)
    return;
  put_head(p, f->missing.file, f->missing.line, 0, f->missing.ptx_line, f->kernel);
  base_putf(p->t, "%shelp:%s ", p->ink->caret, p->ink->off);
  words_plain(p->t, f->missing.text ? f->missing.text : f->missing.what);
  base_puts(p->t, "\n");
  if (!is_shown(f, f->missing.line))
    put_source(p, f->missing.file, f->missing.line, 0, NULL);
}

/* Words that a shell takes as they are. */
static void put_word(base_text *t, const char *word) {
  base_puts(t, " ");
  if (*word && strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=.,/:@%") ==
                   strlen(word)) {
    base_puts(t, word);
    return;
  }
  base_puts(t, "'");
  for (; *word; word++)
    if (*word == '\'')
      base_puts(t, "'\\''");
    else
      base_put(t, word, 1);
  base_puts(t, "'");
}

/* `most` bytes of it are enough; 0: all. */
static void put_program(const muster_report *r, base_text *t, size_t most) {
  size_t i, begin = t->length;
  json_t *word;
  json_array_foreach(r->program, i, word) {
    if (most && i > 0 && t->length - begin + json_string_length(word) > most) {
      base_puts(t, " ...");
      return;
    }
    put_word(t, json_string_value(word));
  }
}

static void put_replay(printer *p, const muster_report *r, const muster_format_options *o,
                       const muster_finding *f) {
  base_text t = {0};
  if (!f->replay)
    return;
  if (o->command)
    base_puts(&t, o->command);
  else
    base_putf(&t, "muster check --gpu %s", report_total(r).gpu);
  base_puts(&t, " --replay");
  put_word(&t, f->replay);
  base_puts(&t, " --");
  put_program(r, &t, 0);
  base_puts(p->t, "  replay: ");
  words_plain(p->t, t.bytes ? t.bytes : "");
  base_puts(p->t, "\n");
  base_text_free(&t);
}

/* Kernel, launch, order, how often. */
static void put_where(printer *p, const muster_finding *f, bool processes) {
  base_puts(p->t, "  ");
  size_t begin = p->t->length;
  if (f->kernel && *f->kernel) {
    base_puts(p->t, "kernel ");
    words_plain(p->t, f->kernel);
  }
  if (f->launch)
    base_putf(p->t, "%slaunch %llu", p->t->length > begin ? ", " : "", (unsigned long long)f->launch);
  if (processes && f->process) {
    base_puts(p->t, p->t->length > begin ? ", process " : "process ");
    words_plain(p->t, f->process);
  }
  const char *relation = words_relation(f->relation);
  if (relation && f->accesses[1].bytes)
    base_putf(p->t, "%sbetween %s", p->t->length > begin ? "; " : "", relation);
  if (f->count > 1)
    base_putf(p->t, "%smet %llu times", p->t->length > begin ? "; " : "", (unsigned long long)f->count);
  if (p->t->length == begin)
    p->t->bytes[p->t->length -= 2] = 0;
  else
    base_puts(p->t, "\n");
}

static void put_finding(printer *p, const muster_report *r, const muster_format_options *o,
                        const muster_finding *f, bool processes) {
  const muster_access *a = f->accesses;
  if (f->n_accesses)
    put_head(p, a->file, a->line, a->column, a->ptx_line, f->kernel);
  const char *ink = severity_ink(p->ink, f->severity);
  base_putf(p->t, "%s%s:%s %s", ink, muster_severity_name(f->severity), p->ink->off, p->ink->place);
  words_plain(p->t, f->message);
  base_putf(p->t, "%s [%s%s%s]\n", p->ink->off, ink, muster_rule_get(f->rule)->id, p->ink->off);
  for (uint32_t i = 0; i < f->n_accesses; i++)
    put_access(p, f, i);
  put_waiting(p, f);
  if (f->residency.needed) {
    base_puts(p->t, "  ");
    words_residency(p->t, f);
    base_puts(p->t, "\n");
  }
  put_missing(p, f);
  put_where(p, f, processes);
  put_replay(p, r, o, f);
  base_puts(p->t, "\n");
}

/* ------------------------------------------------------------------ the end */

static void put_reasons(printer *p, const json_t *all, const char *what) {
  size_t i;
  json_t *one;
  json_array_foreach(all, i, one) {
    base_putf(p->t, "muster: %s: ", what);
    words_plain(p->t, json_string_value(one));
    base_puts(p->t, "\n");
  }
}

static void put_verdict(printer *p, const muster_report *r, const report_list *l) {
  base_text *t = p->t;
  muster_verdict v = muster_report_verdict(r);
  const char *ink = v == MUSTER_CLEAN      ? p->ink->caret
                    : v == MUSTER_FINDINGS ? p->ink->error
                                           : p->ink->warning;
  base_putf(t, "muster: %s%s%s: ", ink, muster_verdict_name(v), p->ink->off);
  words_count(t, l->n_of[MUSTER_ERROR], "error", "errors");
  base_puts(t, ", ");
  words_count(t, l->n_of[MUSTER_WARNING], "warning", "warnings");
  base_puts(t, ", ");
  words_count(t, l->n_of[MUSTER_NOTE], "note", "notes");
  if (r->suppressed)
    base_putf(t, ", %llu suppressed", (unsigned long long)r->suppressed);
  base_puts(t, ";");
  put_program(r, t, 60);
  base_putf(t, " ended with %d\n", r->program_exit);
}

/* What was looked at, and how much of it. */
static void put_summary(printer *p, const muster_report *r) {
  base_text *t = p->t;
  muster_summary s = report_total(r);
  if (s.launches == 0)
    return;
  base_puts(t, "muster: inspected ");
  words_count(t, s.launches, "launch", "launches");
  base_puts(t, " under ");
  if (s.exhaustive && s.schedules_run == 1)
    base_puts(t, "the only schedule of this input");
  else if (s.exhaustive)
    base_putf(t, "all %llu schedules of this input", (unsigned long long)s.schedules_run);
  else
    words_count(t, s.schedules_run, "schedule", "schedules");
  base_putf(t, " on %s", s.gpu ? s.gpu : "?");
  if (s.ptx_target)
    base_putf(t, ", PTX %s for %s", s.ptx_version ? s.ptx_version : "?", s.ptx_target);
  base_putf(t, ", seed %llu\n", (unsigned long long)s.seed);
  if (s.lineinfo && !r->ptx_file && muster_report_verdict(r) == MUSTER_CLEAN)
    base_puts(t, "muster: judged as the compiler optimised it: -Xcicc -O0 keeps accesses that it removes\n");
  if (!s.lineinfo)
    base_puts(t,
              "muster: a launched module has no source lines: compile with -lineinfo to see them, and with "
              "-Xcicc -O0 for what the optimiser leaves out\n");
}

bool report_text(const muster_report *r, const muster_format_options *o, const report_list *l, base_text *t) {
  printer p = {.t = t, .ink = o->colour ? &bright : &plain, .columns = o->columns};
  bool processes = false;
  for (size_t i = 0; i < l->n; i++)
    processes |= strcmp(l->all[i]->process ? l->all[i]->process : "",
                        l->all[0]->process ? l->all[0]->process : "") != 0;
  for (size_t i = 0; i < l->n; i++)
    if (!o->quiet || l->all[i]->severity > MUSTER_NOTE)
      put_finding(&p, r, o, l->all[i], processes);
  put_reasons(&p, r->faults, "a launch failed");
  put_reasons(&p, r->reasons, "could not judge");
  if (!o->quiet)
    put_summary(&p, r);
  if (!o->quiet || muster_report_verdict(r) != MUSTER_CLEAN)
    put_verdict(&p, r, l);
  return true;
}
