/* oracle.c: whole instructions, by the letter of the PTX ISA. Integers are taken as numbers of 128 bits and
 * cut at the end; bit operations go bit by bit; floats are oracle_float.c's. */
#include <math.h>
#include <string.h>

#include "oracle.h"

static uint64_t mask(unsigned bits) {
  return bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
}
static bool sign_type(ptx_type t) {
  return ptx_type_base(t) == PTX_BASE_SINT || t == PTX_S2 || t == PTX_S4 || t == PTX_S16X2;
}
/* The number that the low `bits` of x are. */
static s128 value(uint64_t x, unsigned bits, bool sign) {
  x &= mask(bits);
  return sign && x >> (bits - 1) ? (s128)x - ((s128)1 << bits) : (s128)x;
}
static s128 clamp(s128 x, unsigned bits, bool sign) {
  s128 most = ((s128)1 << (bits - (sign ? 1 : 0))) - 1, least = sign ? -most - 1 : 0;
  return x > most ? most : x < least ? least : x;
}
/* ------------------------------------------------------------------ integers */

static uint64_t minmax_int(uint64_t a, uint64_t b, unsigned bits, bool sign, bool max, bool relu) {
  s128 x = value(a, bits, sign), y = value(b, bits, sign), r = (x < y) == max ? y : x;
  return (uint64_t)(relu && r < 0 ? 0 : r) & mask(bits);
}

static uint64_t by_parts(const oracle_case *c, unsigned bits,
                         uint64_t (*f)(const oracle_case *, uint64_t, uint64_t)) {
  uint64_t r = 0;
  for (unsigned at = 0; at < 32; at += bits)
    r |= (f(c, c->in[0] >> at & mask(bits), c->in[1] >> at & mask(bits)) & mask(bits)) << at;
  return r;
}
static uint64_t int_part(const oracle_case *c, uint64_t a, uint64_t b) {
  bool sign = c->insn->type[0] == PTX_S16X2, relu = c->insn->mods.relu;
  switch (c->insn->op) {
  case PTX_OP_add_int:
    return a + b;
  case PTX_OP_min_int:
    return minmax_int(a, b, 16, sign, false, relu);
  }
  return minmax_int(a, b, 16, sign, true, relu);
}

static oracle_verdict int_op(oracle_case *c) {
  const ptx_insn *i = c->insn;
  ptx_type t = i->type[0];
  if (t == PTX_U16X2 || t == PTX_S16X2) {
    c->out[0] = by_parts(c, 16, int_part);
    return ORACLE_EXACT;
  }
  unsigned n = ptx_type_bits(t);
  bool sign = sign_type(t), sat = i->mods.sat, wide = i->mods.part == PTX_PART_WIDE;
  s128 a = value(c->in[0], n, sign), b = value(c->in[1], n, sign), r = 0;
  s128 x = value(c->in[2], wide ? 2 * n : n, sign); /* the third operand */
  switch (i->op) {
  case PTX_OP_add_int:
    r = a + b;
    break;
  case PTX_OP_sub_int:
    r = a - b;
    break;
  case PTX_OP_mul_int:
  case PTX_OP_mad_int: {
    s128 p = i->mods.part == PTX_PART_HI && n == 64 && !sign ? (s128)((u128)a * (u128)b >> 64)
             : i->mods.part == PTX_PART_HI                   ? (a * b) >> n
                                                             : (s128)((u128)a * (u128)b);
    r = i->op == PTX_OP_mad_int ? p + x : p;
    n = wide ? 2 * n : n;
    break;
  }
  case PTX_OP_mul24_int:
  case PTX_OP_mad24_int: {
    s128 p = value(c->in[0], 24, sign) * value(c->in[1], 24, sign);
    p = i->mods.part == PTX_PART_HI ? value((uint64_t)(p >> 16), 32, sign) : p;
    r = i->op == PTX_OP_mad24_int ? p + x : p;
    break;
  }
  case PTX_OP_sad_int:
    r = (a < b ? b - a : a - b) + x;
    break;
  case PTX_OP_div_int:
    r = b ? a / b : -1;
    break;
  case PTX_OP_rem_int:
    r = b ? a % b : a;
    break;
  case PTX_OP_abs_int:
    r = a < 0 ? -a : a;
    break;
  case PTX_OP_neg_int:
    r = -a;
    break;
  case PTX_OP_min_int:
  case PTX_OP_max_int:
    c->out[0] = minmax_int(c->in[0], c->in[1], n, sign, i->op == PTX_OP_max_int, i->mods.relu);
    return ORACLE_EXACT;
  default:
    return ORACLE_UNKNOWN;
  }
  c->out[0] = (uint64_t)(sat ? clamp(r, n, sign) : r) & mask(n);
  return ORACLE_EXACT;
}

