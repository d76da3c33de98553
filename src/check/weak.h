/* weak.h: what the PTX memory consistency model allows a launch besides what its plain run shows: loads that
 * take stale values, or values of stores that come later; stores in another coherence order than that of the
 * run.
 *
 * The explorer plans by execution graphs. It watches a run, takes the graph of its accesses to memory that
 * threads share, and decides for one read after another which write it takes. Where that changes the value,
 * the launch is run again from the same memory with the values of the plan; the graph of the new run is
 * judged by the axioms of the model. So nothing is invented: a store that is read early is one that a run has
 * made, and what depends on a value is computed from it.
 *
 *   while ((run = weak_next(w))) { restore memory; launch; run, with weak_event and weak_source called;
 * weak_ran; }
 */
#ifndef MUSTER_CHECK_WEAK_H
#define MUSTER_CHECK_WEAK_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/hooks.h"

typedef struct weak weak;
typedef struct weak_graph weak_graph;

typedef enum weak_run {
  WEAK_NO_RUN, /* nothing is left */
  WEAK_TRY,    /* a run to see whether a plan comes out: what is found in it does not count */
  WEAK_SHOW    /* a run that the model allows: what happens in it is real */
} weak_run;

/* One place in memory, as the threads see it. */
typedef struct weak_place {
  uint8_t space;    /* PTX_SPACE_GLOBAL or SHARED */
  uint64_t block;   /* of shared memory */
  uint64_t address; /* of shared memory: offset */
  uint32_t bytes;
} weak_place;

/* An execution that the model allows. `last`: a set of writes for each place with shared writes, each of
 * which may be the last, whatever is the last elsewhere; for weak_values. */
typedef struct weak_execution {
  const weak_graph *graph;
  const uint64_t *last;
} weak_execution;

typedef struct weak_options {
  bool exhaustive;    /* every execution; else random ones, as long as there are any */
  bool stale;         /* of random ones: reads take earlier writes only, and none but those of locations that
                         strong operations use: what large launches can be asked for */
  uint32_t decisions; /* of random ones: so many reads are chosen for, the others are as in the run; 0: all */
  bool show;          /* follow each execution by a run of WEAK_SHOW */
  uint64_t nth;  /* with `decisions`: instead the nth way, from 1, in which a single read can stray, if there
                    are so many; 0: at random */
  uint64_t seed; /* of random ones */
  uint32_t max_events; /* of a run, behind which no more is explored; 0: a default */
  uint64_t max_work;   /* of judging, in words of relations, behind which it is given up; 0: none */
  uint32_t max_reads;  /* that share locations; 0: any number */
  void *user;
  void (*execution)(void *user, const weak_execution *x); /* may be NULL */
} weak_options;

weak *weak_new(const weak_options *o); /* NULL: no memory */
void weak_free(weak *w);

weak_run weak_next(weak *w);
/* For the watcher, with SIM_WATCH_ACCESS | SIM_WATCH_SYNC. */
void weak_event(weak *w, const sim_event *e);
uint32_t weak_source(weak *w, const sim_access *a);
/* Whether the lanes that it chose for last take values that are stored only later in this run. */
bool weak_is_early(const weak *w);
/* The run is over. `ended`: as it should; a run that faulted or hung is no execution of the plan, but is one
 * of its own if it followed none. */
void weak_ran(weak *w, bool ended);
/* Why not everything was explored: "mbarrier objects", "more events than ..."; NULL: it was, or will be. */
const char *weak_unjudged(const weak *w);
uint64_t weak_executions(const weak *w); /* told so far */
bool weak_races(const weak *w);          /* one of them has a data race */

/* The values that a place may have in the end, at most `max` of them; returns how many. */
uint32_t weak_values(const weak_execution *x, const weak_place *place, uint64_t (*values)[2], uint32_t max);

#endif
