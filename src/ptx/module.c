/* module.c: a module's declarations. Bodies are only measured here; body.c reads them on request. */
#include <stdlib.h>
#include <string.h>

#include "ptx/body.h"
#include "ptx/front.h"

/* ------------------------------------------------------------------ symbols */

uint32_t ptx_symbol(const ptx_unit *u, const char *name, size_t bytes, bool *is_func) {
  const char *interned = base_interned(&u->strings, name, bytes);
  uint32_t v = interned ? base_map_get(&u->symbols, interned) : BASE_MISSING;
  if (v == BASE_MISSING)
    return UINT32_MAX;
  *is_func = v & 1;
  return v >> 1;
}

static const char *intern(ptx_reader *r, const ptx_token *name) {
  return base_intern(&r->unit->strings, name->text, name->bytes);
}

static bool same_shape(const ptx_var *a, const ptx_var *b) {
  return a->space == b->space && a->type == b->type && a->vec == b->vec &&
         (a->unsized || b->unsized || a->bytes == b->bytes);
}

static void add_var(ptx_reader *r, const ptx_var *v, const ptx_token *name, void *context) {
  (void)context;
  ptx_unit *u = r->unit;
  const char *key = intern(r, name);
  uint32_t known = base_map_get(&u->symbols, key);
  if (known == BASE_MISSING) {
    base_map_set(&u->symbols, key, u->m.n_vars << 1);
    ptx_var *to = BASE_PUSH(&u->arena, u->vars, u->m.n_vars, u->cap_vars);
    *to = *v;
    to->name = key;
    return;
  }
  ptx_var *old = known & 1 ? NULL : &u->vars[known >> 1];
  if (!old || !same_shape(old, v) || (old->linkage != PTX_LINK_EXTERN && v->linkage != PTX_LINK_EXTERN))
    ptx_fail(r, name, "'%.*s' is declared a second time%s", PTX_TEXT(name),
             old && same_shape(old, v) ? "" : ", and differently");
  if (v->linkage == PTX_LINK_EXTERN)
    return;
  ptx_place place = old->place;
  *old = *v; /* a declaration of another module's variable, and now the variable itself */
  old->name = key;
  old->place = place;
}

/* ------------------------------------------------------------------ kernels and functions */

static bool same_params(const ptx_var *a, const ptx_var *b, uint32_t n) {
  for (uint32_t i = 0; i < n; i++)
    if (a[i].bytes != b[i].bytes || a[i].space != b[i].space)
      return false;
  return true;
}

static void read_triple(ptx_reader *r, uint32_t to[3]) {
  to[1] = to[2] = 1;
  for (unsigned i = 0; i < 3; i++) {
    ptx_token t = r->token;
    to[i] = ptx_expect_u32(r, "a count of threads or blocks");
    if (!to[i])
      ptx_fail(r, &t, "a count is positive");
    if (!ptx_accept(r, ","))
      break;
  }
}

static void read_pragma(ptx_reader *r, const char ***list, uint32_t *n, uint32_t *capacity) {
  do {
    ptx_token t = r->token;
    if (t.kind != PTX_T_STRING)
      ptx_fail(r, &t, "expected a string");
    ptx_next(r);
    *BASE_PUSH(&r->unit->arena, *list, *n, *capacity) = base_copy(&r->unit->arena, t.text, t.bytes);
  } while (ptx_accept(r, ","));
  ptx_expect(r, ";");
}

