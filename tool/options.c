/* options.c: words of the command line to tool_options, by the rows of options.def.
 *
 * Everything before the first word that is no option belongs to muster; from there on everything belongs to
 * the program. An error is one line, and the command ends with 2 before anything was started.
 */
#include "tool.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum kind { FLAG, TEXT, CHOICE, COUNT, NUMBER, SECONDS, DIM, LIST } kind;
typedef enum who { TOOL, DEVICE, KERNEL } who;
enum {
#define COMMAND(id, name, summary) id = 1 << TOOL_##id,
#include "commands.def"
};

typedef struct row {
  const char *name, *argument;
  size_t value, has; /* offsets of the members in tool_options */
  unsigned commands;
  kind kind;
  who who;
} row;

static const row rows[] = {
#define OPTION(id, name, kind, argument, commands, who, default_text, help) \
  {name, argument, offsetof(tool_options, id), offsetof(tool_options, has.id), commands, kind, who},
#include "options.def"
};
enum { ROWS = sizeof rows / sizeof *rows };

static const row *find(const char *name, size_t length, unsigned commands) {
  for (size_t i = 0; i < ROWS; i++)
    if (strlen(rows[i].name) == length && memcmp(rows[i].name, name, length) == 0 &&
        (rows[i].commands & commands))
      return &rows[i];
  return NULL;
}

bool tool_parse_number(const char *text, uint64_t *out) {
  if (text[0] < '0' || text[0] > '9') /* strtoull would take blanks and signs */
    return false;
  char *end;
  errno = 0;
  unsigned long long value = strtoull(text, &end, text[0] == '0' && (text[1] | 32) == 'x' ? 16 : 10);
  if (errno != 0 || *end != 0 || end == text)
    return false;
  *out = value;
  return true;
}

bool tool_parse_dim(const char *text, tool_dim *out) {
  uint32_t value[3] = {1, 1, 1};
  for (int i = 0; i < 3; i++) {
    size_t n = strcspn(text, ",");
    char part[16];
    uint64_t number;
    if (n == 0 || n >= sizeof part)
      return false;
    memcpy(part, text, n);
    part[n] = 0;
    if (!tool_parse_number(part, &number) || number == 0 || number > UINT32_MAX)
      return false;
    value[i] = (uint32_t)number;
    text += n;
    if (*text == 0) {
      *out = (tool_dim){value[0], value[1], value[2]};
      return true;
    }
    text++;
  }
  return false;
}

static int wrong(const row *r, const char *value, const char *wanted) {
  tool_error("--%s=%s: expected %s", r->name, value, wanted);
  return TOOL_USAGE;
}

/* The argument of a choice is its words: "mixed|strong|weak". */
static bool is_one_of(const char *words, const char *value) {
  for (size_t n; *words; words += n + (words[n] == '|')) {
    n = strcspn(words, "|");
    if (strlen(value) == n && memcmp(words, value, n) == 0)
      return true;
  }
  return false;
}

static int store(const row *r, const char *value, int word, tool_options *o) {
  char *at = (char *)o + r->value;
  bool *has = (bool *)((char *)o + r->has);
  if (*has && r->kind != LIST && r->kind != FLAG) {
    tool_error("--%s is given twice", r->name);
    return TOOL_USAGE;
  }
  switch (r->kind) {
  case FLAG:
    *(bool *)at = true;
    break;
  case CHOICE:
    if (!is_one_of(r->argument, value))
      return wrong(r, value, r->argument);
    *(const char **)at = value;
    break;
  case TEXT:
    *(const char **)at = value;
    break;
  case COUNT:
  case NUMBER:
    if (!tool_parse_number(value, (uint64_t *)at) || (r->kind == COUNT && *(uint64_t *)at == 0))
      return wrong(r, value, r->kind == COUNT ? "a number from 1" : "a number from 0");
    break;
  case SECONDS: {
    char *end;
    double seconds = strtod(value, &end);
    if (end == value || *end != 0 || !(seconds > 0) || !isfinite(seconds) || seconds > 1e9)
      return wrong(r, value, "seconds, more than 0");
    *(double *)at = seconds;
    break;
  }
  case DIM:
    if (!tool_parse_dim(value, (tool_dim *)at))
      return wrong(r, value, "X[,Y[,Z]], each from 1");
    break;
  case LIST: {
    tool_list *list = (tool_list *)at;
    const char **more = tool_alloc((list->n + 1) * sizeof *more);
    int *words = tool_alloc((list->n + 1) * sizeof *words);
    if (list->n > 0) {
      memcpy(more, list->items, list->n * sizeof *more);
      memcpy(words, list->words, list->n * sizeof *words);
    }
    free(list->items);
    free(list->words);
    words[list->n] = word;
    more[list->n++] = value;
    list->items = more;
    list->words = words;
    break;
  }
  }
  *has = true;
  return TOOL_OK;
}

