/* mem.c: loads and stores, fast: addresses of all lanes at once, and one copy where they lie side by side.
 * Whatever is not plain (another block's shared memory, a window of generic addresses, host memory, a fault)
 * goes through sim_find, lane by lane.
 */
#include <string.h>

#include "sim/exec/rises.h"
#include "sim/machine.h"

/* Memory from `first` (and the op's offset) on, n elements, if it may be used; else NULL. */
static inline uint8_t *usable(uint32_t how, uint32_t offset, const sim_run *r, uint64_t first, uint32_t size,
                              uint32_t n, bool writes) {
  uint64_t address = first + (uint64_t)(int64_t)(int32_t)offset, bytes = (uint64_t)size * n;
  if (address & (size - 1))
    return NULL;
  if ((how & SIM_SPACES) == SIM_SHARED) {
    if (!(how & SIM_WIDE))
      address = (uint32_t)address;
    return address >= r->grid->shared_begin && address + bytes <= r->shared_bytes ? r->shared + address
                                                                                  : NULL;
  }
  const sim_memory *m = r->memory;
  uint64_t at = address - (uint64_t)(uintptr_t)m->base;
  bool ok = (how & SIM_SPACES) != SIM_LOCAL && at < m->bytes && bytes <= m->bytes - at &&
            sim_granule_ok(m->granules[at / SIM_GRANULE], writes) &&
            sim_granule_ok(m->granules[(at + bytes - 1) / SIM_GRANULE], writes);
  return ok ? (uint8_t *)(uintptr_t)address : NULL;
}

/* All lanes, also those that take no part, want elements that follow each other (step: their size), or the
 * same one (0), and they may be used: returns the memory, or NULL. */
static inline uint8_t *in_step(const sim_op *o, const sim_run *r, const void *lanes, uint32_t step,
                               uint32_t size, bool writes) {
  bool wide = o->y & SIM_WIDE;
  if (!rises(lanes, wide, step))
    return NULL;
  return usable(o->y, o->x, r, wide ? *(const uint64_t *)lanes : *(const uint32_t *)lanes, size,
                step ? SIM_LANES : 1, writes);
}

/* Fills r->pointer of the lanes of the mask. */
static inline bool each_by_itself(const sim_op *o, sim_run *r, uint32_t size, bool writes) {
  const sim_ctx *c = &r->ctx;
  const void *lanes = sim_at(c, o->a);
  const uint64_t base = (uint64_t)(uintptr_t)r->memory->base, end = r->memory->bytes;
  uint32_t space = o->y & SIM_SPACES, left = c->mask, offset = o->x;
  if (space == SIM_SHARED && !(o->y & SIM_WIDE)) {
    const uint32_t *a = lanes;
    uint32_t worst = 0, begin = r->grid->shared_begin, room = r->shared_bytes - begin, bad = 0;
    if (room < size || r->shared_bytes < begin)
      return sim_resolve(r, o, o->more, size, writes);
    for (uint32_t i = 0; i < SIM_LANES; i++) {
      uint32_t at = a[i] + offset;
      bad |= c->mask >> i & 1 ? (at & (size - 1)) : 0;
      at = c->mask >> i & 1 ? at - begin : 0;
      worst = at > worst ? at : worst;
    }
    if (bad || worst > room - size)
      return sim_resolve(r, o, o->more, size, writes);
    uint8_t *shared = r->shared;
    for (uint32_t i = 0; i < SIM_LANES; i++)
      r->pointer[i] = shared + (uint32_t)(a[i] + offset);
    return true;
  }
  if (space == SIM_LOCAL) {
    uint8_t *local = r->warp->local;
    uint32_t stride = r->warp->local_bytes;
    for (; left; left &= left - 1) {
      uint32_t i = sim_first(left);
      uint64_t at = o->y & SIM_WIDE ? ((const uint64_t *)lanes)[i] + (uint64_t)(int64_t)(int32_t)offset
                                    : (uint32_t)(((const uint32_t *)lanes)[i] + offset);
      if (at >= stride || size > stride - at || (at & (size - 1)))
        return sim_resolve(r, o, o->more, size, writes);
      r->pointer[i] = local + (size_t)i * stride + at;
    }
    return true;
  }
  if (!(o->y & SIM_WIDE) || space == SIM_SHARED)
    return sim_resolve(r, o, o->more, size, writes);
  const uint64_t *a = lanes;
  const uint8_t *granules = r->memory->granules;
  for (; left; left &= left - 1) {
    uint32_t i = sim_first(left);
    uint64_t address = a[i] + (uint64_t)(int64_t)(int32_t)offset, at = address - base;
    if (at >= end || (at & (size - 1)) || !sim_granule_ok(granules[at / SIM_GRANULE], writes))
      return sim_resolve(r, o, o->more, size, writes);
    r->pointer[i] = (uint8_t *)(uintptr_t)address;
  }
  return true;
}

