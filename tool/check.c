/* check.c: muster check and muster merge: the program runs as under muster run; what the inspection says
 * becomes one report, written here in each format asked for, and decides the exit code. */
#include "tool.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "muster/check.h"

/* A format, and where it goes: NULL is standard error. */
typedef struct output {
  char *format;
  const char *file;
} output;

typedef struct outputs {
  output *all;
  size_t n;
} outputs;

/* ------------------------------------------------------------------ what was asked for */

static bool is_format(const char *name) {
  const char *names[16];
  size_t n = 0;
  for (; n < 16 && muster_format_name(n); n++) {
    names[n] = muster_format_name(n);
    if (strcmp(names[n], name) == 0)
      return true;
  }
  const char *near = tool_nearest(name, names, n);
  if (near)
    tool_error("--format %s: no such format; did you mean %s?", name, near);
  else
    tool_error("--format %s: no such format; there are text, json, sarif, junit, github, suppressions", name);
  return false;
}

/* Better told now than after an hour of inspection. */
static bool can_be_written(const char *file) {
  struct stat st;
  const char *slash = strrchr(file, '/');
  char *folder = slash ? tool_format("%.*s", (int)(slash - file + 1), file) : tool_format(".");
  const char *why = NULL;
  if (*file == 0)
    why = "no file is named";
  else if (stat(file, &st) == 0 && S_ISDIR(st.st_mode))
    why = "it is a directory";
  else if (stat(file, &st) == 0 && !S_ISREG(st.st_mode)) /* a device or a pipe is written in place */
    why = access(file, W_OK) == 0 ? NULL : strerror(errno);
  else if (access(folder, W_OK) != 0)
    why = strerror(errno);
  if (why)
    tool_error("cannot write %s: %s", file, why);
  free(folder);
  return !why;
}

/* --output FILE belongs to the one --format before it. */
static bool place_outputs(const tool_options *o, outputs *to) {
  for (size_t i = 0; i < o->output.n; i++) {
    output *mine = o->format.n == 0 ? &to->all[0] : NULL; /* the text that nobody had to ask for */
    for (size_t k = 0; k < o->format.n && o->format.words[k] < o->output.words[i]; k++)
      mine = &to->all[k];
    if (!mine || mine->file) {
      tool_error(mine ? "--output %s: that format has a file already"
                      : "--output %s: name the format before it",
                 o->output.items[i]);
      return false;
    }
    mine->file = o->output.items[i];
  }
  return true;
}

static bool read_outputs(const tool_options *o, outputs *to) {
  *to = (outputs){.all = tool_alloc((o->format.n + 2) * sizeof(output))};
  for (size_t i = 0; i < o->format.n; i++) {
    const char *word = o->format.items[i], *colon = strchr(word, ':');
    output *out = &to->all[to->n++];
    out->format = colon ? tool_format("%.*s", (int)(colon - word), word) : tool_format("%s", word);
    out->file = colon ? colon + 1 : NULL;
    if (!is_format(out->format))
      return false;
  }
  if (to->n == 0)
    to->all[to->n++].format = tool_format("text");
  if (!place_outputs(o, to))
    return false;
  if (o->gen_suppressions)
    to->all[to->n++].format = tool_format("suppressions");
  for (size_t i = 0; i < to->n; i++)
    if (to->all[i].file && !can_be_written(to->all[i].file))
      return false;
  return true;
}

static void free_outputs(outputs *to) {
  for (size_t i = 0; i < to->n; i++)
    free(to->all[i].format);
  free(to->all);
}

static bool check_shard(const char *text) {
  const char *slash = strchr(text, '/');
  char first[32];
  uint64_t i, n;
  if (slash && slash - text < 32) {
    snprintf(first, sizeof first, "%.*s", (int)(slash - text), text);
    if (tool_parse_number(first, &i) && tool_parse_number(slash + 1, &n) && i < n)
      return true;
  }
  tool_error("--shard=%s: expected I/N, I from 0 to N - 1", text);
  return false;
}

static bool check_words(const tool_options *o) {
  muster_rule_set rules;
  char *error = NULL;
  if (!muster_rule_set_parse(o->only_rules, &rules, &error)) {
    tool_error("--rules=%s: %s", o->only_rules, error ? error : "out of memory");
    free(error);
    return false;
  }
  if (o->shard && !check_shard(o->shard))
    return false;
  if (o->error_exitcode > 255) {
    tool_error("--error-exitcode=%llu: expected a number from 0 to 255",
               (unsigned long long)o->error_exitcode);
    return false;
  }
  if (o->seed > INT64_MAX) { /* reports are JSON, whose readers know no larger integers */
    tool_error("--seed=%llu: expected a number from 0 to %lld", (unsigned long long)o->seed,
               (long long)INT64_MAX);
    return false;
  }
  return true;
}

/* A replay is of one GPU, and so needs no --gpu. */
static bool take_replay(tool_options *o, muster_replay *r) {
  if (!o->replay)
    return true;
  if (!muster_replay_parse(o->replay, r)) {
    tool_error("--replay=%s: expected what a report names, like h200.3f2a91c4.1.12.0", o->replay);
    return false;
  }
  if (o->gpu && strcmp(o->gpu, "auto") != 0 && strcmp(o->gpu, r->gpu) != 0) {
    tool_error("--replay=%s: that was of --gpu %s, not of %s", o->replay, r->gpu, o->gpu);
    return false;
  }
  o->gpu = r->gpu;
  o->has.gpu = true;
  return true;
}

