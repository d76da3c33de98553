/* operand.c: operands, first as written, then as the instruction's form wants them. */
#include <string.h>

#include "base/text.h"
#include "ptx/body.h"

/* ------------------------------------------------------------------ as written */

static void read_part(ptx_builder *b, ptx_raw *raw) {
  if (b->r.token.kind == PTX_T_DOT && b->r.token.glued)
    raw->part = ptx_next(&b->r);
}

/* name, name.x, name+4, name[3], 17, _, !p: an element of a vector, too. */
static ptx_raw read_simple(ptx_builder *b) {
  ptx_reader *r = &b->r;
  ptx_raw raw = {.at = r->token};
  if (ptx_is(r, "!")) {
    /* !p, or the constant !0 */
    ptx_lexer behind = r->lexer;
    if (ptx_lex(&behind).kind == PTX_T_NAME) {
      ptx_next(r);
      raw.negated = true;
    }
  }
  if (r->token.kind == PTX_T_NAME && !ptx_is(r, "WARP_SZ")) {
    if (ptx_accept(r, "_")) {
      raw.kind = PTX_RAW_SINK;
      return raw;
    }
    raw.kind = PTX_RAW_NAME;
    raw.name = ptx_next(r);
    read_part(b, &raw);
    if (ptx_accept(r, "+"))
      raw.offset = ptx_expr_int(r);
    else if (ptx_accept(r, "[")) {
      raw.indexed = true;
      raw.offset = ptx_expr_int(r);
      ptx_expect(r, "]");
    }
    return raw;
  }
  raw.kind = PTX_RAW_CONST;
  raw.value = ptx_expr(r);
  return raw;
}

static ptx_raw read_address(ptx_builder *b) {
  ptx_reader *r = &b->r;
  ptx_raw raw = {.kind = PTX_RAW_MEM, .at = ptx_next(r)};
  if (r->token.kind == PTX_T_NAME && !ptx_is(r, "WARP_SZ")) {
    raw.name = ptx_next(r);
    read_part(b, &raw);
    if (ptx_accept(r, "+"))
      raw.offset = ptx_expr_int(r);
  } else {
    raw.offset = ptx_expr_int(r);
  }
  ptx_expect(r, "]");
  if (r->token.kind == PTX_T_DOT && r->token.glued)
    raw.behind = ptx_next(r);
  return raw;
}

ptx_raw ptx_read_operand(ptx_builder *b) {
  ptx_reader *r = &b->r;
  if (ptx_is(r, "["))
    return read_address(b);
  if (!ptx_is(r, "{"))
    return read_simple(b);
  ptx_raw raw = {.kind = PTX_RAW_VEC, .at = ptx_next(r)};
  raw.elements = base_alloc_array(&b->scratch, PTX_MAX_ELEMENTS, sizeof *raw.elements);
  do {
    if (raw.n == PTX_MAX_ELEMENTS)
      ptx_fail(r, &r->token, "a vector of more than %d elements", PTX_MAX_ELEMENTS);
    raw.elements[raw.n++] = read_simple(b);
  } while (ptx_accept(r, ","));
  ptx_expect(r, "}");
  return raw;
}

/* ------------------------------------------------------------------ what a name is */

typedef enum ref_kind { REF_NONE, REF_REG, REF_VECTOR, REF_SREG, REF_VAR, REF_FUNC } ref_kind;

typedef struct ref {
  ref_kind kind;
  bool in_body;
  uint32_t index, parts;
  const ptx_var *var;
} ref;

static bool declared_behind(const ptx_token *use, ptx_place p) {
  uint32_t column = (uint32_t)(use->text - use->line_begin) + 1;
  return p.line > use->line || (p.line == use->line && p.column > column);
}

static ref look_up(ptx_builder *b, const ptx_token *name) {
  const ptx_unit *u = b->r.unit;
  uint32_t number = 0;
  const ptx_decl *d = ptx_body_symbol(b, name->text, name->bytes, &number);
  if (d) {
    if (d->kind == PTX_D_VAR)
      return (ref){REF_VAR, true, d->index, 0, &b->vars[d->index]};
    return (ref){d->parts ? REF_VECTOR : REF_REG, true, d->index + number, d->parts, NULL};
  }
  bool is_func = false;
  uint32_t s = ptx_symbol(u, name->text, name->bytes, &is_func);
  if (s != UINT32_MAX && !declared_behind(name, is_func ? u->m.funcs[s].place : u->m.vars[s].place))
    return (ref){is_func ? REF_FUNC : REF_VAR, false, s, 0, is_func ? NULL : &u->m.vars[s]};
  ptx_sreg sreg = ptx_sreg_find(name->text, name->bytes);
  if (sreg != PTX_SREGS)
    return (ref){REF_SREG, false, sreg, ptx_sreg_parts(sreg), NULL};
  return (ref){REF_NONE, false, 0, 0, NULL};
}

