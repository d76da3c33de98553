/* graph.c: graphs: nodes that hold operations, and the order between them. An executable graph is a copy of
 * one; its launch gives the stream all operations, one after the other, in an order that the edges allow. So
 * nodes that could run side by side do not, which no result depends on.
 */
#include "base/base.h"
#include "driver/graph.h"

#include <stdlib.h>
#include <string.h>

typedef struct drv_exec {
  drv_graph *graph; /* its own copy, in an order in which it can run */
  uint64_t flags;
} drv_exec;

/* ------------------------------------------------------------------ nodes */

drv_op *drv_op_copy(const drv_op *op) {
  drv_op *new = drv_op_new(op->kind);
  if (!new)
    return NULL;
  *new = *op;
  new->next = NULL;
  new->stream = NULL;
  new->running = false;
  if (op->kind == DRV_OP_LAUNCH) {
    const ptx_func *f = &op->launch.function->unit->funcs[op->launch.function->index];
    new->launch.params = malloc(f->param_bytes ? f->param_bytes : 1);
    if (!new->launch.params) {
      free(new);
      return NULL;
    }
    memcpy(new->launch.params, op->launch.params, f->param_bytes);
  }
  return new;
}

static void node_clear(drv_node *n) {
  drv_op_free(n->op);
  n->op = NULL;
  free(n->param_pointers);
  n->param_pointers = NULL;
}

static void node_free(drv_node *n) {
  node_clear(n);
  drv_graph_memory_drop(n->memory);
  drv_graph_free(n->child);
  free(n->needs);
  drv_handle_remove(n);
  free(n);
}

bool drv_node_need(drv_node *n, drv_node *other) {
  if (!BASE_ROOM(n->needs, n->n_needs, n->capacity))
    return false;
  n->needs[n->n_needs++] = other;
  return true;
}

bool drv_node_before(const drv_node *node, drv_node *const *of, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (of[i] == node || drv_node_before(node, of[i]->needs, of[i]->n_needs))
      return true;
  return false;
}

drv_graph *drv_graph_new(void) {
  drv_graph *g = calloc(1, sizeof *g);
  if (g)
    g->end = &g->nodes;
  return g;
}

void drv_graph_free(drv_graph *g) {
  if (!g)
    return;
  while (g->nodes) {
    drv_node *n = g->nodes;
    g->nodes = n->next;
    node_free(n);
  }
  drv_handle_remove(g);
  free(g);
}

CUresult drv_graph_add(drv_graph *g, CUgraphNodeType type, drv_op *op, drv_node *const *needs, size_t n_needs,
                       drv_node **to) {
  drv_node *n = calloc(1, sizeof *n);
  bool ok = n && drv_handle_add(n, DRV_NODE);
  for (size_t i = 0; ok && i < n_needs; i++)
    ok = drv_node_need(n, needs[i]);
  if (!ok) {
    drv_op_free(op);
    if (n)
      node_free(n);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  n->graph = g;
  n->type = type;
  n->op = op;
  *g->end = n;
  g->end = &n->next;
  g->n_nodes++;
  *to = n;
  return CUDA_SUCCESS;
}

/* Checks the arguments that every cuGraphAdd... has. */
static CUresult adding(CUgraphNode *node, CUgraph graph, const CUgraphNode *needs, size_t count) {
  if (!node || !drv_find(graph, DRV_GRAPH) || (count && !needs))
    return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < count; i++) {
    drv_node *n = drv_find(needs[i], DRV_NODE);
    if (!n || n->graph != graph)
      return CUDA_ERROR_INVALID_VALUE;
    for (size_t j = 0; j < i; j++)
      if (needs[j] == n)
        return CUDA_ERROR_INVALID_VALUE;
  }
  return CUDA_SUCCESS;
}

/* ------------------------------------------------------------------ copies, in an order that runs */

static drv_node *copy_of(drv_graph *g, const drv_node *origin) {
  drv_node *n = g->nodes;
  while (n && n->origin != origin)
    n = n->next;
  return n;
}

