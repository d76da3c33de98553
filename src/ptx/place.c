/* place.c: .file and .section: where instructions come from. Of the debug sections only the strings are kept,
 * for the names of inlined functions. */
#include <string.h>

#include "ptx/front.h"

void ptx_read_file(ptx_reader *r) {
  ptx_unit *u = r->unit;
  uint32_t index = ptx_expect_u32(r, "the number of a file");
  ptx_token name = r->token;
  if (name.kind != PTX_T_STRING)
    ptx_unexpected(r, "the name of a file");
  ptx_next(r);
  while (ptx_accept(r, ",")) /* time and size of the file */
    ptx_expr_int(r);
  *BASE_PUSH(&u->arena, u->files, u->m.n_files, u->cap_files) =
      (ptx_file){base_copy(&u->arena, name.text, name.bytes), index};
  u->m.files = u->files;
}

/* Labels and bytes of .debug_str, as `name: .b8 1,2,3` lines. What is not of that form is passed over: the
 * section belongs to debuggers, and nothing but names is taken from it. */
static void read_strings(ptx_reader *r) {
  ptx_unit *u = r->unit;
  uint32_t cap_bytes = 0, n = 0;
  char *bytes = NULL;
  while (!ptx_is(r, "}") && r->token.kind != PTX_T_END) {
    ptx_token t = ptx_next(r);
    if (t.kind == PTX_T_NAME && ptx_accept(r, ":"))
      base_map_set(&u->debug_labels, base_intern(&u->strings, t.text, t.bytes), n);
    else if (t.kind == PTX_T_INT)
      *BASE_PUSH(&u->arena, bytes, n, cap_bytes) = (char)t.value;
  }
  *BASE_PUSH(&u->arena, bytes, n, cap_bytes) = 0;
  u->debug_str = bytes;
  u->debug_str_bytes = n;
}

void ptx_read_section(ptx_reader *r) {
  bool strings = ptx_is_dot(r, "debug_str");
  if (r->token.kind != PTX_T_DOT && r->token.kind != PTX_T_NAME)
    ptx_fail(r, &r->token, "expected the name of a section");
  ptx_next(r);
  if (!ptx_is(r, "{"))
    ptx_expect(r, "{");
  if (strings) {
    ptx_next(r);
    read_strings(r);
    ptx_expect(r, "}");
    return;
  }
  ptx_token open = r->token;
  if (!ptx_lex_skip_block(&r->lexer))
    ptx_fail(r, &open, "this '{' has no '}'");
  ptx_next(r);
}

const char *ptx_file_name(const ptx_unit *u, uint32_t index) {
  for (uint32_t i = 0; i < u->m.n_files; i++)
    if (u->m.files[i].index == index)
      return u->m.files[i].name;
  return NULL;
}

const char *ptx_debug_name(const ptx_unit *u, const char *label, uint32_t bytes, uint32_t offset) {
  uint32_t at = offset;
  if (label) {
    const char *key = base_interned(&u->strings, label, bytes);
    uint32_t begin = key ? base_map_get(&u->debug_labels, key) : BASE_MISSING;
    if (begin == BASE_MISSING || offset > u->debug_str_bytes)
      return NULL;
    at = begin + offset;
  }
  /* the section ends with a NUL of ours */
  return u->debug_str && at < u->debug_str_bytes ? u->debug_str + at : NULL;
}