static _Noreturn void unknown(ptx_builder *b, const ptx_token *name) {
  ptx_fail(&b->r, name, "'%.*s' is not declared", PTX_TEXT(name));
}

/* .x .y .z .w or .r .g .b .a; -1: no part. */
static int part_of(ptx_builder *b, const ptx_token *part, unsigned parts) {
  if (part->kind == PTX_T_END)
    return -1;
  static const char letters[] = "xyzwrgba";
  const char *at = part->bytes == 1 ? strchr(letters, part->text[0]) : NULL;
  if (!at || (unsigned)(at - letters) % 4 >= parts)
    ptx_fail(&b->r, part, "no part '.%.*s' here", PTX_TEXT(part));
  return (int)(at - letters) % 4;
}

/* ------------------------------------------------------------------ types */

static bool fits(ptx_type reg, ptx_type want, bool wider) {
  ptx_base rb = ptx_type_base(reg), wb = ptx_type_base(want);
  if (rb == PTX_BASE_PRED || wb == PTX_BASE_PRED)
    return rb == wb;
  unsigned rbits = ptx_type_bits(reg), wbits = ptx_type_bits(want);
  if (wider ? rbits < wbits : rbits != wbits)
    return false;
  if (rb == PTX_BASE_BITS || wb == PTX_BASE_BITS)
    return true;
  bool rint = rb == PTX_BASE_UINT || rb == PTX_BASE_SINT, wint = wb == PTX_BASE_UINT || wb == PTX_BASE_SINT;
  if (wb == PTX_BASE_ALT)
    return rint; /* packed types live in registers of bits; ptxas takes integers as well */
  if (rint != wint)
    return false;
  return rint || reg == want;
}

static ptx_type twice(ptx_type t) {
  switch (t) {
  case PTX_U16:
    return PTX_U32;
  case PTX_S16:
    return PTX_S32;
  case PTX_U32:
    return PTX_U64;
  default:
    return PTX_S64;
  }
}

static ptx_type slot_type(const ptx_slot *s, const ptx_insn *i) {
  if (s->type)
    return (ptx_type)s->type;
  ptx_type t = (ptx_type)i->type[s->from];
  return s->twice ? twice(t) : t;
}

/* ------------------------------------------------------------------ binding */

typedef struct binding {
  ptx_builder *b;
  ptx_insn *insn;
  const ptx_slot *slot;
  ptx_type type;
} binding;

static const char *name_of(const binding *k) {
  return ptx_op_get((ptx_op)k->insn->op)->name;
}

static ptx_operand from_reg(binding *k, const ptx_token *at, uint32_t reg, ptx_type want) {
  ptx_type have = (ptx_type)k->b->regs[reg].type;
  if (want != PTX_TYPE_NONE && !fits(have, want, k->slot->wider))
    ptx_fail(&k->b->r, at, "'%.*s' is .%s; %s takes .%s here", PTX_TEXT(at), ptx_type_name(have), name_of(k),
             ptx_type_name(want));
  return (ptx_operand){.kind = PTX_REG, .type = (uint8_t)want, .index = reg};
}

static ptx_operand from_const(binding *k, const ptx_raw *raw, ptx_type want) {
  ptx_operand o = {.kind = PTX_IMM, .type = (uint8_t)want};
  if (!ptx_const_as(raw->value, want, &o.bits))
    ptx_fail(&k->b->r, &raw->at, "this constant is no .%s", ptx_type_name(want));
  return o;
}

static uint64_t element_bytes(const ptx_var *v) {
  return (uint64_t)ptx_type_bytes((ptx_type)v->type) * v->vec;
}

static int64_t offset_of(const ptx_raw *raw, const ptx_var *v) {
  return raw->indexed ? (int64_t)((uint64_t)raw->offset * element_bytes(v)) : raw->offset;
}

static uint32_t push_vector(ptx_builder *b, const ptx_operand *list, unsigned n) {
  uint32_t first = b->n_operands;
  for (unsigned i = 0; i < n; i++)
    *PTX_PUSH(b, operands) = list[i];
  return first;
}

