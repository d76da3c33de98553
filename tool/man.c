/* man.c: the man pages, from the same tables as the parser and --help: without an argument that of the whole
 * command (./dev docs runs it, and lint compares what it writes with doc/muster.1), with a folder a page for
 * each of its commands, FOLDER/muster-NAME.1. Not installed itself. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum {
#define COMMAND(id, name, summary) NUMBER_##id,
#include "commands.def"
  COMMANDS
};
enum {
#define COMMAND(id, name, summary) id = 1 << NUMBER_##id,
#include "commands.def"
  ALL = (1 << COMMANDS) - 1
};
static const char *const names[] = {
#define COMMAND(id, name, summary) name,
#include "commands.def"
};
static const char *const summaries[] = {
#define COMMAND(id, name, summary) summary,
#include "commands.def"
};
static const struct usage {
  int command;
  const char *words, *what;
} usages[] = {
#define USAGE(id, words, what) {NUMBER_##id, words, what},
#include "commands.def"
};
enum { USAGES = sizeof usages / sizeof *usages };

/* Text for roff: a backslash, a hyphen and a leading dot or quote would mean something there. */
static void roff(const char *text) {
  if (*text == '.' || *text == '\'')
    printf("\\&");
  for (; *text; text++)
    if (*text == '\\')
      printf("\\e");
    else if (*text == '-')
      printf("\\-");
    else
      putchar(*text);
}

static void heading(const char *text) {
  printf(".SH %s\n", text);
}

static void item(const char *what, const char *text) {
  printf(".TP\n.B ");
  roff(what);
  printf("\n");
  roff(text);
  printf("\n");
}

static void paragraph(const char *text) {
  printf(".PP\n");
  roff(text);
  printf("\n");
}

/* The forms of the commands in the mask. */
static void synopsis(unsigned mask) {
  heading("SYNOPSIS");
  bool first = true;
  for (int i = 0; i < USAGES; i++)
    if (mask & 1u << usages[i].command) {
      printf("%s.B muster %s\n", first ? "" : ".br\n", names[usages[i].command]);
      roff(usages[i].words);
      printf("\n");
      first = false;
    }
}

static void option(const char *name, const char *argument, const char *default_text, const char *help) {
  printf(".TP\n.B ");
  char whole[64];
  snprintf(whole, sizeof whole, "--%s%s%s", name, argument ? " " : "", argument ? argument : "");
  roff(whole);
  printf("\n");
  roff(help);
  if (default_text) {
    printf(" (default: ");
    roff(default_text);
    printf(")");
  }
  printf("\n");
}

/* Those of the commands in the mask, each below its section's title. */
static void options(unsigned mask) {
  static const struct row {
    const char *section; /* or an option: */
    const char *name, *argument;
    unsigned commands;
    const char *default_text, *help;
  } rows[] = {
#define SECTION(title) {.section = title},
#define OPTION(id, name, kind, argument, commands, who, default_text, help) \
  {NULL, name, argument, commands, default_text, help},
#include "options.def"
  };
  const char *section = NULL; /* printed with the first of its options */
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    if (rows[i].section)
      section = rows[i].section;
    if (!(rows[i].commands & mask))
      continue;
    if (section)
      printf(".SS %s\n", section);
    section = NULL;
    option(rows[i].name, rows[i].argument, rows[i].default_text, rows[i].help);
  }
}

static void arguments(void) {
  heading("ARGUMENTS");
  paragraph("--arg gives the kernel's parameters in their order. TYPE is one of s8 s16 s32 s64 u8 u16 u32 "
            "u64 f16 bf16 "
            "f32 f64; i32 is s32 and b32 is u32, likewise for the other widths. A size that differs from the "
            "parameter's is an error.");
#define SPEC(form, what) item(form, what);
#include "specs.def"
  paragraph("--out writes a buffer after the last launch, and nothing if a launch failed. Where PATH ends "
            "with .npy the "
            "type and shape are kept; numpy has no bfloat16 and sees two opaque bytes.");
}

static void measurements(void) {
#define WHAT(name, function, meaning) item(#name, meaning);
#include "bench/what.def"
}

static void operations(void) {
#define OPERATION(name, constant, takes, gives, meaning) item(#name, meaning);
#include "muster/operation.def"
}

/* The pages of all commands but that one. */
static void others(int command) {
  for (int i = 0; i < COMMANDS; i++)
    if (i != command)
      printf(".BR muster\\-%s (1),\n", names[i]);
}

