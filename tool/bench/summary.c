/* summary.c: which mechanism serves what at which price on this device, which remedy gains what, and from
 * which shape on a kernel boundary is cheaper than a barrier. */
#include "bench.h"

#include <stdlib.h>
#include <string.h>

/* "816 ns", "2.53 us"; of what was not measured "not measured". free() it. */
static char *time_of(const bench_figure *f) {
  return !f                 ? tool_format("not measured")
         : f->median < 10   ? tool_format("%.3g ns", f->median)
         : f->median < 1000 ? tool_format("%.0f ns", f->median)
                            : tool_format("%.2f us", f->median * 1e-3);
}

static void put_time(FILE *to, const char *before, const bench_figure *f, const char *after) {
  char *time = time_of(f);
  fprintf(to, "%s%s%s", before, time, after);
  free(time);
}

static void mechanisms(FILE *to, const bench_run *r) {
  const char *head = "%-18s %-22s %-34s ";
  uint32_t sms = r->is_cpu ? 0 : r->multiprocessors; /* the CPU device measures few blocks: any */
#define ATOM(how) bench_find(r, "atomic", how, 0, 0, 0)
  fprintf(to, head, "mechanism", "scope", "for");
  fprintf(to, "cost\n");
  fprintf(to, head, "__syncwarp()", "the lanes of a warp", "lanes that meet in memory");
  put_time(to, "", bench_find(r, "warp", "barrier", 0, 0, 0), "");
  put_time(to, " (a shuffle ", bench_find(r, "warp", "shuffle", 0, 0, 0), ")\n");
  fprintf(to, head, "__syncthreads()", "the threads of a block", "between writes and reads of shared");
  put_time(to, "", bench_find(r, "block", "barrier", 0, 256, 0), " with 256 threads, ");
  put_time(to, "", bench_find(r, "block", "barrier", 0, 1024, 0), " with 1,024\n");
  fprintf(to, head, "__threadfence()", "the device", "before a flag or a ticket");
  put_time(to, "", bench_find(r, "fence", "acq_rel, device scope", 0, 0, 0), " behind a store; ");
  put_time(to, "block scope ", bench_find(r, "fence", "acq_rel, block scope", 0, 0, 0), ", ");
  put_time(to, "system ", bench_find(r, "fence", "acq_rel, system scope", 0, 0, 0), "\n");
  fprintf(to, head, "atomics", "one address", "many threads change one value");
  put_time(to, "", ATOM("add u32, global, there and back"), " there and back, ");
  put_time(to, "in shared memory ", ATOM("add u32, shared, there and back"), "\n");
  fprintf(to, head, "", "", "  every thread of the device at once");
  put_time(to, "each ", ATOM("add u32, global, device scope, one address"), " on one address, ");
  put_time(to, "", ATOM("add u32, global, device scope, one a warp"), " one a warp, ");
  put_time(to, "", ATOM("add u32, global, device scope, one a thread"), " one a thread\n");
  fprintf(to, head, "cluster", "2 to 16 blocks", "blocks that share, from 9.0 on");
  put_time(to, "", bench_find(r, "cluster", "barrier", 2, 0, 0), " of 2 blocks, ");
  put_time(to, "", bench_find(r, "cluster", "barrier", 8, 0, 0), " of 8\n");
  fprintf(to, head, "group of blocks", "any blocks", "blocks that share, on any GPU");
  put_time(to, "", bench_find(r, "group", "muster", 2, 0, 0), " in pairs, ");
  put_time(to, "", bench_find(r, "group", "muster", 4, 0, 0), " in fours\n");
  fprintf(to, head, "cooperative groups", "the grid", "all blocks, in one kernel");
  put_time(to, "", bench_find(r, "grid", "cooperative groups", sms, 0, 0), "; ");
  put_time(to, "muster's barrier ", bench_find(r, "grid", "muster", sms, 0, 0), "");
  const bench_figure *grid = bench_find(r, "grid", "muster", sms, 0, 0);
  if (grid)
    fprintf(to, " (%u blocks)", grid->blocks);
  fprintf(to, "\n");
  fprintf(to, head, "kernel boundary", "the grid", "all blocks, none has to be resident");
  put_time(to, "", bench_find(r, "boundary", "in a graph", sms, 0, 0), " in a graph, ");
  put_time(to, "", bench_find(r, "boundary", "in a stream", sms, 0, 0), " in a stream\n");
}

static void remedies(FILE *to, const bench_run *r) {
  static const struct {
    const char *direct, *remedied, *strategy, *method;
  } rows[] = {
#define REMEDY(name, direct, remedied, result, strategy, method) {#direct, #remedied, strategy, method},
#include "remedy.def"
  };
  const char *head = "%-24s %-42s ";
  fprintf(to, head, "remedy", "method");
  fprintf(to, "gain\n");
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const bench_figure *a = bench_find(r, "remedy", rows[i].direct, 0, 0, 0);
    const bench_figure *b = bench_find(r, "remedy", rows[i].remedied, 0, 0, 0);
    fprintf(to, head, rows[i].strategy, rows[i].method);
    if (!a || !b) {
      fprintf(to, "not measured\n");
      continue;
    }
    fprintf(to, "%.2f times: ", a->median / b->median);
    put_time(to, "", a, "");
    put_time(to, " to ", b, "");
    fprintf(to, " for %llu elements\n", (unsigned long long)a->n);
  }
}

/* The fewest blocks from which on, in all that was measured, the boundary costs no more than the barrier; 0:
 * there are none. `barriers` counts what both were measured with. */
static uint32_t crossing(const bench_run *r, const char *how, size_t *barriers, uint32_t *most) {
  uint32_t from = 0;
  *barriers = *most = 0;
  for (size_t i = 0; i < r->n; i++) {
    const bench_figure *barrier = &r->figures[i];
    if (strcmp(barrier->what, "grid") != 0 || strcmp(barrier->how, "muster") != 0)
      continue;
    const bench_figure *boundary = bench_find(r, "boundary", how, barrier->blocks, barrier->threads, 0);
    if (!boundary)
      continue;
    ++*barriers;
    *most = barrier->blocks; /* they stand in order of their blocks */
    if (boundary->median > barrier->median)
      from = 0;
    else if (!from)
      from = barrier->blocks;
  }
  return from;
}

static void boundary(FILE *to, const bench_run *r) {
  static const char *const hows[] = {"in a graph", "in a stream"};
  for (int i = 0; i < 2; i++) {
    size_t barriers;
    uint32_t most, from = crossing(r, hows[i], &barriers, &most);
    if (!barriers)
      fprintf(to, "A kernel boundary %s beside a barrier: not measured.\n", hows[i]);
    else if (from)
      fprintf(to, "A kernel boundary %s beats a barrier of the grid from %u blocks on.\n", hows[i], from);
    else
      fprintf(to, "A kernel boundary %s beats no barrier of the grid of up to %u blocks.\n", hows[i], most);
  }
}

char *bench_to_summary(const bench_run *r) {
  char *text = NULL;
  size_t bytes = 0;
  FILE *to = open_memstream(&text, &bytes);
  bench_put_method(to, r);
  fprintf(to, "\n");
  mechanisms(to, r);
  fprintf(to, "\n");
  remedies(to, r);
  fprintf(to, "\n");
  boundary(to, r);
  fclose(to);
  return text;
}
