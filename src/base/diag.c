#include "base/diag.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Longest piece of a source line that is shown: minified text must not flood a terminal. */
enum { SHOWN_BYTES = 160 };

void base_diags_init(base_diags *d, base_arena *arena, const char *file) {
  *d = (base_diags){.arena = arena, .file = file};
  d->end = &d->first;
}

void base_diag_add(base_diags *d, base_severity severity, uint32_t line, uint32_t column, const char *source,
                   const char *format, ...) {
  va_list args, again;
  va_start(args, format);
  va_copy(again, args);
  int n = vsnprintf(NULL, 0, format, args);
  char *message = base_alloc(d->arena, n < 0 ? 1 : (size_t)n + 1);
  if (n >= 0)
    vsnprintf(message, (size_t)n + 1, format, again);
  va_end(again);
  va_end(args);

  base_diag *one = base_alloc(d->arena, sizeof *one);
  *one = (base_diag){.severity = severity, .line = line, .column = column, .message = message};
  if (source)
    one->source = base_copy(d->arena, source, strcspn(source, "\r\n"));
  *d->end = one;
  d->end = &one->next;
  d->n_errors += severity == BASE_ERROR;
  d->n_warnings += severity == BASE_WARNING;
}

void base_diag_print(const base_diags *d, const base_diag *one, base_text *out) {
  static const char *const name[] = {"note", "warning", "error"};
  base_puts(out, d->file);
  if (one->line)
    base_putf(out, ":%u:%u", one->line, one->column);
  base_putf(out, ": %s: %s\n", name[one->severity], one->message);
  if (!one->source || !one->column)
    return;
  /* A window around the column; bytes that are no text show as '?', tabs stay tabs so that the caret is
   * below. */
  size_t length = strlen(one->source), column = one->column - 1, begin = 0;
  if (column > length)
    column = length;
  if (column > SHOWN_BYTES / 2 && length > SHOWN_BYTES)
    begin = column - SHOWN_BYTES / 2;
  size_t end = length - begin > SHOWN_BYTES ? begin + SHOWN_BYTES : length;
  for (size_t i = begin; i < end; i++) {
    char c = one->source[i];
    if (((unsigned char)c < ' ' && c != '\t') || c == 0x7f)
      c = '?';
    base_put(out, &c, 1);
  }
  base_puts(out, "\n");
  for (size_t i = begin; i < column; i++)
    base_puts(out, one->source[i] == '\t' ? "\t" : " ");
  base_puts(out, "^\n");
}

void base_diags_print(const base_diags *d, base_text *out) {
  for (const base_diag *one = d->first; one; one = one->next)
    base_diag_print(d, one, out);
}
