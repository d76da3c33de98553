/* run.c: muster run. Decides what FILE is; the rest is done elsewhere.
 *
 * A kernel runs in a child of its own too: a crash, a proven hang and the time limit are then handled as
 * those of a program are, and the parent still decides the exit code.
 */
#include "tool.h"

#include "muster/check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int tool_with_module(const tool_options *o, int (*then)(const tool_options *o)) {
  tool_options inner = *o;
  char *made = NULL, *one[2] = {NULL, NULL};
  if (o->n_rest != 1) {
    tool_error(o->n_rest == 0 ? "no FILE with the kernel"
                              : "one FILE with the kernel, and nothing behind it");
    return TOOL_USAGE;
  }
  if (access(o->rest[0], R_OK) != 0) {
    int why = errno;
    tool_error("%s: %s", o->rest[0], why == ENOENT ? "not found" : strerror(why));
    return why == ENOENT ? TOOL_ABSENT : TOOL_CANNOT;
  }
  if (tool_has_suffix(o->rest[0], ".cu") || tool_has_suffix(o->rest[0], ".c")) {
    int code = tool_compile(o->rest[0], TOOL_MODULE, o, &made);
    if (code != TOOL_OK)
      return code;
    one[0] = made;
    inner.rest = one;
    inner.shown = o->rest[0];
  }
  int code = then(&inner);
  tool_compile_clean(made);
  return code;
}

static int kernel_in_child(const tool_options *o) {
  const char *file = o->shown ? o->shown : o->rest[0], *slash = strrchr(file, '/');
  if (o->report && tool_has_suffix(file, ".ptx"))
    muster_report_ptx(o->report, file);
  tool_child child = {
      .function = tool_kernel, .watched = true, .seconds = o->time_limit, .name = slash ? slash + 1 : file};
  return tool_parent_run(&child, o);
}

static int run_kernel(const tool_options *o) {
  if (!o->has.grid || !o->has.block) {
    tool_error("--kernel needs --%s X[,Y[,Z]]", o->has.grid ? "block" : "grid");
    return TOOL_USAGE;
  }
  int code = tool_kernel_check(o);
  return code == TOOL_OK ? tool_with_module(o, kernel_in_child) : code;
}

int tool_run(const tool_options *o) {
  if ((o->gpu && !tool_profile_check(o->gpu)) || !tool_select_begin(o))
    return TOOL_USAGE;
  if (o->command == TOOL_RUN && !o->stats && (o->kernel_regex || o->has.launch_skip || o->has.launch_count)) {
    tool_error("--%s chooses launches for --stats, which is not given", o->kernel_regex ? "kernel-regex"
                                                                        : o->has.launch_skip
                                                                            ? "launch-skip"
                                                                            : "launch-count");
    return TOOL_USAGE;
  }
  if (o->kernel)
    return run_kernel(o);
  if (o->n_rest == 0) {
    tool_error("no program to %s; see muster %s --help", tool_command_name(o->command),
               tool_command_name(o->command));
    return TOOL_USAGE;
  }
  const char *name = o->rest[0];
  if (tool_has_suffix(name, ".ptx") || tool_has_suffix(name, ".fatbin") || tool_has_suffix(name, ".c")) {
    tool_error("%s is no program: name one of its kernels with --kernel", name);
    return TOOL_USAGE;
  }
  char *made = NULL, *path = NULL;
  bool source = tool_has_suffix(name, ".cu");
  int code = source ? tool_compile(name, TOOL_EXECUTABLE, o, &made) : tool_program_find(name, &path);
  if (code == TOOL_OK) {
    tool_child child = {
        .argv = o->rest, .path = source ? made : path, .watched = true, .seconds = o->time_limit};
    code = tool_parent_run(&child, o);
  }
  tool_compile_clean(made);
  free(path);
  return code;
}
