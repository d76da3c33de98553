#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void base_text_free(base_text *t) {
  free(t->bytes);
  *t = (base_text){0};
}

static bool room(base_text *t, size_t bytes) {
  if (t->failed || bytes > (size_t)-1 / 4 || t->length > (size_t)-1 / 4)
    return !(t->failed = true);
  size_t want = t->length + bytes + 1;
  if (want <= t->capacity)
    return true;
  size_t larger = t->capacity ? t->capacity : 256;
  while (larger < want)
    larger *= 2;
  char *p = realloc(t->bytes, larger);
  if (!p)
    return !(t->failed = true);
  t->bytes = p;
  t->capacity = larger;
  return true;
}

void base_put(base_text *t, const char *text, size_t bytes) {
  if (!room(t, bytes))
    return;
  memcpy(t->bytes + t->length, text, bytes);
  t->length += bytes;
  t->bytes[t->length] = 0;
}

void base_puts(base_text *t, const char *text) {
  base_put(t, text, strlen(text));
}

void base_vputf(base_text *t, const char *format, va_list args) {
  va_list again;
  va_copy(again, args);
  int n = vsnprintf(NULL, 0, format, args);
  if (n >= 0 && room(t, (size_t)n)) {
    vsnprintf(t->bytes + t->length, (size_t)n + 1, format, again);
    t->length += (size_t)n;
  }
  va_end(again);
}

void base_putf(base_text *t, const char *format, ...) {
  va_list args;
  va_start(args, format);
  base_vputf(t, format, args);
  va_end(args);
}

char *base_format(const char *format, ...) {
  base_text t = {0};
  va_list args;
  va_start(args, format);
  base_vputf(&t, format, args);
  va_end(args);
  if (!t.failed)
    return t.bytes;
  base_text_free(&t);
  return NULL;
}
