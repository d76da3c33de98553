/* oracle_int.c: integers, bits and video instructions, as numbers of 128 bits that are cut at the end, or bit
 * by bit. What an H200 does where PTX leaves it open (division by zero, fields beyond 255) is said where it
 * is. */
#include "oracle_parts.h"

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

oracle_verdict oracle_int_op(oracle_case *c) {
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
    r = b ? a % b : -1;
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

oracle_verdict oracle_carry_op(oracle_case *c) {
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

oracle_verdict oracle_bits_op(oracle_case *c) {
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
    uint64_t cut =
        n == 32 ? 255 : UINT32_MAX; /* beyond 255 PTX promises nothing; GPUs differ with the width */
    uint64_t pos = b & cut, len = c->in[2] & cut, last = pos + len - 1 < n - 1 ? pos + len - 1 : n - 1;
    bool fill = sign && len ? a >> last & 1 : false;
    for (unsigned k = 0; k < n; k++)
      r |= (uint64_t)(k < len && pos + k <= n - 1 ? a >> (pos + k) & 1 : fill) << k;
    break;
  }
  case PTX_OP_bfi_bits: {
    uint64_t cut = n == 32 ? 255 : UINT32_MAX;
    uint64_t pos = c->in[2] & cut, len = c->in[3] & cut;
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

oracle_verdict oracle_logic_op(oracle_case *c) {
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

/* ------------------------------------------------------------------ video */

oracle_verdict oracle_video_op(oracle_case *c, unsigned what, unsigned lanes) {
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
