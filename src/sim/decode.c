/* decode.c: a kernel and the functions it may call, from checked PTX to packed operations. Each instruction
 * is offered to the selectors, which choose its handlers; what is left here is the frame around them: guards,
 * places where lanes meet, targets of branches, the block's prologue. An instruction that nobody takes
 * becomes an op that refuses by name when it is executed, never one that does nothing.
 *
 * Invariant: ops of a function lie in the order of the text; op_of[n] is where instruction n begins, and
 * lanes that parted before it find a join there if it is where they meet.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "sim/machine.h"

void sim_emit(sim_build *w, const sim_op *op) {
  sim_code *c = w->code;
  sim_op *to;
  if (w->in_prologue) {
    to = BASE_PUSH(&c->arena, c->prologue, c->n_prologue, c->cap_prologue);
  } else {
    sim_func *f = w->f;
    to = BASE_PUSH(&c->arena, f->ops, f->n_ops, f->cap_ops);
  }
  *to = *op;
  if (!to->fn[SIM_SLOW])
    to->fn[SIM_SLOW] = to->fn[SIM_MASKED];
  if (!to->fn[SIM_GANG])
    to->fn[SIM_GANG] = sim_gang_each;
  if (!to->fn[SIM_TOLD])
    to->fn[SIM_TOLD] = to->fn[SIM_SLOW] == to->fn[SIM_MASKED] || w->blocks ? to->fn[SIM_GANG] : sim_gang_told;
}

void sim_decode_fail(sim_build *w, const ptx_insn *i, const char *format, ...) {
  base_text t = {0};
  va_list args;
  va_start(args, format);
  base_putf(&t, "%s:%u: in %s: ", w->f->ptx->name, i ? i->place.line : w->f->decl->place.line,
            w->f->decl->name);
  base_vputf(&t, format, args);
  va_end(args);
  free(w->code->error);
  w->code->error = t.bytes;
  longjmp(*w->code->arena.out_of_memory, 2);
}

uint32_t sim_order_of(const sim_func *f, uint32_t insn) {
  const ptx_body *b = f->body;
  if (insn >= b->n_insns)
    return UINT32_MAX / 2;
  uint32_t block = f->block_of[insn];
  return f->order[block] + insn - b->blocks[block].first;
}

/* ------------------------------------------------------------------ one instruction */

static uint32_t written_place(sim_build *w, const ptx_operand *o) {
  return o->kind == PTX_SINK ? SIM_NOWHERE : sim_place_at(w, w->f->body, o);
}

static bool has_place(const ptx_operand *o) {
  return o->kind == PTX_REG || o->kind == PTX_IMM || o->kind == PTX_SPECIAL || o->kind == PTX_VAR ||
         o->kind == PTX_FUNC;
}

static void fill(sim_build *w, const ptx_insn *i, sim_op *op) {
  uint32_t *written[] = {&op->d, &op->e}, *read[] = {&op->a, &op->b, &op->c};
  unsigned n_written = 0, n_read = 0;
  op->d = op->e = op->a = op->b = op->c = SIM_NOWHERE;
  for (unsigned n = 0; n < i->n_operands; n++) {
    const ptx_operand *o = sim_operand(w->f->body, i, n);
    if (o->kind == PTX_ABSENT)
      continue;
    if (o->written) {
      if (n_written < 2 && (has_place(o) || o->kind == PTX_SINK))
        *written[n_written] = written_place(w, o);
      n_written++;
    } else {
      if (n_read < 3 && has_place(o))
        *read[n_read] = sim_place_at(w, w->f->body, o);
      n_read++;
    }
  }
}

static bool select_op(sim_build *w, const ptx_insn *i, sim_op *op) {
  static sim_select *const own[] = {
      sim_select_control,  sim_select_barrier, sim_select_collective, sim_select_copy,
      sim_select_mbarrier, sim_select_address, sim_select_atom,       NULL};
  const ptx_body *b = w->f->body;
  for (unsigned s = 0; own[s]; s++)
    if (own[s](w, b, i, op))
      return true;
  for (unsigned s = 0; w->level->select[s]; s++)
    if (w->level->select[s](w, b, i, op))
      return true;
  return false;
}

static const char *refusal(sim_build *w, const ptx_insn *i) {
  const char *why = ptx_op_get((ptx_op)i->op)->refused;
  base_text t = {0};
  base_putf(&t, "%s: %s", ptx_op_get((ptx_op)i->op)->name, why ? why : "this form is not modelled");
  const char *copy = base_copy(&w->code->arena, t.bytes ? t.bytes : "", t.length);
  base_text_free(&t);
  return copy;
}

