/* define.c: which bits of registers and which bytes of memory hold a value that somebody wrote. Kept only
 * while a watcher asks for it. Each place of a frame has a shadow of the same size in which a one means
 * "undefined", and a word for each lane (for a predicate: one word) that says where that came from. What an
 * instruction makes of undefined bits is in bits.c. Uses that matter are told to the watcher: a branch, an
 * address, an atomic, a barrier, and a store that carries it from a thread's own memory to global memory;
 * what was told counts as defined from then on, so that one fault is told once.
 *
 * As a rule nothing is undefined at all. So a warp knows whether any of its registers may be; if not, only
 * loads look at anything.
 *
 * Invariant: w->undefined is false only if the warp's shadow is all zeros. What lies in the pools of the
 * kernel and the block, and what the machine itself provides, is defined.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "sim/machine.h"

/* ------------------------------------------------------------------ registers */

/* Bytes of a lane at a place of a frame; 0: a predicate; SIM_NOWHERE: it is no register. */
static uint32_t lane_bytes(const sim_func *f, uint32_t place) {
  if ((place & 3) != SIM_IN_FRAME || place >= f->trash)
    return SIM_NOWHERE;
  return place < f->classes[0] ? 0 : place < f->classes[1] ? 4 : place < f->classes[2] ? 8 : 16;
}

typedef struct slot {
  char *bad;        /* NULL: it is defined, whatever it is */
  uint32_t *origin; /* of each lane; of a predicate one for all */
  uint32_t bytes;   /* of a lane; 0: a predicate */
} slot;

static slot slot_at(const sim_warp *w, const sim_func *f, uint32_t frame, uint32_t place) {
  place = place == SIM_NOWHERE ? place : place & ~SIM_NOT;
  uint32_t bytes = lane_bytes(f, place);
  if (bytes == SIM_NOWHERE)
    return (slot){0};
  return (slot){w->shadow + frame + place, (uint32_t *)(void *)(w->origins + frame + place), bytes};
}

static slot slot_of(const sim_run *r, uint32_t place) {
  return slot_at(r->warp, r->unit->func, r->unit->frame, place);
}

static uint64_t bad_of(const slot *s, uint32_t lane) {
  uint64_t v[2] = {0};
  if (!s->bad)
    return 0;
  if (!s->bytes)
    return *(uint32_t *)(void *)s->bad >> lane & 1;
  memcpy(v, s->bad + (size_t)lane * s->bytes, s->bytes);
  return v[0] | (v[1] ? UINT64_MAX : 0);
}

static uint32_t origin_of(const slot *s, uint32_t lane) {
  return s->bad ? s->origin[s->bytes ? lane : 0] : 0;
}

static void bad_set(const slot *s, uint32_t lane, uint64_t bad, uint32_t origin) {
  if (!s->bad)
    return;
  if (!s->bytes) {
    uint32_t *word = (uint32_t *)(void *)s->bad;
    *word = (*word & ~(UINT32_C(1) << lane)) | (uint32_t)(bad != 0) << lane;
  } else {
    uint64_t v[2] = {bad, s->bytes == 16 && bad ? UINT64_MAX : 0};
    memcpy(s->bad + (size_t)lane * s->bytes, v, s->bytes);
  }
  if (bad)
    s->origin[s->bytes ? lane : 0] = origin;
}

/* Lanes with an undefined bit. */
static uint32_t bad_lanes(const slot *s, uint32_t lanes) {
  uint32_t bad = 0;
  if (!s->bad)
    return 0;
  if (!s->bytes)
    return *(uint32_t *)(void *)s->bad & lanes;
  SIM_EACH(i, lanes)
  bad |= (uint32_t)(bad_of(s, i) != 0) << i;
  return bad;
}

static void clear(const slot *s, uint32_t lanes) {
  if (!s->bad)
    return;
  if (lanes == UINT32_MAX && s->bytes)
    memset(s->bad, 0, (size_t)SIM_LANES * s->bytes);
  else
    SIM_EACH(i, lanes)
  bad_set(s, i, 0, 0);
}

