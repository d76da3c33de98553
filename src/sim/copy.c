/* copy.c: asynchronous copies: cp.async, cp.async.bulk and its reductions, st.async, red.async, st.bulk. Each
 * is done when it is issued, which is one of the moments PTX allows; groups and waits only count, for
 * watchers. What completes a copy (bytes at a barrier object) is done right behind it.
 */
#include <string.h>

#include "sim/machine.h"

/* One end of a copy: a register plus an offset, or a symbol. */
typedef struct end {
  uint32_t place;
  int64_t offset;
  bool wide;
  uint8_t space;
} end;

typedef struct copy_op {
  sim_moves m; /* st.async and red.async, reductions: type, rop, values */
  end to, from, object;
  bool has_object, bulk, zero_fill, reduces, multicast;
  uint32_t bytes; /* place of the size; SIM_NOWHERE: m.bytes */
  uint32_t limit; /* place: bytes that are really read, or a predicate to read none; SIM_NOWHERE */
  bool limit_is_pred;
  uint32_t blocks; /* place: multicast to these; or bytes that are written */
  uint32_t byte_mask;
} copy_op;

static uint64_t address_of(const end *e, const sim_ctx *c, uint32_t i) {
  const void *a = sim_at(c, e->place);
  if (e->wide)
    return ((const uint64_t *)a)[i] + (uint64_t)e->offset;
  return (uint32_t)(((const uint32_t *)a)[i] + (uint32_t)e->offset);
}

/* The memory behind one end; NULL: a fault was raised, or a watcher dropped the access. */
static uint8_t *find(sim_run *r, const sim_op *o, const end *e, uint64_t address, uint32_t bytes,
                     uint32_t align, uint32_t lane, bool writes, sim_found *f) {
  *f = sim_find(r, e->space, address, bytes, align, lane, writes);
  if (!f->at && !sim_drops(r, o, f, bytes, lane, writes))
    sim_bad_access(r, o, f, e->space, address, bytes, lane, writes);
  return f->at;
}

static void note_write(sim_run *r) {
  if (r->probe)
    r->probe->wrote = true;
}

static void say_copy(sim_run *r, const sim_op *o, const copy_op *p, uint32_t lane, const sim_found *from,
                     const sim_found *to, uint32_t bytes, const sim_found *object) {
  if (!sim_watches(r, SIM_WATCH_SYNC))
    return;
  uint32_t own = r->block->rank;
  sim_say(r,
          &(sim_event){.kind = SIM_EVENT_COPY,
                       .copy = {.from = from ? from->offset : 0,
                                .to = to->offset,
                                .bytes = bytes,
                                .from_space = from ? from->space : 0,
                                .to_space = to->space,
                                .from_rank = from && from->rank != SIM_NOWHERE ? from->rank : own,
                                .to_rank = to->rank != SIM_NOWHERE ? to->rank : own,
                                .bulk = p->bulk,
                                .reduces = p->reduces,
                                .group = r->warp->groups[lane],
                                .mbarrier = object ? object->offset : 0,
                                .mbarrier_rank = object && object->rank != SIM_NOWHERE ? object->rank : own}},
          UINT32_C(1) << lane, o);
}

/* cp.async: up to 16 bytes; what lies behind the source's size is zeros. */
static const sim_op *copy_small(const sim_op *o, sim_ctx *c) {
  sim_run *r = sim_run_of(c);
  const copy_op *p = o->more;
  note_write(r);
  SIM_EACH(i, c->mask) {
    uint32_t bytes = ((const uint32_t *)sim_at(c, p->bytes))[i], reads = bytes;
    if (p->limit != SIM_NOWHERE)
      reads = !p->limit_is_pred                ? ((const uint32_t *)sim_at(c, p->limit))[i]
              : sim_pred(c, p->limit) >> i & 1 ? 0
                                               : bytes;
    if (reads > bytes)
      return sim_fault_raise(r, o, SIM_FAULT_INSTRUCTION, i, 0, reads, "cp.async of %u bytes reads %u", bytes,
                             reads);
    sim_found to, from;
    uint8_t value[16] = {0};
    uint64_t source = address_of(&p->from, c, i);
    if (reads) {
      uint8_t *at = find(r, o, &p->from, source, reads, 1, i, false, &from);
      if (at && (source & (bytes - 1))) {
        from.misaligned = true;
        if (!sim_drops(r, o, &from, bytes, i, false))
          sim_bad_access(r, o, &from, p->from.space, source, bytes, i, false);
        at = NULL;
      }
      if (r->fault.kind)
        return NULL;
      reads = at ? reads : 0;
      memcpy(value, at ? at : value, reads);
    }
    uint8_t *at = find(r, o, &p->to, address_of(&p->to, c, i), bytes, bytes, i, true, &to);
    if (r->fault.kind)
      return NULL;
    if (!at)
      continue;
    memcpy(at, value, bytes);
    if (r->defines) {
      sim_define_memory(r, &to, i, bytes, true);
      if (reads)
        sim_define_copied(r, &to, &from, i, reads);
    }
    if (r->watcher)
      say_copy(r, o, p, i, reads ? &from : NULL, &to, bytes, NULL);
  }
  return r->yield ? sim_stop(r, o, o + 1) : o + 1;
}

