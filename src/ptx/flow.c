/* flow.c: basic blocks and what a scheduler needs to know of them: who follows whom, an order in which a
 * block comes after those that lead to it (loops apart), and where threads that part at a branch meet again.
 */
#include <string.h>

#include "base/graph.h"
#include "ptx/body.h"

typedef struct flow {
  ptx_body *body;
  const ptx_func *funcs;
  base_arena *arena, *scratch;
  ptx_block *blocks;
  uint32_t *edges, n_edges, cap_edges;
  uint32_t *block_of;   /* of an instruction; PTX_NONE behind the last: the function returns there */
  bool *leaves, *traps; /* a block from which threads leave; one that ends in a trap */
} flow;

/* A call of a function that never returns. */
static bool never_returns(const flow *f, const ptx_insn *i) {
  if (i->op != PTX_OP_call_ctl)
    return false;
  const ptx_operand *callee = &f->body->operands[i->operands + 1];
  return callee->kind == PTX_FUNC && f->funcs[callee->index].noreturn;
}

static bool ends_block(const flow *f, const ptx_insn *i) {
  ptx_sync s = ptx_op_get((ptx_op)i->op)->sync;
  return s == PTX_SYNC_BRANCH || s == PTX_SYNC_EXIT || never_returns(f, i);
}

/* Labels an instruction may go to. */
static uint32_t targets(const ptx_body *body, const ptx_insn *i, const uint32_t **list) {
  for (unsigned n = 0; n < i->n_operands; n++) {
    const ptx_operand *o = &body->operands[i->operands + n];
    if (o->kind == PTX_LABEL) {
      *list = &o->index;
      return 1;
    }
    if (o->kind == PTX_LABELS) {
      *list = body->targets[o->index].label;
      return body->targets[o->index].n;
    }
  }
  return 0;
}

static void make_blocks(flow *f) {
  ptx_body *body = f->body;
  uint32_t n = body->n_insns;
  uint8_t *leads = base_alloc_array(f->scratch, n + 1, 1);
  f->block_of = base_alloc_array(f->scratch, n + 1, sizeof *f->block_of);
  leads[0] = 1;
  for (uint32_t l = 0; l < body->n_labels; l++)
    leads[body->labels[l].insn] = 1;
  for (uint32_t i = 0; i < n; i++)
    if (ends_block(f, &body->insns[i]))
      leads[i + 1] = 1;
  uint32_t blocks = 0;
  for (uint32_t i = 0; i < n; i++)
    blocks += leads[i];
  f->blocks = base_alloc_array(f->arena, blocks, sizeof *f->blocks);
  body->n_blocks = 0;
  for (uint32_t i = 0; i < n; i++) {
    if (leads[i]) {
      if (body->n_blocks)
        f->blocks[body->n_blocks - 1].end = i;
      f->blocks[body->n_blocks++] = (ptx_block){.first = i, .rpo = PTX_NONE, .ipdom = PTX_NONE};
    }
    f->block_of[i] = body->n_blocks - 1;
  }
  if (body->n_blocks)
    f->blocks[body->n_blocks - 1].end = n;
  f->block_of[n] = PTX_NONE;
}

static void add_edge(flow *f, uint32_t from, uint32_t to) {
  ptx_block *block = &f->blocks[from];
  if (to == PTX_NONE) {
    f->leaves[from] = true;
    return;
  }
  for (uint32_t e = block->succ; e < block->succ + block->n_succ; e++)
    if (f->edges[e] == to)
      return;
  *BASE_PUSH(f->scratch, f->edges, f->n_edges, f->cap_edges) = to;
  block->n_succ++;
}

