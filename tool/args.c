/* args.c: --arg SPEC and --out I:PATH to buffers and values.
 *
 * Everything is read and checked before anything is started; what a file does not hold or a number cannot be
 * is a usage error, and no file has been written by then.
 */
#include "value.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static int wrong(const tool_arg *a, const char *why) {
  tool_error("--arg %s: %s", a->spec, why);
  return TOOL_USAGE;
}

static int no_memory(const tool_arg *a) {
  tool_error("--arg %s: %zu bytes do not fit into memory", a->spec, a->n_bytes);
  return TOOL_USAGE;
}

/* Cuts the first field off `*text`; the last field is all that remains. */
static char *field(const char **text, bool last) {
  size_t n = last ? strlen(*text) : strcspn(*text, ":");
  char *f = tool_format("%.*s", (int)n, *text);
  *text += n + ((*text)[n] == ':');
  return f;
}

static void flat(tool_arg *a, const tool_type *t, uint64_t count) {
  a->shape = (tool_npy){.element_bytes = t->bytes, .n_dims = 1, .dims = {count}, .bytes = a->n_bytes};
  strcpy(a->shape.descr, t->numpy);
}

/* zero:BYTES, uninit:BYTES */
static int untyped(tool_arg *a, const char *rest) {
  uint64_t bytes;
  if (!tool_parse_number(rest, &bytes) || bytes > SIZE_MAX / 2)
    return wrong(a, "expected a number of bytes");
  a->kind = TOOL_ARG_BUFFER;
  a->n_bytes = bytes;
  a->zero = a->spec[0] == 'z';
  flat(a, tool_type_find("u8", 2), bytes);
  return TOOL_OK;
}

/* fill:TYPE:COUNT:VALUE, iota:TYPE:COUNT, random:TYPE:COUNT[:SEED] */
static int generated(tool_arg *a, const char *rest, uint64_t seed) {
  char what = a->spec[0];
  const char *form = what == 'f'   ? "expected fill:TYPE:COUNT:VALUE"
                     : what == 'i' ? "expected iota:TYPE:COUNT"
                                   : "expected random:TYPE:COUNT[:SEED]";
  char *name = field(&rest, false), *number = field(&rest, what == 'i');
  const tool_type *t = tool_type_find(name, strlen(name));
  uint64_t count = 0;
  bool counted = tool_parse_number(number, &count);
  free(name);
  free(number);
  if (!t)
    return wrong(a, "no such element type");
  uint8_t value[8];
  if (!counted || (what == 'f' && *rest == 0))
    return wrong(a, form);
  if (what == 'f' && !tool_type_parse(t, rest, value))
    return wrong(a, "the value is none of that type");
  if (what == 'r' && *rest != 0 && !tool_parse_number(rest, &seed))
    return wrong(a, form);
  if (count > SIZE_MAX / 2 / t->bytes)
    return wrong(a, "more bytes than 64 bits can count");
  a->kind = TOOL_ARG_BUFFER;
  a->n_bytes = count * t->bytes;
  flat(a, t, count);
  a->bytes = malloc(a->n_bytes + 1);
  if (!a->bytes)
    return no_memory(a);
  for (uint64_t i = 0; i < count; i++) {
    uint8_t *to = a->bytes + i * t->bytes;
    if (what == 'f')
      memcpy(to, value, t->bytes);
    else if (what == 'i')
      tool_type_from_number(t, i, to);
    else
      tool_type_random(t, seed, i, to);
  }
  return TOOL_OK;
}

static int file(tool_arg *a, const char *path) {
  uint8_t *bytes;
  size_t n;
  char why[256];
  a->kind = TOOL_ARG_BUFFER;
  if (!tool_read_file(path, &bytes, &n))
    return TOOL_USAGE;
  if (!tool_npy_is(bytes, n) && !tool_has_suffix(path, ".npy")) {
    a->bytes = bytes;
    a->n_bytes = n;
    flat(a, tool_type_find("u8", 2), n);
    return TOOL_OK;
  }
  if (tool_npy_read(bytes, n, &a->shape, why, sizeof why)) {
    tool_error("cannot read %s: %s", path, why);
    free(bytes);
    return TOOL_USAGE;
  }
  memmove(bytes, bytes + a->shape.data, a->shape.bytes);
  a->bytes = bytes;
  a->n_bytes = a->shape.bytes;
  return TOOL_OK;
}

/* ref:I[+BYTES] */
static int reference(tool_arg *a, const char *rest, const tool_arg *all, size_t index) {
  size_t n = strcspn(rest, "+");
  char *number = tool_format("%.*s", (int)n, rest);
  uint64_t which = 0;
  bool good =
      tool_parse_number(number, &which) && (rest[n] == 0 || tool_parse_number(rest + n + 1, &a->offset));
  free(number);
  if (!good)
    return wrong(a, "expected ref:I[+BYTES]");
  if (which >= index)
    return wrong(a, "it can only refer to an argument before it");
  if (all[which].kind != TOOL_ARG_BUFFER)
    return wrong(a, "that argument is no buffer");
  if (a->offset > all[which].n_bytes)
    return wrong(a, "that lies behind the end of the buffer");
  a->kind = TOOL_ARG_REF;
  a->ref = which;
  a->n_bytes = 8;
  return TOOL_OK;
}