/* Elements of the source into those of the destination. */
static void reduce(const sim_run *r, const copy_op *p, uint8_t *to, const uint8_t *from, uint32_t bytes,
                   bool shared) {
  (void)r;
  for (uint32_t at = 0; at + p->m.bytes <= bytes; at += p->m.bytes) {
    uint64_t b[2] = {0}, none[2] = {0}, old[2], stored[2];
    memcpy(b, from + at, p->m.bytes);
    sim_atomic(&p->m, to + at, b, none, old, stored, true, shared);
  }
}

static bool copy_to(sim_run *r, const sim_op *o, const copy_op *p, uint32_t lane, uint64_t to_address,
                    uint32_t rank, const sim_found *from, uint32_t bytes) {
  const sim_ctx *c = &r->ctx;
  sim_found to, object = {.rank = SIM_NOWHERE};
  end e = p->to;
  if (rank != SIM_NOWHERE)
    to_address = (to_address & SIM_OFFSET_MASK) | (uint64_t)(rank + 1) << SIM_RANK_SHIFT;
  uint8_t *at = find(r, o, &e, to_address, bytes, 16, lane, true, &to);
  if (r->fault.kind)
    return false;
  if (!at || !from->at) {
    ; /* dropped; but who waits for its bytes goes on */
  } else if (p->reduces) {
    reduce(r, p, at, from->at, bytes, to.space == PTX_SPACE_SHARED);
  } else if (p->byte_mask != SIM_NOWHERE) {
    uint32_t on = ((const uint32_t *)sim_at(c, p->byte_mask))[lane];
    for (uint32_t k = 0; k < bytes; k++)
      if (on >> (k & 15) & 1)
        at[k] = from->at[k];
  } else {
    memmove(at, from->at, bytes);
    if (r->defines)
      sim_define_copied(r, &to, from, lane, bytes);
  }
  if (r->watcher && at && from->at) {
    if (p->has_object)
      object.offset = address_of(&p->object, c, lane) & SIM_OFFSET_MASK, object.rank = rank;
    say_copy(r, o, p, lane, from, &to, bytes, p->has_object ? &object : NULL);
  }
  return !p->has_object ||
         sim_mbarrier_complete(r, o, p->object.space, address_of(&p->object, c, lane), rank, bytes, lane);
}

static const sim_op *copy_bulk(const sim_op *o, sim_ctx *c) {
  sim_run *r = sim_run_of(c);
  const copy_op *p = o->more;
  note_write(r);
  SIM_EACH(i, c->mask) {
    uint32_t bytes = ((const uint32_t *)sim_at(c, p->bytes))[i];
    if (bytes % 16)
      return sim_fault_raise(r, o, SIM_FAULT_MISALIGNED, i, 0, bytes,
                             "a bulk copy of %u bytes: not a multiple of 16", bytes);
    if (!bytes)
      continue;
    sim_found from;
    uint64_t to = address_of(&p->to, c, i);
    find(r, o, &p->from, address_of(&p->from, c, i), bytes, 16, i, false, &from);
    if (r->fault.kind)
      return NULL;
    if (!p->multicast) {
      if (!copy_to(r, o, p, i, to, SIM_NOWHERE, &from, bytes))
        return NULL;
      continue;
    }
    uint32_t blocks = ((const uint32_t *)sim_at(c, p->blocks))[i] & 0xffff;
    SIM_EACH(k, blocks)
    if (!copy_to(r, o, p, i, to, k, &from, bytes))
      return NULL;
  }
  return r->yield ? sim_stop(r, o, o + 1) : o + 1;
}

