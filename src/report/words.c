/* words.c: who did what where, in words. */
#include "report/words.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/writer.h"

void words_plain(base_text *t, const char *s) {
  while (*s) {
    unsigned n = writer_utf8(s);
    if ((unsigned char)*s < ' ' || *s == 0x7f || n == 0)
      base_puts(t, *s == '\n' || *s == '\t' ? " " : "?");
    else
      base_put(t, s, n);
    s += n ? n : 1;
  }
}

void words_count(base_text *t, uint64_t n, const char *one, const char *many) {
  base_putf(t, "%llu %s", (unsigned long long)n, n == 1 ? one : many);
}

const char *words_file(const char *file) {
  char here[4096];
  size_t n = getcwd(here, sizeof here) ? strlen(here) : 0;
  if (n > 1 && strncmp(file, here, n) == 0 && file[n] == '/')
    return file + n + 1;
  return strncmp(file, "./", 2) == 0 ? file + 2 : file;
}

void words_place(base_text *t, const char *file, uint32_t line, uint32_t column, uint32_t ptx_line,
                 const char *kernel) {
  if (file && line) {
    words_plain(t, words_file(file));
    base_putf(t, ":%u", line);
    if (column)
      base_putf(t, ":%u", column);
  } else if (ptx_line) {
    base_putf(t, "PTX line %u", ptx_line);
    if (kernel && *kernel) {
      base_puts(t, " of ");
      words_plain(t, kernel);
    }
  }
}

static const char *verb(const char *kind) {
  static const char *const rows[][2] = {
      {"read", "reads"},
      {"write", "writes"},
      {"atomic", "atomically updates"},
      {"fence", "fences"},
      {"barrier", "is at this barrier"},
      {"mask", "is at this instruction"},
      {"exit", "left the kernel"},
      {"alloc", "allocated"},
      {"free", "freed"},
      {"copy", "copies"},
      {"launch", "launches"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (strcmp(rows[i][0], kind) == 0)
      return rows[i][1];
  return "touches";
}

void words_access(base_text *t, const muster_access *a) {
  if (a->has_thread)
    base_putf(t, "thread (%u,%u,%u) of block (%u,%u,%u) ", a->thread[0], a->thread[1], a->thread[2],
              a->block[0], a->block[1], a->block[2]);
  else
    base_puts(t, "the host ");
  base_puts(t, verb(a->kind));
  if (a->bytes) {
    base_puts(t, " ");
    words_count(t, a->bytes, "byte", "bytes");
  }
  if (a->buffer && *a->buffer) {
    base_puts(t, " ");
    if (a->bytes && a->offset < 0)
      base_putf(t, "%llu before ", 0 - (unsigned long long)a->offset);
    else if (a->bytes)
      base_putf(t, "at offset %lld of ", (long long)a->offset);
    words_plain(t, a->buffer);
    if (a->space && strcmp(a->buffer, a->space) == 0)
      base_puts(t, " memory");
  } else if (a->space) {
    base_putf(t, " of %s memory", a->space);
  }
  if (a->func) {
    base_puts(t, ", in ");
    words_plain(t, a->func);
  }
  if (a->inlined_at) {
    base_puts(t, ", inlined at ");
    words_plain(t, words_file(a->inlined_at));
  }
}

void words_waiting(base_text *t, const muster_waiting *w) {
  base_putf(t, "thread (%u,%u,%u) of block (%u,%u,%u) waits", w->thread[0], w->thread[1], w->thread[2],
            w->block[0], w->block[1], w->block[2]);
  if (w->on) {
    base_puts(t, " at ");
    words_plain(t, w->on);
  }
  if (w->awaits) {
    base_puts(t, " for ");
    words_plain(t, w->awaits);
  }
}

void words_residency(base_text *t, const muster_finding *f) {
  base_putf(t, "%llu blocks are needed at once, %llu fit", (unsigned long long)f->residency.needed,
            (unsigned long long)f->residency.fits);
  if (f->residency.limit) {
    base_puts(t, "; the limit is ");
    words_plain(t, f->residency.limit);
  }
  if (f->residency.launch) {
    base_puts(t, "; this would fit: ");
    words_plain(t, f->residency.launch);
  }
}

const char *words_relation(const char *relation) {
  static const char *const rows[][2] = {
      {"warp", "lanes of one warp"},        {"block", "threads of one block"},
      {"cluster", "blocks of one cluster"}, {"launch", "blocks of one launch"},
      {"device", "two launches"},           {"system", "the host and the device"},
  };
  for (size_t i = 0; relation && i < sizeof rows / sizeof *rows; i++)
    if (strcmp(rows[i][0], relation) == 0)
      return rows[i][1];
  return NULL;
}

void words_rest(base_text *t, const muster_finding *f, const char *separator) {
  for (uint32_t i = 0; i < f->n_accesses; i++) {
    const muster_access *a = &f->accesses[i];
    base_puts(t, separator);
    words_access(t, a);
    if (a->line || a->ptx_line) {
      base_puts(t, " at ");
      words_place(t, a->file, a->line, a->column, a->ptx_line, f->kernel);
    }
  }
  for (uint32_t i = 0; i < f->n_waiting; i++) {
    const muster_waiting *w = &f->waiting[i];
    base_puts(t, separator);
    words_waiting(t, w);
    if (w->line || w->ptx_line) {
      base_puts(t, ", ");
      words_place(t, w->file, w->line, 0, w->ptx_line, f->kernel);
    }
  }
  if (f->residency.needed) {
    base_puts(t, separator);
    words_residency(t, f);
  }
  if (f->missing.text) {
    base_puts(t, separator);
    base_puts(t, "help: ");
    words_plain(t, f->missing.text);
  }
}

char *muster_finding_line(const muster_finding *f) {
  base_text t = {0};
  if (f->n_accesses) {
    const muster_access *a = &f->accesses[0];
    words_place(&t, a->file, a->line, a->column, a->ptx_line, f->kernel);
    base_puts(&t, t.length ? ": " : "");
  }
  base_putf(&t, "%s: ", muster_severity_name(f->severity));
  words_plain(&t, f->message ? f->message : muster_rule_get(f->rule)->what);
  base_putf(&t, " [%s]", muster_rule_get(f->rule)->id);
  words_rest(&t, f, "; ");
  if (!t.failed)
    return t.bytes;
  base_text_free(&t);
  return NULL;
}
