/* cvt_narrow.c: cvt to pairs and to small formats: f16x2, bf16x2, tf32, e4m3, e5m2, e2m3, e3m2, e2m1, ue8m0,
 * and cvt.pack. Where there are two operands the first becomes the upper part.
 *
 * The forms with stochastic rounding (.rs) are left to be refused: their random bits' use is given by PTX
 * only as a picture, and there was no such GPU to ask.
 */
#include "sim/exec/arith.h"
#include "sim/exec/narrow.h"

/* ---- to pairs of halves ---- */
SIM_HANDLER2(f16x2, uint32_t, float, float, f16_of_f32(a) << 16 | f16_of_f32(b))
SIM_HANDLER2(bf16x2, uint32_t, float, float, bf16_of_f32(a) << 16 | bf16_of_f32(b))

/* What the general ways need, in op->imm. */
typedef struct target {
  uint8_t type, mode, what; /* what: FINITE, RELU */
  uint8_t bits;             /* of one part, where it is stored */
  uint32_t unused;
} target;
_Static_assert(sizeof(target) == 8, "travels in op->imm");

static inline target target_of(const sim_op *o) {
  target t;
  memcpy(&t, &o->imm, 8);
  return t;
}
static const sim_format *format_of(unsigned t) {
  switch (t) {
  case PTX_F16X2:
    return &sim_f16;
  case PTX_BF16X2:
    return &sim_bf16;
  case PTX_TF32:
    return &sim_tf32;
  case PTX_E4M3X2:
    return &sim_e4m3;
  case PTX_E5M2X2:
    return &sim_e5m2;
  case PTX_E2M3X2:
    return &sim_e2m3;
  case PTX_E3M2X2:
    return &sim_e3m2;
  }
  return &sim_e2m1;
}
static inline uint32_t narrow_one(float x, target t) {
  return (uint32_t)narrowed(number_of_f64(bits_of_f64(x)), format_of(t.type), t.mode, t.what);
}
/* ue8m0 is an exponent alone: 2^(code-127), 255 for NaN. The sign is dropped. */
static inline uint32_t ue8m0_of(float x, target t) {
  uint32_t m = bits_of_f32(x) & 0x7fffffff, e = m >> 23, rest = m & 0x7fffff;
  if (m > 0x7f800000)
    return 255;
  if (e == 255)
    return t.what & FINITE ? 254 : 255;
  if (t.mode == UP && (e == 0 ? rest > 0x400000 : rest != 0))
    e++;
  return e == 255 && t.what & FINITE ? 254 : e;
}

/* Two f32, or the halves of one register, to two parts. */
SIM_LANES2(pair_f32, uint32_t, float, float, target t = target_of(o), SIM_NOTHING,
           narrow_one(a, t) << t.bits | narrow_one(b, t))
SIM_LANES1(pair_f16x2, uint32_t, uint32_t, target t = target_of(o), SIM_NOTHING,
           narrow_one(f32_of_f16(a >> 16), t) << t.bits | narrow_one(f32_of_f16(a & 0xffff), t))
SIM_LANES2(ue8m0_f32, uint32_t, float, float, target t = target_of(o), SIM_NOTHING,
           ue8m0_of(a, t) << 8 | ue8m0_of(b, t))
SIM_LANES1(ue8m0_bf16x2, uint32_t, uint32_t, target t = target_of(o), SIM_NOTHING,
           ue8m0_of(f32_of_bf16(a >> 16), t) << 8 | ue8m0_of(f32_of_bf16(a & 0xffff), t))

/* tf32 has the range of f32 and stays in its place, with the low bits zero. A NaN is all ones there; .rna,
 * which GPUs do as integers, cuts it, and .satfinite takes one off. */
static inline uint32_t tf32_of(float a, target t) {
  uint32_t cut = (bits_of_f32(a) & 0xffffe000) - (t.what & FINITE ? 0x2000 : 0);
  uint32_t nan = t.mode == AWAY ? cut : 0x7fffe000;
  return a == a ? narrow_one(a, t) << 13 : nan;
}
SIM_LANES1(tf32, uint32_t, float, target t = target_of(o), SIM_NOTHING, tf32_of(a, t))

