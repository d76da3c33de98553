/* name.c: plain names of kernels.
 *
 * CUDA C++ mangles names by the Itanium ABI. People write scale or ns::scale; of the mangling only the name
 * is read, template arguments are passed over, parameters are not looked at. Pure functions of their text; a
 * name that is not understood simply has no plain form.
 */
#include "base/name.h"

#include <ctype.h>
#include <string.h>

typedef struct reader {
  const char *at;
  char *to, *end; /* where the plain name grows; one byte is left for its NUL */
} reader;

static bool put(reader *r, const char *text, size_t n) {
  if ((size_t)(r->end - r->to) <= n)
    return false;
  memcpy(r->to, text, n);
  r->to += n;
  *r->to = 0;
  return true;
}

/* <length> <identifier>; NULL: there is none. */
static const char *identifier(const char *at, const char **text, size_t *length) {
  if (!isdigit((unsigned char)*at))
    return NULL;
  size_t n = 0;
  while (isdigit((unsigned char)*at) && n < 100000)
    n = n * 10 + (size_t)(*at++ - '0');
  if (n == 0 || strnlen(at, n) < n)
    return NULL;
  *text = at;
  *length = n;
  return at + n;
}

/* Passes over template arguments, from the I on. Everything that opens a bracket in a mangled name is a
 * capital I, N, J, L or X that E closes; identifiers and substitutions are skipped whole so that their
 * letters do not count. NULL: not understood. */
static const char *skip_arguments(const char *at) {
  int open = 0;
  do {
    const char *text;
    size_t n;
    switch (*at) {
    case 0:
      return NULL;
    case 'I':
    case 'N':
    case 'J':
    case 'X':
      open++;
      at++;
      break;
    case 'L': /* a literal: type, digits, E. A mangled name within ends with two E */
      if (strncmp(at, "L_Z", 3) == 0) {
        at += 3;
        open++;
      } else {
        at++;
        while (*at && *at != 'E' && !isdigit((unsigned char)*at) && *at != 'n')
          at++;
        while (isdigit((unsigned char)*at) || *at == 'n')
          at++;
        if (*at != 'E')
          return NULL;
        at++;
      }
      break;
    case 'F':
      open++;
      at++;
      break;
    case 'E':
      open--;
      at++;
      break;
    case 'S': /* S_, S0_, St, Sa, ... */
    case 'T':
      at++;
      if (islower((unsigned char)*at)) {
        at++;
        break;
      }
      while (isalnum((unsigned char)*at))
        at++;
      if (*at != '_')
        return NULL;
      at++;
      break;
    case 'D': /* Dp, Dv, Dn ... */
      at += at[1] ? 2 : 1;
      break;
    default:
      at = isdigit((unsigned char)*at) ? identifier(at, &text, &n) : at + 1;
      if (!at)
        return NULL;
    }
  } while (open > 0);
  return at;
}

/* One name and what follows it of the same level. False: there is none, or no room. */
static bool part(reader *r, bool first) {
  const char *text;
  size_t n;
  while (*r->at == 'L') /* internal linkage */
    r->at++;
  const char *behind = identifier(r->at, &text, &n);
  if (!behind || (!first && !put(r, "::", 2)))
    return false;
  r->at = behind;
  if (strncmp(text, "_GLOBAL__N_", 11) == 0 ? !put(r, "(anonymous namespace)", 21) : !put(r, text, n))
    return false;
  if (*r->at == 'I') {
    r->at = skip_arguments(r->at);
    return r->at != NULL;
  }
  return true;
}

bool base_plain_name(const char *mangled, char *to, size_t bytes) {
  reader r = {.at = mangled, .to = to, .end = to + bytes};
  if (bytes == 0 || strncmp(mangled, "_Z", 2) != 0)
    return false;
  r.at += 2;
  if (*r.at != 'N')
    return part(&r, true);
  r.at++;
  while (*r.at == 'r' || *r.at == 'V' || *r.at == 'K')
    r.at++;
  bool first = true;
  if (strncmp(r.at, "St", 2) == 0) {
    if (!put(&r, "std", 3))
      return false;
    r.at += 2;
    first = false;
  }
  for (; *r.at != 'E'; first = false)
    if (!part(&r, first))
      return false;
  return !first;
}

/* A variable within a function: the function's encoding, E, the name, perhaps _ and a number. The last E that
 * a whole name follows is the one. */
bool base_plain_variable(const char *mangled, char *to, size_t bytes) {
  if (strncmp(mangled, "_ZZ", 3) != 0)
    return base_plain_name(mangled, to, bytes);
  for (const char *e = mangled + strlen(mangled); e > mangled; e--) {
    const char *text, *behind;
    size_t n;
    if (e[-1] != 'E' || !(behind = identifier(e, &text, &n)) || (*behind && *behind != '_'))
      continue;
    reader r = {.to = to, .end = to + bytes};
    return bytes > 0 && put(&r, text, n);
  }
  return false;
}

bool base_name_matches(const char *asked, const char *mangled, const char *plain) {
  if (strcmp(asked, mangled) == 0 || strcmp(asked, plain) == 0)
    return true;
  size_t n = strlen(plain), m = strlen(asked); /* scale and ns::scale both mean a::ns::scale */
  return m > 0 && n > m + 2 && strcmp(plain + n - m, asked) == 0 && memcmp(plain + n - m - 2, "::", 2) == 0;
}
