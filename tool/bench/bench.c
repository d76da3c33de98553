/* bench.c: muster bench: what is measured, and what becomes of the figures. */
#include "bench.h"

#include <stdlib.h>
#include <string.h>

static const struct {
  const char *name;
  int (*measure)(bench *b);
} whats[] = {
#define WHAT(name, function, meaning) {#name, bench_measure_##function},
#include "what.def"
};
enum { WHATS = sizeof whats / sizeof *whats };

/* Which of them the words behind the options name. */
static int choose(const tool_options *o, bool chosen[WHATS]) {
  for (int i = 0; i < o->n_rest; i++) {
    size_t k = 0;
    while (k < WHATS && strcmp(whats[k].name, o->rest[i]) != 0)
      k++;
    if (k == WHATS) {
      char *names = tool_format("%s", whats[0].name);
      for (k = 1; k < WHATS; k++) {
        char *longer = tool_format("%s%s%s", names, k + 1 < WHATS ? ", " : " and ", whats[k].name);
        free(names);
        names = longer;
      }
      tool_error("muster bench measures no %s; it measures %s (options stand before them)", o->rest[i],
                 names);
      free(names);
      return TOOL_USAGE;
    }
    chosen[k] = true;
  }
  for (size_t k = 0; k < WHATS && o->n_rest == 0; k++) /* the closing tables are of the primitives */
    chosen[k] = !o->summary || whats[k].measure != bench_measure_operation;
  return TOOL_OK;
}

/* Writes the run as it was asked for. */
static int put(const tool_options *o, const bench_run *run) {
  char *text = o->json      ? bench_to_json(run)
               : o->csv     ? bench_to_csv(run)
               : o->summary ? bench_to_summary(run)
                            : bench_to_table(run);
  int code = TOOL_OK;
  if (!o->bench_output) {
    if (fputs(text, stdout) < 0 || fflush(stdout) != 0) {
      tool_error("cannot write to standard output");
      code = TOOL_OURS;
    }
  } else if (!tool_write_file(o->bench_output, text, strlen(text), NULL, 0)) {
    code = TOOL_OURS;
  }
  free(text);
  if (o->svg) {
    text = bench_to_svg(run);
    if (!text) {
      tool_error("--svg draws barriers of the grid and operations, and there are no figures of either");
      return TOOL_USAGE;
    }
    if (!tool_write_file(o->svg, text, strlen(text), NULL, 0))
      code = TOOL_OURS;
    free(text);
  }
  return code;
}

static int compare(const tool_options *o) {
  bench_run old, new;
  if (o->n_rest != 2) {
    tool_error("muster bench --compare takes two files, OLD and NEW, behind all options");
    return TOOL_USAGE;
  }
  if (!bench_from_json(o->rest[0], &old))
    return TOOL_USAGE;
  int code = TOOL_USAGE;
  if (bench_from_json(o->rest[1], &new)) {
    code = bench_compare(&old, &new, o->has.threshold ? (double)o->threshold : 5);
    bench_free(&new);
  }
  bench_free(&old);
  if (fflush(stdout) != 0) {
    tool_error("cannot write to standard output");
    code = TOOL_OURS;
  }
  return code;
}

/* Options that exclude each other, and numbers that are too large. */
static int check(const tool_options *o) {
  const struct {
    bool given;
    const char *name, *of; /* "to measure", "to show", ... */
  } rows[] = {{o->json, "json", "show"},           {o->csv, "csv", "show"},
              {o->summary, "summary", "show"},     {o->has.svg, "svg", "draw"},
              {o->has.bench_output, "output", ""}, {o->has.device, "device", "measure"},
              {o->has.runs, "runs", "measure"},    {o->has.bench_limit, "time-limit", "measure"},
              {o->has.from, "from", "read"}};
  const char *shown = NULL;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    if (!rows[i].given)
      continue;
    if (o->compare || (o->has.from && strcmp(rows[i].of, "measure") == 0)) {
      tool_error("--%s and --%s exclude each other", o->compare ? "compare" : "from", rows[i].name);
      return TOOL_USAGE;
    }
    if (shown && strcmp(rows[i].of, "show") == 0) {
      tool_error("--%s and --%s exclude each other: --from shows the figures of one run again", shown,
                 rows[i].name);
      return TOOL_USAGE;
    }
    if (strcmp(rows[i].of, "show") == 0)
      shown = rows[i].name;
  }
  if (o->has.threshold && !o->compare) {
    tool_error("--threshold is for --compare");
    return TOOL_USAGE;
  }
  if (o->has.from && o->n_rest > 0) {
    tool_error("--from shows all figures of its file: %s is too much", o->rest[0]);
    return TOOL_USAGE;
  }
  if (o->has.runs && o->runs > 10000) {
    tool_error("--runs=%llu: 10000 are possible", (unsigned long long)o->runs);
    return TOOL_USAGE;
  }
  return TOOL_OK;
}

int tool_bench(const tool_options *o) {
  bool chosen[WHATS] = {false};
  bench_run run = {0};
  int code = check(o);
  if (code != TOOL_OK)
    return code;
  if (o->compare)
    return compare(o);
  if (o->from)
    code = bench_from_json(o->from, &run) ? TOOL_OK : TOOL_USAGE;
  else if ((code = choose(o, chosen)) == TOOL_OK)
    code = bench_watch(o, chosen, &run);
  if (run.version) { /* also where something failed */
    int written = put(o, &run);
    code = code == TOOL_OK ? written : code;
  }
  bench_free(&run);
  return code;
}
