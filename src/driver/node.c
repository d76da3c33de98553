/* node.c: what the nodes of a graph do: kernels, copies, fills, host functions; added, asked for and changed.
 * A change of an executable graph's node is the same as of a graph's, made on the copy.
 */
#include <stdlib.h>
#include <string.h>

#include "driver/graph.h"

static drv_node *node_of(CUgraphNode node, CUgraphNodeType type) {
  drv_node *n = drv_find(node, DRV_NODE);
  return n && n->type == type ? n : NULL;
}

static drv_node *exec_node_of(CUgraphExec exec, CUgraphNode node, CUgraphNodeType type) {
  drv_node *n = drv_exec_node(exec, node);
  return n && n->type == type ? n : NULL;
}

/* Adds a node for an operation that was made or not. */
static CUresult add(CUgraphNode *node, CUgraph graph, const CUgraphNode *needs, size_t count,
                    CUgraphNodeType type, CUresult made, drv_op *op) {
  if (made != CUDA_SUCCESS)
    return made;
  if (!node || !drv_find(graph, DRV_GRAPH) || (count && !needs)) {
    drv_op_free(op);
    return CUDA_ERROR_INVALID_VALUE;
  }
  for (size_t i = 0; i < count; i++) {
    drv_node *n = drv_find(needs[i], DRV_NODE);
    if (!n || n->graph != graph) {
      drv_op_free(op);
      return CUDA_ERROR_INVALID_VALUE;
    }
  }
  return drv_graph_add(graph, type, op, needs, count, node);
}

/* Puts a new operation in the place of the old one. */
static CUresult change(drv_node *n, CUresult made, drv_op *op) {
  if (!n) {
    drv_op_free(made == CUDA_SUCCESS ? op : NULL);
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (made != CUDA_SUCCESS)
    return made;
  drv_op_free(n->op);
  n->op = op;
  return CUDA_SUCCESS;
}

/* ------------------------------------------------------------------ kernels */

static CUresult kernel_op(const CUDA_KERNEL_NODE_PARAMS *p, bool short_form, drv_op **op) {
  drv_function *f;
  if (!p)
    return CUDA_ERROR_INVALID_VALUE;
  CUfunction handle = p->func ? p->func : short_form ? NULL : (CUfunction)(void *)p->kern;
  CUresult r = drv_function_of(handle, &f);
  if (r != CUDA_SUCCESS)
    return r;
  if (!(*op = drv_op_new(DRV_OP_LAUNCH)))
    return CUDA_ERROR_OUT_OF_MEMORY;
  drv_launch *l = &(*op)->launch;
  *l = (drv_launch){.grid = {p->gridDimX, p->gridDimY, p->gridDimZ},
                    .block = {p->blockDimX, p->blockDimY, p->blockDimZ},
                    .shared_bytes = p->sharedMemBytes};
  r = drv_launch_check(f, l, p->kernelParams, p->extra);
  if (r != CUDA_SUCCESS)
    drv_op_free(*op);
  return r;
}

CUresult drv_cuGraphAddKernelNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *needs, size_t count,
                                  const CUDA_KERNEL_NODE_PARAMS *parameters) {
  drv_op *op = NULL;
  CUresult r = kernel_op(parameters, false, &op);
  return add(node, graph, needs, count, CU_GRAPH_NODE_TYPE_KERNEL, r, op);
}

/* The older structure ends before `kern`. */
CUresult drv_old_cuGraphAddKernelNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *needs,
                                      size_t count, const CUDA_KERNEL_NODE_PARAMS *parameters) {
  drv_op *op = NULL;
  CUresult r = kernel_op(parameters, true, &op);
  return add(node, graph, needs, count, CU_GRAPH_NODE_TYPE_KERNEL, r, op);
}

CUresult drv_cuGraphKernelNodeGetParams(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *p) {
  drv_node *n = node_of(node, CU_GRAPH_NODE_TYPE_KERNEL);
  if (!n || !p)
    return CUDA_ERROR_INVALID_VALUE;
  const drv_launch *l = &n->op->launch;
  const ptx_func *f = &l->function->unit->funcs[l->function->index];
  free(n->param_pointers);
  n->param_pointers = calloc(f->n_params + 1, sizeof *n->param_pointers);
  if (!n->param_pointers)
    return CUDA_ERROR_OUT_OF_MEMORY;
  for (uint32_t i = 0; i < f->n_params; i++)
    n->param_pointers[i] = l->params + f->params[i].offset;
  *p = (CUDA_KERNEL_NODE_PARAMS){
      .func = l->function,
      .gridDimX = l->grid[0],
      .gridDimY = l->grid[1],
      .gridDimZ = l->grid[2],
      .blockDimX = l->block[0],
      .blockDimY = l->block[1],
      .blockDimZ = l->block[2],
      .sharedMemBytes = l->shared_bytes,
      .kernelParams = n->param_pointers,
      .ctx = l->function->module->context,
  };
  return CUDA_SUCCESS;
}

