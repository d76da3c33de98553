/* fold.c: addresses that a gang need not compute. An access to array[i] is three instructions: the index
 * becomes an offset in bytes, the array's address is added, memory is read or written. Where the array's
 * address is the same in the whole block and nothing else asks for the sum, a gang leaves the first two out,
 * and the access looks at the indices themselves; only a warp whose lanes do not lie side by side needs every
 * sum, and gets it then (exec/mem.c). Any other way to run carries out all three.
 *
 * Invariant: between what is left out and the access nothing can stop a gang, so no unit is ever seen without
 * a value that it should have; and what the access needs instead lives as long.
 */
#include "sim/machine.h"

typedef struct folding {
  sim_func *f;
  uint32_t *defs, *uses; /* how often each register is written and read */
  uint32_t reg;          /* what is sought */
  bool reads, writes;
} folding;

static void count(void *user, uint32_t reg, bool written) {
  folding *k = user;
  (written ? k->defs : k->uses)[reg]++;
}

static void seek(void *user, uint32_t reg, bool written) {
  folding *k = user;
  if (reg == k->reg)
    *(written ? &k->writes : &k->reads) = true;
}

static void look(folding *k, const ptx_insn *i, uint32_t reg) {
  k->reg = reg, k->reads = k->writes = false;
  sim_each_reg(k->f, i, seek, k);
}

static bool is_access(const ptx_insn *i) {
  return i->op == PTX_OP_ld_mem || i->op == PTX_OP_st_mem;
}

static bool passes(const ptx_insn *i) {
  const ptx_op_info *op = ptx_op_get((ptx_op)i->op);
  return is_access(i) || (op->sync == PTX_SYNC_NONE && !op->refused);
}

/* An access to one element at the address in reg, whose other operand is not reg. */
static bool accesses(const folding *k, const ptx_insn *i, uint32_t reg) {
  const ptx_body *b = k->f->body;
  bool store = i->op == PTX_OP_st_mem;
  if (!is_access(i) || i->guard != PTX_NONE || i->mods.vec)
    return false;
  if (i->mods.space != PTX_SPACE_GLOBAL && i->mods.space != PTX_SPACE_GENERIC &&
      i->mods.space != PTX_SPACE_CONST)
    return false;
  const ptx_operand *address = sim_operand(b, i, store ? 0 : 1), *value = sim_operand(b, i, store ? 1 : 0);
  return address->kind == PTX_MEM_REG && address->index == reg && sim_operand_bits(b, value) <= 64 &&
         !(value->kind == PTX_REG && value->index == reg);
}

/* A sum of something that is the same in the whole block and something that is not. */
static bool is_sum(const folding *k, const ptx_insn *i, sim_fold *out, uint32_t *sum) {
  const ptx_body *b = k->f->body;
  if (i->op != PTX_OP_add_int || i->guard != PTX_NONE || i->mods.sat || i->mods.cc ||
      ptx_type_bits((ptx_type)i->type[0]) != 64)
    return false;
  const ptx_operand *d = sim_operand(b, i, 0), *x = sim_operand(b, i, 1), *y = sim_operand(b, i, 2);
  if (d->kind != PTX_REG || x->kind != PTX_REG || y->kind != PTX_REG || k->defs[d->index] != 1)
    return false;
  bool first = k->f->reg[x->index] != SIM_NOWHERE; /* hoisted: nothing else has a place yet */
  *out = (sim_fold){.base = first ? x->index : y->index, .index = first ? y->index : x->index};
  *sum = d->index;
  return k->f->reg[out->base] != SIM_NOWHERE && k->f->reg[out->index] == SIM_NOWHERE;
}

