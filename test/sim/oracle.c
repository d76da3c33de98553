/* oracle.c: whole instructions, by the letter of the PTX ISA, and as an H200 where PTX leaves a choice.
 * Integers are oracle_int.c's, the arithmetic of floats oracle_float.c's. */
#include <math.h>
#include <string.h>

#include "oracle_parts.h"

/* ------------------------------------------------------------------ floats */

static of_mode mode_of(uint8_t word) {
  switch (word) {
  case PTX_ROUND_RZ:
  case PTX_ROUND_RZI:
    return OF_RZ;
  case PTX_ROUND_RM:
  case PTX_ROUND_RMI:
    return OF_RM;
  case PTX_ROUND_RP:
  case PTX_ROUND_RPI:
    return OF_RP;
  case PTX_ROUND_RNA:
    return OF_RNA;
  }
  return OF_RN;
}

static of_number operand(const ptx_insn *i, ptx_type t, uint64_t bits) {
  const of_format *f = of_format_of(t);
  of_number n = of_unpack(f, bits & mask((unsigned)f->width));
  return i->mods.ftz ? of_flush(f, n) : n;
}

/* Of several NaNs an H200 passes on that of the second operand, else the third's, else the first's; in a
 * division the first's. */
static of_number chosen_nan(of_number a, of_number b, of_number c, unsigned n, bool first) {
  if (first && a.class == OF_NAN)
    return a;
  if (n > 1 && b.class == OF_NAN)
    return b;
  if (n > 2 && c.class == OF_NAN)
    return c;
  return a;
}

/* Flushed are results that, rounded with any exponent, are below the normal numbers. */
static bool is_tiny(const of_format *f, of_number n, of_mode mode) {
  if (n.class != OF_FINITE)
    return false;
  int up = f->bias / 2;
  n.exp += up;
  n = of_unpack(f, of_pack(f, n, mode, false));
  n.exp -= up;
  return n.class == OF_FINITE && of_flush(f, n).class == OF_ZERO;
}

/* The result of a float instruction: rounded, flushed, saturated. */
static uint64_t finish(const ptx_insn *i, ptx_type t, of_number n, of_mode mode) {
  const of_format *f = of_format_of(t);
  if (n.class == OF_NAN && f->width == 64 && !i->mods.sat)
    return n.payload ? n.payload | UINT64_C(1) << 51 : 0xfff8000000000000;
  if (i->mods.sat && (n.class == OF_NAN || n.sign))
    return 0;
  if (i->mods.relu && n.class != OF_NAN && n.sign)
    return 0;
  uint64_t bits = of_pack(f, n, mode, i->mods.satfinite);
  if (i->mods.sat && n.class != OF_ZERO && of_compare(of_unpack(f, bits), of_from_int(1)) > 0)
    return of_pack(f, of_from_int(1), OF_RN, false);
  return i->mods.ftz && is_tiny(f, n, mode) ? bits & UINT64_C(1) << (f->width - 1) : bits;
}

static uint64_t arithmetic(const ptx_insn *i, ptx_type t, const uint64_t in[3], const ptx_type types[3]) {
  of_mode mode = mode_of(i->mods.round);
  of_number a = operand(i, types[0], in[0]), b = operand(i, types[1], in[1]), r;
  of_number x = operand(i, types[2], in[2]);
  unsigned n_operands = i->n_operands - 1u;
  switch (i->op) {
  case PTX_OP_add_float:
  case PTX_OP_add_half:
    r = of_add(a, b, mode);
    break;
  case PTX_OP_sub_float:
  case PTX_OP_sub_half:
    if (b.class != OF_NAN)
      b.sign = !b.sign;
    r = of_add(a, b, mode);
    break;
  case PTX_OP_mul_float:
  case PTX_OP_mul_half:
    r = of_mul(a, b);
    break;
  case PTX_OP_div_float:
    r = of_div(a, b);
    break;
  case PTX_OP_rcp_float:
    r = of_div(of_from_int(1), a);
    break;
  case PTX_OP_sqrt_float:
    r = of_sqrt(a);
    break;
  default:
    r = of_add(of_mul(a, b), x, mode);
  }
  if (r.class == OF_NAN) {
    of_number nan = chosen_nan(a, b, x, n_operands, i->op == PTX_OP_div_float);
    r = nan.class == OF_NAN ? nan : r;
  }
  return finish(i, t, r, mode);
}