/* What stands between a function's parameters and its body. */
static void read_attributes(ptx_reader *r, ptx_func *f) {
  const char **pragmas = NULL;
  uint32_t capacity = 0;
  for (;;) {
    ptx_token t = r->token;
    ptx_directive d = ptx_directive_at(r);
    if (d == PTX_DIR_NONE)
      break;
    ptx_next(r);
    switch (d) {
    case PTX_DIR_MAXNTID:
      read_triple(r, f->maxntid);
      break;
    case PTX_DIR_REQNTID:
      read_triple(r, f->reqntid);
      break;
    case PTX_DIR_REQNCTAPERCLUSTER:
      read_triple(r, f->reqnctapercluster);
      break;
    case PTX_DIR_MINNCTAPERSM:
      f->minnctapersm = ptx_expect_u32(r, "a count of blocks");
      break;
    case PTX_DIR_MAXNCTAPERSM:
      f->maxnctapersm = ptx_expect_u32(r, "a count of blocks");
      break;
    case PTX_DIR_MAXNREG:
      f->maxnreg = ptx_expect_u32(r, "a count of registers");
      break;
    case PTX_DIR_MAXCLUSTERRANK:
      f->maxclusterrank = ptx_expect_u32(r, "a count of blocks");
      break;
    case PTX_DIR_EXPLICITCLUSTER:
      f->explicitcluster = true;
      break;
    case PTX_DIR_BLOCKSARECLUSTERS:
      f->blocksareclusters = true;
      break;
    case PTX_DIR_NORETURN:
      f->noreturn = true;
      continue;
    case PTX_DIR_ABI_PRESERVE:
    case PTX_DIR_ABI_PRESERVE_CONTROL: /* of the binary interface, which nothing here has */
      ptx_expect_u32(r, "a count of registers");
      continue;
    case PTX_DIR_PRAGMA:
      read_pragma(r, &pragmas, &f->n_pragmas, &capacity);
      f->pragmas = pragmas;
      continue;
    default:
      ptx_fail(r, &t, "'.%s' cannot stand here", ptx_directive_name(d));
    }
    if (!f->entry)
      ptx_fail(r, &t, "'.%s' is for kernels", ptx_directive_name(d));
    if (f->maxntid[0] && f->reqntid[0])
      ptx_fail(r, &t, "'.maxntid' and '.reqntid' do not go together");
  }
}

static void read_func(ptx_reader *r, bool entry, uint8_t linkage) {
  ptx_unit *u = r->unit;
  ptx_func f = {.entry = entry, .linkage = linkage, .alias_of = PTX_NONE};
  if (ptx_accept_dot(r, "attribute")) {
    ptx_var ignored = {0};
    ptx_read_attributes(r, &ignored);
  }
  if (!entry && ptx_is(r, "("))
    f.rets = ptx_read_params(r, false, &f.n_rets, NULL, NULL);
  ptx_token name = ptx_expect_name(r, "the name of a function");
  f.place = f.body = ptx_place_of(&name);
  if (ptx_is(r, "("))
    f.params = ptx_read_params(r, entry, &f.n_params, &f.param_bytes, &f.param_align);
  else
    f.param_align = 1;
  read_attributes(r, &f);

  ptx_func_more more = {0};
  if (!ptx_accept(r, ";")) {
    if (!ptx_is(r, "{"))
      ptx_expect(r, "{");
    f.defined = true;
    more.text = r->lexer;
    if (!ptx_lex_skip_block(&r->lexer))
      ptx_fail(r, &r->token, "this '{' has no '}'");
    more.text.end = r->lexer.at - 1;
    ptx_next(r);
  }

  f.name = intern(r, &name);
  uint32_t known = base_map_get(&u->symbols, f.name);
  if (known == BASE_MISSING) {
    base_map_set(&u->symbols, f.name, u->m.n_funcs << 1 | 1);
    *BASE_PUSH(&u->arena, u->more, u->n_more, u->cap_more) = more;
    *BASE_PUSH(&u->arena, u->funcs, u->m.n_funcs, u->cap_funcs) = f;
    return;
  }
  ptx_func *old = known & 1 ? &u->funcs[known >> 1] : NULL;
  if (!old || old->entry != entry || (old->defined && f.defined) || old->n_params != f.n_params ||
      old->n_rets != f.n_rets || !same_params(old->params, f.params, f.n_params) ||
      !same_params(old->rets, f.rets, f.n_rets))
    ptx_fail(r, &name, "'%.*s' is %s a second time", PTX_TEXT(&name),
             old && old->defined && f.defined ? "defined" : "declared, and differently,");
  if (f.defined) {
    f.place = old->place; /* it may be used from its first declaration on */
    f.noreturn |= old->noreturn;
    *old = f;
    u->more[known >> 1] = more;
  } else {
    old->noreturn |= f.noreturn;
  }
}

