/* mbarrier.c: barrier objects in shared memory. The object is a word of 64 bits whose layout PTX leaves open;
 * here: 0-19 arrivals that the phase still lacks, 20-39 arrivals of a phase, 40-60 bytes still to come
 * (signed), 61 the phase's parity, 63 set: a valid object. A state that an instruction returns is the word as
 * it was before.
 *
 * Invariant: a phase ends when no arrival and no byte lacks; then the next begins at once.
 */
#include <string.h>

#include "sim/machine.h"

#define COUNT_MASK UINT64_C(0xfffff)
#define PHASE (UINT64_C(1) << 61)
#define VALID (UINT64_C(1) << 63)

static uint64_t pending(uint64_t w) {
  return w & COUNT_MASK;
}
static uint64_t expected(uint64_t w) {
  return w >> 20 & COUNT_MASK;
}
static int64_t bytes_due(uint64_t w) {
  return (int64_t)(w << 3) >> 43;
}
static uint64_t word(uint64_t pend, uint64_t expect, int64_t due, uint64_t phase) {
  return VALID | pend | expect << 20 | ((uint64_t)due & 0x1fffff) << 40 | (phase & PHASE);
}

typedef struct object_op {
  sim_moves m;
  uint8_t what; /* PTX_SEM_... */
  bool expect, no_complete, parity;
  uint32_t d, count; /* places, or SIM_NOWHERE */
} object_op;

static uint64_t settle(uint64_t w) {
  if (pending(w) == 0 && bytes_due(w) == 0)
    return word(expected(w), expected(w), 0, ~w);
  return w;
}

/* The object of one lane; NULL: a fault was raised. */
static uint8_t *find_object(sim_run *r, const sim_op *o, uint8_t space, uint64_t address, uint32_t lane,
                            bool fresh, sim_found *f) {
  *f = sim_find(r, space, address, 8, 8, lane, true);
  uint64_t w;
  if (!f->at || f->space != PTX_SPACE_SHARED) {
    f->at = NULL;
    sim_bad_access(r, o, f, space == PTX_SPACE_GENERIC ? space : PTX_SPACE_SHARED, address, 8, lane, true);
    return NULL;
  }
  memcpy(&w, f->at, 8);
  if (!fresh && !(w & VALID)) {
    sim_fault_raise(r, o, SIM_FAULT_INSTRUCTION, lane, address, 8,
                    "no mbarrier object at shared address 0x%llx", (unsigned long long)f->offset);
    return NULL;
  }
  return f->at;
}

static void say_object(sim_run *r, const sim_op *o, const object_op *p, const sim_found *f, uint32_t lane,
                       uint64_t count, uint64_t before, bool completes, bool succeeded) {
  if (!sim_watches(r, SIM_WATCH_SYNC))
    return;
  sim_say(r,
          &(sim_event){.kind = SIM_EVENT_MBARRIER,
                       .mbarrier = {.address = f->offset,
                                    .rank = f->rank == SIM_NOWHERE ? r->block->rank : f->rank,
                                    .count = (uint32_t)count,
                                    .phase = before & PHASE ? 1 : 0,
                                    .completes = completes,
                                    .succeeded = succeeded,
                                    .order = p->m.order,
                                    .scope = p->m.scope}},
          UINT32_C(1) << lane, o);
}

/* What one lane does to the word; false: a fault was raised. */
static bool change(sim_run *r, const sim_op *o, const object_op *p, uint64_t address, uint32_t lane,
                   uint64_t count, uint64_t *w) {
  uint64_t pend = pending(*w), expect = expected(*w);
  int64_t due = bytes_due(*w);
  switch (p->what) {
  case PTX_SEM_INIT:
    if (count == 0 || count > COUNT_MASK) {
      sim_fault_raise(r, o, SIM_FAULT_INSTRUCTION, lane, address, 8, "mbarrier.init for %llu arrivals",
                      (unsigned long long)count);
      return false;
    }
    *w = word(count, count, 0, 0);
    return true;
  case PTX_SEM_INVAL:
    *w = 0;
    return true;
  case PTX_SEM_EXPECT_TX:
    *w = word(pend, expect, due + (int64_t)count, *w);
    return true;
  case PTX_SEM_COMPLETE_TX:
    *w = settle(word(pend, expect, due - (int64_t)count, *w));
    return true;
  default: {
    uint64_t n = p->expect ? 1 : count;
    if (p->expect)
      due += (int64_t)count;
    if (n == 0 || n > pend || (p->no_complete && n == pend)) {
      sim_fault_raise(r, o, SIM_FAULT_INSTRUCTION, lane, address, 8,
                      "%llu arrivals at an mbarrier object that lacks %llu", (unsigned long long)n,
                      (unsigned long long)pend);
      return false;
    }
    if (p->what == PTX_SEM_ARRIVE_DROP)
      expect -= n;
    *w = settle(word(pend - n, expect, due, *w));
    return true;
  }
  }
}

