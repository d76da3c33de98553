/* table.c: figures for people, and as CSV. */
#include "bench.h"

#include <stdlib.h>
#include <string.h>

void bench_put_method(FILE *to, const bench_run *r) {
  fprintf(to, "%s%s, %u multiprocessors, %.0f MHz (seen %.0f), driver %s; muster %s, commit %s; %s\n",
          r->device, r->is_cpu ? " (modelled on the CPU)" : "", r->multiprocessors, r->clock_mhz, r->seen_mhz,
          r->driver, r->version, r->commit, r->date);
  fprintf(to,
          "nanoseconds by %s, %u runs; what lies in a loop or a launch is the slope between two numbers of "
          "them\n",
          r->is_cpu ? "the virtual clock of the CPU device (which says nothing about a GPU)"
                    : "the device's events",
          r->runs);
}

/* Three or four digits that count, without an exponent. */
static void put_ns(FILE *to, double ns) {
  fprintf(to, " %12.*f", ns < 1 ? 4 : ns < 10 ? 3 : ns < 100 ? 2 : ns < 1000 ? 1 : 0, ns);
}

char *bench_to_table(const bench_run *r) {
  char *text = NULL;
  size_t bytes = 0;
  FILE *to = open_memstream(&text, &bytes);
  size_t widest = 0;
  for (size_t i = 0; i < r->n; i++)
    widest = strlen(r->figures[i].how) > widest ? strlen(r->figures[i].how) : widest;
  bench_put_method(to, r);
  const char *what = "";
  for (size_t i = 0; i < r->n; i++) {
    const bench_figure *f = &r->figures[i];
    if (strcmp(what, f->what) != 0)
      fprintf(to, "\n%-*s %20s %12s %12s %12s%s\n", (int)widest, f->what,
              f->n && !f->blocks ? "elements" : "blocks x threads", "min", "median", "max",
              f->bytes ? "    GB/s" : "");
    what = f->what;
    char *shape = bench_shape(f);
    fprintf(to, "%-*s %20s", (int)widest, f->how, shape);
    free(shape);
    put_ns(to, f->min);
    put_ns(to, f->median);
    put_ns(to, f->max);
    if (f->bytes)
      fprintf(to, " %7.1f", (double)f->bytes / f->median);
    fprintf(to, "\n");
  }
  if (r->n_gaps)
    fprintf(to, "\n");
  for (size_t i = 0; i < r->n_gaps; i++)
    fprintf(to, "not measured: %s: %s\n", r->gaps[i].what, r->gaps[i].why);
  fclose(to);
  return text;
}

/* A field: quoted where it has to be. */
static void put_field(FILE *to, const char *text) {
  if (!strpbrk(text, ",\"\n\r")) {
    fprintf(to, "%s", text);
    return;
  }
  fputc('"', to);
  for (; *text; text++) {
    if (*text == '"')
      fputc('"', to);
    fputc(*text, to);
  }
  fputc('"', to);
}

char *bench_to_csv(const bench_run *r) {
  char *text = NULL;
  size_t bytes = 0;
  FILE *to = open_memstream(&text, &bytes);
  fprintf(to, "device,driver,seen_mhz,commit,date,runs,what,how,blocks,groups,threads,n,bytes,min_ns,median_"
              "ns,max_ns\n");
  for (size_t i = 0; i < r->n; i++) {
    const bench_figure *f = &r->figures[i];
    put_field(to, r->device);
    fputc(',', to);
    put_field(to, r->driver);
    fprintf(to, ",%.0f,", r->seen_mhz);
    put_field(to, r->commit);
    fprintf(to, ",%s,%u,%s,", r->date, r->runs, f->what);
    put_field(to, f->how);
    fprintf(to, ",%u,%u,%u,%llu,%llu,%.9g,%.9g,%.9g\n", f->blocks, f->groups, f->threads,
            (unsigned long long)f->n, (unsigned long long)f->bytes, f->min, f->median, f->max);
  }
  fclose(to);
  return text;
}
