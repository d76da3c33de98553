// warp.cuh: cooperation of the lanes of a warp: tiles, votes, shuffles, reductions, scans, aggregated
// atomics.
//
// A tile is a set of lanes of one warp: all of them, 2 to 16 neighbours, or whoever is here. Every function
// below takes one, and every lane of it has to call, together.
//
//   mu_tile_warp()        the lanes of my warp; the last warp of a block may have fewer than 32
//   mu_tile_of(size)      aligned neighbours, size 1, 2, 4, 8, 16 or 32; cut off at the block's end
//   mu_tile_here()        the lanes that execute this now; needs no agreement, promises no particular set
//   mu_tile_mask(mask)    these lanes
//
//   mu_tile_sync(t)       memory: what a lane wrote before is seen by the others after
//   mu_tile_<any|all|ballot|count>(t, predicate)        votes; a ballot is a lane mask
//   mu_tile_match_<u32|u64>(t, value)                   which lanes of the tile have my value, as a mask
//   mu_tile_shuffle_<elem>(t, value, rank)              that of the lane with this rank (modulo the size)
//   mu_tile_broadcast_<elem>(t, value, rank)            the same, rank being the same for all
//   mu_tile_shuffle_xor_<elem>(t, value, bits)          of rank ^ bits; own value where there is none
//   mu_tile_shuffle_<up|down>_<elem>(t, value, delta)   of rank - delta, + delta; own where there is none
//   mu_tile_reduce_<op>_<elem>(t, value)                in every lane; the same bits in every lane and run
//   mu_tile_scan_incl_<op>_<elem>(t, value)             over ranks 0 to mine
//   mu_tile_scan_excl_<op>_<elem>(t, value, first)      of `first` and ranks 0 to mine - 1
//
// op: add mul min max, for integers also and or xor. elem: all of types.h but b128. Atomics of many lanes as
// one (mu_aggregate_...) are at the end.
//
// Callers     all lanes of the tile, converged or not; from 7.0 on the instruction brings them together.
// Before 7.0  the lanes of a tile must not have diverged.
// Order       mu_tile_sync orders memory among the tile's lanes (block scope); shuffles, votes and matches do
//             not.
// Undefined   if lanes name different tiles, or a lane of the tile never comes.
// Cost        a shuffle of 32 bits 23 cycles on an H200; a reduction log2(size) of them, one instruction for
//             32-bit integers from 8.0 on.
// Checked     warp-mask, shuffle-source, race-warp
#ifndef MUSTER_WARP_CUH
#define MUSTER_WARP_CUH

#include "atomic.cuh"

#if MU_DEVICE

// A tile as this lane sees it: for reading; the functions below make one.
typedef struct {
  mu_u32 mask; // lanes of the warp
  mu_u32 rank; // mine among them
  mu_u32 size;
  mu_u32 base; // lane of rank 0, where the lanes are neighbours; else 32
} mu_tile;

// How many bits are set.
MU_FN mu_u32 mu_count_bits(mu_u32 bits) {
  mu_u32 count;
  MU_ASM("popc.b32 %0, %1;" : "=r"(count) : "r"(bits));
  return count;
}
// Number of the lowest bit set; undefined for 0.
MU_FN mu_u32 mu_lowest_bit(mu_u32 bits) {
  mu_u32 turned, zeros;
  MU_ASM("brev.b32 %0, %1;" : "=r"(turned) : "r"(bits));
  MU_ASM("clz.b32 %0, %1;" : "=r"(zeros) : "r"(turned));
  return zeros;
}
// Number of the bit that has `below` set bits below it: halves the mask five times.
MU_FN mu_u32 mu_nth_bit(mu_u32 bits, mu_u32 below) {
  mu_u32 at = 0;
  for (mu_u32 width = 16; width; width /= 2) {
    mu_u32 low = mu_count_bits(bits >> at & ((1u << width) - 1));
    if (below >= low) {
      below -= low;
      at += width;
    }
  }
  return at;
}

