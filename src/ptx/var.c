/* var.c: declarations of variables and parameters, and initial values. */
#include <string.h>

#include "ptx/front.h"

enum { MAX_ALIGN = 1 << 20, MAX_INIT_BYTES = 1 << 28 };
#define MAX_VAR_BYTES (UINT64_C(1) << 46)

uint8_t ptx_space_of(ptx_directive d) {
  switch (d) {
  case PTX_DIR_CONST:
    return PTX_SPACE_CONST;
  case PTX_DIR_GLOBAL:
  case PTX_DIR_TEX: /* the old space of textures is global memory with another name */
    return PTX_SPACE_GLOBAL;
  case PTX_DIR_LOCAL:
    return PTX_SPACE_LOCAL;
  case PTX_DIR_SHARED:
    return PTX_SPACE_SHARED;
  case PTX_DIR_PARAM:
    return PTX_SPACE_PARAM;
  default:
    return PTX_SPACE_GENERIC;
  }
}

/* ------------------------------------------------------------------ initial values */

typedef struct piece {
  uint64_t offset, bits;
  unsigned bytes;
} piece;

typedef struct init {
  ptx_reader *r;
  ptx_var *v;
  uint64_t element_bytes;
  piece *pieces;
  ptx_reloc *relocs;
  uint32_t n_pieces, cap_pieces, n_relocs, cap_relocs;
  uint64_t end;      /* behind the last byte given */
  uint64_t elements; /* of the first dimension */
} init;

static uint32_t symbol_at(ptx_reader *r, bool *is_func) {
  ptx_token t = ptx_expect_name(r, "the name of a symbol");
  uint32_t index = ptx_symbol(r->unit, t.text, t.bytes, is_func);
  if (index == UINT32_MAX)
    ptx_fail(r, &t, "unknown symbol '%.*s'", PTX_TEXT(&t));
  if (!*is_func && r->unit->vars[index].space != PTX_SPACE_GLOBAL &&
      r->unit->vars[index].space != PTX_SPACE_CONST)
    ptx_fail(r, &t, "the address of '%.*s', in .%s, is no initial value", PTX_TEXT(&t),
             ptx_mod_name((ptx_mod)r->unit->vars[index].space));
  return index;
}

/* symbol, generic(symbol), either with + constant behind. */
static ptx_reloc address(ptx_reader *r) {
  ptx_reloc a = {0};
  if (ptx_accept(r, "generic")) {
    a.generic = true;
    ptx_expect(r, "(");
    ptx_token t = r->token;
    a.index = symbol_at(r, &a.is_func);
    if (a.is_func)
      ptx_fail(r, &t, "a function has no generic address");
    ptx_expect(r, ")");
  } else {
    a.index = symbol_at(r, &a.is_func);
  }
  if (ptx_accept(r, "+"))
    a.addend = ptx_expr_int(r);
  return a;
}

static bool is_integer(ptx_type t) {
  return ptx_type_base(t) == PTX_BASE_UINT || ptx_type_base(t) == PTX_BASE_SINT;
}

static void put_reloc(init *in, ptx_reloc a, uint64_t offset, unsigned bytes, unsigned shift) {
  a.offset = offset;
  a.bytes = (uint8_t)bytes;
  a.shift = (uint8_t)shift;
  *BASE_PUSH(&in->r->unit->arena, in->relocs, in->n_relocs, in->cap_relocs) = a;
}

/* 0xFF00(symbol): some bytes of an address; the mask's ones are adjacent whole bytes. */
static void masked_address(init *in, const ptx_token *at, uint64_t mask, uint64_t offset,
                           unsigned type_bytes) {
  unsigned shift = 0, bytes = 0;
  while (shift < 64 && !(mask >> shift & 0xff))
    shift += 8;
  for (unsigned s = shift; s < 64 && (mask >> s & 0xff) == 0xff; s += 8)
    bytes++;
  uint64_t ones = bytes >= 8 ? UINT64_MAX : ((UINT64_C(1) << 8 * bytes) - 1) << shift % 64;
  if (!bytes || mask != ones || bytes > type_bytes || !is_integer((ptx_type)in->v->type))
    ptx_fail(in->r, at,
             "a mask covers whole bytes of an address, as many as its variable's integer type at most");
  ptx_expect(in->r, "(");
  ptx_reloc a = address(in->r);
  ptx_expect(in->r, ")");
  put_reloc(in, a, offset, bytes, shift);
}

