/* complete.c: what bash offers after `muster`, from the same tables as the parser and --help. Not installed:
 * the build runs it, and installs what it writes. */
#include <stdio.h>
#include <string.h>

#include "muster/check.h"

static const char *const commands[] = {
#define COMMAND(id, name, summary) name,
#include "commands.def"
};
enum { COMMANDS = sizeof commands / sizeof *commands };
enum {
#define COMMAND(id, name, summary) NUMBER_##id,
#include "commands.def"
};
enum {
#define COMMAND(id, name, summary) id = 1 << NUMBER_##id,
#include "commands.def"
};

typedef enum kind { FLAG, TEXT, CHOICE, COUNT, NUMBER, SECONDS, DIM, LIST } kind;
static const struct {
  const char *name, *argument;
  kind kind;
  unsigned commands;
} options[] = {
#define OPTION(id, name, kind, argument, commands, who, default_text, help) {name, argument, kind, commands},
#include "options.def"
};
enum { OPTIONS = sizeof options / sizeof *options };

/* CASE) offer WORDS: what may follow an option. */
static void values(void) {
  for (int i = 0; i < OPTIONS; i++)
    if (options[i].kind == CHOICE) {
      printf("  --%s) words='", options[i].name);
      for (const char *c = options[i].argument; *c; c++)
        putchar(*c == '|' ? ' ' : *c);
      printf("' ;;\n");
    }
  printf("  --format) words='");
  for (size_t i = 0; muster_format_name(i); i++)
    printf("%s ", muster_format_name(i));
  printf("' ;;\n  --rules) words='");
  for (int i = 0; i < MUSTER_RULES; i++)
    printf("%s ", muster_rule_get((muster_rule)i)->id);
  printf(
      "' ;;\n  --gpu) words=$(muster info --json | sed -n 's/^  {\"name\": \"\\([^\"]*\\)\".*/\\1/p') ;;\n");
}

int main(void) {
  printf("# Written by muster_complete from tool/*.def: change those.\n_muster() {\n"
         "  local words='' word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
         "  case $before in\n");
  values();
  printf("  muster) words='");
  for (int i = 0; i < COMMANDS; i++)
    printf("%s ", commands[i]);
  printf("' ;;\n  *) if [[ $word == -* ]]; then case ${COMP_WORDS[1]} in\n");
  for (int i = 0; i < COMMANDS; i++) {
    printf("    %s) words='", commands[i]);
    for (int k = 0; k < OPTIONS; k++)
      if (options[k].commands & 1u << i)
        printf("--%s ", options[k].name);
    printf("' ;;\n");
  }
  printf("    esac; fi ;;\n  esac\n  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n}\n"
         "complete -o bashdefault -o default -F _muster muster\n");
  return fflush(stdout) == 0 ? 0 : 1;
}