/* The way of a gang: `copy` for warps whose memory `all` lies side by side and whose register is at `reg`,
 * the handler of one warp for others. */
#define GANG(name, M, register, writes, copy)                                                         \
  static const sim_op *name##_gang(const sim_op *o, sim_ctx *c) {                                     \
    sim_run *r = sim_run_of(c);                                                                       \
    sim_row a = sim_row_of(c, o->a), row = sim_row_of(c, register);                                   \
    bool full = r->lanes == SIM_LANES * r->warps, first = true, one = false;                          \
    uintptr_t ahead = 0;                                                                              \
    for (uint32_t left = c->gang, w = 0; left; left >>= 1, w++, a.at += a.step, row.at += row.step) { \
      if (!(left & 1))                                                                                \
        continue;                                                                                     \
      uint8_t *all = full ? in_step(o, r, a.at, sizeof(M), sizeof(M), writes) : NULL;                 \
      void *reg = row.at;                                                                             \
      if (all) {                                                                                      \
        if (first)                                                                                    \
          ahead = sim_ahead(r, o, all), first = false;                                                \
        for (uint32_t line = 0; line < SIM_LANES * sizeof(M); line += 64)                             \
          __builtin_prefetch((const void *)((uintptr_t)all + ahead + line));                          \
        copy;                                                                                         \
      } else {                                                                                        \
        one = true;                                                                                   \
        sim_gang_one(r, w);                                                                           \
        if (!name##_full(o, c))                                                                       \
          return NULL;                                                                                \
      }                                                                                               \
    }                                                                                                 \
    if (one)                                                                                          \
      sim_gang_all(r);                                                                                \
    return o + 1;                                                                                     \
  }

/* Lanes that are not in the unit may be read too, and in a full way written. */
#define LOAD(name, M, D, expr)                                                                     \
  static inline void copy_##name(D *d, const M *all, const uint32_t *on) {                         \
    SIM_INDEPENDENT for (int i = 0; i < SIM_LANES; i++) {                                          \
      M m = all[i];                                                                                \
      D v = expr;                                                                                  \
      d[i] = !on || on[i] ? v : d[i];                                                              \
    }                                                                                              \
  }                                                                                                \
  static inline const sim_op *load_##name##_one(const sim_op *o, sim_ctx *c, const uint32_t *on) { \
    sim_run *r = sim_run_of(c);                                                                    \
    D *d = sim_at(c, o->d);                                                                        \
    const M *all = (const M *)in_step(o, r, sim_at(c, o->a), sizeof(M), sizeof(M), false);         \
    if (all) {                                                                                     \
      copy_##name(d, all, on);                                                                     \
    } else if ((all = (const M *)in_step(o, r, sim_at(c, o->a), 0, sizeof(M), false))) {           \
      M m = *all;                                                                                  \
      D v = expr;                                                                                  \
      SIM_INDEPENDENT for (int i = 0; i < SIM_LANES; i++) d[i] = !on || on[i] ? v : d[i];          \
    } else {                                                                                       \
      if (!each_by_itself(o, r, sizeof(M), false))                                                 \
        return NULL;                                                                               \
      if (c->mask == UINT32_MAX)                                                                   \
        for (int i = 0; i < SIM_LANES; i++) {                                                      \
          M m = *(const M *)r->pointer[i];                                                         \
          d[i] = expr;                                                                             \
        }                                                                                          \
      else                                                                                         \
        for (uint32_t left = c->mask; left; left &= left - 1) {                                    \
          uint32_t i = sim_first(left);                                                            \
          M m = *(const M *)r->pointer[i];                                                         \
          d[i] = expr;                                                                             \
        }                                                                                          \
    }                                                                                              \
    if (o->y & SIM_ORDERED)                                                                        \
      __atomic_thread_fence(__ATOMIC_ACQ_REL);                                                     \
    return o + 1;                                                                                  \
  }                                                                                                \
  static const sim_op *load_##name##_full(const sim_op *o, sim_ctx *c) {                           \
    return load_##name##_one(o, c, NULL);                                                          \
  }                                                                                                \
  static const sim_op *load_##name##_masked(const sim_op *o, sim_ctx *c) {                         \
    return load_##name##_one(o, c, c->lane);                                                       \
  }                                                                                                \
  GANG(load_##name, M, o->d, false, {                                                              \
    copy_##name(reg, (const M *)all, NULL);                                                        \
    if (o->y & SIM_ORDERED)                                                                        \
      __atomic_thread_fence(__ATOMIC_ACQ_REL);                                                     \
  })

typedef struct wide {
  uint64_t half[2];
} wide;