static int digit(char c) {
  return isdigit((unsigned char)c)    ? c - '0'
         : isxdigit((unsigned char)c) ? tolower((unsigned char)c) - 'a' + 10
                                      : -1;
}

/* bytes:HEX, bytes:@FILE */
static int by_value(tool_arg *a, const char *rest) {
  if (*rest == '@')
    return tool_read_file(rest + 1, &a->bytes, &a->n_bytes) ? TOOL_OK : TOOL_USAGE;
  if (rest[0] == '0' && (rest[1] | 32) == 'x')
    rest += 2;
  size_t n = strlen(rest);
  if (n == 0 || n % 2 != 0)
    return wrong(a, "expected two hexadecimal digits for each byte");
  a->bytes = tool_alloc(n / 2);
  a->n_bytes = n / 2;
  for (size_t i = 0; i < n; i += 2) {
    int high = digit(rest[i]), low = digit(rest[i + 1]);
    if (high < 0 || low < 0)
      return wrong(a, "expected two hexadecimal digits for each byte");
    a->bytes[i / 2] = (uint8_t)(high << 4 | low);
  }
  return TOOL_OK;
}

static int parse(tool_arg *all, size_t index, const char *spec, uint64_t seed) {
  tool_arg *a = &all[index];
  a->spec = spec;
  if (strcmp(spec, "null") == 0) {
    a->bytes = tool_alloc(8);
    a->n_bytes = 8;
    return TOOL_OK;
  }
  size_t n = strcspn(spec, ":");
  if (spec[n] == 0)
    return wrong(a, "expected KIND:..., such as s32:5 or zero:4096");
  const char *rest = spec + n + 1;
  const tool_type *t = tool_type_find(spec, n);
  if (t) {
    a->bytes = tool_alloc(t->bytes);
    a->n_bytes = t->bytes;
    return tool_type_parse(t, rest, a->bytes) ? TOOL_OK : wrong(a, "the value is none of that type");
  }
  static const char *const words[] = {"zero", "uninit", "fill", "iota", "random", "file",
                                      "ref",  "bytes",  "null", "s32",  "u32",    "f32",
                                      "s64",  "u64",    "f64",  "f16",  "bf16"};
  char *kind = tool_format("%.*s", (int)n, spec);
  int code;
  if (strcmp(kind, "zero") == 0 || strcmp(kind, "uninit") == 0) {
    code = untyped(a, rest);
  } else if (strcmp(kind, "fill") == 0 || strcmp(kind, "iota") == 0 || strcmp(kind, "random") == 0) {
    code = generated(a, rest, seed);
  } else if (strcmp(kind, "file") == 0) {
    code = file(a, rest);
  } else if (strcmp(kind, "ref") == 0) {
    code = reference(a, rest, all, index);
  } else if (strcmp(kind, "bytes") == 0) {
    code = by_value(a, rest);
  } else {
    const char *near = tool_nearest(kind, words, sizeof words / sizeof *words);
    tool_error("--arg %s: no such kind of argument%s%s%s", spec, near ? "; did you mean " : "",
               near ? near : "", near ? "?" : "");
    code = TOOL_USAGE;
  }
  free(kind);
  return code;
}

static int parse_out(const char *text, const tool_arg *args, size_t n_args, tool_out *out) {
  size_t n = strcspn(text, ":");
  char *number = tool_format("%.*s", (int)n, text);
  uint64_t which = 0;
  bool good = text[n] == ':' && text[n + 1] && tool_parse_number(number, &which);
  free(number);
  if (!good)
    tool_error("--out %s: expected I:PATH, I from 0", text);
  else if (which >= n_args)
    tool_error("--out %s: there %s only %zu argument%s, and I counts from 0", text,
               n_args == 1 ? "is" : "are", n_args, n_args == 1 ? "" : "s");
  else if (args[which].kind == TOOL_ARG_VALUE)
    tool_error("--out %s: argument %llu is no buffer", text, (unsigned long long)which);
  else {
    out->arg = args[which].kind == TOOL_ARG_REF ? args[which].ref : which;
    out->path = text + n + 1;
    return TOOL_OK;
  }
  return TOOL_USAGE;
}

int tool_args_parse(const tool_options *o, tool_arg **args, tool_out **outs) {
  *args = tool_alloc((o->arg.n + 1) * sizeof **args);
  *outs = tool_alloc((o->out.n + 1) * sizeof **outs);
  int code = TOOL_OK;
  for (size_t i = 0; i < o->arg.n && code == TOOL_OK; i++)
    code = parse(*args, i, o->arg.items[i], o->seed);
  for (size_t i = 0; i < o->out.n && code == TOOL_OK; i++)
    code = parse_out(o->out.items[i], *args, o->arg.n, &(*outs)[i]);
  if (code != TOOL_OK)
    tool_args_free(*args, o->arg.n, *outs);
  return code;
}

void tool_args_free(tool_arg *args, size_t n, tool_out *outs) {
  for (size_t i = 0; i < n; i++)
    free(args[i].bytes);
  free(args);
  free(outs);
}
