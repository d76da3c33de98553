/* compare.c: setp and set of integers, f32, f64, f16, bf16 and pairs.
 *
 * A few comparisons make them all: "greater" swaps the operands, an opposite swaps the two results (setp) or
 * asks for the opposite (set). A float comparison that is also true of NaN is the opposite of one that is
 * not.
 */
#include "sim/exec/arith.h"
#include "sim/exec/narrow.h"

/* What a comparison is made of. */
enum { EQ, LT, LE, NE, NUM }; /* all false of NaN; integers have EQ and LT */
typedef struct comparison {
  uint8_t how;
  bool swap, opposite;
} comparison;

static comparison comparison_of(unsigned cmp, bool is_float) {
  switch (cmp) {
  case PTX_CMP_EQ:
    return (comparison){EQ, false, false};
  case PTX_CMP_NE:
    return is_float ? (comparison){NE, false, false} : (comparison){EQ, false, true};
  case PTX_CMP_LT:
  case PTX_CMP_LO:
    return (comparison){LT, false, false};
  case PTX_CMP_GT:
  case PTX_CMP_HI:
    return (comparison){LT, true, false};
  case PTX_CMP_LE:
  case PTX_CMP_LS:
    return is_float ? (comparison){LE, false, false} : (comparison){LT, true, true};
  case PTX_CMP_GE:
  case PTX_CMP_HS:
    return is_float ? (comparison){LE, true, false} : (comparison){LT, false, true};
  case PTX_CMP_EQU:
    return (comparison){NE, false, true};
  case PTX_CMP_NEU:
    return (comparison){EQ, false, true};
  case PTX_CMP_LTU:
    return (comparison){LE, true, true};
  case PTX_CMP_LEU:
    return (comparison){LT, true, true};
  case PTX_CMP_GTU:
    return (comparison){LE, false, true};
  case PTX_CMP_GEU:
    return (comparison){LT, false, true};
  case PTX_CMP_NAN:
    return (comparison){NUM, false, true};
  }
  return (comparison){NUM, false, false};
}

/* o->y of a set: ask for the opposite. */
#define OPPOSITE 1u

/* r combined with the instruction's predicate, if it has one: the operation is in o->x (PTX_BOOL_*, or 0),
 * its place in o->c. */
static inline uint32_t combined(const sim_op *o, sim_ctx *ctx, uint32_t r) {
  if (!o->x)
    return r;
  uint32_t q = sim_pred(ctx, o->c);
  return o->x == PTX_BOOL_AND ? r & q : o->x == PTX_BOOL_OR ? r | q : r ^ q;
}
/* Into predicate d and, if it is somewhere, the opposite into e. */
static inline void compared(const sim_op *o, sim_ctx *ctx, uint32_t r, int full) {
  uint32_t n = combined(o, ctx, ~r); /* d may be the predicate that is read */
  sim_pred_set(ctx, o->d, combined(o, ctx, r), full);
  sim_pred_set(ctx, o->e, n, full);
}
/* Lanes of o->imm where r is true, else 0. */
static inline void set_lanes(const sim_op *o, sim_ctx *ctx, uint32_t r, int full) {
  uint32_t *d = sim_at(ctx, o->d), yes = (uint32_t)o->imm;
  r = combined(o, ctx, o->y & OPPOSITE ? ~r : r);
  SIM_INDEPENDENT for (unsigned i = 0; i < SIM_LANES; i++) {
    uint32_t v = r >> i & 1 ? yes : 0;
    d[i] = full || ctx->lane[i] ? v : d[i];
  }
}

