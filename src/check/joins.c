/* joins.c: flow graphs as joins.h tells them: which ways count, post-dominators, regions, loops, and which
 * branches may send threads of one block different ways.
 *
 * A register varies if threads of a block may hold different values in it: what comes of a thread's number or
 * lane, of memory, of collectives, and what is written where not all threads come by. Everything else is the
 * same in the whole block, and so are the ways that it decides. */
#include <stdlib.h>
#include <string.h>

#include "base/graph.h"
#include "check/joins.h"

typedef struct graph {
  joins *j;
  const ptx_module *module;
  const ptx_body *b;
  base_arena *scratch;
  bool kernel;
  uint8_t *funcs;          /* of the module: whether they may stop */
  uint8_t *leaves_only;    /* of block: nothing happens on this way but the end */
  uint32_t *ipdom;         /* of block; PTX_NONE: the exit */
  uint32_t *cd_first, *cd; /* of block: the blocks whose branches decide whether it is come by */
  uint8_t *reg_varies, *varies_here, *branch_varies;
} graph;

static ptx_sync sync_of(const ptx_insn *i) {
  return (ptx_sync)ptx_op_get((ptx_op)i->op)->sync;
}

static const ptx_operand *operand(const ptx_body *b, const ptx_insn *i, unsigned n) {
  return &b->operands[i->operands + n];
}

bool joins_is_whole_barrier(const ptx_body *b, const ptx_insn *i) {
  switch (i->op) {
  case PTX_OP_bar_block:
  case PTX_OP_barrier_block:
    return operand(b, i, 1)->kind == PTX_ABSENT;
  case PTX_OP_bar_red:
  case PTX_OP_barrier_red:
    return operand(b, i, 2)->kind == PTX_ABSENT;
  default:
    return false;
  }
}

static bool is_stop(const graph *g, const ptx_body *b, const ptx_insn *i);

/* A function that may come to a barrier of the block, itself or in what it calls by name. */
static bool may_stop(const graph *g, uint32_t func) {
  enum { UNKNOWN, NO, YES };
  if (g->funcs[func] != UNKNOWN)
    return g->funcs[func] == YES;
  g->funcs[func] = NO; /* until known: it may call itself */
  const ptx_body *b = ptx_body_of((ptx_module *)(uintptr_t)g->module, func);
  for (uint32_t n = 0; b && n < b->n_insns && g->funcs[func] == NO; n++)
    if (is_stop(g, b, &b->insns[n]))
      g->funcs[func] = YES;
  return g->funcs[func] == YES;
}

static bool is_stop(const graph *g, const ptx_body *b, const ptx_insn *i) {
  return joins_is_whole_barrier(b, i) || (i->op == PTX_OP_call_ctl && operand(b, i, 1)->kind == PTX_FUNC &&
                                          may_stop(g, operand(b, i, 1)->index));
}

/* ------------------------------------------------------------------ ways that count */

static uint32_t successor(const graph *g, uint32_t block, uint32_t k) {
  return g->b->edges[g->b->blocks[block].succ + k];
}

static bool ends_nowhere(const graph *g, const ptx_block *k) {
  const ptx_insn *last = &g->b->insns[k->end - 1];
  if (last->guard != PTX_NONE)
    return false;
  if (last->op == PTX_OP_trap_ctl)
    return true;
  return last->op == PTX_OP_call_ctl && operand(g->b, last, 1)->kind == PTX_FUNC &&
         g->module->funcs[operand(g->b, last, 1)->index].noreturn;
}

static void find_ways(graph *g) {
  const ptx_body *b = g->b;
  g->leaves_only = base_alloc_array(g->scratch, b->n_blocks + 1, 1);
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t k = 0; k < b->n_blocks; k++) {
      const ptx_block *block = &b->blocks[k];
      const ptx_insn *first = &b->insns[block->first];
      bool free = first->guard == PTX_NONE;
      bool leaves =
          ends_nowhere(g, block) || (free && sync_of(first) == PTX_SYNC_EXIT) ||
          (free && first->op == PTX_OP_bra_ctl && block->n_succ == 1 && g->leaves_only[successor(g, k, 0)]);
      if (leaves && !g->leaves_only[k])
        g->leaves_only[k] = 1, changed = true;
    }
  }
}

