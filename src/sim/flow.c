/* flow.c: where registers live. Virtual registers (real kernels have up to 34,898) are mapped to a few places
 * of the warp's frame by a linear scan over their live ranges. Before that, instructions whose value is the
 * same in a whole block are found: they leave the code of the warps, and run once in the block's prologue.
 *
 * Invariant: two registers that are live at once never share a place, and an instruction's results share one
 * with its sources only if the place is the same and there is a single result.
 */
#include <stdlib.h>
#include <string.h>

#include "sim/machine.h"

static void operand_regs(const ptx_body *b, const ptx_operand *o, bool written, sim_reg_fn *fn, void *user) {
  switch (o->kind) {
  case PTX_REG:
    fn(user, o->index, written || o->written);
    break;
  case PTX_MEM_REG:
    fn(user, o->index, false);
    break;
  case PTX_VEC:
    for (uint64_t k = 0; k < o->count; k++)
      operand_regs(b, &b->operands[o->index + k], written || o->written, fn, user);
    break;
  default:
    break;
  }
}

void sim_each_reg(const sim_func *f, const ptx_insn *i, sim_reg_fn *fn, void *user) {
  if (i->guard != PTX_NONE)
    fn(user, i->guard, false);
  for (unsigned n = 0; n < i->n_operands; n++)
    operand_regs(f->body, &f->body->operands[i->operands + n], false, fn, user);
  if (i->op == PTX_OP_ret_ctl && !f->decl->entry) /* results that are registers */
    for (uint32_t r = 0; r < f->decl->n_rets; r++)
      if (f->body->vars[r].space == PTX_SPACE_GENERIC)
        fn(user, (uint32_t)f->body->vars[r].offset, false);
}

bool sim_is_time(uint32_t s) {
  return s == PTX_SREG_CLOCK || s == PTX_SREG_CLOCK_HI || s == PTX_SREG_CLOCK64 ||
         s == PTX_SREG_GLOBALTIMER || s == PTX_SREG_GLOBALTIMER_LO || s == PTX_SREG_GLOBALTIMER_HI ||
         (s >= PTX_SREG_PM0 && s <= PTX_SREG_PM7_64);
}

bool sim_is_uniform_sreg(uint32_t s) {
  return !sim_is_time(s) && s != PTX_SREG_TID && s != PTX_SREG_LANEID && s != PTX_SREG_WARPID &&
         !(s >= PTX_SREG_LANEMASK_EQ && s <= PTX_SREG_LANEMASK_GT);
}

/* ------------------------------------------------------------------ what is the same in a whole block */

typedef struct uniform {
  const sim_func *f;
  uint32_t *defs;  /* how often each register is written */
  uint64_t *known; /* registers that are hoisted */
  bool ok;
} uniform;

static void count_defs(void *user, uint32_t reg, bool written) {
  uniform *u = user;
  if (written && u->defs[reg] < 2)
    u->defs[reg]++;
}

static void check_uniform(void *user, uint32_t reg, bool written) {
  uniform *u = user;
  u->ok = u->ok && (written ? u->defs[reg] == 1 : SIM_BIT(u->known, reg));
}

static void mark_known(void *user, uint32_t reg, bool written) {
  if (written)
    SIM_BIT_SET(((uniform *)user)->known, reg);
}

/* Pure, and computed by the selectors of exec/ or by recipes. */
static bool is_pure(const ptx_insn *i) {
  const ptx_op_info *op = ptx_op_get((ptx_op)i->op);
  if (i->op == PTX_OP_ld_mem)
    return i->mods.space == PTX_SPACE_PARAM && !i->mods.vec;
  if (op->sync != PTX_SYNC_NONE || op->refused || i->mods.cc)
    return false;
  static const char *const classes[] = {"int",    "bits",     "logic", "shift", "move",   "float", "half",
                                        "to_int", "from_int", "tf32",  "pair",  "narrow", "pack"};
  for (unsigned k = 0; k < BASE_COUNT(classes); k++)
    if (!strcmp(op->class, classes[k]))
      return true;
  return i->op == PTX_OP_cvta_addr;
}

