/* move.c: mov (with packing and unpacking of vectors), selp, slct, prmt.
 *
 * A mov whose source is a clock never comes here. Other special registers and addresses of symbols are places
 * like any other; where such a source is wider or narrower than the instruction, the value is cut or extended
 * with zeros.
 */
#include "sim/exec/arith.h"

SIM_HANDLER1(mov_16, uint32_t, uint32_t, a & 0xffff)
SIM_HANDLER1(mov_32, uint32_t, uint32_t, a)
SIM_HANDLER1(mov_64, uint64_t, uint64_t, a)
SIM_HANDLER1(mov_16_64, uint32_t, uint64_t, a & 0xffff)
SIM_HANDLER1(mov_32_64, uint32_t, uint64_t, a)
SIM_HANDLER1(mov_64_32, uint64_t, uint32_t, a)
typedef struct wide {
  uint64_t low, high;
} wide;
static inline void mov_128(const sim_op *o, sim_ctx *ctx, int full) {
  wide *d = sim_at(ctx, o->d);
  const wide *a = sim_at(ctx, o->a);
  for (int i = 0; i < SIM_LANES; i++)
    if (full || ctx->lane[i])
      d[i] = a[i];
}
SIM_HANDLER(mov_128, mov_128(o, ctx, full))
SIM_HANDLER(mov_pred, sim_pred_set(ctx, o->d, sim_pred(ctx, o->a), full))

/* ---- {a, b, ...} ---- */
/* o->x parts of o->y bits each; places in o->list. */
static inline uint64_t part_read(const char *p, unsigned i, unsigned bits) {
  uint64_t v = 0;
  if (bits == 64)
    memcpy(&v, p + 8 * i, 8);
  else
    memcpy(&v, p + 4 * i, 4);
  return bits < 32 ? v & ((UINT64_C(1) << bits) - 1) : v;
}
static inline void pack(const sim_op *o, sim_ctx *ctx, unsigned bytes, int full) {
  char *d = sim_at(ctx, o->d);
  for (unsigned i = 0; i < SIM_LANES; i++) {
    uint64_t v[2] = {0, 0};
    for (unsigned k = 0; k < o->x; k++) {
      unsigned at = k * o->y;
      v[at / 64] |= part_read(sim_at(ctx, o->list[k]), i, o->y) << (at & 63);
    }
    if (full || ctx->lane[i])
      memcpy(d + bytes * i, v, bytes);
  }
}
static inline void unpack(const sim_op *o, sim_ctx *ctx, unsigned bytes, int full) {
  const char *a = sim_at(ctx, o->a);
  unsigned lane_bytes = o->y == 64 ? 8 : 4;
  for (unsigned i = 0; i < SIM_LANES; i++) {
    if (!full && !ctx->lane[i])
      continue;
    uint64_t v[2] = {0, 0};
    memcpy(v, a + bytes * i, bytes);
    for (unsigned k = 0; k < o->x; k++) {
      unsigned at = k * o->y;
      uint64_t r = v[at / 64] >> (at & 63);
      r = o->y < 32 ? r & ((UINT64_C(1) << o->y) - 1) : r;
      memcpy((char *)sim_at(ctx, o->list[k]) + lane_bytes * i, &r, lane_bytes);
    }
  }
}
SIM_HANDLER(pack_4, pack(o, ctx, 4, full))
SIM_HANDLER(pack_8, pack(o, ctx, 8, full))
SIM_HANDLER(pack_16, pack(o, ctx, 16, full))
SIM_HANDLER(unpack_4, unpack(o, ctx, 4, full))
SIM_HANDLER(unpack_8, unpack(o, ctx, 8, full))
SIM_HANDLER(unpack_16, unpack(o, ctx, 16, full))
/* The usual ones as loops: two halves in a word, two words in 64 bits. Parts may share places with the whole,
 * so they are read first. */
SIM_HANDLER2(pack_2x16, uint32_t, uint32_t, uint32_t, (a & 0xffff) | b << 16)
SIM_HANDLER2(pack_2x32, uint64_t, uint32_t, uint32_t, a | (uint64_t)b << 32)
#define SPLIT(name, A, low, high)                                    \
  static inline void name(const sim_op *o, sim_ctx *ctx, int full) { \
    uint32_t *d_ = sim_at(ctx, o->d), *e_ = sim_at(ctx, o->e);       \
    const A *a_ = sim_at(ctx, o->a);                                 \
    SIM_INDEPENDENT for (int i = 0; i < SIM_LANES; i++) {            \
      A a = a_[i];                                                   \
      d_[i] = full || ctx->lane[i] ? (uint32_t)(low) : d_[i];        \
      e_[i] = full || ctx->lane[i] ? (uint32_t)(high) : e_[i];       \
    }                                                                \
  }                                                                  \
  SIM_HANDLER(name, name(o, ctx, full))
