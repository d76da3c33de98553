/* svg.c: a run as a picture: barriers by blocks with the kernel boundary as a line, operations by elements
 * with what the memory can do as a line. One file without script, font or colour from elsewhere, light and
 * dark. */
#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 800, HEIGHT = 320, LEFT = 70, RIGHT = 250, TOP = 46, BOTTOM = 46, FOOT = 40 };

typedef struct series {
  const char *what, *how, *label;
  bool line; /* not points, but what the others are held against */
} series;

typedef struct chart {
  const char *title, *x_label, *y_label;
  const series *series;
  size_t n;
  bool by_elements; /* x: elements, y: GB/s; else x: blocks, y: nanoseconds */
  double limit;     /* a horizontal line, 0: none */
  const char *limit_label;
  double x_low, x_high, y_high; /* of all points; x as log2 */
} chart;

static const series barriers[] = {{"grid", "cooperative groups", "cooperative groups", false},
                                  {"grid", "muster", "muster", false},
                                  {"boundary", "in a graph", "kernel boundary, graph", true},
                                  {"boundary", "in a stream", "kernel boundary, stream", true}};
static const series operations[] = {{"reduce", "sum f32, in a graph", "reduce", false},
                                    {"dot", "f32, in a graph", "dot", false},
                                    {"scan", "inclusive f32, in a graph", "scan", false},
                                    {"histogram", "u8, 256 bins, in a graph", "histogram", false},
                                    {"map", "add f32, in a graph", "map", false}};

static bool is_of(const bench_figure *f, const series *s) {
  return strcmp(f->what, s->what) == 0 && strcmp(f->how, s->how) == 0;
}
static double x_of(const chart *c, const bench_figure *f) {
  return log2(c->by_elements ? (double)f->n : (double)f->blocks);
}
static double y_of(const chart *c, const bench_figure *f) {
  return c->by_elements ? (double)f->bytes / f->median : f->median;
}

static double column(const chart *c, double x) {
  return LEFT + (x - c->x_low) / (c->x_high - c->x_low) * (WIDTH - LEFT - RIGHT);
}
static double row(const chart *c, double y) {
  return HEIGHT - BOTTOM - y / c->y_high * (HEIGHT - TOP - BOTTOM);
}

/* What there is to draw; lines set no scale where they are far above all points. False: there are no points.
 */
static bool measure(chart *c, const bench_run *r) {
  double points = 0, lines = 0;
  c->x_low = INFINITY;
  c->x_high = -INFINITY;
  for (size_t s = 0; s < c->n; s++)
    for (size_t i = 0; i < r->n; i++) {
      const bench_figure *f = &r->figures[i];
      if (!is_of(f, &c->series[s]))
        continue;
      double *high = c->series[s].line ? &lines : &points;
      *high = fmax(*high, y_of(c, f));
      c->x_low = fmin(c->x_low, x_of(c, f));
      c->x_high = fmax(c->x_high, x_of(c, f));
    }
  if (c->x_high <= c->x_low)
    c->x_high = c->x_low + 1;
  c->y_high =
      1.08 * fmax(fmax(points, lines < 1.5 * points ? lines : 0), c->limit < 5 * points ? c->limit : 0);
  return points > 0;
}

static double tick_step(double high) {
  double step = pow(10, floor(log10(high / 5)));
  return high / step > 20 ? 5 * step : high / step > 8 ? 2 * step : step; /* four to eight of them */
}

static void put_text(FILE *to, double x, double y, const char *anchor, const char *class, const char *text) {
  fprintf(to, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\"%s%s%s>", x, y, anchor,
          *class ? " class=\"" : "", class, *class ? "\"" : "");
  for (; *text; text++)
    if (*text == '<')
      fprintf(to, "&lt;");
    else if (*text == '&')
      fprintf(to, "&amp;");
    else if ((unsigned char)*text >= 0x20)
      fputc(*text, to);
  fprintf(to, "</text>\n");
}

static void put_axes(FILE *to, const chart *c, const bench_run *r) {
  char label[64];
  put_text(to, LEFT, 22, "start", "title", c->title);
  put_text(to, LEFT, 38, "start", "small", c->y_label);
  put_text(to, WIDTH - RIGHT, HEIGHT - 8, "end", "small", c->x_label);
  double step = tick_step(c->y_high);
  for (double y = 0; y <= c->y_high; y += step) {
    fprintf(to, "<path class=\"grid\" d=\"M%d %.1fH%d\"/>\n", LEFT, row(c, y), WIDTH - RIGHT);
    snprintf(label, sizeof label, "%g", y);
    put_text(to, LEFT - 6, row(c, y) + 4, "end", "", label);
  }
  double last = -100;
  for (size_t s = 0; s < c->n && last < 0; s++) /* every x of the first series that has any */
    for (size_t i = 0; i < r->n; i++) {
      const bench_figure *f = &r->figures[i];
      double x = column(c, x_of(c, f));
      if (!is_of(f, &c->series[s]) || x < last + 26)
        continue;
      last = x;
      if (c->by_elements && (f->n & (f->n - 1)) == 0)
        snprintf(label, sizeof label, "2^%.0f", x_of(c, f));
      else
        snprintf(label, sizeof label, "%llu", (unsigned long long)(c->by_elements ? f->n : f->blocks));
      put_text(to, x, HEIGHT - BOTTOM + 18, "middle", "", label);
    }
}

