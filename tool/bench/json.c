/* json.c: a run as JSON, schema muster-bench/1, and back.
 *
 *   {"schema":"muster-bench/1","version":"..","commit":"..","date":"..",
 *    "device":{"name":"..","driver":"..","is_cpu":false,"compute_capability":90,"multiprocessors":132,
 *      "clock_mhz":1980,"seen_mhz":1980,"peak_bytes_per_ns":4800},
 *    "method":{"runs":9,"unit":"ns"},
 *    "left_out":[{"what":"cluster","why":".."}],
 *    "figures":[{"what":"grid","how":"muster","blocks":132,"groups":1,"threads":128,"n":0,"bytes":0,
 *      "min":808.1,"median":810.0,"max":830.2}]}
 *
 * What is read is checked member by member: a file that is cut, foreign or senseless is refused whole.
 */
#include "bench.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SCHEMA "muster-bench/1"
enum { DIGITS = 9 };

/* ------------------------------------------------------------------ to JSON */

/* A member list in one line, without the braces around it; takes `v` over. */
static void put(FILE *to, const char *before, json_t *v, const char *after) {
  char *text =
      json_dumps(v, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(DIGITS) | JSON_ENSURE_ASCII);
  if (!text) {
    tool_error("out of memory");
    exit(TOOL_OURS);
  }
  fprintf(to, "%s%s%s", before, text, after);
  free(text);
  json_decref(v);
}

static json_t *json_of(const bench_figure *f) {
  return json_pack("{s:s,s:s,s:I,s:I,s:I,s:I,s:I,s:f,s:f,s:f}", "what", f->what, "how", f->how, "blocks",
                   (json_int_t)f->blocks, "groups", (json_int_t)f->groups, "threads", (json_int_t)f->threads,
                   "n", (json_int_t)f->n, "bytes", (json_int_t)f->bytes, "min", f->min, "median", f->median,
                   "max", f->max);
}

char *bench_to_json(const bench_run *r) {
  char *text = NULL;
  size_t bytes = 0;
  FILE *to = open_memstream(&text, &bytes);
  put(to, "{\"schema\":\"" SCHEMA "\",\n\"version\":", json_string(r->version), ",\"commit\":");
  put(to, "", json_string(r->commit), ",\"date\":");
  put(to, "", json_string(r->date), ",\n");
  put(to, "\"device\":",
      json_pack("{s:s,s:s,s:b,s:I,s:I,s:f,s:f,s:f}", "name", r->device, "driver", r->driver, "is_cpu",
                r->is_cpu, "compute_capability", (json_int_t)r->compute_capability, "multiprocessors",
                (json_int_t)r->multiprocessors, "clock_mhz", r->clock_mhz, "seen_mhz", r->seen_mhz,
                "peak_bytes_per_ns", r->peak),
      ",\n");
  put(to, "\"method\":", json_pack("{s:I,s:s}", "runs", (json_int_t)r->runs, "unit", "ns"),
      ",\n\"left_out\":[");
  for (size_t i = 0; i < r->n_gaps; i++)
    put(to, i ? ",\n" : "\n", json_pack("{s:s,s:s}", "what", r->gaps[i].what, "why", r->gaps[i].why), "");
  fprintf(to, "],\n\"figures\":[");
  for (size_t i = 0; i < r->n; i++)
    put(to, i ? ",\n" : "\n", json_of(&r->figures[i]), "");
  fprintf(to, "]}\n");
  fclose(to);
  return text;
}

/* ------------------------------------------------------------------ from JSON */

typedef struct reader {
  const char *path;
  char *where; /* "figures[3]"; NULL: the top */
  bool good;
} reader;

static const json_t *member(reader *r, const json_t *of, const char *name, const char *wanted,
                            bool (*is)(const json_t *)) {
  const json_t *v = json_object_get(of, name);
  if (r->good && (!v || !is(v))) {
    tool_error("%s: %s%s%s is %s, and %s is expected", r->path, r->where ? r->where : "", r->where ? "." : "",
               name, v ? "something else" : "missing", wanted);
    r->good = false;
  }
  return v;
}
static bool is_string(const json_t *v) {
  return json_is_string(v);
}
static bool is_object(const json_t *v) {
  return json_is_object(v);
}
static bool is_array(const json_t *v) {
  return json_is_array(v);
}
static bool is_bool(const json_t *v) {
  return json_is_boolean(v);
}
static bool is_count(const json_t *v) {
  return json_is_integer(v) && json_integer_value(v) >= 0;
}
static bool is_small(const json_t *v) {
  return is_count(v) && json_integer_value(v) <= UINT32_MAX;
}
static bool is_number(const json_t *v) {
  return json_is_number(v) && isfinite(json_number_value(v)) && json_number_value(v) >= 0;
}
static bool is_time(const json_t *v) {
  return is_number(v) && json_number_value(v) > 0;
}

static char *text(reader *r, const json_t *of, const char *name) {
  const json_t *v = member(r, of, name, "text", is_string);
  return tool_format("%s", r->good ? json_string_value(v) : "");
}
static uint64_t count(reader *r, const json_t *of, const char *name) {
  return (uint64_t)json_integer_value(member(r, of, name, "a number from 0", is_count));
}
static uint32_t small(reader *r, const json_t *of, const char *name) {
  return (uint32_t)json_integer_value(
      member(r, of, name, "a number from 0 that fits into 32 bits", is_small));
}
static double number(reader *r, const json_t *of, const char *name) {
  return json_number_value(member(r, of, name, "a number from 0", is_number));
}
static double ns(reader *r, const json_t *of, const char *name) {
  return json_number_value(member(r, of, name, "a time above 0", is_time));
}
static const char *what_of(reader *r, const json_t *of) {
  const json_t *v = member(r, of, "what", "a word of muster bench --help", is_string);
  const char *name = r->good ? bench_what(json_string_value(v), json_string_length(v)) : NULL;
  if (r->good && !name) {
    tool_error("%s: %s.what is %s, which muster bench does not measure", r->path, r->where,
               json_string_value(v));
    r->good = false;
  }
  return name;
}