MU_FN mu_tile mu_tile_mask(mu_u32 mask) {
  mu_tile t;
  mu_u32 low = mask & (0 - mask);
  t.mask = mask;
  t.rank = mu_count_bits(mask & mu_lanes_below());
  t.size = mu_count_bits(mask);
  t.base =
      ((mask + low) & mask) == 0 ? mu_lowest_bit(mask) : 32; // one run of bits: adding its lowest clears it
  return t;
}
MU_FN mu_tile mu_tile_of(mu_u32 size) {
  mu_u32 base = mu_lane() & ~(size - 1), warp_start = mu_thread() & ~31u,
         end = mu_block_threads() - warp_start;
  mu_u32 lanes = size == 32 ? 0xffffffffu : ((1u << size) - 1) << base;
  return mu_tile_mask(end < 32 ? lanes & ((1u << end) - 1) : lanes);
}
MU_FN mu_tile mu_tile_warp(void) {
  return mu_tile_of(32);
}
MU_FN mu_tile mu_tile_here(void) {
  mu_u32 mask;
  MU_ASM volatile("activemask.b32 %0;" : "=r"(mask)::"memory");
  return mu_tile_mask(mask);
}
// The lane of the warp that has this rank in the tile.
MU_FN mu_u32 mu_tile_lane(const mu_tile *t, mu_u32 rank) {
  return t->base < 32 ? t->base + rank : mu_nth_bit(t->mask, rank);
}
// Whether I am the one lane of the tile that does what is to be done once: the lowest.
MU_FN mu_u32 mu_tile_leads(const mu_tile *t) {
  return t->rank == 0;
}

MU_FN void mu_tile_sync(const mu_tile *t) {
  MU_ASM volatile("bar.warp.sync %0;" ::"r"(t->mask) : "memory");
}
MU_FN mu_u32 mu_tile_ballot(const mu_tile *t, mu_u32 predicate) {
  mu_u32 result;
  MU_ASM volatile(
      "{.reg .pred p; setp.ne.u32 p, %1, 0; vote.sync.ballot.b32 %0, p, %2;}" : "=r"(result) : "r"(predicate),
      "r"(t->mask) : "memory");
  return result;
}
MU_FN mu_u32 mu_tile_any(const mu_tile *t, mu_u32 predicate) {
  return mu_tile_ballot(t, predicate) != 0;
}
MU_FN mu_u32 mu_tile_all(const mu_tile *t, mu_u32 predicate) {
  return mu_tile_ballot(t, !predicate) == 0;
}
MU_FN mu_u32 mu_tile_count(const mu_tile *t, mu_u32 predicate) {
  return mu_count_bits(mu_tile_ballot(t, predicate));
}

// The value that `lane` of the warp has, among the lanes of `mask`; all other shuffles are made of this.
MU_FN mu_u32 mu_lane_shuffle_u32(mu_u32 mask, mu_u32 value, mu_u32 lane) {
  mu_u32 result;
  MU_ASM volatile("shfl.sync.idx.b32 %0, %1, %2, 31, %3;" : "=r"(result) : "r"(value), "r"(lane),
                  "r"(mask) : "memory");
  return result;
}
MU_FN mu_u64 mu_lane_shuffle_u64(mu_u32 mask, mu_u64 value, mu_u32 lane) {
  mu_u32 low = mu_lane_shuffle_u32(mask, (mu_u32)value, lane);
  return (mu_u64)mu_lane_shuffle_u32(mask, (mu_u32)(value >> 32), lane) << 32 | low;
}

// match: an instruction from 7.0 on; before that one ballot for each value that occurs.
#if MU_HAS_MATCH
#define MU_MATCH(elem, letter, bits)                                                      \
  MU_FN mu_u32 mu_tile_match_##elem(const mu_tile *t, mu_##elem value) {                  \
    mu_u32 result;                                                                        \
    MU_ASM volatile("match.any.sync." bits " %0, %1, %2;" : "=r"(result) : letter(value), \
                    "r"(t->mask) : "memory");                                             \
    return result;                                                                        \
  }
