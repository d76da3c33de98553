/* select.c: --kernel-regex, --launch-skip, --launch-count: of which launches findings are told. All are
 * watched: what one left in memory, another one may read. */
#include <regex.h>
#include <stdlib.h>

#include "check/state.h"

struct check_select {
  regex_t expression;
  bool has_expression;
  uint64_t n_matched; /* launches whose kernel's name fits, so far */
};

struct check_select *check_select_new(const check_options *o) {
  struct check_select *s = calloc(1, sizeof *s);
  if (s && o->kernel_regex) /* the tool has said already what is wrong with one that is none */
    s->has_expression = regcomp(&s->expression, o->kernel_regex, REG_EXTENDED | REG_NOSUB) == 0;
  return s;
}

void check_select_free(struct check_select *s) {
  if (s && s->has_expression)
    regfree(&s->expression);
  free(s);
}

bool check_select_launch(check *c, const char *kernel) {
  struct check_select *s = c->select;
  const check_options *o = &c->options;
  if (s->has_expression && regexec(&s->expression, kernel, 0, NULL, 0) != 0)
    return false;
  uint64_t index = s->n_matched++;
  return index >= o->launch_skip && (!o->launch_count || index - o->launch_skip < o->launch_count);
}