static uint64_t minmax_float(const ptx_insn *i, ptx_type t, uint64_t a, uint64_t b, bool max) {
  const of_format *f = of_format_of(t);
  of_number x = operand(i, t, a), y = operand(i, t, b);
  bool sign = x.sign != y.sign;
  if (i->mods.xorsign)
    x.sign = y.sign = false;
  bool x_nan = x.class == OF_NAN, y_nan = y.class == OF_NAN;
  if (x_nan && y_nan && f->width == 64)
    return y.payload | UINT64_C(1) << 51;
  if ((x_nan && y_nan) || (i->mods.nan && (x_nan || y_nan)))
    return f->the_nan;
  of_number r;
  if (x_nan || y_nan) {
    r = x_nan ? y : x;
  } else {
    int order = of_compare(x, y);
    if (order == 0) /* zeros: the negative one is smaller */
      order = x.sign == y.sign ? 0 : x.sign ? -1 : 1;
    r = (order < 0) != max ? x : y;
  }
  if (i->mods.xorsign)
    r.sign = sign;
  return of_pack(f, r, OF_RN, false);
}

static uint64_t sign_op(const ptx_insn *i, ptx_type t, uint64_t a, bool neg) {
  const of_format *f = of_format_of(t);
  of_number n = operand(i, t, a);
  if (f->width == 64 && n.class == OF_NAN)
    return a | UINT64_C(1) << 51;
  n.sign = neg ? !n.sign : false;
  return of_pack(f, n, OF_RN, false);
}

/* One part of a packed instruction, or the whole of another. */
static bool float_part(const ptx_insn *i, ptx_type t, const uint64_t in[3], const ptx_type types[3],
                       uint64_t *r) {
  switch (i->op) {
  case PTX_OP_add_float:
  case PTX_OP_sub_float:
  case PTX_OP_mul_float:
  case PTX_OP_fma_float:
  case PTX_OP_mad_float:
  case PTX_OP_div_float:
  case PTX_OP_rcp_float:
  case PTX_OP_sqrt_float:
  case PTX_OP_add_half:
  case PTX_OP_sub_half:
  case PTX_OP_mul_half:
  case PTX_OP_fma_half:
    *r = arithmetic(i, t, in, types);
    if (i->mods.oob && ((in[0] & 0x7fff) == 0x7ff7 || (in[1] & 0x7fff) == 0x7ff7))
      *r = 0;
    return true;
  case PTX_OP_min_float:
  case PTX_OP_min_half:
    *r = minmax_float(i, t, in[0], in[1], false);
    return true;
  case PTX_OP_max_float:
  case PTX_OP_max_half:
    *r = minmax_float(i, t, in[0], in[1], true);
    return true;
  case PTX_OP_abs_float:
  case PTX_OP_abs_half:
    *r = sign_op(i, t, in[0], false);
    return true;
  case PTX_OP_neg_float:
  case PTX_OP_neg_half:
    *r = sign_op(i, t, in[0], true);
    return true;
  }
  return false;
}

static oracle_verdict float_op(oracle_case *c) {
  const ptx_insn *i = c->insn;
  ptx_type t = i->type[0], types[3] = {t, t, t};
  unsigned parts = ptx_type_lanes(t) > 1 ? 2 : 1, bits = ptx_type_bits(t) / parts;
  if (i->type[1] != PTX_TYPE_NONE) { /* mixed: all but the last operand are of the second type */
    types[0] = i->type[1];
    if (i->op == PTX_OP_fma_float)
      types[1] = i->type[1];
  }
  c->out[0] = 0;
  for (unsigned k = 0; k < parts; k++) {
    uint64_t in[3], r;
    for (unsigned n = 0; n < 3; n++)
      in[n] = parts == 1 ? c->in[n] : c->in[n] >> k * bits & mask(bits);
    if (!float_part(i, t, in, types, &r))
      return ORACLE_UNKNOWN;
    c->out[0] |= (r & mask(bits)) << k * bits;
  }
  return ORACLE_EXACT;
}

