/* bits.c: which bits of a result nobody wrote, given those of what an instruction reads, lane by lane. Exact
 * where a program takes words apart and puts them together (moves, logic, shifts, fields, sums of parts), so
 * that bit fields, padding and partly written vectors are no findings; elsewhere one undefined bit makes all
 * undefined. Pure functions.
 */
#include "sim/machine.h"

static uint64_t ones(unsigned n) {
  return n >= 64 ? UINT64_MAX : (UINT64_C(1) << n) - 1;
}

/* A carry or borrow comes from below. */
static uint64_t upwards(uint64_t bad) {
  return bad | (0 - bad);
}

static uint64_t lop3(const sim_bits *a, const sim_bits *b, const sim_bits *c, uint64_t table) {
  uint64_t first = 0, differs = 0;
  for (unsigned flips = 0; flips < 8; flips++) { /* every way in which the undefined bits may turn out */
    uint64_t x = a->value ^ (flips & 4 ? a->bad : 0), y = b->value ^ (flips & 2 ? b->bad : 0),
             z = c->value ^ (flips & 1 ? c->bad : 0), out = 0;
    for (unsigned k = 0; k < 8; k++)
      if (table >> k & 1)
        out |= (k & 4 ? x : ~x) & (k & 2 ? y : ~y) & (k & 1 ? z : ~z);
    first = flips ? first : out;
    differs |= out ^ first;
  }
  return differs;
}

static uint64_t shifted_right(uint64_t bad, uint64_t by, unsigned bits, bool is_signed) {
  uint64_t top = is_signed && (bad >> (bits - 1) & 1) ? UINT64_MAX : 0;
  if (by >= bits)
    return top;
  return bad >> by | (by ? top << (bits - by) : 0);
}

static uint64_t field(const sim_bits *s, unsigned bits, bool is_signed) {
  uint64_t from = s[1].value & 255, n = s[2].value & 255;
  uint64_t bad = (from < bits ? s[0].bad >> from : 0) & ones((unsigned)n);
  bool top = is_signed && n && n <= bits && (bad >> (n - 1) & 1);
  return top ? bad | ~ones((unsigned)n) : bad;
}

static uint64_t inserted(const sim_bits *s) {
  uint64_t from = s[2].value & 255, mask = from < 64 ? ones((unsigned)(s[3].value & 255)) << from : 0;
  return (s[1].bad & ~mask) | (from < 64 ? s[0].bad << from & mask : 0);
}

static uint64_t permuted(const sim_bits *s) {
  uint64_t all = s[1].bad << 32 | (s[0].bad & UINT32_MAX), bad = 0;
  for (unsigned k = 0; k < 4; k++) {
    uint64_t which = s[2].value >> 4 * k, byte = all >> (which & 7) * 8 & 255;
    bad |= (which & 8 ? byte >> 7 & 1 ? 255 : 0 : byte) << 8 * k;
  }
  return bad;
}

static uint64_t converted(const ptx_insn *i, const sim_bits *s) {
  unsigned from = ptx_type_bits((ptx_type)i->type[1]);
  uint64_t bad = s[0].bad & ones(from);
  bool top = ptx_type_base((ptx_type)i->type[1]) == PTX_BASE_SINT && (bad >> (from - 1) & 1);
  return top ? bad | ~ones(from) : bad;
}

uint64_t sim_bad_bits(const ptx_insn *i, const sim_bits s[SIM_SOURCES], unsigned bits) {
  uint64_t a = s[0].bad, b = s[1].bad, any = a | b | s[2].bad | s[3].bad | s[4].bad,
           bad = any ? UINT64_MAX : 0;
  bool is_signed = ptx_type_base((ptx_type)i->type[0]) == PTX_BASE_SINT;
  unsigned width = ptx_type_bits((ptx_type)i->type[0]);
  switch (i->op) {
  case PTX_OP_mov_move:
  case PTX_OP_cvta_addr:
    bad = a;
    break;
  case PTX_OP_and_logic:
    bad = (a & b) | (a & s[1].value) | (b & s[0].value);
    break;
  case PTX_OP_or_logic:
    bad = (a & b) | (a & ~s[1].value) | (b & ~s[0].value);
    break;
  case PTX_OP_xor_logic:
  case PTX_OP_not_logic:
    bad = a | b;
    break;
  case PTX_OP_lop3_logic:
    if (!i->mods.bool_op)
      bad = lop3(&s[0], &s[1], &s[2], s[3].value);
    break;
  case PTX_OP_shl_shift:
    if (!b)
      bad = s[1].value < width ? a << s[1].value : 0;
    break;
  case PTX_OP_shr_shift:
    if (!b)
      bad = shifted_right(a & ones(width), s[1].value & UINT32_MAX, width, is_signed);
    break;
  case PTX_OP_bfe_bits:
    if (!b && !s[2].bad)
      bad = field(s, width, is_signed);
    break;
  case PTX_OP_bfi_bits:
    if (!s[2].bad && !s[3].bad)
      bad = inserted(s);
    break;
  case PTX_OP_prmt_move:
    if (!s[2].bad && !i->mods.perm)
      bad = permuted(s);
    break;
  case PTX_OP_cvt_int:
    if (!i->mods.sat)
      bad = converted(i, s);
    break;
  case PTX_OP_add_int:
  case PTX_OP_sub_int:
  case PTX_OP_neg_int:
    if (!i->mods.sat && ptx_type_lanes((ptx_type)i->type[0]) < 2)
      bad = upwards(any);
    break;
  case PTX_OP_mul_int:
  case PTX_OP_mad_int:
    if (i->mods.part != PTX_PART_HI && !i->mods.sat)
      bad = upwards(any);
    break;
  case PTX_OP_setp_int: /* what is defined may already differ */
    if (!i->mods.bool_op && (i->mods.cmp == PTX_CMP_EQ || i->mods.cmp == PTX_CMP_NE) &&
        ((s[0].value ^ s[1].value) & ~(a | b) & ones(width)))
      bad = 0;
    break;
  case PTX_OP_selp_move: /* only the one that is taken counts */
    if (!s[2].bad)
      bad = s[2].value & 1 ? a : b;
    break;
  default:
    break;
  }
  return bad & ones(bits);
}
