/* print.c: a module's declarations as PTX text. Everything is printed where it was declared, so that the text
 * reads in the same order and parses to the same indices. */
#include <stdlib.h>
#include <string.h>

#include "ptx/print.h"

static const char *linkage(uint8_t l) {
  static const char *const name[] = {"", ".extern ", ".visible ", ".weak ", ".common "};
  return name[l];
}

/* ------------------------------------------------------------------ variables */

static void put_scalar(base_text *out, ptx_type type, uint64_t bits) {
  if (type == PTX_F32)
    base_putf(out, "0f%08llX", (unsigned long long)bits);
  else if (type == PTX_F64)
    base_putf(out, "0d%016llX", (unsigned long long)bits);
  else
    base_putf(out, "%llu", (unsigned long long)bits);
}

static void put_address(base_text *out, const ptx_unit *u, const ptx_var *v, const ptx_reloc *r) {
  unsigned whole = ptx_type_bytes((ptx_type)v->type) > 8 ? 8 : ptx_type_bytes((ptx_type)v->type);
  bool masked = r->shift || r->bytes != whole || whole < 4;
  if (masked) {
    uint64_t ones = r->bytes >= 8 ? UINT64_MAX : (UINT64_C(1) << 8 * r->bytes) - 1;
    base_putf(out, "0x%llX(", (unsigned long long)(ones << r->shift));
  }
  const char *name = r->is_func ? u->m.funcs[r->index].name : u->m.vars[r->index].name;
  base_putf(out, r->generic ? "generic(%s)" : "%s", name);
  if (r->addend)
    base_putf(out, "+%lld", (long long)r->addend);
  if (masked)
    base_puts(out, ")");
}

/* What a printer of initial values walks over. Relocations come in the order of their offsets. */
typedef struct init {
  const ptx_unit *u;
  const ptx_var *v;
  base_text *out;
  uint32_t reloc;
} init;

static void put_value(init *in, unsigned dim, uint64_t offset) {
  const ptx_var *v = in->v;
  unsigned bytes = ptx_type_bytes((ptx_type)v->type);
  if (dim == v->n_dims + (v->vec > 1 ? 1u : 0u)) {
    while (in->reloc < v->n_relocs && v->relocs[in->reloc].offset < offset)
      in->reloc++;
    if (in->reloc < v->n_relocs && v->relocs[in->reloc].offset == offset) {
      put_address(in->out, in->u, v, &v->relocs[in->reloc]);
      return;
    }
    uint64_t bits = 0;
    for (unsigned b = 0; b < bytes && b < 8 && offset + b < v->init_bytes; b++)
      bits |= (uint64_t)v->init[offset + b] << 8 * b;
    put_scalar(in->out, (ptx_type)v->type, bits);
    return;
  }
  uint64_t step = bytes, n = v->vec;
  if (dim < v->n_dims && dim < PTX_MAX_DIMS) {
    n = v->dims[dim];
    step *= v->vec;
    for (unsigned d = dim + 1; d < v->n_dims && d < PTX_MAX_DIMS; d++)
      step *= v->dims[d];
  }
  base_puts(in->out, "{");
  for (uint64_t e = 0; e < n && offset + e * step < v->init_bytes; e++) {
    base_puts(in->out, e ? "," : "");
    put_value(in, dim + 1, offset + e * step);
  }
  base_puts(in->out, "}");
}

/* Everything but the linkage and the ';'. A space of none is a register. */
void ptx_print_var(base_text *out, const ptx_unit *u, const ptx_var *v, const char *name,
                   const char *suffix) {
  base_putf(out, ".%s ", v->space == PTX_SPACE_GENERIC ? "reg" : ptx_mod_name((ptx_mod)v->space));
  if (v->managed || v->has_unified) {
    base_puts(out, ".attribute(");
    base_puts(out, v->managed ? ".managed" : "");
    base_puts(out, v->managed && v->has_unified ? "," : "");
    if (v->has_unified)
      base_putf(out, ".unified(%llu,%llu)", (unsigned long long)v->unified[0],
                (unsigned long long)v->unified[1]);
    base_puts(out, ") ");
  }
  if (ptx_type_base((ptx_type)v->type) != PTX_BASE_OPAQUE && v->space != PTX_SPACE_GENERIC)
    base_putf(out, ".align %u ", v->align);
  if (v->vec > 1)
    base_putf(out, ".v%u ", v->vec);
  base_putf(out, ".%s ", ptx_type_name((ptx_type)v->type));
  if (v->is_ptr) {
    base_puts(out, ".ptr ");
    if (v->ptr_space)
      base_putf(out, ".%s ", ptx_mod_name((ptx_mod)v->ptr_space));
    if (v->ptr_align)
      base_putf(out, ".align %u ", v->ptr_align);
  }
  base_putf(out, "%s%s", name, suffix);
  for (unsigned d = 0; d < v->n_dims; d++)
    if (v->dims[d])
      base_putf(out, "[%u]", v->dims[d]);
    else
      base_puts(out, "[]");
  if (v->init) {
    base_puts(out, " = ");
    put_value(&(init){u, v, out, 0}, 0, 0);
  }
}

void ptx_print_params(base_text *out, const ptx_var *list, uint32_t n) {
  base_puts(out, "(");
  for (uint32_t i = 0; i < n; i++) {
    base_puts(out, i ? ", " : "");
    ptx_print_var(out, NULL, &list[i], list[i].name, "");
  }
  base_puts(out, ")");
}

/* ------------------------------------------------------------------ kernels and functions */

static void put_triple(base_text *out, const char *what, const uint32_t v[3]) {
  if (v[0])
    base_putf(out, " .%s %u, %u, %u", what, v[0], v[1], v[2]);
}

