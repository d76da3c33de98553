/* source.c: lines of source files, to be shown beside what is said of them. A file is read at most once, and
 * only while a report is written. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "report/report.h"

enum { MOST_BYTES = 64 << 20 }; /* a larger file is no source that somebody reads */

typedef struct source {
  struct source *next;
  char *file, *bytes; /* bytes NULL: it cannot be read */
  size_t n_bytes;
} source;

static source *all;

static void read_bytes(source *s) {
  struct stat st;
  FILE *f = stat(s->file, &st) == 0 && S_ISREG(st.st_mode) && st.st_size <= MOST_BYTES ? fopen(s->file, "re")
                                                                                       : NULL;
  if (!f)
    return;
  s->bytes = malloc((size_t)st.st_size + 1);
  if (s->bytes)
    s->n_bytes = fread(s->bytes, 1, (size_t)st.st_size, f);
  fclose(f);
}

static const source *get(const char *file) {
  for (source *s = all; s; s = s->next)
    if (strcmp(s->file, file) == 0)
      return s;
  source *s = calloc(1, sizeof *s);
  char *name = strdup(file);
  if (!s || !name) {
    free(s);
    free(name);
    return NULL;
  }
  s->file = name;
  read_bytes(s);
  s->next = all;
  return all = s;
}

const char *source_line(const char *file, uint32_t line, size_t *bytes) {
  const source *s = file && line ? get(file) : NULL;
  if (!s || !s->bytes)
    return NULL;
  const char *at = s->bytes, *end = s->bytes + s->n_bytes;
  for (uint32_t i = 1; i < line && at < end; i++) {
    const char *newline = memchr(at, '\n', (size_t)(end - at));
    at = newline ? newline + 1 : end;
  }
  if (at >= end)
    return NULL;
  const char *newline = memchr(at, '\n', (size_t)(end - at));
  *bytes = (size_t)((newline ? newline : end) - at);
  return at;
}

void source_forget(void) {
  for (source *s = all, *next; s; s = next) {
    next = s->next;
    free(s->file);
    free(s->bytes);
    free(s);
  }
  all = NULL;
}