SPLIT(unpack_2x16, uint32_t, a & 0xffff, a >> 16)
SPLIT(unpack_2x32, uint64_t, a, a >> 32)

/* mov.v4: the four parts of a special register, at a, b, c and x. */
static inline void mov_v4(const sim_op *o, sim_ctx *ctx, int full) {
  const uint32_t from[4] = {o->a, o->b, o->c, o->x};
  for (unsigned k = 0; k < 4; k++) {
    const uint32_t *a = sim_at(ctx, from[k]);
    uint32_t *d = sim_at(ctx, o->list[k]);
    for (unsigned i = 0; i < SIM_LANES; i++)
      d[i] = full || ctx->lane[i] ? a[i] : d[i];
  }
}
SIM_HANDLER(mov_v4, mov_v4(o, ctx, full))

/* ---- choices ---- */
#define SELECTED(name, T)                                            \
  static inline void name(const sim_op *o, sim_ctx *ctx, int full) { \
    T *d = sim_at(ctx, o->d);                                        \
    const T *a = sim_at(ctx, o->a), *b = sim_at(ctx, o->b);          \
    uint32_t p = sim_pred(ctx, o->c);                                \
    SIM_INDEPENDENT for (unsigned i = 0; i < SIM_LANES; i++) {       \
      T r = p & UINT32_C(1) << i ? a[i] : b[i];                      \
      d[i] = full || ctx->lane[i] ? r : d[i];                        \
    }                                                                \
  }                                                                  \
  SIM_HANDLER(name, name(o, ctx, full))
SELECTED(selp_32, uint32_t)
SELECTED(selp_64, uint64_t)
/* slct takes a where c is not negative; -0 is not, NaN takes b. */
#define NOT_BELOW(x) (((x) & 0x80000000) == 0 ? (x) <= 0x7f800000 : (x) == 0x80000000)
SIM_HANDLER3(slct_32, uint32_t, uint32_t, uint32_t, int32_t, c >= 0 ? a : b)
SIM_HANDLER3(slct_64, uint64_t, uint64_t, uint64_t, int32_t, c >= 0 ? a : b)
SIM_HANDLER3(slct_float_32, uint32_t, uint32_t, uint32_t, uint32_t, NOT_BELOW(c) ? a : b)
SIM_HANDLER3(slct_float_64, uint64_t, uint64_t, uint64_t, uint32_t, NOT_BELOW(c) ? a : b)
SIM_HANDLER3(slct_ftz_32, uint32_t, uint32_t, uint32_t, uint32_t, NOT_BELOW(flush_bits(c)) ? a : b)
SIM_HANDLER3(slct_ftz_64, uint64_t, uint64_t, uint64_t, uint32_t, NOT_BELOW(flush_bits(c)) ? a : b)

/* prmt: four selectors of four bits, low to high; the fourth bit spreads the byte's sign. The named modes are
 * tables of such selectors, by the two low bits of c. */
static inline uint32_t permuted(uint32_t a, uint32_t b, uint32_t selectors) {
  uint64_t v = (uint64_t)b << 32 | a;
  uint32_t r = 0;
  for (unsigned k = 0; k < 4; k++) {
    uint32_t s = selectors >> 4 * k, byte = (uint32_t)(v >> (s & 7) * 8) & 255;
    r |= (s & 8 ? (0 - (byte >> 7)) & 255 : byte) << 8 * k;
  }
  return r;
}
static const uint16_t permutations[][4] = {
    {0x3210, 0x4321, 0x5432, 0x6543}, /* f4e: four from a place on */
    {0x5670, 0x6701, 0x7012, 0x0123}, /* b4e: the same backwards */
    {0x0000, 0x1111, 0x2222, 0x3333}, /* rc8: one byte four times */
    {0x3210, 0x3211, 0x3222, 0x3333}, /* ecl: edge clamp to the left */
    {0x0000, 0x1110, 0x2210, 0x3210}, /* ecr: edge clamp to the right */
    {0x1010, 0x3232, 0x1010, 0x3232}, /* rc16: one half-word twice */
};
SIM_HANDLER3(prmt, uint32_t, uint32_t, uint32_t, uint32_t, permuted(a, b, c))
SIM_HANDLER3(prmt_mode, uint32_t, uint32_t, uint32_t, uint32_t, permuted(a, b, permutations[o->imm][c & 3]))