static oracle_verdict carry_op(oracle_case *c) {
  const ptx_insn *i = c->insn;
  unsigned n = ptx_type_bits(i->type[0]);
  bool sign = sign_type(i->type[0]), hi = i->mods.part == PTX_PART_HI;
  u128 a = c->in[0] & mask(n), b = c->in[1] & mask(n), x = c->in[2] & mask(n), carry = c->cc_in, r, p;
  switch (i->op) {
  case PTX_OP_add_carry:
    r = a + b;
    break;
  case PTX_OP_addc_carry:
    r = a + b + carry;
    break;
  case PTX_OP_sub_carry:
    r = a - b;
    break;
  case PTX_OP_subc_carry:
    r = a - b - carry;
    break;
  case PTX_OP_mad_carry:
  case PTX_OP_madc_carry:
    p = hi && sign ? (u128)((value(c->in[0], n, true) * value(c->in[1], n, true)) >> n)
        : hi       ? a * b >> n
                   : a * b;
    r = (p & mask(n)) + x + (i->op == PTX_OP_madc_carry ? carry : 0);
    break;
  default:
    return ORACLE_UNKNOWN;
  }
  c->out[0] = (uint64_t)r & mask(n);
  c->cc_written = i->mods.cc;
  c->cc_out = r >> n & 1;
  return ORACLE_EXACT;
}

static oracle_verdict bits_op(oracle_case *c) {
  const ptx_insn *i = c->insn;
  ptx_type t = i->type[0];
  unsigned n = ptx_type_bits(t);
  bool sign = sign_type(t), clamps = i->mods.shift == PTX_SHIFT_CLAMP;
  uint64_t a = c->in[0] & mask(n), b = c->in[1], r = 0;
  switch (i->op) {
  case PTX_OP_popc_bits:
    for (unsigned k = 0; k < n; k++)
      r += a >> k & 1;
    break;
  case PTX_OP_clz_bits:
    for (r = 0; r < n && !(a >> (n - 1 - r) & 1); r++)
      ;
    break;
  case PTX_OP_brev_bits:
    for (unsigned k = 0; k < n; k++)
      r |= (a >> k & 1) << (n - 1 - k);
    break;
  case PTX_OP_bfind_bits:
    r = UINT32_MAX;
    for (unsigned k = 0; k < n; k++)
      if ((a >> k & 1) != (sign ? a >> (n - 1) : 0))
        r = i->mods.shiftamt ? n - 1 - k : k;
    break;
  case PTX_OP_fns_bits: {
    int64_t offset = (int32_t)c->in[2], base = (uint32_t)b, step = offset > 0 ? 1 : -1;
    int64_t count = (offset < 0 ? -offset : offset) - 1;
    r = UINT32_MAX;
    if (base > 31)
      break;
    if (offset == 0) {
      r = a >> base & 1 ? (uint64_t)base : UINT32_MAX;
      break;
    }
    for (int64_t at = base; at >= 0 && at < 32; at += step)
      if (a >> at & 1) {
        if (count == 0) {
          r = (uint64_t)at;
          break;
        }
        count--;
      }
    break;
  }
  case PTX_OP_bfe_bits: {
    unsigned pos = b & 255, len = c->in[2] & 255, last = pos + len - 1 < n - 1 ? pos + len - 1 : n - 1;
    bool fill = sign && len ? a >> last & 1 : false;
    for (unsigned k = 0; k < n; k++)
      r |= (uint64_t)(k < len && pos + k <= n - 1 ? a >> (pos + k) & 1 : fill) << k;
    break;
  }
  case PTX_OP_bfi_bits: {
    unsigned pos = c->in[2] & 255, len = c->in[3] & 255;
    r = b & mask(n);
    for (unsigned k = 0; k < len && pos + k <= n - 1; k++)
      r = (r & ~(UINT64_C(1) << (pos + k))) | (a >> k & 1) << (pos + k);
    break;
  }
  case PTX_OP_szext_bits: {
    uint32_t low = (uint32_t)b & 31;
    bool large = clamps && (uint32_t)b >= 32;
    uint32_t m = large ? 0 : ~UINT32_C(0) << low;
    bool one = sign && low != 0 && !large && (a >> ((low - 1) & 31) & 1);
    r = (a & ~m) | (one ? m : 0);
    r &= UINT32_MAX;
    break;
  }
  case PTX_OP_bmsk_bits: {
    uint32_t at = (uint32_t)a, len = (uint32_t)b;
    if (!clamps)
      at &= 31, len &= 31;
    for (uint64_t k = at; k < (uint64_t)at + len && k < 32; k++)
      r |= UINT64_C(1) << k;
    break;
  }
  case PTX_OP_dp4a_bits:
  case PTX_OP_dp2a_bits: {
    bool sa = sign, sb = sign_type(i->type[1]), four = i->op == PTX_OP_dp4a_bits;
    s128 sum = value(c->in[2], 32, sa || sb);
    for (unsigned k = 0; k < (four ? 4u : 2u); k++) {
      unsigned at = four ? 8 * k : 8 * k + (i->mods.part == PTX_PART_HI ? 16 : 0);
      sum += value(c->in[0] >> (four ? 8 * k : 16 * k), four ? 8 : 16, sa) * value(b >> at, 8, sb);
    }
    r = (uint64_t)sum & UINT32_MAX;
    break;
  }
  default:
    return ORACLE_UNKNOWN;
  }
  c->out[0] = r;
  return ORACLE_EXACT;
}

