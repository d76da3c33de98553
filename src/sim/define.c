/* define.c: which registers and bytes hold a value that somebody wrote. Kept only while a watcher asks for
 * it. Each place of a frame has a shadow of the same size whose first word says, lane by lane, "undefined",
 * and whose second says that this came from a register, shared or local memory, not from global memory (a
 * predicate has only the first). An instruction's result is undefined if something it reads is. Uses that
 * matter are told to the watcher: a branch, an address, an atomic, a barrier, and a store that carries it
 * from a thread's own memory to global memory.
 *
 * Invariant: what lies in the pools of the kernel and the block, and what the machine itself provides, is
 * defined.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "sim/machine.h"

/* ------------------------------------------------------------------ registers */

static uint32_t *shadow_in(char *frame, uint32_t place) {
  place &= ~SIM_NOT;
  return (place & 3) == SIM_IN_FRAME ? (uint32_t *)(frame + place) : NULL;
}

static uint32_t *shadow(const sim_run *r, uint32_t place) {
  return place == SIM_NOWHERE ? NULL : shadow_in(r->warp->shadow + r->unit->frame, place);
}

uint32_t sim_undefined_at(const sim_run *r, uint32_t place, bool own) {
  const uint32_t *s = shadow(r, place);
  return !s ? 0 : own ? s[0] & s[1] : s[0];
}

void sim_define_at(sim_run *r, uint32_t place, uint32_t lanes, uint32_t undefined, uint32_t own,
                   bool is_pred) {
  uint32_t *s = shadow(r, place);
  if (!s)
    return;
  s[0] = (s[0] & ~lanes) | (undefined & lanes);
  if (!is_pred)
    s[1] = (s[1] & ~lanes) | (own & lanes);
}

static void report(sim_run *r, const sim_op *o, uint32_t lanes, sim_use use, uint32_t operand) {
  if (lanes)
    sim_say(r, &(sim_event){.kind = SIM_EVENT_UNDEFINED, .undefined = {.use = use, .operand = operand}},
            lanes, o);
}

void sim_define_report(sim_run *r, const sim_op *o, uint32_t lanes, sim_use use) {
  report(r, o, lanes, use, 0);
}

typedef struct reads {
  const sim_run *r;
  const sim_func *f;
  uint32_t undefined, own, guard;
  uint32_t lanes;
} reads;

static void read_one(void *user, uint32_t reg, bool written) {
  reads *k = user;
  const uint32_t *s = shadow(k->r, k->f->reg[reg]);
  if (written || reg == k->guard || !s)
    return;
  k->undefined |= s[0];
  if (ptx_type_bits((ptx_type)k->f->body->regs[reg].type) > 1)
    k->own |= s[0] & s[1];
  else
    k->own |= s[0];
}

static void write_one(void *user, uint32_t reg, bool written) {
  reads *k = user;
  if (written)
    sim_define_at((sim_run *)k->r, k->f->reg[reg], k->lanes, k->undefined, k->own,
                  ptx_type_bits((ptx_type)k->f->body->regs[reg].type) == 1);
}

static uint32_t of_operand(const sim_run *r, const sim_func *f, const ptx_operand *o) {
  return o->kind == PTX_REG || o->kind == PTX_MEM_REG ? sim_undefined_at(r, f->reg[o->index], false) : 0;
}

/* selp takes one of two: only the one counts. */
static void read_selected(reads *k, const ptx_insn *i) {
  const ptx_body *b = k->f->body;
  const ptx_operand *p = sim_operand(b, i, 3);
  uint32_t which = p->kind == PTX_REG ? sim_pred(&k->r->ctx, k->f->reg[p->index] ^ (p->negated ? SIM_NOT : 0))
                   : p->bits          ? UINT32_MAX
                                      : 0;
  uint32_t a = of_operand(k->r, k->f, sim_operand(b, i, 1)), c = of_operand(k->r, k->f, sim_operand(b, i, 2));
  k->undefined = of_operand(k->r, k->f, p) | (which & a) | (~which & c);
}

static void use_operands(sim_run *r, const sim_op *o, const sim_func *f, const ptx_insn *i, uint32_t lanes,
                         bool addresses, sim_use use) {
  for (unsigned n = 0; n < i->n_operands; n++) {
    const ptx_operand *p = sim_operand(f->body, i, n);
    if (!p->written && (p->kind == PTX_MEM_REG) == addresses)
      report(r, o, of_operand(r, f, p) & lanes, use, n);
  }
}