static oracle_verdict float_bits_op(oracle_case *c) {
  const ptx_insn *i = c->insn;
  ptx_type t = i->type[0];
  unsigned n = ptx_type_bits(t);
  of_number a = of_unpack(of_format_of(t), c->in[0] & mask(n));
  if (i->op == PTX_OP_copysign_float) {
    c->out[0] = (c->in[1] & mask(n - 1)) | (c->in[0] >> (n - 1) & 1) << (n - 1);
    return ORACLE_EXACT;
  }
  bool number = a.class != OF_NAN, finite = number && a.class != OF_INF;
  bool tiny = a.class == OF_FINITE && of_flush(of_format_of(t), a).class == OF_ZERO;
  switch (i->mods.testp) {
  case PTX_TESTP_FINITE:
    c->out[0] = finite;
    break;
  case PTX_TESTP_INFINITE:
    c->out[0] = a.class == OF_INF;
    break;
  case PTX_TESTP_NUMBER:
    c->out[0] = number;
    break;
  case PTX_TESTP_NOTANUMBER:
    c->out[0] = !number;
    break;
  case PTX_TESTP_NORMAL:
    c->out[0] = finite && !tiny;
    break;
  default:
    c->out[0] = tiny;
  }
  return ORACLE_EXACT;
}

/* ------------------------------------------------------------------ comparison, choice, bytes */

static bool compared(const ptx_insn *i, ptx_type t, uint64_t x, uint64_t y) {
  int order;
  bool nan = false;
  const of_format *f = of_format_of(t);
  if (f) {
    of_number a = operand(i, t, x), b = operand(i, t, y);
    nan = a.class == OF_NAN || b.class == OF_NAN;
    order = nan ? 0 : of_compare(a, b);
  } else {
    unsigned n = ptx_type_bits(t);
    s128 a = value(x, n, sign_type(t)), b = value(y, n, sign_type(t));
    order = a < b ? -1 : a > b;
  }
  switch (i->mods.cmp) {
  case PTX_CMP_EQ:
    return !nan && order == 0;
  case PTX_CMP_NE:
    return !nan && order != 0;
  case PTX_CMP_LT:
  case PTX_CMP_LO:
    return !nan && order < 0;
  case PTX_CMP_LE:
  case PTX_CMP_LS:
    return !nan && order <= 0;
  case PTX_CMP_GT:
  case PTX_CMP_HI:
    return !nan && order > 0;
  case PTX_CMP_GE:
  case PTX_CMP_HS:
    return !nan && order >= 0;
  case PTX_CMP_EQU:
    return nan || order == 0;
  case PTX_CMP_NEU:
    return nan || order != 0;
  case PTX_CMP_LTU:
    return nan || order < 0;
  case PTX_CMP_LEU:
    return nan || order <= 0;
  case PTX_CMP_GTU:
    return nan || order > 0;
  case PTX_CMP_GEU:
    return nan || order >= 0;
  case PTX_CMP_NUM:
    return !nan;
  }
  return nan;
}

