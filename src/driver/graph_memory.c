/* graph_memory.c: memory that nodes of a graph allocate and free. An allocation has one address for every
 * launch of the graph and its copies, so it is made with the node and kept while any of them lives; the nodes
 * themselves do nothing at a launch. What a graph allocates and nobody frees is the program's when the last
 * copy of the graph goes.
 */
#include <stdlib.h>

#include "driver/graph.h"

typedef struct drv_graph_memory {
  uint32_t users; /* nodes */
  bool freed;     /* a node frees it, or the program did */
  CUDA_MEM_ALLOC_NODE_PARAMS params;
} drv_graph_memory;

static uint64_t used[DRV_DEVICES], high[DRV_DEVICES];

void drv_graph_memory_share(drv_graph_memory *m) {
  if (m)
    m->users++;
}

void drv_graph_memory_drop(drv_graph_memory *m) {
  if (!m || --m->users > 0)
    return;
  drv_memory *memory = drv_memory_at(m->params.dptr);
  if (memory && memory->graph == m) {
    used[m->params.poolProps.location.id] -= m->params.bytesize;
    memory->graph = NULL;
    if (m->freed)
      drv_memory_release(m->params.dptr);
  }
  free(m);
}

void drv_graph_memory_freed(drv_graph_memory *m) {
  m->freed = true;
}

/* Makes the memory for a node of `c`. */
static CUresult make(drv_context *c, const CUDA_MEM_ALLOC_NODE_PARAMS *p, drv_graph_memory **to) {
  drv_device *d = c->device;
  drv_graph_memory *m = calloc(1, sizeof *m);
  if (!m)
    return CUDA_ERROR_OUT_OF_MEMORY;
  m->users = 1;
  m->params = *p;
  m->params.poolProps.location = (CUmemLocation){CU_MEM_LOCATION_TYPE_DEVICE, d->ordinal};
  CUresult r = drv_pool_allocate(&m->params.dptr, p->bytesize, &d->default_pool, c);
  if (r != CUDA_SUCCESS) {
    free(m);
    return r;
  }
  drv_memory_at(m->params.dptr)->graph = m;
  used[d->ordinal] += p->bytesize;
  if (used[d->ordinal] > high[d->ordinal])
    high[d->ordinal] = used[d->ordinal];
  *to = m;
  return CUDA_SUCCESS;
}

/* ------------------------------------------------------------------ captured */

CUresult drv_capture_alloc(drv_stream *s, size_t bytes, CUdeviceptr *address) {
  drv_graph_memory *m;
  drv_node *n;
  if (!address || bytes == 0)
    return CUDA_ERROR_INVALID_VALUE;
  CUDA_MEM_ALLOC_NODE_PARAMS p = {.poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED},
                                  .bytesize = bytes};
  CUresult r = make(s->context, &p, &m);
  if (r != CUDA_SUCCESS)
    return r;
  r = drv_capture_node(s, CU_GRAPH_NODE_TYPE_MEM_ALLOC, &n);
  if (r != CUDA_SUCCESS) {
    m->freed = true;
    drv_graph_memory_drop(m);
    return r;
  }
  n->memory = m;
  *address = m->params.dptr;
  return CUDA_SUCCESS;
}

CUresult drv_capture_free(drv_stream *s, CUdeviceptr address) {
  drv_memory *memory = drv_memory_at(address);
  drv_node *n;
  if (!memory->graph) {
    drv_capture_invalid(s);
    return drv_refuse("cuMemFreeAsync in a captured stream, of memory that the graph does not allocate,");
  }
  CUresult r = drv_capture_node(s, CU_GRAPH_NODE_TYPE_MEM_FREE, &n);
  if (r == CUDA_SUCCESS) {
    n->address = address;
    drv_graph_memory_freed(memory->graph);
  }
  return r;
}

/* ------------------------------------------------------------------ by hand */

CUresult drv_cuGraphAddMemAllocNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *needs, size_t count,
                                    CUDA_MEM_ALLOC_NODE_PARAMS *p) {
  drv_graph_memory *m;
  drv_device *d = p ? drv_device_at(p->poolProps.location.id) : NULL;
  if (!p || p->bytesize == 0 || p->poolProps.allocType != CU_MEM_ALLOCATION_TYPE_PINNED ||
      p->poolProps.location.type != CU_MEM_LOCATION_TYPE_DEVICE || !d)
    return CUDA_ERROR_INVALID_VALUE;
  if (d != drv_current()->device)
    return drv_refuse("memory of another device in a graph");
  CUresult r = drv_cuGraphAddEmptyNode(node, graph, needs, count);
  if (r != CUDA_SUCCESS)
    return r;
  if ((r = make(drv_current(), p, &m)) != CUDA_SUCCESS) {
    drv_cuGraphDestroyNode(*node);
    return r;
  }
  (*node)->type = CU_GRAPH_NODE_TYPE_MEM_ALLOC;
  (*node)->memory = m;
  p->dptr = m->params.dptr;
  return CUDA_SUCCESS;
}

CUresult drv_cuGraphMemAllocNodeGetParams(CUgraphNode node, CUDA_MEM_ALLOC_NODE_PARAMS *p) {
  drv_node *n = drv_find(node, DRV_NODE);
  if (!n || !n->memory || !p)
    return CUDA_ERROR_INVALID_VALUE;
  *p = n->memory->params;
  return CUDA_SUCCESS;
}

CUresult drv_cuGraphAddMemFreeNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *needs, size_t count,
                                   CUdeviceptr address) {
  drv_memory *memory = drv_memory_at(address);
  if (!memory || memory->address != address || !memory->graph)
    return CUDA_ERROR_INVALID_VALUE;
  CUresult r = drv_cuGraphAddEmptyNode(node, graph, needs, count);
  if (r != CUDA_SUCCESS)
    return r;
  (*node)->type = CU_GRAPH_NODE_TYPE_MEM_FREE;
  (*node)->address = address;
  drv_graph_memory_freed(memory->graph);
  return CUDA_SUCCESS;
}

CUresult drv_cuGraphMemFreeNodeGetParams(CUgraphNode node, CUdeviceptr *address) {
  drv_node *n = drv_find(node, DRV_NODE);
  if (!n || n->type != CU_GRAPH_NODE_TYPE_MEM_FREE || !address)
    return CUDA_ERROR_INVALID_VALUE;
  *address = n->address;
  return CUDA_SUCCESS;
}

/* ------------------------------------------------------------------ accounts */

CUresult drv_cuDeviceGetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attribute, void *value) {
  if (!value)
    return CUDA_ERROR_INVALID_VALUE;
  if (!drv_device_at(device))
    return CUDA_ERROR_INVALID_DEVICE;
  switch (attribute) {
  case CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT:
  case CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT:
    *(uint64_t *)value = used[device];
    return CUDA_SUCCESS;
  case CU_GRAPH_MEM_ATTR_USED_MEM_HIGH:
  case CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH:
    *(uint64_t *)value = high[device];
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_VALUE;
}

CUresult drv_cuDeviceSetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attribute, void *value) {
  if (!value || *(uint64_t *)value != 0 ||
      (attribute != CU_GRAPH_MEM_ATTR_USED_MEM_HIGH && attribute != CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH))
    return CUDA_ERROR_INVALID_VALUE;
  if (!drv_device_at(device))
    return CUDA_ERROR_INVALID_DEVICE;
  high[device] = used[device];
  return CUDA_SUCCESS;
}

CUresult drv_cuDeviceGraphMemTrim(CUdevice device) {
  return drv_device_at(device) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}
