/* body.c: the statements of a function: declarations, labels, source places, instructions. */
#include <string.h>

#include "ptx/body.h"

/* ------------------------------------------------------------------ names and scopes */

static const char *intern(ptx_builder *b, const ptx_token *t) {
  return base_intern(&b->names, t->text, t->bytes);
}

/* Declares a name in the innermost scope. %r<5> there has declared %r3 already. */
static void declare(ptx_builder *b, base_map *map, const ptx_token *name, const char *key, ptx_decl d) {
  uint32_t number;
  const ptx_decl *known = map == &b->symbols ? ptx_body_symbol(b, name->text, name->bytes, &number) : NULL;
  if (known && known->kind == PTX_D_RANGE && known->depth == b->depth)
    ptx_fail(&b->r, name, "'%.*s' is declared a second time", PTX_TEXT(name));
  d.key = key;
  d.depth = b->depth;
  d.hidden = base_map_get(map, key);
  if (d.hidden != BASE_MISSING && b->decls[d.hidden].depth == b->depth)
    ptx_fail(&b->r, name, "'%.*s' is declared a second time", PTX_TEXT(name));
  base_map_set(map, key, b->n_decls);
  *PTX_PUSH(b, decls) = d;
}

static void open_scope(ptx_builder *b) {
  if (b->depth == PTX_MAX_DEPTH)
    ptx_fail(&b->r, &b->r.token, "scopes nested too deep");
  b->depth++;
  *PTX_PUSH(b, scope_uses) = b->n_uses;
  *PTX_PUSH(b, scope_decls) = b->n_decls;
}

/* NULL, or what the use wanted and this declaration is not. */
static const char *resolve(ptx_builder *b, const ptx_use *use, const ptx_decl *d) {
  if (use->operand == PTX_NONE) {
    if (d->kind != PTX_D_LABEL)
      return "label";
    b->label_list[use->index] = d->index;
    return NULL;
  }
  ptx_operand *o = &b->operands[use->operand];
  if ((o->kind == PTX_LABEL) != (d->kind == PTX_D_LABEL))
    return o->kind == PTX_LABEL ? "label" : o->kind == PTX_LABELS ? "list of labels" : "prototype";
  if ((o->kind == PTX_LABELS) != (d->kind == PTX_D_LABELS))
    return o->kind == PTX_LABELS ? "list of labels" : "prototype";
  o->index = d->index;
  return NULL;
}

/* Labels of this scope become known to the uses in it; the others wait for the scope around. An error waits
 * until the names are what they were outside. */
static void close_scope(ptx_builder *b) {
  uint32_t first_use = b->scope_uses[--b->n_scope_uses], first_decl = b->scope_decls[--b->n_scope_decls];
  uint32_t kept = first_use, depth = b->depth--;
  const char *wanted = NULL;
  ptx_token wrong = {0};
  for (uint32_t i = first_use; i < b->n_uses; i++) {
    ptx_use use = b->uses[i];
    uint32_t d = base_map_get(&b->labels, use.key);
    if (d == BASE_MISSING || b->decls[d].depth != depth) {
      b->uses[kept++] = use;
      continue;
    }
    const char *w = resolve(b, &use, &b->decls[d]);
    if (w && !wanted) {
      wanted = w;
      wrong = use.at;
    }
  }
  b->n_uses = kept;
  while (b->n_decls > first_decl) {
    const ptx_decl *d = &b->decls[--b->n_decls];
    base_map *map = d->kind == PTX_D_RANGE ? &b->ranges : d->kind >= PTX_D_LABEL ? &b->labels : &b->symbols;
    base_map_set(map, d->key, d->hidden);
  }
  if (wanted)
    ptx_fail(&b->r, &wrong, "'%.*s' is no %s", PTX_TEXT(&wrong), wanted);
}

const ptx_decl *ptx_body_symbol(ptx_builder *b, const char *name, size_t bytes, uint32_t *number) {
  const char *key = base_interned(&b->names, name, bytes);
  uint32_t d = key ? base_map_get(&b->symbols, key) : BASE_MISSING;
  if (d != BASE_MISSING)
    return &b->decls[d];
  /* %r12 of %r<100>: no leading zeros */
  size_t digits = 0;
  while (digits < bytes && name[bytes - digits - 1] >= '0' && name[bytes - digits - 1] <= '9')
    digits++;
  while (digits > 1 && name[bytes - digits] == '0')
    digits--;
  if (!digits || digits > 9)
    return NULL;
  uint32_t n = 0;
  for (size_t i = bytes - digits; i < bytes; i++)
    n = n * 10 + (uint32_t)(name[i] - '0');
  key = base_interned(&b->names, name, bytes - digits);
  d = key ? base_map_get(&b->ranges, key) : BASE_MISSING;
  while (d != BASE_MISSING && b->decls[d].count <= n)
    d = b->decls[d].hidden;
  if (d == BASE_MISSING)
    return NULL;
  *number = n;
  return &b->decls[d];
}

