/* print_body.c: a function's body as PTX text. Scopes are gone by then: all registers and variables stand in
 * front, and a name that several scopes declared gets a number behind it. */
#include <stdio.h>
#include <string.h>

#include "ptx/body.h"
#include "ptx/print.h"

/* ------------------------------------------------------------------ names */

static void put_reg(const ptx_printer *p, uint32_t index) {
  const ptx_reg *r = &p->body->regs[index];
  base_puts(p->out, r->name);
  if (p->reg_suffix && p->reg_suffix[index])
    base_putf(p->out, "$%u_", p->reg_suffix[index]);
  if (r->number != PTX_NONE)
    base_putf(p->out, "%u", r->number);
  if (r->part)
    base_putf(p->out, ".%c", r->part);
}

static void put_var(const ptx_printer *p, const ptx_operand *o) {
  if (!o->in_body) {
    base_puts(p->out, p->unit->m.vars[o->index].name);
    return;
  }
  base_puts(p->out, p->body->vars[o->index].name);
  if (p->var_suffix && p->var_suffix[o->index])
    base_putf(p->out, "$%u_", p->var_suffix[o->index]);
}

static void put_label(const ptx_printer *p, uint32_t index) {
  base_puts(p->out, p->body->labels[index].name);
  if (p->label_suffix && p->label_suffix[index])
    base_putf(p->out, "$%u_", p->label_suffix[index]);
}

/* Lists of labels and prototypes go by their numbers: nothing but the body itself sees their names. */
static void put_targets(const ptx_printer *p, uint32_t index) {
  base_putf(p->out, "$T__%u", index);
}

static void put_proto(const ptx_printer *p, uint32_t index) {
  base_putf(p->out, "$P__%u", index);
}

/* Gives out names: `taken` holds all full names so far. A whole declaration gets one suffix. */
typedef struct namer {
  const ptx_unit *u;
  base_strings taken;
  uint32_t next;
  base_text full;
} namer;

static bool is_free(namer *n, const char *name, uint32_t suffix, uint32_t number) {
  bool is_func;
  n->full.length = 0;
  base_puts(&n->full, name);
  if (suffix)
    base_putf(&n->full, "$%u_", suffix);
  if (number != PTX_NONE)
    base_putf(&n->full, "%u", number);
  return n->full.failed || (!base_interned(&n->taken, n->full.bytes, n->full.length) &&
                            ptx_symbol(n->u, n->full.bytes, n->full.length, &is_func) == UINT32_MAX &&
                            ptx_sreg_find(n->full.bytes, n->full.length) == PTX_SREGS);
}

static void take(namer *n, const char *name, uint32_t suffix, uint32_t number) {
  is_free(n, name, suffix, number);
  if (!n->full.failed)
    base_intern(&n->taken, n->full.bytes, n->full.length);
}

static void name_regs(namer *n, const ptx_body *b, uint32_t first, uint32_t *suffixes) {
  for (uint32_t i = first, end; i < b->n_regs; i = end) {
    const char *name = b->regs[i].name; /* one pointer for a whole declaration */
    for (end = i; end < b->n_regs && b->regs[end].name == name; end++)
      ;
    uint32_t suffix = 0;
    for (bool free = false; !free; suffix = free ? suffix : ++n->next) {
      free = true;
      for (uint32_t r = i; r < end && free; r++)
        free = is_free(n, name, suffix, b->regs[r].number);
    }
    for (uint32_t r = i; r < end; r++) {
      suffixes[r] = suffix;
      if (b->regs[r].part <= 'x')
        take(n, name, suffix, b->regs[r].number);
    }
  }
}

static uint32_t name_one(namer *n, const char *name) {
  uint32_t suffix = 0;
  while (!is_free(n, name, suffix, PTX_NONE))
    suffix = ++n->next;
  take(n, name, suffix, PTX_NONE);
  return suffix;
}

static uint32_t n_params(const ptx_body *b, const ptx_func *f) {
  uint32_t n = f->n_rets + f->n_params;
  return n < b->n_vars ? n : b->n_vars;
}