static void put_branch(sim_build *w, uint32_t insn, uint32_t pred, uint32_t target) {
  sim_func *f = w->f;
  sim_op op = {.insn = insn, .imm = target, .x = sim_order_of(f, target), .y = sim_order_of(f, insn + 1)};
  sim_make_branch(&op, pred);
  op.b = target <= insn; /* backwards */
  *BASE_PUSH(&w->code->arena, w->fixups, w->n_fixups, w->cap_fixups) = f->n_ops;
  sim_emit(w, &op);
}

static void put_join(sim_build *w, uint32_t insn) {
  sim_op op = {.insn = insn, .x = sim_order_of(w->f, insn)};
  sim_make_join(&op);
  sim_emit(w, &op);
}

static void put_insn(sim_build *w, uint32_t n) {
  const ptx_body *b = w->f->body;
  const ptx_insn *i = &b->insns[n];
  sim_op op = {.insn = n};
  uint32_t guard = SIM_NOWHERE;
  if (i->guard != PTX_NONE)
    guard = w->f->reg[i->guard] ^ (i->guard_negated ? SIM_NOT : 0);
  if (i->op == PTX_OP_bra_ctl) {
    put_branch(w, n, guard, b->labels[sim_operand(b, i, 0)->index].insn);
    return;
  }
  w->blocks = false;
  fill(w, i, &op);
  if (ptx_op_get((ptx_op)i->op)->refused || !select_op(w, i, &op)) {
    if (!w->code->refused) {
      w->code->refused = refusal(w, i);
      w->code->refused_line = i->place.line;
    }
    op = (sim_op){.insn = n, .more = refusal(w, i)};
    sim_make_unmodelled(&op);
    w->blocks = true;
  }
  if (!op.fn[SIM_FULL]) /* a hint: nothing to do */
    return;
  if (w->blocks && !op.fn[SIM_GANG])
    op.fn[SIM_GANG] = sim_gang_apart;
  if (guard == SIM_NOWHERE) {
    sim_emit(w, &op);
  } else if (w->blocks) {
    put_branch(w, n, guard ^ SIM_NOT, n + 1);
    sim_emit(w, &op);
  } else {
    sim_op before = {.insn = n};
    sim_make_guard(&before, guard);
    sim_emit(w, &before);
    sim_emit(w, &op);
  }
}

/* The value of a hoisted instruction: a recipe, or an op of the prologue. */
static void put_hoisted(sim_build *w, uint32_t n) {
  const ptx_body *b = w->f->body;
  const ptx_insn *i = &b->insns[n];
  const ptx_operand *d = sim_operand(b, i, 0), *s = sim_operand(b, i, 1);
  if (i->op == PTX_OP_ld_mem) {
    uint32_t bits = ptx_type_bits((ptx_type)b->regs[d->index].type);
    sim_recipe r = {.kind = SIM_RECIPE_PARAM,
                    .bytes = (uint8_t)ptx_type_bytes((ptx_type)i->type[0]),
                    .lane_bytes = (uint8_t)(bits <= 32 ? 4 : bits / 8),
                    .part = (uint8_t)(bits / 8),
                    .is_signed = ptx_type_base((ptx_type)i->type[0]) == PTX_BASE_SINT,
                    .what = (uint32_t)(b->vars[s->index].offset + (uint64_t)s->offset),
                    .place = w->f->reg[d->index]};
    if (r.what + r.bytes > w->f->decl->param_bytes)
      sim_decode_fail(w, i, "reads behind the parameters");
    *BASE_PUSH(&w->code->arena, w->code->recipes, w->code->n_recipes, w->code->cap_recipes) = r;
    return;
  }
  sim_op op = {.insn = n};
  w->in_prologue = true;
  fill(w, i, &op);
  if (!select_op(w, i, &op)) {
    op = (sim_op){.insn = n, .more = refusal(w, i)};
    sim_make_unmodelled(&op);
    if (!w->code->refused) {
      w->code->refused = op.more;
      w->code->refused_line = i->place.line;
    }
  }
  if (op.fn[SIM_FULL])
    sim_emit(w, &op);
  w->in_prologue = false;
}

/* ------------------------------------------------------------------ one function */

static uint64_t round_up(uint64_t n, uint64_t unit) {
  return unit > 1 ? (n + unit - 1) / unit * unit : n;
}

/* Local memory of a call: results and parameters, then variables, then the arguments of calls made. */
static void place_vars(sim_build *w) {
  sim_func *f = w->f;
  const ptx_body *b = f->body;
  uint64_t end = 0;
  f->vars = base_alloc_array(&w->code->arena, b->n_vars + 1, sizeof *f->vars);
  for (uint32_t v = 0; v < b->n_vars; v++) {
    const ptx_var *var = &b->vars[v];
    bool of_kernel = f->decl->entry && v < f->decl->n_params;
    if (var->space == PTX_SPACE_LOCAL || (var->space == PTX_SPACE_PARAM && !of_kernel)) {
      end = round_up(end, var->align);
      f->vars[v] = (uint32_t)end;
      end += var->bytes;
    }
  }
  if (end > 1u << 30)
    sim_decode_fail(w, NULL, "%llu bytes of local memory", (unsigned long long)end);
  f->local_bytes = (uint32_t)round_up(end, 16);
}