/* ------------------------------------------------------------------ declarations */

static bool is_register_type(ptx_type t) {
  return t != PTX_TYPE_NONE && ptx_type_base(t) != PTX_BASE_ALT && ptx_type_base(t) != PTX_BASE_OPAQUE;
}

static void add_regs(ptx_builder *b, const ptx_token *at, ptx_reg reg, uint32_t n) {
  if (n > PTX_MAX_REGS - b->n_regs)
    ptx_fail(&b->r, at, "too many registers");
  for (uint32_t i = 0; i < n; i++)
    *PTX_PUSH(b, regs) = reg;
}

/* %r3 and %r<5> of one scope are the same register. */
static void check_range(ptx_builder *b, const ptx_token *at, const char *key, uint32_t count) {
  size_t prefix = strlen(key);
  for (uint32_t i = b->scope_decls[b->n_scope_decls - 1]; i < b->n_decls; i++) {
    const char *name = b->decls[i].key;
    if (b->decls[i].kind > PTX_D_VAR || b->decls[i].kind == PTX_D_RANGE || strncmp(name, key, prefix) != 0)
      continue;
    uint32_t number = 0;
    size_t n = prefix;
    for (; name[n] >= '0' && name[n] <= '9' && n < prefix + 8; n++)
      number = number * 10 + (uint32_t)(name[n] - '0');
    if (n > prefix && !name[n] && number < count && (name[prefix] != '0' || n == prefix + 1))
      ptx_fail(&b->r, at, "'%s' is declared a second time", name);
  }
}

static void declare_reg(ptx_builder *b, const ptx_token *name, ptx_type type, unsigned parts) {
  ptx_reg reg = {.name = base_copy(&b->r.unit->arena, name->text, name->bytes),
                 .number = PTX_NONE,
                 .type = (uint8_t)type};
  declare(b, &b->symbols, name, intern(b, name),
          (ptx_decl){.kind = PTX_D_REG, .index = b->n_regs, .parts = (uint8_t)(parts > 1 ? parts : 0)});
  for (unsigned p = 0; p < parts; p++) {
    reg.part = parts > 1 ? "xyzw"[p] : 0;
    add_regs(b, name, reg, 1);
  }
}

/* .reg .b32 %r<100>, x;  .reg .v4 .f32 v; */
static void read_regs(ptx_builder *b) {
  ptx_reader *r = &b->r;
  unsigned parts = ptx_accept_dot(r, "v2") ? 2 : ptx_accept_dot(r, "v4") ? 4 : 1;
  ptx_token t = r->token;
  ptx_type type = t.kind == PTX_T_DOT ? ptx_type_find(t.text, t.bytes) : PTX_TYPE_NONE;
  if (!is_register_type(type))
    ptx_fail(r, &t, "expected the type of a register");
  ptx_next(r);
  if (parts > 1 && (type == PTX_PRED || parts * ptx_type_bits(type) > 128))
    ptx_fail(r, &t, "no vector of %u .%s", parts, ptx_type_name(type));
  do {
    ptx_token name = ptx_expect_name(r, "the name of a register");
    if (parts > 1 || !ptx_accept(r, "<")) {
      declare_reg(b, &name, type, parts);
      continue;
    }
    uint32_t n = 0;
    ptx_token count = r->token;
    if (count.kind != PTX_T_INT || count.value > PTX_MAX_REGS)
      ptx_fail(r, &count, "expected a count of registers, %d at most", PTX_MAX_REGS);
    n = (uint32_t)count.value;
    ptx_next(r);
    ptx_expect(r, ">");
    ptx_reg reg = {.name = base_copy(&r->unit->arena, name.text, name.bytes), .type = (uint8_t)type};
    uint32_t first = b->n_regs;
    check_range(b, &name, intern(b, &name), n);
    declare(b, &b->ranges, &name, intern(b, &name),
            (ptx_decl){.kind = PTX_D_RANGE, .index = first, .count = n});
    add_regs(b, &name, reg, n);
    for (uint32_t i = 0; i < n; i++)
      b->regs[first + i].number = i;
  } while (ptx_accept(r, ","));
  ptx_expect(r, ";");
}

