/* access.c: what an instruction does to memory, with PTX's defaults filled in. */
#include "ptx/body.h"

static unsigned elements(const ptx_insn *i) {
  return i->mods.vec == PTX_VEC_2 ? 2 : i->mods.vec == PTX_VEC_4 ? 4 : i->mods.vec == PTX_VEC_8 ? 8 : 1;
}

/* Places of the operands that are addresses. */
static unsigned addresses(const ptx_body *b, const ptx_insn *i, uint8_t at[PTX_MAX_OPERANDS]) {
  unsigned n = 0;
  for (unsigned o = 0; o < i->n_operands; o++) {
    uint8_t kind = b->operands[i->operands + o].kind;
    if (kind == PTX_MEM_REG || kind == PTX_MEM_VAR || kind == PTX_MEM_IMM)
      at[n++] = (uint8_t)o;
  }
  return n;
}

/* A strong access without a scope reaches the whole device; a weak one has none. */
static void set_order(ptx_access *a, const ptx_insn *i, uint8_t order) {
  a->order = i->mods.order ? i->mods.order : order;
  a->scope = i->mods.scope;
  if (a->order == PTX_ORDER_WEAK)
    a->scope = PTX_MOD_NONE;
  else if (a->order == PTX_ORDER_VOLATILE)
    a->scope = PTX_SCOPE_SYS;
  else if (!a->scope)
    a->scope = PTX_SCOPE_GPU;
}

/* How much is copied stands in the third operand; cp.async may have a fourth, which says how much of it is
 * read. */
static unsigned copies(const ptx_body *b, const ptx_insn *i, const uint8_t *at, unsigned n,
                       ptx_access out[2]) {
  bool bulk = i->op != PTX_OP_cp_async, reduces = i->op == PTX_OP_cp_bulk_reduce;
  if (n < 2)
    return 0;
  const ptx_operand *size = &b->operands[i->operands + 2];
  bool part = !bulk && size[1].kind != PTX_ABSENT;
  for (unsigned k = 0; k < 2; k++) {
    out[k] = (ptx_access){.reads = k == 1 || reduces,
                          .writes = k == 0,
                          .space = k == 0 ? i->mods.space : i->mods.space2,
                          .order = PTX_ORDER_WEAK,
                          .proxy = bulk ? PTX_PROXY_ASYNC : PTX_MOD_NONE,
                          .operand = at[k]};
    if (size->kind == PTX_IMM && !(k == 1 && part)) {
      out[k].bytes = (uint32_t)size->bits;
      out[k].count = 1;
    }
  }
  if (reduces) {
    out[0].order = PTX_ORDER_RELAXED;
    out[0].scope = PTX_SCOPE_GPU;
  }
  return 2;
}

static unsigned barrier_object(const ptx_insn *i, const uint8_t *at, unsigned n, ptx_access out[2]) {
  if (!n)
    return 0;
  bool waits = i->op == PTX_OP_mbarrier_test_wait || i->op == PTX_OP_mbarrier_try_wait;
  bool plain = i->op == PTX_OP_mbarrier_init || i->op == PTX_OP_mbarrier_inval;
  bool counts = i->op == PTX_OP_mbarrier_expect_tx || i->op == PTX_OP_mbarrier_complete_tx;
  out[0] = (ptx_access){
      .reads = !plain, .writes = !waits, .space = i->mods.space, .operand = at[0], .bytes = 8, .count = 1};
  set_order(&out[0], i,
            plain    ? PTX_ORDER_WEAK
            : waits  ? PTX_ORDER_ACQUIRE
            : counts ? PTX_ORDER_RELAXED
                     : PTX_ORDER_RELEASE);
  if (!plain && !i->mods.scope)
    out[0].scope = PTX_SCOPE_CTA;
  return 1;
}

unsigned ptx_accesses(const ptx_body *b, const ptx_insn *i, ptx_access out[2]) {
  uint8_t at[PTX_MAX_OPERANDS];
  unsigned n = addresses(b, i, at);
  ptx_sync sync = ptx_op_get((ptx_op)i->op)->sync;
  switch (sync) {
  case PTX_SYNC_LOAD:
  case PTX_SYNC_STORE:
    if (!n)
      return 0;
    out[0] = (ptx_access){.reads = sync == PTX_SYNC_LOAD,
                          .writes = sync == PTX_SYNC_STORE,
                          .space = i->mods.space,
                          .operand = at[0],
                          .bytes = ptx_type_bytes((ptx_type)i->type[0]),
                          .count = i->type[0] ? elements(i) : 0};
    set_order(&out[0], i, PTX_ORDER_WEAK);
    return 1;
  case PTX_SYNC_RMW:
    if (!n)
      return 0;
    out[0] = (ptx_access){.reads = true,
                          .writes = true,
                          .space = i->mods.space,
                          .operand = at[0],
                          .bytes = ptx_type_bytes((ptx_type)i->type[0]),
                          .count = elements(i)};
    set_order(&out[0], i, PTX_ORDER_RELAXED);
    return 1;
  case PTX_SYNC_COPY:
    if (i->op == PTX_OP_st_async || i->op == PTX_OP_red_async) {
      out[0] = (ptx_access){.reads = i->op == PTX_OP_red_async,
                            .writes = true,
                            .space = i->mods.space,
                            .proxy = PTX_PROXY_ASYNC,
                            .operand = at[0],
                            .bytes = ptx_type_bytes((ptx_type)i->type[0]),
                            .count = elements(i)};
      set_order(&out[0], i, PTX_ORDER_WEAK);
      return 1;
    }
    if (i->op == PTX_OP_cp_async_arrive)
      return barrier_object(i, at, n, out);
    return copies(b, i, at, n, out);
  case PTX_SYNC_MBARRIER:
    return barrier_object(i, at, n, out);
  default:
    return 0;
  }
}

bool ptx_fence_of(const ptx_insn *i, ptx_fence *out) {
  *out = (ptx_fence){i->mods.order, i->mods.scope, i->mods.proxy, i->mods.space};
  switch (ptx_op_get((ptx_op)i->op)->sync) {
  case PTX_SYNC_FENCE:
    if (i->op == PTX_OP_membar_thread)
      out->order = PTX_ORDER_SC;
    return true;
  case PTX_SYNC_CLUSTER:
    if (!out->order)
      out->order = i->mods.verb == PTX_VERB_ARRIVE ? PTX_ORDER_RELEASE : PTX_ORDER_ACQUIRE;
    out->scope = PTX_SCOPE_CLUSTER;
    return true;
  default:
    return false;
  }
}