static bool bool_op(const ptx_insn *i, bool r, bool q) {
  switch (i->mods.bool_op) {
  case PTX_BOOL_AND:
    return r && q;
  case PTX_BOOL_OR:
    return r || q;
  case PTX_BOOL_XOR:
    return r != q;
  }
  return r;
}

static oracle_verdict logic_op(oracle_case *c) {
  const ptx_insn *i = c->insn;
  unsigned n = ptx_type_bits(i->type[0]);
  uint64_t a = c->in[0], b = c->in[1], r = 0;
  uint32_t by = (uint32_t)b;
  switch (i->op) {
  case PTX_OP_and_logic:
    r = a & b;
    break;
  case PTX_OP_or_logic:
    r = a | b;
    break;
  case PTX_OP_xor_logic:
    r = a ^ b;
    break;
  case PTX_OP_not_logic:
    r = ~a;
    break;
  case PTX_OP_cnot_logic:
    r = (a & mask(n)) == 0;
    break;
  case PTX_OP_lop3_logic:
    for (unsigned k = 0; k < 32; k++)
      r |= (c->in[3] >> ((a >> k & 1) << 2 | (b >> k & 1) << 1 | (c->in[2] >> k & 1)) & 1) << k;
    if (i->mods.bool_op)
      c->out[1] = bool_op(i, r != 0, c->in[4]);
    break;
  case PTX_OP_shl_shift:
    r = by >= n ? 0 : a << by;
    break;
  case PTX_OP_shr_shift:
    for (unsigned k = 0; k < n; k++) {
      uint64_t from = (uint64_t)k + by;
      bool sign = sign_type(i->type[0]) && (a >> (n - 1) & 1);
      r |= (uint64_t)(from < n ? a >> from & 1 : sign) << k;
    }
    break;
  case PTX_OP_shf_shift: {
    uint32_t s = (uint32_t)c->in[2];
    s = i->mods.shift == PTX_SHIFT_WRAP ? s % 32 : s > 32 ? 32 : s;
    u128 both = (u128)(b & UINT32_MAX) << 32 | (a & UINT32_MAX);
    r = (uint64_t)(i->mods.dir == PTX_DIR_LEFT ? both << s >> 32 : both >> s);
    break;
  }
  default:
    return ORACLE_UNKNOWN;
  }
  c->out[0] = r & mask(n);
  return ORACLE_EXACT;
}

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
  if (i->mods.ftz)
    return of_pack(f, of_flush(f, of_unpack(f, bits)), OF_RN, false);
  return bits;
}