static void mark_joins(const ptx_body *b, uint8_t *join) {
  for (uint32_t k = 0; k < b->n_order; k++) {
    const ptx_block *block = &b->blocks[b->order[k]];
    if (block->n_succ > 1 && block->ipdom != PTX_NONE)
      join[block->ipdom] = 1;
    if (block->loop_head)
      join[b->order[k]] = 1;
  }
}

static void order_blocks(sim_func *f) {
  const ptx_body *b = f->body;
  base_arena *arena = &f->code->arena;
  f->order = base_alloc_array(arena, b->n_blocks + 1, sizeof *f->order);
  f->block_of = base_alloc_array(arena, b->n_insns + 1, sizeof *f->block_of);
  for (uint32_t k = 0; k < b->n_blocks; k++)
    for (uint32_t n = b->blocks[k].first; n < b->blocks[k].end; n++)
      f->block_of[n] = k;
  for (uint32_t k = 0; k < b->n_order; k++) {
    const ptx_block *block = &b->blocks[b->order[k]];
    f->order[b->order[k]] = f->code->next_order;
    f->code->next_order += block->end - block->first + 1;
  }
}

/* How many instructions a branch goes around, if lanes may carry them out while the others of their unit
 * stand still: a few, of which none waits, parts lanes, or is where lanes meet. Else 0. */
static uint32_t maskable(const sim_build *w, const sim_op *branch, uint32_t target) {
  enum { MOST = 16 };
  uint32_t first = branch->insn + 1;
  if (branch->a == SIM_NOWHERE || target <= first || target - first > MOST)
    return 0;
  for (uint32_t n = first; n < target; n++)
    if (w->breaks[n])
      return 0;
  return target - first;
}

static void fix_targets(sim_build *w) {
  sim_func *f = w->f;
  for (uint32_t k = 0; k < w->n_fixups; k++) {
    sim_op *op = &f->ops[w->fixups[k]];
    op->d = maskable(w, op, (uint32_t)op->imm);
    op->target = &f->ops[f->op_of[op->imm]];
    op->c = sim_is_join(op->target);
  }
  w->n_fixups = 0;
  for (uint32_t t = 0; t < f->n_tables; t++)
    for (uint32_t k = 0; k < f->tables[t]->n; k++)
      f->tables[t]->to[k].op = &f->ops[f->op_of[f->tables[t]->to[k].insn]];
}

static void decode_func(sim_build *w) {
  sim_func *f = w->f;
  const ptx_body *b = f->body;
  place_vars(w);
  sim_flow(f);
  order_blocks(f);
  f->link = SIM_NOWHERE;
  if (!f->decl->entry) {
    f->link = f->frame_bytes;
    f->frame_bytes += (uint32_t)round_up(sizeof(sim_link), 128);
  }
  f->stack_top = SIM_NOWHERE;
  for (uint32_t n = 0; n < b->n_insns && !f->moves_stack; n++)
    f->moves_stack = b->insns[n].op == PTX_OP_alloca_addr || b->insns[n].op == PTX_OP_stacksave_addr ||
                     b->insns[n].op == PTX_OP_stackrestore_addr;
  if (f->moves_stack) {
    f->stack_top = sim_temporary(w, 4);
    w->code->deep = true;
  }
  f->op_of = base_alloc_array(&w->code->arena, b->n_insns + 2, sizeof *f->op_of);
  uint8_t *join = base_alloc_array(&w->code->arena, b->n_blocks + 1, 1);
  w->breaks = base_alloc_array(&w->code->arena, b->n_insns + 1, 1);
  mark_joins(b, join);
  sim_op last = {.insn = b->n_insns ? b->n_insns - 1 : 0};
  for (uint32_t k = 0; k < b->n_blocks; k++) {
    const ptx_block *block = &b->blocks[k];
    bool reachable = block->rpo != PTX_NONE;
    for (uint32_t n = block->first; n < block->end; n++) {
      f->op_of[n] = f->n_ops;
      if (!reachable)
        continue;
      bool around = n > 0 && b->insns[n - 1].guard != PTX_NONE && w->blocks; /* the instruction before */
      bool meet = around || (n == block->first && join[k]);
      if (meet)
        put_join(w, n);
      w->blocks = false;
      w->at = n;
      if (f->hoisted[n])
        put_hoisted(w, n);
      else
        put_insn(w, n);
      w->breaks[n] = meet || w->blocks || b->insns[n].op == PTX_OP_bra_ctl;
    }
  }
  f->op_of[b->n_insns] = f->n_ops;
  sim_make_return(&last, f); /* for a body that runs off its end */
  sim_emit(w, &last);
  fix_targets(w);
}

