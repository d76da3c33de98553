/* help.c: --help, from the tables. Text only; nothing here decides anything. */
#include "tool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {
    NULL,
#define COMMAND(id, name, summary) name,
#include "commands.def"
};
enum { NAMES = sizeof names / sizeof *names };

tool_command tool_command_find(const char *name) {
  for (unsigned i = 1; i < NAMES; i++)
    if (strcmp(names[i], name) == 0)
      return (tool_command)i;
  return TOOL_NO_COMMAND;
}

const char *tool_command_name(tool_command command) {
  return names[command];
}

const char *tool_command_nearest(const char *name) {
  return tool_nearest(name, names + 1, NAMES - 1);
}

/* Text in lines of at most 100 columns, each behind `indent` blanks; the first line's are there already. */
static void wrapped(const char *text, int indent) {
  int column = indent;
  while (*text) {
    int n = (int)strcspn(text, " ");
    if (column > indent && column + 1 + n > 100) {
      printf("\n%*s", indent, "");
      column = indent;
    } else if (column > indent) {
      putchar(' ');
      column++;
    }
    printf("%.*s", n, text);
    column += n;
    text += n + (text[n] == ' ');
  }
  putchar('\n');
}

static void usages(tool_command command) {
  static const struct {
    tool_command command;
    const char *words, *what;
  } rows[] = {
#define USAGE(id, words, what) {TOOL_##id, words, what},
#include "commands.def"
  };
  for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++)
    if (rows[i].command == command) {
      printf("  muster %s %s\n      ", names[command], rows[i].words);
      wrapped(rows[i].what, 6);
    }
}

void tool_help(void) {
  printf("muster: runs and inspects CUDA programs on a CPU device\n\n");
#define COMMAND(id, name, summary) printf("  muster %-9s %s\n", name, summary);
#include "commands.def"
  printf("\nmuster COMMAND --help prints a command's options; man muster says the rest.\n");
}

/* "  LEFT      text", the text wrapped behind a column of its own. */
static void entry(const char *left, const char *text, const char *default_text) {
  printf("  %-24s ", left);
  char *whole = default_text ? tool_format("%s (default: %s)", text, default_text) : tool_format("%s", text);
  wrapped(whole, 27);
  free(whole);
}

static void options(tool_command command) {
  enum {
#define COMMAND(id, name, summary) id = 1 << TOOL_##id,
#include "commands.def"
  };
  static const struct {
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
  const char *section = NULL; /* printed with the first of its options that the command has */
  for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
    if (rows[i].section)
      section = rows[i].section;
    if (!(rows[i].commands & 1u << command))
      continue;
    if (section)
      printf("\n%s:\n", section);
    section = NULL;
    const char *argument = rows[i].argument;
    char *left = tool_format("--%s%s%s", rows[i].name, argument ? " " : "", argument ? argument : "");
    entry(left, rows[i].help, rows[i].default_text);
    free(left);
  }
}

void tool_help_command(tool_command command) {
  usages(command);
  options(command);
  if (command == TOOL_REDUCE || command == TOOL_SCAN) {
    printf("\nOperations:\n");
#define OPERATION(name, constant, takes, gives, meaning) entry(#name, meaning, NULL);
#include "muster/operation.def"
  }
  if (command == TOOL_BENCH) {
    printf("\nWHAT:\n");
#define WHAT(name, function, meaning) entry(#name, meaning, NULL);
#include "bench/what.def"
  }
  if (command == TOOL_RUN || command == TOOL_CHECK) {
    printf("\n--arg SPEC, in the order of the kernel's parameters:\n");
#define SPEC(form, what) entry(form, what, NULL);
#include "specs.def"
    printf("  TYPE is s8 s16 s32 s64 u8 u16 u32 u64 f16 bf16 f32 f64, or b8 b16 b32 b64; i32 is s32.\n");
  }
}
