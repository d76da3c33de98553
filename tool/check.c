/* check.c: muster check and muster merge: the program runs as under muster run; what the inspection says
 * becomes one report, written here, and decides the exit code. */
#include "tool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "muster/check.h"

enum { TOOL_UNJUDGED = 3, TOOL_FAILED = 4 };

static int write_report(const muster_report *r, const tool_options *o) {
  muster_format_options how = {.quiet = o->quiet};
  if (o->format.n == 0)
    return muster_report_write(r, "text", &how, stderr) ? TOOL_OK : TOOL_OURS;
  for (size_t i = 0; i < o->format.n; i++) {
    const char *word = o->format.items[i], *colon = strchr(word, ':');
    char *format = colon ? tool_format("%.*s", (int)(colon - word), word) : tool_format("%s", word);
    FILE *to = colon ? fopen(colon + 1, "w") : stderr;
    bool good = to && muster_report_write(r, format, &how, to);
    if (colon && to)
      good &= fclose(to) == 0;
    free(format);
    if (!good)
      return TOOL_OURS;
  }
  return TOOL_OK;
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

int tool_check(const tool_options *o) {
  muster_report *r = muster_report_new();
  if (!r)
    return TOOL_OURS;
  int code = tool_run_reported(o, r);
  muster_report_program(r, o->rest, code);
  int wrote = write_report(r, o);
  int end = code == TOOL_USAGE || code == TOOL_OURS ? code : wrote != TOOL_OK ? wrote : exit_code(r, o);
  muster_report_free(r);
  return end;
}

int tool_merge(const tool_options *o) {
  (void)o;
  return TOOL_OURS;
}
