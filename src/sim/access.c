/* access.c: memory, address by address: which space, which bytes, whether they may be used. The fast handlers
 * of exec/mem.c come here for whatever is not plain; the slow ones here do the same work lane by lane, and
 * tell watchers and probes.
 */
#include <string.h>

#include "sim/machine.h"

/* ------------------------------------------------------------------ decoding */

void sim_moves_regs(sim_build *w, const ptx_body *b, const ptx_operand *o, uint32_t places[8], sim_moves *m) {
  const ptx_operand *list = o->kind == PTX_VEC ? &b->operands[o->index] : o;
  m->n = o->kind == PTX_VEC ? (uint8_t)o->count : 1;
  for (unsigned k = 0; k < m->n && k < 8; k++) {
    if (list[k].kind == PTX_REG || !m->reg_bits) {
      m->reg_bits = (uint8_t)sim_operand_bits(b, &list[k]);
      m->lane_bytes = m->reg_bits <= 32 ? 4 : m->reg_bits / 8;
    }
    places[k] = list[k].kind == PTX_SINK ? w->f->trash : sim_place_at(w, b, &list[k]);
  }
}

sim_moves *sim_moves_new(sim_build *w, const ptx_body *b, const ptx_insn *i, sim_op *op,
                         unsigned address_operand) {
  sim_moves *m = base_alloc(&w->code->arena, sizeof *m);
  const ptx_operand *o = sim_operand(b, i, address_operand);
  int64_t offset;
  bool wide;
  op->a = sim_address_place(w, b, o, &offset, &wide);
  if (offset != (int32_t)offset)
    sim_decode_fail(w, i, "an offset of %lld", (long long)offset);
  op->x = (uint32_t)offset;
  op->y = wide ? SIM_WIDE : 0;
  op->more = m;
  m->space = i->mods.space;
  m->type = i->type[0];
  m->bytes = (uint8_t)ptx_type_bytes((ptx_type)i->type[0]);
  m->is_signed = ptx_type_base((ptx_type)i->type[0]) == PTX_BASE_SINT;
  m->order = i->mods.mmio == PTX_MMIO ? PTX_ORDER_RELAXED : i->mods.order ? i->mods.order : PTX_ORDER_WEAK;
  m->scope = m->order == PTX_ORDER_WEAK       ? PTX_MOD_NONE
             : m->order == PTX_ORDER_VOLATILE ? PTX_SCOPE_SYS
                                              : i->mods.scope;
  m->proxy = SIM_PROXY_GENERIC;
  if (m->space == PTX_SPACE_PARAM) {
    bool of_kernel =
        w->f->decl->entry && (o->kind != PTX_MEM_VAR || (o->in_body && o->index < w->f->decl->n_params));
    m->space = of_kernel ? PTX_SPACE_PARAM : PTX_SPACE_LOCAL;
  }
  if (m->order == PTX_ORDER_ACQUIRE || m->order == PTX_ORDER_RELEASE || m->order == PTX_ORDER_ACQ_REL)
    op->y |= SIM_ORDERED;
  op->y |= m->space == PTX_SPACE_SHARED || m->space == PTX_SPACE_SHARED_CLUSTER ? SIM_SHARED
           : m->space == PTX_SPACE_LOCAL                                        ? SIM_LOCAL
           : m->space == PTX_SPACE_GENERIC                                      ? SIM_GENERIC
                                                                                : SIM_GLOBAL;
  return m;
}

/* ------------------------------------------------------------------ finding */

static sim_found in_shared(const sim_run *r, uint64_t address, uint32_t bytes) {
  sim_found f = {.space = PTX_SPACE_SHARED, .rank = SIM_NOWHERE, .offset = address & SIM_OFFSET_MASK};
  const sim_block *b = r->block;
  if (address >> 32)
    return f;
  uint32_t rank = (uint32_t)(address >> SIM_RANK_SHIFT);
  if (rank) { /* of the cluster */
    if (!b->cluster || rank > b->cluster->n_blocks)
      return f;
    b = b->cluster->blocks[rank - 1];
    if (b != r->block)
      f.rank = rank - 1;
    if (b->ended) /* its shared memory is gone */
      return f;
  }
  if (f.offset + bytes <= b->shared_bytes && f.offset >= r->grid->shared_begin)
    f.at = b->shared + f.offset;
  return f;
}