static void read_figure(reader *r, const json_t *v, bench_run *run) {
  if (r->good && !json_is_object(v)) {
    tool_error("%s: %s is no object", r->path, r->where);
    r->good = false;
  }
  bench_figure f = {.what = what_of(r, v),
                    .blocks = small(r, v, "blocks"),
                    .groups = small(r, v, "groups"),
                    .threads = small(r, v, "threads"),
                    .n = count(r, v, "n"),
                    .bytes = count(r, v, "bytes"),
                    .min = ns(r, v, "min"),
                    .median = ns(r, v, "median"),
                    .max = ns(r, v, "max")};
  f.how = text(r, v, "how");
  if (r->good && (f.min > f.median || f.median > f.max)) {
    tool_error("%s: %s: min, median and max are out of order", r->path, r->where);
    r->good = false;
  }
  for (size_t i = 0; r->good && i < run->n; i++)
    if (bench_same(&run->figures[i], &f)) {
      tool_error("%s: %s and figures[%zu] are of the same thing", r->path, r->where, i);
      r->good = false;
    }
  if (r->good)
    bench_add(run, f);
  else
    free(f.how);
}

static void read_list(reader *r, const json_t *of, const char *name, bench_run *run) {
  const json_t *list = member(r, of, name, "a list", is_array);
  for (size_t i = 0; r->good && i < json_array_size(list); i++) {
    const json_t *v = json_array_get(list, i);
    r->where = tool_format("%s[%zu]", name, i);
    if (*name == 'f') {
      read_figure(r, v, run);
    } else {
      const char *of_what = what_of(r, v);
      char *why = text(r, v, "why");
      if (r->good)
        bench_leave_out(run, of_what, why);
      else
        free(why);
    }
    free(r->where);
    r->where = NULL;
  }
}

static void read_run(reader *r, const json_t *v, bench_run *run) {
  run->version = text(r, v, "version");
  run->commit = text(r, v, "commit");
  run->date = text(r, v, "date");
  const json_t *device = member(r, v, "device", "an object", is_object);
  const json_t *method = member(r, v, "method", "an object", is_object);
  run->device = text(r, device, "name");
  run->driver = text(r, device, "driver");
  run->is_cpu = json_is_true(member(r, device, "is_cpu", "true or false", is_bool));
  run->compute_capability = small(r, device, "compute_capability");
  run->multiprocessors = small(r, device, "multiprocessors");
  run->clock_mhz = number(r, device, "clock_mhz");
  run->seen_mhz = number(r, device, "seen_mhz");
  run->peak = number(r, device, "peak_bytes_per_ns");
  run->runs = small(r, method, "runs");
  read_list(r, v, "left_out", run);
  read_list(r, v, "figures", run);
}

/* ------------------------------------------------------------------ from one process to another */

/* One line. */
static void tell(FILE *to, const char *kind, json_t *v) {
  fprintf(to, "%s ", kind);
  put(to, "", v, "\n");
  fflush(to);
}
void bench_tell_figure(FILE *to, const bench_figure *f) {
  tell(to, "figure", json_of(f));
}
void bench_tell(FILE *to, const char *kind, const char *what, const char *text) {
  tell(to, kind, json_pack("{s:s,s:s}", "what", what, "why", text));
}
void bench_tell_run(FILE *to, const bench_run *r) {
  char *text = bench_to_json(r);
  tell(to, "run", json_loads(text, 0, NULL));
  free(text);
}

char *bench_hear(const char *line, bench_run *run, const char **what, char **text_of) {
  size_t kind = strcspn(line, " ");
  json_t *v = json_loads(line + kind, 0, NULL);
  reader r = {.path = "what the measuring process tells", .where = "it", .good = true};
  char *heard = tool_format("%.*s", (int)kind, line);
  *what = NULL;
  *text_of = NULL;
  if (strcmp(heard, "run") == 0) {
    if (!run->version)
      read_run(&r, v, run);
  } else if (strcmp(heard, "figure") == 0) {
    read_figure(&r, v, run);
  } else {
    *what = what_of(&r, v);
    *text_of = text(&r, v, "why");
  }
  json_decref(v);
  if (!r.good) {
    free(heard);
    free(*text_of);
    heard = *text_of = NULL;
  }
  return heard;
}

bool bench_from_json(const char *path, bench_run *run) {
  uint8_t *bytes;
  size_t size;
  json_error_t why;
  *run = (bench_run){0};
  if (!tool_read_file(path, &bytes, &size))
    return false;
  json_t *v = json_loadb((const char *)bytes, size, JSON_REJECT_DUPLICATES, &why);
  free(bytes);
  if (!v) {
    tool_error("%s: line %d, column %d: %s", path, why.line, why.column, why.text);
    return false;
  }
  const char *schema = json_string_value(json_object_get(v, "schema"));
  reader r = {.path = path, .good = schema && strcmp(schema, SCHEMA) == 0};
  if (!r.good)
    tool_error("%s: not written by muster bench --json: its schema is %s, not " SCHEMA, path,
               schema ? schema : "missing");
  else
    read_run(&r, v, run);
  json_decref(v);
  if (!r.good)
    bench_free(run);
  return r.good;
}