sim_func *sim_code_func(sim_build *w, sim_module *m, uint32_t index) {
  sim_code *c = w->code;
  sim_resolve_func(&m, &index);
  for (uint32_t k = 0; k < c->n_funcs; k++)
    if (c->funcs[k]->module == m && c->funcs[k]->index == index)
      return c->funcs[k];
  sim_func *f = base_alloc(&c->arena, sizeof *f);
  *f = (sim_func){.code = c, .ptx = m->ptx, .module = m, .index = index, .decl = &m->ptx->funcs[index]};
  f->body = ptx_body_of(m->ptx, index);
  if (!f->body) {
    sim_func *outer = w->f;
    if (!f->decl->defined)
      sim_decode_fail(w, NULL, "function %s is not defined in any module", f->decl->name);
    base_text t = {0};
    for (const base_diag *d = m->ptx->diags->first; d; d = d->next)
      if (d->severity == BASE_ERROR)
        base_diag_print(m->ptx->diags, d, &t);
    w->f = outer ? outer : f;
    c->error = t.bytes;
    longjmp(*c->arena.out_of_memory, 2);
  }
  *BASE_PUSH(&c->arena, c->funcs, c->n_funcs, c->cap_funcs) = f;
  return f;
}

/* A call through a register may reach any function of the modules at hand. */
static void add_all(sim_build *w, sim_module *m) {
  for (uint32_t k = 0; k < m->ptx->n_funcs; k++)
    if (!m->ptx->funcs[k].entry && m->ptx->funcs[k].defined)
      sim_code_func(w, m, k);
}

/* ------------------------------------------------------------------ a kernel */

/* How much stack a call of f needs, frames and local memory; visits each function once a path is new. */
static void stack_of(sim_code *c, sim_func *f, uint32_t depth, uint32_t frames, uint32_t local) {
  frames += f->frame_bytes, local += f->local_bytes;
  if (frames > c->stack_frames)
    c->stack_frames = frames;
  if (local > c->stack_bytes)
    c->stack_bytes = local;
  if (depth > c->n_funcs || c->calls_indirectly)
    c->deep = true;
  for (uint32_t k = 0; k < f->n_callees && !c->deep; k++)
    if (frames > f->callees[k]->deepest ||
        local > f->callees[k]->deepest_local) { /* not yet with so much below it */
      f->callees[k]->deepest = frames;
      f->callees[k]->deepest_local = local;
      stack_of(c, f->callees[k], depth + 1, frames, local);
    }
}

static void decode_all(sim_build *w) {
  sim_code *c = w->code;
  const sim_limits *l = &c->kernel->module->device->options.limits;
  c->shared_bytes = l->shared_reserved;
  c->shared_align = 16;
  sim_code_func(w, c->kernel->module, c->kernel->func);
  bool all = false;
  for (uint32_t k = 0; k < c->n_funcs; k++) {
    w->f = c->funcs[k];
    decode_func(w);
    if (c->calls_indirectly && !all) {
      all = true;
      for (sim_module *m = c->kernel->module->device->modules; m; m = m->next)
        add_all(w, m);
    }
  }
  for (uint32_t k = 0; k < c->n_funcs; k++)
    sim_link_calls(c->funcs[k]);
  w->f = c->funcs[0];
  sim_op end = {0};
  w->in_prologue = true;
  sim_make_stop(&end);
  sim_emit(w, &end);
  stack_of(c, c->funcs[0], 0, 0, 0);
  for (uint32_t k = 0; c->deep && k < c->n_funcs; k++)
    if (c->funcs[k]->frame_bytes > c->largest_frame)
      c->largest_frame = c->funcs[k]->frame_bytes;
  c->local_bytes = c->deep ? c->stack_bytes + SIM_LOCAL_STACK : c->stack_bytes;
}

static bool decode_guarded(sim_code *c) {
  sim_build w = {.code = c, .level = c->kernel->module->device->level};
  if (setjmp(c->out_of_memory))
    return false;
  c->arena.out_of_memory = &c->out_of_memory;
  decode_all(&w);
  return true;
}

sim_code *sim_code_new(sim_kernel *k, char **error) {
  sim_code *c = calloc(1, sizeof *c);
  if (c)
    c->kernel = k;
  if (c && decode_guarded(c))
    return c;
  *error = c && c->error ? c->error : strdup("out of memory");
  if (c)
    c->error = NULL;
  sim_code_free(c);
  return NULL;
}

void sim_code_free(sim_code *c) {
  if (!c)
    return;
  for (uint32_t k = 0; k < c->n_funcs; k++)
    sim_slices_free(c->funcs[k]);
  free(c->consts);
  free(c->error);
  base_arena_free(&c->arena);
  free(c);
}