static void scalar(init *in, uint64_t offset) {
  ptx_reader *r = in->r;
  ptx_token t = r->token;
  ptx_type type = (ptx_type)in->v->type;
  unsigned bytes = ptx_type_bytes(type);
  if (offset + bytes > MAX_INIT_BYTES)
    ptx_fail(r, &t, "too much initial data");
  if (offset + bytes > in->end)
    in->end = offset + bytes;
  if (t.kind == PTX_T_NAME && !ptx_is(r, "WARP_SZ")) {
    if (bytes < 4 || !is_integer(type))
      ptx_fail(r, &t, "an address does not fit into a .%s", ptx_type_name(type));
    put_reloc(in, address(r), offset, bytes, 0);
    return;
  }
  if (t.kind == PTX_T_INT) {
    ptx_lexer behind = r->lexer;
    ptx_token next = ptx_lex(&behind);
    if (next.kind == PTX_T_PUNCT && next.text[0] == '(') {
      ptx_next(r);
      masked_address(in, &t, t.value, offset, bytes);
      return;
    }
  }
  ptx_const c = ptx_expr(r);
  uint64_t bits;
  if (!ptx_const_as(c, type, &bits))
    ptx_fail(r, &t, "this constant is no .%s", ptx_type_name(type));
  *BASE_PUSH(&r->unit->arena, in->pieces, in->n_pieces, in->cap_pieces) =
      (piece){offset, bits, bytes > 8 ? 8 : bytes};
}

/* One element, or the list of the elements of a dimension and of all dimensions below. */
static void value(init *in, unsigned dim, uint64_t offset) {
  ptx_reader *r = in->r;
  const ptx_var *v = in->v;
  unsigned levels = v->n_dims + (v->vec > 1);
  if (dim == levels) {
    scalar(in, offset);
    return;
  }
  if (!ptx_is(r, "{"))
    ptx_fail(r, &r->token, "expected '{' of an array's initial value");
  ptx_next(r);
  uint64_t step = dim == v->n_dims ? ptx_type_bytes((ptx_type)v->type) : in->element_bytes, limit = v->vec;
  if (dim < v->n_dims && dim < PTX_MAX_DIMS) {
    for (unsigned d = dim + 1; d < v->n_dims && d < PTX_MAX_DIMS; d++)
      step *= v->dims[d];
    limit = v->dims[dim] ? v->dims[dim] : UINT32_MAX;
  }
  uint64_t n = 0;
  while (!ptx_is(r, "}")) {
    ptx_token t = r->token;
    if (n == limit)
      ptx_fail(r, &t, "more initial values than elements");
    if (n && step > MAX_INIT_BYTES / n)
      ptx_fail(r, &t, "too much initial data");
    value(in, dim + 1, offset + n * step);
    n++;
    if (!ptx_accept(r, ","))
      break;
  }
  if (dim == v->n_dims && n != limit)
    ptx_fail(r, &r->token, "a vector of %u has %u initial values", v->vec, (unsigned)n);
  ptx_expect(r, "}");
  if (dim == 0)
    in->elements = n;
}

static void read_init(ptx_reader *r, ptx_var *v) {
  init in = {.r = r, .v = v, .element_bytes = (uint64_t)ptx_type_bytes((ptx_type)v->type) * v->vec};
  ptx_token at = r->token;
  if (ptx_type_base((ptx_type)v->type) == PTX_BASE_OPAQUE) {
    /* properties of a texture or surface reference: nothing that is modelled */
    if (!ptx_is(r, "{") || !ptx_lex_skip_block(&r->lexer))
      ptx_fail(r, &at, "expected the properties of a reference");
    ptx_next(r);
    return;
  }
  if (v->type == PTX_F16 || v->type == PTX_F16X2)
    ptx_fail(r, &at, "a variable of .%s has no initial value", ptx_type_name((ptx_type)v->type));
  value(&in, 0, 0);
  if (v->unsized) {
    if (!in.elements || in.elements > UINT32_MAX)
      ptx_fail(r, &at, "an array needs at least one element");
    v->dims[0] = (uint32_t)in.elements;
    v->unsized = false;
  }
  uint8_t *bytes = base_alloc(&r->unit->arena, (size_t)in.end + 8);
  for (uint32_t i = 0; i < in.n_pieces; i++)
    for (unsigned b = 0; b < in.pieces[i].bytes; b++)
      bytes[in.pieces[i].offset + b] = (uint8_t)(in.pieces[i].bits >> 8 * b);
  v->init = bytes;
  v->init_bytes = in.end;
  v->relocs = in.relocs;
  v->n_relocs = in.n_relocs;
}