uint32_t sim_undefined_at(const sim_run *r, uint32_t place) {
  slot s = slot_of(r, place);
  return bad_lanes(&s, UINT32_MAX);
}

uint32_t sim_origin_at(const sim_run *r, uint32_t place, uint32_t lanes) {
  slot s = slot_of(r, place);
  return lanes ? origin_of(&s, sim_first(lanes)) : 0;
}

void sim_define_at(sim_run *r, uint32_t place, uint32_t lanes, uint32_t undefined, uint32_t origin) {
  slot s = slot_of(r, place);
  if (!r->warp->undefined && !(undefined & lanes))
    return;
  clear(&s, lanes & ~undefined);
  SIM_EACH(i, lanes & undefined)
  bad_set(&s, i, s.bytes == 4 ? UINT32_MAX : UINT64_MAX, origin);
  r->warp->undefined |= (undefined & lanes) != 0;
}

/* ------------------------------------------------------------------ uses */

void sim_define_report(sim_run *r, const sim_op *o, uint32_t place, uint32_t lanes, sim_use use,
                       uint32_t operand) {
  slot s = slot_of(r, place);
  for (uint32_t left = bad_lanes(&s, lanes); left;) { /* those together that come from one read */
    uint32_t first = sim_first(left), origin = origin_of(&s, first), same = 0;
    SIM_EACH(i, left)
    same |= (uint32_t)sim_origin_same(origin, origin_of(&s, i)) << i;
    sim_event e = {.kind = SIM_EVENT_UNDEFINED, .undefined = {.use = use, .operand = operand}};
    sim_origin_tell(r, origin, first, &e);
    sim_say(r, &e, same, o);
    clear(&s, same);
    left &= ~same;
  }
}

static void use_operands(sim_run *r, const sim_op *o, const sim_func *f, const ptx_insn *i, uint32_t lanes,
                         bool addresses, sim_use use) {
  for (unsigned n = 0; n < i->n_operands; n++) {
    const ptx_operand *p = sim_operand(f->body, i, n);
    if (p->kind == PTX_VEC && !addresses)
      for (uint64_t k = 0; k < p->count; k++) {
        const ptx_operand *q = &f->body->operands[p->index + k];
        if (q->kind == PTX_REG && !q->written && !p->written)
          sim_define_report(r, o, f->reg[q->index], lanes, use, n);
      }
    if (!p->written && p->kind == (addresses ? PTX_MEM_REG : PTX_REG))
      sim_define_report(r, o, f->reg[p->index], lanes, use, n);
  }
}

/* ------------------------------------------------------------------ what an instruction makes of it */

typedef struct source {
  const ptx_operand *operand;
  slot slot;
} source;

static uint64_t value_of(const sim_run *r, const sim_func *f, const ptx_operand *p, uint32_t lane) {
  uint64_t v = 0;
  if (p->kind == PTX_IMM)
    return p->bits;
  if (p->kind != PTX_REG || f->reg[p->index] == SIM_NOWHERE)
    return 0;
  unsigned bits = ptx_type_bits((ptx_type)f->body->regs[p->index].type);
  if (bits == 1)
    return (sim_pred(&r->ctx, f->reg[p->index]) >> lane & 1) ^ p->negated;
  unsigned bytes = bits <= 32 ? 4 : bits / 8;
  memcpy(&v, (char *)sim_at(&r->ctx, f->reg[p->index]) + (size_t)lane * bytes, bytes < 8 ? bytes : 8);
  return v;
}