/* Where ways that count meet again: those to blocks which only leave do not, but out of a loop that has no
 * others. */
static void find_postdominators(graph *g) {
  uint32_t n = g->b->n_blocks, n_ways = 0;
  uint32_t *first = base_alloc_array(g->scratch, n + 1, sizeof *first);
  uint32_t *ways = base_alloc_array(g->scratch, g->b->n_edges, sizeof *ways);
  bool *leaves = base_alloc_array(g->scratch, n, sizeof *leaves);
  bool *may_leave = base_alloc_array(g->scratch, n, sizeof *may_leave);
  for (uint32_t k = 0; k < n; k++) {
    first[k] = n_ways;
    for (uint32_t s = 0; s < g->b->blocks[k].n_succ; s++)
      if (g->leaves_only[successor(g, k, s)])
        may_leave[k] = true;
      else
        ways[n_ways++] = successor(g, k, s);
    leaves[k] = n_ways == first[k];
  }
  first[n] = n_ways;
  base_graph ways_that_count = {
      .n = n, .first = first, .next = ways, .leaves = leaves, .may_leave = may_leave};
  g->ipdom = base_postdominators(&ways_that_count, NULL, g->scratch, g->scratch);
}

/* Calls back for each pair: whether `block` is come by is decided at the end of `branch`. */
static void each_decision(const graph *g,
                          void (*fn)(graph *g, uint32_t block, uint32_t branch, uint32_t *fill),
                          graph *mutable, uint32_t *fill) {
  for (uint32_t p = 0; p < g->b->n_blocks; p++) {
    uint32_t ways = 0;
    for (uint32_t s = 0; s < g->b->blocks[p].n_succ; s++)
      ways += !g->leaves_only[successor(g, p, s)];
    for (uint32_t s = 0; ways > 1 && s < g->b->blocks[p].n_succ; s++) {
      uint32_t k = successor(g, p, s);
      if (!g->leaves_only[k])
        for (; k != PTX_NONE && k != g->ipdom[p]; k = g->ipdom[k])
          fn(mutable, k, p, fill);
    }
  }
}

static void count_decision(graph *g, uint32_t block, uint32_t branch, uint32_t *fill) {
  (void)branch, (void)fill;
  g->cd_first[block + 1]++;
}

static void put_decision(graph *g, uint32_t block, uint32_t branch, uint32_t *fill) {
  g->cd[fill[block]++] = branch;
}

static void find_decisions(graph *g) {
  uint32_t n = g->b->n_blocks;
  g->cd_first = base_alloc_array(g->scratch, n + 2, sizeof *g->cd_first);
  each_decision(g, count_decision, g, NULL);
  for (uint32_t k = 0; k < n; k++)
    g->cd_first[k + 1] += g->cd_first[k];
  g->cd = base_alloc_array(g->scratch, g->cd_first[n] + 1, sizeof *g->cd);
  uint32_t *fill = base_alloc_array(g->scratch, n + 1, sizeof *fill);
  memcpy(fill, g->cd_first, n * sizeof *fill);
  each_decision(g, put_decision, g, fill);
}

/* ------------------------------------------------------------------ what varies */

bool check_special_moves(uint32_t s) {
  switch (s) {
  case PTX_SREG_WARPID:
  case PTX_SREG_SMID:
  case PTX_SREG_CLOCK:
  case PTX_SREG_CLOCK_HI:
  case PTX_SREG_CLOCK64:
  case PTX_SREG_GLOBALTIMER:
  case PTX_SREG_GLOBALTIMER_LO:
  case PTX_SREG_GLOBALTIMER_HI:
    return true;
  default:
    return s >= PTX_SREG_PM0 && s <= PTX_SREG_PM7_64;
  }
}

/* Among the threads of a block, which share a multiprocessor. */
static bool special_varies(uint32_t s) {
  return s == PTX_SREG_TID || s == PTX_SREG_LANEID ||
         (s >= PTX_SREG_LANEMASK_EQ && s <= PTX_SREG_LANEMASK_GT) ||
         (s != PTX_SREG_SMID && check_special_moves(s));
}