static int unknown(const char *word, size_t length, tool_command command) {
  char *name = tool_format("%.*s", (int)length, word);
  const row *elsewhere = find(name, length, ~0u);
  if (elsewhere) {
    tool_error("muster %s has no option --%s; see muster %s --help", tool_command_name(command), name,
               tool_command_name(command));
  } else {
    const char *names[ROWS];
    size_t n = 0;
    for (size_t i = 0; i < ROWS; i++)
      if (rows[i].commands & 1u << command)
        names[n++] = rows[i].name;
    const char *near = tool_nearest(name, names, n);
    if (near)
      tool_error("unknown option --%s; did you mean --%s?", name, near);
    else
      tool_error("unknown option --%s; see muster %s --help", name, tool_command_name(command));
  }
  free(name);
  return TOOL_USAGE;
}

int tool_options_parse(tool_command command, int argc, char **argv, tool_options *o) {
  *o = (tool_options){.command = command};
  int i = 0;
  for (; i < argc; i++) {
    char *word = argv[i];
    if (strcmp(word, "--") == 0) {
      i++;
      break;
    }
    if (word[0] != '-' || word[1] == 0)
      break;
    if (strcmp(word, "-h") == 0)
      word = (char *)"--help";
    if (word[1] != '-') {
      tool_error("unknown option %s; options are words such as --gpu", word);
      return TOOL_USAGE;
    }
    const char *name = word + 2, *value = strchr(name, '=');
    size_t length = value ? (size_t)(value - name) : strlen(name);
    const row *r = find(name, length, 1u << command);
    if (!r)
      return unknown(name, length, command);
    if (value && r->kind == FLAG) {
      tool_error("--%s takes no value", r->name);
      return TOOL_USAGE;
    }
    if (value) {
      value++;
    } else if (r->kind != FLAG) {
      if (i + 1 == argc) {
        tool_error("--%s needs %s", r->name, r->argument);
        return TOOL_USAGE;
      }
      value = argv[++i];
    }
    int code = store(r, value, i, o);
    if (code != TOOL_OK)
      return code;
  }
  o->rest = argv + i;
  o->n_rest = argc - i;
  for (size_t k = 0; k < ROWS && !o->has.kernel && !o->help; k++) {
    if (rows[k].who == KERNEL && *(bool *)((char *)o + rows[k].has)) {
      tool_error("--%s is for one kernel: name it with --kernel", rows[k].name);
      return TOOL_USAGE;
    }
  }
  return TOOL_OK;
}

void tool_options_free(tool_options *o) {
  for (size_t i = 0; i < ROWS; i++)
    if (rows[i].kind == LIST) {
      tool_list *list = (tool_list *)((char *)o + rows[i].value);
      free(list->items);
      free(list->words);
      *list = (tool_list){0};
    }
}

/* A value as MUSTER_OPTIONS carries it: what would end a word there is written as %XX. */
static char *escape(const char *value) {
  char *out = tool_alloc(strlen(value) * 3 + 1), *to = out;
  for (const unsigned char *c = (const unsigned char *)value; *c; c++)
    if (*c <= ' ' || *c == '%' || *c == '\'' || *c == '"' || *c == 0x7f)
      to += sprintf(to, "%%%02X", *c);
    else
      *to++ = (char)*c;
  return out;
}