static oracle_verdict compare_op(oracle_case *c) {
  const ptx_insn *i = c->insn;
  bool set = i->op == PTX_OP_set_int || i->op == PTX_OP_set_float || i->op == PTX_OP_set_half;
  ptx_type t = i->type[set ? 1 : 0], d = i->type[0];
  bool pair = t == PTX_F16X2 || t == PTX_BF16X2, q = c->in[2];
  bool low, high = false;
  if (pair) {
    low = compared(i, t, c->in[0] & 0xffff, c->in[1] & 0xffff);
    high = compared(i, t, c->in[0] >> 16 & 0xffff, c->in[1] >> 16 & 0xffff);
  } else {
    low = compared(i, t, c->in[0], c->in[1]);
  }
  if (!set) {
    c->out[0] = bool_op(i, low, q);
    c->out[1] = pair ? bool_op(i, high, q) : bool_op(i, !low, q);
    return ORACLE_EXACT;
  }
  low = bool_op(i, low, q), high = bool_op(i, high, q);
  const of_format *f = of_format_of(d);
  uint64_t yes = f ? of_pack(f, of_from_int(1), OF_RN, false) : mask(pair ? 16 : ptx_type_bits(d));
  c->out[0] = pair ? (low ? yes : 0) | (high ? yes << 16 : 0) : low ? yes : 0;
  return ORACLE_EXACT;
}

static oracle_verdict move_op(oracle_case *c) {
  const ptx_insn *i = c->insn;
  if (i->op == PTX_OP_selp_move) {
    c->out[0] = (c->in[2] ? c->in[0] : c->in[1]) & mask(ptx_type_bits(i->type[0]));
    return ORACLE_EXACT;
  }
  if (i->op == PTX_OP_slct_move) {
    bool first;
    if (i->type[1] == PTX_S32) {
      first = (int32_t)c->in[2] >= 0;
    } else {
      of_number x = operand(i, PTX_F32, c->in[2]);
      first = x.class != OF_NAN && (!x.sign || x.class == OF_ZERO);
    }
    c->out[0] = (first ? c->in[0] : c->in[1]) & mask(ptx_type_bits(i->type[0]));
    return ORACLE_EXACT;
  }
  uint8_t bytes[8];
  for (unsigned k = 0; k < 4; k++) {
    bytes[k] = (uint8_t)(c->in[0] >> 8 * k);
    bytes[4 + k] = (uint8_t)(c->in[1] >> 8 * k);
  }
  uint64_t r = 0;
  unsigned by = c->in[2] & 3;
  for (unsigned k = 0; k < 4; k++) {
    unsigned s;
    switch (i->mods.perm) {
    case PTX_PERM_F4E:
      s = k + by;
      break;
    case PTX_PERM_B4E:
      s = (8 + by - k) % 8;
      break;
    case PTX_PERM_RC8:
      s = by;
      break;
    case PTX_PERM_ECL:
      s = k > by ? k : by;
      break;
    case PTX_PERM_ECR:
      s = k < by ? k : by;
      break;
    case PTX_PERM_RC16:
      s = (by & 1) * 2 + k % 2;
      break;
    default:
      s = c->in[2] >> 4 * k & 15;
    }
    uint8_t byte = bytes[s & 7];
    r |= (uint64_t)(s & 8 ? (byte & 0x80 ? 0xff : 0) : byte) << 8 * k;
  }
  c->out[0] = r;
  return ORACLE_EXACT;
}

/* ------------------------------------------------------------------ conversion */

static uint64_t to_register(const oracle_case *c, ptx_type t, uint64_t bits) {
  const ptx_operand *d = &c->body->operands[c->insn->operands];
  unsigned have = ptx_type_bits((ptx_type)c->body->regs[d->index].type);
  return (uint64_t)value(bits, ptx_type_bits(t), sign_type(t)) & mask(have);
}

static uint64_t float_to_int(const ptx_insn *i, ptx_type to, ptx_type from, of_number n) {
  unsigned bits = ptx_type_bits(to);
  bool sign = sign_type(to);
  if (n.class == OF_NAN)
    return from == PTX_F64 || bits == 64 ? UINT64_C(1) << (bits - 1) : 0;
  n = of_integral(n, mode_of(i->mods.round));
  if (n.class == OF_ZERO)
    return 0;
  s128 big = (s128)1 << 70, r;
  if (n.class == OF_INF || n.exp > 60)
    r = n.sign ? -big : big;
  else
    r = n.sign ? -(s128)(n.sig << n.exp) : (s128)(n.sig << n.exp);
  if (n.class == OF_FINITE && n.exp < 0) { /* integral, but with zeros below the point */
    r = (s128)(n.sig >> -n.exp);
    r = n.sign ? -r : r;
  }
  return (uint64_t)clamp(r, bits, sign) & mask(bits);
}