static CUresult graph_copy(const drv_graph *from, drv_graph **to) {
  drv_graph *g = drv_graph_new();
  CUresult r = g ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
  while (r == CUDA_SUCCESS && g->n_nodes < from->n_nodes) {
    size_t before = g->n_nodes;
    for (drv_node *n = from->nodes; n && r == CUDA_SUCCESS; n = n->next) {
      bool ready = !copy_of(g, n);
      for (size_t i = 0; ready && i < n->n_needs; i++)
        ready = copy_of(g, n->needs[i]) != NULL;
      if (!ready)
        continue;
      drv_op *op = n->op ? drv_op_copy(n->op) : NULL;
      drv_node *new;
      if (n->op && !op)
        r = CUDA_ERROR_OUT_OF_MEMORY;
      else
        r = drv_graph_add(g, n->type, op, NULL, 0, &new);
      if (r != CUDA_SUCCESS)
        break;
      for (size_t i = 0; i < n->n_needs && r == CUDA_SUCCESS; i++)
        if (!drv_node_need(new, copy_of(g, n->needs[i])))
          r = CUDA_ERROR_OUT_OF_MEMORY;
      new->origin = n;
      new->event = n->event;
      new->memory = n->memory;
      new->address = n->address;
      drv_graph_memory_share(n->memory);
      new->copy = n->copy;
      new->has_copy = n->has_copy;
      if (r == CUDA_SUCCESS && n->child)
        r = graph_copy(n->child, &new->child);
    }
    if (r == CUDA_SUCCESS && g->n_nodes == before)
      r = CUDA_ERROR_INVALID_VALUE; /* a circle */
  }
  if (r != CUDA_SUCCESS) {
    drv_graph_free(g);
    return r;
  }
  *to = g;
  return CUDA_SUCCESS;
}

/* ------------------------------------------------------------------ graphs */

CUresult drv_cuGraphCreate(CUgraph *graph, unsigned flags) {
  if (!graph || flags != 0)
    return CUDA_ERROR_INVALID_VALUE;
  drv_graph *g = drv_graph_new();
  if (!g || !drv_handle_add(g, DRV_GRAPH)) {
    drv_graph_free(g);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  *graph = g;
  return CUDA_SUCCESS;
}

CUresult drv_cuGraphDestroy(CUgraph graph) {
  drv_graph *g = drv_find(graph, DRV_GRAPH);
  if (!g)
    return CUDA_ERROR_INVALID_VALUE;
  drv_graph_free(g);
  return CUDA_SUCCESS;
}

CUresult drv_cuGraphClone(CUgraph *clone, CUgraph graph) {
  drv_graph *g = drv_find(graph, DRV_GRAPH);
  if (!clone || !g)
    return CUDA_ERROR_INVALID_VALUE;
  CUresult r = graph_copy(g, clone);
  if (r == CUDA_SUCCESS && !drv_handle_add(*clone, DRV_GRAPH))
    r = CUDA_ERROR_OUT_OF_MEMORY;
  return r;
}

CUresult drv_cuGraphAddEmptyNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *needs, size_t count) {
  CUresult r = adding(node, graph, needs, count);
  return r == CUDA_SUCCESS ? drv_graph_add(graph, CU_GRAPH_NODE_TYPE_EMPTY, NULL, needs, count, node) : r;
}

CUresult drv_cuGraphAddChildGraphNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *needs,
                                      size_t count, CUgraph child) {
  drv_graph *copy, *c = drv_find(child, DRV_GRAPH);
  CUresult r = adding(node, graph, needs, count);
  if (r != CUDA_SUCCESS || !c || c == graph)
    return CUDA_ERROR_INVALID_VALUE;
  if ((r = graph_copy(c, &copy)) != CUDA_SUCCESS)
    return r;
  r = drv_graph_add(graph, CU_GRAPH_NODE_TYPE_GRAPH, NULL, needs, count, node);
  if (r == CUDA_SUCCESS)
    (*node)->child = copy;
  else
    drv_graph_free(copy);
  return r;
}

CUresult drv_cuGraphChildGraphNodeGetGraph(CUgraphNode node, CUgraph *graph) {
  drv_node *n = drv_find(node, DRV_NODE);
  if (!n || !n->child || !graph)
    return CUDA_ERROR_INVALID_VALUE;
  if (!drv_find(n->child, DRV_GRAPH) && !drv_handle_add(n->child, DRV_GRAPH))
    return CUDA_ERROR_OUT_OF_MEMORY;
  *graph = n->child;
  return CUDA_SUCCESS;
}

static CUresult add_event_node(CUgraphNode *node, CUgraph graph, const CUgraphNode *needs, size_t count,
                               CUevent event, CUgraphNodeType type) {
  CUresult r = adding(node, graph, needs, count);
  if (r != CUDA_SUCCESS || !drv_find(event, DRV_EVENT))
    return CUDA_ERROR_INVALID_VALUE;
  r = drv_graph_add(graph, type, NULL, needs, count, node);
  if (r == CUDA_SUCCESS)
    (*node)->event = event;
  return r;
}

CUresult drv_cuGraphAddEventRecordNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *needs,
                                       size_t count, CUevent event) {
  return add_event_node(node, graph, needs, count, event, CU_GRAPH_NODE_TYPE_EVENT_RECORD);
}

CUresult drv_cuGraphAddEventWaitNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *needs, size_t count,
                                     CUevent event) {
  return add_event_node(node, graph, needs, count, event, CU_GRAPH_NODE_TYPE_WAIT_EVENT);
}

CUresult drv_cuGraphDestroyNode(CUgraphNode node) {
  drv_node *n = drv_find(node, DRV_NODE);
  if (!n)
    return CUDA_ERROR_INVALID_VALUE;
  drv_graph *g = n->graph;
  for (drv_node **at = &g->nodes; *at;) {
    drv_node *other = *at;
    for (size_t i = 0; i < other->n_needs; i++)
      if (other->needs[i] == n)
        other->needs[i--] = other->needs[--other->n_needs];
    if (other == n)
      *at = n->next;
    else
      at = &other->next;
  }
  g->end = &g->nodes;
  while (*g->end)
    g->end = &(*g->end)->next;
  g->n_nodes--;
  node_free(n);
  return CUDA_SUCCESS;
}

/* ------------------------------------------------------------------ edges */

CUresult drv_old_cuGraphAddDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                                        size_t count) {
  if (!drv_find(graph, DRV_GRAPH) || (count && (!from || !to)))
    return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < count; i++) {
    drv_node *f = drv_find(from[i], DRV_NODE), *t = drv_find(to[i], DRV_NODE);
    if (!f || !t || f->graph != graph || t->graph != graph || f == t ||
        drv_node_before(t, f->needs, f->n_needs))
      return CUDA_ERROR_INVALID_VALUE;
    for (size_t j = 0; j < t->n_needs; j++)
      if (t->needs[j] == f)
        return CUDA_ERROR_INVALID_VALUE;
    if (!drv_node_need(t, f))
      return CUDA_ERROR_OUT_OF_MEMORY;
  }
  return CUDA_SUCCESS;
}

CUresult drv_cuGraphAddDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                                    const CUgraphEdgeData *edges, size_t count) {
  for (size_t i = 0; edges && i < count; i++)
    if (edges[i].type != 0 || edges[i].from_port != 0 || edges[i].to_port != 0)
      return drv_refuse("programmatic edges of a graph");
  return drv_old_cuGraphAddDependencies(graph, from, to, count);
}

/* Gives out a list in the API's way: with no place for it, only how many; else as many as fit, the rest NULL.
 */
typedef struct list {
  CUgraphNode *to;
  size_t room, n;
} list;

static void list_put(list *l, drv_node *n) {
  if (l->to && l->n < l->room)
    l->to[l->n] = n;
  l->n++;
}

static CUresult list_end(list *l, size_t *count) {
  for (size_t i = l->n; l->to && i < l->room; i++)
    l->to[i] = NULL;
  *count = l->to && l->n > l->room ? l->room : l->n;
  return CUDA_SUCCESS;
}

CUresult drv_cuGraphGetNodes(CUgraph graph, CUgraphNode *nodes, size_t *count) {
  drv_graph *g = drv_find(graph, DRV_GRAPH);
  if (!g || !count)
    return CUDA_ERROR_INVALID_VALUE;
  list l = {nodes, *count, 0};
  for (drv_node *n = g->nodes; n; n = n->next)
    list_put(&l, n);
  return list_end(&l, count);
}

CUresult drv_cuGraphGetRootNodes(CUgraph graph, CUgraphNode *nodes, size_t *count) {
  drv_graph *g = drv_find(graph, DRV_GRAPH);
  if (!g || !count)
    return CUDA_ERROR_INVALID_VALUE;
  list l = {nodes, *count, 0};
  for (drv_node *n = g->nodes; n; n = n->next)
    if (n->n_needs == 0)
      list_put(&l, n);
  return list_end(&l, count);
}

CUresult drv_old_cuGraphGetEdges(CUgraph graph, CUgraphNode *from, CUgraphNode *to, size_t *count) {
  drv_graph *g = drv_find(graph, DRV_GRAPH);
  if (!g || !count || (from == NULL) != (to == NULL))
    return CUDA_ERROR_INVALID_VALUE;
  list f = {from, *count, 0}, t = {to, *count, 0};
  for (drv_node *n = g->nodes; n; n = n->next)
    for (size_t i = 0; i < n->n_needs; i++) {
      list_put(&f, n->needs[i]);
      list_put(&t, n);
    }
  list_end(&f, count);
  size_t same;
  return list_end(&t, &same);
}