/* st.async and red.async: from registers. */
static const sim_op *store_async(const sim_op *o, sim_ctx *c) {
  sim_run *r = sim_run_of(c);
  const copy_op *p = o->more;
  const sim_moves *m = &p->m;
  uint32_t bytes = (uint32_t)m->bytes * m->n;
  note_write(r);
  SIM_EACH(i, c->mask) {
    sim_found to, object = {.rank = SIM_NOWHERE};
    uint8_t *at = find(r, o, &p->to, address_of(&p->to, c, i), bytes, bytes, i, true, &to);
    if (r->fault.kind)
      return NULL;
    for (unsigned k = 0; k < m->n && at; k++) {
      uint64_t b[2] = {0}, none[2] = {0}, old[2], stored[2];
      memcpy(b, (char *)sim_at(c, m->places[k]) + (size_t)i * m->lane_bytes, m->lane_bytes);
      if (p->reduces)
        sim_atomic(m, at, b, none, old, stored, true, to.space == PTX_SPACE_SHARED);
      else
        memcpy(at + k * m->bytes, b, m->bytes);
    }
    if (r->defines && at)
      sim_define_memory(r, &to, i, bytes, true);
    if (r->watcher && at) {
      object.offset = p->has_object ? address_of(&p->object, c, i) & SIM_OFFSET_MASK : 0;
      say_copy(r, o, p, i, NULL, &to, bytes, p->has_object ? &object : NULL);
    }
    if (p->has_object &&
        !sim_mbarrier_complete(r, o, p->object.space, address_of(&p->object, c, i), SIM_NOWHERE, bytes, i))
      return NULL;
  }
  return r->yield ? sim_stop(r, o, o + 1) : o + 1;
}

static const sim_op *store_zeros(const sim_op *o, sim_ctx *c) {
  sim_run *r = sim_run_of(c);
  const copy_op *p = o->more;
  note_write(r);
  SIM_EACH(i, c->mask) {
    uint64_t bytes = ((const uint64_t *)sim_at(c, p->bytes))[i];
    sim_found to;
    if (bytes % 8 || bytes > 1u << 20)
      return sim_fault_raise(r, o, SIM_FAULT_INSTRUCTION, i, 0, 0, "st.bulk of %llu bytes",
                             (unsigned long long)bytes);
    uint8_t *at =
        bytes ? find(r, o, &p->to, address_of(&p->to, c, i), (uint32_t)bytes, 8, i, true, &to) : NULL;
    if (r->fault.kind)
      return NULL;
    memset(at ? at : (uint8_t *)&bytes, 0, at ? bytes : 0);
    if (r->defines && at)
      sim_define_memory(r, &to, i, (uint32_t)bytes, true);
    if (r->watcher && at)
      say_copy(r, o, p, i, NULL, &to, (uint32_t)bytes, NULL);
  }
  return r->yield ? sim_stop(r, o, o + 1) : o + 1;
}

static const sim_op *commit(const sim_op *o, sim_ctx *c) {
  SIM_EACH(i, c->mask)
  sim_run_of(c)->warp->groups[i]++;
  return o + 1;
}

/* x: bulk. a: how many groups may still be under way, SIM_NOWHERE: also none that was not committed */
static const sim_op *await(const sim_op *o, sim_ctx *c) {
  sim_run *r = sim_run_of(c);
  if (!sim_watches(r, SIM_WATCH_SYNC))
    return o + 1;
  SIM_EACH(i, c->mask) {
    uint32_t groups = r->warp->groups[i],
             may = o->a == SIM_NOWHERE ? 0 : ((const uint32_t *)sim_at(c, o->a))[i];
    sim_say(r,
            &(sim_event){.kind = SIM_EVENT_COPY,
                         .copy = {.waits = true,
                                  .bulk = o->x,
                                  .group = o->a == SIM_NOWHERE ? groups + 1
                                           : groups > may      ? groups - may
                                                               : 0}},
            UINT32_C(1) << i, o);
  }
  return r->yield ? sim_stop(r, o, o + 1) : o + 1;
}

/* ------------------------------------------------------------------ decoding */

static end make_end(sim_build *w, const ptx_body *b, const ptx_insn *i, unsigned operand, uint8_t space) {
  end e = {.space = space};
  e.place = sim_address_place(w, b, sim_operand(b, i, operand), &e.offset, &e.wide);
  return e;
}