/* An element of a vector: a register, and where nothing is written a constant, where something is a sink. */
static ptx_operand element(binding *k, const ptx_raw *raw, bool written, ptx_type want) {
  ptx_operand o = {.kind = PTX_SINK, .type = (uint8_t)want};
  if (raw->kind == PTX_RAW_CONST && !written) {
    o = from_const(k, raw, want);
  } else if (raw->kind == PTX_RAW_NAME && !raw->negated && !raw->offset && !raw->indexed) {
    ref f = look_up(k->b, &raw->name);
    if (f.kind == REF_NONE)
      unknown(k->b, &raw->name);
    if (f.kind == REF_VECTOR) {
      int p = part_of(k->b, &raw->part, f.parts);
      if (p < 0)
        ptx_fail(&k->b->r, &raw->at, "a vector within a vector");
      f.index += (uint32_t)p;
    } else if (f.kind != REF_REG || raw->part.kind != PTX_T_END) {
      ptx_fail(&k->b->r, &raw->at, "expected a register");
    }
    o = from_reg(k, &raw->at, f.index, want);
  } else if (raw->kind != PTX_RAW_SINK || !written) {
    ptx_fail(&k->b->r, &raw->at, "expected a register%s", written ? " or '_'" : "");
  }
  o.written = written;
  return o;
}

/* {a, b} or a whole vector register as `n` elements of `want`. */
static ptx_operand from_vector(binding *k, const ptx_raw *raw, bool written, unsigned n, ptx_type want) {
  ptx_operand list[PTX_MAX_ELEMENTS];
  unsigned have = raw->n;
  if (raw->kind == PTX_RAW_VEC) {
    for (unsigned i = 0; i < have; i++)
      list[i] = element(k, &raw->elements[i], written, want);
  } else {
    ref f = raw->kind == PTX_RAW_NAME && raw->part.kind == PTX_T_END ? look_up(k->b, &raw->name) : (ref){0};
    if (f.kind != REF_VECTOR)
      ptx_fail(&k->b->r, &raw->at, "%s takes a vector of %u here", name_of(k), n);
    have = f.parts;
    for (unsigned i = 0; i < have; i++) {
      list[i] = from_reg(k, &raw->at, f.index + i, want);
      list[i].written = written;
    }
  }
  if (have != n)
    ptx_fail(&k->b->r, &raw->at, "%u elements; %s takes %u here", have, name_of(k), n);
  return (ptx_operand){.kind = PTX_VEC,
                       .type = (uint8_t)want,
                       .written = written,
                       .index = push_vector(k->b, list, n),
                       .count = n};
}

static bool is_vector(binding *k, const ptx_raw *raw) {
  return raw->kind == PTX_RAW_VEC || (raw->kind == PTX_RAW_NAME && raw->part.kind == PTX_T_END &&
                                      look_up(k->b, &raw->name).kind == REF_VECTOR);
}

static unsigned vector_length(const ptx_insn *i) {
  return i->mods.vec == PTX_VEC_2 ? 2 : i->mods.vec == PTX_VEC_4 ? 4 : i->mods.vec == PTX_VEC_8 ? 8 : 1;
}

/* mov.b64 {a, b}, c: the elements share the bits evenly. */
static ptx_operand from_pack(binding *k, const ptx_raw *raw, bool written) {
  ref f = {0};
  unsigned n = raw->n;
  if (raw->kind == PTX_RAW_NAME) {
    f = look_up(k->b, &raw->name);
    n = f.parts;
  }
  unsigned bits = ptx_type_bits(k->type) / n;
  ptx_type part = bits == 8    ? PTX_B8
                  : bits == 16 ? PTX_B16
                  : bits == 32 ? PTX_B32
                  : bits == 64 ? PTX_B64
                               : PTX_TYPE_NONE;
  if (n == 1)
    part = k->type;
  if (part == PTX_TYPE_NONE || ptx_type_base(k->type) != PTX_BASE_BITS)
    ptx_fail(&k->b->r, &raw->at, "%u elements do not make up a .%s", n, ptx_type_name(k->type));
  return from_vector(k, raw, written, n, part);
}

/* The space in which the address at hand lies: a copy names one for each of two, and barrier objects are
 * shared. */
static uint8_t space_of_address(const binding *k) {
  unsigned before = 0;
  for (unsigned o = 0; o < k->insn->n_operands; o++) {
    uint8_t kind = k->b->operands[k->insn->operands + o].kind;
    before += kind == PTX_MEM_REG || kind == PTX_MEM_VAR || kind == PTX_MEM_IMM;
  }
  if (before == 0)
    return k->insn->mods.space;
  return before == 1 && k->insn->mods.space2 ? k->insn->mods.space2 : PTX_SPACE_SHARED;
}