/* What an instruction reads, vectors part by part. */
static unsigned gather(const sim_run *r, const sim_func *f, const ptx_insn *i, source *to, unsigned most) {
  unsigned n = 0;
  for (unsigned k = 0; k < i->n_operands; k++) {
    const ptx_operand *p = sim_operand(f->body, i, k);
    bool vector = p->kind == PTX_VEC;
    if (p->written || p->kind == PTX_ABSENT || p->kind == PTX_SINK)
      continue;
    for (uint64_t j = 0; j < (vector ? p->count : 1) && n < most; j++) {
      const ptx_operand *q = vector ? &f->body->operands[p->index + j] : p;
      if (q->written)
        continue;
      to[n].operand = q;
      to[n++].slot = q->kind == PTX_REG || q->kind == PTX_MEM_REG ? slot_of(r, f->reg[q->index]) : (slot){0};
    }
  }
  return n;
}

static unsigned results(const sim_run *r, const sim_func *f, const ptx_insn *i, slot *to, unsigned most) {
  unsigned n = 0;
  for (unsigned k = 0; k < i->n_operands; k++) {
    const ptx_operand *p = sim_operand(f->body, i, k);
    bool vector = p->kind == PTX_VEC;
    for (uint64_t j = 0; j < (vector ? p->count : 1) && n < most; j++) {
      const ptx_operand *q = vector ? &f->body->operands[p->index + j] : p;
      if (p->written || q->written)
        to[n++] = q->kind == PTX_REG ? slot_of(r, f->reg[q->index]) : (slot){0};
    }
  }
  return n;
}

/* mov between a register and a vector of its parts: bytes stay bytes. */
static void regroup(const slot *to, unsigned n_to, const source *from, unsigned n_from, unsigned bytes,
                    uint32_t lane, uint32_t origin) {
  uint8_t all[16] = {0};
  for (unsigned k = 0; k < n_from && bytes / n_from; k++)
    if (from[k].slot.bad)
      memcpy(all + k * (bytes / n_from), from[k].slot.bad + (size_t)lane * from[k].slot.bytes,
             bytes / n_from);
  for (unsigned k = 0; k < n_to && bytes / n_to; k++) {
    uint8_t part[16] = {0}, any = 0;
    memcpy(part, all + k * (bytes / n_to), bytes / n_to);
    for (unsigned j = 0; j < 16; j++)
      any |= part[j];
    if (!to[k].bad || !to[k].bytes)
      continue;
    memcpy(to[k].bad + (size_t)lane * to[k].bytes, part, to[k].bytes);
    if (any)
      to[k].origin[lane] = origin;
  }
}

static void propagate(sim_run *r, const sim_func *f, const ptx_insn *i, uint32_t lanes, bool carry) {
  source from[16];
  slot to[9];
  unsigned n_from = gather(r, f, i, from, BASE_COUNT(from)), n_to = results(r, f, i, to, BASE_COUNT(to) - 1);
  uint32_t some = 0;
  if (carry) {
    from[n_from < 15 ? n_from++ : 15] =
        (source){&(const ptx_operand){.kind = PTX_SPECIAL}, slot_of(r, SIM_CC)};
    if (i->mods.cc)
      to[n_to++] = slot_of(r, SIM_CC);
  }
  for (unsigned k = 0; k < n_from; k++)
    some |= bad_lanes(&from[k].slot, lanes);
  bool moves = i->op == PTX_OP_mov_move && (n_from > 1 || n_to > 1);
  unsigned width = ptx_type_bytes((ptx_type)i->type[0]);
  SIM_EACH(lane, some) {
    sim_bits s[SIM_SOURCES] = {{0}};
    uint32_t origin = 0;
    for (unsigned k = 0; k < n_from; k++) {
      uint64_t bad = bad_of(&from[k].slot, lane);
      if (bad && !origin)
        origin = origin_of(&from[k].slot, lane);
      unsigned at = k < SIM_SOURCES ? k : SIM_SOURCES - 1;
      s[at].bad |= bad;
      s[at].value = value_of(r, f, from[k].operand, lane);
    }
    if (moves) {
      regroup(to, n_to, from, n_from, width, lane, origin);
      continue;
    }
    for (unsigned k = 0; k < n_to; k++)
      bad_set(&to[k], lane, sim_bad_bits(i, s, to[k].bytes ? to[k].bytes * 8 > 64 ? 64 : to[k].bytes * 8 : 1),
              origin);
  }
  for (unsigned k = 0; k < n_to; k++)
    clear(&to[k], lanes & ~some);
}