char *tool_options_for_device(const tool_options *o) {
  char *text = tool_format("%s", tool_command_name(o->command));
  for (size_t i = 0; i < ROWS; i++) {
    const row *r = &rows[i];
    const char *at = (const char *)o + r->value;
    if (r->who != DEVICE || !*(const bool *)((const char *)o + r->has))
      continue;
    char *longer = NULL;
    switch (r->kind) {
    case FLAG:
      longer = tool_format("%s --%s", text, r->name);
      break;
    case CHOICE:
    case TEXT: {
      char *value = escape(*(const char *const *)at);
      longer = tool_format("%s --%s=%s", text, r->name, value);
      free(value);
      break;
    }
    case COUNT:
    case NUMBER:
      longer = tool_format("%s --%s=%llu", text, r->name, (unsigned long long)*(const uint64_t *)at);
      break;
    case SECONDS:
      longer = tool_format("%s --%s=%.17g", text, r->name, *(const double *)at);
      break;
    case DIM: {
      const tool_dim *d = (const tool_dim *)at;
      longer = tool_format("%s --%s=%u,%u,%u", text, r->name, d->x, d->y, d->z);
      break;
    }
    case LIST: /* no option of the device is a list; the loop in a test of options.def would find one */
      continue;
    }
    free(text);
    text = longer;
  }
  return text;
}

/* A word as a shell takes it. */
static char *quote(const char *value) {
  if (*value && strspn(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=.,/:@%") ==
                    strlen(value))
    return tool_format("%s", value);
  char *out = tool_alloc(strlen(value) * 4 + 3), *to = out;
  *to++ = '\'';
  for (; *value; value++)
    if (*value == '\'')
      to += sprintf(to, "'\\''");
    else
      *to++ = *value;
  *to = '\'';
  return out;
}

static char *with_value(char *text, const row *r, const char *value) {
  char *word = quote(value), *longer = tool_format("%s --%s %s", text, r->name, word);
  free(word);
  free(text);
  return longer;
}

char *tool_options_for_replay(const tool_options *o) {
  /* A replay is of one schedule, and says all that it finds. */
  static const char *const not[] = {"schedules", "shard", "replay", "quiet", "stats", "threads", "out"};
  char *text = tool_format("muster %s", tool_command_name(o->command));
  for (size_t i = 0; i < ROWS; i++) {
    const row *r = &rows[i];
    const char *at = (const char *)o + r->value;
    bool wanted = *(const bool *)((const char *)o + r->has) &&
                  (r->who != TOOL || strcmp(r->name, "kernel") == 0 || strcmp(r->name, "cflags") == 0);
    for (size_t k = 0; k < sizeof not/ sizeof *not; k++)
      wanted = wanted && strcmp(r->name, not[k]) != 0;
    if (!wanted)
      continue;
    char number[128];
    switch (r->kind) {
    case FLAG: {
      char *longer = tool_format("%s --%s", text, r->name);
      free(text);
      text = longer;
      break;
    }
    case TEXT:
    case CHOICE:
      text = with_value(text, r, *(const char *const *)at);
      break;
    case COUNT:
    case NUMBER:
      snprintf(number, sizeof number, "%llu", (unsigned long long)*(const uint64_t *)at);
      text = with_value(text, r, number);
      break;
    case SECONDS:
      snprintf(number, sizeof number, "%g", *(const double *)at);
      text = with_value(text, r, number);
      break;
    case DIM: {
      const tool_dim *d = (const tool_dim *)at;
      snprintf(number, sizeof number, d->z > 1 ? "%u,%u,%u" : d->y > 1 ? "%u,%u" : "%u", d->x, d->y, d->z);
      text = with_value(text, r, number);
      break;
    }
    case LIST:
      for (size_t k = 0; k < ((const tool_list *)at)->n; k++)
        text = with_value(text, r, ((const tool_list *)at)->items[k]);
      break;
    }
  }
  return text;
}