/* What an H200 makes of NaNs: f64 takes payloads from the narrower types and gives them back, quiet; bf16 to
 * f32 is a shift; a conversion that changes nothing is a move. */
static uint64_t nan_converted(const ptx_insn *i, ptx_type to, ptx_type from, uint64_t a) {
  const of_format *ft = of_format_of(to), *ff = of_format_of(from);
  bool plain = !i->mods.ftz && !(i->mods.round >= PTX_ROUND_RNI && i->mods.round <= PTX_ROUND_RPI);
  if (from == to && plain && (to == PTX_F32 || to == PTX_F64))
    return a;
  if (from == PTX_BF16 && to == PTX_F32 && !i->mods.ftz)
    return a << 16;
  if ((from != PTX_F64 && to != PTX_F64) || (to == PTX_F64 && i->mods.ftz))
    return to == PTX_F64 ? 0x7fffffffe0000000 : ft->the_nan;
  uint64_t fraction = a & mask((unsigned)ff->mantissa);
  fraction = ff->mantissa > ft->mantissa ? fraction >> (ff->mantissa - ft->mantissa)
                                         : fraction << (ft->mantissa - ff->mantissa);
  uint64_t quiet = UINT64_C(1) << (ft->mantissa - 1);
  return (a >> (ff->width - 1)) << (ft->width - 1) | (ft->max + 1) | quiet | fraction;
}

static oracle_verdict cvt_op(oracle_case *c) {
  const ptx_insn *i = c->insn;
  ptx_type to = i->type[0], from = i->type[1];
  const of_format *ft = of_format_of(to), *ff = of_format_of(from);
  uint64_t a = c->in[0] & mask(ptx_type_bits(from)), r;
  of_mode mode = mode_of(i->mods.round);
  if (!ff) {
    s128 x = value(a, ptx_type_bits(from), sign_type(from));
    if (!ft) {
      r = (uint64_t)(i->mods.sat ? clamp(x, ptx_type_bits(to), sign_type(to)) : x) & mask(ptx_type_bits(to));
    } else {
      of_number n = of_from_int(x);
      r = finish(i, to, n, mode);
    }
  } else {
    of_number n = of_unpack(ff, a);
    if (i->mods.ftz && from == PTX_F32 && to != PTX_F16) /* not flushed on GPUs */
      n = of_flush(ff, n);
    if (!ft) {
      r = float_to_int(i, to, from, n);
    } else {
      bool whole = i->mods.round == PTX_ROUND_RNI || i->mods.round == PTX_ROUND_RZI ||
                   i->mods.round == PTX_ROUND_RMI || i->mods.round == PTX_ROUND_RPI;
      if (whole)
        n = of_integral(n, mode);
      ptx_insn bare = *i; /* ftz means f32 alone */
      if (to != PTX_F32)
        bare.mods.ftz = 0;
      if (n.class == OF_NAN && !i->mods.sat) {
        c->out[0] = to_register(c, to, nan_converted(i, to, from, a));
        return ORACLE_EXACT;
      }
      r = finish(&bare, to, n, whole ? OF_RN : mode);
    }
  }
  c->out[0] = to_register(c, to, r);
  return ORACLE_EXACT;
}

static uint64_t ue8m0(const ptx_insn *i, ptx_type from, uint64_t bits) {
  of_number n = of_unpack(of_format_of(from), bits);
  if (n.class == OF_NAN)
    return 255;
  if (n.class == OF_ZERO)
    return 0;
  if (n.class == OF_INF)
    return i->mods.satfinite ? 254 : 255;
  int e = n.exp;
  u128 s = n.sig;
  while (s > 1)
    s >>= 1, e++;
  bool more = (n.sig & (n.sig - 1)) != 0;
  int code = e + 127 + (more && i->mods.round == PTX_ROUND_RP);
  if (code < 0)
    code = 0;
  return code >= 255 ? (i->mods.satfinite ? 254 : 255) : (uint64_t)code;
}