static bool operand_varies(const graph *g, const ptx_operand *o) {
  switch (o->kind) {
  case PTX_REG:
    return !o->written && g->reg_varies[o->index];
  case PTX_MEM_REG:
    return g->reg_varies[o->index];
  case PTX_SPECIAL:
    return special_varies(o->index);
  case PTX_VEC:
    for (uint64_t k = 0; k < o->count; k++)
      if (!o->written && operand_varies(g, &g->b->operands[o->index + k]))
        return true;
    return false;
  default:
    return false;
  }
}

static bool result_varies(const graph *g, const ptx_insn *i) {
  switch (sync_of(i)) {
  case PTX_SYNC_LOAD:
    if (i->mods.space != PTX_SPACE_CONST && !(i->mods.space == PTX_SPACE_PARAM && g->kernel))
      return true;
    break;
  case PTX_SYNC_NONE:
    if (i->op == PTX_OP_activemask_warp)
      return true;
    break;
  case PTX_SYNC_BARRIER: /* every thread gets the same */
    return !joins_is_whole_barrier(g->b, i);
  default:
    return true;
  }
  for (unsigned n = 0; n < i->n_operands; n++)
    if (operand_varies(g, operand(g->b, i, n)))
      return true;
  return false;
}

static bool mark(graph *g, const ptx_operand *o, bool written) {
  bool changed = false;
  if (o->kind == PTX_REG && (written || o->written) && !g->reg_varies[o->index])
    g->reg_varies[o->index] = changed = true;
  for (uint64_t k = 0; o->kind == PTX_VEC && k < o->count; k++)
    changed |= mark(g, &g->b->operands[o->index + k], written || o->written);
  return changed;
}

static bool guard_varies(const graph *g, const ptx_insn *i) {
  return i->guard != PTX_NONE && g->reg_varies[i->guard];
}

static bool spread(graph *g, uint32_t k) {
  const ptx_block *block = &g->b->blocks[k];
  bool changed = false;
  for (uint32_t n = block->first; n < block->end; n++) {
    const ptx_insn *i = &g->b->insns[n];
    if (g->varies_here[k] || guard_varies(g, i) || result_varies(g, i))
      for (unsigned o = 0; o < i->n_operands; o++)
        changed |= mark(g, operand(g->b, i, o), false);
  }
  const ptx_insn *last = &g->b->insns[block->end - 1];
  bool decides =
      guard_varies(g, last) || (last->op == PTX_OP_brx_ctl && operand_varies(g, operand(g->b, last, 0)));
  if (decides && !g->branch_varies[k])
    g->branch_varies[k] = changed = true;
  for (uint32_t d = g->cd_first[k]; d < g->cd_first[k + 1] && !g->varies_here[k]; d++)
    if (g->branch_varies[g->cd[d]] || g->varies_here[g->cd[d]])
      g->varies_here[k] = changed = true;
  return changed;
}

static void find_varying(graph *g) {
  const ptx_body *b = g->b;
  g->reg_varies = base_alloc_array(g->scratch, b->n_regs + 1, 1);
  g->varies_here = base_alloc_array(g->scratch, b->n_blocks + 1, 1);
  g->branch_varies = base_alloc_array(g->scratch, b->n_blocks + 1, 1);
  for (uint32_t v = 0; !g->kernel && v < b->n_vars; v++) /* parameters that are registers */
    if (b->vars[v].space == PTX_SPACE_GENERIC && b->vars[v].offset < b->n_regs)
      g->reg_varies[b->vars[v].offset] = 1;
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t k = 0; k < b->n_order; k++)
      changed |= spread(g, b->order[k]);
  }
}

/* ------------------------------------------------------------------ loops, regions */

#define BIT(set, i) ((set)[(i) / 64] >> ((i) % 64) & 1)

