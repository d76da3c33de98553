// turns.cuh: how blocks of one launch tell each other numbers without a fence, in a workspace that is zeroed
// once and then used by launch after launch.
//
// A word carries 32 bits of a number and, below them, the turn: which launch of that workspace it is. It is
// written and read whole, so that a number and what is said about it belong together, and words that an
// earlier launch left are never taken for new ones.
#ifndef MUSTER_OPS_TURNS_CUH
#define MUSTER_OPS_TURNS_CUH

#include "vector.cuh"

MU_FN void word_tell(mu_u64 *word, mu_u32 number, mu_u32 turn) {
  mu_global_store_relaxed_device_u64(word, (mu_u64)number << 32 | turn);
}
MU_FN mu_u32 word_ask(const mu_u64 *word, mu_u32 turn, mu_u32 *number) { // 1: it was told
  mu_u64 seen = mu_global_load_relaxed_device_u64(word);
  *number = (mu_u32)(seen >> 32);
  return (mu_u32)seen == turn;
}

// A number of 64 bits, in two words.
MU_FN void halves_tell(mu_u64 *halves, mu_u64 value, mu_u32 turn) {
  word_tell(halves, (mu_u32)value, turn);
  word_tell(halves + 1, (mu_u32)(value >> 32), turn);
}
MU_FN mu_u32 halves_ask(const mu_u64 *halves, mu_u32 turn, mu_u64 *value) {
  mu_u32 low, high, told = word_ask(halves, turn, &low);
  told &= word_ask(halves + 1, turn, &high);
  *value = (mu_u64)high << 32 | low;
  return told;
}

typedef struct {
  mu_u32 place, turn; // the how many-th to be taken in this launch, from 0; never 0
} turn_ticket;

// By one thread of a block; `tickets` are taken in this launch. Who waits only for those with places below
// its own never waits for a block that has not begun.
MU_FN turn_ticket turn_take(mu_u64 *turns, mu_u32 tickets) {
  turn_ticket t;
  mu_u64 ticket = mu_global_add_relaxed_device_u64(turns, 1);
  t.place = (mu_u32)ticket;
  t.turn = (mu_u32)(ticket >> 32) + 1;
  if (t.place == tickets - 1) // nobody takes another one in this launch; the next turn begins
    mu_global_store_relaxed_device_u64(turns, (mu_u64)(t.turn == 0xffffffffu ? 0 : t.turn) << 32);
  return t;
}

#endif
