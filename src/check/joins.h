/* joins.h: where threads of a block that parted at a branch have to be together again, because a barrier of
 * the whole block lies in between. Found once for a function from its flow graph; barrier.c follows threads
 * through it. Private to src/check.
 *
 * A *stop* is a barrier of the whole block, or a call of a function that may come to one. It lies in the
 * region of a branch if it is on some way from there to the branch's join, the immediate post-dominator. Ways
 * that do nothing but leave the kernel, or trap, do not count: who leaves parts from nobody.
 */
#ifndef MUSTER_CHECK_JOINS_H
#define MUSTER_CHECK_JOINS_H

#include "check/state.h"

typedef struct joins_loop {
  uint32_t head;   /* block */
  uint32_t parent; /* the loop around it, or PTX_NONE; less than its own number */
  uint64_t *holds; /* a bit for each block */
} joins_loop;

/* A join, as seen from stops that lie in the same loops: a block's first instruction, or the one behind a
 * barrier under a guard. */
typedef struct joins_point {
  uint32_t insn;
  uint32_t loop; /* the innermost that holds both, or PTX_NONE */
  bool head;     /* it is that loop's head: who comes there in a later round has passed it */
} joins_point;

typedef struct joins_region {
  uint32_t point;
  uint32_t branch; /* instruction */
} joins_region;

typedef struct joins_stop {
  uint32_t insn, loop; /* the innermost around it, or PTX_NONE */
  uint32_t first, n;   /* regions, those of varying branches only */
} joins_stop;

typedef struct joins {
  base_arena arena;
  const ptx_module *module;
  uint32_t func;
  const ptx_body *body;
  const ptx_insn *insns;
  uint32_t n_insns, n_blocks; /* with the above: whose these are */
  bool stops_at_all;          /* it has stops */
  bool varies;                /* some of them lie where not all threads of a block may come by */
  uint32_t *block_of;         /* of instruction */
  uint8_t *halts;             /* of instruction: whoever is followed is not followed beyond without a word */
  joins_loop *loops;
  joins_point *points;
  joins_stop *stops;
  joins_region *regions;
  uint32_t n_loops, n_points, n_stops, n_regions;
  uint32_t cap_loops, cap_points, cap_stops, cap_regions;
} joins;

/* NULL: out of memory. */
joins *joins_new(const ptx_module *m, uint32_t func, const ptx_body *b);
void joins_free(joins *j); /* NULL is fine */
bool joins_are_of(const joins *j, const ptx_body *b);
const joins_stop *joins_stop_at(const joins *j, uint32_t insn); /* NULL: none there */
bool joins_is_whole_barrier(const ptx_body *b, const ptx_insn *i);

/* A special register that tells of the run and not of the thread: a clock, a counter, where the thread is. */
bool check_special_moves(uint32_t special);

#endif
