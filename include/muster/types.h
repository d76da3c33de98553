// types.h: what host and device share: element types, results of a wait, the layout of a group's workspace.
//
// C11 and C++14, no other header: a host compiler reads it as well as every device compiler.
#ifndef MUSTER_TYPES_H
#define MUSTER_TYPES_H

typedef signed char mu_s8;
typedef short mu_s16;
typedef int mu_s32;
typedef long long mu_s64; // CUDA's own choice for 64 bits; the same as int64_t in size, not always in type
typedef unsigned char mu_u8;
typedef unsigned short mu_u16;
typedef unsigned int mu_u32;
typedef unsigned long long mu_u64;
typedef float mu_f32;
typedef double mu_f64;

// Half precision by its bits: no CUDA header is needed, and cuda_fp16.h's types have the same layout.
typedef struct {
  mu_u16 bits;
} mu_f16;
typedef struct {
  mu_u16 bits;
} mu_bf16;
typedef struct {
  mu_u32 bits; // element 0 in the low half
} mu_f16x2;
typedef struct {
  mu_u32 bits;
} mu_bf16x2;
#ifdef __cplusplus
struct alignas(16) mu_b128 {
  mu_u64 low, high;
};
#else
typedef struct {
  _Alignas(16) mu_u64 low;
  mu_u64 high;
} mu_b128;
#endif

#ifdef __cplusplus
#define MU_STATIC_ASSERT(condition, text) static_assert(condition, text)
#else
#define MU_STATIC_ASSERT(condition, text) _Static_assert(condition, text)
#endif
MU_STATIC_ASSERT(sizeof(mu_u64) == 8 && sizeof(mu_u32) == 4 && sizeof(mu_b128) == 16, "element sizes");

// What a wait or an open says. The numbers stay for ever.
enum {
  MU_OK = 0,
  MU_TIMEOUT = 1,    // the deadline passed; the missing are named in the slot's record
  MU_POISONED = 2,   // another member's deadline passed, here or in an earlier launch: reset the workspace
  MU_STALE = 3,      // an earlier launch left in the middle of a barrier: reset the workspace
  MU_MISMATCH = 4,   // the slot belongs to a group of another size, or the memory is no workspace
  MU_FOREIGN = 5,    // another launch uses this slot at the same time
  MU_NOT_MEMBER = 6, // this block is not in the group
};
typedef mu_u32 mu_status;

// A workspace is an array of slots, one a group, each of MU_SLOT_BYTES(blocks of the largest group) bytes,
// aligned to MU_LINE_BYTES, zeroed by the host before its first use and after an error. Its counts only grow,
// so it serves any number of barriers and launches, one launch at a time.
#define MU_LINE_BYTES 128
enum {
  MU_SLOT_MAGIC = 0x4d555354, // "MUST"
  MU_SHARDS_MAX = 8,
  MU_COPIES_MAX = 2,
  MU_LINES = 32, // MU_SHARDS_MAX for each copy, and more: so many lie near to any multiprocessor in part
};
#define MU_POISON 0x8000000000000000ull  // in a count: somebody gave up
#define MU_OPENING 0x4000000000000000ull // in sum_nonce: a block of that launch notes sum_after
#define MU_DROPPED 0x8000000000000000ull // in a member's word: it left for good after that epoch

// A word that blocks hit or poll has a line of its own.
typedef struct {
  mu_u64 word;
  mu_u64 pad[MU_LINE_BYTES / 8 - 1];
} mu_line;

typedef struct {
  mu_u64 owner; // MU_SLOT_MAGIC and the number of blocks; 0 before the first use
  mu_u64 nonce; // the launch that opened it last
  mu_u64 drops; // members that left for good
  // The record of the first deadline that passed; valid once error is not 0.
  mu_u32 error, error_rank;           // MU_TIMEOUT or MU_FOREIGN; who gave up
  mu_u32 missing_count, missing_rank; // how many were missing, and the first of them
  mu_u64 error_epoch;
  mu_u64 sum_nonce;    // the launch that used sums last
  mu_u64 sum_after[2]; // what the words of `sums` showed when it began
  mu_u64 results[2];   // of a collective that one member adds up: low and high half, each behind its turn
  mu_u64 line,
      line_nonce; // of `counts`: rank 0's choice, the multiprocessor (+ 1) in the high half; the launch
  mu_u64 pad[3];
  mu_line counts[MU_LINES]; // arrivals; each copy counts all of them, spread over its shards
  mu_line sums[2];          // arrivals that bring a number: low half how many, high half the sum
} mu_slot;
// What a member's long waits have to know besides what every barrier does. Its block writes it when it opens,
// for itself: kept in memory it takes none of the registers of the kernel around.
typedef struct {
  mu_slot *slot;
  mu_u64 nonce; // of this launch
  mu_u32 rank, blocks, shards, part, system;
  mu_u32 moving;                // 1: the first barrier, on the way to another line, is not over
  mu_u64 offset[MU_SHARDS_MAX]; // what the words of each looking lane showed before the first barrier
} mu_member;
// Behind the slot, a word a member each: its launch and epoch (mu_barrier_sign); then, twice in turn, the low
// and the high half of a value (collect.cuh), each in the high half of a word whose low half tells its turn;
// then the members' own.
#define MU_SLOT_WORDS (5 + sizeof(mu_member) / 8)
MU_STATIC_ASSERT(sizeof(mu_line) == MU_LINE_BYTES, "a line");
MU_STATIC_ASSERT(sizeof(mu_slot) % MU_LINE_BYTES == 0, "a slot begins and ends on a line");

// MU_SLOT_BYTES(blocks): bytes of a slot for groups of at most so many blocks.
#define MU_SLOT_BYTES(blocks)                                                                     \
  ((sizeof(mu_slot) + 8 * MU_SLOT_WORDS * (mu_u64)(blocks) + MU_LINE_BYTES - 1) / MU_LINE_BYTES * \
   MU_LINE_BYTES)

#endif