sim_found sim_find(const sim_run *r, uint8_t space, uint64_t address, uint32_t bytes, uint32_t align,
                   uint32_t lane, bool writes) {
  const sim_warp *w = r->warp;
  sim_found f = {.space = space, .rank = SIM_NOWHERE, .offset = address};
  bool generic = space == PTX_SPACE_GENERIC;
  if (space == PTX_SPACE_SHARED || space == PTX_SPACE_SHARED_CLUSTER) {
    f = in_shared(r, address, bytes);
  } else if (generic && address - SIM_SHARED_WINDOW < SIM_WINDOW_BYTES) {
    f = in_shared(r, address - SIM_SHARED_WINDOW, bytes);
  } else if (space == PTX_SPACE_LOCAL || (generic && address - SIM_LOCAL_WINDOW < SIM_WINDOW_BYTES)) {
    f.space = PTX_SPACE_LOCAL;
    f.offset = generic ? address - SIM_LOCAL_WINDOW : address;
    if (f.offset < w->local_bytes && bytes <= w->local_bytes - f.offset)
      f.at = w->local + (size_t)lane * w->local_bytes + f.offset;
  } else if (sim_memory_ok(r->memory, address, bytes)) {
    f.at = (uint8_t *)(uintptr_t)address;
    uint64_t at = address - (uint64_t)(uintptr_t)r->memory->base;
    sim_memory_kind kind = SIM_MEMORY_GLOBAL;
    bool ends_before = false;
    if (at < r->memory->bytes && r->memory->granules[at / SIM_GRANULE] == SIM_READ_ONLY) {
      mtx_lock(&r->device->lock); /* another worker may be in malloc, which moves the spans */
      const sim_span *s = sim_span_at(r->memory->spans, r->memory->n_spans, address);
      kind = s ? s->info.kind : SIM_MEMORY_HOST;
      ends_before = r->memory->exact && s && bytes > s->info.address + s->info.bytes - address;
      mtx_unlock(&r->device->lock);
    }
    f.space = kind == SIM_MEMORY_CONST   ? PTX_SPACE_CONST
              : kind == SIM_MEMORY_PARAM ? PTX_SPACE_PARAM
                                         : PTX_SPACE_GLOBAL;
    bool legal =
        writes ? f.space == PTX_SPACE_GLOBAL
               : generic || space == f.space || (space == PTX_SPACE_GLOBAL && f.space != PTX_SPACE_PARAM);
    if (!legal || ends_before)
      f.at = NULL;
  }
  if (address & (align - 1))
    f.misaligned = true, f.at = NULL;
  if (writes && f.at && r->memory->kept && f.space == PTX_SPACE_GLOBAL)
    sim_memory_touch(r->device, address, bytes);
  return f;
}

const sim_op *sim_bad_access(sim_run *r, const sim_op *o, const sim_found *f, uint8_t space, uint64_t address,
                             uint32_t bytes, uint32_t lane, bool writes) {
  const char *name = space == PTX_SPACE_GENERIC ? "generic" : ptx_mod_name((ptx_mod)space);
  sim_fault_kind kind = f->misaligned ? SIM_FAULT_MISALIGNED : SIM_FAULT_ADDRESS;
  const char *how = f->misaligned ? "misaligned address"
                    : address < 4096 && space != PTX_SPACE_SHARED && space != PTX_SPACE_LOCAL ? "null pointer"
                    : f->space == PTX_SPACE_CONST && writes
                        ? "constant memory, which kernels cannot write, at"
                        : "bad address";
  return sim_fault_raise(r, o, kind, lane, address, bytes, "%s of %u byte%s (%s): %s 0x%llx",
                         writes ? "write" : "read", bytes, bytes == 1 ? "" : "s", name, how,
                         (unsigned long long)address);
}

static uint64_t address_of(const sim_op *o, const void *lanes, uint32_t i) {
  int64_t offset = (int32_t)o->x;
  if (o->y & SIM_WIDE)
    return ((const uint64_t *)lanes)[i] + (uint64_t)offset;
  return (uint32_t)(((const uint32_t *)lanes)[i] + (uint32_t)offset);
}

bool sim_resolve(sim_run *r, const sim_op *o, const sim_moves *m, uint32_t bytes, bool writes) {
  const void *lanes = sim_at(&r->ctx, o->a);
  SIM_EACH(i, r->ctx.mask) {
    uint64_t address = address_of(o, lanes, i);
    sim_found f = sim_find(r, m->space, address, bytes, bytes, i, writes);
    if (!f.at) {
      sim_bad_access(r, o, &f, m->space, address, bytes, i, writes);
      return false;
    }
    r->address[i] = address;
    r->pointer[i] = f.at;
  }
  return true;
}

