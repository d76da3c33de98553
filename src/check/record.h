/* record.h: the synchronisation operations of a run, warp by warp: what schedules are made of. A *step* is an
 * access at which the order of warps matters: a strong one, or one of an instruction that was seen in a race.
 */
#ifndef MUSTER_CHECK_RECORD_H
#define MUSTER_CHECK_RECORD_H

#include "check/state.h"

typedef struct check_record check_record;

typedef struct check_step {
  sim_turn who;
  uint32_t number; /* of that warp's steps, from 1 */
  uint64_t total;  /* of all steps */
  bool again;      /* it read what its last step read: it polls */
} check_step;

/* Two steps of different warps at one word, one of them a write: the first may be made to wait for the
 * second. */
typedef struct check_flip {
  sim_turn held, other; /* the first and the second */
  uint32_t held_step;   /* of the first: its number */
  uint64_t word;
  uint32_t occurrence; /* of this pair of instructions at this word */
  uint32_t number;     /* in the order in which they were met */
} check_flip;

check_record *check_record_new(bool flips); /* NULL: no memory. flips: pairs are kept */
void check_record_free(check_record *r);
/* Takes an event; true: it is a step. */
bool check_record_step(check_record *r, check *c, const sim_event *e, check_step *out);
/* Whether an access is one to the word of a flip. */
bool check_flip_meets(const check_flip *f, const sim_event *e);
/* A number of a warp's own, from 0 on without gaps. UINT32_MAX: no memory. */
uint32_t check_record_warp(check_record *r, const sim_turn *who);
static inline bool check_same_turn(const sim_turn *a, const sim_turn *b) {
  return a->launch == b->launch && a->block == b->block && a->warp == b->warp;
}
uint64_t check_record_total(const check_record *r);
/* Words that several threads, which lanes of one warp are too, touched by steps, one of them to write. */
uint64_t check_record_contended(const check_record *r);
/* A number for the word that holds a byte of what a lane accesses. */
uint64_t check_word_of(const sim_event *e, uint32_t lane, uint32_t byte);
/* Pairs, those of instructions and words not yet seen first. */
const check_flip *check_record_flips(check_record *r, uint32_t *n);
bool check_record_crosses(const check_record *r); /* warps of different blocks met at a word */
bool check_record_failed(const check_record *r);  /* memory ran out, or more than is kept */

#endif