/* ------------------------------------------------------------------ declarations */

static uint32_t read_align(ptx_reader *r) {
  ptx_token t = r->token;
  uint32_t align = ptx_expect_u32(r, "an alignment");
  if (!align || align & (align - 1) || align > MAX_ALIGN)
    ptx_fail(r, &t, "an alignment is a power of two");
  return align;
}

/* ".attribute(.managed, .unified(1, 2))", from behind the word. */
void ptx_read_attributes(ptx_reader *r, ptx_var *v) {
  ptx_expect(r, "(");
  do {
    ptx_token t = r->token;
    if (ptx_accept_dot(r, "managed")) {
      v->managed = true;
    } else if (ptx_accept_dot(r, "unified")) {
      v->has_unified = true;
      ptx_expect(r, "(");
      v->unified[0] = (uint64_t)ptx_expr_int(r);
      ptx_expect(r, ",");
      v->unified[1] = (uint64_t)ptx_expr_int(r);
      ptx_expect(r, ")");
    } else {
      ptx_fail(r, &t, "unknown attribute");
    }
  } while (ptx_accept(r, ","));
  ptx_expect(r, ")");
}

/* Type, alignment, vector, in whatever order they come. */
static void read_type(ptx_reader *r, ptx_var *v) {
  for (;;) {
    ptx_token t = r->token;
    if (t.kind != PTX_T_DOT)
      break;
    ptx_type type = ptx_type_find(t.text, t.bytes);
    ptx_next(r);
    if (type != PTX_TYPE_NONE) {
      if (v->type)
        ptx_fail(r, &t, "a second type");
      v->type = (uint8_t)type;
      continue;
    }
    switch (ptx_directive_find(t.text, t.bytes)) {
    case PTX_DIR_ALIGN:
      v->align = read_align(r);
      break;
    case PTX_DIR_V2:
      v->vec = 2;
      break;
    case PTX_DIR_V4:
      v->vec = 4;
      break;
    case PTX_DIR_ATTRIBUTE:
      ptx_read_attributes(r, v);
      break;
    case PTX_DIR_PTR:
      if (v->space != PTX_SPACE_PARAM)
        ptx_fail(r, &t, "'.ptr' is for parameters of kernels");
      v->is_ptr = true;
      if (ptx_space_of(ptx_directive_at(r)) != PTX_SPACE_GENERIC)
        v->ptr_space = ptx_space_of(ptx_directive_at(r)), ptx_next(r);
      if (ptx_accept_dot(r, "align"))
        v->ptr_align = read_align(r);
      break;
    default:
      ptx_fail(r, &t, "'.%.*s' is neither a type nor '.align'", PTX_TEXT(&t));
    }
  }
  if (!v->type)
    ptx_fail(r, &r->token, "expected a type");
}

/* Types which only instructions have: packed and alternate ones but the two half types. */
static void check_type(ptx_reader *r, const ptx_token *at, const ptx_var *v) {
  ptx_type t = (ptx_type)v->type;
  bool in_register = v->space == PTX_SPACE_GENERIC;
  if ((t == PTX_PRED && !in_register) || ptx_type_base(t) == PTX_BASE_ALT)
    ptx_fail(r, at, "a variable cannot have the type .%s", ptx_type_name(t));
  if (v->vec > 1 && (t == PTX_PRED || v->vec * ptx_type_bits(t) > 128))
    ptx_fail(r, at, "a vector of four .%s is too wide", ptx_type_name(t));
}

static void read_dims(ptx_reader *r, ptx_var *v) {
  uint64_t elements = 1;
  while (ptx_is(r, "[")) {
    ptx_token t = ptx_next(r);
    if (v->n_dims == PTX_MAX_DIMS)
      ptx_fail(r, &t, "an array of more than four dimensions");
    if (ptx_is(r, "]")) {
      if (v->n_dims)
        ptx_fail(r, &t, "only the first dimension may be left out");
      v->unsized = true;
      v->n_dims++;
    } else {
      uint32_t n = ptx_expect_u32(r, "the size of an array");
      if (!n)
        ptx_fail(r, &t, "the size of an array is positive");
      v->dims[v->n_dims++] = n;
      if (elements > MAX_VAR_BYTES / n)
        ptx_fail(r, &t, "the array is too large");
      elements *= n;
    }
    ptx_expect(r, "]");
  }
}

