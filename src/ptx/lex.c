/* lex.c: characters to tokens. A token points into the module's text, which ends with a NUL, so that looking
 * one character ahead is always allowed. */
#define _GNU_SOURCE /* strtod_l: the program around us may have a locale with another decimal point */
#include <locale.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/front.h"

enum { MAX_NUMBER_BYTES = 64 };

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

static bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' || c == '$' || c == '%';
}

static int hex_digit(char c) {
  if (is_digit(c))
    return c - '0';
  if (c >= 'a' && c <= 'f')
    return c - 'a' + 10;
  if (c >= 'A' && c <= 'F')
    return c - 'A' + 10;
  return 99;
}

/* Spaces and comments; false: a comment that never ends, at *bad. */
static bool skip_space(ptx_lexer *l, ptx_token *bad) {
  while (l->at < l->end) {
    char c = *l->at;
    if (c == '\n') {
      l->at++;
      l->line++;
      l->line_begin = l->at;
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
      l->at++;
    } else if (c == '/' && l->at[1] == '/') {
      const char *p = memchr(l->at, '\n', (size_t)(l->end - l->at));
      l->at = p ? p : l->end;
    } else if (c == '/' && l->at[1] == '*') {
      const char *p = l->at + 2;
      bad->text = l->at;
      bad->bytes = 2;
      bad->line = l->line;
      bad->line_begin = l->line_begin;
      while (p < l->end && !(p[0] == '*' && p[1] == '/')) {
        if (*p == '\n') {
          l->line++;
          l->line_begin = p + 1;
        }
        p++;
      }
      if (p >= l->end) {
        l->at = l->end;
        return false;
      }
      l->at = p + 2;
    } else {
      break;
    }
  }
  return true;
}

static locale_t plain; /* the C locale; 0 if there was no memory for it */

static void make_plain(void) {
  plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

static double to_double(const char *text, char **stop) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, make_plain);
  return plain ? strtod_l(text, stop, plain) : strtod(text, stop);
}

/* 0fXXXXXXXX, 0dXXXXXXXXXXXXXXXX, 1.5, 1e5, 017, 0x1F, 0b101, 42U. */
static void lex_number(ptx_lexer *l, ptx_token *t) {
  const char *p = l->at;
  unsigned base = 10;
  if (p[0] == '0' && (p[1] == 'f' || p[1] == 'F' || p[1] == 'd' || p[1] == 'D')) {
    unsigned want = p[1] == 'f' || p[1] == 'F' ? 8 : 16, got = 0;
    for (p += 2; got < want && hex_digit(*p) < 16; p++, got++)
      t->value = t->value << 4 | (unsigned)hex_digit(*p);
    t->kind = got == want ? PTX_T_FLOAT : PTX_T_BAD;
    t->single = want == 8;
    t->exact = true;
    l->at = p;
    return;
  }
  if (p[0] == '0' && (p[1] == 'x' || p[1] == 'X'))
    base = 16, p += 2;
  else if (p[0] == '0' && (p[1] == 'b' || p[1] == 'B'))
    base = 2, p += 2;
  else {
    const char *q = p;
    while (is_digit(*q))
      q++;
    if (*q == '.' || *q == 'e' || *q == 'E') {
      char number[MAX_NUMBER_BYTES], *stop;
      const char *e = q;
      if (*e == '.')
        for (e++; is_digit(*e);)
          e++;
      if (*e == 'e' || *e == 'E') {
        const char *exponent = e + 1 + (e[1] == '+' || e[1] == '-');
        if (is_digit(*exponent))
          for (e = exponent; is_digit(*e);)
            e++;
      }
      size_t n = (size_t)(e - p);
      l->at = e;
      if (n >= sizeof number) {
        t->kind = PTX_T_BAD;
        return;
      }
      memcpy(number, p, n);
      number[n] = 0;
      double d = to_double(number, &stop);
      memcpy(&t->value, &d, sizeof d);
      t->kind = *stop ? PTX_T_BAD : PTX_T_FLOAT;
      return;
    }
    if (p[0] == '0')
      base = 8;
  }
  const char *first = p;
  bool overflow = false;
  for (; (unsigned)hex_digit(*p) < base; p++) {
    overflow |= t->value > (UINT64_MAX - (unsigned)hex_digit(*p)) / base;
    t->value = t->value * base + (unsigned)hex_digit(*p);
  }
  t->kind = p == first || overflow ? PTX_T_BAD : PTX_T_INT;
  t->is_unsigned = t->value > INT64_MAX;
  if (*p == 'U' || *p == 'u') {
    t->is_unsigned = true;
    p++;
  }
  if (is_name(*p)) { /* 12abc, 08 */
    t->kind = PTX_T_BAD;
    while (is_name(*p))
      p++;
  }
  l->at = p;
}

ptx_token ptx_lex(ptx_lexer *l) {
  const char *before = l->at;
  ptx_token t = {.kind = PTX_T_BAD};
  if (!skip_space(l, &t))
    return t;
  t = (ptx_token){.line = l->line, .text = l->at, .line_begin = l->line_begin, .glued = l->at == before};
  if (l->at >= l->end)
    return t;
  char c = *l->at;
  if (is_digit(c)) {
    lex_number(l, &t);
  } else if (is_name(c)) {
    t.kind = PTX_T_NAME;
    while (is_name(*l->at))
      l->at++;
  } else if (c == '.' && is_name(l->at[1])) {
    /* a word with :: inside is one token: shared::cta, L2::128B; a name may stand on both sides only */
    t.kind = PTX_T_DOT;
    t.text = ++l->at;
    while (is_name(*l->at) || (l->at[0] == ':' && l->at[1] == ':' && is_name(l->at[2])))
      l->at += *l->at == ':' ? 2 : 1;
  } else if (c == '"') {
    const char *p = l->at + 1;
    while (p < l->end && *p != '"' && *p != '\n')
      p += p[0] == '\\' && p + 1 < l->end && p[1] != '\n' ? 2 : 1;
    t.text = l->at + 1;
    t.bytes = (uint32_t)(p - t.text);
    t.kind = p < l->end && *p == '"' ? PTX_T_STRING : PTX_T_BAD;
    l->at = t.kind == PTX_T_STRING ? p + 1 : p;
    return t;
  } else {
    static const char two[][3] = {"<<", ">>", "<=", ">=", "==", "!=", "&&", "||"};
    t.kind = strchr("{}()[]<>,;:|!@=+-*/%&^~?", c) ? PTX_T_PUNCT : PTX_T_BAD;
    size_t n = 1;
    for (size_t i = 0; i < sizeof two / sizeof two[0]; i++)
      if (c == two[i][0] && l->at[1] == two[i][1])
        n = 2;
    l->at += n;
  }
  t.bytes = (uint32_t)(l->at - t.text);
  return t;
}

bool ptx_lex_skip_block(ptx_lexer *l) {
  unsigned depth = 1;
  while (l->at < l->end) {
    char c = *l->at;
    if (c == '\n' || c == ' ' || c == '/' || c == '\t') {
      const char *before = l->at;
      ptx_token bad;
      if (!skip_space(l, &bad))
        return false;
      if (l->at == before)
        l->at++; /* a lone slash */
    } else if (c == '"') {
      ptx_lex(l);
    } else {
      depth += c == '{';
      depth -= c == '}';
      l->at++;
      if (depth == 0)
        return true;
    }
  }
  return false;
}
