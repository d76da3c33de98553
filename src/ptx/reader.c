/* reader.c: the token at hand, and how an error leaves. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ptx/front.h"

ptx_place ptx_place_of(const ptx_token *t) {
  return (ptx_place){t->line, (uint32_t)(t->text - t->line_begin) + 1 - (t->kind == PTX_T_STRING)};
}

static void add(ptx_reader *r, base_severity severity, const ptx_token *at, const char *format,
                va_list args) {
  char message[512];
  vsnprintf(message, sizeof message, format, args);
  ptx_place p = ptx_place_of(at);
  base_diag_add(&r->unit->diags, severity, p.line, p.column, at->line_begin, "%s", message);
}

_Noreturn void ptx_fail(ptx_reader *r, const ptx_token *at, const char *format, ...) {
  va_list args;
  va_start(args, format);
  add(r, BASE_ERROR, at, format, args);
  va_end(args);
  longjmp(*r->failed, 1);
}

void ptx_say(ptx_reader *r, base_severity severity, const ptx_token *at, const char *format, ...) {
  va_list args;
  va_start(args, format);
  add(r, severity, at, format, args);
  va_end(args);
}

bool ptx_too_many_errors(const ptx_unit *u) {
  return u->diags.n_errors >= PTX_MAX_ERRORS;
}

ptx_token ptx_next(ptx_reader *r) {
  ptx_token t = r->token;
  r->token = ptx_lex(&r->lexer);
  return t;
}

static bool is_text(const ptx_token *t, const char *text) {
  return strncmp(t->text, text, t->bytes) == 0 && !text[t->bytes];
}

bool ptx_is(const ptx_reader *r, const char *text) {
  return (r->token.kind == PTX_T_PUNCT || r->token.kind == PTX_T_NAME) && is_text(&r->token, text);
}

bool ptx_is_dot(const ptx_reader *r, const char *word) {
  return r->token.kind == PTX_T_DOT && is_text(&r->token, word);
}

bool ptx_accept(ptx_reader *r, const char *text) {
  if (!ptx_is(r, text))
    return false;
  ptx_next(r);
  return true;
}

bool ptx_accept_dot(ptx_reader *r, const char *word) {
  if (!ptx_is_dot(r, word))
    return false;
  ptx_next(r);
  return true;
}

_Noreturn void ptx_unexpected(ptx_reader *r, const char *wanted) {
  ptx_token t = r->token;
  switch (t.kind) {
  case PTX_T_END:
    ptx_fail(r, &t, "expected %s before the end of the text", wanted);
  case PTX_T_BAD:
    if (strncmp(t.text, "/*", 2) == 0)
      ptx_fail(r, &t, "this comment does not end");
    if (t.text > r->unit->m.text && t.text[-1] == '"')
      ptx_fail(r, &t, "this string does not end");
    ptx_fail(r, &t,
             t.text[0] >= '0' && t.text[0] <= '9' ? "this is no number" : "this is no character of PTX");
  case PTX_T_DOT:
    ptx_fail(r, &t, "expected %s before '.%.*s'", wanted, (int)(t.bytes < 40 ? t.bytes : 40), t.text);
  default:
    ptx_fail(r, &t, "expected %s before '%.*s'", wanted, (int)(t.bytes < 40 ? t.bytes : 40), t.text);
  }
}

void ptx_expect(ptx_reader *r, const char *punct) {
  if (!ptx_accept(r, punct)) {
    char wanted[16];
    snprintf(wanted, sizeof wanted, "'%s'", punct);
    ptx_unexpected(r, wanted);
  }
}

ptx_token ptx_expect_name(ptx_reader *r, const char *what) {
  if (r->token.kind != PTX_T_NAME)
    ptx_unexpected(r, what);
  return ptx_next(r);
}

ptx_directive ptx_directive_at(const ptx_reader *r) {
  return r->token.kind == PTX_T_DOT ? ptx_directive_find(r->token.text, r->token.bytes) : PTX_DIR_NONE;
}

uint32_t ptx_expect_u32(ptx_reader *r, const char *what) {
  ptx_token t = r->token;
  if (!ptx_expr_begins(r))
    ptx_unexpected(r, what);
  int64_t v = ptx_expr_int(r);
  if (v < 0 || v > UINT32_MAX)
    ptx_fail(r, &t, "%s out of range", what);
  return (uint32_t)v;
}