static void add_var(ptx_reader *r, const ptx_var *v, const ptx_token *name, void *context) {
  (void)r;
  ptx_builder *b = context;
  declare(b, &b->symbols, name, intern(b, name), (ptx_decl){.kind = PTX_D_VAR, .index = b->n_vars});
  ptx_var *to = PTX_PUSH(b, vars);
  *to = *v;
  to->name = base_copy(&b->r.unit->arena, name->text, name->bytes);
}

/* Results and parameters are the body's first variables; one that is passed in a register is a register too.
 */
static void declare_params(ptx_builder *b, const ptx_var *list, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    ptx_token name = {
        .text = list[i].name, .bytes = (uint32_t)strlen(list[i].name), .line_begin = b->r.unit->m.text};
    bool in_register = list[i].space == PTX_SPACE_GENERIC;
    uint32_t reg = b->n_regs;
    if (in_register && is_register_type((ptx_type)list[i].type))
      declare_reg(b, &name, (ptx_type)list[i].type, list[i].vec);
    else if (strcmp(list[i].name, "_") != 0)
      declare(b, &b->symbols, &name, intern(b, &name), (ptx_decl){.kind = PTX_D_VAR, .index = b->n_vars});
    ptx_var *to = PTX_PUSH(b, vars);
    *to = list[i];
    if (in_register)
      to->offset = reg;
  }
}

/* ------------------------------------------------------------------ labels and lists of them */

static void read_label_lists(ptx_builder *b, const ptx_token *name, ptx_directive d) {
  ptx_reader *r = &b->r;
  ptx_unit *u = r->unit;
  char *copy = base_copy(&u->arena, name->text, name->bytes);
  if (d == PTX_DIR_CALLPROTOTYPE) {
    ptx_proto p = {.name = copy};
    if (ptx_is(r, "("))
      p.rets = ptx_read_params(r, false, &p.n_rets, NULL, NULL);
    ptx_expect_name(r, "'_'");
    if (ptx_is(r, "("))
      p.params = ptx_read_params(r, false, &p.n_params, NULL, NULL);
    for (;;) {
      if (ptx_accept_dot(r, "noreturn"))
        p.noreturn = true;
      else if (ptx_accept_dot(r, "abi_preserve") || ptx_accept_dot(r, "abi_preserve_control"))
        ptx_expect_u32(r, "a count of registers");
      else
        break;
    }
    declare(b, &b->labels, name, intern(b, name), (ptx_decl){.kind = PTX_D_PROTO, .index = b->n_protos});
    *PTX_PUSH(b, protos) = p;
  } else if (d == PTX_DIR_CALLTARGETS) {
    uint32_t *funcs = NULL, n = 0, capacity = 0;
    do {
      ptx_token t = ptx_expect_name(r, "the name of a function");
      bool is_func = false;
      uint32_t f = ptx_symbol(u, t.text, t.bytes, &is_func);
      if (f == UINT32_MAX || !is_func || u->m.funcs[f].entry)
        ptx_fail(r, &t, "'%.*s' is no function", PTX_TEXT(&t));
      *BASE_PUSH(&u->arena, funcs, n, capacity) = f;
    } while (ptx_accept(r, ","));
    const ptx_func *first = &u->m.funcs[funcs[0]];
    declare(b, &b->labels, name, intern(b, name), (ptx_decl){.kind = PTX_D_PROTO, .index = b->n_protos});
    *PTX_PUSH(b, protos) = (ptx_proto){.name = copy,
                                       .funcs = funcs,
                                       .n_funcs = n,
                                       .rets = first->rets,
                                       .n_rets = first->n_rets,
                                       .params = first->params,
                                       .n_params = first->n_params};
  } else {
    ptx_list list = {.name = copy, .first = b->n_label_list};
    do {
      ptx_token t = ptx_expect_name(r, "a label");
      *PTX_PUSH(b, uses) = (ptx_use){intern(b, &t), t, PTX_NONE, b->n_label_list};
      *PTX_PUSH(b, label_list) = PTX_NONE;
      list.n++;
    } while (ptx_accept(r, ","));
    declare(b, &b->labels, name, intern(b, name), (ptx_decl){.kind = PTX_D_LABELS, .index = b->n_targets});
    *PTX_PUSH(b, targets) = list;
  }
  ptx_expect(r, ";");
}

