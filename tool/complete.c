/* complete.c: what a shell offers after `muster`, from the same tables as the parser and --help:
 * `complete bash|zsh|fish`. Not installed: the build runs it, and installs what it writes. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "muster/check.h"

enum {
#define COMMAND(id, name, summary) NUMBER_##id,
#include "commands.def"
  COMMANDS
};
enum {
#define COMMAND(id, name, summary) id = 1 << NUMBER_##id,
#include "commands.def"
};
static const struct command {
  const char *name, *summary;
} commands[] = {
#define COMMAND(id, name, summary) {name, summary},
#include "commands.def"
};

typedef enum kind { FLAG, TEXT, CHOICE, COUNT, NUMBER, SECONDS, DIM, LIST } kind;
typedef struct row {
  const char *name, *argument;
  kind kind;
  unsigned commands;
  const char *help;
} row;
static const row options[] = {
#define OPTION(id, name, kind, argument, commands, who, default_text, help) \
  {name, argument, kind, commands, help},
#include "options.def"
};
enum { OPTIONS = sizeof options / sizeof *options };

/* The words that may follow an option, with blanks between; NULL: there is no list of them. */
static const char *words(const row *o) {
  static char all[4096];
  size_t n = 0;
#define ADD(word) n += (size_t)snprintf(all + n, sizeof all - n, "%s%s", n ? " " : "", word)
  if (o->kind == CHOICE) {
    snprintf(all, sizeof all, "%s", o->argument);
    for (char *c = all; (c = strchr(c, '|'));)
      *c = ' ';
    return all;
  }
  if (strcmp(o->name, "format") == 0)
    for (size_t i = 0; muster_format_name(i); i++)
      ADD(muster_format_name(i));
  if (strcmp(o->name, "rules") == 0)
    for (int i = 0; i < MUSTER_RULES; i++)
      ADD(muster_rule_get((muster_rule)i)->id);
  if (strcmp(o->name, "op") == 0) {
#define OPERATION(name, constant, takes, gives, meaning) ADD(#name);
#include "muster/operation.def"
  }
  return n ? all : NULL;
}
/* Its words are what the muster at hand says. */
static bool is_profile(const row *o) {
  return strcmp(o->name, "gpu") == 0;
}
static bool is_file(const row *o) {
  return strstr(o->argument, "FILE") || strstr(o->argument, "PATH");
}

/* ------------------------------------------------------------------ bash */

static void bash(void) {
  printf("# Written by muster_complete from tool/*.def: change those.\n"
         "_muster() {\n"
         "  local words='' word=${COMP_WORDS[COMP_CWORD]} at=$((COMP_CWORD - 1))\n"
         "  if [[ $word == = ]]; then word=''; elif [[ ${COMP_WORDS[at]} == = ]]; then ((at--)); fi\n"
         "  case ${COMP_WORDS[1]}${COMP_WORDS[at]} in\n");
  for (int i = 0; i < COMMANDS; i++)
    for (int k = 0; k < OPTIONS; k++) {
      const row *o = &options[k];
      if (!(o->commands & 1u << i) || o->kind == FLAG)
        continue;
      printf("  %s--%s) ", commands[i].name, o->name);
      if (is_profile(o))
        printf("words=$(muster info --json | sed -n 's/^  {\"name\": \"\\([^\"]*\\)\".*/\\1/p')");
      else
        printf("words='%s'", words(o) ? words(o) : "");
      printf(" ;;\n");
    }
  printf("  *) if [[ $COMP_CWORD == 1 ]]; then words='");
  for (int i = 0; i < COMMANDS; i++)
    printf("%s%s", i ? " " : "", commands[i].name);
  printf("'; elif [[ $word == -* ]]; then case ${COMP_WORDS[1]} in\n");
  for (int i = 0; i < COMMANDS; i++) {
    printf("    %s) words='", commands[i].name);
    for (int k = 0; k < OPTIONS; k++)
      if (options[k].commands & 1u << i)
        printf("--%s ", options[k].name);
    printf("' ;;\n");
  }
  printf("    esac; fi ;;\n  esac\n  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n}\n"
         "complete -o bashdefault -o default -F _muster muster\n");
}

