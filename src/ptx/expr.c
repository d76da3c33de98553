/* expr.c: constant expressions, as PTX has them: 64 bits, signed unless an operand is not. Constants of
 * floating point know +, -, * and / on double precision, as ptxas does. */
#include <string.h>

#include "ptx/front.h"

static ptx_const conditional(ptx_reader *r);

static ptx_const integer(uint64_t bits, bool is_unsigned) {
  return (ptx_const){.bits = bits, .is_unsigned = is_unsigned};
}

static double as_double(ptx_const c) {
  double d;
  if (c.single) {
    float f;
    uint32_t b = (uint32_t)c.bits;
    memcpy(&f, &b, sizeof f);
    return f;
  }
  memcpy(&d, &c.bits, sizeof d);
  return d;
}

static ptx_const real(double d) {
  ptx_const c = {.is_float = true};
  memcpy(&c.bits, &d, sizeof d);
  return c;
}

static bool is_true(ptx_const c) {
  return c.is_float ? as_double(c) != 0 : c.bits != 0;
}

static ptx_const primary(ptx_reader *r) {
  ptx_token t = r->token;
  if (t.kind == PTX_T_INT) {
    ptx_next(r);
    return integer(t.value, t.is_unsigned);
  }
  if (t.kind == PTX_T_FLOAT) {
    ptx_next(r);
    return (ptx_const){.is_float = true, .bits = t.value, .single = t.single, .exact = t.exact};
  }
  if (ptx_accept(r, "WARP_SZ"))
    return integer(32, false);
  if (ptx_accept(r, "(")) {
    ptx_const c = conditional(r);
    ptx_expect(r, ")");
    return c;
  }
  ptx_unexpected(r, "a constant");
}

static bool cast_begins(const ptx_reader *r) {
  ptx_lexer behind = r->lexer;
  return ptx_is(r, "(") && ptx_lex(&behind).kind == PTX_T_DOT;
}

static ptx_const unary(ptx_reader *r);

/* (.s64) or (.u64), and what it applies to. */
static ptx_const cast(ptx_reader *r) {
  ptx_next(r);
  ptx_token t = r->token;
  if (!ptx_is_dot(r, "s64") && !ptx_is_dot(r, "u64"))
    ptx_fail(r, &t, "a constant is cast to .s64 or .u64");
  ptx_next(r);
  ptx_expect(r, ")");
  if (++r->depth > PTX_MAX_DEPTH)
    ptx_fail(r, &t, "expression too deep");
  ptx_const c = unary(r);
  r->depth--;
  if (c.is_float)
    ptx_fail(r, &t, "a floating-point constant cannot be cast");
  return integer(c.bits, t.text[0] == 'u');
}

static ptx_const unary(ptx_reader *r) {
  ptx_token t = r->token;
  if (cast_begins(r))
    return cast(r);
  if (!ptx_is(r, "-") && !ptx_is(r, "+") && !ptx_is(r, "!") && !ptx_is(r, "~"))
    return primary(r);
  if (++r->depth > PTX_MAX_DEPTH)
    ptx_fail(r, &t, "expression too deep");
  ptx_next(r);
  ptx_const c = unary(r);
  r->depth--;
  if (c.is_float) {
    if (c.exact || t.text[0] == '~')
      ptx_fail(r, &t, "'%.*s' does not apply to this constant", PTX_TEXT(&t));
    return t.text[0] == '-' ? real(-as_double(c)) : t.text[0] == '!' ? integer(!is_true(c), false) : c;
  }
  switch (t.text[0]) {
  case '-':
    return integer(0 - c.bits, c.is_unsigned);
  case '!':
    return integer(!c.bits, false);
  case '~':
    return integer(~c.bits, c.is_unsigned);
  default:
    return c;
  }
}

typedef enum binary_op {
  MUL,
  DIV,
  REM,
  ADD,
  SUB,
  SHL,
  SHR,
  LT,
  GT,
  LE,
  GE,
  EQ,
  NE,
  AND,
  XOR,
  OR,
  ANDAND,
  OROR,
  NO_BINARY
} binary_op;

static const struct {
  char text[3];
  uint8_t level; /* higher binds closer */
} binaries[] = {
    [MUL] = {"*", 10}, [DIV] = {"/", 10},    [REM] = {"%", 10}, [ADD] = {"+", 9}, [SUB] = {"-", 9},
    [SHL] = {"<<", 8}, [SHR] = {">>", 8},    [LT] = {"<", 7},   [GT] = {">", 7},  [LE] = {"<=", 7},
    [GE] = {">=", 7},  [EQ] = {"==", 6},     [NE] = {"!=", 6},  [AND] = {"&", 5}, [XOR] = {"^", 4},
    [OR] = {"|", 3},   [ANDAND] = {"&&", 2}, [OROR] = {"||", 1}};

static ptx_const apply_float(ptx_reader *r, const ptx_token *at, binary_op op, double a, double b) {
  switch (op) {
  case MUL:
    return real(a * b);
  case DIV:
    return real(a / b);
  case ADD:
    return real(a + b);
  case SUB:
    return real(a - b);
  case LT:
    return integer(a < b, false);
  case GT:
    return integer(a > b, false);
  case LE:
    return integer(a <= b, false);
  case GE:
    return integer(a >= b, false);
  case EQ:
    return integer(a == b, false);
  case NE:
    return integer(a != b, false);
  default:
    ptx_fail(r, at, "'%.*s' does not apply to floating-point constants", PTX_TEXT(at));
  }
}