static void read_alias(ptx_reader *r) {
  ptx_unit *u = r->unit;
  ptx_token alias = ptx_expect_name(r, "the name of a function");
  ptx_expect(r, ",");
  ptx_token target = ptx_expect_name(r, "the name of a function");
  bool alias_is_func = false, target_is_func = false;
  uint32_t a = ptx_symbol(u, alias.text, alias.bytes, &alias_is_func);
  uint32_t t = ptx_symbol(u, target.text, target.bytes, &target_is_func);
  if (a == UINT32_MAX || !alias_is_func || u->funcs[a].entry || u->funcs[a].defined)
    ptx_fail(r, &alias, "'%.*s' is no function that is declared and not defined", PTX_TEXT(&alias));
  if (t == UINT32_MAX || !target_is_func || u->funcs[t].entry || !u->funcs[t].defined)
    ptx_fail(r, &target, "'%.*s' is no function that is defined", PTX_TEXT(&target));
  u->funcs[a].alias_of = t;
}

/* ------------------------------------------------------------------ directives */

static void read_version(ptx_reader *r) {
  ptx_token t = ptx_next(r);
  uint32_t part[2] = {0, 0};
  unsigned at = 0, digits = 0;
  for (uint32_t i = 0; i < t.bytes && t.kind == PTX_T_FLOAT; i++) {
    if (t.text[i] == '.') {
      at++;
      digits = 0;
    } else if (t.text[i] >= '0' && t.text[i] <= '9' && at < 2 && digits++ < 3) {
      part[at] = part[at] * 10 + (uint32_t)(t.text[i] - '0');
    } else {
      at = 9;
      break;
    }
  }
  if (at != 1)
    ptx_fail(r, &t, "expected a version such as 8.0");
  r->unit->m.version = part[0] * 10 + part[1];
  if (r->unit->m.version > PTX_VERSION_NEWEST)
    ptx_say(r, BASE_WARNING, &t, "PTX ISA %u.%u is newer than %u.%u, the newest one known here", part[0],
            part[1], PTX_VERSION_NEWEST / 10, PTX_VERSION_NEWEST % 10);
}

static void read_target(ptx_reader *r) {
  ptx_module *m = &r->unit->m;
  do {
    ptx_token t = ptx_expect_name(r, "a target");
    if (t.bytes > 3 && strncmp(t.text, "sm_", 3) == 0) {
      uint32_t sm = 0, i = 3;
      for (; i < t.bytes && i < 7 && t.text[i] >= '0' && t.text[i] <= '9'; i++)
        sm = sm * 10 + (uint32_t)(t.text[i] - '0');
      bool suffixed = i + 1 == t.bytes && (t.text[i] == 'a' || t.text[i] == 'f');
      if (i == 3 || (i != t.bytes && !suffixed))
        ptx_fail(r, &t, "unknown target '%.*s'", PTX_TEXT(&t));
      m->sm = sm;
      m->sm_suffix = suffixed ? t.text[i] : 0;
      unsigned isa = ptx_target_isa(sm, m->sm_suffix);
      if (!isa && sm <= ptx_target_newest())
        ptx_fail(r, &t, "unknown target '%.*s'", PTX_TEXT(&t));
      if (!isa)
        ptx_say(r, BASE_WARNING, &t, "'%.*s' is newer than sm_%u, the newest target known here", PTX_TEXT(&t),
                ptx_target_newest());
      if (isa > m->version)
        ptx_fail(r, &t, "'%.*s' needs PTX ISA %u.%u; this is %u.%u", PTX_TEXT(&t), isa / 10, isa % 10,
                 m->version / 10, m->version % 10);
    } else if (t.bytes == 5 && memcmp(t.text, "debug", 5) == 0) {
      m->debug = true;
    } else if (t.bytes == 14 && memcmp(t.text, "map_f64_to_f32", 14) == 0) {
      m->map_f64_to_f32 = true;
    } else if (t.bytes == 19 && memcmp(t.text, "texmode_independent", 19) == 0) {
      m->texmode_independent = true;
    } else if (t.bytes == 15 && memcmp(t.text, "texmode_unified", 15) == 0) {
      m->texmode_independent = false;
    } else {
      ptx_fail(r, &t, "unknown target '%.*s'", PTX_TEXT(&t));
    }
  } while (ptx_accept(r, ","));
}

static void read_address_size(ptx_reader *r) {
  ptx_token t = r->token;
  uint32_t bits = ptx_expect_u32(r, "32 or 64");
  if (bits != 32 && bits != 64)
    ptx_fail(r, &t, "an address has 32 or 64 bits");
  r->unit->m.address_bits = bits;
}

