/* graph.h: graphs as recorded lists of operations, and the capture of streams into them. */
#ifndef MUSTER_GRAPH_H
#define MUSTER_GRAPH_H

#include "driver/drv.h"

/* Where a node stands among those of a launch of its graph, for watchers: tell.c. */
typedef struct drv_node_order {
  uint64_t lane, record;
  bool continued; /* another node goes on in its lane */
} drv_node_order;

/* A node holds the operation that each launch of the graph repeats, in the form that a stream takes. */
typedef struct drv_node {
  struct drv_node *next;
  struct drv_graph *graph;
  CUgraphNodeType type;
  drv_op *op;                      /* KERNEL, MEMCPY, MEMSET, HOST; NULL: nothing to do */
  drv_event *event;                /* EVENT_RECORD, WAIT_EVENT */
  struct drv_graph *child;         /* GRAPH; owned */
  struct drv_graph_memory *memory; /* MEM_ALLOC; shared with the copies of the node */
  CUdeviceptr address;             /* MEM_FREE */
  struct drv_node **needs;
  size_t n_needs;
  uint32_t capacity;
  struct drv_node *origin; /* in a clone or an executable graph: which node it was made from */
  CUDA_MEMCPY3D copy;      /* as given by cuGraphAddMemcpyNode */
  bool has_copy;
  void **param_pointers; /* what GetParams gives out */
  drv_node_order order;  /* of the launch at work */
} drv_node;

typedef struct drv_graph {
  drv_node *nodes, **end;
  size_t n_nodes;
} drv_graph;

drv_graph *drv_graph_new(void);
void drv_graph_free(drv_graph *g);
/* Takes over `op`, whatever the result. */
CUresult drv_graph_add(drv_graph *g, CUgraphNodeType type, drv_op *op, drv_node *const *needs, size_t n_needs,
                       drv_node **to);
bool drv_node_need(drv_node *n, drv_node *other); /* false: out of memory */
/* A copy of an operation that can be given to a stream; NULL: out of memory. */
drv_op *drv_op_copy(const drv_op *op);
/* Memory that a node allocates: an allocation in stream order of a captured stream, and its end. */
CUresult drv_capture_alloc(drv_stream *s, size_t bytes, CUdeviceptr *address);
CUresult drv_capture_free(drv_stream *s, CUdeviceptr address);
CUresult drv_capture_node(drv_stream *s, CUgraphNodeType type, drv_node **to);
void drv_graph_memory_share(struct drv_graph_memory *m); /* NULL is fine */
void drv_graph_memory_drop(struct drv_graph_memory *m);
/* The program frees it itself, in place of a node. */
void drv_graph_memory_freed(struct drv_graph_memory *m);
/* The node of an executable graph that was made from this one; NULL. */
drv_node *drv_exec_node(CUgraphExec exec, CUgraphNode node);
/* Whether `node` comes before, or is, one of these. */
bool drv_node_before(const drv_node *node, drv_node *const *of, size_t n);

/* The launch of a graph: all that is issued between drv_tell_node and drv_tell_node_end is that node's, and
 * comes after what the node needs, after what the stream had before, and after nothing else. */
typedef struct drv_tell_graph {
  uint32_t lanes;
} drv_tell_graph;
void drv_tell_node(drv_tell_graph *g, const drv_stream *s, drv_node *n);
void drv_tell_node_end(drv_node *n);
void drv_tell_graph_end(const drv_tell_graph *g, const drv_stream *s);

/* ------------------------------------------------------------------ capture (capture.c) */

/* The operation becomes a node of the graph that the stream captures. Takes it over whatever the result. */
CUresult drv_capture_add(drv_stream *s, drv_op *op);
CUresult drv_capture_record(drv_stream *s, drv_event *e, bool external);
CUresult drv_capture_wait(drv_stream *s, drv_event *e, bool external);
/* A function that no capture can hold was called: the capture is spoiled. Returns the error. */
CUresult drv_capture_invalid(drv_stream *s);
/* The same for a function that waits for, or works on, all of a context: an error while a stream is capturing
 * that the calling thread's mode protects. */
CUresult drv_capture_forbids(void);
/* Whether work of the legacy stream would make it depend on a capturing stream. */
bool drv_capture_blocks_legacy(drv_context *c);
bool drv_capture_has_event(const drv_event *e);
void drv_capture_forget_event(drv_event *e);
void drv_capture_drop(drv_stream *s);

#endif