/* ------------------------------------------------------------------ zsh and fish, which show the help too */

/* Text within single quotes, a backslash in front of each character of `special`. */
static void quoted(const char *text, const char *special, const char *quote) {
  for (; *text; text++)
    if (*text == '\'')
      printf("%s", quote);
    else
      printf("%s%c", strchr(special, *text) ? "\\" : "", *text);
}

static void zsh(void) {
  printf("#compdef muster\n"
         "# Written by muster_complete from tool/*.def: change those.\n"
         "_muster_profiles() {\n"
         "  compadd -- $(muster info --json | sed -n 's/^  {\"name\": \"\\([^\"]*\\)\".*/\\1/p')\n"
         "}\n"
         "local -a muster_commands muster_options\n"
         "muster_commands=(\n");
  for (int i = 0; i < COMMANDS; i++) {
    printf("  '%s:", commands[i].name);
    quoted(commands[i].summary, ":\\", "'\\''");
    printf("'\n");
  }
  printf(")\n"
         "if (( CURRENT == 2 )); then\n"
         "  _describe -t commands 'muster command' muster_commands\n"
         "  return\n"
         "fi\n"
         "case $words[2] in\n");
  for (int i = 0; i < COMMANDS; i++) {
    printf("%s) muster_options=(\n", commands[i].name);
    for (int k = 0; k < OPTIONS; k++) {
      const row *o = &options[k];
      if (!(o->commands & 1u << i))
        continue;
      printf("  '%s--%s%s[", o->kind == LIST ? "*" : "", o->name, o->kind == FLAG ? "" : "=");
      quoted(o->help, "[]:\\", "'\\''");
      putchar(']');
      if (o->kind != FLAG) {
        putchar(':');
        quoted(o->argument, ":\\", "'\\''");
        if (words(o))
          printf(":(%s)", words(o));
        else
          printf(":%s", is_profile(o) ? "_muster_profiles" : is_file(o) ? "_files" : " ");
      }
      printf("'\n");
    }
    printf(") ;;\n");
  }
  printf("esac\nshift words\n(( CURRENT-- ))\n_arguments -S $muster_options '*:file:_files'\n");
}

static void fish(void) {
  printf("# Written by muster_complete from tool/*.def: change those.\n"
         "function __muster_command\n"
         "  set -l words (commandline -opc)\n"
         "  test (count $words) -gt 1; and test $words[2] = $argv[1]\n"
         "end\n");
  for (int i = 0; i < COMMANDS; i++) {
    printf("complete -c muster -n 'test (count (commandline -opc)) -eq 1' -f -a %s -d '", commands[i].name);
    quoted(commands[i].summary, "\\", "\\'");
    printf("'\n");
  }
  for (int i = 0; i < COMMANDS; i++)
    for (int k = 0; k < OPTIONS; k++) {
      const row *o = &options[k];
      if (!(o->commands & 1u << i))
        continue;
      printf("complete -c muster -n '__muster_command %s' -l %s", commands[i].name, o->name);
      if (o->kind != FLAG)
        printf(is_file(o) && !words(o) ? " -r -F" : " -x");
      if (is_profile(o))
        printf(" -a '(muster info --json | sed -n \\'s/^  {\"name\": \"\\\\([^\"]*\\\\)\".*/\\\\1/p\\')'");
      else if (o->kind != FLAG && words(o))
        printf(" -a '%s'", words(o));
      printf(" -d '");
      quoted(o->help, "\\", "\\'");
      printf("'\n");
    }
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    void (*write)(void);
  } shells[] = {{"bash", bash}, {"zsh", zsh}, {"fish", fish}};
  for (size_t i = 0; i < sizeof shells / sizeof *shells; i++)
    if (argc == 2 && strcmp(argv[1], shells[i].name) == 0) {
      shells[i].write();
      return fflush(stdout) == 0 ? 0 : 1;
    }
  fprintf(stderr, "usage: complete bash|zsh|fish\n");
  return 2;
}