/* ------------------------------------------------------------------ whether there is anything */

/* What no register that is still read holds need not be kept. Only where all lanes are together, outside of
 * calls. */
static bool live_is_defined(const sim_run *r, const sim_op *o) {
  const sim_func *f = r->unit->func;
  const uint64_t *live = f->live + (size_t)f->block_of[o->insn] * f->live_words;
  if (r->unit->mask != r->warp->live || r->unit->depth ||
      f->body->blocks[f->block_of[o->insn]].first != o->insn)
    return false;
  for (uint32_t word = 0; word < f->live_words; word++)
    for (uint64_t set = live[word]; set; set &= set - 1) {
      slot s = slot_of(r, f->reg[word * 64 + (uint32_t)__builtin_ctzll(set)]);
      if (bad_lanes(&s, r->warp->live))
        return false;
    }
  return true;
}

enum { STEPS_BETWEEN_LOOKS = 64 };
static void look_again(sim_run *r, const sim_op *o) {
  sim_warp *w = r->warp;
  if (w->steps < STEPS_BETWEEN_LOOKS)
    return;
  w->steps = 0;
  if (live_is_defined(r, o)) {
    memset(w->shadow, 0, w->regs_bytes);
    w->undefined = false;
  }
}

/* An instruction may be several ops; only the first of them that is its own counts. */
static bool was_stepped(const sim_func *f, const sim_op *o) {
  const sim_op *before = o - 1;
  return o > f->ops && before->insn == o->insn && !sim_is_join(before) && !sim_is_branch(before);
}

void sim_define_step(sim_run *r, const sim_op *o) {
  const sim_func *f = r->unit->func;
  const ptx_insn *i = &f->body->insns[o->insn];
  const ptx_op_info *info = ptx_op_get((ptx_op)i->op);
  uint32_t lanes = r->ctx.mask;
  r->warp->steps++;
  if (sim_is_join(o)) {
    look_again(r, o);
    return;
  }
  if (was_stepped(f, o))
    return;
  if (i->guard != PTX_NONE) {
    sim_define_report(r, o, f->reg[i->guard], lanes, SIM_USE_BRANCH, PTX_NONE);
    lanes &= sim_pred(&r->ctx, f->reg[i->guard] ^ (i->guard_negated ? SIM_NOT : 0));
  }
  if (sim_is_branch(o))
    return;
  switch (info->sync) {
  case PTX_SYNC_LOAD:
  case PTX_SYNC_STORE:
  case PTX_SYNC_RMW:
    use_operands(r, o, f, i, lanes, true, SIM_USE_ADDRESS);
    if (info->sync == PTX_SYNC_RMW)
      use_operands(r, o, f, i, lanes, false, SIM_USE_ATOMIC);
    return; /* what they load and store: access.c */
  case PTX_SYNC_WARP:
  case PTX_SYNC_CALL:
  case PTX_SYNC_EXIT:
    return; /* lanes exchange values: collective.c, control.c */
  case PTX_SYNC_COPY:
  case PTX_SYNC_MBARRIER:
    use_operands(r, o, f, i, lanes, true, SIM_USE_ADDRESS);
    break;
  case PTX_SYNC_BARRIER:
    use_operands(r, o, f, i, lanes, false, SIM_USE_BARRIER);
    break;
  case PTX_SYNC_BRANCH: /* brx */
    use_operands(r, o, f, i, lanes, false, SIM_USE_BRANCH);
    return;
  default:
    break;
  }
  propagate(r, f, i, lanes, !strcmp(info->class, "carry"));
}

/* ------------------------------------------------------------------ frames */