LOAD(u8, uint8_t, uint32_t, m)
LOAD(s8_16, int8_t, uint32_t, (uint16_t)m)
LOAD(s8_32, int8_t, int32_t, m)
LOAD(u16, uint16_t, uint32_t, m)
LOAD(s16_32, int16_t, int32_t, m)
LOAD(b32, uint32_t, uint32_t, m)
LOAD(u8_64, uint8_t, uint64_t, m)
LOAD(s8_64, int8_t, int64_t, m)
LOAD(u16_64, uint16_t, uint64_t, m)
LOAD(s16_64, int16_t, int64_t, m)
LOAD(u32_64, uint32_t, uint64_t, m)
LOAD(s32_64, int32_t, int64_t, m)
LOAD(b64, uint64_t, uint64_t, m)
LOAD(b128, wide, wide, m)

#define STORE(name, M, S)                                                     \
  static inline void spread_##name(M *all, const S *s) {                      \
    SIM_INDEPENDENT for (int i = 0; i < SIM_LANES; i++) all[i] = (M)s[i];     \
  }                                                                           \
  static const sim_op *store_##name##_masked(const sim_op *o, sim_ctx *c) {   \
    sim_run *r = sim_run_of(c);                                               \
    const S *s = sim_at(c, o->b);                                             \
    M *all = (M *)in_step(o, r, sim_at(c, o->a), sizeof(M), sizeof(M), true); \
    if (o->y & SIM_ORDERED)                                                   \
      __atomic_thread_fence(__ATOMIC_ACQ_REL);                                \
    if (all && c->mask == UINT32_MAX) {                                       \
      spread_##name(all, s);                                                  \
      return o + 1;                                                           \
    }                                                                         \
    if (!all && !each_by_itself(o, r, sizeof(M), true))                       \
      return NULL;                                                            \
    for (uint32_t left = c->mask; left; left &= left - 1) {                   \
      uint32_t i = sim_first(left);                                           \
      *(all ? &all[i] : (M *)r->pointer[i]) = (M)s[i];                        \
    }                                                                         \
    return o + 1;                                                             \
  }                                                                           \
  static const sim_op *store_##name##_full(const sim_op *o, sim_ctx *c) {     \
    return store_##name##_masked(o, c);                                       \
  }                                                                           \
  GANG(store_##name, M, o->b, true, {                                         \
    if (o->y & SIM_ORDERED)                                                   \
      __atomic_thread_fence(__ATOMIC_ACQ_REL);                                \
    spread_##name((M *)all, reg);                                             \
  })

STORE(b8, uint8_t, uint32_t)
STORE(b16, uint16_t, uint32_t)
STORE(b32, uint32_t, uint32_t)
STORE(b8_64, uint8_t, uint64_t)
STORE(b16_64, uint16_t, uint64_t)
STORE(b32_64, uint32_t, uint64_t)
STORE(b64, uint64_t, uint64_t)
STORE(b128, wide, wide)

/* Vectors of 4- or 8-byte elements in registers of that size; others take the slow way. */
#define VECTOR(name, T)                                                                                      \
  static const sim_op *load_v_##name(const sim_op *o, sim_ctx *c) {                                          \
    sim_run *r = sim_run_of(c);                                                                              \
    const sim_moves *m = o->more;                                                                            \
    uint32_t n = m->n;                                                                                       \
    const T *all = c->mask == UINT32_MAX                                                                     \
                       ? (const T *)in_step(o, r, sim_at(c, o->a), n * sizeof(T), n * sizeof(T), false)      \
                       : NULL;                                                                               \
    if (!all && !each_by_itself(o, r, n * sizeof(T), false))                                                 \
      return NULL;                                                                                           \
    for (uint32_t k = 0; k < n; k++) {                                                                       \
      T *d = sim_at(c, m->places[k]);                                                                        \
      if (all)                                                                                               \
        for (uint32_t i = 0; i < SIM_LANES; i++)                                                             \
          d[i] = all[i * n + k];                                                                             \
      else                                                                                                   \
        for (uint32_t left = c->mask; left; left &= left - 1)                                                \
          d[sim_first(left)] = ((const T *)r->pointer[sim_first(left)])[k];                                  \
    }                                                                                                        \
    if (o->y & SIM_ORDERED)                                                                                  \
      __atomic_thread_fence(__ATOMIC_ACQ_REL);                                                               \
    return o + 1;                                                                                            \
  }                                                                                                          \
  static const sim_op *store_v_##name(const sim_op *o, sim_ctx *c) {                                         \
    sim_run *r = sim_run_of(c);                                                                              \
    const sim_moves *m = o->more;                                                                            \
    uint32_t n = m->n;                                                                                       \
    T *all = c->mask == UINT32_MAX ? (T *)in_step(o, r, sim_at(c, o->a), n * sizeof(T), n * sizeof(T), true) \
                                   : NULL;                                                                   \
    if (!all && !each_by_itself(o, r, n * sizeof(T), true))                                                  \
      return NULL;                                                                                           \
    if (o->y & SIM_ORDERED)                                                                                  \
      __atomic_thread_fence(__ATOMIC_ACQ_REL);                                                               \
    for (uint32_t k = 0; k < n; k++) {                                                                       \
      const T *s = sim_at(c, m->places[k]);                                                                  \
      if (all)                                                                                               \
        for (uint32_t i = 0; i < SIM_LANES; i++)                                                             \
          all[i * n + k] = s[i];                                                                             \
      else                                                                                                   \
        for (uint32_t left = c->mask; left; left &= left - 1)                                                \
          ((T *)r->pointer[sim_first(left)])[k] = s[sim_first(left)];                                        \
    }                                                                                                        \
    return o + 1;                                                                                            \
  }