static void read_label(ptx_builder *b, const ptx_token *name) {
  ptx_directive d = ptx_directive_at(&b->r);
  if (d == PTX_DIR_BRANCHTARGETS || d == PTX_DIR_CALLTARGETS || d == PTX_DIR_CALLPROTOTYPE) {
    ptx_token t = ptx_next(&b->r);
    if (d != PTX_DIR_CALLPROTOTYPE)
      ptx_need(b, &t, d == PTX_DIR_BRANCHTARGETS ? 60 : 21, d == PTX_DIR_BRANCHTARGETS ? 30 : 20, false);
    read_label_lists(b, name, d);
    return;
  }
  declare(b, &b->labels, name, intern(b, name), (ptx_decl){.kind = PTX_D_LABEL, .index = b->n_labels});
  *(BASE_PUSH(&b->scratch, b->label, b->n_labels, b->cap_labels)) =
      (ptx_label){base_copy(&b->r.unit->arena, name->text, name->bytes), b->n_insns};
}

/* ------------------------------------------------------------------ source places */

/* Never NULL: a line is above 0, or its column or file is, or the key is the one that stands for all zeros.
 */
static const void *place_key(uint32_t file, uint32_t line, uint32_t column) {
  uint64_t key = (uint64_t)line << 32 ^ (uint64_t)file << 16 ^ column;
  return (const void *)(uintptr_t)(key ? key : 1);
}

static uint32_t find_place(const ptx_builder *b, uint32_t file, uint32_t line, uint32_t column) {
  uint32_t at = base_map_get(&b->places, place_key(file, line, column));
  if (at == BASE_MISSING)
    return PTX_NONE;
  /* rarely another place has the same key */
  for (at++; at-- > 0;)
    if (b->locs[at].file_index == file && b->locs[at].line == line && b->locs[at].column == column)
      return at;
  return PTX_NONE;
}

static uint32_t add_place(ptx_builder *b, ptx_loc l) {
  base_map_set(&b->places, place_key(l.file_index, l.line, l.column), b->n_locs);
  *PTX_PUSH(b, locs) = l;
  return b->n_locs - 1;
}

/* .loc file line column [, function_name label[+n], inlined_at file line column] */
static void read_loc(ptx_builder *b) {
  ptx_reader *r = &b->r;
  ptx_loc l = {.inlined_at = PTX_NONE};
  l.file_index = ptx_expect_u32(r, "the number of a file");
  l.line = ptx_expect_u32(r, "a line");
  l.column = ptx_expect_u32(r, "a column");
  l.file = ptx_file_name(r->unit, l.file_index);
  if (ptx_accept(r, ",")) {
    if (!ptx_accept(r, "function_name"))
      ptx_fail(r, &r->token, "expected 'function_name'");
    ptx_token label = {0};
    uint32_t offset = 0;
    if (r->token.kind == PTX_T_NAME)
      label = ptx_next(r);
    if (label.kind != PTX_T_NAME || ptx_accept(r, "+"))
      offset = ptx_expect_u32(r, "an offset");
    l.func = ptx_debug_name(r->unit, label.kind == PTX_T_NAME ? label.text : NULL, label.bytes, offset);
    ptx_expect(r, ",");
    if (!ptx_accept(r, "inlined_at"))
      ptx_fail(r, &r->token, "expected 'inlined_at'");
    uint32_t file = ptx_expect_u32(r, "the number of a file"), line = ptx_expect_u32(r, "a line"),
             column = ptx_expect_u32(r, "a column");
    /* the place of the call is one that was named before; nearest first */
    l.inlined_at = find_place(b, file, line, column);
    if (l.inlined_at == PTX_NONE)
      l.inlined_at =
          add_place(b, (ptx_loc){ptx_file_name(r->unit, file), NULL, line, column, PTX_NONE, file});
  }
  b->loc = add_place(b, l);
}

/* ------------------------------------------------------------------ instructions */