static uint32_t place_or_none(sim_build *w, const ptx_body *b, const ptx_insn *i, unsigned n) {
  const ptx_operand *o = n < i->n_operands ? sim_operand(b, i, n) : NULL;
  return o && (o->kind == PTX_REG || o->kind == PTX_IMM) ? sim_place_at(w, b, o) : SIM_NOWHERE;
}

static void element(copy_op *p, const ptx_insn *i) {
  p->m.type = i->type[0];
  p->m.bytes = (uint8_t)ptx_type_bytes((ptx_type)i->type[0]);
  p->m.is_signed = ptx_type_base((ptx_type)i->type[0]) == PTX_BASE_SINT;
  p->m.rop = i->mods.rop;
  p->m.noftz = i->mods.noftz;
}

static bool bulk(sim_build *w, const ptx_body *b, const ptx_insn *i, sim_op *op, copy_op *p) {
  p->bulk = true;
  p->reduces = i->op == PTX_OP_cp_bulk_reduce;
  p->to = make_end(w, b, i, 0, i->mods.space);
  p->from = make_end(w, b, i, 1, i->mods.space2);
  p->bytes = place_or_none(w, b, i, 2);
  p->has_object = i->mods.complete == PTX_COMPLETE_MBARRIER;
  if (p->has_object) {
    p->object = make_end(w, b, i, 3, PTX_SPACE_SHARED_CLUSTER);
    p->multicast = i->mods.multicast != 0;
    if (p->multicast)
      p->blocks = place_or_none(w, b, i, 4);
  } else if (i->mods.cp_mask) {
    p->byte_mask = place_or_none(w, b, i, 4);
  }
  if (p->reduces)
    element(p, i);
  return sim_use_one(op, copy_bulk);
}

static bool from_registers(sim_build *w, const ptx_body *b, const ptx_insn *i, sim_op *op, copy_op *p) {
  bool global = i->op == PTX_OP_st_async && i->n_operands < 3;
  element(p, i);
  p->reduces = i->op == PTX_OP_red_async;
  p->to = make_end(w, b, i, 0, global ? i->mods.space : PTX_SPACE_SHARED_CLUSTER);
  sim_moves_regs(w, b, sim_operand(b, i, 1), p->m.places, &p->m);
  p->has_object = !global;
  if (p->has_object)
    p->object = make_end(w, b, i, 2, PTX_SPACE_SHARED_CLUSTER);
  return sim_use_one(op, store_async);
}

bool sim_select_copy(sim_build *w, const ptx_body *b, const ptx_insn *i, sim_op *op) {
  copy_op *p = NULL;
  switch (i->op) {
  case PTX_OP_cp_async_group:
  case PTX_OP_cp_bulk_group:
    return sim_use_one(op, commit);
  case PTX_OP_cp_async_wait:
  case PTX_OP_cp_bulk_wait:
    op->a = place_or_none(w, b, i, 0);
    op->x = i->op == PTX_OP_cp_bulk_wait;
    return sim_use_one(op, await);
  case PTX_OP_cp_bulk_prefetch:
    return true;
  case PTX_OP_cp_async:
  case PTX_OP_cp_bulk:
  case PTX_OP_cp_bulk_reduce:
  case PTX_OP_st_async:
  case PTX_OP_st_bulk:
  case PTX_OP_red_async:
    p = base_alloc(&w->code->arena, sizeof *p);
    p->bytes = p->limit = p->blocks = p->byte_mask = SIM_NOWHERE;
    op->more = p;
    break;
  default:
    return false;
  }
  switch (i->op) {
  case PTX_OP_cp_async: {
    p->to = make_end(w, b, i, 0, PTX_SPACE_SHARED);
    p->from = make_end(w, b, i, 1, PTX_SPACE_GLOBAL);
    p->bytes = place_or_none(w, b, i, 2);
    p->limit = place_or_none(w, b, i, 3);
    p->limit_is_pred = sim_operand(b, i, 3)->type == PTX_PRED;
    return sim_use_one(op, copy_small);
  }
  case PTX_OP_st_bulk:
    p->to = make_end(w, b, i, 0, i->mods.space);
    p->bytes = place_or_none(w, b, i, 1);
    return sim_use_one(op, store_zeros);
  case PTX_OP_st_async:
  case PTX_OP_red_async:
    return from_registers(w, b, i, op, p);
  default:
    return bulk(w, b, i, op, p);
  }
}
