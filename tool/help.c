/* help.c: --help, from the tables. Text only; nothing here decides anything. */
#include "tool.h"

#include <stdio.h>
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

bool tool_command_is_later(const char *name) {
  static const char *const later[] = {
#define LATER(name) name,
#include "commands.def"
  };
  for (unsigned i = 0; i < sizeof later / sizeof *later; i++)
    if (strcmp(later[i], name) == 0)
      return true;
  return false;
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
#define COMMAND(id, name, summary) printf("  muster %-6s %s\n", name, summary);
#include "commands.def"
  printf("\nmuster COMMAND --help prints a command's options; man muster says the rest.\n");
}

void tool_help_command(tool_command command) {
  enum { RUN = 1 << TOOL_RUN, INFO = 1 << TOOL_INFO, PLAN = 1 << TOOL_PLAN };
  usages(command);
  const char *pending = NULL;
  char left[64];
#define SECTION(title) pending = title;
#define OPTION(id, name, kind, argument, commands, who, default_text, help)              \
  if ((commands) & 1 << command) {                                                       \
    if (pending)                                                                         \
      printf("\n%s:\n", pending);                                                        \
    pending = NULL;                                                                      \
    const char *a = argument, *d = default_text;                                         \
    snprintf(left, sizeof left, "--%s%s%s", name, a ? " " : "", a ? a : "");             \
    printf("  %-24s ", left);                                                            \
    char *text = d ? tool_format("%s (default: %s)", help, d) : tool_format("%s", help); \
    wrapped(text, 27);                                                                   \
  }
#include "options.def"
  if (command == TOOL_RUN) {
    printf("\n--arg SPEC, in the order of the kernel's parameters:\n");
#define SPEC(form, what)    \
  printf("  %-24s ", form); \
  wrapped(what, 27);
#include "specs.def"
    printf("  TYPE is s8 s16 s32 s64 u8 u16 u32 u64 f16 bf16 f32 f64, or b8 b16 b32 b64; i32 is s32.\n");
  }
}
