/* graph.c: post-dominators, by the iterative algorithm of Cooper, Harvey and Kennedy on the reversed graph,
 * with one more node for the way out. Nodes have the numbers of the reversed graph's reverse post-order, the
 * way out is 0.
 */
#include "base/graph.h"

#include <string.h>

static uint32_t common(const uint32_t *parent, uint32_t a, uint32_t b) {
  while (a != b) {
    while (a > b)
      a = parent[a];
    while (b > a)
      b = parent[b];
  }
  return a;
}

/* The reversed graph, as lists of predecessors packed into one array, and a walk over it. */
typedef struct reversed {
  uint32_t *first, *before; /* of node k: before[first[k]] to before[first[k + 1] - 1] */
  uint32_t *stack, *turn, *post, n_post;
  uint8_t *seen;
} reversed;

static void reverse(const base_graph *graph, reversed *g, base_arena *scratch) {
  uint32_t n = graph->n, n_edges = n ? graph->first[n] : 0;
  g->first = base_alloc_array(scratch, n + 1, sizeof *g->first);
  g->before = base_alloc_array(scratch, n_edges, sizeof *g->before);
  g->stack = base_alloc_array(scratch, n, sizeof *g->stack);
  g->turn = base_alloc_array(scratch, n, sizeof *g->turn);
  g->post = base_alloc_array(scratch, n, sizeof *g->post);
  g->seen = base_alloc_array(scratch, n, sizeof *g->seen);
  for (uint32_t e = 0; e < n_edges; e++)
    g->first[graph->next[e] + 1]++;
  for (uint32_t k = 0; k < n; k++)
    g->first[k + 1] += g->first[k];
  uint32_t *fill = base_alloc_array(scratch, n + 1, sizeof *fill);
  memcpy(fill, g->first, (n + 1) * sizeof *fill);
  for (uint32_t k = 0; k < n; k++)
    for (uint32_t e = graph->first[k]; e < graph->first[k + 1]; e++)
      g->before[fill[graph->next[e]]++] = k;
}

/* Visits everything that leads to `root`, in post-order; without recursion, since there may be as many nodes
 * as a text has lines. */
static void walk(reversed *g, uint32_t root) {
  uint32_t depth = 0;
  if (g->seen[root])
    return;
  g->seen[root] = 1;
  g->stack[depth++] = root;
  while (depth) {
    uint32_t k = g->stack[depth - 1];
    if (g->first[k] + g->turn[k] < g->first[k + 1]) {
      uint32_t p = g->before[g->first[k] + g->turn[k]++];
      if (!g->seen[p]) {
        g->seen[p] = 1;
        g->stack[depth++] = p;
      }
    } else {
      g->post[g->n_post++] = k;
      depth--;
    }
  }
}

uint32_t *base_postdominators(const base_graph *graph, const bool *lost, base_arena *arena,
                              base_arena *scratch) {
  uint32_t n = graph->n;
  reversed g = {0};
  reverse(graph, &g, scratch);
  bool *leaves = base_alloc_array(scratch, n, sizeof *leaves);
  for (uint32_t k = n; k-- > 0;)
    if ((leaves[k] = graph->leaves[k]))
      walk(&g, k);
  uint32_t known = g.n_post;
  for (uint32_t k = 0; lost && k < n; k++)
    if (lost[k])
      walk(&g, k);
  g.n_post = known;                                        /* left out */
  for (int any = graph->may_leave == NULL; any < 2; any++) /* at last, those that only loop for ever */
    for (uint32_t k = n; k-- > 0;)
      if (!g.seen[k] && (any || graph->may_leave[k])) {
        leaves[k] = true;
        walk(&g, k);
      }

  uint32_t *number = base_alloc_array(scratch, n, sizeof *number);
  uint32_t *parent = base_alloc_array(scratch, n + 1, sizeof *parent);
  uint32_t *ipdom = base_alloc_array(arena, n, sizeof *ipdom);
  for (uint32_t k = 0; k < n; k++)
    number[k] = ipdom[k] = BASE_NOWHERE;
  for (uint32_t i = 0; i < g.n_post; i++) {
    number[g.post[i]] = g.n_post - i;
    parent[g.n_post - i] = BASE_NOWHERE;
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t i = g.n_post; i-- > 0;) {
      uint32_t k = g.post[i], idom = leaves[k] ? 0 : BASE_NOWHERE;
      for (uint32_t e = graph->first[k]; e < graph->first[k + 1]; e++) {
        uint32_t s = number[graph->next[e]];
        if (s != BASE_NOWHERE && parent[s] != BASE_NOWHERE)
          idom = idom == BASE_NOWHERE ? s : common(parent, idom, s);
      }
      if (parent[number[k]] != idom) {
        parent[number[k]] = idom;
        changed = true;
      }
    }
  }
  for (uint32_t i = 0; i < g.n_post; i++) {
    uint32_t p = parent[g.n_post - i];
    ipdom[g.post[i]] = p == 0 || p == BASE_NOWHERE ? BASE_NOWHERE : g.post[g.n_post - p];
  }
  return ipdom;
}
