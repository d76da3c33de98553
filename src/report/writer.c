/* writer.c: JSON put out member by member. */
#include "report/writer.h"

#include <string.h>

static void separate(writer *w) {
  if (w->follows)
    base_puts(&w->text, ",");
  w->follows = true;
}

void writer_open(writer *w, char bracket) {
  const char *t = w->text.bytes;
  if (w->text.length == 0 || t[w->text.length - 1] != ':')
    separate(w);
  base_put(&w->text, &bracket, 1);
  w->follows = false;
}

void writer_shut(writer *w, char bracket) {
  base_put(&w->text, &bracket, 1);
  w->follows = true;
}

void writer_key(writer *w, const char *name) {
  separate(w);
  base_putf(&w->text, "\"%s\":", name);
}

void writer_newline(writer *w) {
  if (w->follows)
    base_puts(&w->text, ",");
  w->follows = false;
  base_puts(&w->text, "\n  ");
}

unsigned writer_utf8(const char *s) {
  const unsigned char *c = (const unsigned char *)s;
  if (c[0] < 0x80)
    return 1;
  unsigned n = c[0] >= 0xf0 && c[0] < 0xf5 ? 4 : c[0] >= 0xe0 ? 3 : c[0] >= 0xc2 ? 2 : 0;
  if (c[0] >= 0xf5 || n == 0)
    return 0;
  for (unsigned i = 1; i < n; i++)
    if ((c[i] & 0xc0) != 0x80)
      return 0;
  /* overlong forms, surrogates, beyond U+10FFFF */
  if ((c[0] == 0xe0 && c[1] < 0xa0) || (c[0] == 0xed && c[1] > 0x9f) || (c[0] == 0xf0 && c[1] < 0x90) ||
      (c[0] == 0xf4 && c[1] > 0x8f))
    return 0;
  return n;
}

static void put_string(base_text *t, const char *s) {
  base_puts(t, "\"");
  while (*s) {
    unsigned n = writer_utf8(s);
    if (*s == '"' || *s == '\\')
      base_putf(t, "\\%c", *s);
    else if ((unsigned char)*s < ' ' || *s == 0x7f)
      base_putf(t, "\\u%04x", *s);
    else if (n)
      base_put(t, s, n);
    else
      base_puts(t, "\xef\xbf\xbd");
    s += n ? n : 1;
  }
  base_puts(t, "\"");
}

void writer_item(writer *w, const char *text) {
  separate(w);
  put_string(&w->text, text);
}

void writer_string(writer *w, const char *name, const char *s) {
  writer_key(w, name);
  if (s)
    put_string(&w->text, s);
  else
    base_puts(&w->text, "null");
}

void writer_number(writer *w, const char *name, uint64_t n) {
  writer_key(w, name);
  base_putf(&w->text, "%llu", (unsigned long long)n);
}

void writer_bool(writer *w, const char *name, bool b) {
  writer_key(w, name);
  base_puts(&w->text, b ? "true" : "false");
}

void writer_null(writer *w, const char *name) {
  writer_string(w, name, NULL);
}

void writer_object(writer *w, const char *name) {
  writer_key(w, name);
  writer_open(w, '{');
}

void writer_array(writer *w, const char *name) {
  writer_key(w, name);
  writer_open(w, '[');
}