/* ------------------------------------------------------------------ lane by lane, and told */

typedef struct sight {
  uint64_t address[SIM_LANES]; /* as a watcher wants it */
  uint64_t read[SIM_LANES][2], written[SIM_LANES][2];
  uint8_t *at[SIM_LANES];
  uint8_t rank[SIM_LANES];
  sim_found found[SIM_LANES];
  sim_who who;
  sim_access a;
  uint32_t on; /* lanes that do it */
  bool mixed;  /* generic addresses, in several spaces */
} sight;

/* The lanes of `lanes` whose address lies in a space. */
static uint32_t lanes_in(const sight *s, uint32_t lanes, uint8_t space) {
  uint32_t in = 0;
  SIM_EACH(i, lanes)
  in |= (uint32_t)(s->found[i].space == space) << i;
  return in;
}

/* Asks the watcher about lanes whose access is none that the machine knows to be right. */
static void ask(sim_run *r, sight *s, uint32_t legal) {
  uint32_t all = s->who.lanes;
  uint8_t space = s->a.space;
  for (uint32_t left = all & ~legal; left;) {
    s->a.space = s->found[sim_first(left)].space;
    s->who.lanes = lanes_in(s, all, s->a.space);
    s->on &= ~s->who.lanes | r->watcher->allow(r->watcher->user, &s->a, legal & s->who.lanes);
    left &= ~s->who.lanes;
  }
  s->who.lanes = all, s->a.space = space;
}

/* What sim_find answers, where that is plain: the block's own shared memory, or memory whose granule is all
 * of one allocation. An aligned access lies in one granule. */
static inline bool find_plain(const sim_run *r, const sim_moves *m, uint64_t address, uint32_t align,
                              bool writes, sim_found *f) {
  uint64_t at = address - (uint64_t)(uintptr_t)r->memory->base;
  if (address & (align - 1))
    return false;
  *f = (sim_found){.space = m->space, .rank = SIM_NOWHERE, .offset = address};
  if (m->space == PTX_SPACE_SHARED) {
    f->at = r->shared + address;
    return address >= r->grid->shared_begin && address < r->shared_bytes &&
           m->bytes <= r->shared_bytes - address;
  }
  f->space = PTX_SPACE_GLOBAL;
  f->at = (uint8_t *)(uintptr_t)address;
  if (writes && r->memory->kept) /* what was there is to be kept */
    return false;
  return (m->space == PTX_SPACE_GLOBAL || m->space == PTX_SPACE_GENERIC) && at < r->memory->bytes &&
         r->memory->granules[at / SIM_GRANULE] == SIM_PLAIN;
}

/* Resolves element k of all lanes, and asks the watcher who may go on. False: a fault. */
static bool look(sim_run *r, const sim_op *o, const sim_moves *m, unsigned k, bool reads, bool writes,
                 sight *s) {
  const void *lanes = sim_at(&r->ctx, o->a);
  uint32_t legal = 0, mask = r->ctx.mask, first_bad = SIM_NOWHERE;
  bool ranked = false;
  SIM_EACH(i, mask) {
    uint64_t address = address_of(o, lanes, i);
    uint32_t align = k ? m->bytes : m->bytes * m->n;
    sim_found f;
    if (!find_plain(r, m, address + (uint64_t)k * m->bytes, align, writes, &f))
      f = sim_find(r, m->space, address + (uint64_t)k * m->bytes, m->bytes, align, i, writes);
    if (f.at)
      legal |= UINT32_C(1) << i;
    else if (first_bad == SIM_NOWHERE)
      first_bad = i;
    s->at[i] = f.at;
    s->rank[i] = (uint8_t)(f.rank == SIM_NOWHERE ? r->block->rank : f.rank);
    ranked |= f.rank != SIM_NOWHERE;
    s->address[i] = f.offset;
    r->address[i] = address + (uint64_t)k * m->bytes;
    f.space = f.space == PTX_SPACE_GENERIC ? PTX_SPACE_GLOBAL : f.space;
    s->found[i] = f;
  }
  uint32_t counts = legal ? legal : mask;
  uint8_t space = s->found[sim_first(counts)].space;
  s->mixed = m->space == PTX_SPACE_GENERIC && lanes_in(s, counts, space) != counts;
  sim_who_of(r, mask, o, &s->who);
  s->a = (sim_access){.who = &s->who,
                      .reads = reads,
                      .writes = writes,
                      .space = space,
                      .order = m->order,
                      .scope = m->scope,
                      .proxy = m->proxy,
                      .bytes = m->bytes,
                      .element = k,
                      .elements = m->n,
                      .address = s->address,
                      .rank = ranked ? s->rank : NULL,
                      .read = s->read,
                      .written = (const uint64_t(*)[2])s->written};
  s->on = legal;
  if (legal == mask)
    return true;
  if (r->watcher && r->watcher->allow) {
    ask(r, s, legal);
    return true;
  }
  sim_bad_access(r, o, &s->found[first_bad], m->space, r->address[first_bad], m->bytes, first_bad, writes);
  return false;
}