static void read_insn(ptx_builder *b) {
  ptx_reader *r = &b->r;
  ptx_insn i = {.guard = PTX_NONE, .loc = b->loc};
  if (ptx_accept(r, "@"))
    i.guard = ptx_read_guard(b, &i.guard_negated);
  ptx_token mnemonic = ptx_expect_name(r, "an instruction");
  i.place = ptx_place_of(&mnemonic);
  ptx_token words[PTX_MAX_WORDS];
  unsigned n = 0;
  while (r->token.kind == PTX_T_DOT) {
    if (n == PTX_MAX_WORDS)
      ptx_fail(r, &r->token, "too many modifiers");
    words[n++] = ptx_next(r);
  }
  ptx_match(b, &i, &mnemonic, words, n);
  i.operands = b->n_operands;
  if (ptx_op_get((ptx_op)i.op)->refused) {
    /* what stands behind the mnemonic is carried as text */
    const char *begin = mnemonic.text + mnemonic.bytes;
    const char *end = n ? words[n - 1].text + words[n - 1].bytes : begin;
    while (r->token.kind != PTX_T_END && !ptx_is(r, ";"))
      end = r->token.text + r->token.bytes, ptx_next(r);
    *PTX_PUSH(b, operands) = (ptx_operand){
        .kind = PTX_RAW, .index = (uint32_t)(end - begin), .bits = (uint64_t)(begin - r->unit->m.text)};
    i.n_operands = 1;
    if (b->unmodelled == PTX_NONE)
      b->unmodelled = b->n_insns;
  } else if (i.op == PTX_OP_call_ctl) {
    ptx_read_call(b, &i);
  } else {
    ptx_raw raw[PTX_MAX_RAW];
    unsigned n_raw = 0;
    while (!ptx_is(r, ";")) {
      if (n_raw == PTX_MAX_RAW)
        ptx_fail(r, &r->token, "too many operands");
      raw[n_raw] = ptx_read_operand(b);
      if (n_raw == 0)
        raw[0].bar = false;
      n_raw++;
      if (ptx_is(r, "|") && n_raw < PTX_MAX_RAW) {
        ptx_next(r);
        raw[n_raw] = ptx_read_operand(b);
        raw[n_raw++].bar = true;
      }
      if (!ptx_accept(r, ","))
        break;
    }
    ptx_bind_operands(b, &i, &mnemonic, raw, n_raw);
  }
  ptx_expect(r, ";");
  ptx_verify(b, &i, &mnemonic);
  *PTX_PUSH(b, insns) = i;
}

/* ------------------------------------------------------------------ statements */

static void read_directive(ptx_builder *b) {
  ptx_reader *r = &b->r;
  ptx_directive d = ptx_directive_at(r);
  ptx_token t = ptx_next(r);
  switch (d) {
  case PTX_DIR_REG:
    read_regs(b);
    return;
  case PTX_DIR_LOC:
    read_loc(b);
    return;
  case PTX_DIR_PRAGMA:
    do {
      ptx_token s = r->token;
      if (s.kind != PTX_T_STRING)
        ptx_fail(r, &s, "expected a string");
      ptx_next(r);
      *PTX_PUSH(b, pragmas) = base_copy(&r->unit->arena, s.text, s.bytes);
    } while (ptx_accept(r, ","));
    ptx_expect(r, ";");
    return;
  case PTX_DIR_SHARED:
  case PTX_DIR_LOCAL:
  case PTX_DIR_PARAM:
    ptx_read_vars(r, (ptx_var){.space = ptx_space_of(d)}, PTX_AT_BODY, add_var, b);
    ptx_expect(r, ";");
    return;
  case PTX_DIR_BRANCHTARGETS:
  case PTX_DIR_CALLTARGETS:
  case PTX_DIR_CALLPROTOTYPE:
    ptx_fail(r, &t, "'.%s' needs a label", ptx_directive_name(d));
  default:
    ptx_fail(r, &t, "'.%.*s' cannot stand in a function", PTX_TEXT(&t));
  }
}

static void read_statement(ptx_builder *b) {
  ptx_reader *r = &b->r;
  if (ptx_is(r, "{")) {
    open_scope(b);
    ptx_next(r);
    return;
  }
  if (ptx_is(r, "}")) {
    if (b->depth == 1)
      ptx_fail(r, &r->token, "this '}' closes nothing");
    ptx_next(r);
    close_scope(b);
    return;
  }
  if (r->token.kind == PTX_T_DOT) {
    read_directive(b);
    return;
  }
  if (r->token.kind == PTX_T_NAME) {
    ptx_lexer behind = r->lexer;
    ptx_token next = ptx_lex(&behind);
    if (next.kind == PTX_T_PUNCT && next.text[0] == ':') {
      ptx_token name = ptx_next(r);
      ptx_next(r);
      read_label(b, &name);
      return;
    }
  }
  read_insn(b);
}