static ptx_operand from_address(binding *k, const ptx_raw *raw) {
  ptx_builder *b = k->b;
  uint8_t space = space_of_address(k);
  bool whole = raw->kind == PTX_RAW_NAME && raw->indexed; /* a[3] without brackets around */
  if (raw->kind != PTX_RAW_MEM && !whole)
    ptx_fail(&b->r, &raw->at, "%s takes an address in brackets here", name_of(k));
  if (raw->behind.kind == PTX_T_DOT) {
    if (k->insn->op != PTX_OP_ld_mem || raw->behind.bytes != 7 || memcmp(raw->behind.text, "unified", 7) != 0)
      ptx_fail(&b->r, &raw->behind, "'.%.*s' cannot stand behind an address", PTX_TEXT(&raw->behind));
    ptx_need(b, &raw->behind, 80, 90, false);
    k->insn->mods.unified = PTX_UNIFIED;
  }
  if (raw->name.kind == PTX_T_END && space != PTX_SPACE_LOCAL)
    ptx_fail(&b->r, &raw->at, "only local memory has addresses that are constants");
  if (raw->name.kind == PTX_T_END)
    return (ptx_operand){.kind = PTX_MEM_IMM, .offset = raw->offset};
  ref f = look_up(b, &raw->name);
  int part = f.kind == REF_VECTOR ? part_of(b, &raw->part, f.parts) : -1;
  switch (f.kind) {
  case REF_NONE:
    unknown(b, &raw->name);
  case REF_REG:
  case REF_VECTOR: {
    if ((f.kind == REF_VECTOR) != (part >= 0) || whole)
      ptx_fail(&b->r, &raw->name, "expected a register");
    uint32_t reg = f.index + (uint32_t)(part > 0 ? part : 0);
    ptx_base base = ptx_type_base((ptx_type)b->regs[reg].type);
    if (base != PTX_BASE_BITS && base != PTX_BASE_UINT && base != PTX_BASE_SINT)
      ptx_fail(&b->r, &raw->name, "'%.*s' is .%s; an address is an integer", PTX_TEXT(&raw->name),
               ptx_type_name((ptx_type)b->regs[reg].type));
    return (ptx_operand){.kind = PTX_MEM_REG, .type = b->regs[reg].type, .index = reg, .offset = raw->offset};
  }
  case REF_VAR:
    if (space != PTX_SPACE_GENERIC && f.var->space != space &&
        !(space == PTX_SPACE_SHARED_CLUSTER && f.var->space == PTX_SPACE_SHARED))
      ptx_fail(&b->r, &raw->name, "'%.*s' is in .%s, the instruction accesses .%s", PTX_TEXT(&raw->name),
               f.var->space ? ptx_mod_name((ptx_mod)f.var->space) : "reg", ptx_mod_name((ptx_mod)space));
    if (f.var->space == PTX_SPACE_GENERIC)
      ptx_fail(&b->r, &raw->name, "'%.*s' is in a register and has no address", PTX_TEXT(&raw->name));
    return (ptx_operand){
        .kind = PTX_MEM_VAR, .in_body = f.in_body, .index = f.index, .offset = offset_of(raw, f.var)};
  default:
    ptx_fail(&b->r, &raw->name, "'%.*s' is no address of data", PTX_TEXT(&raw->name));
  }
}

/* A special register, whole or a part. */
static ptx_operand from_sreg(binding *k, const ptx_raw *raw, ref f) {
  ptx_builder *b = k->b;
  ptx_sreg s = (ptx_sreg)f.index;
  if (k->insn->op != PTX_OP_mov_move)
    ptx_fail(&b->r, &raw->at, "only mov reads a special register");
  ptx_need(b, &raw->at, ptx_sreg_isa(s), ptx_sreg_sm(s), false);
  int part = part_of(b, &raw->part, f.parts > 1 ? f.parts : 0);
  ptx_type have = ptx_sreg_type(s);
  if (f.parts > 1 && part < 0) {
    if (vector_length(k->insn) != f.parts)
      ptx_fail(&b->r, &raw->at, "'%.*s' has the parts .x .y .z .w", PTX_TEXT(&raw->name));
    part = 0;
  } else if (vector_length(k->insn) != 1) {
    ptx_fail(&b->r, &raw->at, "'%.*s' is no vector", PTX_TEXT(&raw->name));
  }
  /* %tid was of 16 bits once, and still may be read so */
  bool narrow = f.parts > 1 && ptx_type_bits(k->type) == 16;
  if (!narrow && !fits(have, k->type, false))
    ptx_fail(&b->r, &raw->at, "'%.*s' is .%s", PTX_TEXT(&raw->name), ptx_type_name(have));
  return (ptx_operand){.kind = PTX_SPECIAL,
                       .type = (uint8_t)k->type,
                       .part = (uint8_t)(part < 0 ? 0 : part),
                       .index = f.index};
}