static void make_edges(flow *f) {
  const ptx_body *body = f->body;
  f->leaves = base_alloc_array(f->scratch, body->n_blocks, sizeof *f->leaves);
  f->traps = base_alloc_array(f->scratch, body->n_blocks, sizeof *f->traps);
  for (uint32_t b = 0; b < body->n_blocks; b++) {
    ptx_block *block = &f->blocks[b];
    const ptx_insn *last = &body->insns[block->end - 1];
    block->succ = f->n_edges;
    /* who leaves under a guard parts from nobody: the others go on, so that counts as no edge to the exit */
    if (!ends_block(f, last) || last->guard != PTX_NONE)
      add_edge(f, b, f->block_of[block->end]);
    else if (last->op == PTX_OP_trap_ctl || never_returns(f, last))
      f->traps[b] = true;
    else if (ptx_op_get((ptx_op)last->op)->sync == PTX_SYNC_EXIT)
      f->leaves[b] = true;
    const uint32_t *list = NULL;
    uint32_t n = targets(body, last, &list);
    for (uint32_t t = 0; t < n; t++)
      add_edge(f, b, f->block_of[body->labels[list[t]].insn]);
  }
}

/* Depth first without recursion: a body may have as many blocks as its text has lines. */
static void make_order(flow *f) {
  ptx_body *body = f->body;
  uint32_t n = body->n_blocks, depth = 0, left = n;
  uint32_t *order = base_alloc_array(f->arena, n, sizeof *order);
  uint32_t *stack = base_alloc_array(f->scratch, n, sizeof *stack),
           *next = base_alloc_array(f->scratch, n, sizeof *next);
  uint8_t *seen = base_alloc_array(f->scratch, n, 1);
  if (n) {
    stack[depth++] = 0;
    seen[0] = 1;
  }
  while (depth) {
    uint32_t b = stack[depth - 1];
    if (next[b] < f->blocks[b].n_succ) {
      /* the last successor first, so that the fall-through comes next in the order */
      uint32_t to = f->edges[f->blocks[b].succ + f->blocks[b].n_succ - 1 - next[b]++];
      if (!seen[to]) {
        seen[to] = 1;
        stack[depth++] = to;
      }
    } else {
      order[--left] = b;
      depth--;
    }
  }
  body->n_order = n - left;
  if (left)
    memmove(order, order + left, body->n_order * sizeof *order);
  body->order = order;
  for (uint32_t i = 0; i < body->n_order; i++)
    f->blocks[order[i]].rpo = i;
  for (uint32_t i = 0; i < body->n_order; i++) {
    const ptx_block *b = &f->blocks[order[i]];
    for (uint32_t e = b->succ; e < b->succ + b->n_succ; e++)
      if (f->blocks[f->edges[e]].rpo <= i)
        f->blocks[f->edges[e]].loop_head = true;
  }
}

/* Where threads that part meet again. What can only trap is left out: nobody waits for those threads. */
static void make_postdominators(flow *f) {
  uint32_t n = f->body->n_blocks;
  uint32_t *first = base_alloc_array(f->scratch, n + 1, sizeof *first);
  for (uint32_t b = 0; b < n; b++)
    first[b] = f->blocks[b].succ;
  first[n] = f->n_edges;
  base_graph g = {.n = n, .first = first, .next = f->edges, .leaves = f->leaves};
  const uint32_t *ipdom = base_postdominators(&g, f->traps, f->scratch, f->scratch);
  for (uint32_t b = 0; b < n; b++)
    f->blocks[b].ipdom = ipdom[b];
}

void ptx_flow(ptx_body *body, const ptx_func *funcs, base_arena *arena, base_arena *scratch) {
  flow f = {.body = body, .funcs = funcs, .arena = arena, .scratch = scratch};
  make_blocks(&f);
  make_edges(&f);
  make_order(&f);
  make_postdominators(&f);
  uint32_t *edges = base_alloc_array(arena, f.n_edges, sizeof *edges);
  if (f.n_edges)
    memcpy(edges, f.edges, f.n_edges * sizeof *edges);
  body->edges = edges;
  body->n_edges = f.n_edges;
  body->blocks = f.blocks;
}
