/* weak_graph.h: the graph of one run: who accessed what, in which order of each thread. Private to the
 * explorer of weak behaviours. */
#ifndef MUSTER_CHECK_WEAK_GRAPH_H
#define MUSTER_CHECK_WEAK_GRAPH_H

#include "check/weak.h"

#define WEAK_NONE UINT32_MAX
#define WEAK_INITIAL (UINT32_MAX - 1)   /* the source of a read: what was there before the launch */
#define WEAK_UNDECIDED (UINT32_MAX - 2) /* a read whose source is left open */

typedef enum weak_kind { WEAK_READ, WEAK_WRITE, WEAK_FENCE, WEAK_ARRIVE, WEAK_LEAVE } weak_kind;

typedef struct weak_node {
  uint8_t kind, scope; /* PTX_SCOPE_... */
  bool strong, acquires, releases, sc;
  bool returns;            /* of a read: to a register; those of reductions acquire nothing */
  uint32_t thread, number; /* the number-th event of its thread in this run */
  uint32_t name;           /* which one it is in any run: its instruction, and the how-manieth time */
  uint32_t next;           /* of the thread */
  uint32_t location;
  uint32_t mate;    /* the other half of an atomic operation */
  uint32_t source;  /* of a read: which write it took in this run */
  uint32_t barrier; /* ARRIVE, LEAVE: which meeting */
  uint64_t value[2];
} weak_node;

/* Threads and locations keep their numbers over all runs. */
typedef struct weak_thread {
  uint64_t launch, block; /* launch: counted in the run */
  uint32_t thread;
  uint32_t run; /* first, last and count are of this run */
  uint32_t first, last, count;
} weak_thread;

typedef struct weak_location {
  weak_place place;
  bool known;    /* initial is */
  bool mixed;    /* accesses of another size overlap: outside of the model */
  uint32_t next; /* location that begins in the same 16 bytes */
  uint64_t initial[2];
  uint32_t run;             /* the rest is of this run */
  uint32_t last_write;      /* node */
  uint32_t thread;          /* that came first */
  bool many, written, used; /* several threads; a write among their accesses */
  bool strong;              /* and a strong one */
  bool planned;             /* a plan decides on a read of it */
} weak_location;

typedef struct weak_map { /* from 64-bit words to numbers */
  uint64_t *keys;
  uint32_t *values;
  uint32_t n_slots, n_used;
} weak_map;
uint32_t weak_map_get(const weak_map *m, uint64_t key); /* WEAK_NONE */
bool weak_map_set(weak_map *m, uint64_t key, uint32_t value);
void weak_map_clear(weak_map *m);
void weak_map_free(weak_map *m);

struct weak_graph {
  weak_node *nodes;
  uint32_t n_nodes, nodes_capacity, max_nodes;
  weak_thread *threads;
  uint32_t n_threads, threads_capacity;
  weak_location *locations;
  uint32_t n_locations, locations_capacity;
  uint32_t n_barriers; /* meetings */
  bool strong_only;
  uint32_t run;
  uint64_t first_launch;
  uint32_t n_sites; /* instructions that access memory; each element of a vector for itself */
  weak_map thread_of, location_at, node_of, site_of, times;
  weak_map meeting, met;  /* of a barrier: the meeting that fills, and the last */
  bool failed;            /* no memory */
  const char *unmodelled; /* what was met that the model here does not have; NULL */
};

void weak_graph_free(weak_graph *g);
void weak_graph_begin(weak_graph *g); /* a new run */
/* Adds what an event did. `sources`: for each lane, the write that its read was made to take, or WEAK_NONE.
 */
void weak_graph_event(weak_graph *g, const sim_event *e, const uint32_t *sources);
uint32_t weak_graph_thread(weak_graph *g, const sim_who *who, uint32_t lane);
uint32_t weak_graph_location(weak_graph *g, const sim_access *a, uint32_t lane);
/* Remembers what a location held, if nobody has written it. */
void weak_graph_initial(weak_graph *g, uint32_t location, const uint64_t value[2]);
/* The name of what the lane of this access reads next. */
uint32_t weak_graph_name(weak_graph *g, const sim_access *a, uint32_t thread);
uint32_t weak_graph_node(const weak_graph *g, uint32_t thread, uint32_t name);
/* Several threads use it and one writes it: the order of its accesses is open. With `strong_only` just where
 * a strong access is among them. */
static inline bool weak_is_shared(const weak_graph *g, uint32_t location) {
  const weak_location *l = location == WEAK_NONE ? NULL : &g->locations[location];
  if (!l || l->run != g->run)
    return false;
  return l->planned || (l->many && l->written && !l->mixed && (l->strong || !g->strong_only));
}

/* ------------------------------------------------------------------ the axioms (weak_model.c) */

/* Which part of a graph is judged, and by which sources. */
typedef struct weak_part {
  const weak_graph *graph;
  const uint8_t *in;      /* for each node: it is part of it; NULL: all are */
  const uint32_t *source; /* for each node; may be WEAK_UNDECIDED */
  bool as_run;            /* fence.sc are in the order of the run: fewer executions, but never a wrong one */
} weak_part;

typedef struct weak_judge weak_judge; /* scratch memory */
weak_judge *weak_judge_new(void);
void weak_judge_free(weak_judge *j);
/* Whether the axioms allow it. With `tell`, every set of possible last writes: for each location of the
 * graph, its writes, in the order of nodes, that may be the last: bit k for the k-th. */
bool weak_judged(weak_judge *j, const weak_part *p, void (*tell)(void *user, const uint64_t *last),
                 void *user);
const char *weak_judge_limit(const weak_judge *j); /* what was too large to be judged; NULL */
bool weak_judge_racy(const weak_judge *j);         /* what was told of has a data race */
uint64_t weak_judge_work(const weak_judge *j);     /* done so far, in words of relations */

#endif