VECTOR(32, uint32_t)
VECTOR(64, uint64_t)

static bool use_load(sim_op *op, const sim_moves *m) {
  bool s = m->is_signed;
  switch (m->bytes) {
  case 1:
    return m->reg_bits == 64        ? s ? SIM_USE(op, load_s8_64) : SIM_USE(op, load_u8_64)
                  : !s || m->reg_bits == 8 ? SIM_USE(op, load_u8)
           : m->reg_bits == 16      ? SIM_USE(op, load_s8_16)
                                    : SIM_USE(op, load_s8_32);
  case 2:
    return m->reg_bits == 64        ? s ? SIM_USE(op, load_s16_64) : SIM_USE(op, load_u16_64)
                  : s && m->reg_bits == 32 ? SIM_USE(op, load_s16_32)
                                    : SIM_USE(op, load_u16);
  case 4:
    return m->reg_bits != 64 ? SIM_USE(op, load_b32)
           : s               ? SIM_USE(op, load_s32_64)
                             : SIM_USE(op, load_u32_64);
  case 8:
    return SIM_USE(op, load_b64);
  default:
    return SIM_USE(op, load_b128);
  }
}

static bool use_store(sim_op *op, const sim_moves *m) {
  bool eight = m->lane_bytes == 8;
  switch (m->bytes) {
  case 1:
    return eight ? SIM_USE(op, store_b8_64) : SIM_USE(op, store_b8);
  case 2:
    return eight ? SIM_USE(op, store_b16_64) : SIM_USE(op, store_b16);
  case 4:
    return eight ? SIM_USE(op, store_b32_64) : SIM_USE(op, store_b32);
  case 8:
    return SIM_USE(op, store_b64);
  default:
    return SIM_USE(op, store_b128);
  }
}

sim_fn SIM_LEVELED(sim_load_told), SIM_LEVELED(sim_store_told), SIM_LEVELED(sim_load_gang),
    SIM_LEVELED(sim_store_gang); /* told.c */

bool SIM_LEVELED(sim_select_mem)(sim_build *w, const ptx_body *body, const ptx_insn *i, sim_op *op) {
  bool store = i->op == PTX_OP_st_mem;
  if (!store && i->op != PTX_OP_ld_mem && i->op != PTX_OP_ld_const_mem && i->op != PTX_OP_ldu_mem)
    return false;
  sim_moves *m = sim_moves_new(w, body, i, op, store ? 0 : 1);
  if (i->op == PTX_OP_ld_const_mem)
    m->proxy = SIM_PROXY_CONST;
  sim_moves_regs(w, body, sim_operand(body, i, store ? 1 : 0), m->places, m);
  bool slow_only = m->lane_bytes == 16 ? m->bytes != 16 : false;
  if (m->n > 1)
    slow_only = !((m->bytes == 4 && m->lane_bytes == 4) || (m->bytes == 8 && m->lane_bytes == 8));
  op->fn[SIM_TOLD] = store ? SIM_LEVELED(sim_store_gang) : SIM_LEVELED(sim_load_gang);
  op->fn[SIM_SLOW] = store ? SIM_LEVELED(sim_store_told) : SIM_LEVELED(sim_load_told);
  if (slow_only)
    sim_use_one(op, store ? sim_store_slow : sim_load_slow);
  else if (m->n > 1 && store)
    op->fn[SIM_FULL] = op->fn[SIM_MASKED] = m->bytes == 4 ? store_v_32 : store_v_64;
  else if (m->n > 1)
    op->fn[SIM_FULL] = op->fn[SIM_MASKED] = m->bytes == 4 ? load_v_32 : load_v_64;
  else if (store)
    use_store(op, m);
  else
    use_load(op, m);
  op->d = op->b = m->places[0];
  return true;
}
