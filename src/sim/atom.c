/* atom.c: atomic operations and reductions. The lanes of a warp take their turns in order of their numbers.
 * The usual types have handlers of their own; every type goes through sim_atomic as well, which the slow way
 * uses. Memory that others of this process may change at the same time (the host, another device, .sys scope)
 * is changed by host atomics, of up to 8 bytes; 16-byte ones are atomic among the lanes of this device only.
 */
#include <string.h>

#include "sim/machine.h"

/* ------------------------------------------------------------------ small floats */

static float f16_value(uint32_t h) {
  uint32_t sign = (h & 0x8000) << 16, e = h >> 10 & 31, m = h & 0x3ff, bits;
  if (e == 31) {
    bits = sign | 0x7f800000 | m << 13;
  } else if (e) {
    bits = sign | (e + 112) << 23 | m << 13;
  } else { /* zero or subnormal: m times 2 to the -24 */
    float f = (float)m * 0x1p-24f;
    memcpy(&bits, &f, 4);
    bits |= sign;
  }
  float f;
  memcpy(&f, &bits, 4);
  return f;
}

static uint32_t f16_bits(float f) {
  uint32_t bits;
  memcpy(&bits, &f, 4);
  uint32_t sign = bits >> 16 & 0x8000;
  bits &= 0x7fffffff;
  if (bits > 0x7f800000)
    return 0x7fff;
  if (bits >= 0x477ff000) /* rounds to 2^16 or more */
    return sign | 0x7c00;
  if (bits <
      0x38800000) { /* subnormal: to units of 2^-24; adding 2^-1 aligns them to the end of the mantissa */
    float x;
    memcpy(&x, &bits, 4);
    volatile float y = x + 0.5f;
    uint32_t r;
    float z = y;
    memcpy(&r, &z, 4);
    return sign | (r - 0x3f000000);
  }
  uint32_t rounded = bits + 0xfff + (bits >> 13 & 1);
  return sign | (rounded - 0x38000000) >> 13;
}

static float bf16_value(uint32_t h) {
  uint32_t bits = h << 16;
  float f;
  memcpy(&f, &bits, 4);
  return f;
}

