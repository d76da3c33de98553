/* tool.h: what the files of the muster command share.
 *
 * Every function that can fail says why itself, in one line on standard error (tool_error), and returns an
 * exit code or false; whoever calls it only passes that on.
 */
#ifndef MUSTER_TOOL_H
#define MUSTER_TOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Exit codes: a contract (see the man page). */
enum {
  TOOL_OK = 0,
  TOOL_LAUNCH_FAILED = 1,
  TOOL_SLOWER = 1, /* muster bench --compare: something became slower */
  TOOL_USAGE = 2,
  TOOL_UNJUDGED = 3, /* something could not be judged, or not be measured in time */
  TOOL_FAILED = 4,   /* muster check: the program failed */
  TOOL_LIMIT = 124,  /* the time limit, or a proven hang */
  TOOL_OURS = 125,   /* muster itself failed, or refused what is not modelled */
  TOOL_CANNOT = 126, /* the program is there and cannot be run */
  TOOL_ABSENT = 127
};

/* ------------------------------------------------------------------ say.c */
void tool_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void tool_put(const char *text);   /* on standard error, as it is */
void tool_print(const char *text); /* "muster: TEXT", every line of it, on standard error */
/* From now on in this process: messages go to the parent, so that they keep their order with the device's. */
void tool_print_to_parent(int session);
void *tool_alloc(size_t bytes); /* zeroed; ends muster with 125 where memory has run out */
char *tool_format(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Reads a whole file; false, having said why, if it cannot. The bytes carry a NUL behind their end. */
bool tool_read_file(const char *path, uint8_t **bytes, size_t *size);
/* Writes head and body to a temporary neighbour of `path`, then renames it: never half a file. */
bool tool_write_file(const char *path, const void *head, size_t head_bytes, const void *body,
                     size_t body_bytes);
/* The candidate nearest to `word` if it is near enough to be a slip, else NULL. */
const char *tool_nearest(const char *word, const char *const *candidates, size_t n);

/* ------------------------------------------------------------------ progress.c */
/* On a terminal: what the command is doing from now on, as a line once it takes a second; NULL: nothing any
 * more. By one thread. */
void tool_progress(const char *what);

/* ------------------------------------------------------------------ options.c */
typedef enum tool_command {
  TOOL_NO_COMMAND,
#define COMMAND(id, name, summary) TOOL_##id,
#include "commands.def"
} tool_command;

typedef struct tool_dim {
  uint32_t x, y, z;
} tool_dim;

typedef struct tool_list {
  const char **items;
  int *words; /* where each stood on the command line */
  size_t n;
} tool_list;

/* What was given on the command line: one member an option, and has.ID says whether it was given. */
typedef struct tool_options {
  tool_command command;
#define TOOL_TYPE_FLAG bool
#define TOOL_TYPE_TEXT const char *
#define TOOL_TYPE_CHOICE const char *
#define TOOL_TYPE_COUNT uint64_t
#define TOOL_TYPE_NUMBER uint64_t
#define TOOL_TYPE_SECONDS double
#define TOOL_TYPE_LIST tool_list
#define TOOL_TYPE_DIM tool_dim
#define OPTION(id, name, kind, argument, commands, who, default_text, help) TOOL_TYPE_##kind id;
#include "options.def"
  struct {
#define OPTION(id, name, kind, argument, commands, who, default_text, help) bool id;
#include "options.def"
  } has;
  char **rest; /* what follows the options: PROGRAM ARGS... or FILE; ends with NULL */
  int n_rest;
  const char *shown; /* FILE as it was written, where `rest` names what was made of it; else NULL */
  struct muster_report *report; /* what the inspection says goes there; NULL: muster run */
} tool_options;

/* Parses the words behind the command's name. TOOL_OK, or TOOL_USAGE having said why. */
int tool_options_parse(tool_command command, int argc, char **argv, tool_options *out);
void tool_options_free(tool_options *o); /* also after a parse that failed */
/* The options of the device as MUSTER_OPTIONS holds them: "run --gpu=h200 --seed=3". */
char *tool_options_for_device(const tool_options *o);
/* The options that decide what a run does, as a shell takes them: "muster check --gpu h200". */
char *tool_options_for_replay(const tool_options *o);
/* Reads X[,Y[,Z]]; false if it is none. Says nothing. */
bool tool_parse_dim(const char *text, tool_dim *out);
bool tool_parse_number(const char *text, uint64_t *out);

/* ------------------------------------------------------------------ help.c */
tool_command tool_command_find(const char *name);
const char *tool_command_name(tool_command command);
const char *tool_command_nearest(const char *name);
void tool_help(void); /* on standard output */
void tool_help_command(tool_command command);

/* ------------------------------------------------------------------ program.c: what can be run */
/* Finds PROGRAM as a shell would; TOOL_OK with its path, or 126/127 having said why: absent, not executable,
 * setuid, fully static, made for another machine, no ELF file and no script. */
int tool_program_find(const char *name, char **path);

/* ------------------------------------------------------------------ parent.c: the parent of the program */
typedef struct tool_child {
  char **argv;      /* with `path`: a program to execute ... */
  const char *path; /* ... found there */
  int (*function)(
      const tool_options *o); /* or: a function to run in the child; its result is the exit code */
  bool watched;               /* gets a session, the stand-in libraries and MUSTER_OPTIONS */
  double seconds;             /* time limit; 0: none */
  const char *name;           /* of a function's process, in findings; NULL: muster */
} tool_child;
/* Runs the child to its end and returns the exit code that follows (the contract of `muster run`). With
 * o->report, all that the inspection says goes there, and so does the program's own end: the exit code is
 * then TOOL_OK, or one of muster's own (2, 125, 126, 127) if there is nothing to report. */
int tool_parent_run(const tool_child *c, const tool_options *o);

/* ------------------------------------------------------------------ select.c: which launches count */
/* Reads --kernel-regex; false, having said why, if it is no regular expression. */
bool tool_select_begin(const tool_options *o);
/* Whether the next launch, of the kernel whose name `text` begins with, is among those asked for. */
bool tool_select_launch(const tool_options *o, const char *text);

/* ------------------------------------------------------------------ compile.c: FILE.cu, FILE.c */
typedef enum tool_artifact { TOOL_EXECUTABLE, TOOL_MODULE } tool_artifact;
/* Compiles `file` into a new temporary folder; `*made` is the path. Remove with tool_compile_clean. */
int tool_compile(const char *file, tool_artifact what, const tool_options *o, char **made);
void tool_compile_clean(char *made); /* NULL is fine */
bool tool_has_suffix(const char *file, const char *suffix);
/* Folder of the muster binary, without a slash at the end; NULL if /proc does not tell. */
const char *tool_folder(void);

/* ------------------------------------------------------------------ the commands */
int tool_run(const tool_options *o);
int tool_check(const tool_options *o);
int tool_merge(const tool_options *o);
int tool_info(const tool_options *o);
int tool_plan(const tool_options *o);
int tool_operate(const tool_options *o); /* reduce, dot, scan, histogram */
int tool_bench(const tool_options *o);

/* ------------------------------------------------------------------ kernel.c, info.c: what the commands
 * share */
struct muster_device;
struct muster_kernel;
/* Reads and checks every --arg and --out; TOOL_OK or TOOL_USAGE. Then tool_kernel, in a child, does the rest.
 */
int tool_kernel_check(const tool_options *o);
int tool_kernel(const tool_options *o);
/* The device that --gpu or MUSTER_DEVICE names (without both the CPU device), and the kernel --kernel of FILE
 * on it. The device may be open even where the kernel was not found: muster_close takes it all. */
int tool_kernel_open(const tool_options *o, struct muster_device **device, struct muster_kernel **kernel);
/* The device that they name, as muster_open takes it; free() it. NULL, having said why: they contradict. */
char *tool_device_choice(const tool_options *o);
/* Compiles FILE where it is a .cu or .c, then calls `then` with options that name what can be loaded. */
int tool_with_module(const tool_options *o, int (*then)(const tool_options *o));
bool tool_profile_check(const char *name);  /* for --gpu; false, having said why, if there is none */
unsigned tool_profile_sm(const char *name); /* 90 for h200; 0: auto or none */

#endif