/* ---- from small formats: wide enough a type holds all of them ---- */
static inline uint32_t f16_of_code(uint32_t code, target t) {
  const sim_format *f = format_of(t.type);
  uint32_t m = code & ((1u << (f->width - 1)) - 1), sign = code >> (f->width - 1) & 1;
  uint32_t e = m >> f->mantissa, frac = m & ((1u << f->mantissa) - 1);
  if (f->width == 8 && (f->inf ? m > f->inf : m == f->nan))
    return NAN_F16;
  if (t.what & RELU && sign)
    return 0;
  if (f->inf && m == f->inf)
    return sign << 15 | 0x7c00;
  /* frac * 2^(exponent - mantissa), with the leading one if normal */
  float x = (float)(e ? frac | 1u << f->mantissa : frac);
  uint32_t scale = (uint32_t)(127 + (int)(e ? e : 1) - f->bias - f->mantissa);
  return f16_of_f32(x * f32_of(scale << 23)) | sign << 15;
}
SIM_LANES1(f16x2_of, uint32_t, uint32_t, target t = target_of(o), SIM_NOTHING,
           f16_of_code(a >> t.bits, t) << 16 | f16_of_code(a & ((1u << t.bits) - 1), t))
static inline uint32_t bf16_of_ue8m0(uint32_t code) {
  return code == 255 ? NAN_F16 : code == 0 ? 0x0040 : code << 7;
}
SIM_HANDLER1(bf16x2_of_ue8m0, uint32_t, uint32_t, bf16_of_ue8m0(a >> 8 & 255) << 16 | bf16_of_ue8m0(a & 255))

/* ---- cvt.pack: two s32 saturated; c moves up to make room. o->x: bits of a part, o->y: signed. ---- */
static inline uint32_t saturated(int32_t v, uint32_t bits, uint32_t sign) {
  int32_t most = (int32_t)((1u << (bits - sign)) - 1), least = sign ? -most - 1 : 0;
  return (uint32_t)(v > most ? most : v < least ? least : v) & (uint32_t)((UINT64_C(1) << bits) - 1);
}
SIM_LANES2(pack_2, uint32_t, int32_t, int32_t, SIM_NOTHING, SIM_NOTHING,
           saturated(a, o->x, o->y) << o->x | saturated(b, o->x, o->y))
SIM_LANES3(pack_3, uint32_t, int32_t, int32_t, uint32_t, SIM_NOTHING, SIM_NOTHING,
           c << 2 * o->x | saturated(a, o->x, o->y) << o->x | saturated(b, o->x, o->y))

static bool select_pack(const ptx_insn *i, sim_op *op) {
  unsigned t = i->type[0];
  op->y = ptx_type_base(t) == PTX_BASE_SINT || t == PTX_S2 || t == PTX_S4;
  op->x = ptx_type_bits(t);
  return op->x == 16 ? SIM_USE(op, pack_2) : SIM_USE(op, pack_3);
}

static bool select_narrow(const ptx_insn *i, sim_op *op, target t) {
  unsigned to = i->type[0], from = i->type[1];
  if (to == PTX_F16X2) {
    t.type = (uint8_t)from;
    t.bits = from == PTX_E2M1X2 ? 4 : 8;
    memcpy(&op->imm, &t, 8);
    return SIM_USE(op, f16x2_of);
  }
  if (to == PTX_BF16X2)
    return SIM_USE(op, bf16x2_of_ue8m0);
  t.bits = to == PTX_E2M1X2 ? 4 : 8;
  memcpy(&op->imm, &t, 8);
  if (to == PTX_UE8M0X2)
    return from == PTX_F32 ? SIM_USE(op, ue8m0_f32) : SIM_USE(op, ue8m0_bf16x2);
  return from == PTX_F32 ? SIM_USE(op, pair_f32) : SIM_USE(op, pair_f16x2);
}

sim_select SIM_LEVELED(sim_select_cvt_narrow);
bool SIM_LEVELED(sim_select_cvt_narrow)(sim_build *w, const ptx_body *body, const ptx_insn *i, sim_op *op) {
  (void)w, (void)body;
  const ptx_mods *m = &i->mods;
  target t = {.type = i->type[0],
              .mode = (uint8_t)round_mode(m->round),
              .what = (uint8_t)((m->satfinite ? FINITE : 0) | (m->relu ? RELU : 0)),
              .bits = 16};
  if (m->round == PTX_ROUND_RS)
    return false;
  switch (i->op) {
  case PTX_OP_cvt_pair:
    if (t.mode == TO_NEAREST && !t.what)
      return t.type == PTX_F16X2 ? SIM_USE(op, f16x2) : SIM_USE(op, bf16x2);
    memcpy(&op->imm, &t, 8);
    return SIM_USE(op, pair_f32);
  case PTX_OP_cvt_tf32:
    memcpy(&op->imm, &t, 8);
    return SIM_USE(op, tf32);
  case PTX_OP_cvt_narrow:
    return select_narrow(i, op, t);
  case PTX_OP_cvt_pack:
    return select_pack(i, op);
  }
  return false;
}