static void read_statement(ptx_reader *r) {
  ptx_unit *u = r->unit;
  uint8_t linkage = PTX_LINK_NONE;
  ptx_token t = r->token;
  ptx_directive d = ptx_directive_at(r);
  if (!u->m.version && d != PTX_DIR_VERSION)
    ptx_fail(r, &t, "a module begins with '.version'");
  if (u->m.version && !u->m.sm && d != PTX_DIR_TARGET && d != PTX_DIR_VERSION)
    ptx_fail(r, &t, "'.target' follows '.version'");
  for (;; d = ptx_directive_at(r), t = r->token) {
    uint8_t l = d == PTX_DIR_EXTERN    ? PTX_LINK_EXTERN
                : d == PTX_DIR_VISIBLE ? PTX_LINK_VISIBLE
                : d == PTX_DIR_WEAK    ? PTX_LINK_WEAK
                : d == PTX_DIR_COMMON  ? PTX_LINK_COMMON
                                       : PTX_LINK_NONE;
    if (l == PTX_LINK_NONE)
      break;
    if (linkage != PTX_LINK_NONE)
      ptx_fail(r, &t, "a second linkage");
    linkage = l;
    ptx_next(r);
  }
  if (d == PTX_DIR_NONE)
    ptx_unexpected(r, "a directive");
  ptx_next(r);
  if (d == PTX_DIR_ENTRY || d == PTX_DIR_FUNC) {
    read_func(r, d == PTX_DIR_ENTRY, linkage);
    return;
  }
  if (ptx_space_of(d) != PTX_SPACE_GENERIC && d != PTX_DIR_PARAM) {
    ptx_var base = {.space = ptx_space_of(d), .linkage = linkage};
    if (base.space == PTX_SPACE_LOCAL)
      ptx_fail(r, &t, "a local variable belongs into a function");
    ptx_read_vars(r, base, PTX_AT_MODULE, add_var, NULL);
    ptx_expect(r, ";");
    return;
  }
  if (linkage != PTX_LINK_NONE)
    ptx_fail(r, &t, "'.%s' has no linkage", ptx_directive_name(d));
  switch (d) {
  case PTX_DIR_VERSION:
    if (u->m.version)
      ptx_fail(r, &t, "a second '.version'");
    read_version(r);
    break;
  case PTX_DIR_TARGET:
    read_target(r);
    break;
  case PTX_DIR_ADDRESS_SIZE:
    read_address_size(r);
    break;
  case PTX_DIR_FILE:
    ptx_read_file(r);
    break;
  case PTX_DIR_SECTION:
    ptx_read_section(r);
    break;
  case PTX_DIR_PRAGMA:
    read_pragma(r, &u->pragmas, &u->m.n_pragmas, &u->cap_pragmas);
    break;
  case PTX_DIR_ALIAS:
    read_alias(r);
    ptx_expect(r, ";");
    break;
  default:
    ptx_fail(r, &t, "'.%s' cannot stand here", ptx_directive_name(d));
  }
}

/* To the next statement: behind a ';' or a block, or before a directive that begins a line. */
static void skip_statement(ptx_reader *r) {
  while (r->token.kind != PTX_T_END) {
    ptx_token t = ptx_next(r);
    if (t.kind != PTX_T_PUNCT)
      continue;
    if (t.text[0] == ';')
      return;
    if (t.text[0] == '{') {
      /* the lexer is one token ahead of the brace */
      r->lexer.at = t.text + 1;
      r->lexer.line = t.line;
      r->lexer.line_begin = t.line_begin;
      ptx_lex_skip_block(&r->lexer);
      ptx_next(r);
      return;
    }
  }
}

/* Statements until the end or one error; false: there was one. */
static bool read_some(ptx_reader *r) {
  jmp_buf failed;
  r->failed = &failed;
  if (setjmp(failed)) {
    r->failed = NULL;
    return false;
  }
  while (r->token.kind != PTX_T_END)
    read_statement(r);
  r->failed = NULL;
  return true;
}