static bool operand_uniform(const uniform *u, const ptx_insn *i, const ptx_operand *o) {
  const ptx_body *b = u->f->body;
  switch (o->kind) {
  case PTX_SPECIAL:
    return sim_is_uniform_sreg(o->index);
  case PTX_MEM_VAR: /* a parameter of the kernel; is_pure let no other access through */
    return o->in_body && o->index < u->f->decl->n_params && i->op == PTX_OP_ld_mem;
  case PTX_MEM_REG:
  case PTX_MEM_IMM:
  case PTX_FUNC:
    return false;
  case PTX_VAR:
    return !o->in_body || b->vars[o->index].space == PTX_SPACE_SHARED || o->index < u->f->decl->n_params;
  default:
    return true;
  }
}

static void find_uniform(sim_func *f, base_arena *scratch) {
  const ptx_body *b = f->body;
  uniform u = {f, base_alloc_array(scratch, b->n_regs + 1, sizeof *u.defs),
               base_alloc_array(scratch, b->n_regs / 64 + 1, sizeof *u.known), true};
  f->hoisted = base_alloc_array(&f->code->arena, b->n_insns + 1, 1);
  if (!f->decl->entry)
    return;
  for (uint32_t n = 0; n < b->n_insns; n++)
    sim_each_reg(f, &b->insns[n], count_defs, &u);
  for (uint32_t k = 0; k < b->n_order; k++) {
    const ptx_block *block = &b->blocks[b->order[k]];
    for (uint32_t n = block->first; n < block->end; n++) {
      const ptx_insn *i = &b->insns[n];
      u.ok = i->guard == PTX_NONE && is_pure(i);
      for (unsigned o = 0; o < i->n_operands && u.ok; o++)
        u.ok = operand_uniform(&u, i, &b->operands[i->operands + o]);
      if (u.ok)
        sim_each_reg(f, i, check_uniform, &u);
      if (!u.ok)
        continue;
      f->hoisted[n] = 1;
      sim_each_reg(f, i, mark_known, &u);
    }
  }
  for (uint32_t r = 0; r < b->n_regs; r++)
    if (SIM_BIT(u.known, r)) {
      unsigned bits = ptx_type_bits((ptx_type)b->regs[r].type);
      f->reg[r] = sim_pool_place(f->code, bits == 1 ? 0 : bits <= 32 ? 4 : bits / 8);
    }
}

/* ------------------------------------------------------------------ liveness */

typedef struct liveness {
  sim_func *f;
  uint64_t *use, *def; /* of the block at work */
  uint64_t *row;
  uint32_t *begin, *end; /* of registers: live range in half positions, 0: none */
  uint32_t at;
  unsigned n_written;
  bool guarded, backwards;
} liveness;

/* Going backwards through a block: row becomes what is live before the instruction. */
static void step_written(void *user, uint32_t reg, bool written) {
  liveness *l = user;
  if (written && !l->guarded)
    l->row[reg / 64] &= ~(UINT64_C(1) << (reg % 64));
}

static void step_read(void *user, uint32_t reg, bool written) {
  liveness *l = user;
  if (!written || l->guarded)
    SIM_BIT_SET(l->row, reg);
}

static void block_live(liveness *l, const ptx_block *block) {
  const ptx_body *b = l->f->body;
  for (uint32_t n = block->end; n-- > block->first;) {
    const ptx_insn *i = &b->insns[n];
    l->guarded = i->guard != PTX_NONE;
    sim_each_reg(l->f, i, step_written, l);
    sim_each_reg(l->f, i, step_read, l);
  }
}

static void live_out(const liveness *l, const ptx_block *block, uint64_t *row) {
  const sim_func *f = l->f;
  memset(row, 0, f->live_words * sizeof *row);
  for (uint32_t s = 0; s < block->n_succ; s++) {
    const uint64_t *in = f->live + (size_t)f->body->edges[block->succ + s] * f->live_words;
    for (uint32_t w = 0; w < f->live_words; w++)
      row[w] |= in[w];
  }
}