/* A register or a constant; for `x` also an address, for `X` and `S` also a vector. */
static ptx_operand from_source(binding *k, const ptx_raw *raw) {
  ptx_builder *b = k->b;
  char letter = k->slot->letter;
  if (letter == 'S' && vector_length(k->insn) > 1)
    return from_vector(k, raw, false, vector_length(k->insn), k->type);
  if (letter == 'W')
    return from_vector(k, raw, false, 4, k->type);
  if (letter == 'X' && is_vector(k, raw))
    return from_pack(k, raw, false);
  if (raw->kind == PTX_RAW_CONST && letter != 'r' && letter != 'a')
    return from_const(k, raw, k->type);
  if (raw->kind != PTX_RAW_NAME)
    ptx_fail(&b->r, &raw->at, "%s takes a register%s here", name_of(k),
             letter == 'r' || letter == 'a' ? "" : " or a constant");
  ref f = look_up(b, &raw->name);
  if (f.kind == REF_NONE)
    unknown(b, &raw->name);
  if (raw->negated)
    ptx_fail(&b->r, &raw->at, "only a predicate can be negated");
  if (f.kind == REF_REG || f.kind == REF_VECTOR) {
    if (raw->offset || raw->indexed)
      ptx_fail(&b->r, &raw->at, "expected a register");
    int part = f.kind == REF_VECTOR ? part_of(b, &raw->part, f.parts) : -1;
    if ((f.kind == REF_VECTOR) != (part >= 0) || (part < 0 && raw->part.kind != PTX_T_END))
      ptx_fail(&b->r, &raw->at, "expected a register");
    return from_reg(k, &raw->name, f.index + (uint32_t)(part > 0 ? part : 0), k->type);
  }
  if (f.kind == REF_SREG)
    return from_sreg(k, raw, f);
  bool takes_address = (letter == 'x' || letter == 'X') && k->insn->op != PTX_OP_getctarank_addr;
  ptx_base base = ptx_type_base(k->type);
  unsigned bits = ptx_type_bits(k->type);
  if (!takes_address || (base != PTX_BASE_BITS && base != PTX_BASE_UINT && base != PTX_BASE_SINT) ||
      (bits != 32 && bits != 64))
    ptx_fail(&b->r, &raw->at, "%s takes a register here, not an address", name_of(k));
  if (f.kind == REF_FUNC)
    return (ptx_operand){.kind = PTX_FUNC, .type = (uint8_t)k->type, .index = f.index};
  if (f.var->space == PTX_SPACE_GENERIC)
    ptx_fail(&b->r, &raw->name, "'%.*s' is in a register and has no address", PTX_TEXT(&raw->name));
  return (ptx_operand){.kind = PTX_VAR,
                       .type = (uint8_t)k->type,
                       .in_body = f.in_body,
                       .index = f.index,
                       .offset = offset_of(raw, f.var)};
}

static ptx_operand from_dest(binding *k, const ptx_raw *raw) {
  ptx_builder *b = k->b;
  char letter = k->slot->letter;
  ptx_operand o;
  if (letter == 'D' && vector_length(k->insn) > 1)
    return from_vector(k, raw, true, vector_length(k->insn), k->type);
  if (letter == 'E' && is_vector(k, raw))
    return from_pack(k, raw, true);
  if (raw->kind == PTX_RAW_SINK && letter == 'o') {
    o = (ptx_operand){.kind = PTX_SINK, .type = (uint8_t)k->type};
  } else if (raw->kind == PTX_RAW_NAME && !raw->negated && !raw->offset && !raw->indexed) {
    o = element(k, raw, true, k->type);
  } else {
    ptx_fail(&b->r, &raw->at, "%s writes a register here", name_of(k));
  }
  o.written = true;
  return o;
}

static ptx_operand from_predicate(binding *k, const ptx_raw *raw, bool written) {
  ptx_builder *b = k->b;
  if (written && raw->kind == PTX_RAW_SINK)
    return (ptx_operand){.kind = PTX_SINK, .type = PTX_PRED, .written = true};
  if (!written && raw->kind == PTX_RAW_CONST && !raw->value.is_float)
    return (ptx_operand){.kind = PTX_IMM, .type = PTX_PRED, .bits = raw->value.bits != 0};
  if (raw->kind != PTX_RAW_NAME || (written && raw->negated) || raw->offset || raw->indexed)
    ptx_fail(&b->r, &raw->at, "%s %s a predicate here", name_of(k), written ? "writes" : "takes");
  ref f = look_up(b, &raw->name);
  if (f.kind == REF_NONE)
    unknown(b, &raw->name);
  if (f.kind == REF_SREG && !written && ptx_sreg_type((ptx_sreg)f.index) == PTX_PRED)
    return from_sreg(k, raw, f);
  if (f.kind != REF_REG || raw->part.kind != PTX_T_END)
    ptx_fail(&b->r, &raw->at, "expected a predicate");
  ptx_operand o = from_reg(k, &raw->name, f.index, PTX_PRED);
  o.negated = raw->negated;
  o.written = written;
  return o;
}