static bool read_suppressions(const tool_options *o, muster_report *r) {
  if (!o->suppress)
    return true;
  uint8_t *text;
  size_t bytes;
  char *error = NULL;
  if (!tool_read_file(o->suppress, &text, &bytes))
    return false;
  bool good = muster_report_suppress(r, o->suppress, (const char *)text, &error);
  if (!good)
    tool_error("%s", error ? error : "out of memory");
  free(error);
  free(text);
  return good;
}

/* What the report says of the device until a launch says more. */
static bool begin_summary(const tool_options *o, muster_report *r) {
  char *error = NULL;
  char *json = muster_summary_json(&(muster_summary){.gpu = o->gpu ? o->gpu : "auto",
                                                     .seed = o->seed,
                                                     .schedules_asked = o->has.schedules ? o->schedules : 1});
  bool good = json && muster_report_summarise(r, "", json, &error);
  free(json);
  free(error);
  return good;
}

/* ------------------------------------------------------------------ writing */

static bool write_one(const muster_report *r, const output *out, const muster_format_options *how) {
  char *text = NULL;
  size_t bytes = 0;
  FILE *memory = open_memstream(&text, &bytes);
  bool good = memory && muster_report_write(r, out->format, how, memory);
  if (memory)
    good &= fclose(memory) == 0;
  if (!good)
    tool_error("the report cannot be written: out of memory");
  else if (out->file)
    good = tool_write_file(out->file, NULL, 0, text, bytes);
  else
    tool_put(text);
  free(text);
  return good;
}

static int write_report(const muster_report *r, const tool_options *o, const outputs *to) {
  struct winsize size;
  const char *none = getenv("NO_COLOR"), *terminal = getenv("TERM");
  bool tty = isatty(STDERR_FILENO);
  bool colour = tty && !(none && *none) && terminal && strcmp(terminal, "dumb") != 0;
  uint32_t columns = tty && ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
  char *command = o->command == TOOL_CHECK ? tool_options_for_replay(o) : NULL;
  int code = TOOL_OK;
  for (size_t i = 0; i < to->n; i++) {
    bool here = to->all[i].file == NULL;
    muster_format_options how = {
        .colour = here && colour, .columns = here ? columns : 0, .quiet = o->quiet, .command = command};
    if (!write_one(r, &to->all[i], &how))
      code = TOOL_OURS;
  }
  free(command);
  if (!o->quiet)
    for (size_t i = 0; muster_report_unused(r, i); i++)
      tool_error("%s: this suppression matched nothing", muster_report_unused(r, i));
  return code;
}

static int exit_code(const muster_report *r, const tool_options *o) {
  switch (muster_report_verdict(r)) {
  case MUSTER_FINDINGS:
    return o->has.error_exitcode ? (int)o->error_exitcode : 1;
  case MUSTER_INCONCLUSIVE:
    return TOOL_UNJUDGED;
  case MUSTER_FAILED:
    return TOOL_FAILED;
  case MUSTER_CLEAN:
    break;
  }
  return TOOL_OK;
}

/* ------------------------------------------------------------------ the commands */

static int with_report(const tool_options *o, int (*fill)(const tool_options *o)) {
  outputs to;
  muster_report *r = muster_report_new();
  tool_options reported = *o;
  reported.report = r;
  int code = TOOL_USAGE;
  muster_replay replay;
  if (read_outputs(o, &to) && check_words(o) && take_replay(&reported, &replay) && r &&
      read_suppressions(o, r))
    code = fill(&reported);
  if (code == TOOL_OK) {
    signal(SIGPIPE, SIG_IGN); /* nobody may be left to read it: the exit code tells all the same */
    code = write_report(r, o, &to);
    code = code == TOOL_OK ? exit_code(r, o) : code;
  }
  free_outputs(&to);
  muster_report_free(r);
  return code;
}

static int inspect(const tool_options *o) {
  return begin_summary(o, o->report) ? tool_run(o) : TOOL_OURS;
}

int tool_check(const tool_options *o) {
  return with_report(o, inspect);
}

static int unite(const tool_options *o) {
  if (o->n_rest == 0) {
    tool_error("no report to merge; see muster merge --help");
    return TOOL_USAGE;
  }
  for (int i = 0; i < o->n_rest; i++) {
    uint8_t *text;
    size_t bytes;
    char *error = NULL;
    if (!tool_read_file(o->rest[i], &text, &bytes))
      return access(o->rest[i], F_OK) == 0 ? TOOL_CANNOT : TOOL_ABSENT;
    bool good = muster_report_merge(o->report, (const char *)text, bytes, &error);
    if (!good)
      tool_error("%s: %s", o->rest[i], error ? error : "out of memory");
    free(error);
    free(text);
    if (!good)
      return TOOL_CANNOT;
  }
  return TOOL_OK;
}

int tool_merge(const tool_options *o) {
  return with_report(o, unite);
}