bool sim_drops(sim_run *r, const sim_op *o, const sim_found *f, uint32_t bytes, uint32_t lane, bool writes) {
  uint64_t address[SIM_LANES], none[SIM_LANES][2] = {{0}};
  sim_who who;
  if (!r->watcher || !r->watcher->allow)
    return false;
  sim_who_of(r, UINT32_C(1) << lane, o, &who);
  address[lane] = f->offset;
  sim_access a = {.who = &who,
                  .reads = !writes,
                  .writes = writes,
                  .space = f->space == PTX_SPACE_GENERIC ? PTX_SPACE_GLOBAL : f->space,
                  .proxy = SIM_PROXY_ASYNC,
                  .bytes = bytes,
                  .elements = 1,
                  .address = address,
                  .read = none,
                  .written = (const uint64_t(*)[2])none};
  r->watcher->allow(r->watcher->user, &a, 0);
  return true;
}

static void tell(sim_run *r, const sim_op *o, sight *s) {
  for (uint32_t left = s->on; left;) {
    uint32_t lanes = left;
    if (s->mixed) {
      s->a.space = s->found[sim_first(left)].space;
      lanes = lanes_in(s, left, s->a.space);
    }
    left &= ~lanes;
    bool plain = s->a.space == PTX_SPACE_GLOBAL || s->a.space == PTX_SPACE_SHARED;
    sim_event e = {.kind = SIM_EVENT_ACCESS, .access = &s->a};
    s->who.lanes = lanes;
    if (s->a.reads && s->a.order != PTX_ORDER_WEAK && sim_watches(r, SIM_WATCH_CHOICES))
      r->unit->polled = true;
    if (sim_watches(r, plain ? SIM_WATCH_ACCESS : SIM_WATCH_LOCAL))
      sim_say(r, &e, lanes, o);
  }
}

/* Lanes whose value to read the watcher has chosen, in s->read. What a loop reads then is not what memory
 * holds. */
static uint32_t chosen(sim_run *r, sight *s) {
  if (!r->watcher || !r->watcher->source)
    return 0;
  s->who.lanes = s->on;
  uint32_t lanes = r->watcher->source(r->watcher->user, &s->a) & s->on;
  if (lanes && r->probe)
    sim_probe_spoil(r->probe);
  return lanes;
}

static const sim_op *done(sim_run *r, const sim_op *o) {
  return r->yield ? sim_stop(r, o, o + 1) : o + 1;
}

static void put_lane(const sim_run *r, const sim_moves *m, uint32_t place, uint32_t lane,
                     const uint64_t v[2]) {
  char *d = (char *)sim_at(&r->ctx, place) + (size_t)lane * m->lane_bytes;
  uint64_t x[2] = {sim_extend(m, v[0]), m->bytes == 16 ? v[1] : 0};
  memcpy(d, x, m->lane_bytes);
}

static void get_lane(const sim_run *r, const sim_moves *m, uint32_t place, uint32_t lane, uint64_t v[2]) {
  v[0] = v[1] = 0;
  memcpy(v, (char *)sim_at(&r->ctx, place) + (size_t)lane * m->lane_bytes, m->lane_bytes);
  if (m->bytes < 8)
    v[0] &= (UINT64_C(1) << (8 * m->bytes)) - 1;
}

/* What a load found undefined: of each element and lane a bit for each byte. Lanes that were kept from
 * reading were told, and that is enough. */
typedef struct unwritten {
  uint32_t some; /* elements */
  uint16_t bytes[8][SIM_LANES];
  sim_found found[8][SIM_LANES];
} unwritten;

static void look_undefined(const sim_run *r, const sight *s, uint32_t bytes, unsigned k, unwritten *u) {
  uint32_t some = 0;
  memset(u->bytes[k], 0, sizeof u->bytes[k]);
  SIM_EACH(i, s->on)
  some |= u->bytes[k][i] = (uint16_t)sim_undefined_bytes(r, &s->found[i], i, bytes);
  if (!some)
    return;
  u->some |= UINT32_C(1) << k;
  memcpy(u->found[k], s->found, sizeof s->found);
}