static void find_live(liveness *l) {
  sim_func *f = l->f;
  const ptx_body *b = f->body;
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t k = b->n_order; k-- > 0;) {
      const ptx_block *block = &b->blocks[b->order[k]];
      uint64_t *in = f->live + (size_t)b->order[k] * f->live_words;
      live_out(l, block, l->row);
      block_live(l, block);
      if (memcmp(in, l->row, f->live_words * sizeof *in)) {
        memcpy(in, l->row, f->live_words * sizeof *in);
        changed = true;
      }
    }
  }
}

static void extend(liveness *l, uint32_t reg, uint32_t at) {
  if (!l->end[reg] || at < l->begin[reg])
    l->begin[reg] = at;
  if (at > l->end[reg])
    l->end[reg] = at;
}

static void range_written(void *user, uint32_t reg, bool written) {
  liveness *l = user;
  if (written)
    l->n_written++, extend(l, reg, l->at + 1);
}

static void range_read(void *user, uint32_t reg, bool written) {
  liveness *l = user;
  if (!written || l->guarded || l->n_written > 1)
    extend(l, reg, l->at);
}

static void extend_all(liveness *l, const uint64_t *row, uint32_t at) {
  for (uint32_t w = 0; w < l->f->live_words; w++)
    for (uint64_t set = row[w]; set; set &= set - 1)
      extend(l, w * 64 + (uint32_t)__builtin_ctzll(set), at);
}

/* Positions are twice the instruction's number, plus 2: reads on even ones, writes on odd ones. */
static void find_ranges(liveness *l) {
  const sim_func *f = l->f;
  const ptx_body *b = f->body;
  for (uint32_t k = 0; k < b->n_order; k++) {
    const ptx_block *block = &b->blocks[b->order[k]];
    extend_all(l, f->live + (size_t)b->order[k] * f->live_words, 2 * block->first + 2);
    live_out(l, block, l->row);
    if (block->end > block->first)
      extend_all(l, l->row, 2 * (block->end - 1) + 3);
    for (uint32_t n = block->first; n < block->end; n++) {
      const ptx_insn *i = &b->insns[n];
      l->at = 2 * n + 2, l->n_written = 0;
      l->guarded = i->guard != PTX_NONE;
      sim_each_reg(f, i, range_written, l);
      sim_each_reg(f, i, range_read, l);
      if (f->folds[n].base != PTX_NONE)
        extend(l, f->folds[n].index, l->at);
    }
  }
  if (!f->decl->entry)
    for (uint32_t v = 0; v < f->decl->n_rets + f->decl->n_params; v++)
      if (b->vars[v].space == PTX_SPACE_GENERIC) {
        extend(l, (uint32_t)b->vars[v].offset, 1);
        l->begin[b->vars[v].offset] = 0;
      }
}

/* ------------------------------------------------------------------ places */

enum { CLASS_PRED, CLASS_4, CLASS_8, CLASS_16, CLASSES };

static unsigned class_of(const ptx_body *b, uint32_t reg) {
  unsigned bits = ptx_type_bits((ptx_type)b->regs[reg].type);
  return bits == 1 ? CLASS_PRED : bits <= 32 ? CLASS_4 : bits <= 64 ? CLASS_8 : CLASS_16;
}

/* Registers by where their range begins, or ends: chains through next[]. */
typedef struct chains {
  uint32_t *first, *next;
} chains;

static chains chain(base_arena *scratch, const liveness *l, const uint32_t *key, uint32_t n_keys) {
  uint32_t n = l->f->body->n_regs;
  chains c = {base_alloc_array(scratch, n_keys + 1, sizeof(uint32_t)),
              base_alloc_array(scratch, n + 1, sizeof(uint32_t))};
  memset(c.first, 0xff, (n_keys + 1) * sizeof(uint32_t));
  for (uint32_t r = n; r-- > 0;)
    if (l->end[r] && l->f->reg[r] == SIM_NOWHERE) {
      c.next[r] = c.first[key[r]];
      c.first[key[r]] = r;
    }
  return c;
}