/* Its value comes with the call. */
static bool is_param(const sim_func *f, uint32_t reg) {
  for (uint32_t v = 0; v < f->decl->n_params && !f->decl->entry; v++) {
    const ptx_var *p = &f->body->vars[f->decl->n_rets + v];
    if (p->space == PTX_SPACE_GENERIC && p->offset == reg)
      return true;
  }
  return false;
}

/* A new frame. Nobody has written its registers; but only those matter that may be read before they are
 * written. */
void sim_define_frame(sim_warp *w, const sim_func *f, uint32_t frame, uint32_t lanes) {
  for (int marking = w->undefined ? 0 : 1; marking < 2;
       marking++) /* registers share places: first all, then some */
    for (uint32_t n = 0; n < f->body->n_regs; n++) {
      slot s = f->reg[n] == SIM_NOWHERE ? (slot){0} : slot_at(w, f, frame, f->reg[n]);
      if (!s.bad)
        continue;
      if (!marking)
        clear(&s, lanes);
      if (!marking || !f->body->n_blocks || !SIM_BIT(f->live, n) || is_param(f, n))
        continue;
      SIM_EACH(i, lanes)
      bad_set(&s, i, s.bytes == 4 ? UINT32_MAX : UINT64_MAX, 0);
      w->undefined = true;
    }
}

/* One argument or result from register to register, between two frames. */
void sim_define_pass(sim_warp *w, const sim_func *f, uint32_t from_frame, uint32_t from, const sim_func *to_f,
                     uint32_t to_frame, uint32_t to, uint32_t lanes) {
  slot a = slot_at(w, f, from_frame, from), b = slot_at(w, to_f, to_frame, to);
  if (!w->undefined)
    return;
  SIM_EACH(i, lanes)
  bad_set(&b, i, bad_of(&a, i), origin_of(&a, i));
}

void sim_define_to_memory(sim_run *r, const sim_func *f, uint32_t frame, uint32_t place, const sim_found *to,
                          uint32_t lane, uint32_t bytes) {
  slot s = slot_at(r->warp, f, frame, place);
  uint64_t bad = r->warp->undefined ? bad_of(&s, lane) : 0;
  sim_define_memory(r, to, lane, bytes, true);
  for (uint32_t k = 0; k < bytes && bad; k++)
    if ((bad >> (k < 8 ? k * 8 : 56) & 255) == 255) {
      sim_found one = *to;
      one.offset += k;
      sim_define_memory(r, &one, lane, 1, false);
    }
}

void sim_define_from_memory(sim_run *r, const sim_func *f, uint32_t frame, uint32_t place,
                            const sim_found *from, uint32_t lane, uint32_t bytes) {
  slot s = slot_at(r->warp, f, frame, place);
  uint32_t undefined = sim_undefined_bytes(r, from, lane, bytes < 16 ? bytes : 16);
  uint64_t bad = 0;
  for (uint32_t k = 0; k < 16; k++)
    if (undefined >> k & 1)
      bad |= UINT64_C(255) << (k & 7) * 8;
  bad_set(&s, lane, bad, 0);
  r->warp->undefined |= bad != 0;
}

/* ------------------------------------------------------------------ memory */

static sim_block *home_of(const sim_run *r, const sim_found *f) {
  return f->rank == SIM_NOWHERE ? r->block : r->block->cluster->blocks[f->rank];
}

/* The shadow of shared or local memory, a byte for each (1: defined); NULL: the memory is global. */
static uint8_t *bytes_of(const sim_run *r, const sim_found *f, uint32_t lane) {
  if (f->space == PTX_SPACE_LOCAL)
    return r->warp->local_defined + (size_t)lane * r->warp->local_bytes + f->offset;
  return f->space == PTX_SPACE_SHARED ? home_of(r, f)->shared_defined + f->offset : NULL;
}