static oracle_verdict cvt_packed_op(oracle_case *c) {
  const ptx_insn *i = c->insn;
  ptx_type to = i->type[0], from = i->type[1];
  of_mode mode = mode_of(i->mods.round);
  if (i->mods.round == PTX_ROUND_RS)
    return ORACLE_UNKNOWN;
  if (i->op == PTX_OP_cvt_pack) {
    unsigned bits = ptx_type_bits(to);
    bool sign = sign_type(to);
    uint64_t a = (uint64_t)clamp(value(c->in[0], 32, true), bits, sign) & mask(bits);
    uint64_t b = (uint64_t)clamp(value(c->in[1], 32, true), bits, sign) & mask(bits);
    uint64_t above = bits == 16 ? 0 : c->in[2] << 2 * bits;
    c->out[0] = (above | a << bits | b) & UINT32_MAX;
    return ORACLE_EXACT;
  }
  if (i->op == PTX_OP_cvt_tf32) {
    of_number n = of_unpack(of_format_of(PTX_F32), c->in[0] & UINT32_MAX);
    uint64_t r = finish(i, PTX_TF32, n, mode);
    uint64_t nan = mode != OF_RNA ? 0x7fffe000 : (c->in[0] & 0xffffe000) - (i->mods.satfinite ? 0x2000 : 0);
    c->out[0] = n.class != OF_NAN ? r << 13 : nan;
    return ORACLE_EXACT;
  }
  uint64_t part[2]; /* low, high */
  ptx_type each = from == PTX_F16X2 ? PTX_F16 : from == PTX_BF16X2 ? PTX_BF16 : from;
  if (from == PTX_F32) {
    part[0] = c->in[1] & UINT32_MAX;
    part[1] = c->in[0] & UINT32_MAX;
  } else {
    unsigned w = from == PTX_E2M1X2 ? 4 : from == PTX_F16X2 || from == PTX_BF16X2 ? 16 : 8;
    part[0] = c->in[0] & mask(w);
    part[1] = c->in[0] >> w & mask(w);
  }
  unsigned store = to == PTX_E2M1X2 ? 4 : to == PTX_F16X2 || to == PTX_BF16X2 ? 16 : 8;
  uint64_t r[2];
  for (unsigned k = 0; k < 2; k++) {
    if (to == PTX_UE8M0X2) {
      r[k] = ue8m0(i, each, part[k]);
    } else if (from == PTX_UE8M0X2) {
      of_number n = {.class = part[k] == 255 ? OF_NAN : OF_FINITE, .sig = 1, .exp = (int)part[k] - 127};
      r[k] = of_pack(of_format_of(PTX_BF16), n, OF_RN, false);
    } else {
      const of_format *f = of_format_of(each);
      r[k] = finish(i, to, of_unpack(f, part[k] & mask((unsigned)f->width)), mode);
    }
  }
  c->out[0] = r[0] | r[1] << store;
  return ORACLE_EXACT;
}

/* ------------------------------------------------------------------ approximations */

static long double as_real(uint64_t bits, ptx_type t) {
  of_number n = of_unpack(of_format_of(t), bits);
  switch (n.class) {
  case OF_ZERO:
    return n.sign ? -0.0L : 0.0L;
  case OF_INF:
    return n.sign ? -INFINITY : INFINITY;
  case OF_NAN:
    return NAN;
  case OF_FINITE:
    break;
  }
  long double r = ldexpl((long double)(uint64_t)n.sig, n.exp);
  return n.sign ? -r : r;
}