static void read_statements(ptx_builder *b) {
  while (b->r.token.kind != PTX_T_END)
    read_statement(b);
}

/* The outermost scope ends: what is still open is an error. */
static void read_end(ptx_builder *b) {
  if (b->depth > 1)
    ptx_fail(&b->r, &b->r.token, "a '{' in this function has no '}'");
  close_scope(b);
  if (b->n_uses)
    ptx_fail(&b->r, &b->uses[0].at, "unknown label '%.*s'", PTX_TEXT(&b->uses[0].at));
}

static void read_begin(ptx_builder *b) {
  const ptx_func *f = &b->r.unit->m.funcs[b->func];
  open_scope(b);
  declare_params(b, f->rets, f->n_rets);
  declare_params(b, f->params, f->n_params);
}

/* Does some of the reading; false: it ended at an error. */
static bool attempt(ptx_builder *b, void work(ptx_builder *b)) {
  jmp_buf failed;
  b->r.failed = &failed;
  if (setjmp(failed)) {
    b->r.failed = NULL;
    return false;
  }
  work(b);
  b->r.failed = NULL;
  return true;
}

/* To behind a ';', or before a brace. */
static void skip_statement(ptx_reader *r) {
  while (r->token.kind != PTX_T_END && !ptx_is(r, "{") && !ptx_is(r, "}"))
    if (ptx_next(r).text[0] == ';')
      return;
}

static void *keep(base_arena *arena, const void *items, uint32_t n, size_t item_bytes) {
  void *p = base_alloc_array(arena, n, item_bytes);
  if (n)
    memcpy(p, items, n * item_bytes);
  return p;
}

static const ptx_body *finish(ptx_builder *b) {
  base_arena *arena = &b->r.unit->arena;
  ptx_body *body = base_alloc(arena, sizeof *body);
#define KEEP(field, array, count) \
  (body->field = keep(arena, b->array, b->count, sizeof *b->array), body->count = b->count)
  KEEP(insns, insns, n_insns);
  KEEP(operands, operands, n_operands);
  KEEP(regs, regs, n_regs);
  KEEP(vars, vars, n_vars);
  KEEP(labels, label, n_labels);
  KEEP(protos, protos, n_protos);
  KEEP(locs, locs, n_locs);
  KEEP(pragmas, pragmas, n_pragmas);
#undef KEEP
  uint32_t *list = keep(arena, b->label_list, b->n_label_list, sizeof *list);
  ptx_labels *targets = base_alloc_array(arena, b->n_targets, sizeof *targets);
  for (uint32_t i = 0; i < b->n_targets; i++)
    targets[i] = (ptx_labels){b->targets[i].name, list + b->targets[i].first, b->targets[i].n};
  body->targets = targets;
  body->n_targets = b->n_targets;
  body->unmodelled = b->unmodelled;
  ptx_flow(body, b->r.unit->m.funcs, arena, &b->scratch);
  return body;
}

static const ptx_body *read_body(ptx_builder *b) {
  ptx_unit *u = b->r.unit;
  base_strings_init(&b->names, &b->scratch);
  base_map_init(&b->symbols, &b->scratch);
  base_map_init(&b->ranges, &b->scratch);
  base_map_init(&b->labels, &b->scratch);
  base_map_init(&b->places, &b->scratch);
  uint32_t errors = u->diags.n_errors;
  b->r.lexer = u->more[b->func].text;
  ptx_next(&b->r);
  if (!attempt(b, read_begin))
    return NULL;
  while (!attempt(b, read_statements)) {
    if (ptx_too_many_errors(u))
      return NULL;
    skip_statement(&b->r);
  }
  if (!attempt(b, read_end))
    return NULL;
  return u->diags.n_errors == errors ? finish(b) : NULL;
}

static const ptx_body *guarded(ptx_builder *b, bool *read) {
  jmp_buf out_of_memory;
  b->scratch.out_of_memory = b->r.unit->arena.out_of_memory = &out_of_memory;
  if (setjmp(out_of_memory))
    return NULL;
  const ptx_body *body = read_body(b);
  *read = true;
  return body;
}

const ptx_body *ptx_body_read(ptx_unit *u, uint32_t func, bool *read) {
  ptx_builder b = {.r.unit = u, .func = func, .loc = PTX_NONE, .unmodelled = PTX_NONE};
  const ptx_body *body = guarded(&b, read);
  base_arena_free(&b.scratch);
  u->arena.out_of_memory = NULL;
  return body;
}