static uint32_t bf16_bits(float f) {
  uint32_t bits;
  memcpy(&bits, &f, 4);
  if ((bits & 0x7fffffff) > 0x7f800000)
    return 0x7fff;
  return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

static uint32_t half_op(uint8_t rop, uint32_t a, uint32_t b, bool bf) {
  float x = bf ? bf16_value(a) : f16_value(a), y = bf ? bf16_value(b) : f16_value(b);
  if (rop == PTX_ROP_ADD)
    return bf ? bf16_bits(x + y) : f16_bits(x + y);
  if (x != x || y != y)
    return x == x ? a : y == y ? b : 0x7fff;
  bool less = x < y || (x == y && (a & 0x8000) > (b & 0x8000)); /* -0 lies below +0 */
  return (rop == PTX_ROP_MIN) == less ? a : b;
}

static uint32_t f32_add(uint32_t a, uint32_t b, bool flush) {
  if (flush && !(a & 0x7f800000))
    a &= 0x80000000;
  if (flush && !(b & 0x7f800000))
    b &= 0x80000000;
  float x, y, z;
  memcpy(&x, &a, 4), memcpy(&y, &b, 4);
  z = x + y;
  memcpy(&a, &z, 4);
  if ((a & 0x7fffffff) > 0x7f800000)
    return 0x7fffffff;
  return flush && !(a & 0x7f800000) ? a & 0x80000000 : a;
}

static uint64_t f64_add(uint64_t a, uint64_t b) {
  double x, y, z;
  memcpy(&x, &a, 8), memcpy(&y, &b, 8);
  z = x + y;
  memcpy(&a, &z, 8);
  return (a & INT64_MAX) > UINT64_C(0x7ff0000000000000) ? UINT64_C(0x7fffffffffffffff) : a;
}

/* ------------------------------------------------------------------ any operation */

static uint64_t compute(const sim_moves *m, uint64_t a, uint64_t b, uint64_t c, bool shared) {
  bool is_signed = m->is_signed;
  switch (m->type) {
  case PTX_F32:
    return f32_add((uint32_t)a, (uint32_t)b, !shared); /* global memory flushes subnormal numbers */
  case PTX_F64:
    return f64_add(a, b);
  case PTX_F16:
  case PTX_BF16:
    return half_op(m->rop, (uint32_t)a, (uint32_t)b, m->type == PTX_BF16);
  case PTX_F16X2:
  case PTX_BF16X2:
    return half_op(m->rop, a & 0xffff, b & 0xffff, m->type == PTX_BF16X2) |
           half_op(m->rop, (uint32_t)(a >> 16), (uint32_t)(b >> 16), m->type == PTX_BF16X2) << 16;
  default:
    break;
  }
  int64_t sa = m->bytes == 4 ? (int32_t)a : (int64_t)a, sb = m->bytes == 4 ? (int32_t)b : (int64_t)b;
  switch (m->rop) {
  case PTX_ROP_ADD:
    return a + b;
  case PTX_ROP_MIN:
    return is_signed ? (sa < sb ? a : b) : a < b ? a : b;
  case PTX_ROP_MAX:
    return is_signed ? (sa > sb ? a : b) : a > b ? a : b;
  case PTX_ROP_INC:
    return a >= b ? 0 : a + 1;
  case PTX_ROP_DEC:
    return a == 0 || a > b ? b : a - 1;
  case PTX_ROP_AND:
    return a & b;
  case PTX_ROP_OR:
    return a | b;
  case PTX_ROP_XOR:
    return a ^ b;
  case PTX_ROP_EXCH:
    return b;
  default: /* CAS */
    return a == b ? c : a;
  }
}

bool sim_atomic(const sim_moves *m, void *at, const uint64_t b[2], const uint64_t c[2], uint64_t old[2],
                uint64_t stored[2], bool locked, bool shared) {
  old[1] = stored[1] = 0;
  if (m->bytes == 16) {
    memcpy(old, at, 16);
    bool cas = m->rop == PTX_ROP_CAS, goes = !cas || (old[0] == b[0] && old[1] == b[1]);
    memcpy(stored, cas ? (goes ? c : old) : b, 16);
    if (goes)
      memcpy(at, stored, 16);
    return goes;
  }
  old[0] = 0;
  memcpy(old, at, m->bytes);
  for (;;) {
    stored[0] = compute(m, old[0], b[0], c[0], shared);
    if (m->bytes < 8)
      stored[0] &= (UINT64_C(1) << (8 * m->bytes)) - 1;
    if (m->rop == PTX_ROP_CAS && old[0] != b[0])
      return false;
    if (!locked) {
      memcpy(at, stored, m->bytes);
      return true;
    }
    bool ok;
    if (m->bytes == 2) {
      uint16_t was = (uint16_t)old[0];
      ok = __atomic_compare_exchange_n((uint16_t *)at, &was, (uint16_t)stored[0], false, __ATOMIC_SEQ_CST,
                                       __ATOMIC_SEQ_CST);
      old[0] = was;
    } else if (m->bytes == 4) {
      uint32_t was = (uint32_t)old[0];
      ok = __atomic_compare_exchange_n((uint32_t *)at, &was, (uint32_t)stored[0], false, __ATOMIC_SEQ_CST,
                                       __ATOMIC_SEQ_CST);
      old[0] = was;
    } else {
      ok = __atomic_compare_exchange_n((uint64_t *)at, &old[0], stored[0], false, __ATOMIC_SEQ_CST,
                                       __ATOMIC_SEQ_CST);
    }
    if (ok)
      return true;
  }
}

/* ------------------------------------------------------------------ handlers */

static bool is_shared(const sim_run *r, const uint8_t *at) {
  return at >= r->shared && at < r->shared + r->shared_bytes;
}

static bool own_memory(const sim_run *r, const uint8_t *at) {
  return is_shared(r, at) || (at >= r->memory->base && at < r->memory->end);
}

/* Any type, told to nobody. */
static const sim_op *atom_any(const sim_op *o, sim_ctx *c) {
  sim_run *r = sim_run_of(c);
  const sim_moves *m = o->more;
  if (!sim_resolve(r, o, m, (uint32_t)m->bytes * m->n, true))
    return NULL;
  SIM_EACH(i, c->mask) {
    uint64_t old[8][2];
    for (unsigned k = 0; k < m->n; k++) {
      uint64_t b[2] = {0}, x[2] = {0}, stored[2];
      uint8_t *at = r->pointer[i] + (size_t)k * m->bytes;
      memcpy(b, (char *)sim_at(c, m->places[k]) + (size_t)i * m->lane_bytes, m->lane_bytes);
      if (m->rop == PTX_ROP_CAS)
        memcpy(x, (char *)sim_at(c, m->compare) + (size_t)i * m->lane_bytes, m->lane_bytes);
      sim_atomic(m, at, b, x, old[k], stored,
                 m->scope == PTX_SCOPE_SYS || (r->device->workers && !is_shared(r, at)) || !own_memory(r, at),
                 is_shared(r, at));
    }
    for (unsigned k = 0; k < m->n; k++) /* only now: a result may lie where an operand lies */
      if (m->results[k] != SIM_NOWHERE)
        memcpy((char *)sim_at(c, m->results[k]) + (size_t)i * m->lane_bytes, old[k], m->lane_bytes);
  }
  return o + 1;
}

/* r->pointer for plain addresses, all in the device's own memory; false: take the other way (nothing was
 * raised). */
static inline bool resolve_plain(sim_run *r, const sim_op *o, uint32_t size) {
  const sim_ctx *c = &r->ctx;
  const void *lanes = sim_at(c, o->a);
  uint32_t space = o->y & SIM_SPACES, begin = r->grid->shared_begin, end = r->shared_bytes;
  if (space == SIM_SHARED && !(o->y & SIM_WIDE)) {
    for (uint32_t left = c->mask; left; left &= left - 1) {
      uint32_t i = sim_first(left), at = ((const uint32_t *)lanes)[i] + o->x;
      if (at < begin || at > end || size > end - at || (at & (size - 1)))
        return false;
      r->pointer[i] = r->shared + at;
    }
    return true;
  }
  if (!(o->y & SIM_WIDE) || space == SIM_SHARED || space == SIM_LOCAL)
    return false;
  for (uint32_t left = c->mask; left; left &= left - 1) {
    uint32_t i = sim_first(left);
    uint64_t address = ((const uint64_t *)lanes)[i] + (uint64_t)(int64_t)(int32_t)o->x;
    uint64_t at = address - (uint64_t)(uintptr_t)r->memory->base;
    if (at >= r->memory->bytes || (at & (size - 1)) || r->memory->granules[at / SIM_GRANULE] != SIM_PLAIN)
      return false;
    r->pointer[i] = (uint8_t *)(uintptr_t)address;
  }
  return true;
}

/* Offsets in the block's own shared memory, all of which may be used; NULL: not that. Only for full warps. */
static inline const uint32_t *own_offsets(const sim_run *r, const sim_op *o, uint32_t size) {
  const uint32_t *lanes = sim_at(&r->ctx, o->a);
  uint32_t begin = r->grid->shared_begin, room = r->shared_bytes - begin;
  if ((o->y & (SIM_SPACES | SIM_WIDE)) != SIM_SHARED || r->ctx.mask != UINT32_MAX ||
      r->shared_bytes < begin || room < size)
    return NULL;
  return r->device->level->within(lanes, o->x, begin, room - size, size - 1) ? lanes : NULL;
}

/* The usual ones: 4 or 8 bytes, in the device's own memory. expr computes the new value from a (old) and b.
 * Each in two ways: for memory that nobody else touches, and by host atomics for what other workers may be
 * at. */
#define ATOM_WAY(name, T, expr, CHANGE)                                   \
  static const sim_op *atom_##name(const sim_op *o, sim_ctx *c) {         \
    sim_run *r = sim_run_of(c);                                           \
    const sim_moves *m = o->more;                                         \
    const T *bs = sim_at(c, o->b);                                        \
    T *d = o->d == SIM_NOWHERE ? NULL : sim_at(c, o->d);                  \
    const uint32_t *offsets = own_offsets(r, o, sizeof(T));               \
    (void)m;                                                              \
    if (offsets) {                                                        \
      uint8_t *shared = r->shared;                                        \
      for (uint32_t i = 0, x = o->x; i < SIM_LANES; i++) {                \
        T *at = (T *)(shared + (uint32_t)(offsets[i] + x)), a, b = bs[i]; \
        CHANGE(T, expr)                                                   \
        if (d)                                                            \
          d[i] = a;                                                       \
      }                                                                   \
      return o + 1;                                                       \
    }                                                                     \
    if (!resolve_plain(r, o, sizeof(T)))                                  \
      return atom_any(o, c);                                              \
    for (uint32_t left = c->mask; left; left &= left - 1) {               \
      uint32_t i = sim_first(left);                                       \
      T *at = (T *)r->pointer[i], a, b = bs[i];                           \
      CHANGE(T, expr)                                                     \
      if (d)                                                              \
        d[i] = a;                                                         \
    }                                                                     \
    return o + 1;                                                         \
  }
