/* classics.c: reads classics.def. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "litmus.h"

enum { FORBIDDEN, ALLOWED };

static const struct row {
  const char *name, *places, *threads, *outcome;
  int verdict;
} rows[] = {
#define CLASSIC(name, places, threads, outcome, verdict) {name, places, threads, outcome, verdict},
#include "classics.def"
#undef CLASSIC
};

uint32_t lit_n_classics(void) {
  return sizeof rows / sizeof rows[0];
}

static int find(const char *word, const char *const *names, int n) {
  for (int i = 0; i < n; i++)
    if (!strcmp(word, names[i]))
      return i;
  return -1;
}

/* "st.relaxed.gpu x 1", "if 0 ld.weak y", "cas.acquire.gpu x 0 1", "bar" */
static bool read_op(char *text, lit_op *o) {
  static const char *const kinds[] = {"ld", "st", "exch", "add", "cas", "red", "fence"},
                           *const orders[] = {"weak",    "volatile", "relaxed", "acquire",
                                              "release", "acq_rel",  "sc"},
                           *const scopes[] = {"cta", "gpu", "sys"};
  char *words[8] = {0}, *save, *part;
  int n = 0, at = 0, k;
  *o = (lit_op){.scope = LIT_GPU};
  for (char *w = strtok_r(text, " ", &save); w && n < 8; w = strtok_r(NULL, " ", &save))
    words[n++] = w;
  if (n > 2 && !strcmp(words[0], "if")) {
    o->when = (int8_t)(atoi(words[1]) + 1);
    at = 2;
  }
  if (at < n && (!strcmp(words[at], "bar") || !strcmp(words[at], "bar.warp"))) {
    o->kind = words[at][3] ? LIT_BAR_WARP : LIT_BAR;
    return n == at + 1;
  }
  if (at == n || !(part = strtok_r(words[at++], ".", &save)) || (k = find(part, kinds, 7)) < 0)
    return false;
  o->kind = (lit_kind)k;
  if (!(part = strtok_r(NULL, ".", &save)) || (k = find(part, orders, 7)) < 0)
    return false;
  o->order = (lit_order)k;
  if ((part = strtok_r(NULL, ".", &save))) {
    if ((k = find(part, scopes, 3)) < 0)
      return false;
    o->scope = (lit_scope)k;
  }
  if (o->kind == LIT_FENCE)
    return at == n;
  if (at == n || words[at][0] < 'x' || words[at][0] > 'z' || words[at][1])
    return false;
  o->location = (uint8_t)(words[at++][0] - 'x');
  if (o->kind == LIT_LD)
    return at == n;
  if (at + 1 < n && !strcmp(words[at], "from")) {
    o->from = (int8_t)(atoi(words[at + 1]) + 1);
    return at + 2 == n;
  }
  if (o->kind == LIT_CAS && at < n)
    o->compare = (uint32_t)strtoul(words[at++], NULL, 0);
  if (at == n)
    return false;
  o->value = (uint32_t)strtoul(words[at++], NULL, 0);
  return at == n;
}

static bool read_threads(char *text, lit_test *t) {
  char *save, *save_op;
  uint32_t i = 0;
  for (char *thread = strtok_r(text, "|", &save); thread; thread = strtok_r(NULL, "|", &save), i++) {
    if (i == t->n_threads)
      return false;
    for (char *op = strtok_r(thread, ";", &save_op); op; op = strtok_r(NULL, ";", &save_op)) {
      if (t->n_ops[i] == LIT_OPS)
        return false;
      lit_op *o = &t->ops[i][t->n_ops[i]++];
      if (!read_op(op, o))
        return false;
      if (o->kind < LIT_FENCE && o->location >= t->n_locations)
        t->n_locations = o->location + 1u;
    }
  }
  return i == t->n_threads;
}

bool lit_classic_get(uint32_t index, lit_classic *c) {
  const struct row *r = &rows[index];
  char text[512], *save;
  unsigned block, warp, value;
  unsigned i, k;
  *c = (lit_classic){.allowed = r->verdict == ALLOWED};
  snprintf(c->test.name, sizeof c->test.name, "%s", r->name);
  snprintf(text, sizeof text, "%s", r->places);
  for (char *w = strtok_r(text, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
    if (sscanf(w, "%u.%u", &block, &warp) != 2 || c->test.n_threads == LIT_THREADS)
      return false;
    c->test.block[c->test.n_threads] = block;
    c->test.warp[c->test.n_threads++] = warp;
  }
  snprintf(text, sizeof text, "%s", r->threads);
  if (!read_threads(text, &c->test))
    return false;
  snprintf(text, sizeof text, "%s", r->outcome);
  for (char *w = strtok_r(text, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
    if (isdigit((unsigned char)w[0])) {
      if (sscanf(w, "%u:%u=%u", &i, &k, &value) != 3 || i >= c->test.n_threads || k >= c->test.n_ops[i] ||
          !lit_returns(c->test.ops[i][k].kind))
        return false;
      c->named[i][k] = true;
      c->outcome.slots[i * LIT_OPS + k] = value;
    } else {
      if (w[0] < 'x' || w[0] >= 'x' + (int)c->test.n_locations || w[1] != '=')
        return false;
      c->final[w[0] - 'x'] = true;
      c->outcome.slots[LIT_THREADS * LIT_OPS + (w[0] - 'x')] = (uint32_t)strtoul(w + 2, NULL, 0);
    }
  }
  return true;
}

bool lit_classic_is(const lit_classic *c, const lit_outcome *o) {
  for (uint32_t i = 0; i < c->test.n_threads; i++)
    for (uint32_t k = 0; k < c->test.n_ops[i]; k++)
      if (c->named[i][k] && o->slots[i * LIT_OPS + k] != c->outcome.slots[i * LIT_OPS + k])
        return false;
  for (uint32_t l = 0; l < c->test.n_locations; l++)
    if (c->final[l] && o->slots[LIT_THREADS * LIT_OPS + l] != c->outcome.slots[LIT_THREADS * LIT_OPS + l])
      return false;
  return true;
}