MU_MATCH(u32, "r", "b32")
MU_MATCH(u64, "l", "b64")
#else
#define MU_MATCH(elem)                                                                \
  MU_FN mu_u32 mu_tile_match_##elem(const mu_tile *t, mu_##elem value) {              \
    mu_u32 left = t->mask, mine = 0;                                                  \
    while (left) {                                                                    \
      mu_##elem theirs = mu_lane_shuffle_##elem(t->mask, value, mu_lowest_bit(left)); \
      mu_u32 same = mu_tile_ballot(t, theirs == value);                               \
      mine = theirs == value ? same : mine;                                           \
      left &= ~same;                                                                  \
    }                                                                                 \
    return mine;                                                                      \
  }
MU_MATCH(u32)
MU_MATCH(u64)
#endif

// How an element travels: as 32 or 64 bits.
#define MU_PACK_u8(x) ((mu_u32)(x))
#define MU_PACK_s8(x) ((mu_u32)(x))
#define MU_PACK_u16(x) ((mu_u32)(x))
#define MU_PACK_s16(x) ((mu_u32)(x))
#define MU_PACK_u32(x) (x)
#define MU_PACK_s32(x) ((mu_u32)(x))
#define MU_PACK_u64(x) (x)
#define MU_PACK_s64(x) ((mu_u64)(x))
#define MU_PACK_f16(x) ((mu_u32)(x).bits)
#define MU_PACK_bf16(x) ((mu_u32)(x).bits)
#define MU_PACK_f16x2(x) ((x).bits)
#define MU_PACK_bf16x2(x) ((x).bits)
#define MU_PACK_f32(x) mu_bits_of_f32(x)
#define MU_PACK_f64(x) mu_bits_of_f64(x)
#define MU_UNPACK_u8(x) ((mu_u8)(x))
#define MU_UNPACK_s8(x) ((mu_s8)(x))
#define MU_UNPACK_u16(x) ((mu_u16)(x))
#define MU_UNPACK_s16(x) ((mu_s16)(x))
#define MU_UNPACK_u32(x) (x)
#define MU_UNPACK_s32(x) ((mu_s32)(x))
#define MU_UNPACK_u64(x) (x)
#define MU_UNPACK_s64(x) ((mu_s64)(x))
#define MU_UNPACK_f16(x) mu_f16_of_bits((mu_u16)(x))
#define MU_UNPACK_bf16(x) mu_bf16_of_bits((mu_u16)(x))
#define MU_UNPACK_f16x2(x) mu_f16x2_of_bits(x)
#define MU_UNPACK_bf16x2(x) mu_bf16x2_of_bits(x)
#define MU_UNPACK_f32(x) mu_f32_of_bits(x)
#define MU_UNPACK_f64(x) mu_f64_of_bits(x)

#define MU_SHUFFLES(elem, carrier)                                                                       \
  MU_OWN mu_##elem mu_tile_shuffle_from_##elem(const mu_tile *t, mu_##elem value, mu_u32 rank) {         \
    return MU_UNPACK_##elem(                                                                             \
        mu_lane_shuffle_##carrier(t->mask, MU_PACK_##elem(value), mu_tile_lane(t, rank)));               \
  }                                                                                                      \
  MU_OWN mu_##elem mu_warp_shuffle_##elem(mu_##elem value, mu_u32 lane) { /* modulo 32 */                \
    return MU_UNPACK_##elem(mu_lane_shuffle_##carrier(0xffffffffu, MU_PACK_##elem(value), lane));        \
  }                                                                                                      \
  MU_FN mu_##elem mu_tile_shuffle_##elem(const mu_tile *t, mu_##elem value, mu_u32 rank) {               \
    return mu_tile_shuffle_from_##elem(t, value, rank < t->size ? rank : rank % t->size);                \
  }                                                                                                      \
  MU_FN mu_##elem mu_tile_shuffle_xor_##elem(const mu_tile *t, mu_##elem value, mu_u32 bits) {           \
    mu_u32 rank = t->rank ^ bits;                                                                        \
    return mu_tile_shuffle_from_##elem(t, value, rank < t->size ? rank : t->rank);                       \
  }                                                                                                      \
  MU_FN mu_##elem mu_tile_shuffle_up_##elem(const mu_tile *t, mu_##elem value, mu_u32 delta) {           \
    return mu_tile_shuffle_from_##elem(t, value, t->rank >= delta ? t->rank - delta : t->rank);          \
  }                                                                                                      \
  MU_FN mu_##elem mu_tile_shuffle_down_##elem(const mu_tile *t, mu_##elem value, mu_u32 delta) {         \
    return mu_tile_shuffle_from_##elem(t, value, delta < t->size - t->rank ? t->rank + delta : t->rank); \
  }                                                                                                      \
  MU_FN mu_##elem mu_tile_broadcast_##elem(const mu_tile *t, mu_##elem value, mu_u32 rank) {             \
    return mu_tile_shuffle_##elem(t, value, rank);                                                       \
  }