uint32_t sim_undefined_bytes(const sim_run *r, const sim_found *f, uint32_t lane, uint32_t bytes) {
  const uint8_t *s = bytes_of(r, f, lane);
  uint32_t bad = 0;
  if (!s) {
    const sim_memory *m = r->memory;
    uint64_t at = f->offset - (uint64_t)(uintptr_t)m->base;
    if (at >= m->bytes)
      return 0;
    memcpy(&bad, m->defined + at / 8, sizeof bad); /* 16 bits from any place on lie in four bytes */
    return ~(bad >> (at & 7)) & ((UINT32_C(1) << bytes) - 1);
  }
  uint32_t four = 0;
  memcpy(&four, s, bytes < 4 ? bytes : 4);
  if (bytes == 4 && four == 0x01010101)
    return 0;
  for (uint32_t k = 0; k < bytes; k++)
    bad |= (uint32_t)!s[k] << k;
  return bad;
}

void sim_define_memory(sim_run *r, const sim_found *f, uint32_t lane, uint32_t bytes, bool defined) {
  uint8_t *s = bytes_of(r, f, lane);
  if (f->space == PTX_SPACE_SHARED && !defined)
    home_of(r, f)->all_defined = false;
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
    sim_define_memory(r, &b, lane, 1, !sim_undefined_bytes(r, &a, lane, 1));
  }
}

/* ------------------------------------------------------------------ loads, stores, atomics */

/* That of a hole between two members of a structure would not be: a word of which something is written. */
static bool is_own(const sim_run *r, const sim_found *f, uint32_t lane, uint32_t bytes, uint32_t bad) {
  if ((f->space != PTX_SPACE_SHARED && f->space != PTX_SPACE_LOCAL) || bad != (UINT32_C(1) << bytes) - 1)
    return false;
  sim_found word = *f;
  word.offset &= ~UINT64_C(3);
  return bytes >= 4 || sim_undefined_bytes(r, &word, lane, 4) == 15;
}

void sim_define_loaded(sim_run *r, const sim_op *o, const sim_moves *m, uint32_t place, const uint16_t *bad,
                       const sim_found *found, uint32_t lanes) {
  slot s = slot_of(r, place);
  uint32_t some = 0;
  SIM_EACH(i, lanes)
  some |= (uint32_t)(bad[i] != 0) << i;
  if (r->warp->undefined)
    clear(&s, r->ctx.mask & ~some);
  while (some) {
    uint32_t same = 0, origin;
    SIM_EACH(i, some)
    same |= (uint32_t)(found[i].space == found[sim_first(some)].space) << i;
    origin = sim_origin_new(r, o, found, same, m->bytes);
    SIM_EACH(i, same) {
      uint64_t bits = 0;
      for (uint32_t k = 0; k < m->bytes; k++)
        if (bad[i] >> k & 1)
          bits |= UINT64_C(255) << (k & 7) * 8;
      if (m->is_signed && m->bytes < 8 && bad[i] >> (m->bytes - 1) & 1)
        bits |= UINT64_MAX << m->bytes * 8;
      bad_set(&s, i, bits, origin | (is_own(r, &found[i], i, m->bytes, bad[i]) ? SIM_ORIGIN_OWN : 0));
    }
    r->warp->undefined = true;
    some &= ~same;
  }
}

uint32_t sim_define_stored(sim_run *r, const sim_op *o, const sim_moves *m, uint32_t place,
                           const sim_found *found, uint32_t lanes) {
  slot s = slot_of(r, place);
  uint32_t some = r->warp->undefined ? bad_lanes(&s, lanes) : 0, told = 0, undefined = 0;
  uint32_t full = (UINT32_C(1) << m->bytes) - 1;
  SIM_EACH(i, lanes & ~some)
  sim_define_memory(r, &found[i], i, m->bytes, true);
  SIM_EACH(i, some) {
    uint64_t bits = bad_of(&s, i);
    uint32_t bytes = 0;
    for (uint32_t k = 0; k < m->bytes; k++) /* a byte of which one bit is written counts as written */
      bytes |= (uint32_t)((bits >> (k & 7) * 8 & 255) == 255) << k;
    bool out = found[i].space == PTX_SPACE_GLOBAL && bytes == full && origin_of(&s, i) & SIM_ORIGIN_OWN;
    told |= (uint32_t)out << i;
    sim_define_memory(r, &found[i], i, m->bytes, true);
    for (uint32_t k = 0; k < m->bytes && !out; k++)
      if (bytes >> k & 1) {
        sim_found one = found[i];
        one.offset += k;
        sim_define_memory(r, &one, i, 1, false);
        undefined |= UINT32_C(1) << i;
      }
  }
  if (told)
    sim_define_report(r, o, place, told, SIM_USE_STORE, 1);
  return undefined;
}