static ptx_operand later(binding *k, const ptx_raw *raw, ptx_kind kind) {
  ptx_builder *b = k->b;
  if (raw->kind != PTX_RAW_NAME || raw->negated || raw->offset || raw->indexed)
    ptx_fail(&b->r, &raw->at, "expected a label");
  *PTX_PUSH(b, uses) = (ptx_use){base_intern(&b->names, raw->name.text, raw->name.bytes), raw->name,
                                 k->insn->operands + k->insn->n_operands, 0};
  return (ptx_operand){.kind = (uint8_t)kind, .index = PTX_NONE};
}

/* Byte and half-word selectors of video instructions: .b0 to .b3 are parts 1 to 4, .h0 and .h1 are 5 and 6.
 */
static ptx_operand from_selected(binding *k, const ptx_raw *raw) {
  ptx_raw whole = *raw;
  unsigned part = 0;
  if (raw->part.kind == PTX_T_DOT) {
    const ptx_token *p = &raw->part;
    if (p->bytes == 2 && p->text[0] == 'b' && p->text[1] >= '0' && p->text[1] <= '3')
      part = 1u + (unsigned)(p->text[1] - '0');
    else if (p->bytes == 2 && p->text[0] == 'h' && (p->text[1] == '0' || p->text[1] == '1'))
      part = 5u + (unsigned)(p->text[1] - '0');
    else
      ptx_fail(&k->b->r, p, "no selector '.%.*s' here", PTX_TEXT(p));
    whole.part.kind = PTX_T_END;
  }
  ptx_operand o = k->slot->letter == 'u' ? from_dest(k, &whole) : from_source(k, &whole);
  o.part = (uint8_t)part;
  return o;
}

static ptx_operand bind(binding *k, const ptx_raw *raw) {
  ptx_reader *r = &k->b->r;
  switch (k->slot->letter) {
  case 'd':
  case 'o':
  case 'D':
  case 'E':
    return from_dest(k, raw);
  case 's':
  case 'S':
  case 'x':
  case 'X':
  case 'r':
  case 'W':
    return from_source(k, raw);
  case 'v':
  case 'u':
    return from_selected(k, raw);
  case 'a':
    k->type = r->unit->m.address_bits == 64 ? PTX_U64 : PTX_U32;
    if (raw->kind == PTX_RAW_NAME) {
      ref f = look_up(k->b, &raw->name);
      if (f.kind == REF_REG && ptx_type_bits((ptx_type)k->b->regs[f.index].type) == 32)
        k->type = PTX_U32;
    }
    return from_source(k, raw);
  case 'p':
    return from_predicate(k, raw, true);
  case 'q':
    return from_predicate(k, raw, false);
  case 'k': {
    ref f = raw->kind == PTX_RAW_NAME ? look_up(k->b, &raw->name) : (ref){0};
    if (f.kind == REF_REG && k->b->regs[f.index].type == PTX_PRED)
      return from_predicate(k, raw, false);
    return from_source(k, raw);
  }
  case 'm':
    return from_address(k, raw);
  case 'n':
    if (raw->kind != PTX_RAW_CONST || raw->value.is_float)
      ptx_fail(r, &raw->at, "%s takes a constant here", name_of(k));
    return from_const(k, raw, k->type ? k->type : PTX_B32);
  case 'h':
    k->type = PTX_B64;
    return from_source(k, raw);
  case 'L':
    return later(k, raw, PTX_LABEL);
  default:
    return later(k, raw, PTX_LABELS);
  }
}

static void put(ptx_builder *b, ptx_insn *i, uint32_t at, ptx_operand o) {
  b->operands[at] = o;
  i->n_operands++;
}

/* The operands of an instruction lie together; elements of vectors behind all of them. */
static uint32_t reserve(ptx_builder *b, unsigned n) {
  uint32_t first = b->n_operands;
  for (unsigned s = 0; s < n; s++)
    *PTX_PUSH(b, operands) = (ptx_operand){.kind = PTX_ABSENT};
  return first;
}

static bool is_optional(const ptx_slot *s, const ptx_insn *i) {
  return s->letter == 'h' ? !i->mods.l2_hint : s->optional;
}