static uint64_t address_at(const sim_op *o, const sim_ctx *c, uint32_t i) {
  int64_t offset = (int32_t)o->x;
  const void *a = sim_at(c, o->a);
  return o->y & SIM_WIDE ? ((const uint64_t *)a)[i] + (uint64_t)offset
                         : (uint32_t)(((const uint32_t *)a)[i] + (uint32_t)offset);
}

static const sim_op *act(const sim_op *o, sim_ctx *c) {
  sim_run *r = sim_run_of(c);
  const object_op *p = o->more;
  if (r->probe)
    r->probe->wrote = true;
  SIM_EACH(i, c->mask) {
    uint64_t address = address_at(o, c, i), w, before;
    uint64_t count = p->count == SIM_NOWHERE ? 1 : ((const uint32_t *)sim_at(c, p->count))[i];
    sim_found f;
    uint8_t *at = find_object(r, o, p->m.space, address, i, p->what == PTX_SEM_INIT, &f);
    if (!at)
      return NULL;
    memcpy(&before, at, 8);
    w = before;
    if (!change(r, o, p, address, i, count, &w))
      return NULL;
    memcpy(at, &w, 8);
    if (r->defines)
      sim_define_memory(r, &f, i, 8, p->what != PTX_SEM_INVAL);
    if (p->d != SIM_NOWHERE)
      ((uint64_t *)sim_at(c, p->d))[i] = before;
    if (r->watcher)
      say_object(r, o, p, &f, i, count, before, (w ^ before) & PHASE && p->what != PTX_SEM_INIT, false);
  }
  return r->yield ? sim_stop(r, o, o + 1) : o + 1;
}

/* test_wait and try_wait alike: the latter may wait a while, and this is a short while. */
static const sim_op *test(const sim_op *o, sim_ctx *c) {
  sim_run *r = sim_run_of(c);
  const object_op *p = o->more;
  uint32_t over = 0;
  SIM_EACH(i, c->mask) {
    uint64_t address = address_at(o, c, i), w, asked;
    sim_found f;
    uint8_t *at = find_object(r, o, p->m.space, address, i, false, &f);
    if (!at)
      return NULL;
    memcpy(&w, at, 8);
    asked = p->parity ? (((const uint32_t *)sim_at(c, p->count))[i] & 1 ? PHASE : 0)
                      : ((const uint64_t *)sim_at(c, p->count))[i] & PHASE;
    bool done = (w & PHASE) != asked;
    over |= (uint32_t)done << i;
    if (r->probe)
      sim_probe_read(r, f.offset + SIM_SHARED_WINDOW, at, 8);
    if (r->watcher)
      say_object(r, o, p, &f, i, 0, w, false, done);
  }
  if (p->what == PTX_SEM_TRY_WAIT && over != c->mask && r->budget > 0)
    r->budget = 0; /* let others go before it asks again */
  sim_pred_set(c, p->d, over, 0);
  return r->yield ? sim_stop(r, o, o + 1) : o + 1;
}

static const sim_op *pending_count(const sim_op *o, sim_ctx *c) {
  const uint64_t *a = sim_at(c, o->a);
  uint32_t *d = sim_at(c, o->d);
  SIM_EACH(i, c->mask)
  d[i] = (uint32_t)pending(a[i]);
  return o + 1;
}