static void add_loop(graph *g, uint32_t head, const uint32_t *first, const uint32_t *pred) {
  joins *j = g->j;
  const ptx_body *b = g->b;
  joins_loop *l = BASE_PUSH(&j->arena, j->loops, j->n_loops, j->cap_loops);
  *l = (joins_loop){.head = head, .parent = PTX_NONE};
  l->holds = base_alloc_array(&j->arena, b->n_blocks / 64 + 1, sizeof *l->holds);
  l->holds[head / 64] |= UINT64_C(1) << (head % 64);
  uint32_t *stack = base_alloc_array(g->scratch, b->n_blocks + 1, sizeof *stack), depth = 0;
  for (uint32_t e = first[head]; e < first[head + 1]; e++)
    if (b->blocks[pred[e]].rpo != PTX_NONE && b->blocks[pred[e]].rpo >= b->blocks[head].rpo &&
        !BIT(l->holds, pred[e])) {
      l->holds[pred[e] / 64] |= UINT64_C(1) << (pred[e] % 64);
      stack[depth++] = pred[e];
    }
  while (depth) {
    uint32_t k = stack[--depth];
    for (uint32_t e = first[k]; e < first[k + 1]; e++)
      if (b->blocks[pred[e]].rpo != PTX_NONE && !BIT(l->holds, pred[e])) {
        l->holds[pred[e] / 64] |= UINT64_C(1) << (pred[e] % 64);
        stack[depth++] = pred[e];
      }
  }
}

/* Heads come in reverse post-order, so a loop's parent is among those before it: the last that holds it. */
static void find_loops(graph *g) {
  const ptx_body *b = g->b;
  uint32_t *first = base_alloc_array(g->scratch, b->n_blocks + 2, sizeof *first),
           *pred = base_alloc_array(g->scratch, b->n_edges + 1, sizeof *pred);
  for (uint32_t e = 0; e < b->n_edges; e++)
    first[b->edges[e] + 1]++;
  for (uint32_t k = 0; k < b->n_blocks; k++)
    first[k + 1] += first[k];
  uint32_t *fill = base_alloc_array(g->scratch, b->n_blocks + 1, sizeof *fill);
  memcpy(fill, first, b->n_blocks * sizeof *fill);
  for (uint32_t k = 0; k < b->n_blocks; k++)
    for (uint32_t s = 0; s < b->blocks[k].n_succ; s++)
      pred[fill[successor(g, k, s)]++] = k;
  for (uint32_t k = 0; k < b->n_order; k++)
    if (b->blocks[b->order[k]].loop_head)
      add_loop(g, b->order[k], first, pred);
  for (uint32_t l = 0; l < g->j->n_loops; l++)
    for (uint32_t o = 0; o < l; o++)
      if (BIT(g->j->loops[o].holds, g->j->loops[l].head))
        g->j->loops[l].parent = o;
}

/* The innermost loop that holds both blocks. */
static uint32_t loop_of(const joins *j, uint32_t a, uint32_t b) {
  for (uint32_t l = j->n_loops; l-- > 0;)
    if (BIT(j->loops[l].holds, a) && BIT(j->loops[l].holds, b))
      return l;
  return PTX_NONE;
}

static uint32_t point(joins *j, uint32_t insn, uint32_t loop, bool head) {
  for (uint32_t p = 0; p < j->n_points; p++)
    if (j->points[p].insn == insn && j->points[p].loop == loop)
      return p;
  *BASE_PUSH(&j->arena, j->points, j->n_points, j->cap_points) = (joins_point){insn, loop, head};
  return j->n_points - 1;
}

static void add_region(graph *g, uint32_t insn, uint32_t loop, bool head, uint32_t branch) {
  joins *j = g->j;
  uint32_t p = point(j, insn, loop, head);
  *BASE_PUSH(&j->arena, j->regions, j->n_regions, j->cap_regions) = (joins_region){p, branch};
}