/* Before op o of the watched way is run. */
void sim_define_step(sim_run *r, const sim_op *o) {
  const sim_func *f = r->unit->func;
  const ptx_insn *i = &f->body->insns[o->insn];
  const ptx_op_info *info = ptx_op_get((ptx_op)i->op);
  reads k = {.r = r, .f = f, .guard = i->guard, .lanes = r->ctx.mask};
  if (sim_is_join(o))
    return;
  if (i->guard != PTX_NONE && (sim_is_guard(o) || sim_is_branch(o))) {
    report(r, o, sim_undefined_at(r, f->reg[i->guard], false) & k.lanes, SIM_USE_BRANCH, PTX_NONE);
    k.lanes &= sim_pred(&r->ctx, f->reg[i->guard] ^ (i->guard_negated ? SIM_NOT : 0));
    if (sim_is_branch(o))
      return;
  }
  switch (info->sync) {
  case PTX_SYNC_LOAD:
  case PTX_SYNC_STORE:
  case PTX_SYNC_RMW:
    use_operands(r, o, f, i, k.lanes, true, SIM_USE_ADDRESS);
    if (info->sync == PTX_SYNC_RMW)
      use_operands(r, o, f, i, k.lanes, false, SIM_USE_ATOMIC);
    return; /* what they load and store: access.c */
  case PTX_SYNC_WARP:
  case PTX_SYNC_CALL:
    return; /* lanes exchange values: collective.c, control.c */
  case PTX_SYNC_COPY:
  case PTX_SYNC_MBARRIER:
    use_operands(r, o, f, i, k.lanes, true, SIM_USE_ADDRESS);
    break;
  case PTX_SYNC_BARRIER:
    use_operands(r, o, f, i, k.lanes, false, SIM_USE_BARRIER);
    break;
  case PTX_SYNC_BRANCH: /* brx */
    use_operands(r, o, f, i, k.lanes, false, SIM_USE_BRANCH);
    break;
  default:
    break;
  }
  sim_each_reg(f, i, read_one, &k);
  bool carry = !strcmp(info->class, "carry");
  if (i->op == PTX_OP_selp_move)
    read_selected(&k, i), k.own = k.undefined & k.own;
  if (carry)
    k.undefined |= sim_undefined_at(r, SIM_CC, false);
  sim_each_reg(f, i, write_one, &k);
  if (carry && i->mods.cc)
    sim_define_at(r, SIM_CC, k.lanes, k.undefined, 0, true);
}

/* A new frame: nobody has written its registers. */
static void forget(void *frame, const sim_func *f, uint32_t lanes) {
  for (uint32_t n = 0; n < f->body->n_regs; n++) {
    uint32_t *s = f->reg[n] == SIM_NOWHERE ? NULL : shadow_in(frame, f->reg[n]);
    if (!s)
      continue;
    s[0] |= lanes;
    if (ptx_type_bits((ptx_type)f->body->regs[n].type) > 1)
      s[1] |= lanes;
  }
}

void sim_define_frame(const sim_warp *w, const sim_func *f, uint32_t frame, uint32_t lanes) {
  forget(w->shadow + frame, f, lanes);
}

/* One argument or result from register to register, between two frames. */
void sim_define_pass(const sim_warp *w, uint32_t from_frame, uint32_t from, uint32_t to_frame, uint32_t to,
                     uint32_t lanes) {
  const uint32_t *a = shadow_in(w->shadow + from_frame, from);
  uint32_t *b = shadow_in(w->shadow + to_frame, to);
  if (b)
    b[0] = (b[0] & ~lanes) | (a ? a[0] & lanes : 0);
}

/* ------------------------------------------------------------------ memory */

/* The shadow of shared or local memory, a byte for each (1: defined); NULL: the memory is global. */
static uint8_t *bytes_of(const sim_run *r, const sim_found *f, uint32_t lane) {
  if (f->space == PTX_SPACE_LOCAL)
    return r->warp->local_defined + (size_t)lane * r->warp->local_bytes + f->offset;
  if (f->space != PTX_SPACE_SHARED)
    return NULL;
  const sim_block *b = f->rank == SIM_NOWHERE ? r->block : r->block->cluster->blocks[f->rank];
  return b->shared_defined + f->offset;
}

bool sim_defined_memory(const sim_run *r, const sim_found *f, uint32_t lane, uint32_t bytes) {
  const uint8_t *s = bytes_of(r, f, lane);
  if (!s)
    return sim_memory_undefined(r->device, f->offset, bytes) == bytes;
  for (uint32_t k = 0; k < bytes; k++)
    if (!s[k])
      return false;
  return true;
}

void sim_define_memory(sim_run *r, const sim_found *f, uint32_t lane, uint32_t bytes, bool defined) {
  uint8_t *s = bytes_of(r, f, lane);
  if (s)
    memset(s, defined, bytes);
  else
    sim_memory_define(r->device, f->offset, bytes, defined);
}

void sim_define_copied(sim_run *r, const sim_found *to, const sim_found *from, uint32_t lane,
                       uint32_t bytes) {
  for (uint32_t k = 0; k < bytes; k++) {
    sim_found a = *from, b = *to;
    a.offset += k, b.offset += k;
    sim_define_memory(r, &b, lane, 1, sim_defined_memory(r, &a, lane, 1));
  }
}

/* ------------------------------------------------------------------ beginning and end */

bool sim_define_begin(sim_device *d) {
  sim_memory *m = &d->memory;
  if (m->defined)
    return true;
  void *p =
      mmap(NULL, m->bytes / 8, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED)
    return false;
  m->defined = p;
  for (uint32_t k = 0; k < m->n_spans; k++) /* from before: nobody kept book */
    sim_memory_define(d, m->spans[k].begin, m->spans[k].end - m->spans[k].begin, true);
  return true;
}

/* A block begins: nothing of its memory has been written. */
bool sim_define_block(sim_block *b, uint64_t shared_begin) {
  b->shared_defined = realloc(b->shared_defined, b->shared_bytes + 1);
  if (!b->shared_defined)
    return false;
  memset(b->shared_defined, 0, b->shared_bytes);
  memset(b->shared_defined, 1, shared_begin);
  for (uint32_t k = 0; k < b->n_warps; k++) {
    sim_warp *w = &b->warps[k];
    size_t local = (size_t)w->local_bytes * SIM_LANES;
    char *s = realloc(w->shadow, w->regs_bytes);
    uint8_t *l = realloc(w->local_defined, local + 1);
    w->shadow = s ? s : w->shadow;
    w->local_defined = l ? l : w->local_defined;
    if (!s || !l)
      return false;
    memset(s, 0, w->regs_bytes);
    memset(l, 0, local);
    forget(s, b->grid->code->funcs[0], UINT32_MAX);
  }
  return true;
}