MU_SHUFFLES(u8, u32)
MU_SHUFFLES(s8, u32)
MU_SHUFFLES(u16, u32)
MU_SHUFFLES(s16, u32)
MU_SHUFFLES(u32, u32)
MU_SHUFFLES(s32, u32)
MU_SHUFFLES(u64, u64)
MU_SHUFFLES(s64, u64)
MU_SHUFFLES(f16, u32)
MU_SHUFFLES(bf16, u32)
MU_SHUFFLES(f16x2, u32)
MU_SHUFFLES(bf16x2, u32)
MU_SHUFFLES(f32, u32)
MU_SHUFFLES(f64, u64)

// Reductions go up a tree of ranks (of rank r and r + 1, 2, 4, ...) and back by one broadcast: the order does
// not depend on which lanes make up the tile, and any size will do, also one that leaves lanes out. A whole
// warp takes the same steps without a search for lanes; what its upper lanes add up nobody uses.
#define MU_TREE(op, elem)                                                                    \
  MU_OWN mu_##elem mu_tile_tree_##op##_##elem(const mu_tile *t, mu_##elem value) {           \
    if (t->size == 32) {                                                                     \
      for (mu_u32 step = 1; step < 32; step *= 2)                                            \
        value = mu_pure_##op##_##elem(value, mu_warp_shuffle_##elem(value, t->rank + step)); \
      return mu_warp_shuffle_##elem(value, 0);                                               \
    }                                                                                        \
    for (mu_u32 step = 1; step < t->size; step *= 2) {                                       \
      mu_u32 from = t->rank + step, has = from < t->size;                                    \
      mu_##elem other = mu_tile_shuffle_from_##elem(t, value, has ? from : t->rank);         \
      if (has)                                                                               \
        value = mu_pure_##op##_##elem(value, other);                                         \
    }                                                                                        \
    return mu_tile_shuffle_from_##elem(t, value, 0);                                         \
  }
#define MU_REDUCE_BY_TREE(op, elem)                                                 \
  MU_FN mu_##elem mu_tile_reduce_##op##_##elem(const mu_tile *t, mu_##elem value) { \
    return mu_tile_tree_##op##_##elem(t, value);                                    \
  }
#if MU_HAS_REDUX
#define MU_REDUCE_BY_REDUX(op, elem, ptx)                                                                   \
  MU_FN mu_##elem mu_tile_reduce_##op##_##elem(const mu_tile *t, mu_##elem value) {                         \
    mu_##elem result;                                                                                       \
    MU_ASM volatile("redux.sync." ptx " %0, %1, %2;" : "=r"(result) : "r"(value), "r"(t->mask) : "memory"); \
    return result;                                                                                          \
  }
