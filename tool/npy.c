/* npy.c: numpy's .npy files: versions 1 to 3, elements in C order.
 *
 * The header is a Python dictionary with three keys. What muster cannot hold in a flat buffer is refused by
 * name: objects, text, structured types, big-endian elements, Fortran order. Pure functions of their bytes;
 * any bytes may come in.
 */
#include "value.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint8_t magic[6] = {0x93, 'N', 'U', 'M', 'P', 'Y'};

bool tool_npy_is(const uint8_t *file, size_t bytes) {
  return bytes >= sizeof magic && memcmp(file, magic, sizeof magic) == 0;
}

typedef struct reader {
  const char *at, *end;
  char *why;
  size_t why_bytes;
} reader;

static const char *wrong(reader *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
static const char *wrong(reader *r, const char *format, ...) {
  va_list list;
  va_start(list, format);
  vsnprintf(r->why, r->why_bytes, format, list);
  va_end(list);
  return r->why;
}

static void blanks(reader *r) {
  while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\n' || *r->at == '\r'))
    r->at++;
}

static bool take(reader *r, char c) {
  blanks(r);
  if (r->at == r->end || *r->at != c)
    return false;
  r->at++;
  return true;
}

static bool word(reader *r, const char *text) {
  size_t n = strlen(text);
  blanks(r);
  if ((size_t)(r->end - r->at) < n || memcmp(r->at, text, n) != 0)
    return false;
  r->at += n;
  return true;
}

static bool string(reader *r, char *to, size_t bytes) {
  blanks(r);
  if (r->at == r->end || (*r->at != '\'' && *r->at != '"'))
    return false;
  char quote = *r->at++;
  size_t n = 0;
  while (r->at < r->end && *r->at != quote) {
    if (n + 1 >= bytes || *r->at == '\\')
      return false;
    to[n++] = *r->at++;
  }
  to[n] = 0;
  return take(r, quote);
}

static const char *element_type(reader *r, tool_npy *out) {
  blanks(r);
  if (r->at < r->end && *r->at == '[')
    return wrong(r, "its elements are records (a structured type)");
  char type[32];
  if (!string(r, type, sizeof type))
    return wrong(r, "damaged header: 'descr' is no type");
  char order = type[0], kind = type[1];
  if (!strchr("<>|=", order) || kind == 0)
    return wrong(r, "an element type that is not known: %s", type);
  if (kind == 'O')
    return wrong(r, "its elements are Python objects");
  if (kind == 'U' || kind == 'S')
    return wrong(r, "its elements are text (%s)", type);
  char *end;
  unsigned long size = strtoul(type + 2, &end, 10);
  if (!isdigit((unsigned char)type[2]) || *end != 0)
    return wrong(r, "an element type that is not known: %s", type);
  static const char *const known[] = {"i1", "i2", "i4", "i8", "u1", "u2",  "u4", "u8",
                                      "f2", "f4", "f8", "b1", "c8", "c16", "V2"};
  const char *plain = NULL;
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (strcmp(type + 1, known[i]) == 0)
      plain = known[i];
  if (!plain)
    return wrong(r, "elements of type %s, which no CUDA type holds", type);
  if (order == '>' && size > 1)
    return wrong(r, "its elements are big-endian (%s)", type);
  out->descr[0] = size > 1 ? '<' : '|';
  strcpy(out->descr + 1, plain);
  out->element_bytes = (unsigned)size;
  return NULL;
}

static const char *dimensions(reader *r, tool_npy *out) {
  if (!take(r, '('))
    return wrong(r, "damaged header: 'shape' is no tuple");
  out->n_dims = 0;
  while (!take(r, ')')) {
    blanks(r);
    if (r->at == r->end || !isdigit((unsigned char)*r->at))
      return wrong(r, "damaged header: 'shape' holds something that is no size");
    uint64_t value = 0;
    while (r->at < r->end && isdigit((unsigned char)*r->at)) {
      if (value > (UINT64_MAX - 9) / 10)
        return wrong(r, "damaged header: 'shape' holds a size beyond 64 bits");
      value = value * 10 + (uint64_t)(*r->at++ - '0');
    }
    if (out->n_dims == TOOL_NPY_DIMS)
      return wrong(r, "more than %d dimensions", TOOL_NPY_DIMS);
    out->dims[out->n_dims++] = value;
    blanks(r);
    if (r->at < r->end && *r->at != ')' && !take(r, ','))
      return wrong(r, "damaged header: 'shape' is no tuple");
  }
  return NULL;
}

static const char *header(reader *r, tool_npy *out) {
  bool has_type = false, has_order = false, has_shape = false, fortran = false;
  if (!take(r, '{'))
    return wrong(r, "damaged header: no dictionary");
  while (!take(r, '}')) {
    char key[32];
    const char *bad = NULL;
    if (!string(r, key, sizeof key) || !take(r, ':'))
      return wrong(r, "damaged header: a key was expected");
    if (strcmp(key, "descr") == 0) {
      bad = element_type(r, out);
      has_type = true;
    } else if (strcmp(key, "fortran_order") == 0) {
      fortran = word(r, "True");
      if (!fortran && !word(r, "False"))
        return wrong(r, "damaged header: 'fortran_order' is neither True nor False");
      has_order = true;
    } else if (strcmp(key, "shape") == 0) {
      bad = dimensions(r, out);
      has_shape = true;
    } else {
      return wrong(r, "damaged header: the key '%s' is not known", key);
    }
    if (bad)
      return bad;
    blanks(r);
    if (!take(r, ',') && (r->at == r->end || *r->at != '}'))
      return wrong(r, "damaged header: it does not end");
  }
  if (!has_type || !has_order || !has_shape)
    return wrong(r, "damaged header: '%s' is missing",
                 !has_type    ? "descr"
                 : !has_order ? "fortran_order"
                              : "shape");
  if (fortran && out->n_dims > 1)
    return wrong(r, "its elements are in Fortran order; numpy.ascontiguousarray makes it C order");
  return NULL;
}

const char *tool_npy_read(const uint8_t *file, size_t bytes, tool_npy *out, char *why, size_t why_bytes) {
  reader r = {.why = why, .why_bytes = why_bytes};
  *out = (tool_npy){.n_dims = 0};
  if (!tool_npy_is(file, bytes))
    return wrong(&r, "not a .npy file: it does not begin with numpy's mark");
  if (bytes < 10)
    return wrong(&r, "a truncated .npy file");
  unsigned version = file[6], size_bytes = version == 1 ? 2 : 4;
  if (version < 1 || version > 3)
    return wrong(&r, "a .npy file of version %u.%u; 1.0, 2.0 and 3.0 are known", version, file[7]);
  size_t start = 8 + size_bytes, length = 0;
  if (bytes < start)
    return wrong(&r, "a truncated .npy file");
  for (unsigned i = 0; i < size_bytes; i++)
    length |= (size_t)file[8 + i] << (8 * i);
  if (length > bytes - start)
    return wrong(&r, "a truncated .npy file: its header is cut off");
  r.at = (const char *)file + start;
  r.end = r.at + length;
  const char *bad = header(&r, out);
  if (bad)
    return bad;
  uint64_t total = out->element_bytes;
  for (unsigned i = 0; i < out->n_dims; i++)
    if (__builtin_mul_overflow(total, out->dims[i], &total))
      return wrong(&r, "damaged header: more elements than 64 bits can count");
  out->data = start + length;
  out->bytes = total;
  if (total > bytes - out->data)
    return wrong(&r, "a truncated .npy file: %llu bytes of elements are announced, %zu are there",
                 (unsigned long long)total, bytes - out->data);
  if (total < bytes - out->data)
    return wrong(&r, "%zu bytes more than its header announces", bytes - out->data - total);
  return NULL;
}

char *tool_npy_header(const tool_npy *in, size_t *bytes) {
  char *shape = tool_format("(");
  for (unsigned i = 0; i < in->n_dims; i++) {
    char *longer = tool_format("%s%s%llu%s", shape, i ? " " : "", (unsigned long long)in->dims[i],
                               i + 1 < in->n_dims || in->n_dims == 1 ? "," : "");
    free(shape);
    shape = longer;
  }
  char *text = tool_format("{'descr': '%s', 'fortran_order': False, 'shape': %s), }", in->descr, shape);
  free(shape);
  size_t n = strlen(text), whole = (10 + n + 1 + 63) / 64 * 64; /* the elements begin at a multiple of 64 */
  char *file = tool_alloc(whole);
  memcpy(file, magic, sizeof magic);
  file[6] = 1;
  file[8] = (char)((whole - 10) & 0xff);
  file[9] = (char)((whole - 10) >> 8);
  memset(file + 10, ' ', whole - 10);
  memcpy(file + 10, text, n);
  file[whole - 1] = '\n';
  free(text);
  *bytes = whole;
  return file;
}