#define COMPARE(name, A, expr)                                   \
  static inline uint32_t name(const sim_op *o, sim_ctx *ctx) {   \
    const A *a_ = sim_at(ctx, o->a), *b_ = sim_at(ctx, o->b);    \
    LANE_MASKS(m_);                                              \
    SIM_INDEPENDENT for (int i = 0; i < SIM_LANES; i++) {        \
      A a = a_[i], b = b_[i];                                    \
      m_[i] = (expr) ? UINT32_MAX : 0;                           \
    }                                                            \
    return bits_of_lanes(m_);                                    \
  }                                                              \
  SIM_HANDLER(setp_##name, compared(o, ctx, name(o, ctx), full)) \
  SIM_HANDLER(set_##name, set_lanes(o, ctx, name(o, ctx), full))

COMPARE(eq_32, uint32_t, a == b)
COMPARE(eq_64, uint64_t, a == b)
COMPARE(lt_u32, uint32_t, a < b)
COMPARE(lt_s32, int32_t, a < b)
COMPARE(lt_s16, uint32_t, (int32_t)(a << 16) < (int32_t)(b << 16))
COMPARE(lt_u64, uint64_t, a < b)
COMPARE(lt_s64, int64_t, a < b)

#define FLUSHED(x) f32_of(flush_bits(x))
#define F16(x) f32_of_f16((x) & 0xffff)
#define F16_FTZ(x) f32_of_f16(((x) & 0x7c00) ? (x) & 0xffff : (x) & 0x8000)
#define BF16(x) f32_of_bf16((x) & 0xffff)
#define FLOATS(name, A, of)                             \
  COMPARE(eq_##name, A, of(a) == of(b))                 \
  COMPARE(lt_##name, A, of(a) < of(b))                  \
  COMPARE(le_##name, A, of(a) <= of(b))                 \
  COMPARE(ne_##name, A, of(a) < of(b) || of(a) > of(b)) \
  COMPARE(num_##name, A, of(a) == of(a) && of(b) == of(b))
#define ITSELF(x) (x)
FLOATS(f32, float, ITSELF)
FLOATS(ftz_f32, uint32_t, FLUSHED)
FLOATS(f64, double, ITSELF)
FLOATS(f16, uint32_t, F16)
FLOATS(ftz_f16, uint32_t, F16_FTZ)
FLOATS(bf16, uint32_t, BF16)

#define USE_CMP(op, set, name) ((set) ? SIM_USE(op, set_##name) : SIM_USE(op, setp_##name))
#define USE_FLOATS(op, set, how, name)         \
  ((how) == EQ   ? USE_CMP(op, set, eq_##name) \
   : (how) == LT ? USE_CMP(op, set, lt_##name) \
   : (how) == LE ? USE_CMP(op, set, le_##name) \
   : (how) == NE ? USE_CMP(op, set, ne_##name) \
                 : USE_CMP(op, set, num_##name))

/* ---- pairs of halves: both comparisons at once, chosen as they run ---- */
static inline bool is_so(float a, float b, unsigned how) {
  switch (how) {
  case EQ:
    return a == b;
  case LT:
    return a < b;
  case LE:
    return a <= b;
  case NE:
    return a < b || a > b;
  }
  return a == a && b == b;
}
enum { PAIR_HOW = 7, PAIR_FTZ = 8, PAIR_BF16 = 16, PAIR_OPPOSITE = 32 };
static inline float half_of(uint32_t x, unsigned y) {
  return y & PAIR_BF16 ? BF16(x) : y & PAIR_FTZ ? F16_FTZ(x) : F16(x);
}
static inline void pair_bits(const sim_op *o, sim_ctx *ctx, uint32_t *low, uint32_t *high) {
  const uint32_t *a = sim_at(ctx, o->a), *b = sim_at(ctx, o->b);
  uint32_t l = 0, h = 0, y = o->y;
  for (unsigned i = 0; i < SIM_LANES; i++) {
    l |= (uint32_t)is_so(half_of(a[i], y), half_of(b[i], y), y & PAIR_HOW) << i;
    h |= (uint32_t)is_so(half_of(a[i] >> 16, y), half_of(b[i] >> 16, y), y & PAIR_HOW) << i;
  }
  if (y & PAIR_OPPOSITE)
    l = ~l, h = ~h;
  *low = combined(o, ctx, l);
  *high = combined(o, ctx, h);
}
static inline void setp_pair(const sim_op *o, sim_ctx *ctx, int full) {
  uint32_t l, h;
  pair_bits(o, ctx, &l, &h);
  sim_pred_set(ctx, o->d, l, full);
  sim_pred_set(ctx, o->e, h, full);
}
static inline void set_pair(const sim_op *o, sim_ctx *ctx, int full) {
  uint32_t l, h, *d = sim_at(ctx, o->d), yes = (uint32_t)o->imm;
  pair_bits(o, ctx, &l, &h);
  for (unsigned i = 0; i < SIM_LANES; i++) {
    uint32_t v = yes & ((l >> i & 1 ? 0xffff : 0) | (h >> i & 1 ? 0xffff0000 : 0));
    d[i] = full || ctx->lane[i] ? v : d[i];
  }
}
SIM_HANDLER(setp_pair, setp_pair(o, ctx, full))
SIM_HANDLER(set_pair, set_pair(o, ctx, full))

/* What `set` writes for true. */
static uint32_t true_of(unsigned type) {
  switch (type) {
  case PTX_F32:
    return 0x3f800000;
  case PTX_F16:
    return 0x3c00;
  case PTX_BF16:
    return 0x3f80;
  case PTX_F16X2:
    return 0x3c003c00;
  case PTX_BF16X2:
    return 0x3f803f80;
  case PTX_U16:
  case PTX_S16:
    return 0xffff;
  }
  return UINT32_MAX;
}

static bool select_int(sim_op *op, unsigned t, bool set, unsigned how) {
  unsigned bits = ptx_type_bits(t);
  bool sign = ptx_type_base(t) == PTX_BASE_SINT;
  if (how == EQ)
    return bits == 64 ? USE_CMP(op, set, eq_64) : USE_CMP(op, set, eq_32);
  if (sign)
    return bits == 64   ? USE_CMP(op, set, lt_s64)
           : bits == 32 ? USE_CMP(op, set, lt_s32)
                        : USE_CMP(op, set, lt_s16);
  return bits == 64 ? USE_CMP(op, set, lt_u64) : USE_CMP(op, set, lt_u32);
}
static bool select_float(sim_op *op, unsigned t, bool set, unsigned how, bool ftz) {
  if (t == PTX_F64)
    return USE_FLOATS(op, set, how, f64);
  if (t == PTX_BF16)
    return USE_FLOATS(op, set, how, bf16);
  if (t == PTX_F16)
    return ftz ? USE_FLOATS(op, set, how, ftz_f16) : USE_FLOATS(op, set, how, f16);
  return ftz ? USE_FLOATS(op, set, how, ftz_f32) : USE_FLOATS(op, set, how, f32);
}

sim_select SIM_LEVELED(sim_select_compare);
bool SIM_LEVELED(sim_select_compare)(sim_build *w, const ptx_body *body, const ptx_insn *i, sim_op *op) {
  (void)w, (void)body;
  bool set = i->op == PTX_OP_set_int || i->op == PTX_OP_set_float || i->op == PTX_OP_set_half;
  if (!set && i->op != PTX_OP_setp_int && i->op != PTX_OP_setp_float && i->op != PTX_OP_setp_half)
    return false;
  unsigned t = set ? i->type[1] : i->type[0];
  bool is_float =
      t == PTX_F32 || t == PTX_F64 || t == PTX_F16 || t == PTX_BF16 || t == PTX_F16X2 || t == PTX_BF16X2;
  comparison c = comparison_of(i->mods.cmp, is_float);
  op->x = i->mods.bool_op;
  op->imm = set ? true_of(i->type[0]) : 0;
  if (c.swap) {
    uint32_t a = op->a;
    op->a = op->b, op->b = a;
  }
  if (t == PTX_F16X2 || t == PTX_BF16X2) {
    op->y = c.how | (i->mods.ftz ? PAIR_FTZ : 0) | (t == PTX_BF16X2 ? PAIR_BF16 : 0) |
            (c.opposite ? PAIR_OPPOSITE : 0);
    return set ? SIM_USE(op, set_pair) : SIM_USE(op, setp_pair);
  }
  op->y = c.opposite ? OPPOSITE : 0;
  if (c.opposite && !set) {
    uint32_t d = op->d;
    op->d = op->e, op->e = d;
  }
  return is_float ? select_float(op, t, set, c.how, i->mods.ftz) : select_int(op, t, set, c.how);
}
