/* graph.h: what is asked of graphs of control flow. */
#ifndef MUSTER_BASE_GRAPH_H
#define MUSTER_BASE_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

#define BASE_NOWHERE UINT32_MAX

/* Nodes 0 to n - 1; those behind k are next[first[k]] to next[first[k + 1] - 1]. leaves[k]: the way out leads
 * from k too. may_leave[k] (NULL: nowhere): it does, and that counts only for nodes which have no other way
 * out. */
typedef struct base_graph {
  uint32_t n;
  const uint32_t *first, *next;
  const bool *leaves, *may_leave;
} base_graph;

/* The immediate post-dominator of each node, BASE_NOWHERE for the way out itself and where there is none, in
 * an array from `arena`. Nodes that lead only to `lost` ones (NULL: there are none) are left out. What can
 * only loop for ever counts as if it left at its end. */
uint32_t *base_postdominators(const base_graph *g, const bool *lost, base_arena *arena, base_arena *scratch);

#endif