static void read_module(ptx_unit *u) {
  ptx_reader r = {.unit = u, .lexer = {u->m.text, u->m.text + u->m.text_bytes, u->m.text, 1}};
  ptx_next(&r);
  while (!read_some(&r)) {
    if (!u->m.version || !u->m.sm || ptx_too_many_errors(u))
      break; /* without a version and a target nothing that follows can be judged */
    skip_statement(&r);
  }
  if (!u->diags.n_errors && !u->m.version)
    base_diag_add(&u->diags, BASE_ERROR, 1, 1, u->m.text, "a module begins with '.version'");
  else if (!u->diags.n_errors && !u->m.sm)
    base_diag_add(&u->diags, BASE_ERROR, 0, 0, NULL, "'.target' is missing");
  u->m.vars = u->vars;
  u->m.funcs = u->funcs;
  u->m.pragmas = u->pragmas;
}

/* Everything that allocates; false: memory ran out. */
static bool build(ptx_unit *u, const char *name, const char *text, size_t bytes) {
  jmp_buf out_of_memory;
  u->arena.out_of_memory = &out_of_memory;
  if (setjmp(out_of_memory))
    return false;
  u->m.name = base_copy(&u->arena, name, strlen(name));
  u->m.text_bytes = strnlen(text, bytes);
  u->m.text = base_copy(&u->arena, text, u->m.text_bytes);
  u->m.address_bits = 32;
  u->m.diags = &u->diags;
  base_strings_init(&u->strings, &u->arena);
  base_map_init(&u->symbols, &u->arena);
  base_map_init(&u->debug_labels, &u->arena);
  base_strings_init(&u->spellings, &u->arena);
  base_map_init(&u->spelled, &u->arena);
  base_diags_init(&u->diags, &u->arena, u->m.name);
  read_module(u);
  return true;
}

ptx_module *ptx_module_new(const char *name, const char *text, size_t bytes) {
  ptx_table_get();
  ptx_unit *u = calloc(1, sizeof *u);
  if (!u)
    return NULL;
  if (pthread_mutex_init(&u->lock, NULL) != 0) {
    free(u);
    return NULL;
  }
  if (!build(u, name, text, bytes)) {
    ptx_module_free(&u->m);
    return NULL;
  }
  u->arena.out_of_memory = NULL;
  return &u->m;
}

void ptx_module_free(ptx_module *m) {
  if (!m)
    return;
  ptx_unit *u = (ptx_unit *)m;
  pthread_mutex_destroy(&u->lock);
  base_arena_free(&u->arena);
  free(u);
}

bool ptx_failed(const ptx_module *m) {
  return m->diags->n_errors != 0;
}

const ptx_body *ptx_body_of(ptx_module *m, uint32_t func) {
  ptx_unit *u = (ptx_unit *)m;
  if (func >= m->n_funcs)
    return NULL;
  if (m->funcs[func].alias_of != PTX_NONE)
    func = m->funcs[func].alias_of;
  pthread_mutex_lock(&u->lock);
  ptx_func_more *more = &u->more[func];
  if (!more->read && m->funcs[func].defined && !ptx_too_many_errors(u))
    more->body = ptx_body_read(u, func, &more->read);
  const ptx_body *body = more->body;
  pthread_mutex_unlock(&u->lock);
  return body;
}

bool ptx_check(ptx_module *m) {
  bool complete = true;
  for (uint32_t f = 0; f < m->n_funcs; f++)
    complete &= ptx_body_of(m, f) || !m->funcs[f].defined;
  return complete && !ptx_failed(m);
}

/* ------------------------------------------------------------------ finding things */

static uint32_t find(const ptx_module *m, const char *name, bool func) {
  bool is_func = false;
  uint32_t index = ptx_symbol((const ptx_unit *)m, name, strlen(name), &is_func);
  return index == UINT32_MAX || is_func != func ? PTX_NONE : index;
}

uint32_t ptx_find_func(const ptx_module *m, const char *name) {
  return find(m, name, true);
}

uint32_t ptx_find_var(const ptx_module *m, const char *name) {
  return find(m, name, false);
}

const ptx_func *ptx_func_get(const ptx_module *m, uint32_t func) {
  const ptx_func *f = &m->funcs[func];
  return f->alias_of == PTX_NONE ? f : &m->funcs[f->alias_of];
}

const ptx_var *ptx_var_of(const ptx_module *m, const ptx_body *b, const ptx_operand *o) {
  return o->in_body ? &b->vars[o->index] : &m->vars[o->index];
}
