/* video.c: instructions on small lanes in a word: vadd, vsub, vabsdiff, vmin, vmax on one part of each
 * operand; the same and vavrg on all half-words or bytes.
 *
 * They are computed in 64 bits, so nothing overflows before PTX says what happens to the overflow. No GPU
 * since 2012 has them in hardware; they are rare, and one handler does them all, looking up what as it runs.
 * The parallel ones agree with an H200. Of the scalar ones that does not saturate sums of two unsigned words,
 * and compares with c what PTX would have cut to 32 bits first: there we do as PTX says.
 */
#include "sim/exec/arith.h"

enum { V_ADD, V_SUB, V_ABSDIFF, V_MIN, V_MAX, V_AVRG };
enum { SECOND_NONE, SECOND_ADD, SECOND_MIN, SECOND_MAX };

typedef struct video {
  uint8_t what, bits;          /* bits: of a lane of the parallel ones; 0: the scalar ones */
  uint8_t sign;                /* 1: of the result, 2: of a, 4: of b */
  uint8_t sat, second;         /* what is done with c */
  uint8_t part_a, part_b, pad; /* as ptx_operand.part */
} video;
_Static_assert(sizeof(video) == 8, "travels in op->imm");

static inline int64_t lane_of(uint32_t x, unsigned at, unsigned bits, bool sign) {
  uint64_t v = (uint64_t)x << (64 - at - bits);
  return sign ? (int64_t)v >> (64 - bits) : (int64_t)(v >> (64 - bits));
}
static inline int64_t part_of(uint32_t x, unsigned part, bool sign) {
  if (part == 0)
    return lane_of(x, 0, 32, sign);
  return part < 5 ? lane_of(x, 8 * (part - 1), 8, sign) : lane_of(x, 16 * (part - 5), 16, sign);
}
static inline int64_t computed(int64_t a, int64_t b, unsigned what) {
  switch (what) {
  case V_ADD:
    return a + b;
  case V_SUB:
    return a - b;
  case V_ABSDIFF:
    return a < b ? b - a : a - b;
  case V_MIN:
    return a < b ? a : b;
  case V_MAX:
    return a > b ? a : b;
  }
  return (a + b + (a + b >= 0)) >> 1;
}
static inline int64_t saturated(int64_t x, unsigned bits, bool sign) {
  int64_t most = (INT64_C(1) << (bits - sign)) - 1, least = sign ? -most - 1 : 0;
  return x > most ? most : x < least ? least : x;
}
static uint32_t scalar_video(uint32_t a, uint32_t b, uint32_t c, video v) {
  bool sign = v.sign & 1;
  int64_t x = computed(part_of(a, v.part_a, v.sign & 2), part_of(b, v.part_b, v.sign & 4), v.what);
  uint32_t r = (uint32_t)(v.sat ? saturated(x, 32, sign) : x);
  switch (v.second) {
  case SECOND_ADD:
    return r + c;
  case SECOND_MIN:
    return (sign ? (int32_t)c < (int32_t)r : c < r) ? c : r;
  case SECOND_MAX:
    return (sign ? (int32_t)c > (int32_t)r : c > r) ? c : r;
  }
  return r;
}
static uint32_t parallel_video(uint32_t a, uint32_t b, uint32_t c, video v) {
  uint32_t r = 0, sum = c;
  for (unsigned at = 0; at < 32; at += v.bits) {
    int64_t x = computed(lane_of(a, at, v.bits, v.sign & 2), lane_of(b, at, v.bits, v.sign & 4), v.what);
    if (v.sat)
      x = saturated(x, v.bits, v.sign & 1);
    sum += (uint32_t)x;
    r |= ((uint32_t)x & ((1u << v.bits) - 1)) << at;
  }
  return v.second == SECOND_ADD ? sum : r;
}
static inline video video_of(const sim_op *o) {
  video v;
  memcpy(&v, &o->imm, 8);
  return v;
}
SIM_LANES2(scalar_2, uint32_t, uint32_t, uint32_t, video v = video_of(o), SIM_NOTHING,
           scalar_video(a, b, 0, v))
SIM_LANES3(scalar_3, uint32_t, uint32_t, uint32_t, uint32_t, video v = video_of(o), SIM_NOTHING,
           scalar_video(a, b, c, v))
SIM_LANES3(parallel, uint32_t, uint32_t, uint32_t, uint32_t, video v = video_of(o), SIM_NOTHING,
           parallel_video(a, b, c, v))

// clang-format off
#define EACH_VIDEO(X) \
  X(vadd, V_ADD, 0) \
  X(vsub, V_SUB, 0) \
  X(vabsdiff, V_ABSDIFF, 0) \
  X(vmin, V_MIN, 0) \
  X(vmax, V_MAX, 0) \
  X(vadd2, V_ADD, 16) \
  X(vsub2, V_SUB, 16) \
  X(vavrg2, V_AVRG, 16) \
  X(vabsdiff2, V_ABSDIFF, 16) \
  X(vmin2, V_MIN, 16) \
  X(vmax2, V_MAX, 16) \
  X(vadd4, V_ADD, 8) \
  X(vsub4, V_SUB, 8) \
  X(vavrg4, V_AVRG, 8) \
  X(vabsdiff4, V_ABSDIFF, 8) \
  X(vmin4, V_MIN, 8) \
  X(vmax4, V_MAX, 8)
// clang-format on

sim_select SIM_LEVELED(sim_select_video);
bool SIM_LEVELED(sim_select_video)(sim_build *w, const ptx_body *body, const ptx_insn *i, sim_op *op) {
  (void)w;
  video v = {0};
  switch (i->op) {
#define ROW(name, what_, bits_) \
  case PTX_OP_##name##_video:   \
    v.what = what_;             \
    v.bits = bits_;             \
    break;
    EACH_VIDEO(ROW)
#undef ROW
  default:
    return false;
  }
  for (unsigned k = 0; k < 3; k++)
    v.sign |= (uint8_t)(ptx_type_base(i->type[k]) == PTX_BASE_SINT ? 1u << k : 0);
  v.sat = i->mods.sat != 0;
  v.second = i->mods.rop == PTX_ROP_ADD   ? SECOND_ADD
             : i->mods.rop == PTX_ROP_MIN ? SECOND_MIN
             : i->mods.rop == PTX_ROP_MAX ? SECOND_MAX
                                          : SECOND_NONE;
  v.part_a = sim_operand(body, i, 1)->part;
  v.part_b = sim_operand(body, i, 2)->part;
  memcpy(&op->imm, &v, 8);
  if (v.bits)
    return SIM_USE(op, parallel);
  return v.second ? SIM_USE(op, scalar_3) : SIM_USE(op, scalar_2);
}