/* The true value, and whether zero, infinity and NaN must come with just this sign. */
static long double truth(const ptx_insn *i, ptx_type t, uint64_t a, uint64_t b) {
  if (i->op == PTX_OP_rcp_float && t == PTX_F64)
    a &= 0xffffffff00000000;
  if (i->op == PTX_OP_rsqrt_float && t == PTX_F64 && i->mods.ftz)
    a &= 0xffffffff00000000;
  const of_format *f = of_format_of(t);
  of_number x = operand(i, t, a), y = operand(i, t, b);
  long double v = as_real(of_pack(f, x, OF_RN, false), t), w = as_real(of_pack(f, y, OF_RN, false), t);
  switch (i->op) {
  case PTX_OP_rcp_float:
    return 1 / v;
  case PTX_OP_sqrt_float:
    return sqrtl(v);
  case PTX_OP_rsqrt_float:
    return 1 / sqrtl(v);
  case PTX_OP_sin_float:
    return sinl(v);
  case PTX_OP_cos_float:
    return cosl(v);
  case PTX_OP_lg2_float:
    return log2l(v);
  case PTX_OP_ex2_float:
  case PTX_OP_ex2_half:
    return exp2l(v);
  case PTX_OP_tanh_float:
  case PTX_OP_tanh_half:
    return tanhl(v);
  }
  if (!i->mods.approx || i->mods.approx == PTX_FULL || fabsl(w) <= 0x1p126L || w != w)
    return v / w;
  return v * (signbit(w) ? -0.0L : 0.0L); /* a reciprocal that is subnormal counts as none */
}

/* Half an ulp and a little, or what PTX allows where that is not promised. */
static bool within(const ptx_insn *i, ptx_type t, uint64_t a, uint64_t b, uint64_t got) {
  const of_format *f = of_format_of(t);
  long double want = truth(i, t, a, b), have = as_real(got, t);
  if (want != want)
    return t == PTX_F64 ? have != have : got == f->the_nan;
  of_number tiny = {.class = OF_FINITE, .sig = 1, .exp = 1 - f->bias};
  long double least = as_real(of_pack(f, tiny, OF_RN, false), t);
  long double most = as_real(f->max, t);
  if (i->mods.ftz && fabsl(want) < least)
    return have == 0 ? signbit(have) == signbit(want)
                     : fabsl(have) == least && fabsl(want) > least * (1 - 0x1p-20L);
  if (isinf(want) || fabsl(want) > most)
    return signbit(have) == signbit(want) && (isinf(have) || (!isinf(want) && fabsl(have) == most));
  if (want == 0)
    return have == 0 && signbit(have) == signbit(want);
  int e;
  frexpl(want, &e);
  long double ulp = ldexpl(1, e - 1 - f->mantissa), last = ldexpl(1, 1 - f->bias - f->mantissa);
  ulp = ulp < last ? last : ulp;
  bool upper = t == PTX_F64 && i->mods.ftz; /* of the upper word alone */
  long double bound = upper ? ldexpl(ulp, 32) * 0.51L : t == PTX_F64 ? ulp * 1.6L : ulp * 0.5001L;
  return fabsl(have - want) <= bound && (!upper || (got & UINT32_MAX) == 0);
}

bool oracle_within(const oracle_case *c, uint64_t got) {
  const ptx_insn *i = c->insn;
  ptx_type t = i->type[0];
  unsigned parts = ptx_type_lanes(t), bits = ptx_type_bits(t) / parts;
  for (unsigned k = 0; k < parts; k++)
    if (!within(i, t, c->in[0] >> k * bits & mask(bits), c->in[1] >> k * bits & mask(bits),
                got >> k * bits & mask(bits)))
      return false;
  return true;
}