void ptx_bind_operands(ptx_builder *b, ptx_insn *i, const ptx_token *mnemonic, const ptx_raw *raw,
                       unsigned n) {
  const ptx_form *f = &ptx_table_get()->forms[i->form];
  const ptx_slot *slots = &ptx_table_get()->slots[f->first_slot];
  unsigned required = 0, allowed = 0, given = 0;
  for (unsigned s = 0; s < f->n_slots; s++) {
    if (slots[s].bar)
      continue;
    bool may_be = slots[s].letter != 'h' || i->mods.l2_hint;
    required += may_be && !is_optional(&slots[s], i);
    allowed += may_be;
  }
  for (unsigned s = 0; s < n; s++)
    given += !raw[s].bar;
  if (given < required || given > allowed) {
    const ptx_token *at = given > allowed ? &raw[n - 1].at : mnemonic;
    if (required == allowed)
      ptx_fail(&b->r, at, "%s takes %u operand%s, not %u", ptx_op_get((ptx_op)i->op)->name, required,
               required == 1 ? "" : "s", given);
    ptx_fail(&b->r, at, "%s takes %u to %u operands, not %u", ptx_op_get((ptx_op)i->op)->name, required,
             allowed, given);
  }
  unsigned spare = given - required, at = 0;
  i->operands = reserve(b, f->n_slots);
  for (unsigned s = 0; s < f->n_slots; s++) {
    const ptx_slot *slot = &slots[s];
    bool present;
    if (slot->bar) {
      present = at < n && raw[at].bar;
      if (!present && !slot->optional)
        ptx_fail(&b->r, at < n ? &raw[at].at : mnemonic, "expected '|' and a second result");
    } else if (slot->letter == 'h') {
      present = i->mods.l2_hint;
    } else {
      present = !slot->optional || spare;
      spare -= slot->optional && present;
    }
    if (!present) {
      i->n_operands++;
      continue;
    }
    if (raw[at].bar && !slot->bar)
      ptx_fail(&b->r, &raw[at].at, "no second result here");
    binding k = {b, i, slot, slot_type(slot, i)};
    put(b, i, i->operands + s, bind(&k, &raw[at++]));
  }
  if (at < n)
    ptx_fail(&b->r, &raw[at].at, "no second result here");
}

uint32_t ptx_read_guard(ptx_builder *b, bool *negated) {
  *negated = ptx_accept(&b->r, "!");
  ptx_token t = ptx_expect_name(&b->r, "a predicate");
  ref f = look_up(b, &t);
  if (f.kind == REF_NONE)
    unknown(b, &t);
  if (f.kind != REF_REG || b->regs[f.index].type != PTX_PRED)
    ptx_fail(&b->r, &t, "'%.*s' is no predicate", PTX_TEXT(&t));
  return f.index;
}

/* ------------------------------------------------------------------ calls */

typedef struct call {
  ptx_operand list[256];
  ptx_token at[256];
  unsigned n;
} call;

/* "( a, b )": variables of .param space, registers, constants. Types come from the callee, afterwards. */
static void read_arguments(ptx_builder *b, call *c, bool results) {
  ptx_reader *r = &b->r;
  ptx_expect(r, "(");
  while (!ptx_is(r, ")")) {
    if (c->n == sizeof c->list / sizeof c->list[0])
      ptx_fail(r, &r->token, "too many arguments");
    ptx_raw raw = read_simple(b);
    ptx_operand o = {.kind = PTX_SINK};
    if (raw.kind == PTX_RAW_NAME && !raw.negated && !raw.offset && !raw.indexed) {
      ref f = look_up(b, &raw.name);
      if (f.kind == REF_NONE)
        unknown(b, &raw.name);
      if (f.kind == REF_REG)
        o = (ptx_operand){.kind = PTX_REG, .type = b->regs[f.index].type, .index = f.index};
      else if (f.kind == REF_VAR && f.in_body && f.var->space == PTX_SPACE_PARAM)
        o = (ptx_operand){.kind = PTX_VAR, .type = f.var->type, .in_body = true, .index = f.index};
      else
        ptx_fail(r, &raw.at, "an argument is a variable in .param, a register or a constant");
    } else if (raw.kind == PTX_RAW_CONST && !results) {
      /* as it is; the callee's parameter gives the final type */
      o = (ptx_operand){.kind = PTX_IMM, .bits = raw.value.bits};
      o.type = raw.value.is_float ? (raw.value.single ? PTX_F32 : PTX_F64) : PTX_B64;
    } else if (raw.kind != PTX_RAW_SINK || !results) {
      ptx_fail(r, &raw.at, "an argument is a variable in .param, a register or a constant");
    }
    o.written = results;
    c->at[c->n] = raw.at;
    c->list[c->n++] = o;
    if (!ptx_accept(r, ","))
      break;
  }
  ptx_expect(r, ")");
}