static void put_series(FILE *to, const chart *c, const bench_run *r, size_t number, double legend) {
  const series *s = &c->series[number];
  size_t n = 0;
  double high = 0;
  for (size_t i = 0; i < r->n; i++)
    if (is_of(&r->figures[i], s)) {
      high = fmax(high, y_of(c, &r->figures[i]));
      n++;
    }
  if (n == 0)
    return;
  if (high > c->y_high) { /* said, not drawn */
    char *text = tool_format("%s: up to %.0f", s->label, high);
    put_text(to, WIDTH - RIGHT + 44, legend + 4, "start", "small", text);
    free(text);
    return;
  }
  fprintf(to, "<g class=\"c%zu\"><path class=\"%s\" d=\"", number, s->line ? "line" : "curve");
  n = 0;
  for (size_t i = 0; i < r->n; i++)
    if (is_of(&r->figures[i], s))
      fprintf(to, "%c%.1f %.1f", n++ ? 'L' : 'M', column(c, x_of(c, &r->figures[i])),
              row(c, y_of(c, &r->figures[i])));
  fprintf(to, "\"/>\n");
  for (size_t i = 0; i < r->n && !s->line; i++)
    if (is_of(&r->figures[i], s))
      fprintf(to, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\"/>\n", column(c, x_of(c, &r->figures[i])),
              row(c, y_of(c, &r->figures[i])));
  fprintf(to, "<path class=\"%s\" d=\"M%d %.1fh28\"/></g>\n", s->line ? "line" : "curve", WIDTH - RIGHT + 12,
          legend);
  put_text(to, WIDTH - RIGHT + 44, legend + 4, "start", "", s->label);
}

static void put_chart(FILE *to, const chart *c, const bench_run *r, double top) {
  fprintf(to, "<g transform=\"translate(0 %.0f)\">\n", top);
  put_axes(to, c, r);
  for (size_t s = 0; s < c->n; s++)
    put_series(to, c, r, s, TOP + 12 + 20.0 * (double)s);
  if (c->limit > 0 && c->limit <= c->y_high) {
    fprintf(to, "<path class=\"limit\" d=\"M%d %.1fH%d\"/>\n", LEFT, row(c, c->limit), WIDTH - RIGHT);
    put_text(to, LEFT + 6, row(c, c->limit) - 5, "start", "small", c->limit_label);
  }
  fprintf(to, "</g>\n");
}

char *bench_to_svg(const bench_run *r) {
  chart charts[] = {{.title = "A barrier of the grid, 128 threads a block",
                     .x_label = "blocks",
                     .y_label = "nanoseconds a barrier",
                     .series = barriers,
                     .n = sizeof barriers / sizeof *barriers},
                    {.title = "Operations on whole arrays, in a graph",
                     .x_label = "elements",
                     .y_label = "GB/s",
                     .series = operations,
                     .n = sizeof operations / sizeof *operations,
                     .by_elements = true,
                     .limit = r->is_cpu ? 0 : r->peak,
                     .limit_label = "what the memory can do"}};
  bool drawn[2];
  int n = 0;
  for (int i = 0; i < 2; i++)
    n += drawn[i] = measure(&charts[i], r);
  if (n == 0)
    return NULL;
  char *text = NULL;
  size_t bytes = 0;
  FILE *to = open_memstream(&text, &bytes);
  fprintf(to, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\">\n",
          WIDTH, n * HEIGHT + FOOT, WIDTH, n * HEIGHT + FOOT);
  fprintf(to,
          "<style>\n"
          "svg{background:#fff;font:12px system-ui,sans-serif}\n"
          "text{fill:#222}.title{font-weight:600;font-size:14px}.small{font-size:11px;fill:#555}\n"
          ".grid{stroke:#ddd}.curve{fill:none;stroke-width:2}.line{fill:none;stroke-width:1.5;stroke-"
          "dasharray:6 4}\n"
          ".limit{stroke:#a33;stroke-dasharray:2 3}\n"
          ".c0{stroke:#c2620a}.c1{stroke:#1f6fb5}.c2{stroke:#2c7f5b}.c3{stroke:#8050b0}.c4{stroke:#b03a5b}\n"
          "circle{fill:#fff}\n"
          "@media (prefers-color-scheme:dark){svg{background:#14171c}text{fill:#e4e4e4}.small{fill:#a8a8a8}\n"
          ".grid{stroke:#333a44}.limit{stroke:#e07070}circle{fill:#14171c}\n"
          ".c0{stroke:#f0a050}.c1{stroke:#66b0f0}.c2{stroke:#5cc796}.c3{stroke:#bb92ea}.c4{stroke:#ee7f9e}}\n"
          "</style>\n");
  int at = 0;
  for (int i = 0; i < 2; i++)
    if (drawn[i])
      put_chart(to, &charts[i], r, HEIGHT * at++);
  char *device =
      tool_format("%s%s, driver %s", r->device,
                  r->is_cpu ? " (modelled on the CPU: these are no times of a GPU)" : "", r->driver);
  char *method =
      tool_format("muster %s, commit %s; %s; medians of %u runs", r->version, r->commit, r->date, r->runs);
  put_text(to, LEFT, n * HEIGHT + 12, "start", "small", device);
  put_text(to, LEFT, n * HEIGHT + 28, "start", "small", method);
  free(method);
  free(device);
  fprintf(to, "</svg>\n");
  fclose(to);
  return text;
}