/* Registers that are parameters come first and are declared by the function's head. */
static uint32_t n_param_regs(const ptx_body *b, uint32_t params) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < params; i++)
    if (b->vars[i].space == PTX_SPACE_GENERIC)
      n += b->vars[i].vec;
  return n;
}

static void make_names(ptx_printer *p, base_arena *arena, const ptx_func *f) {
  const ptx_body *b = p->body;
  namer n = {.u = p->unit};
  base_strings_init(&n.taken, arena);
  p->reg_suffix = base_alloc_array(arena, b->n_regs, sizeof *p->reg_suffix);
  p->var_suffix = base_alloc_array(arena, b->n_vars, sizeof *p->var_suffix);
  p->label_suffix = base_alloc_array(arena, b->n_labels, sizeof *p->label_suffix);
  uint32_t params = n_params(b, f);
  for (uint32_t i = 0; i < params; i++)
    take(&n, b->vars[i].name, 0, PTX_NONE);
  for (uint32_t i = 0; i < b->n_targets; i++)
    take(&n, "$T__", 0, i);
  for (uint32_t i = 0; i < b->n_protos; i++)
    take(&n, "$P__", 0, i);
  name_regs(&n, b, n_param_regs(b, params), p->reg_suffix);
  for (uint32_t i = params; i < b->n_vars; i++)
    p->var_suffix[i] = name_one(&n, b->vars[i].name);
  for (uint32_t i = 0; i < b->n_labels; i++)
    p->label_suffix[i] = name_one(&n, b->labels[i].name);
  base_text_free(&n.full);
}

/* ------------------------------------------------------------------ operands */

static void put_offset(const ptx_printer *p, int64_t offset) {
  if (offset)
    base_putf(p->out, "+%lld", (long long)offset);
}

static void put_constant(const ptx_printer *p, const ptx_operand *o) {
  ptx_type type = (ptx_type)o->type;
  if (type == PTX_F32)
    base_putf(p->out, "0f%08llX", (unsigned long long)o->bits);
  else if (type == PTX_F64)
    base_putf(p->out, "0d%016llX", (unsigned long long)o->bits);
  else if (ptx_type_base(type) == PTX_BASE_SINT)
    base_putf(p->out, "%lld", (long long)o->bits);
  else
    base_putf(p->out, "%llu", (unsigned long long)o->bits);
}

static void put_operand(const ptx_printer *p, const ptx_insn *i, const ptx_operand *o) {
  base_text *out = p->out;
  if (o->negated)
    base_puts(out, "!");
  switch ((ptx_kind)o->kind) {
  case PTX_ABSENT:
    break;
  case PTX_SINK:
    base_puts(out, "_");
    break;
  case PTX_REG:
    put_reg(p, o->index);
    if (o->part)
      base_putf(out, ".%c%u", o->part < 5 ? 'b' : 'h', o->part < 5 ? o->part - 1u : o->part - 5u);
    break;
  case PTX_SPECIAL:
    base_puts(out, ptx_sreg_name((ptx_sreg)o->index));
    if (ptx_sreg_parts((ptx_sreg)o->index) > 1 && !i->mods.vec)
      base_putf(out, ".%c", "xyzw"[o->part]);
    break;
  case PTX_IMM:
    put_constant(p, o);
    break;
  case PTX_VAR:
    put_var(p, o);
    put_offset(p, o->offset);
    break;
  case PTX_FUNC:
    base_puts(out, p->unit->m.funcs[o->index].name);
    break;
  case PTX_MEM_REG:
    base_puts(out, "[");
    put_reg(p, o->index);
    put_offset(p, o->offset);
    base_puts(out, "]");
    break;
  case PTX_MEM_VAR:
    base_puts(out, "[");
    put_var(p, o);
    put_offset(p, o->offset);
    base_puts(out, "]");
    break;
  case PTX_MEM_IMM:
    base_putf(out, "[%lld]", (long long)o->offset);
    break;
  case PTX_VEC:
    base_puts(out, i->op == PTX_OP_call_ctl ? "(" : "{");
    for (uint64_t e = 0; e < o->count; e++) {
      const ptx_operand *k = &p->body->operands[o->index + e];
      base_puts(out, e ? ", " : "");
      if (k->kind == PTX_REG)
        put_reg(p, k->index);
      else
        put_operand(p, i, k);
    }
    base_puts(out, i->op == PTX_OP_call_ctl ? ")" : "}");
    break;
  case PTX_LABEL:
    put_label(p, o->index);
    break;
  case PTX_LABELS:
    put_targets(p, o->index);
    break;
  case PTX_PROTO:
    put_proto(p, o->index);
    break;
  case PTX_RAW:
    base_put(out, p->unit->m.text + o->bits, o->index);
    break;
  }
}