static void set_bytes(ptx_reader *r, const ptx_token *at, ptx_var *v) {
  uint64_t bytes = (uint64_t)ptx_type_bytes((ptx_type)v->type) * v->vec;
  if (!v->align)
    v->align = (uint32_t)bytes;
  for (unsigned d = 0; d < v->n_dims; d++) {
    uint64_t n = v->dims[d] ? v->dims[d] : 1;
    if (bytes > MAX_VAR_BYTES / n)
      ptx_fail(r, at, "the array is too large");
    bytes *= n;
  }
  v->bytes = v->unsized ? 0 : bytes;
}

void ptx_read_vars(ptx_reader *r, ptx_var base, ptx_var_place where, ptx_add_var *add, void *context) {
  base.vec = 1;
  read_type(r, &base);
  check_type(r, &r->token, &base);
  do {
    ptx_var v = base;
    ptx_token name = ptx_expect_name(r, "a name");
    v.place = v.defined = ptx_place_of(&name);
    read_dims(r, &v);
    if (ptx_accept(r, "=")) {
      if (where != PTX_AT_MODULE || (v.space != PTX_SPACE_GLOBAL && v.space != PTX_SPACE_CONST))
        ptx_fail(r, &name, "only global and constant variables have initial values");
      if (v.linkage == PTX_LINK_EXTERN)
        ptx_fail(r, &name, "an external variable has no initial value here");
      read_init(r, &v);
    }
    if (v.unsized && where != PTX_AT_OPEN_PARAM && v.linkage != PTX_LINK_EXTERN)
      ptx_fail(r, &name, "the size of '%.*s' is missing", PTX_TEXT(&name));
    set_bytes(r, &name, &v);
    add(r, &v, &name, context);
  } while (where < PTX_AT_PARAM && ptx_accept(r, ","));
}

typedef struct params {
  base_strings names;
  ptx_var *list;
  uint32_t n, capacity;
  uint64_t end;
  uint32_t align;
} params;

static void add_param(ptx_reader *r, const ptx_var *v, const ptx_token *name, void *context) {
  params *p = context;
  bool nameless = name->bytes == 1 && name->text[0] == '_';
  if (!nameless && base_interned(&p->names, name->text, name->bytes))
    ptx_fail(r, name, "'%.*s' is declared a second time", PTX_TEXT(name));
  ptx_var *to = BASE_PUSH(&r->unit->arena, p->list, p->n, p->capacity);
  *to = *v;
  to->name = base_intern(&p->names, name->text, name->bytes);
  if (v->space == PTX_SPACE_GENERIC)
    return;
  to->offset = (p->end + v->align - 1) / v->align * v->align;
  p->end = to->offset + v->bytes;
  if (v->align > p->align)
    p->align = v->align;
}

const ptx_var *ptx_read_params(ptx_reader *r, bool entry, uint32_t *n, uint32_t *bytes, uint32_t *align) {
  enum { MAX_KERNEL_BYTES = 32764, MAX_BYTES = 1 << 24 };
  params p = {.align = 1};
  base_strings_init(&p.names, &r->unit->arena);
  ptx_token at = r->token;
  ptx_expect(r, "(");
  while (!ptx_is(r, ")")) {
    ptx_token t = r->token;
    ptx_directive d = ptx_directive_at(r);
    if (d != PTX_DIR_PARAM && (d != PTX_DIR_REG || entry))
      ptx_fail(r, &t, "expected '.param'");
    ptx_next(r);
    ptx_var base = {.space = ptx_space_of(d)};
    if (d == PTX_DIR_PARAM && (ptx_is_dot(r, "v2") || ptx_is_dot(r, "v4")))
      ptx_fail(r, &r->token, "a parameter is no vector");
    ptx_read_vars(r, base, entry ? PTX_AT_PARAM : PTX_AT_OPEN_PARAM, add_param, &p);
    if (!ptx_accept(r, ","))
      break;
  }
  ptx_expect(r, ")");
  if (p.end > (entry ? MAX_KERNEL_BYTES : MAX_BYTES))
    ptx_fail(r, &at, "the parameters take %llu bytes, more than there is room for",
             (unsigned long long)p.end);
  *n = p.n;
  if (bytes)
    *bytes = (uint32_t)p.end;
  if (align)
    *align = p.align;
  return p.list;
}