static uint64_t arithmetic(const ptx_insn *i, ptx_type t, const uint64_t in[3], const ptx_type types[3]) {
  of_mode mode = mode_of(i->mods.round);
  of_number a = operand(i, types[0], in[0]), b = operand(i, types[1], in[1]), r;
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
  default: {
    of_number p = of_mul(a, b), x = operand(i, types[2], in[2]);
    r = p.class == OF_NAN && p.payload == 0 && x.class == OF_NAN ? x : of_add(p, x, mode);
  }
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
  if (f->width == 64)
    return neg ? a ^ UINT64_C(1) << 63 : a & ~(UINT64_C(1) << 63);
  of_number n = operand(i, t, a);
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
    if (i->mods.oob && ((in[0] & 0xffff) == 0xffff || (in[1] & 0xffff) == 0xffff))
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
    if (i->mods.ftz && from == PTX_F32)
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
      if (n.class == OF_NAN &&
          to == PTX_F64) { /* a payload of f32 moves to the top of f64's; others are lost */
        n.payload = from == PTX_F64   ? n.payload
                    : from == PTX_F32 ? (a >> 31) << 63 | UINT64_C(0x7ff) << 52 | (a & 0x7fffff) << 29
                                      : 0x7fffffffe0000000;
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
    c->out[0] = n.class == OF_NAN ? 0x7fffffff : r << 13;
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

/* ------------------------------------------------------------------ video */

static oracle_verdict video_op(oracle_case *c, unsigned what, unsigned lanes) {
  const ptx_insn *i = c->insn;
  bool sd = sign_type(i->type[0]), sa = sign_type(i->type[1]), sb = sign_type(i->type[2]);
  unsigned bits = 32 / lanes;
  uint64_t r = 0, x = c->in[2] & UINT32_MAX, sum = x;
  for (unsigned k = 0; k < lanes; k++) {
    s128 a = value(c->in[0] >> k * bits, bits, sa), b = value(c->in[1] >> k * bits, bits, sb), t;
    if (lanes == 1) {
      const ptx_operand *o = &c->body->operands[i->operands + 1];
      for (unsigned m = 0; m < 2; m++) {
        unsigned p = o[m].part,
                 at = p == 0  ? 0
                      : p < 5 ? 8 * (p - 1)
                              : 16 * (p - 5),
                 n = p == 0  ? 32
                     : p < 5 ? 8
                             : 16;
        *(m ? &b : &a) = value(c->in[m] >> at, n, m ? sb : sa);
      }
    }
    switch (what) {
    case 0:
      t = a + b;
      break;
    case 1:
      t = a - b;
      break;
    case 2:
      t = a > b ? a - b : b - a;
      break;
    case 3:
      t = a < b ? a : b;
      break;
    case 4:
      t = a < b ? b : a;
      break;
    default: /* half up, away from zero only upwards */
      t = a + b;
      t = t >= 0 ? (t + 1) / 2 : -((-t + 1) / 2);
    }
    if (i->mods.sat)
      t = clamp(t, bits, sd);
    sum += (uint64_t)t;
    r |= ((uint64_t)t & mask(bits)) << k * bits;
  }
  if (lanes > 1) {
    c->out[0] = (i->mods.rop ? sum : r) & UINT32_MAX;
    return ORACLE_EXACT;
  }
  s128 d = value(r, 32, sd), y = value(x, 32, sd);
  d = i->mods.rop == PTX_ROP_ADD   ? d + y
      : i->mods.rop == PTX_ROP_MIN ? (d < y ? d : y)
      : i->mods.rop == PTX_ROP_MAX ? (d > y ? d : y)
                                   : d;
  c->out[0] = (uint64_t)d & UINT32_MAX;
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
    return int_op(c);
  case PTX_OP_add_carry:
  case PTX_OP_addc_carry:
  case PTX_OP_sub_carry:
  case PTX_OP_subc_carry:
  case PTX_OP_mad_carry:
  case PTX_OP_madc_carry:
    return carry_op(c);
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
    return bits_op(c);
  case PTX_OP_and_logic:
  case PTX_OP_or_logic:
  case PTX_OP_xor_logic:
  case PTX_OP_not_logic:
  case PTX_OP_cnot_logic:
  case PTX_OP_lop3_logic:
  case PTX_OP_shl_shift:
  case PTX_OP_shr_shift:
  case PTX_OP_shf_shift:
    return logic_op(c);
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
    return video_op(c, 0, 1);
  case PTX_OP_vsub_video:
    return video_op(c, 1, 1);
  case PTX_OP_vabsdiff_video:
    return video_op(c, 2, 1);
  case PTX_OP_vmin_video:
    return video_op(c, 3, 1);
  case PTX_OP_vmax_video:
    return video_op(c, 4, 1);
  case PTX_OP_vadd2_video:
    return video_op(c, 0, 2);
  case PTX_OP_vsub2_video:
    return video_op(c, 1, 2);
  case PTX_OP_vabsdiff2_video:
    return video_op(c, 2, 2);
  case PTX_OP_vmin2_video:
    return video_op(c, 3, 2);
  case PTX_OP_vmax2_video:
    return video_op(c, 4, 2);
  case PTX_OP_vavrg2_video:
    return video_op(c, 5, 2);
  case PTX_OP_vadd4_video:
    return video_op(c, 0, 4);
  case PTX_OP_vsub4_video:
    return video_op(c, 1, 4);
  case PTX_OP_vabsdiff4_video:
    return video_op(c, 2, 4);
  case PTX_OP_vmin4_video:
    return video_op(c, 3, 4);
  case PTX_OP_vmax4_video:
    return video_op(c, 4, 4);
  case PTX_OP_vavrg4_video:
    return video_op(c, 5, 4);
  }
  return float_op(c);
}
