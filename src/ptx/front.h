/* front.h: what the files of src/ptx share while they turn text into a module. Private to src/ptx.
 *
 * lex -> module (directives) -> var, body -> operand, form, verify -> flow. Errors are reported where they
 * are seen and leave by a jump: ptx_fail never returns. The statement loop of module.c or body.c catches it,
 * skips to the next statement and goes on, so that one run shows several errors.
 */
#ifndef MUSTER_PTX_FRONT_H
#define MUSTER_PTX_FRONT_H

#include <pthread.h>
#include <setjmp.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "ptx/ptx.h"
#include "ptx/table.h"

/* ------------------------------------------------------------------ lex.c */

typedef enum ptx_token_kind {
  PTX_T_END,
  PTX_T_NAME,   /* add, %r1, $L__BB0_1, _ */
  PTX_T_DOT,    /* .global; text is without the dot */
  PTX_T_INT,    /* value */
  PTX_T_FLOAT,  /* value: the bits of a double, or of a float if `single` */
  PTX_T_STRING, /* text is without the quotes */
  PTX_T_PUNCT,  /* one character, or << >> <= >= == != && || */
  PTX_T_BAD
} ptx_token_kind;

typedef struct ptx_token {
  uint8_t kind;
  bool is_unsigned; /* an integer constant with U, or beyond 2^63 */
  bool single;      /* 0fXXXXXXXX */
  bool exact;       /* 0f or 0d: a bit pattern of that type and no other */
  bool glued;       /* nothing between it and the token before */
  uint32_t line, bytes;
  const char *text, *line_begin;
  uint64_t value;
} ptx_token;

typedef struct ptx_lexer {
  const char *at, *end, *line_begin;
  uint32_t line;
} ptx_lexer;

ptx_token ptx_lex(ptx_lexer *l);
/* From behind a '{' to behind its '}'; false if the text ends before. */
bool ptx_lex_skip_block(ptx_lexer *l);

/* ------------------------------------------------------------------ the module while it is made */

typedef struct ptx_func_more {
  ptx_lexer text; /* the body, from behind its '{' to before its '}' */
  const ptx_body *body;
  bool read;
} ptx_func_more;

typedef struct ptx_unit {
  ptx_module m; /* first: a ptx_module * is a ptx_unit * */
  base_arena arena;
  base_strings strings; /* names of symbols; complete once the declarations are read */
  base_map symbols;     /* interned name -> 2 * index + is_func */
  base_diags diags;
  ptx_var *vars;
  ptx_func *funcs;
  ptx_func_more *more;
  ptx_file *files;
  const char **pragmas;
  base_map debug_labels; /* interned name -> offset in debug_str: a .loc names inlined functions so */
  char *debug_str;
  uint32_t debug_str_bytes, n_more;
  uint32_t cap_vars, cap_funcs, cap_more, cap_files, cap_pragmas;
  /* Spellings seen so far, "ld.global.u32", each with the instruction that it makes: a module uses few. */
  base_strings spellings;
  base_map spelled;
  ptx_insn *spelling;
  uint32_t n_spelling, cap_spelling;
  pthread_mutex_t lock; /* held while a body is read */
} ptx_unit;

/* ------------------------------------------------------------------ reading */

enum { PTX_MAX_ERRORS = 20, PTX_MAX_DEPTH = 200 };

typedef struct ptx_reader {
  ptx_unit *unit;
  ptx_lexer lexer;
  ptx_token token; /* the one to look at next */
  jmp_buf *failed; /* where ptx_fail goes */
  uint32_t depth;  /* nesting of expressions or scopes */
} ptx_reader;

_Noreturn void ptx_fail(ptx_reader *r, const ptx_token *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Says it and goes on. */
void ptx_say(ptx_reader *r, base_severity severity, const ptx_token *at, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

ptx_token ptx_next(ptx_reader *r); /* takes the current token */
bool ptx_is(const ptx_reader *r, const char *punct_or_name);
bool ptx_is_dot(const ptx_reader *r, const char *word);
bool ptx_accept(ptx_reader *r, const char *punct_or_name);
bool ptx_accept_dot(ptx_reader *r, const char *word);
void ptx_expect(ptx_reader *r, const char *punct);
/* "expected this before that", or what is wrong with a token that is none. */
_Noreturn void ptx_unexpected(ptx_reader *r, const char *wanted);
ptx_token ptx_expect_name(ptx_reader *r, const char *what);
ptx_directive ptx_directive_at(const ptx_reader *r); /* of the current token; PTX_DIR_NONE */
uint32_t ptx_expect_u32(ptx_reader *r, const char *what);
ptx_place ptx_place_of(const ptx_token *t);
#define PTX_TEXT(token) (int)(token)->bytes, (token)->text

/* ------------------------------------------------------------------ expr.c */

typedef struct ptx_const {
  bool is_float, is_unsigned, single, exact;
  uint64_t bits; /* an integer, or a double's bits (a float's if single) */
} ptx_const;

ptx_const ptx_expr(ptx_reader *r);
int64_t ptx_expr_int(ptx_reader *r); /* an error if it is a float */
bool ptx_expr_begins(const ptx_reader *r);
/* The bits of a constant as a value of `type`; false: not a constant of that type. */
bool ptx_const_as(ptx_const c, ptx_type type, uint64_t *bits);

/* ------------------------------------------------------------------ var.c */

/* A function's last parameter may be an array without a size, which takes all further arguments. */
typedef enum ptx_var_place { PTX_AT_MODULE, PTX_AT_BODY, PTX_AT_PARAM, PTX_AT_OPEN_PARAM } ptx_var_place;

/* Reads from behind the state space to behind the last declarator: [.align] [.v4] type name[dims] [= init] {,
 * ...}. Each variable goes to `add`. `base` holds what stood before: space, linkage. */
typedef void ptx_add_var(ptx_reader *r, const ptx_var *v, const ptx_token *name, void *context);
void ptx_read_vars(ptx_reader *r, ptx_var base, ptx_var_place place, ptx_add_var *add, void *context);
/* "( .param .b32 a, ... )" of a kernel, function or prototype, laid out; *bytes, *align: of the whole, or
 * NULL. */
const ptx_var *ptx_read_params(ptx_reader *r, bool entry, uint32_t *n, uint32_t *bytes, uint32_t *align);
void ptx_read_attributes(ptx_reader *r, ptx_var *v);
uint8_t ptx_space_of(ptx_directive d); /* PTX_SPACE_GENERIC: none */

/* ------------------------------------------------------------------ place.c */

void ptx_read_file(ptx_reader *r);    /* behind .file */
void ptx_read_section(ptx_reader *r); /* behind .section */
const char *ptx_file_name(const ptx_unit *u, uint32_t index);
const char *ptx_debug_name(const ptx_unit *u, const char *label, uint32_t bytes, uint32_t offset);

/* ------------------------------------------------------------------ module.c */

/* UINT32_MAX: no such symbol. */
uint32_t ptx_symbol(const ptx_unit *u, const char *name, size_t bytes, bool *is_func);
bool ptx_too_many_errors(const ptx_unit *u);

#endif