#else
#define MU_REDUCE_BY_REDUX(op, elem, ptx) MU_REDUCE_BY_TREE(op, elem)
#endif
#define MU_SCANS(op, elem)                                                                              \
  MU_FN mu_##elem mu_tile_scan_incl_##op##_##elem(const mu_tile *t, mu_##elem value) {                  \
    for (mu_u32 step = 1; step < t->size; step *= 2) {                                                  \
      mu_##elem other = mu_tile_shuffle_up_##elem(t, value, step);                                      \
      if (t->rank >= step)                                                                              \
        value = mu_pure_##op##_##elem(other, value);                                                    \
    }                                                                                                   \
    return value;                                                                                       \
  }                                                                                                     \
  MU_FN mu_##elem mu_tile_scan_excl_##op##_##elem(const mu_tile *t, mu_##elem value, mu_##elem first) { \
    mu_##elem before = mu_tile_shuffle_up_##elem(t, mu_tile_scan_incl_##op##_##elem(t, value), 1);      \
    return t->rank ? mu_pure_##op##_##elem(first, before) : first;                                      \
  }
#define MU_WARP_OP(op, elem) MU_TREE(op, elem) MU_REDUCE_BY_TREE(op, elem) MU_SCANS(op, elem)
#define MU_WARP_REDUX(op, elem, ptx) MU_TREE(op, elem) MU_REDUCE_BY_REDUX(op, elem, ptx) MU_SCANS(op, elem)
#define MU_WARP_ARITHMETIC(elem) \
  MU_WARP_OP(add, elem) MU_WARP_OP(mul, elem) MU_WARP_OP(min, elem) MU_WARP_OP(max, elem)
#define MU_WARP_LOGIC(elem) MU_WARP_OP(and, elem) MU_WARP_OP(or, elem) MU_WARP_OP(xor, elem)
MU_WARP_ARITHMETIC(u8)
MU_WARP_ARITHMETIC(s8)
MU_WARP_ARITHMETIC(u16)
MU_WARP_ARITHMETIC(s16)
MU_WARP_ARITHMETIC(u64)
MU_WARP_ARITHMETIC(s64)
MU_WARP_ARITHMETIC(f16)
MU_WARP_ARITHMETIC(bf16)
MU_WARP_ARITHMETIC(f32)
MU_WARP_ARITHMETIC(f64)
MU_WARP_OP(add, f16x2)
MU_WARP_OP(add, bf16x2)
MU_WARP_LOGIC(u8)
MU_WARP_LOGIC(u16)
MU_WARP_LOGIC(u64)
MU_WARP_REDUX(add, u32, "add.u32")
MU_WARP_REDUX(min, u32, "min.u32")
MU_WARP_REDUX(max, u32, "max.u32")
MU_WARP_REDUX(and, u32, "and.b32")
MU_WARP_REDUX(or, u32, "or.b32")
MU_WARP_REDUX(xor, u32, "xor.b32")
MU_WARP_REDUX(add, s32, "add.s32")
MU_WARP_REDUX(min, s32, "min.s32")
MU_WARP_REDUX(max, s32, "max.s32")
MU_WARP_OP(mul, u32)
MU_WARP_OP(mul, s32)

