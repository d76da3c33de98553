/* array.c: arrays in files: .npy or raw elements in, .npy, JSON or text out. Knows nothing of what is
 * computed.
 */
#include "value.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "muster.h"

/* The number of the type that numpy calls `descr`, MUSTER_ELEMS if there is none. */
static unsigned type_of_numpy(const char *descr) {
  unsigned i = 0;
  while (i < MUSTER_ELEMS && strcmp(tool_type_get(i)->numpy, descr) != 0)
    i++;
  return i;
}

static unsigned type_of_name(const char *name) {
  const tool_type *t = tool_type_find(name, strlen(name));
  unsigned i = 0;
  while (i < MUSTER_ELEMS && tool_type_get(i) != t)
    i++;
  return i;
}

static bool read_npy(const char *path, const char *type, size_t bytes, tool_array *a) {
  char why[256];
  if (tool_npy_read(a->bytes, bytes, &a->shape, why, sizeof why)) {
    tool_error("cannot read %s: %s", path, why);
    return false;
  }
  a->type = type_of_numpy(a->shape.descr);
  if (a->type == MUSTER_ELEMS) {
    tool_error("cannot read %s: nothing is computed of elements of type %s", path, a->shape.descr);
    return false;
  }
  if (type && type_of_name(type) != a->type) {
    tool_error("%s says itself that its elements are %s, and --type says %s", path,
               tool_type_get(a->type)->name, type);
    return false;
  }
  memmove(a->bytes, a->bytes + a->shape.data, a->shape.bytes);
  a->n = a->shape.bytes / a->shape.element_bytes;
  return true;
}

static bool read_raw(const char *path, const char *type, size_t bytes, tool_array *a) {
  if (!type) {
    tool_error("%s is no .npy file: --type says what its elements are", path);
    return false;
  }
  a->type = type_of_name(type);
  const tool_type *t = tool_type_get(a->type);
  if (bytes % t->bytes != 0) {
    tool_error("cannot read %s: %zu bytes are no whole number of %s elements", path, bytes, t->name);
    return false;
  }
  a->n = bytes / t->bytes;
  a->shape = (tool_npy){.element_bytes = t->bytes, .n_dims = 1, .dims = {a->n}, .bytes = bytes};
  strcpy(a->shape.descr, t->numpy);
  return true;
}

bool tool_array_read(const char *path, const char *type, tool_array *out) {
  size_t bytes;
  *out = (tool_array){.n = 0};
  if (type && type_of_name(type) == MUSTER_ELEMS) {
    tool_error("--type %s: no such element type", type);
    return false;
  }
  char *doing = tool_format("reading %s", path);
  tool_progress(doing);
  free(doing);
  bool read = tool_read_file(path, &out->bytes, &bytes);
  tool_progress(NULL);
  if (!read)
    return false;
  bool npy = tool_npy_is(out->bytes, bytes) || tool_has_suffix(path, ".npy");
  return npy ? read_npy(path, type, bytes, out) : read_raw(path, type, bytes, out);
}

/* ------------------------------------------------------------------ results */

/* Element i as JSON has it: what is no number there is a string. */
static void put_json(FILE *to, const tool_type *t, const uint8_t *value) {
  char *text = tool_type_format(t, value);
  bool number = strcmp(text, "nan") != 0 && strcmp(text, "inf") != 0 && strcmp(text, "-inf") != 0;
  fprintf(to, number ? "%s" : "\"%s\"", text);
  free(text);
}

static void json(FILE *to, const tool_array *a, const char *command) {
  const tool_type *t = tool_type_get(a->type);
  fprintf(to, "{\"command\": \"%s\", \"type\": \"%s\", ", command, t->name);
  if (a->shape.n_dims == 0) {
    fprintf(to, "\"value\": ");
    put_json(to, t, a->bytes);
  } else {
    fprintf(to, "\"shape\": [");
    for (unsigned i = 0; i < a->shape.n_dims; i++)
      fprintf(to, "%s%llu", i ? ", " : "", (unsigned long long)a->shape.dims[i]);
    fprintf(to, "], \"values\": [");
    for (uint64_t i = 0; i < a->n; i++) {
      fprintf(to, "%s", i ? ", " : "");
      put_json(to, t, a->bytes + i * t->bytes);
    }
    fprintf(to, "]");
  }
  fprintf(to, "}\n");
}

static void lines(FILE *to, const tool_array *a, bool counts) {
  static const uint8_t none[8];
  const tool_type *t = tool_type_get(a->type);
  for (uint64_t i = 0; i < a->n; i++) {
    const uint8_t *value = a->bytes + i * t->bytes;
    if (counts && memcmp(value, none, t->bytes) == 0)
      continue;
    char *text = tool_type_format(t, value);
    if (counts)
      fprintf(to, "%llu ", (unsigned long long)i);
    fprintf(to, "%s\n", text);
    free(text);
  }
}

bool tool_array_write(const tool_options *o, const tool_array *result, bool counts) {
  char *text = NULL;
  size_t bytes = 0;
  if (o->result && tool_has_suffix(o->result, ".npy")) {
    char *head = tool_npy_header(&result->shape, &bytes);
    bool good = tool_write_file(o->result, head, bytes, result->bytes, result->shape.bytes);
    free(head);
    return good;
  }
  FILE *to = open_memstream(&text, &bytes);
  bool good = to != NULL;
  if (good && (o->json || (o->result && tool_has_suffix(o->result, ".json"))))
    json(to, result, tool_command_name(o->command));
  else if (good)
    lines(to, result, counts);
  if (!good || fclose(to) != 0) {
    tool_error("the result does not fit into memory");
    good = false;
  } else if (o->result) {
    good = tool_write_file(o->result, NULL, 0, text, bytes);
  } else if (fwrite(text, 1, bytes, stdout) != bytes || fflush(stdout) != 0) {
    tool_error("cannot write to standard output");
    good = false;
  }
  free(text);
  return good;
}