void sim_define_atomic(sim_run *r, const sim_op *o, const sim_moves *m, uint32_t result,
                       const sim_found *found, uint32_t lanes) {
  uint16_t bad[SIM_LANES] = {0};
  uint32_t some = 0;
  SIM_EACH(i, lanes) {
    bad[i] = (uint16_t)sim_undefined_bytes(r, &found[i], i, m->bytes);
    some |= (uint32_t)(bad[i] != 0) << i;
    if (bad[i])
      sim_define_memory(r, &found[i], i, m->bytes, true);
  }
  if (m->rop == PTX_ROP_EXCH && result != SIM_NOWHERE) { /* what it found is only handed on */
    sim_define_loaded(r, o, m, result, bad, found, lanes);
    return;
  }
  if (result != SIM_NOWHERE)
    sim_define_at(r, result, r->ctx.mask, 0, 0);
  if (!some || m->rop == PTX_ROP_EXCH)
    return;
  sim_event e = {.kind = SIM_EVENT_UNDEFINED, .undefined = {.use = SIM_USE_ATOMIC}};
  sim_origin_tell(r, sim_origin_new(r, o, found, some, m->bytes), sim_first(some), &e);
  sim_say(r, &e, some, o);
}

/* ------------------------------------------------------------------ beginning and end */

bool sim_define_begin(sim_device *d) {
  sim_memory *m = &d->memory;
  if (!d->origins && !(d->origins = sim_origins_new()))
    return false;
  if (m->defined)
    return true;
  void *p = mmap(NULL, m->bytes / 8 + 8, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                 -1, 0);
  if (p == MAP_FAILED)
    return false;
  m->defined = p;
  for (uint32_t k = 0; k < m->n_spans; k++) /* from before: nobody kept book */
    sim_memory_define(d, m->spans[k].begin, m->spans[k].end - m->spans[k].begin, true);
  return true;
}

bool sim_define_grow(sim_warp *w, uint32_t bytes) {
  char *s = realloc(w->shadow, bytes);
  w->shadow = s ? s : w->shadow;
  char *o = realloc(w->origins, bytes);
  w->origins = o ? o : w->origins;
  if (!s || !o)
    return false;
  memset(s + w->regs_bytes, 0, bytes - w->regs_bytes);
  return true;
}

/* A block begins: nothing of its memory has been written. */
bool sim_define_block(sim_block *b, uint64_t shared_begin) {
  b->shared_defined = realloc(b->shared_defined, b->shared_bytes + 1);
  if (!b->shared_defined)
    return false;
  memset(b->shared_defined, 0, b->shared_bytes);
  memset(b->shared_defined, 1, shared_begin);
  b->all_defined = false, b->looked_up = 0;
  for (uint32_t k = 0; k < b->n_warps; k++) {
    sim_warp *w = &b->warps[k];
    size_t local = (size_t)w->local_bytes * SIM_LANES;
    bool is_new = !w->shadow;
    if (is_new && (!(w->shadow = malloc(w->regs_bytes)) || !(w->origins = malloc(w->regs_bytes)) ||
                   !(w->local_defined = malloc(local + 1))))
      return false;
    if (is_new || w->undefined)
      memset(w->shadow, 0, w->regs_bytes);
    memset(w->local_defined, 0, local);
    w->undefined = false, w->steps = 0;
    sim_define_frame(w, b->grid->code->funcs[0], 0, UINT32_MAX);
  }
  return true;
}