const sim_op *sim_load_slow(const sim_op *o, sim_ctx *c) {
  sim_run *r = sim_run_of(c);
  unwritten u;
  u.some = 0;
  const sim_moves *m = o->more;
  uint64_t values[8][SIM_LANES][2];
  sight s;
  for (unsigned k = 0; k < m->n; k++) {
    if (!look(r, o, m, k, true, false, &s))
      return NULL;
    memset(s.read, 0, sizeof s.read);
    SIM_EACH(i, s.on) {
      memcpy(s.read[i], s.at[i], m->bytes);
      if (r->probe)
        sim_probe_read(r, r->address[i], s.at[i], m->bytes);
    }
    chosen(r, &s);
    if (r->watcher)
      tell(r, o, &s);
    memcpy(values[k], s.read, sizeof s.read);
    if (r->defines)
      look_undefined(r, &s, m->bytes, k, &u);
  }
  for (unsigned k = 0; k < m->n && r->defines && (u.some || r->warp->undefined); k++)
    sim_define_loaded(r, o, m, m->places[k], u.bytes[k], u.found[k], u.some >> k & 1 ? c->mask : 0);
  for (unsigned k = 0; k < m->n; k++) /* only now: an address may lie in a register that is loaded */
    SIM_EACH(i, c->mask)
  put_lane(r, m, m->places[k], i, values[k][i]);
  return done(r, o);
}

const sim_op *sim_store_slow(const sim_op *o, sim_ctx *c) {
  sim_run *r = sim_run_of(c);
  const sim_moves *m = o->more;
  sight s;
  for (unsigned k = 0; k < m->n; k++) {
    if (!look(r, o, m, k, false, true, &s))
      return NULL;
    SIM_EACH(i, c->mask)
    get_lane(r, m, m->places[k], i, s.written[i]);
    SIM_EACH(i, s.on) {
      if (r->probe && memcmp(s.at[i], s.written[i], m->bytes))
        r->probe->wrote = true;
      s.read[i][0] = s.read[i][1] = 0;
      memcpy(s.read[i], s.at[i], m->bytes);
      memcpy(s.at[i], s.written[i], m->bytes);
    }
    s.a.stored = s.on;
    uint32_t bad = 0;
    if (r->defines) {
      bad = sim_define_stored(r, o, m, m->places[k], s.found, s.on);
      s.a.undefined = &bad;
    }
    if (r->watcher)
      tell(r, o, &s);
  }
  return done(r, o);
}

const sim_op *sim_atom_slow(const sim_op *o, sim_ctx *c) {
  sim_run *r = sim_run_of(c);
  const sim_moves *m = o->more;
  uint64_t values[8][SIM_LANES][2];
  sight s;
  for (unsigned k = 0; k < m->n; k++) {
    if (!look(r, o, m, k, true, true, &s))
      return NULL;
    memset(s.read, 0, sizeof s.read);
    s.a.stored = 0;
    s.a.returns = m->results[k] != SIM_NOWHERE;
    if (r->defines)
      sim_define_atomic(r, o, m, m->results[k], s.found, s.on);
    uint32_t forced = chosen(r, &s);
    SIM_EACH(i, s.on) {
      uint64_t b[2], x[2] = {0}, before[2];
      memcpy(before, s.at[i], m->bytes);
      if (forced >> i & 1)
        memcpy(s.at[i], s.read[i], m->bytes);
      get_lane(r, m, m->places[k], i, b);
      if (m->rop == PTX_ROP_CAS)
        get_lane(r, m, m->compare, i, x);
      bool stored =
          sim_atomic(m, s.at[i], b, x, s.read[i], s.written[i], true, s.a.space == PTX_SPACE_SHARED);
      s.a.stored |= stored ? UINT32_C(1) << i : 0;
      if (!stored)
        memcpy(s.at[i], before, m->bytes);
      if (r->probe) {
        sim_probe_read(r, r->address[i], s.at[i], m->bytes);
        if (stored && memcmp(s.read[i], s.written[i], m->bytes))
          r->probe->wrote = true;
      }
    }
    if (r->watcher)
      tell(r, o, &s);
    memcpy(values[k], s.read, sizeof s.read);
  }
  for (unsigned k = 0; k < m->n; k++)
    if (m->results[k] != SIM_NOWHERE)
      SIM_EACH(i, c->mask)
  put_lane(r, m, m->results[k], i, values[k][i]);
  return done(r, o);
}