static void check_arguments(ptx_builder *b, call *c, const ptx_token *callee, const ptx_var *params,
                            uint32_t n, const char *what) {
  bool open_end = n && params[n - 1].unsized; /* the last parameter takes whatever follows */
  if (open_end ? c->n + 1 < n : c->n != n)
    ptx_fail(&b->r, callee, "'%.*s' has %u %s%s, not %u", PTX_TEXT(callee), n, what, n == 1 ? "" : "s", c->n);
  for (unsigned a = 0; a < c->n && a < n; a++) {
    const ptx_var *p = &params[a];
    ptx_operand *o = &c->list[a];
    if (p->unsized || o->kind == PTX_SINK)
      continue;
    if (o->kind == PTX_VAR) {
      if (b->vars[o->index].bytes != p->bytes)
        ptx_fail(&b->r, &c->at[a], "%llu bytes; '%.*s' has %llu here",
                 (unsigned long long)b->vars[o->index].bytes, PTX_TEXT(callee), (unsigned long long)p->bytes);
    } else if (o->kind == PTX_REG) {
      if (p->n_dims || !fits((ptx_type)o->type, (ptx_type)p->type, true))
        ptx_fail(&b->r, &c->at[a], "a register .%s; '%.*s' has .%s here", ptx_type_name((ptx_type)o->type),
                 PTX_TEXT(callee), ptx_type_name((ptx_type)p->type));
      o->type = p->type;
    } else {
      ptx_const k = {.is_float = o->type != PTX_B64, .single = o->type == PTX_F32, .bits = o->bits};
      if (p->n_dims || !ptx_const_as(k, (ptx_type)p->type, &o->bits))
        ptx_fail(&b->r, &c->at[a], "no constant of type .%s", ptx_type_name((ptx_type)p->type));
      o->type = p->type;
    }
  }
}

static void put_arguments(ptx_builder *b, const call *c, uint32_t at, bool results) {
  uint32_t first = push_vector(b, c->list, c->n);
  b->operands[at] = (ptx_operand){.kind = PTX_VEC, .written = results, .index = first, .count = c->n};
}

void ptx_read_call(ptx_builder *b, ptx_insn *i) {
  ptx_reader *r = &b->r;
  const ptx_unit *u = r->unit;
  call results, parameters, *rets = &results, *args = &parameters;
  rets->n = args->n = 0;
  i->operands = reserve(b, 4);
  i->n_operands = 4;
  bool has_rets = ptx_is(r, "("), has_args = false;
  if (has_rets) {
    read_arguments(b, rets, true);
    ptx_expect(r, ",");
  }
  ptx_token callee = ptx_expect_name(r, "what to call");
  ref f = look_up(b, &callee);
  const ptx_token *proto = NULL;
  ptx_token name;
  if (ptx_accept(r, ",")) {
    if (ptx_is(r, "(")) {
      has_args = true;
      read_arguments(b, args, false);
      if (ptx_accept(r, ","))
        proto = (name = ptx_expect_name(r, "a prototype"), &name);
    } else {
      proto = (name = ptx_expect_name(r, "a prototype"), &name);
    }
  }
  if (f.kind == REF_NONE)
    unknown(b, &callee);
  if (f.kind == REF_FUNC) {
    const ptx_func *fn = &u->m.funcs[f.index];
    if (fn->entry)
      ptx_fail(r, &callee, "'%.*s' is a kernel", PTX_TEXT(&callee));
    check_arguments(b, rets, &callee, fn->rets, fn->n_rets, "result");
    check_arguments(b, args, &callee, fn->params, fn->n_params, "parameter");
    b->operands[i->operands + 1] = (ptx_operand){.kind = PTX_FUNC, .index = f.index};
  } else if (f.kind == REF_REG) {
    ptx_type t = (ptx_type)b->regs[f.index].type;
    if (!fits(t, u->m.address_bits == 64 ? PTX_U64 : PTX_U32, false))
      ptx_fail(r, &callee, "'%.*s' is .%s, no address", PTX_TEXT(&callee), ptx_type_name(t));
    if (!proto)
      ptx_fail(r, &callee, "a call through a register needs a prototype or its targets");
    b->operands[i->operands + 1] = (ptx_operand){.kind = PTX_REG, .type = (uint8_t)t, .index = f.index};
  } else {
    ptx_fail(r, &callee, "'%.*s' is no function", PTX_TEXT(&callee));
  }
  if (proto) {
    const char *key = base_intern(&b->names, proto->text, proto->bytes);
    uint32_t d = base_map_get(&b->labels, key);
    if (d != BASE_MISSING && b->decls[d].kind == PTX_D_PROTO && f.kind == REF_REG) {
      const ptx_proto *p = &b->protos[b->decls[d].index];
      check_arguments(b, rets, &callee, p->rets, p->n_rets, "result");
      check_arguments(b, args, &callee, p->params, p->n_params, "parameter");
    }
    *PTX_PUSH(b, uses) = (ptx_use){key, *proto, i->operands + 3, 0};
    b->operands[i->operands + 3] = (ptx_operand){.kind = PTX_PROTO, .index = PTX_NONE};
  }
  if (has_rets)
    put_arguments(b, rets, i->operands, true);
  if (has_args)
    put_arguments(b, args, i->operands + 2, false);
}
