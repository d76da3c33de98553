/* run.c: the figures of a run: kept, found again, and what they are of in words. */
#include "bench.h"

#include <stdlib.h>
#include <string.h>

const char *bench_what(const char *name, size_t length) {
  static const char *const names[] = {
#define WHAT(name, function, meaning) #name,
#include "what.def"
  };
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strlen(names[i]) == length && memcmp(names[i], name, length) == 0)
      return names[i];
  return NULL;
}

/* One more place behind `n` items of `bytes`; doubles at powers of two. */
static void *grown(void *items, size_t n, size_t bytes) {
  if (n & (n - 1))
    return items;
  void *more = tool_alloc((n ? 2 * n : 1) * bytes);
  if (n)
    memcpy(more, items, n * bytes);
  free(items);
  return more;
}

void bench_add(bench_run *r, bench_figure figure) {
  r->figures = grown(r->figures, r->n, sizeof *r->figures);
  r->figures[r->n++] = figure;
}

void bench_leave_out(bench_run *r, const char *what, char *why) {
  r->gaps = grown(r->gaps, r->n_gaps, sizeof *r->gaps);
  r->gaps[r->n_gaps++] = (bench_gap){what, why};
}

const bench_figure *bench_find(const bench_run *r, const char *what, const char *how, uint32_t blocks,
                               uint32_t threads, uint64_t n) {
  for (size_t i = 0; i < r->n; i++) {
    const bench_figure *f = &r->figures[i];
    if (strcmp(f->what, what) == 0 && strcmp(f->how, how) == 0 && (!blocks || f->blocks == blocks) &&
        (!threads || f->threads == threads) && (!n || f->n == n))
      return f;
  }
  return NULL;
}

bool bench_same(const bench_figure *a, const bench_figure *b) {
  return strcmp(a->what, b->what) == 0 && strcmp(a->how, b->how) == 0 && a->blocks == b->blocks &&
         a->groups == b->groups && a->threads == b->threads && a->n == b->n;
}

char *bench_shape(const bench_figure *f) {
  if (f->n && !f->blocks)
    return tool_format("%llu", (unsigned long long)f->n);
  char *blocks = f->groups > 1 ? tool_format("%u x %u", f->blocks, f->groups) : tool_format("%u", f->blocks);
  char *shape = f->n ? tool_format("%s x %u, %llu", blocks, f->threads, (unsigned long long)f->n)
                     : tool_format("%s x %u", blocks, f->threads);
  free(blocks);
  return shape;
}

void bench_free(bench_run *r) {
  for (size_t i = 0; i < r->n; i++)
    free(r->figures[i].how);
  for (size_t i = 0; i < r->n_gaps; i++)
    free(r->gaps[i].why);
  free(r->figures);
  free(r->gaps);
  free(r->version);
  free(r->commit);
  free(r->date);
  free(r->device);
  free(r->driver);
  *r = (bench_run){0};
}