CUresult drv_cuGraphKernelNodeSetParams(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *parameters) {
  drv_op *op = NULL;
  CUresult r = kernel_op(parameters, false, &op);
  return change(node_of(node, CU_GRAPH_NODE_TYPE_KERNEL), r, op);
}

CUresult drv_cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                            const CUDA_KERNEL_NODE_PARAMS *parameters) {
  drv_op *op = NULL;
  CUresult r = kernel_op(parameters, false, &op);
  return change(exec_node_of(exec, node, CU_GRAPH_NODE_TYPE_KERNEL), r, op);
}

/* ------------------------------------------------------------------ copies */

static CUresult copy_node(drv_node *n, const CUDA_MEMCPY3D *copy) {
  drv_op *op = NULL;
  CUresult r = copy ? drv_copy_op(copy, &op) : CUDA_ERROR_INVALID_VALUE;
  r = change(n, r, op);
  if (r == CUDA_SUCCESS) {
    n->copy = *copy;
    n->has_copy = true;
  }
  return r;
}

CUresult drv_cuGraphAddMemcpyNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *needs, size_t count,
                                  const CUDA_MEMCPY3D *copy, CUcontext context) {
  drv_op *op = NULL;
  if (!copy || (context && !drv_find(context, DRV_CONTEXT)))
    return CUDA_ERROR_INVALID_VALUE;
  CUresult r = drv_copy_op(copy, &op);
  r = add(node, graph, needs, count, CU_GRAPH_NODE_TYPE_MEMCPY, r, op);
  if (r == CUDA_SUCCESS) {
    (*node)->copy = *copy;
    (*node)->has_copy = true;
  }
  return r;
}

/* Of a captured copy: the same bytes, in the one form that says any copy. */
static void describe_copy(const drv_op *op, CUDA_MEMCPY3D *c) {
  const drv_shape *s = &op->copy.shape;
  *c = (CUDA_MEMCPY3D){
      .srcMemoryType = CU_MEMORYTYPE_UNIFIED,
      .srcDevice = (uintptr_t)op->copy.from.at,
      .srcPitch = op->copy.from.pitch,
      .srcHeight = op->copy.from.pitch ? op->copy.from.layer / op->copy.from.pitch : 0,
      .dstMemoryType = CU_MEMORYTYPE_UNIFIED,
      .dstDevice = (uintptr_t)op->copy.to.at,
      .dstPitch = op->copy.to.pitch,
      .dstHeight = op->copy.to.pitch ? op->copy.to.layer / op->copy.to.pitch : 0,
      .WidthInBytes = s->width,
      .Height = s->height,
      .Depth = s->depth,
  };
}

CUresult drv_cuGraphMemcpyNodeGetParams(CUgraphNode node, CUDA_MEMCPY3D *copy) {
  drv_node *n = node_of(node, CU_GRAPH_NODE_TYPE_MEMCPY);
  if (!n || !copy)
    return CUDA_ERROR_INVALID_VALUE;
  if (n->has_copy)
    *copy = n->copy;
  else
    describe_copy(n->op, copy);
  return CUDA_SUCCESS;
}

CUresult drv_cuGraphMemcpyNodeSetParams(CUgraphNode node, const CUDA_MEMCPY3D *copy) {
  return copy_node(node_of(node, CU_GRAPH_NODE_TYPE_MEMCPY), copy);
}

CUresult drv_cuGraphExecMemcpyNodeSetParams(CUgraphExec exec, CUgraphNode node, const CUDA_MEMCPY3D *copy,
                                            CUcontext context) {
  if (context && !drv_find(context, DRV_CONTEXT))
    return CUDA_ERROR_INVALID_VALUE;
  return copy_node(exec_node_of(exec, node, CU_GRAPH_NODE_TYPE_MEMCPY), copy);
}