static void put_count(base_text *out, const char *what, uint32_t v) {
  if (v)
    base_putf(out, " .%s %u", what, v);
}

static void put_head(base_text *out, const ptx_func *f) {
  base_puts(out, linkage(f->linkage));
  base_puts(out, f->entry ? ".entry " : ".func ");
  if (f->n_rets) {
    ptx_print_params(out, f->rets, f->n_rets);
    base_puts(out, " ");
  }
  base_puts(out, f->name);
  ptx_print_params(out, f->params, f->n_params);
  base_puts(out, f->noreturn ? " .noreturn" : "");
}

static void put_attributes(base_text *out, const ptx_func *f) {
  put_triple(out, "maxntid", f->maxntid);
  put_triple(out, "reqntid", f->reqntid);
  put_count(out, "minnctapersm", f->minnctapersm);
  put_count(out, "maxnctapersm", f->maxnctapersm);
  put_count(out, "maxnreg", f->maxnreg);
  put_triple(out, "reqnctapercluster", f->reqnctapercluster);
  put_count(out, "maxclusterrank", f->maxclusterrank);
  base_puts(out, f->explicitcluster ? " .explicitcluster" : "");
  base_puts(out, f->blocksareclusters ? " .blocksareclusters" : "");
  for (uint32_t i = 0; i < f->n_pragmas; i++)
    base_putf(out, " .pragma \"%s\";", f->pragmas[i]);
}

/* ------------------------------------------------------------------ the module */

typedef struct item {
  ptx_place place;
  uint32_t index;
  enum { ITEM_VAR, ITEM_DECLARATION, ITEM_BODY } what;
} item;

static int by_place(const void *a, const void *b) {
  const item *x = a, *y = b;
  if (x->place.line != y->place.line)
    return x->place.line < y->place.line ? -1 : 1;
  if (x->place.column != y->place.column)
    return x->place.column < y->place.column ? -1 : 1;
  return 0;
}

static bool same_place(ptx_place a, ptx_place b) {
  return a.line == b.line && a.column == b.column;
}

static void put_item(ptx_unit *u, const item *i, base_text *out) {
  if (i->what == ITEM_VAR) {
    const ptx_var *v = &u->m.vars[i->index];
    if (same_place(i->place, v->defined)) {
      base_puts(out, linkage(v->linkage));
      ptx_print_var(out, u, v, v->name, "");
    } else {
      ptx_var before = *v; /* a declaration in front of the definition */
      before.init = NULL;
      base_puts(out, linkage(PTX_LINK_EXTERN));
      ptx_print_var(out, u, &before, v->name, "");
    }
    base_puts(out, ";\n");
    return;
  }
  const ptx_func *f = &u->m.funcs[i->index];
  put_head(out, f);
  if (i->what == ITEM_DECLARATION) {
    base_puts(out, ";\n");
    return;
  }
  put_attributes(out, f);
  const ptx_body *b = ptx_body_of(&u->m, i->index);
  base_puts(out, "\n{\n");
  if (b)
    ptx_print_body(u, b, out);
  base_puts(out, "}\n");
}

static void put_strings(const ptx_unit *u, base_text *out) {
  if (!u->debug_str_bytes)
    return;
  base_puts(out, ".section .debug_str\n{\n$L__strings:\n");
  for (uint32_t i = 0; i + 1 < u->debug_str_bytes; i++)
    base_putf(out, ".b8 %u\n", (unsigned char)u->debug_str[i]);
  base_puts(out, "}\n");
}

void ptx_print(ptx_module *m, base_text *out) {
  ptx_unit *u = (ptx_unit *)m;
  base_putf(out, ".version %u.%u\n.target sm_%u", m->version / 10, m->version % 10, m->sm);
  if (m->sm_suffix)
    base_put(out, &m->sm_suffix, 1);
  base_puts(out, m->texmode_independent ? ", texmode_independent" : "");
  base_puts(out, m->map_f64_to_f32 ? ", map_f64_to_f32" : "");
  base_puts(out, m->debug ? ", debug" : "");
  base_putf(out, "\n.address_size %u\n", m->address_bits);
  for (uint32_t i = 0; i < m->n_files; i++)
    base_putf(out, ".file %u \"%s\"\n", m->files[i].index, m->files[i].name);
  for (uint32_t i = 0; i < m->n_pragmas; i++)
    base_putf(out, ".pragma \"%s\";\n", m->pragmas[i]);

  item *items = calloc((size_t)m->n_vars * 2 + (size_t)m->n_funcs * 2 + 1, sizeof *items);
  if (!items) {
    out->failed = true;
    return;
  }
  size_t n = 0;
  for (uint32_t i = 0; i < m->n_vars; i++) {
    items[n++] = (item){m->vars[i].place, i, ITEM_VAR};
    if (!same_place(m->vars[i].place, m->vars[i].defined))
      items[n++] = (item){m->vars[i].defined, i, ITEM_VAR};
  }
  for (uint32_t i = 0; i < m->n_funcs; i++) {
    const ptx_func *f = &m->funcs[i];
    if (!f->defined || !same_place(f->place, f->body))
      items[n++] = (item){f->place, i, ITEM_DECLARATION};
    if (f->defined)
      items[n++] = (item){f->body, i, ITEM_BODY};
  }
  qsort(items, n, sizeof *items, by_place);
  for (size_t i = 0; i < n; i++)
    put_item(u, &items[i], out);
  free(items);
  for (uint32_t i = 0; i < m->n_funcs; i++)
    if (m->funcs[i].alias_of != PTX_NONE)
      base_putf(out, ".alias %s, %s;\n", m->funcs[i].name, m->funcs[m->funcs[i].alias_of].name);
  put_strings(u, out);
}