/* All that read what instruction m writes are accesses behind it, in this block, before `index` changes. */
static bool fold_sum(folding *k, uint32_t m, uint32_t end, const sim_fold *fold, uint32_t sum) {
  sim_func *f = k->f;
  uint32_t left = k->uses[sum];
  enum { FAR = 256 };
  for (uint32_t n = m + 1; n < end && n < m + FAR && left; n++) {
    const ptx_insn *i = &f->body->insns[n];
    look(k, i, sum);
    if (!passes(i) || (k->reads && !accesses(k, i, sum)))
      return false;
    left -= k->reads;
    look(k, i, fold->index);
    if (k->writes)
      break;
  }
  if (left || !k->uses[sum])
    return false;
  for (uint32_t n = m + 1; n < end && left < k->uses[sum]; n++)
    if (accesses(k, &f->body->insns[n], sum))
      f->folds[n] = *fold, left++;
  f->left_out[m] = 1;
  return true;
}

/* The index, widened and multiplied by the elements' size, which instruction m writes to `offset`, is asked
 * for by such sums alone. */
static void fold_index(folding *k, uint32_t m, uint32_t end) {
  sim_func *f = k->f;
  const ptx_body *b = f->body;
  const ptx_insn *i = &b->insns[m];
  const ptx_operand *d = sim_operand(b, i, 0), *x = sim_operand(b, i, 1), *by = sim_operand(b, i, 2);
  if (i->op != PTX_OP_mul_int || i->mods.part != PTX_PART_WIDE || i->guard != PTX_NONE ||
      ptx_type_bits((ptx_type)i->type[0]) != 32 || d->kind != PTX_REG || x->kind != PTX_REG ||
      by->kind != PTX_IMM || k->defs[d->index] != 1 || sim_operand_bits(b, x) != 32)
    return;
  uint32_t left = k->uses[d->index], last = m;
  for (uint32_t n = m + 1; n < end; n++) {
    const sim_fold *fold = &f->folds[n];
    if (fold->base != PTX_NONE && fold->index == d->index) {
      if (ptx_type_bytes((ptx_type)b->insns[n].type[0]) != by->bits)
        return;
      last = n;
    }
    look(k, &b->insns[n], d->index);
    if (k->reads && !f->left_out[n])
      return;
    left -= k->reads;
  }
  for (uint32_t n = m + 1; n <= last; n++) {
    look(k, &b->insns[n], x->index);
    if (!passes(&b->insns[n]) || (k->writes && n < last))
      return;
  }
  if (left || last == m)
    return;
  for (uint32_t n = m + 1; n <= last; n++)
    if (f->folds[n].base != PTX_NONE && f->folds[n].index == d->index)
      f->folds[n] = (sim_fold){
          .base = f->folds[n].base, .index = x->index, .indexed = true, .is_signed = i->type[0] == PTX_S32};
  f->left_out[m] = 1;
}

void sim_fold_addresses(sim_func *f, base_arena *scratch) {
  const ptx_body *b = f->body;
  folding k = {.f = f,
               .defs = base_alloc_array(scratch, b->n_regs + 1, sizeof *k.defs),
               .uses = base_alloc_array(scratch, b->n_regs + 1, sizeof *k.uses)};
  f->left_out = base_alloc_array(&f->code->arena, b->n_insns + 1, 1);
  f->folds = base_alloc_array(&f->code->arena, b->n_insns + 1, sizeof *f->folds);
  for (uint32_t n = 0; n < b->n_insns; n++) {
    f->folds[n].base = PTX_NONE;
    sim_each_reg(f, &b->insns[n], count, &k);
  }
  for (uint32_t q = 0; q < b->n_order; q++) {
    const ptx_block *block = &b->blocks[b->order[q]];
    bool any = false;
    for (uint32_t n = block->first; n < block->end; n++) {
      sim_fold fold;
      uint32_t sum;
      if (!f->hoisted[n] && is_sum(&k, &b->insns[n], &fold, &sum))
        any |= fold_sum(&k, n, block->end, &fold, sum);
    }
    for (uint32_t n = block->first; any && n < block->end; n++)
      if (!f->hoisted[n])
        fold_index(&k, n, block->end);
  }
}
