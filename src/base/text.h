/* text.h: text that grows. Running out of memory is remembered, not reported at each step: look at `failed`
 * once, at the end. */
#ifndef MUSTER_BASE_TEXT_H
#define MUSTER_BASE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct base_text {
  char *bytes; /* NUL-terminated once anything was put; NULL before */
  size_t length, capacity;
  bool failed;
} base_text;

void base_text_free(base_text *t); /* and leaves it empty, ready for use */
void base_put(base_text *t, const char *text, size_t bytes);
void base_puts(base_text *t, const char *text);
void base_putf(base_text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void base_vputf(base_text *t, const char *format, va_list args) __attribute__((format(printf, 2, 0)));
/* A text of its own, which the caller frees; NULL: out of memory. */
char *base_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
