/* compare.c: what became slower or faster from one run to another. */
#include "bench.h"

#include <stdlib.h>
#include <string.h>

static const bench_figure *same_in(const bench_run *r, const bench_figure *f) {
  for (size_t i = 0; i < r->n; i++)
    if (bench_same(&r->figures[i], f))
      return &r->figures[i];
  return NULL;
}

static void missing(const char *where, const bench_run *from, const bench_run *in) {
  size_t n = 0;
  for (size_t i = 0; i < from->n; i++)
    n += !same_in(in, &from->figures[i]);
  if (n)
    printf("only in %s: %zu figure%s\n", where, n, n == 1 ? "" : "s");
}

int bench_compare(const bench_run *old, const bench_run *new, double percent) {
  size_t slower = 0, faster = 0, both = 0;
  printf("old  ");
  bench_put_method(stdout, old);
  printf("new  ");
  bench_put_method(stdout, new);
  if (strcmp(old->device, new->device) != 0)
    printf("different devices: %s and %s\n", old->device, new->device);
  for (size_t i = 0; i < old->n; i++) {
    const bench_figure *a = &old->figures[i], *b = same_in(new, a);
    if (!b)
      continue;
    both++;
    double change = 100 * (b->median / a->median - 1);
    bool worse = b->median > a->median * (1 + percent / 100),
         better = a->median > b->median * (1 + percent / 100);
    if (!worse && !better)
      continue;
    slower += worse;
    faster += better;
    char *shape = bench_shape(a);
    printf("%s %+.1f %%  %s, %s, %s: %.4g ns, was %.4g\n", worse ? "slower" : "faster", change, a->what,
           a->how, shape, b->median, a->median);
    free(shape);
  }
  missing("the old run", old, new);
  missing("the new run", new, old);
  if (both == 0) {
    tool_error("the two runs have no figure in common");
    return TOOL_UNJUDGED;
  }
  printf("%zu figures, %zu slower and %zu faster by more than %g %%\n", both, slower, faster, percent);
  return slower ? TOOL_SLOWER : TOOL_OK;
}