static CUresult no_edge_data(CUgraphEdgeData *edges, const size_t *count) {
  if (edges && count)
    memset(edges, 0, *count * sizeof *edges);
  return CUDA_SUCCESS;
}

CUresult drv_cuGraphGetEdges(CUgraph graph, CUgraphNode *from, CUgraphNode *to, CUgraphEdgeData *edges,
                             size_t *count) {
  CUresult r = drv_old_cuGraphGetEdges(graph, from, to, count);
  return r == CUDA_SUCCESS ? no_edge_data(edges, count) : r;
}

CUresult drv_cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType *type) {
  drv_node *n = drv_find(node, DRV_NODE);
  if (!n || !type)
    return CUDA_ERROR_INVALID_VALUE;
  *type = n->type;
  return CUDA_SUCCESS;
}

CUresult drv_old_cuGraphNodeGetDependencies(CUgraphNode node, CUgraphNode *nodes, size_t *count) {
  drv_node *n = drv_find(node, DRV_NODE);
  if (!n || !count)
    return CUDA_ERROR_INVALID_VALUE;
  list l = {nodes, *count, 0};
  for (size_t i = 0; i < n->n_needs; i++)
    list_put(&l, n->needs[i]);
  return list_end(&l, count);
}

CUresult drv_cuGraphNodeGetDependencies(CUgraphNode node, CUgraphNode *nodes, CUgraphEdgeData *edges,
                                        size_t *count) {
  CUresult r = drv_old_cuGraphNodeGetDependencies(node, nodes, count);
  return r == CUDA_SUCCESS ? no_edge_data(edges, count) : r;
}

CUresult drv_old_cuGraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode *nodes, size_t *count) {
  drv_node *n = drv_find(node, DRV_NODE);
  if (!n || !count)
    return CUDA_ERROR_INVALID_VALUE;
  list l = {nodes, *count, 0};
  for (drv_node *other = n->graph->nodes; other; other = other->next)
    for (size_t i = 0; i < other->n_needs; i++)
      if (other->needs[i] == n)
        list_put(&l, other);
  return list_end(&l, count);
}

CUresult drv_cuGraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode *nodes, CUgraphEdgeData *edges,
                                          size_t *count) {
  CUresult r = drv_old_cuGraphNodeGetDependentNodes(node, nodes, count);
  return r == CUDA_SUCCESS ? no_edge_data(edges, count) : r;
}

/* ------------------------------------------------------------------ executable graphs */

static CUresult instantiate(CUgraphExec *exec, CUgraph graph, uint64_t flags) {
  const uint64_t known = CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH |
                         CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD | CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH |
                         CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
  drv_graph *g = drv_find(graph, DRV_GRAPH);
  if (!exec || !g || (flags & ~known))
    return CUDA_ERROR_INVALID_VALUE;
  if (flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH)
    return drv_refuse("graphs that the device launches");
  drv_exec *e = calloc(1, sizeof *e);
  if (!e)
    return CUDA_ERROR_OUT_OF_MEMORY;
  e->flags = flags;
  CUresult r = graph_copy(g, &e->graph);
  if (r == CUDA_SUCCESS && !drv_handle_add(e, DRV_EXEC))
    r = CUDA_ERROR_OUT_OF_MEMORY;
  if (r != CUDA_SUCCESS) {
    drv_graph_free(e->graph);
    free(e);
    return r;
  }
  *exec = e;
  return CUDA_SUCCESS;
}

CUresult drv_cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph, unsigned long long flags) {
  return instantiate(exec, graph, flags);
}

CUresult drv_old_cuGraphInstantiate_v2(CUgraphExec *exec, CUgraph graph, CUgraphNode *bad, char *log,
                                       size_t log_bytes) {
  if (bad)
    *bad = NULL;
  if (log && log_bytes)
    log[0] = 0;
  return instantiate(exec, graph, 0);
}

CUresult drv_cuGraphInstantiateWithParams(CUgraphExec *exec, CUgraph graph,
                                          CUDA_GRAPH_INSTANTIATE_PARAMS *parameters) {
  if (!parameters)
    return CUDA_ERROR_INVALID_VALUE;
  CUresult r = instantiate(exec, graph, parameters->flags);
  parameters->hErrNode_out = NULL;
  parameters->result_out = r != CUDA_SUCCESS;
  return r;
}