static ptx_const apply(ptx_reader *r, const ptx_token *at, binary_op op, ptx_const a, ptx_const b) {
  if (op == ANDAND)
    return integer(is_true(a) && is_true(b), false);
  if (op == OROR)
    return integer(is_true(a) || is_true(b), false);
  if (a.is_float != b.is_float || a.exact || b.exact)
    ptx_fail(r, at, "'%.*s' between constants of different kinds", PTX_TEXT(at));
  if (a.is_float)
    return apply_float(r, at, op, as_double(a), as_double(b));
  bool u = a.is_unsigned || b.is_unsigned;
  uint64_t x = a.bits, y = b.bits;
  int64_t sx = (int64_t)x, sy = (int64_t)y;
  switch (op) {
  case MUL:
    return integer(x * y, u);
  case DIV:
  case REM:
    if (!y)
      ptx_fail(r, at, "division by zero");
    if (u)
      return integer(op == DIV ? x / y : x % y, u);
    if (sy == -1) /* the quotient of INT64_MIN would not fit */
      return integer(op == DIV ? 0 - x : 0, u);
    return integer((uint64_t)(op == DIV ? sx / sy : sx % sy), u);
  case ADD:
    return integer(x + y, u);
  case SUB:
    return integer(x - y, u);
  case SHL:
    return integer(y < 64 ? x << y : 0, a.is_unsigned);
  case SHR:
    if (a.is_unsigned)
      return integer(y < 64 ? x >> y : 0, true);
    return integer((uint64_t)(sx >> (y < 64 ? y : 63)), false);
  case LT:
    return integer(u ? x < y : sx < sy, false);
  case GT:
    return integer(u ? x > y : sx > sy, false);
  case LE:
    return integer(u ? x <= y : sx <= sy, false);
  case GE:
    return integer(u ? x >= y : sx >= sy, false);
  case EQ:
    return integer(x == y, false);
  case NE:
    return integer(x != y, false);
  case AND:
    return integer(x & y, u);
  case XOR:
    return integer(x ^ y, u);
  default:
    return integer(x | y, u);
  }
}

static binary_op binary_at(const ptx_reader *r) {
  /* a lone '%' is a name to the lexer, and with a digit behind it a register's, as ptxas has it, too */
  if (!r->token.bytes || !strchr("*/%+-<>=!&^|", r->token.text[0]))
    return NO_BINARY;
  for (int op = 0; op < NO_BINARY; op++)
    if (ptx_is(r, binaries[op].text))
      return (binary_op)op;
  return NO_BINARY;
}

static ptx_const binary(ptx_reader *r, unsigned level) {
  ptx_const a = unary(r);
  for (;;) {
    binary_op op = binary_at(r);
    if (op == NO_BINARY || binaries[op].level < level)
      return a;
    ptx_token at = ptx_next(r);
    ptx_const b = binary(r, binaries[op].level + 1u);
    a = apply(r, &at, op, a, b);
  }
}

static ptx_const conditional(ptx_reader *r) {
  ptx_token t = r->token;
  if (++r->depth > PTX_MAX_DEPTH)
    ptx_fail(r, &t, "expression too deep");
  ptx_const c = binary(r, 1);
  if (ptx_accept(r, "?")) {
    ptx_const yes = conditional(r);
    ptx_expect(r, ":");
    ptx_const no = conditional(r);
    c = is_true(c) ? yes : no;
  }
  r->depth--;
  return c;
}

/* An operand's '|' joins two operands and is no operator: the caller reads those by ptx_expr, whose operands
 * are rarely more than a number, and no instruction joins constants. */
ptx_const ptx_expr(ptx_reader *r) {
  r->depth = 0;
  return conditional(r);
}

int64_t ptx_expr_int(ptx_reader *r) {
  ptx_token t = r->token;
  ptx_const c = ptx_expr(r);
  if (c.is_float)
    ptx_fail(r, &t, "expected an integer");
  return (int64_t)c.bits;
}

bool ptx_expr_begins(const ptx_reader *r) {
  return r->token.kind == PTX_T_INT || r->token.kind == PTX_T_FLOAT || ptx_is(r, "(") || ptx_is(r, "-") ||
         ptx_is(r, "+") || ptx_is(r, "~") || ptx_is(r, "WARP_SZ");
}

static uint64_t single_bits(ptx_const c) {
  if (c.single)
    return c.bits;
  float f = (float)as_double(c);
  uint32_t b;
  memcpy(&b, &f, sizeof b);
  return b;
}

static uint64_t double_bits(ptx_const c) {
  double d = as_double(c);
  uint64_t b;
  memcpy(&b, &d, sizeof b);
  return b;
}

bool ptx_const_as(ptx_const c, ptx_type type, uint64_t *bits) {
  unsigned width = ptx_type_bits(type);
  if (c.is_float) {
    if (type == PTX_F32)
      *bits = single_bits(c);
    else if (type == PTX_F64 || (type == PTX_B64 && !c.single))
      *bits = double_bits(c);
    else if (type == PTX_B32 && c.single)
      *bits = c.bits;
    else
      return false;
    return true;
  }
  switch (ptx_type_base(type)) {
  case PTX_BASE_PRED:
    *bits = c.bits != 0;
    return true;
  case PTX_BASE_BITS:
  case PTX_BASE_UINT:
    *bits = width < 64 ? c.bits & ((UINT64_C(1) << width) - 1) : c.bits;
    return true;
  case PTX_BASE_SINT:
    *bits = width < 64 ? (uint64_t)((int64_t)(c.bits << (64 - width)) >> (64 - width)) : c.bits;
    return true;
  default:
    return false;
  }
}