/* ------------------------------------------------------------------ fills */

static CUresult fill_op(const CUDA_MEMSET_NODE_PARAMS *f, drv_op **op) {
  if (!f || (f->elementSize != 1 && f->elementSize != 2 && f->elementSize != 4) || f->width == 0 ||
      f->height == 0)
    return CUDA_ERROR_INVALID_VALUE;
  return drv_fill_op(f->dst, f->pitch, f->value, f->elementSize, f->width, f->height, op);
}

CUresult drv_cuGraphAddMemsetNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *needs, size_t count,
                                  const CUDA_MEMSET_NODE_PARAMS *fill, CUcontext context) {
  drv_op *op = NULL;
  if (context && !drv_find(context, DRV_CONTEXT))
    return CUDA_ERROR_INVALID_VALUE;
  CUresult r = fill_op(fill, &op);
  return add(node, graph, needs, count, CU_GRAPH_NODE_TYPE_MEMSET, r, op);
}

CUresult drv_cuGraphMemsetNodeGetParams(CUgraphNode node, CUDA_MEMSET_NODE_PARAMS *fill) {
  drv_node *n = node_of(node, CU_GRAPH_NODE_TYPE_MEMSET);
  if (!n || !fill)
    return CUDA_ERROR_INVALID_VALUE;
  *fill = (CUDA_MEMSET_NODE_PARAMS){
      .dst = (uintptr_t)n->op->fill.to.at,
      .pitch = n->op->fill.to.pitch,
      .value = n->op->fill.value,
      .elementSize = n->op->fill.value_bytes,
      .width = n->op->fill.shape.width / n->op->fill.value_bytes,
      .height = n->op->fill.shape.height,
  };
  return CUDA_SUCCESS;
}

CUresult drv_cuGraphMemsetNodeSetParams(CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS *fill) {
  drv_op *op = NULL;
  CUresult r = fill_op(fill, &op);
  return change(node_of(node, CU_GRAPH_NODE_TYPE_MEMSET), r, op);
}

CUresult drv_cuGraphExecMemsetNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                            const CUDA_MEMSET_NODE_PARAMS *fill, CUcontext context) {
  drv_op *op = NULL;
  if (context && !drv_find(context, DRV_CONTEXT))
    return CUDA_ERROR_INVALID_VALUE;
  CUresult r = fill_op(fill, &op);
  return change(exec_node_of(exec, node, CU_GRAPH_NODE_TYPE_MEMSET), r, op);
}

/* ------------------------------------------------------------------ host functions */

static CUresult host_op(const CUDA_HOST_NODE_PARAMS *h, drv_op **op) {
  if (!h || !h->fn)
    return CUDA_ERROR_INVALID_VALUE;
  if (!(*op = drv_op_new(DRV_OP_CALL)))
    return CUDA_ERROR_OUT_OF_MEMORY;
  (*op)->call.host = h->fn;
  (*op)->call.user = h->userData;
  return CUDA_SUCCESS;
}

CUresult drv_cuGraphAddHostNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *needs, size_t count,
                                const CUDA_HOST_NODE_PARAMS *host) {
  drv_op *op = NULL;
  CUresult r = host_op(host, &op);
  return add(node, graph, needs, count, CU_GRAPH_NODE_TYPE_HOST, r, op);
}

CUresult drv_cuGraphHostNodeGetParams(CUgraphNode node, CUDA_HOST_NODE_PARAMS *host) {
  drv_node *n = node_of(node, CU_GRAPH_NODE_TYPE_HOST);
  if (!n || !host)
    return CUDA_ERROR_INVALID_VALUE;
  *host = (CUDA_HOST_NODE_PARAMS){n->op->call.host, n->op->call.user};
  return CUDA_SUCCESS;
}

CUresult drv_cuGraphHostNodeSetParams(CUgraphNode node, const CUDA_HOST_NODE_PARAMS *host) {
  drv_op *op = NULL;
  CUresult r = host_op(host, &op);
  return change(node_of(node, CU_GRAPH_NODE_TYPE_HOST), r, op);
}

CUresult drv_cuGraphExecHostNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                          const CUDA_HOST_NODE_PARAMS *host) {
  drv_op *op = NULL;
  CUresult r = host_op(host, &op);
  return change(exec_node_of(exec, node, CU_GRAPH_NODE_TYPE_HOST), r, op);
}
