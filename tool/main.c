/* main.c: the command's name, and who does it. Exit codes are a contract: see tool.h and the man page. */
#include "tool.h"

#include <stdio.h>
#include <string.h>

static int dispatch(tool_command command, const tool_options *o) {
  switch (command) {
  case TOOL_RUN:
    return tool_run(o);
  case TOOL_CHECK:
    return tool_check(o);
  case TOOL_MERGE:
    return tool_merge(o);
  case TOOL_INFO:
    return tool_info(o);
  case TOOL_PLAN:
    return tool_plan(o);
  case TOOL_REDUCE:
  case TOOL_DOT:
  case TOOL_SCAN:
  case TOOL_HISTOGRAM:
    return tool_operate(o);
  case TOOL_BENCH:
    return tool_bench(o);
  case TOOL_NO_COMMAND:
    break;
  }
  return TOOL_USAGE;
}

int main(int argc, char **argv) {
  const char *name = argc > 1 ? argv[1] : NULL;
  if (!name) {
    tool_error("no command; muster --help lists them");
    return TOOL_USAGE;
  }
  if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
    tool_help();
    return fflush(stdout) == 0 ? TOOL_OK : TOOL_OURS;
  }
  if (strcmp(name, "--version") == 0) {
    puts("muster " MUSTER_VERSION);
    return fflush(stdout) == 0 ? TOOL_OK : TOOL_OURS;
  }
  tool_command command = tool_command_find(name);
  if (command == TOOL_NO_COMMAND) {
    const char *near = tool_command_nearest(name);
    if (near)
      tool_error("unknown command %s; did you mean muster %s?", name, near);
    else
      tool_error("unknown command %s; muster --help lists them", name);
    return TOOL_USAGE;
  }
  tool_options options;
  int code = tool_options_parse(command, argc - 2, argv + 2, &options);
  if (code == TOOL_OK && options.help) {
    tool_help_command(command);
    code = fflush(stdout) == 0 ? TOOL_OK : TOOL_OURS;
  } else if (code == TOOL_OK) {
    code = dispatch(command, &options);
  }
  tool_options_free(&options);
  return code;
}