/* The regions of varying branches around a stop, from the nearest branch outwards. */
static void add_stop(graph *g, uint32_t n) {
  joins *j = g->j;
  uint32_t block = j->block_of[n], depth = 0, done = 0;
  uint32_t *queue = base_alloc_array(g->scratch, g->b->n_blocks + 1, sizeof *queue);
  uint8_t *seen = base_alloc_array(g->scratch, g->b->n_blocks + 1, 1);
  joins_stop stop = {.insn = n, .loop = loop_of(j, block, block), .first = j->n_regions};
  for (uint32_t at = block;; at = queue[done++]) {
    for (uint32_t d = g->cd_first[at]; d < g->cd_first[at + 1]; d++)
      if (!seen[g->cd[d]])
        seen[g->cd[d]] = 1, queue[depth++] = g->cd[d];
    if (done == depth)
      break;
  }
  bool alone = guard_varies(g, &g->b->insns[n]);
  if (alone && n + 1 < g->b->n_insns && sync_of(&g->b->insns[n + 1]) != PTX_SYNC_EXIT &&
      !g->leaves_only[j->block_of[n + 1]])
    add_region(g, n + 1, stop.loop, false, n);
  for (uint32_t q = 0; q < depth; q++) {
    uint32_t p = queue[q], join = g->ipdom[p];
    if (!g->branch_varies[p] || join == PTX_NONE)
      continue;
    uint32_t loop = loop_of(j, block, join);
    add_region(g, g->b->blocks[join].first, loop, loop != PTX_NONE && j->loops[loop].head == join,
               g->b->blocks[p].end - 1);
  }
  stop.n = j->n_regions - stop.first;
  j->varies |= alone || g->varies_here[block];
  *BASE_PUSH(&j->arena, j->stops, j->n_stops, j->cap_stops) = stop;
}

/* Behind an instruction that only some threads of a warp do, those that go around it are told of. */
static bool is_halt(const graph *g, const ptx_insn *i) {
  ptx_sync s = sync_of(i);
  return is_stop(g, g->b, i) || s == PTX_SYNC_EXIT ||
         (i->guard != PTX_NONE && (s == PTX_SYNC_BARRIER || s == PTX_SYNC_CALL));
}

static void find(graph *g) {
  const ptx_body *b = g->b;
  joins *j = g->j;
  j->block_of = base_alloc_array(&j->arena, b->n_insns + 1, sizeof *j->block_of);
  j->halts = base_alloc_array(&j->arena, b->n_insns + 1, 1);
  for (uint32_t k = 0; k < b->n_blocks; k++)
    for (uint32_t n = b->blocks[k].first; n < b->blocks[k].end; n++)
      j->block_of[n] = k;
  for (uint32_t n = 0; n < b->n_insns; n++) {
    j->stops_at_all |= is_stop(g, b, &b->insns[n]);
    j->halts[n] = is_halt(g, &b->insns[n]);
  }
  g->kernel = g->module->funcs[j->func].entry;
  if (!j->stops_at_all)
    return;
  find_ways(g);
  find_postdominators(g);
  find_decisions(g);
  find_varying(g);
  find_loops(g);
  for (uint32_t n = 0; n < b->n_insns; n++)
    if (b->blocks[j->block_of[n]].rpo != PTX_NONE && is_stop(g, b, &b->insns[n]))
      add_stop(g, n);
}

static bool fill(joins *j) {
  base_arena scratch = {0};
  jmp_buf failed;
  if (setjmp(failed)) {
    base_arena_free(&scratch);
    return false;
  }
  j->arena.out_of_memory = scratch.out_of_memory = &failed;
  graph g = {.j = j,
             .module = j->module,
             .b = j->body,
             .scratch = &scratch,
             .funcs = base_alloc_array(&scratch, j->module->n_funcs + 1, 1)};
  find(&g);
  base_arena_free(&scratch);
  j->arena.out_of_memory = NULL;
  return true;
}

joins *joins_new(const ptx_module *m, uint32_t func, const ptx_body *b) {
  joins *j = calloc(1, sizeof *j);
  if (!j)
    return NULL;
  j->module = m, j->func = func;
  j->body = b, j->insns = b->insns, j->n_insns = b->n_insns, j->n_blocks = b->n_blocks;
  if (fill(j))
    return j;
  joins_free(j);
  return NULL;
}

void joins_free(joins *j) {
  if (!j)
    return;
  base_arena_free(&j->arena);
  free(j);
}

bool joins_are_of(const joins *j, const ptx_body *b) {
  return j->body == b && j->insns == b->insns && j->n_insns == b->n_insns && j->n_blocks == b->n_blocks;
}

const joins_stop *joins_stop_at(const joins *j, uint32_t insn) {
  for (uint32_t s = 0; s < j->n_stops; s++)
    if (j->stops[s].insn == insn)
      return &j->stops[s];
  return NULL;
}