CUresult drv_cuGraphExecGetFlags(CUgraphExec exec, uint64_t *flags) {
  drv_exec *e = drv_find(exec, DRV_EXEC);
  if (!e || !flags)
    return CUDA_ERROR_INVALID_VALUE;
  *flags = e->flags;
  return CUDA_SUCCESS;
}

/* told NULL: a graph within a node, whose nodes are told in the order in which they are issued here. */
static CUresult run(const drv_graph *g, drv_stream *s, drv_tell_graph *told) {
  for (drv_node *n = g->nodes; n; n = n->next) {
    CUresult r = CUDA_SUCCESS;
    if (told)
      drv_tell_node(told, s, n);
    if (n->child) {
      r = run(n->child, s, NULL);
    } else if (n->event) {
      if (!drv_find(n->event, DRV_EVENT))
        r = CUDA_ERROR_INVALID_VALUE;
      else if (n->type == CU_GRAPH_NODE_TYPE_EVENT_RECORD)
        r = s->capture ? drv_capture_record(s, n->event, true) : drv_event_record(n->event, s);
      else
        r = s->capture ? drv_capture_wait(s, n->event, true) : drv_event_wait(n->event, s);
    } else if (n->op) {
      drv_op *op = drv_op_copy(n->op);
      r = op ? drv_issue(s, op) : CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (told)
      drv_tell_node_end(n);
    if (r != CUDA_SUCCESS)
      return r;
  }
  return CUDA_SUCCESS;
}

CUresult drv_cuGraphLaunch(CUgraphExec exec, CUstream stream) {
  drv_exec *e = drv_find(exec, DRV_EXEC);
  drv_stream *s;
  CUresult r = drv_stream_of(stream, &s);
  if (!e)
    return CUDA_ERROR_INVALID_VALUE;
  if (r != CUDA_SUCCESS)
    return r;
  drv_tell_graph told = {0};
  r = run(e->graph, s, &told);
  drv_tell_graph_end(&told, s);
  return r;
}

CUresult drv_cuGraphUpload(CUgraphExec exec, CUstream stream) {
  drv_stream *s;
  CUresult r = drv_stream_of(stream, &s);
  return drv_find(exec, DRV_EXEC) ? r : CUDA_ERROR_INVALID_VALUE;
}

CUresult drv_cuGraphExecDestroy(CUgraphExec exec) {
  drv_exec *e = drv_find(exec, DRV_EXEC);
  if (!e)
    return CUDA_ERROR_INVALID_VALUE;
  drv_graph_free(e->graph);
  drv_handle_remove(e);
  free(e);
  return CUDA_SUCCESS;
}

drv_node *drv_exec_node(CUgraphExec exec, CUgraphNode node) {
  drv_exec *e = drv_find(exec, DRV_EXEC);
  return e && node ? copy_of(e->graph, node) : NULL;
}

/* Whether two graphs have the same shape, node by node in the order in which they were added. */
CUresult drv_cuGraphExecUpdate(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo *info) {
  enum { UPDATED = 0, TOPOLOGY_CHANGED = 2, TYPE_CHANGED = 3 };
  drv_exec *e = drv_find(exec, DRV_EXEC);
  drv_graph *g = drv_find(graph, DRV_GRAPH), *new;
  if (!e || !g || !info)
    return CUDA_ERROR_INVALID_VALUE;
  CUresult r = graph_copy(g, &new);
  if (r != CUDA_SUCCESS)
    return r;
  *info = (CUgraphExecUpdateResultInfo){.result = UPDATED};
  drv_node *a = e->graph->nodes, *b = new->nodes;
  for (; a && b && info->result == UPDATED; a = a->next, b = b->next) {
    if (a->type != b->type)
      info->result = TYPE_CHANGED;
    else if (a->n_needs != b->n_needs)
      info->result = TOPOLOGY_CHANGED;
    if (info->result != UPDATED)
      info->errorNode = b->origin;
  }
  if (info->result == UPDATED && (a || b))
    info->result = TOPOLOGY_CHANGED;
  if (info->result != UPDATED) {
    drv_graph_free(new);
    return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
  }
  /* The nodes keep their origins, by which the program names them. */
  for (a = e->graph->nodes, b = new->nodes; a; a = a->next, b = b->next)
    b->origin = a->origin;
  drv_graph_free(e->graph);
  e->graph = new;
  return CUDA_SUCCESS;
}