static void assign(liveness *l, base_arena *scratch) {
  sim_func *f = l->f;
  const ptx_body *b = f->body;
  uint32_t n_at = 2 * b->n_insns + 4, words = 0, live = 0, live_words = 0;
  chains begins = chain(scratch, l, l->begin, n_at), ends = chain(scratch, l, l->end, n_at);
  uint32_t *slot = base_alloc_array(scratch, b->n_regs + 1, sizeof *slot);
  uint32_t *spare[CLASSES], n_spare[CLASSES] = {0}, n_slots[CLASSES] = {0};
  for (unsigned c = 0; c < CLASSES; c++)
    spare[c] = base_alloc_array(scratch, b->n_regs + 1, sizeof(uint32_t));
  for (uint32_t at = 0; at < n_at; at++) {
    for (uint32_t r = at ? ends.first[at - 1] : PTX_NONE; r != PTX_NONE; r = ends.next[r]) {
      unsigned c = class_of(b, r);
      spare[c][n_spare[c]++] = slot[r];
      live -= c == CLASS_PRED ? 0 : 1u << (c - CLASS_4);
    }
    for (uint32_t r = begins.first[at]; r != PTX_NONE; r = begins.next[r]) {
      unsigned c = class_of(b, r);
      slot[r] = n_spare[c] ? spare[c][--n_spare[c]] : n_slots[c]++;
      live += c == CLASS_PRED ? 0 : 1u << (c - CLASS_4);
    }
    if (live > live_words)
      live_words = live;
  }
  f->pressure = live_words;
  words = (1 + n_slots[CLASS_PRED] + 31) / 32 * 32; /* the condition code is the first predicate */
  uint32_t base[CLASSES] = {4, words * 4};
  base[CLASS_8] = base[CLASS_4] + n_slots[CLASS_4] * 4 * SIM_LANES;
  base[CLASS_16] = base[CLASS_8] + n_slots[CLASS_8] * 8 * SIM_LANES;
  f->trash = base[CLASS_16] + n_slots[CLASS_16] * 16 * SIM_LANES;
  memcpy(f->classes, base + CLASS_4, sizeof f->classes);
  f->frame_bytes = f->trash + 16 * SIM_LANES;
  static const uint32_t size[CLASSES] = {4, 4 * SIM_LANES, 8 * SIM_LANES, 16 * SIM_LANES};
  for (uint32_t r = 0; r < b->n_regs; r++)
    if (f->reg[r] == SIM_NOWHERE && l->end[r])
      f->reg[r] = base[class_of(b, r)] + slot[r] * size[class_of(b, r)];
}

void sim_flow(sim_func *f) {
  const ptx_body *b = f->body;
  base_arena scratch = {.out_of_memory = NULL};
  jmp_buf failed, *outer = f->code->arena.out_of_memory;
  if (setjmp(failed)) {
    base_arena_free(&scratch);
    longjmp(*outer, 1);
  }
  scratch.out_of_memory = f->code->arena.out_of_memory = &failed;
  f->reg = base_alloc_array(&f->code->arena, b->n_regs + 1, sizeof *f->reg);
  memset(f->reg, 0xff, (b->n_regs + 1) * sizeof *f->reg);
  find_uniform(f, &scratch);
  sim_fold_addresses(f, &scratch);
  f->live_words = b->n_regs / 64 + 1;
  f->live = base_alloc_array(&f->code->arena, (size_t)b->n_blocks * f->live_words + 1, sizeof *f->live);
  liveness l = {.f = f,
                .row = base_alloc_array(&scratch, f->live_words, sizeof(uint64_t)),
                .begin = base_alloc_array(&scratch, b->n_regs + 1, sizeof(uint32_t)),
                .end = base_alloc_array(&scratch, b->n_regs + 1, sizeof(uint32_t))};
  find_live(&l);
  find_ranges(&l);
  assign(&l, &scratch);
  base_arena_free(&scratch);
  f->code->arena.out_of_memory = outer;
}