oracle_verdict oracle_eval(oracle_case *c) {
  const ptx_insn *i = c->insn;
  c->cc_written = false;
  memset(c->out, 0, sizeof c->out);
  if (i->mods.approx)
    return ORACLE_BOUND;
  switch (i->op) {
  case PTX_OP_add_int:
  case PTX_OP_sub_int:
  case PTX_OP_mul_int:
  case PTX_OP_mad_int:
  case PTX_OP_mul24_int:
  case PTX_OP_mad24_int:
  case PTX_OP_sad_int:
  case PTX_OP_div_int:
  case PTX_OP_rem_int:
  case PTX_OP_abs_int:
  case PTX_OP_neg_int:
  case PTX_OP_min_int:
  case PTX_OP_max_int:
    return oracle_int_op(c);
  case PTX_OP_add_carry:
  case PTX_OP_addc_carry:
  case PTX_OP_sub_carry:
  case PTX_OP_subc_carry:
  case PTX_OP_mad_carry:
  case PTX_OP_madc_carry:
    return oracle_carry_op(c);
  case PTX_OP_popc_bits:
  case PTX_OP_clz_bits:
  case PTX_OP_brev_bits:
  case PTX_OP_bfind_bits:
  case PTX_OP_fns_bits:
  case PTX_OP_bfe_bits:
  case PTX_OP_bfi_bits:
  case PTX_OP_szext_bits:
  case PTX_OP_bmsk_bits:
  case PTX_OP_dp4a_bits:
  case PTX_OP_dp2a_bits:
    return oracle_bits_op(c);
  case PTX_OP_and_logic:
  case PTX_OP_or_logic:
  case PTX_OP_xor_logic:
  case PTX_OP_not_logic:
  case PTX_OP_cnot_logic:
  case PTX_OP_lop3_logic:
  case PTX_OP_shl_shift:
  case PTX_OP_shr_shift:
  case PTX_OP_shf_shift:
    return oracle_logic_op(c);
  case PTX_OP_selp_move:
  case PTX_OP_slct_move:
  case PTX_OP_prmt_move:
    return move_op(c);
  case PTX_OP_setp_int:
  case PTX_OP_setp_float:
  case PTX_OP_setp_half:
  case PTX_OP_set_int:
  case PTX_OP_set_float:
  case PTX_OP_set_half:
    return compare_op(c);
  case PTX_OP_testp_float:
  case PTX_OP_copysign_float:
    return float_bits_op(c);
  case PTX_OP_cvt_int:
  case PTX_OP_cvt_to_int:
  case PTX_OP_cvt_from_int:
  case PTX_OP_cvt_float:
    return cvt_op(c);
  case PTX_OP_cvt_tf32:
  case PTX_OP_cvt_pair:
  case PTX_OP_cvt_narrow:
  case PTX_OP_cvt_pack:
    return cvt_packed_op(c);
  case PTX_OP_vadd_video:
    return oracle_video_op(c, 0, 1);
  case PTX_OP_vsub_video:
    return oracle_video_op(c, 1, 1);
  case PTX_OP_vabsdiff_video:
    return oracle_video_op(c, 2, 1);
  case PTX_OP_vmin_video:
    return oracle_video_op(c, 3, 1);
  case PTX_OP_vmax_video:
    return oracle_video_op(c, 4, 1);
  case PTX_OP_vadd2_video:
    return oracle_video_op(c, 0, 2);
  case PTX_OP_vsub2_video:
    return oracle_video_op(c, 1, 2);
  case PTX_OP_vabsdiff2_video:
    return oracle_video_op(c, 2, 2);
  case PTX_OP_vmin2_video:
    return oracle_video_op(c, 3, 2);
  case PTX_OP_vmax2_video:
    return oracle_video_op(c, 4, 2);
  case PTX_OP_vavrg2_video:
    return oracle_video_op(c, 5, 2);
  case PTX_OP_vadd4_video:
    return oracle_video_op(c, 0, 4);
  case PTX_OP_vsub4_video:
    return oracle_video_op(c, 1, 4);
  case PTX_OP_vabsdiff4_video:
    return oracle_video_op(c, 2, 4);
  case PTX_OP_vmin4_video:
    return oracle_video_op(c, 3, 4);
  case PTX_OP_vmax4_video:
    return oracle_video_op(c, 4, 4);
  case PTX_OP_vavrg4_video:
    return oracle_video_op(c, 5, 4);
  }
  return float_op(c);
}