static void whole(void) {
  printf(".\\\" Written by muster_man from tool/*.def: change those.\n.TH MUSTER 1\n");
  heading("NAME");
  printf("muster \\- runs and inspects CUDA programs on a CPU device\n");
  synopsis(ALL);
  heading("DESCRIPTION");
  paragraph("muster run starts an unmodified CUDA program, or a single kernel, on a device that models a GPU "
            "on the CPU. "
            "The program needs no GPU, no driver and no other build: programs of nvcc run as they are, with "
            "the static "
            "or the shared CUDA runtime. What the device does not model is refused by name.");
  paragraph("muster check runs it in the same way and watches: races under the PTX memory consistency model, "
            "missing "
            "fences, barriers and warp masks, hangs, accesses outside of memory, values that nobody wrote. "
            "It names both "
            "places, both threads and the edge that is missing. The rules are in doc/rules.md (muster info "
            "--rules), the "
            "report's formats in doc/report.md.");
  paragraph(
      "muster stays the parent of the program. Its own text goes to standard error, each line beginning with "
      "muster:, and the program's streams stay as they are. Fully static and setuid programs cannot be "
      "reached and "
      "are refused.");
#define COMMAND(id, name, summary) item("muster " name, summary);
#include "commands.def"
  heading("OPTIONS");
  paragraph(
      "Everything before the first word that is no option belongs to muster; after PROGRAM everything is the "
      "program's. Each option can be written --name VALUE or --name=VALUE.");
  options(ALL);
  arguments();
  heading("OPERATIONS");
  paragraph(
      "muster reduce, dot, scan and histogram compute on arrays in files: .npy files in C order, or raw "
      "little-endian elements of --type. What --op of reduce can be, and sum, min and max of scan:");
  operations();
  paragraph(
      "Sums and products of integers are kept in 64 bits and wrap, of half precision in f32; and and or "
      "are of integers, norm is of floats. dot gives the type that sum gives; scan keeps the array's type "
      "and shape; histogram counts in u64, and its text leaves out what never occurs.");
  heading("MEASUREMENTS");
  paragraph("muster bench WHAT... measures these; without WHAT all. doc/bench.md says how.");
  measurements();
  heading("EXIT STATUS");
  paragraph("Of muster run that of the program, and:");
  item("124", "the time limit is over, or the program can be proven to hang");
  item("125", "muster itself failed, or something that is not modelled was refused and the program would "
              "have ended with 0");
  item("126", "the program is there and cannot be run, or the kernel's file cannot be loaded");
  item("127", "the program or the file is not there");
  item("128+N", "the program ended by signal N");
  item("2", "a usage error: nothing was started");
  paragraph("With --kernel: 0, or 1 if a launch failed; 2 if the kernel is not in the file or the arguments "
            "do not fit it.");
  paragraph(
      "Of muster reduce, dot, scan and histogram: 0, 1 if a launch failed, 2 if a file or an option is not "
      "right, 125 if muster itself failed. Where it is not 0 nothing has been written.");
  paragraph(
      "Of muster bench: 0, 1 if a launch failed or did wrong, 2 if a file or an option is not right, 3 if "
      "something took longer than --time-limit, 125 if muster itself failed, 128+N if signal N ended it; "
      "whatever it is, the figures that there are have been written. Of muster bench --compare: 0, 1 if "
      "something became slower, 2 if a file is not "
      "right, 3 if the two runs have no figure in common.");
  paragraph("Of muster check and muster merge the first that applies, with the report's verdict:");
  item("2", "a usage error: nothing was started");
  item("125", "muster itself failed");
  item("126, 127", "the program, the kernel's file or the report cannot be run or read, or is not there");
  item("1 (findings)", "there is an error or a warning; --error-exitcode changes the code");
  item("3 (inconclusive)", "something could not be judged, or nothing was launched");
  item("4 (failed)", "the program did not end with 0; its own exit code is in the report");
  item("0 (clean)", "none of these; notes change nothing");
  heading("SUPPRESSIONS");
  paragraph(
      "--suppress FILE reads a line for each known finding; --format suppressions:FILE writes such lines:");
  paragraph("RULE [kernel=PATTERN] [process=PATTERN] [at=PATTERN] [at=PATTERN]   # why");
  paragraph("RULE is an id or a pattern of ids; patterns are a shell's; at is FILE, FILE:LINE or a function. "
            "All that is "
            "written must match, each at another access. What matches nothing is told.");
  heading("ENVIRONMENT");
  item("MUSTER_DEVICE",
       "gpu, gpu:N, cpu, cpu:PROFILE or auto: where --kernel, reduce, dot, scan, histogram, bench "
       "and programs of libmuster run; muster's own "
       "default is cpu, of bench auto");
  item(
      "MUSTER_OPTIONS",
      "run or check, then the options of the device, for programs that others start with muster's libraries; "
      "muster sets it for its own child");
  item("NO_COLOR", "if set, no colour in reports; there is none either where standard error is no terminal");
  item("PATH, CUDA_PATH, CUDA_HOME", "where nvcc and clang are looked for");
  item("TMPDIR", "where programs and kernels are compiled to; removed afterwards");
  heading("SEE ALSO");
  others(-1);
  printf(".BR libmuster (3),\n.BR muster_barrier (3)\n");
}

static void one(int command) {
  unsigned mask = 1u << command;
  printf(".\\\" Written by muster_man from tool/*.def: change those.\n.TH MUSTER\\-%s 1\n", names[command]);
  heading("NAME");
  printf("muster\\-%s \\- ", names[command]);
  roff(summaries[command]);
  printf("\n");
  synopsis(mask);
  heading("DESCRIPTION");
  for (int i = 0; i < USAGES; i++)
    if (usages[i].command == command)
      item(usages[i].words, usages[i].what);
  heading("OPTIONS");
  options(mask);
  if (mask & (RUN | CHECK))
    arguments();
  if (mask & (REDUCE | SCAN)) {
    heading("OPERATIONS");
    operations();
  }
  if (mask & BENCH) {
    heading("MEASUREMENTS");
    measurements();
  }
  heading("SEE ALSO");
  others(command);
  printf(".BR muster (1)\n");
  printf(".PP\nExit codes, the environment and what the commands have in common are in\n.BR muster (1).\n");
}

int main(int argc, char **argv) {
  if (argc == 1) {
    whole();
    return fflush(stdout) == 0 ? 0 : 1;
  }
  for (int i = 0; i < COMMANDS; i++) {
    char path[4096];
    snprintf(path, sizeof path, "%s/muster-%s.1", argv[1], names[i]);
    if (!freopen(path, "w", stdout))
      return perror(path), 1;
    one(i);
    if (fflush(stdout) != 0)
      return perror(path), 1;
  }
  return 0;
}
