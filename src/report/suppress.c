/* suppress.c: which findings are known and not to be told. A suppression is a line:
 *
 *   RULE [kernel=PATTERN] [process=PATTERN] [at=PATTERN] [at=PATTERN]   # why
 *
 * RULE is an id, or a pattern of ids. PATTERN is as in a shell (* ? [a-z]); `at` is FILE, FILE:LINE or a
 * function, FILE without folders where it names none. All that is written must match, each `at` another
 * access; one with blanks stands in double quotes.
 */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "report/report.h"

/* ------------------------------------------------------------------ reading */

/* The next word of the line; quotes are taken off. NULL: there is none. */
static char *next_word(char **at) {
  char *c = *at + strspn(*at, " \t\r");
  if (*c == 0 || *c == '#')
    return NULL;
  char *word = c, *to = c;
  bool quoted = false;
  for (; *c && (quoted || !strchr(" \t\r", *c)); c++)
    if (*c == '"')
      quoted = !quoted;
    else
      *to++ = *c;
  *at = *c ? c + 1 : c;
  *to = 0;
  return word;
}

static bool matches_a_rule(const char *pattern) {
  for (int r = 0; r < MUSTER_RULES; r++)
    if (fnmatch(pattern, muster_rule_get((muster_rule)r)->id, 0) == 0)
      return true;
  return false;
}

/* The words of `s->told` behind its place, which the suppression then points into. */
static char *read_words(report_suppression *s, char *line) {
  s->rule = next_word(&line);
  if (!matches_a_rule(s->rule))
    return base_format("no rule is named %s (muster info --rules lists them)", s->rule);
  for (char *word; (word = next_word(&line)) != NULL;) {
    char *value = strchr(word, '=');
    size_t n = value ? (size_t)(value - word) : 0;
    if (n == 6 && memcmp(word, "kernel", n) == 0 && !s->kernel)
      s->kernel = value + 1;
    else if (n == 7 && memcmp(word, "process", n) == 0 && !s->process)
      s->process = value + 1;
    else if (n == 2 && memcmp(word, "at", n) == 0 && s->n_at < MUSTER_ACCESSES)
      s->at[s->n_at++] = value + 1;
    else
      return base_format("%s: expected kernel=, process= or at= (twice at most)", word);
  }
  return NULL;
}

static bool add_line(muster_report *r, const char *name, unsigned number, const char *line, size_t bytes,
                     char **error) {
  size_t blanks = strspn(line, " \t\r");
  if (blanks >= bytes || line[blanks] == '#')
    return true;
  /* Two copies in one block: one to be told, one to be cut into words. */
  char *told = base_format("%s:%u: %.*s", name, number, (int)(bytes - blanks), line + blanks);
  report_suppression *s = calloc(1, sizeof *s);
  char *both = told ? malloc(strlen(told) + 1 + bytes + 1) : NULL;
  if (!s || !both) {
    free(told);
    free(s);
    free(both);
    return false;
  }
  strcpy(both, told);
  char *words = both + strlen(told) + 1;
  memcpy(words, line, bytes);
  words[bytes] = 0;
  free(told);
  s->told = both;
  char *why = read_words(s, words);
  if (why) {
    *error = base_format("%s:%u: %s", name, number, why);
    free(why);
    free(both);
    free(s);
    return false;
  }
  *r->suppressions_end = s;
  r->suppressions_end = &s->next;
  return true;
}

bool muster_report_suppress(muster_report *r, const char *name, const char *text, char **error) {
  unsigned number = 1;
  for (const char *line = text; *line; number++) {
    size_t n = strcspn(line, "\n");
    if (!add_line(r, name, number, line, n, error))
      return false;
    line += n + (line[n] == '\n');
  }
  return true;
}

/* ------------------------------------------------------------------ matching */

static bool fits(const char *pattern, const char *text) {
  return fnmatch(pattern, text ? text : "", 0) == 0;
}

/* A pattern that names no folder means the file in any. */
static bool fits_place(const char *pattern, const muster_access *a) {
  if (a->func && fits(pattern, a->func))
    return true;
  if (!a->file)
    return false;
  const char *file = a->file, *slash = strrchr(file, '/');
  char line[4096];
  for (int tail = 0; tail < 3; tail++) {
    const char *name = tail == 0 ? file : tail == 1 ? words_file(file) : slash ? slash + 1 : file;
    snprintf(line, sizeof line, "%s:%u", name, a->line);
    if (fits(pattern, name) || fits(pattern, line))
      return true;
  }
  return false;
}

static bool fits_places(const report_suppression *s, const muster_finding *f) {
  if (s->n_at > f->n_accesses)
    return false;
  if (s->n_at == 0)
    return true;
  for (uint32_t first = 0; first < f->n_accesses; first++)
    if (fits_place(s->at[0], &f->accesses[first]) &&
        (s->n_at == 1 || fits_place(s->at[1], &f->accesses[!first])))
      return true;
  return false;
}

bool report_suppressed(muster_report *r, const muster_finding *f) {
  bool any = false;
  for (report_suppression *s = r->suppressions; s; s = s->next) {
    if (!fits(s->rule, muster_rule_get(f->rule)->id) || (s->kernel && !fits(s->kernel, f->kernel)) ||
        (s->process && !fits(s->process, f->process)) || !fits_places(s, f))
      continue;
    s->used++;
    any = true;
  }
  return any;
}

const char *muster_report_unused(const muster_report *r, size_t i) {
  for (const report_suppression *s = r->suppressions; s; s = s->next)
    if (s->used == 0 && i-- == 0)
      return s->told;
  return NULL;
}

/* ------------------------------------------------------------------ --gen-suppressions */

/* A value that matches itself: what means something in a pattern is escaped. */
static void put_pattern(base_text *t, const char *name, const char *value, uint32_t line) {
  bool quote = strpbrk(value, " \t#") != NULL;
  base_putf(t, " %s=%s", name, quote ? "\"" : "");
  for (; *value; value++) {
    if (strchr("*?[]\\", *value))
      base_puts(t, "\\");
    if (*value != '"')
      base_put(t, value, 1);
  }
  if (line)
    base_putf(t, ":%u", line);
  base_puts(t, quote ? "\"" : "");
}

bool report_suppressions(const muster_report *r, const muster_format_options *o, const report_list *l,
                         base_text *t) {
  (void)r;
  (void)o;
  for (size_t i = 0; i < l->n; i++) {
    const muster_finding *f = l->all[i];
    base_puts(t, muster_rule_get(f->rule)->id);
    if (f->kernel && *f->kernel)
      put_pattern(t, "kernel", f->kernel, 0);
    for (uint32_t k = 0; k < f->n_accesses; k++) {
      const char *file = f->accesses[k].file, *slash = file ? strrchr(file, '/') : NULL;
      if (file)
        put_pattern(t, "at", slash ? slash + 1 : file, f->accesses[k].line);
    }
    base_puts(t, "\n");
  }
  return true;
}