// Atomics of many lanes as one, relaxed. The lanes that are here now take part; nobody has to agree on
// anything.
//
//   mu_aggregate_red_add_<scope>_<elem>(address, value)       one address for all lanes
//   mu_aggregate_add_<scope>_<elem>(address, value)           the same; returns what each lane would have got
//                                                             had they added one by one, in lane order
//   mu_aggregate_each_red_add_<scope>_<elem>(address, value)  an address a lane: one atomic for each that
//                                                             occurs
//
// elem: u32 s32 u64 s64, and for the first and the last f32 f64.
// Cost        one atomic instead of 32 and some 10 shuffles (each: up to 5 more). Compilers do the first form
//             themselves for 32-bit integers, not for others, and never the last (research: bench/README.md).
#define MU_AGGREGATE_RED(scope, elem)                                                                       \
  MU_FN void mu_aggregate_red_add_##scope##_##elem(mu_##elem *address, mu_##elem value) {                   \
    mu_tile here = mu_tile_here();                                                                          \
    value = mu_tile_reduce_add_##elem(&here, value);                                                        \
    if (mu_tile_leads(&here))                                                                               \
      mu_red_add_relaxed_##scope##_##elem(address, value);                                                  \
  }                                                                                                         \
  MU_FN void mu_aggregate_each_red_add_##scope##_##elem(mu_##elem *address, mu_##elem value) {              \
    mu_tile here = mu_tile_here();                                                                          \
    mu_u32 peers = mu_tile_match_u64(&here, (mu_u64)address),                                               \
           rank = mu_count_bits(peers & mu_lanes_below());                                                  \
    mu_u32 lead = rank == 0, above = peers & ~mu_lanes_below() & ~(1u << mu_lane());                        \
    /* of each address the lanes of odd rank hand their sums down and are out; the even ones close ranks */ \
    while (mu_tile_any(&here, above)) {                                                                     \
      mu_u32 next = above ? mu_lowest_bit(above) : mu_lane();                                               \
      mu_##elem other = MU_LANE_SHUFFLE_##elem(here.mask, value, next);                                     \
      if (above && rank % 2 == 0)                                                                           \
        value = mu_pure_add_##elem(value, other);                                                           \
      above &= mu_tile_ballot(&here, rank % 2 == 0);                                                        \
      above = rank % 2 ? 0 : above;                                                                         \
      rank /= 2;                                                                                            \
    }                                                                                                       \
    if (lead)                                                                                               \
      mu_red_add_relaxed_##scope##_##elem(address, value);                                                  \
  }
#define MU_LANE_SHUFFLE_u32(mask, value, lane) mu_lane_shuffle_u32(mask, value, lane)
#define MU_LANE_SHUFFLE_s32(mask, value, lane) ((mu_s32)mu_lane_shuffle_u32(mask, (mu_u32)(value), lane))
#define MU_LANE_SHUFFLE_u64(mask, value, lane) mu_lane_shuffle_u64(mask, value, lane)
#define MU_LANE_SHUFFLE_s64(mask, value, lane) ((mu_s64)mu_lane_shuffle_u64(mask, (mu_u64)(value), lane))
#define MU_LANE_SHUFFLE_f32(mask, value, lane) \
  mu_f32_of_bits(mu_lane_shuffle_u32(mask, mu_bits_of_f32(value), lane))
#define MU_LANE_SHUFFLE_f64(mask, value, lane) \
  mu_f64_of_bits(mu_lane_shuffle_u64(mask, mu_bits_of_f64(value), lane))
#define MU_AGGREGATE(scope, elem)                                                              \
  MU_FN mu_##elem mu_aggregate_add_##scope##_##elem(mu_##elem *address, mu_##elem value) {     \
    mu_tile here = mu_tile_here();                                                             \
    mu_##elem before = mu_tile_scan_excl_add_##elem(&here, value, 0), old = 0;                 \
    if (here.rank == here.size - 1)                                                            \
      old = mu_add_relaxed_##scope##_##elem(address, mu_pure_add_##elem(before, value));       \
    return mu_pure_add_##elem(mu_tile_shuffle_from_##elem(&here, old, here.size - 1), before); \
  }
MU_EACH_SCOPE(MU_AGGREGATE_RED, u32)
MU_EACH_SCOPE(MU_AGGREGATE_RED, s32)
MU_EACH_SCOPE(MU_AGGREGATE_RED, u64)
MU_EACH_SCOPE(MU_AGGREGATE_RED, s64)
MU_EACH_SCOPE(MU_AGGREGATE_RED, f32)
MU_EACH_SCOPE(MU_AGGREGATE_RED, f64)
MU_EACH_SCOPE(MU_AGGREGATE, u32)
MU_EACH_SCOPE(MU_AGGREGATE, s32)
MU_EACH_SCOPE(MU_AGGREGATE, u64)
MU_EACH_SCOPE(MU_AGGREGATE, s64)

#endif
#endif