static void put_insn(const ptx_printer *p, const ptx_insn *i) {
  base_text *out = p->out;
  const ptx_table *table = ptx_table_get();
  if (i->guard != PTX_NONE) {
    base_puts(out, i->guard_negated ? "@!" : "@");
    put_reg(p, i->guard);
    base_puts(out, " ");
  }
  if (ptx_op_get((ptx_op)i->op)->refused) {
    base_puts(out, ptx_op_get((ptx_op)i->op)->name);
    put_operand(p, i, &p->body->operands[i->operands]);
    base_puts(out, ";");
    return;
  }
  ptx_put_name(i, out);
  bool first = true;
  for (unsigned n = 0; n < i->n_operands; n++) {
    const ptx_operand *o = &p->body->operands[i->operands + n];
    if (o->kind == PTX_ABSENT)
      continue;
    base_puts(out, first ? " " : table->slots[table->forms[i->form].first_slot + n].bar ? "|" : ", ");
    put_operand(p, i, o);
    if (i->mods.unified && o->kind >= PTX_MEM_REG && o->kind <= PTX_MEM_IMM)
      base_puts(out, ".unified");
    first = false;
  }
  base_puts(out, ";");
}

/* ------------------------------------------------------------------ the body */

static void put_regs(const ptx_printer *p, uint32_t first) {
  const ptx_body *b = p->body;
  for (uint32_t i = first, end; i < b->n_regs; i = end) {
    const ptx_reg *r = &b->regs[i];
    for (end = i; end < b->n_regs && b->regs[end].name == r->name; end++)
      ;
    base_puts(p->out, "\t.reg ");
    if (r->part)
      base_putf(p->out, ".v%u ", end - i);
    base_putf(p->out, ".%s %s", ptx_type_name((ptx_type)r->type), r->name);
    if (p->reg_suffix[i])
      base_putf(p->out, "$%u_", p->reg_suffix[i]);
    if (r->number != PTX_NONE)
      base_putf(p->out, "<%u>", end - i);
    base_puts(p->out, ";\n");
  }
}

static void put_declarations(const ptx_printer *p, const ptx_func *f) {
  const ptx_body *b = p->body;
  uint32_t params = n_params(b, f);
  put_regs(p, n_param_regs(b, params));
  for (uint32_t i = params; i < b->n_vars; i++) {
    char suffix[16] = "";
    if (p->var_suffix[i])
      snprintf(suffix, sizeof suffix, "$%u_", p->var_suffix[i]);
    base_puts(p->out, "\t");
    ptx_print_var(p->out, p->unit, &b->vars[i], b->vars[i].name, suffix);
    base_puts(p->out, ";\n");
  }
  for (uint32_t i = 0; i < b->n_pragmas; i++)
    base_putf(p->out, "\t.pragma \"%s\";\n", b->pragmas[i]);
  for (uint32_t i = 0; i < b->n_protos; i++) {
    const ptx_proto *k = &b->protos[i];
    base_puts(p->out, "\t");
    put_proto(p, i);
    if (k->n_funcs) {
      base_puts(p->out, ": .calltargets ");
      for (uint32_t c = 0; c < k->n_funcs; c++)
        base_putf(p->out, c ? ", %s" : "%s", p->unit->m.funcs[k->funcs[c]].name);
    } else {
      base_puts(p->out, ": .callprototype ");
      if (k->n_rets)
        ptx_print_params(p->out, k->rets, k->n_rets);
      base_puts(p->out, " _ ");
      ptx_print_params(p->out, k->params, k->n_params);
      base_puts(p->out, k->noreturn ? " .noreturn" : "");
    }
    base_puts(p->out, ";\n");
  }
  for (uint32_t i = 0; i < b->n_targets; i++) {
    base_puts(p->out, "\t");
    put_targets(p, i);
    base_puts(p->out, ": .branchtargets ");
    for (uint32_t l = 0; l < b->targets[i].n; l++) {
      base_puts(p->out, l ? ", " : "");
      put_label(p, b->targets[i].label[l]);
    }
    base_puts(p->out, ";\n");
  }
}