bool sim_mbarrier_complete(sim_run *r, const sim_op *o, uint8_t space, uint64_t address, uint32_t rank,
                           uint32_t bytes, uint32_t lane) {
  static const object_op p = {.what = PTX_SEM_COMPLETE_TX, .d = SIM_NOWHERE, .count = SIM_NOWHERE};
  sim_found f;
  if (rank != SIM_NOWHERE) /* the object at the same place in another block */
    address = (address & SIM_OFFSET_MASK) | (uint64_t)(rank + 1) << SIM_RANK_SHIFT,
    space = PTX_SPACE_SHARED_CLUSTER;
  uint8_t *at = find_object(r, o, space, address, lane, false, &f);
  uint64_t w, before;
  if (!at)
    return false;
  memcpy(&before, at, 8);
  w = before;
  change(r, o, &p, address, lane, bytes, &w);
  memcpy(at, &w, 8);
  if (r->watcher)
    say_object(r, o, &p, &f, lane, bytes, before, (w ^ before) & PHASE, false);
  return true;
}

/* cp.async.mbarrier.arrive: the copies are done already, so it arrives at once. Without .noinc the arrival
 * was not among those expected, and the two cancel out. */
static const sim_op *copies_arrive(const sim_op *o, sim_ctx *c) {
  sim_run *r = sim_run_of(c);
  const object_op *p = o->more;
  SIM_EACH(i, c->mask) {
    sim_found f;
    uint8_t *at = find_object(r, o, p->m.space, address_at(o, c, i), i, false, &f);
    uint64_t w;
    if (!at)
      return NULL;
    memcpy(&w, at, 8);
    if (r->watcher)
      say_object(r, o, p, &f, i, 0, w, false, false);
  }
  return o + 1;
}

bool sim_select_mbarrier(sim_build *w, const ptx_body *b, const ptx_insn *i, sim_op *op) {
  bool waits = i->op == PTX_OP_mbarrier_test_wait || i->op == PTX_OP_mbarrier_try_wait;
  unsigned at = 0, count = 1;
  switch (i->op) {
  case PTX_OP_mbarrier_pending_count:
    return sim_use_one(op, pending_count);
  case PTX_OP_mbarrier_arrive:
  case PTX_OP_mbarrier_arrive_drop:
  case PTX_OP_mbarrier_test_wait:
  case PTX_OP_mbarrier_try_wait:
    at = 1, count = 2;
    break;
  case PTX_OP_mbarrier_init:
  case PTX_OP_mbarrier_inval:
  case PTX_OP_mbarrier_expect_tx:
  case PTX_OP_mbarrier_complete_tx:
  case PTX_OP_cp_async_arrive:
    break;
  default:
    return false;
  }
  object_op *p = base_alloc(&w->code->arena, sizeof *p);
  p->m = *sim_moves_new(w, b, i, op, at);
  op->more = p;
  p->what = i->mods.sem;
  p->expect = i->mods.expect_tx != 0;
  p->no_complete = i->mods.no_complete != 0;
  p->parity = i->mods.parity != 0;
  p->m.order = i->mods.order ? i->mods.order : waits ? PTX_ORDER_ACQUIRE : PTX_ORDER_RELEASE;
  p->m.scope = i->mods.scope ? i->mods.scope : PTX_SCOPE_CTA;
  const ptx_operand *d = sim_operand(b, i, 0), *n = i->n_operands > count ? sim_operand(b, i, count) : NULL;
  p->d = at && (d->kind == PTX_REG) ? sim_place_at(w, b, d) : SIM_NOWHERE;
  p->count = n && (n->kind == PTX_REG || n->kind == PTX_IMM) ? sim_place_at(w, b, n) : SIM_NOWHERE;
  if (i->op == PTX_OP_cp_async_arrive) {
    p->what = PTX_SEM_ARRIVE;
    p->count = SIM_NOWHERE;
    p->expect = i->mods.noinc != 0;
    if (p->expect) { /* one arrival */
      p->expect = false;
      return sim_use_one(op, act);
    }
    return sim_use_one(op, copies_arrive);
  }
  return sim_use_one(op, waits ? test : act);
}
