/* search.h: every order of the moves of a run, each once (search.c). A *move* of a warp is what it does until
 * an access that the order matters to, a barrier of its block, or its end. Moves that touch no common word,
 * or only read it, may change places, and an order is what is left of a run without that. Knows nothing of
 * what moves do: only who may move is told, and what was touched.
 *
 *   while (search_next(s)) { run, with search_choose and the events called; search_ran(s, whole); }
 */
#ifndef MUSTER_CHECK_SEARCH_H
#define MUSTER_CHECK_SEARCH_H

#include "sim/hooks.h"

typedef struct search search;
enum { SEARCH_THREADS = 64 }; /* more it gives up */

search *search_new(void); /* NULL: no memory */
void search_free(search *s);
/* Whether there is a run to be done; it begins. */
bool search_next(search *s);
/* Who moves next. After a move is over, the machine asks again, unless only one can move. */
uint32_t search_choose(search *s, const sim_turn *turns, uint32_t n);
/* One lane touches a word; it ends the move, which may go on with words of the same instruction: not `first`.
 */
void search_access(search *s, const sim_turn *who, uint32_t lane, bool first, uint64_t word, bool writes);
/* The warp came to a barrier: its move is over. And: all that came go on, by what `by` did. */
void search_arrive(search *s, const sim_turn *who, uint64_t barrier);
void search_complete(search *s, const sim_turn *by, uint64_t barrier);
/* There is no end to the orders, or they are not all that there is: the search is given up. */
void search_spoil(search *s);
/* The run is over. `whole`: everybody came as far as they can; else nobody knows what would have followed. */
void search_ran(search *s, bool whole);

uint64_t search_orders(const search *s); /* how many were run */
/* Whether these are all: nothing was too large, and no run was cut short. */
bool search_is_complete(const search *s);
/* No more than one word was written by one thread and touched by another, and by one lane of each warp only:
 * so lanes, each a thread of its own, have no more orders than warps. */
bool search_one_word(const search *s);

#endif