static void put_loc(const ptx_printer *p, const ptx_loc *l) {
  base_putf(p->out, "\t.loc %u %u %u", l->file_index, l->line, l->column);
  if (l->inlined_at != PTX_NONE) {
    const ptx_loc *at = &p->body->locs[l->inlined_at];
    /* a name that was not found has no place in the strings, and finds none again behind their end */
    if (l->func)
      base_putf(p->out, ", function_name $L__strings+%u", (unsigned)(l->func - p->unit->debug_str));
    else
      base_puts(p->out, ", function_name $L__unknown");
    base_putf(p->out, ", inlined_at %u %u %u", at->file_index, at->line, at->column);
  }
  base_puts(p->out, "\n");
}

static const ptx_func *func_of(const ptx_unit *u, const ptx_body *b) {
  for (uint32_t f = 0; f < u->m.n_funcs; f++)
    if (u->more[f].body == b)
      return &u->m.funcs[f];
  return NULL;
}

/* Label by place: `order` sorts them by instruction, keeping the order of those at one place. */
static void put_insns(const ptx_printer *p, const uint32_t *first_label, const uint32_t *order) {
  const ptx_body *b = p->body;
  uint32_t locs = 0;
  for (uint32_t i = 0; i <= b->n_insns; i++) {
    for (uint32_t l = first_label[i]; l < first_label[i + 1]; l++) {
      put_label(p, order[l]);
      base_puts(p->out, ":\n");
    }
    if (i == b->n_insns)
      break;
    /* a place behind which nothing stands can still be where something is inlined */
    while (b->insns[i].loc != PTX_NONE && locs <= b->insns[i].loc)
      put_loc(p, &b->locs[locs++]);
    base_puts(p->out, "\t");
    put_insn(p, &b->insns[i]);
    base_puts(p->out, "\n");
  }
}

static bool print_in(ptx_printer *p, base_arena *arena, const ptx_func *f) {
  jmp_buf out_of_memory;
  arena->out_of_memory = &out_of_memory;
  if (setjmp(out_of_memory))
    return false;
  const ptx_body *b = p->body;
  make_names(p, arena, f);
  uint32_t *first = base_alloc_array(arena, (size_t)b->n_insns + 3, sizeof *first);
  uint32_t *order = base_alloc_array(arena, b->n_labels, sizeof *order);
  for (uint32_t l = 0; l < b->n_labels; l++)
    first[b->labels[l].insn + 2]++;
  for (uint32_t i = 2; i < b->n_insns + 3; i++)
    first[i] += first[i - 1];
  for (uint32_t l = 0; l < b->n_labels; l++)
    order[first[b->labels[l].insn + 1]++] = l;
  put_declarations(p, f);
  put_insns(p, first, order);
  return true;
}

void ptx_print_body(const ptx_unit *u, const ptx_body *b, base_text *out) {
  ptx_printer p = {.unit = u, .body = b, .out = out};
  base_arena arena = {0};
  const ptx_func *f = func_of(u, b);
  if (!f || !print_in(&p, &arena, f))
    out->failed = true;
  base_arena_free(&arena);
}

void ptx_print_insn(const ptx_module *m, const ptx_body *b, const ptx_insn *i, base_text *out) {
  put_insn(&(ptx_printer){.unit = (const ptx_unit *)m, .body = b, .out = out}, i);
}
