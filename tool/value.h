/* value.h: element types, .npy files and the arguments of a kernel, for kernel.c and operate.c. */
#ifndef MUSTER_TOOL_VALUE_H
#define MUSTER_TOOL_VALUE_H

#include "tool.h"

/* ------------------------------------------------------------------ element.c */
typedef enum tool_kind { TOOL_KIND_s, TOOL_KIND_u, TOOL_KIND_f, TOOL_KIND_bf } tool_kind;
typedef struct tool_type {
  const char *name;
  unsigned bytes;
  tool_kind kind;
  const char *numpy;
} tool_type;

/* The type called `name` (of `length` characters), by one of its names: s32, i32, b32. NULL: none. */
const tool_type *tool_type_find(const char *name, size_t length);
/* Reads a value; false: it is none of that type, or out of its range. */
bool tool_type_parse(const tool_type *t, const char *text, void *to);
/* The number `n` as an element; integers wrap, floats round. */
void tool_type_from_number(const tool_type *t, uint64_t n, void *to);
/* A value as text from which tool_type_parse makes the same; free() it. Not a number: "nan", "inf", "-inf".
 */
char *tool_type_format(const tool_type *t, const void *value);
/* Element `index` of the random sequence of `seed`: floats in [0,1), integers over their range. A pure
 * function. */
void tool_type_random(const tool_type *t, uint64_t seed, uint64_t index, void *to);

/* ------------------------------------------------------------------ npy.c */
enum { TOOL_NPY_DIMS = 32 };
typedef struct tool_npy {
  char descr[8]; /* numpy's name of the element type, "<f4" */
  unsigned element_bytes;
  unsigned n_dims;
  uint64_t dims[TOOL_NPY_DIMS];
  size_t data;  /* where the elements begin in the file */
  size_t bytes; /* of all elements */
} tool_npy;

bool tool_npy_is(const uint8_t *file, size_t bytes); /* begins as a .npy file does */
/* Reads the header and checks that the elements are there. NULL, or in plain words what is wrong (`why` holds
 * it). */
const char *tool_npy_read(const uint8_t *file, size_t bytes, tool_npy *out, char *why, size_t why_bytes);
/* The header of a file (version 1.0) whose elements are described by `in`; *bytes says how long it is. free()
 * it. */
char *tool_npy_header(const tool_npy *in, size_t *bytes);

/* ------------------------------------------------------------------ array.c: arrays in files */
typedef struct tool_array {
  uint8_t *bytes; /* free() it */
  uint64_t n;
  tool_npy shape;
  unsigned type; /* its number in elem.def, a muster_elem */
} tool_array;

/* The type of that number. */
const tool_type *tool_type_get(unsigned number);
/* Reads a .npy file, or a raw one of elements `type` (NULL: not given). False, having said why. */
bool tool_array_read(const char *path, const char *type, tool_array *out);
/* Writes what a command found, as --output and --json say: as text a line for each element. `counts`: they
 * are those of a histogram, whose lines begin with the value, without the values that never occur. False,
 * having said why. */
bool tool_array_write(const tool_options *o, const tool_array *result, bool counts);

/* ------------------------------------------------------------------ args.c */
typedef enum tool_arg_kind { TOOL_ARG_VALUE, TOOL_ARG_BUFFER, TOOL_ARG_REF } tool_arg_kind;
typedef struct tool_arg {
  tool_arg_kind kind;
  const char *spec; /* as written */
  uint8_t *bytes;   /* the value, or what the buffer begins with; NULL: `zero` says */
  size_t n_bytes;
  bool zero;
  size_t ref; /* TOOL_ARG_REF: a buffer before it */
  uint64_t offset;
  tool_npy shape;   /* what --out writes into a .npy file; without `data` */
  uint64_t address; /* on the device */
} tool_arg;

typedef struct tool_out {
  size_t arg; /* a buffer */
  const char *path;
} tool_out;

/* Reads every --arg and --out. TOOL_OK, or TOOL_USAGE having said which one is wrong and why. */
int tool_args_parse(const tool_options *o, tool_arg **args, tool_out **outs);
void tool_args_free(tool_arg *args, size_t n, tool_out *outs);

#endif
