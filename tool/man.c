/* man.c: the man page, from the same tables as the parser and --help. Not installed: ./dev docs runs it, and
 * lint compares what it writes with doc/muster.1. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

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

static void synopsis(void) {
  heading("SYNOPSIS");
  static const struct {
    const char *command, *words;
  } rows[] = {
#define USAGE(id, words, what) {#id, words},
#include "commands.def"
  };
  static const struct {
    const char *id, *name;
  } names[] = {
#define COMMAND(id, name, summary) {#id, name},
#include "commands.def"
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
      if (strcmp(rows[i].command, names[k].id) == 0) {
        printf("%s.B muster %s\n", i ? ".br\n" : "", names[k].name);
        roff(rows[i].words);
        printf("\n");
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

static void options(void) {
  heading("OPTIONS");
  paragraph(
      "Everything before the first word that is no option belongs to muster; after PROGRAM everything is the "
      "program's. Each option can be written --name VALUE or --name=VALUE.");
#define SECTION(title) printf(".SS %s\n", title);
#define OPTION(id, name, kind, argument, commands, who, default_text, help) \
  option(name, argument, default_text, help);
#include "options.def"
}

int main(void) {
  printf(".\\\" Written by muster_man from tool/*.def: change those.\n.TH MUSTER 1\n");
  heading("NAME");
  printf("muster \\- runs and inspects CUDA programs on a CPU device\n");
  synopsis();
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
  options();
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
  heading("OPERATIONS");
  paragraph(
      "muster reduce, dot, scan and histogram compute on arrays in files: .npy files in C order, or raw "
      "little-endian elements of --type. What --op of reduce can be:");
#define OPERATION(name, constant, takes, gives, meaning) item(#name, meaning);
#include "muster/operation.def"
  paragraph(
      "Sums and products of integers are kept in 64 bits and wrap, of half precision in f32; and and or "
      "are of integers, norm is of floats. dot gives the type that sum gives; scan keeps the array's type "
      "and shape; histogram counts in u64, and its text leaves out what never occurs.");
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
  item("MUSTER_DEVICE", "gpu, gpu:N, cpu, cpu:PROFILE or auto: where --kernel, reduce, dot, scan, histogram "
                        "and programs of libmuster run; muster's own "
                        "default is cpu");
  item(
      "MUSTER_OPTIONS",
      "run or check, then the options of the device, for programs that others start with muster's libraries; "
      "muster sets it for its own child");
  item("NO_COLOR", "if set, no colour in reports; there is none either where standard error is no terminal");
  item("PATH, CUDA_PATH, CUDA_HOME", "where nvcc and clang are looked for");
  item("TMPDIR", "where programs and kernels are compiled to; removed afterwards");
  return fflush(stdout) == 0 ? 0 : 1;
}