/* The same for lanes whose memory was found before, told: what each found and what it left. */
#define ATOM_TOLD(name, T, expr)                                                         \
  static void atom_##name##_told(const sim_op *o, sim_ctx *c, void *found, void *left) { \
    sim_run *r = sim_run_of(c);                                                          \
    const sim_moves *m = o->more;                                                        \
    const T *bs = sim_at(c, o->b);                                                       \
    T *d = o->d == SIM_NOWHERE ? found : sim_at(c, o->d), *olds = found, *news = left;   \
    (void)m;                                                                             \
    SIM_EACH(i, c->mask) {                                                               \
      T *at = (T *)r->pointer[i], a = *at, b = bs[i];                                    \
      *at = news[i] = (T)(expr);                                                         \
      d[i] = olds[i] = a;                                                                \
    }                                                                                    \
  }
#define ATOM_ALONE(T, expr) \
  a = *at;                  \
  *at = (T)(expr);
#define ATOM_AMONG(T, expr)                                                                         \
  a = __atomic_load_n(at, __ATOMIC_RELAXED);                                                        \
  while (!__atomic_compare_exchange_n(at, &a, (T)(expr), true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) \
    ;
#define ATOM(name, T, expr)           \
  ATOM_WAY(name, T, expr, ATOM_ALONE) \
  ATOM_TOLD(name, T, expr)            \
  ATOM_WAY(name##_among, T, expr, ATOM_AMONG)
/* The host has this one: it need not try again when others are at the word. */
#define ATOM_HOST(name, T, expr, fetch) \
  ATOM_WAY(name, T, expr, ATOM_ALONE)   \
  ATOM_TOLD(name, T, expr)              \
  ATOM_WAY(name##_among, T, fetch(at, b, __ATOMIC_SEQ_CST), ATOM_FETCH)
#define ATOM_FETCH(T, expr) a = (T)(expr);

ATOM_HOST(add32, uint32_t, a + b, __atomic_fetch_add)
ATOM_HOST(add64, uint64_t, a + b, __atomic_fetch_add)
ATOM_HOST(and32, uint32_t, a &b, __atomic_fetch_and)
ATOM_HOST(or32, uint32_t, a | b, __atomic_fetch_or)
ATOM_HOST(xor32, uint32_t, a ^ b, __atomic_fetch_xor)
ATOM_HOST(exch32, uint32_t, b, __atomic_exchange_n)
ATOM_HOST(exch64, uint64_t, b, __atomic_exchange_n)
ATOM(min_u32, uint32_t, a < b ? a : b)
ATOM(max_u32, uint32_t, a > b ? a : b)
ATOM(min_s32, int32_t, a < b ? a : b)
ATOM(max_s32, int32_t, a > b ? a : b)
ATOM(inc32, uint32_t, a >= b ? 0 : a + 1)
ATOM(add_f32, uint32_t, f32_add(a, b, !is_shared(r, (uint8_t *)at)))
ATOM(add_f64, uint64_t, f64_add(a, b))
ATOM(cas32, uint32_t, a == b ? ((const uint32_t *)sim_at(c, m->compare))[i] : a)
ATOM(cas64, uint64_t, a == b ? ((const uint64_t *)sim_at(c, m->compare))[i] : a)

/* The ways of one kind. */
typedef struct ways {
  sim_fn *alone, *among;
  sim_atom_fn *told;
} ways;
static const ways any = {atom_any, atom_any, NULL};

static ways pick(const sim_moves *m) {
#define WAYS(name) ((ways){atom_##name, atom_##name##_among, atom_##name##_told})
  bool four = m->bytes == 4;
  if (m->n > 1 || (m->bytes != 4 && m->bytes != 8) || m->lane_bytes != m->bytes || m->scope == PTX_SCOPE_SYS)
    return any;
  if (m->type == PTX_F32)
    return WAYS(add_f32);
  if (m->type == PTX_F64)
    return WAYS(add_f64);
  if (m->type == PTX_F16X2 || m->type == PTX_BF16X2)
    return any;
  switch (m->rop) {
  case PTX_ROP_ADD:
    return four ? WAYS(add32) : WAYS(add64);
  case PTX_ROP_EXCH:
    return four ? WAYS(exch32) : WAYS(exch64);
  case PTX_ROP_CAS:
    return four ? WAYS(cas32) : WAYS(cas64);
  case PTX_ROP_AND:
    return four ? WAYS(and32) : any;
  case PTX_ROP_OR:
    return four ? WAYS(or32) : any;
  case PTX_ROP_XOR:
    return four ? WAYS(xor32) : any;
  case PTX_ROP_INC:
    return WAYS(inc32);
  case PTX_ROP_MIN:
    return !four ? any : m->is_signed ? WAYS(min_s32) : WAYS(min_u32);
  case PTX_ROP_MAX:
    return !four ? any : m->is_signed ? WAYS(max_s32) : WAYS(max_u32);
  default:
    return any;
  }
#undef WAYS
}

bool sim_select_atom(sim_build *w, const ptx_body *b, const ptx_insn *i, sim_op *op) {
  bool red = i->op == PTX_OP_red_int || i->op == PTX_OP_red_float || i->op == PTX_OP_red_vec;
  if (!red && i->op != PTX_OP_atom_exch && i->op != PTX_OP_atom_cas && i->op != PTX_OP_atom_int &&
      i->op != PTX_OP_atom_float && i->op != PTX_OP_atom_vec)
    return false;
  unsigned at = red ? 0 : 1;
  sim_moves *m = sim_moves_new(w, b, i, op, at);
  m->rop = i->mods.rop;
  m->noftz = i->mods.noftz;
  if (!i->mods.order)
    m->order = PTX_ORDER_RELAXED;
  m->scope = i->mods.scope ? i->mods.scope : PTX_SCOPE_GPU;
  sim_moves_regs(w, b, sim_operand(b, i, at + 1), m->places, m);
  m->compare = m->rop == PTX_ROP_CAS ? sim_place_at(w, b, sim_operand(b, i, at + 2)) : SIM_NOWHERE;
  memset(m->results, 0xff, sizeof m->results);
  const ptx_operand *d = sim_operand(b, i, 0);
  if (!red && d->kind == PTX_REG) {
    m->results[0] = sim_place_at(w, b, d);
  } else if (!red && d->kind == PTX_VEC) {
    for (uint64_t k = 0; k < d->count && k < 8; k++)
      if (b->operands[d->index + k].kind == PTX_REG)
        m->results[k] = sim_place_at(w, b, &b->operands[d->index + k]);
  }
  op->d = m->results[0];
  op->b = m->places[0];
  ways way = pick(m);
  bool among = w->code->kernel->module->device->options.workers > 1 && m->space != PTX_SPACE_SHARED;
  op->fn[SIM_FULL] = op->fn[SIM_MASKED] = among ? way.among : way.alone;
  /* a compare-and-swap may fail, and then it stores nothing: that is seen lane by lane */
  m->told = among || m->rop == PTX_ROP_CAS ? NULL : way.told;
  op->fn[SIM_SLOW] = m->told ? w->level->atom_told : sim_atom_slow;
  return true;
}