static unsigned permutation_of(unsigned word) {
  switch (word) {
  case PTX_PERM_F4E:
    return 0;
  case PTX_PERM_B4E:
    return 1;
  case PTX_PERM_RC8:
    return 2;
  case PTX_PERM_ECL:
    return 3;
  case PTX_PERM_ECR:
    return 4;
  }
  return 5;
}

static unsigned sreg_bits(unsigned sreg) {
  static const uint8_t types[] = {
#define SREG(id, text, type, parts, isa, sm) PTX_##type,
#include "ptx/words.def"
  };
  return ptx_type_bits((ptx_type)types[sreg]);
}

static bool select_v4(sim_build *w, const ptx_body *body, const ptx_insn *i, sim_op *op) {
  ptx_operand part = *sim_operand(body, i, 1);
  uint32_t *const from[4] = {&op->a, &op->b, &op->c, &op->x}, n;
  for (uint8_t k = 0; k < 4; k++) {
    part.part = k;
    *from[k] = sim_place_at(w, body, &part);
  }
  op->list = sim_list(w, body, sim_operand(body, i, 0), &n);
  return SIM_USE(op, mov_v4);
}

static bool select_pack(sim_build *w, const ptx_body *body, const ptx_insn *i, sim_op *op, bool unpacks) {
  const ptx_operand *vector = sim_operand(body, i, unpacks ? 0 : 1);
  unsigned bits = ptx_type_bits(i->type[0]);
  op->list = sim_list(w, body, vector, &op->x);
  op->y = bits / op->x;
  if (op->x == 2 && (op->y == 32 || op->y == 16)) {
    if (!unpacks) {
      op->a = op->list[0], op->b = op->list[1];
      return op->y == 32 ? SIM_USE(op, pack_2x32) : SIM_USE(op, pack_2x16);
    }
    op->d = op->list[0], op->e = op->list[1];
    return op->y == 32 ? SIM_USE(op, unpack_2x32) : SIM_USE(op, unpack_2x16);
  }
  if (unpacks)
    return bits == 128 ? SIM_USE(op, unpack_16) : bits == 64 ? SIM_USE(op, unpack_8) : SIM_USE(op, unpack_4);
  return bits == 128 ? SIM_USE(op, pack_16) : bits == 64 ? SIM_USE(op, pack_8) : SIM_USE(op, pack_4);
}

static bool select_mov(sim_build *w, const ptx_body *body, const ptx_insn *i, sim_op *op) {
  const ptx_operand *to = sim_operand(body, i, 0), *from = sim_operand(body, i, 1);
  unsigned t = i->type[0], bits = ptx_type_bits(t);
  if (i->mods.vec)
    return select_v4(w, body, i, op);
  if (to->kind == PTX_VEC || from->kind == PTX_VEC)
    return select_pack(w, body, i, op, to->kind == PTX_VEC);
  if (t == PTX_PRED)
    return SIM_USE(op, mov_pred);
  bool wide = from->kind == PTX_SPECIAL ? sreg_bits(from->index) == 64 : sim_operand_bits(body, from) == 64;
  if (bits == 128)
    return SIM_USE(op, mov_128);
  if (bits == 64)
    return wide ? SIM_USE(op, mov_64) : SIM_USE(op, mov_64_32);
  if (bits == 32)
    return wide ? SIM_USE(op, mov_32_64) : SIM_USE(op, mov_32);
  return wide ? SIM_USE(op, mov_16_64) : SIM_USE(op, mov_16);
}

static bool select_slct(const ptx_insn *i, sim_op *op, bool wide) {
  if (i->type[1] == PTX_S32)
    return wide ? SIM_USE(op, slct_64) : SIM_USE(op, slct_32);
  if (i->mods.ftz)
    return wide ? SIM_USE(op, slct_ftz_64) : SIM_USE(op, slct_ftz_32);
  return wide ? SIM_USE(op, slct_float_64) : SIM_USE(op, slct_float_32);
}

sim_select SIM_LEVELED(sim_select_move);
bool SIM_LEVELED(sim_select_move)(sim_build *w, const ptx_body *body, const ptx_insn *i, sim_op *op) {
  bool wide = ptx_type_bits(i->type[0]) == 64;
  switch (i->op) {
  case PTX_OP_mov_move:
    return select_mov(w, body, i, op);
  case PTX_OP_selp_move:
    return wide ? SIM_USE(op, selp_64) : SIM_USE(op, selp_32);
  case PTX_OP_slct_move:
    return select_slct(i, op, wide);
  case PTX_OP_prmt_move:
    if (!i->mods.perm)
      return SIM_USE(op, prmt);
    op->imm = permutation_of(i->mods.perm);
    return SIM_USE(op, prmt_mode);
  }
  return false;
}
