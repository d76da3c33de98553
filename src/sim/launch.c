/* launch.c: grids, and their blocks from start to end. Blocks become resident in order of their numbers, as
 * the SMs of the modelled GPU have room; the others wait. A resident block costs memory only once it runs,
 * and the memory of one that ended serves the next, so that a grid of short blocks stays in the cache.
 *
 * Invariant: what an SM has handed out is what its resident blocks hold (sim_share_of).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/launch.h"

/* ------------------------------------------------------------------ grids */

static uint64_t volume(const uint32_t d[3]) {
  return (uint64_t)d[0] * d[1] * d[2];
}

static char *check_shape(const sim_device *d, const sim_launch *l) {
  const sim_limits *m = &d->options.limits;
  const ptx_func *k = l->kernel->decl;
  uint64_t threads = volume(l->block), cluster = volume(l->cluster);
  if (!volume(l->grid) || !threads)
    return base_format("%s: an empty grid or block", k->name);
  if (threads > m->threads_per_block)
    return base_format("%s: %llu threads in a block; at most %u", k->name, (unsigned long long)threads,
                       m->threads_per_block);
  if (volume(k->reqntid) &&
      (k->reqntid[0] != l->block[0] || k->reqntid[1] != l->block[1] || k->reqntid[2] != l->block[2]))
    return base_format("%s: must have blocks of %ux%ux%u threads", k->name, k->reqntid[0], k->reqntid[1],
                       k->reqntid[2]);
  if (volume(k->maxntid) && threads > volume(k->maxntid))
    return base_format("%s: %llu threads in a block; it was compiled for at most %llu", k->name,
                       (unsigned long long)threads, (unsigned long long)volume(k->maxntid));
  if (cluster > 1) {
    if (cluster > (m->max_cluster_blocks ? m->max_cluster_blocks : 1))
      return base_format("%s: clusters of %llu blocks; this GPU has at most %u", k->name,
                         (unsigned long long)cluster, m->max_cluster_blocks ? m->max_cluster_blocks : 1);
    for (int i = 0; i < 3; i++)
      if (l->grid[i] % l->cluster[i])
        return base_format("%s: a grid of %ux%ux%u blocks does not divide into clusters of %ux%ux%u", k->name,
                           l->grid[0], l->grid[1], l->grid[2], l->cluster[0], l->cluster[1], l->cluster[2]);
  }
  return NULL;
}

/* The begin of dynamic shared memory, and the size of all. */
static uint32_t dynamic_begin(const sim_code *c) {
  return (c->shared_bytes + c->shared_align - 1) / c->shared_align * c->shared_align;
}

void sim_need_of(const sim_kernel *k, uint32_t threads, uint32_t dynamic_shared, uint32_t cluster_blocks,
                 sim_need *out) {
  const sim_code *c = k->code;
  uint32_t reserved = k->module->device->options.limits.shared_reserved;
  uint32_t end = dynamic_shared ? dynamic_begin(c) + dynamic_shared : c->shared_bytes;
  *out = (sim_need){.threads = threads,
                    .registers = k->registers,
                    .shared = end - reserved,
                    .cluster_blocks = cluster_blocks};
}

static bool prepare(sim_device *d, sim_grid *g) {
  const sim_code *c = g->code;
  uint32_t bytes = c->kernel->decl->param_bytes;
  g->params = sim_memory_take(&d->memory, bytes ? bytes : 1, SIM_MEMORY_PARAM, NULL);
  if (!g->params)
    return false;
  if (bytes)
    memcpy((void *)(uintptr_t)g->params, g->launch.params, bytes);
  if (!g->launch.cooperative)
    return true;
  uint32_t workspace[4] = {sizeof workspace}; /* its size, and the barrier's word */
  g->workspace = sim_memory_take(&d->memory, sizeof workspace, SIM_MEMORY_MODULE, "grid workspace");
  if (!g->workspace)
    return false;
  memcpy((void *)(uintptr_t)g->workspace, workspace, sizeof workspace);
  return true;
}

uint64_t sim_launch_start(sim_device *d, const sim_launch *launch, char **error) {
  *error = check_shape(d, launch);
  if (*error)
    return 0;
  sim_grid *g = calloc(1, sizeof *g);
  if (!g) {
    *error = base_format("out of memory");
    return 0;
  }
  g->launch = *launch;
  g->code = launch->kernel->code;
  for (int i = 0; i < 3; i++)
    g->cluster_dim[i] = volume(launch->cluster) ? launch->cluster[i] : 1;
  g->cluster_blocks = (uint32_t)volume(g->cluster_dim);
  g->n_blocks = volume(launch->grid);
  g->n_threads = (uint32_t)volume(launch->block);
  sim_need_of(launch->kernel, g->n_threads, launch->dynamic_shared, g->cluster_blocks, &g->need);
  uint32_t reserved = d->options.limits.shared_reserved;
  g->shared_begin = g->code->uses_reserved ? 0 : reserved;
  g->shared_bytes = reserved + g->need.shared;
  g->fit = sim_occupancy(&d->options.limits, &g->need);
  if (!g->fit.blocks) {
    *error =
        base_format("%s: no block fits: %s", g->code->funcs[0]->decl->name, sim_limit_name(g->fit.limit));
    free(g);
    return 0;
  }
  if (!prepare(d, g)) {
    sim_grid_free(d, g);
    *error = base_format("out of device memory for the parameters");
    return 0;
  }
  g->id = ++d->next_grid;
  *d->grids_end = g;
  d->grids_end = &g->next;
  d->stats.launches++;
  d->run->ticks += 2000; /* a launch takes some microseconds of a GPU's time */
  return g->id;
}

/* The memory of a block while it runs. */
typedef struct sim_store {
  struct sim_store *next;
  char *memory;    /* warps, pool, shared memory, barriers */
  char *frames;    /* registers */
  uint8_t *local;  /* of its threads */
  sim_warp *warps; /* the beginning of `memory` */
  uint32_t n_warps;
} sim_store;

static void store_free(sim_store *s) {
  if (!s)
    return;
  for (uint32_t w = 0; s->warps && w < s->n_warps; w++) {
    for (uint32_t k = 0; k < SIM_LANES; k++)
      sim_probe_free(s->warps[w].units[k].probe);
    if (s->warps[w].grown)
      free(s->warps[w].regs);
    free(s->warps[w].shadow);
    free(s->warps[w].origins);
    free(s->warps[w].local_defined);
  }
  free(s->memory);
  free(s->frames);
  free(s->local);
  free(s);
}

static void block_free(sim_block *b) {
  store_free(b->store);
  free(b->shared_defined);
  free(b);
}

static void cluster_free(sim_cluster *k) {
  free(k->blocks);
  free(k);
}

void sim_grid_free(sim_device *d, sim_grid *g) {
  while (g->spare) {
    sim_block *b = g->spare;
    g->spare = b->next;
    block_free(b);
  }
  while (g->stores) {
    sim_store *s = g->stores;
    g->stores = s->next;
    store_free(s);
  }
  if (g->params)
    sim_memory_give(&d->memory, g->params);
  if (g->workspace)
    sim_memory_give(&d->memory, g->workspace);
  free(g);
}

/* ------------------------------------------------------------------ blocks */

static uint64_t padded(uint64_t n) {
  return (n + 63) / 64 * 64;
}

bool sim_warp_grow(sim_warp *w, uint32_t bytes) {
  char *p = aligned_alloc(64, padded(bytes));
  if (!p)
    return false;
  memset(p, 0, bytes);
  memcpy(p, w->regs, w->regs_bytes);
  if (w->shadow && !sim_define_grow(w, bytes))
    return free(p), false;
  if (w->grown)
    free(w->regs);
  w->regs = p, w->regs_bytes = bytes, w->grown = true;
  return true;
}

/* How a store is divided: warps, the block's pool, shared memory, barriers. */
typedef struct layout {
  uint64_t pool, shared, barriers, end;
} layout;

static layout layout_of(const sim_block *b) {
  const sim_grid *g = b->grid;
  layout l = {.pool = padded(b->n_warps * sizeof(sim_warp))};
  l.shared = l.pool + padded(g->code->pool_bytes + 64);
  l.barriers = l.shared + padded(g->shared_bytes + 64);
  l.end = l.barriers + padded((uint64_t)SIM_BARRIERS * b->n_warps * 4);
  return l;
}

/* What is the same in all blocks of a grid. */
static void fill_special(sim_warp *w, uint32_t index, const uint32_t dim[3]) {
  for (uint32_t i = 0; i < SIM_LANES; i++) {
    uint32_t t = index * SIM_WARP + i;
    w->special[SIM_SPECIAL_TID_X][i] = t % dim[0];
    w->special[SIM_SPECIAL_TID_Y][i] = t / dim[0] % dim[1];
    w->special[SIM_SPECIAL_TID_Z][i] = t / dim[0] / dim[1];
    w->special[SIM_SPECIAL_WARPID][i] = index;
  }
}

/* Bytes of registers a warp begins with: an odd number of cache lines, so that the same register of a gang's
 * warps falls into different sets of the cache. */
static uint32_t frame_step(const sim_code *c) {
  return (uint32_t)padded(c->deep ? c->largest_frame * 4 : c->stack_frames) | 64;
}

static sim_store *new_store(const sim_block *b) {
  const sim_code *c = b->grid->code;
  sim_store *s = calloc(1, sizeof *s);
  uint64_t bytes = layout_of(b).end, local = (uint64_t)c->local_bytes * SIM_LANES * b->n_warps;
  if (!s)
    return NULL;
  uint32_t step = frame_step(c);
  s->memory = aligned_alloc(64, bytes);
  s->frames = aligned_alloc(64, (uint64_t)step * b->n_warps);
  if (local)
    s->local = calloc(1, local);
  if (!s->memory || !s->frames || (local && !s->local)) {
    store_free(s);
    return NULL;
  }
  memset(s->memory, 0, bytes);
  memset(s->frames, 0, (uint64_t)step * b->n_warps);
  s->warps = (sim_warp *)s->memory;
  s->n_warps = b->n_warps;
  for (uint32_t w = 0; w < b->n_warps; w++) {
    fill_special(&s->warps[w], w, b->grid->launch.block);
    s->warps[w].regs = s->frames + (uint64_t)w * step;
    s->warps[w].regs_bytes = step;
  }
  return s;
}

/* The memory of a block that starts: what one that ended left, or new. */
static bool take_store(sim_device *d, sim_block *b) {
  sim_grid *g = b->grid;
  layout l = layout_of(b);
  mtx_lock(&d->lock);
  sim_store *s = g->stores;
  if (s)
    g->stores = s->next;
  mtx_unlock(&d->lock);
  if (!s && !(s = new_store(b)))
    return false;
  b->store = s;
  b->warps = s->warps;
  b->frames = s->frames;
  b->frame_step = frame_step(g->code);
  b->gang_most = b->frame_step < SIM_GANG_BYTES ? SIM_GANG_BYTES / b->frame_step : 1;
  b->pool = s->memory + l.pool;
  b->shared = (uint8_t *)s->memory + l.shared;
  b->barrier_lanes = (uint32_t *)(s->memory + l.barriers);
  return true;
}

static void warp_begin(sim_block *b, uint32_t index) {
  const sim_grid *g = b->grid;
  const sim_code *c = g->code;
  sim_func *f = c->funcs[0];
  sim_warp *w = &b->warps[index];
  uint32_t n = b->n_threads - index * SIM_WARP;
  w->block = b, w->index = index;
  w->exists = w->live = n >= SIM_WARP ? UINT32_MAX : (UINT32_C(1) << n) - 1;
  w->used = w->ready = w->asleep = w->at_warp = 0;
  w->at_cluster = w->cluster_phase = 0;
  w->local = c->local_bytes ? b->store->local + (size_t)index * SIM_LANES * c->local_bytes : NULL;
  w->local_bytes = c->local_bytes;
  memset(w->groups, 0, sizeof w->groups);
  if (f->stack_top != SIM_NOWHERE)
    for (uint32_t i = 0; i < SIM_LANES; i++)
      ((uint32_t *)(w->regs + f->stack_top))[i] = f->local_bytes;
  sim_unit *u = sim_unit_new(w, w->live, NULL);
  u->func = f;
  u->frame = u->depth = 0;
  u->turn = SIM_UNIT_TURN;
  u->yielded = false;
  u->wake = 0;
  sim_unit_at(u, f->ops, sim_order_of(f, 0));
}

static uint64_t special(const sim_block *b, uint32_t sreg, uint32_t part) {
  const sim_grid *g = b->grid;
  const sim_launch *l = &g->launch;
  const uint32_t *k = g->cluster_dim;
  switch (sreg) {
  case PTX_SREG_NTID:
    return part < 3 ? l->block[part] : 0;
  case PTX_SREG_CTAID:
    return part < 3 ? b->id[part] : 0;
  case PTX_SREG_NCTAID:
    return part < 3 ? l->grid[part] : 0;
  case PTX_SREG_CLUSTERID:
    return part < 3 ? b->id[part] / k[part] : 0;
  case PTX_SREG_NCLUSTERID:
    return part < 3 ? l->grid[part] / k[part] : 0;
  case PTX_SREG_CLUSTER_CTAID:
    return part < 3 ? b->id[part] % k[part] : 0;
  case PTX_SREG_CLUSTER_NCTAID:
    return part < 3 ? k[part] : 0;
  case PTX_SREG_CLUSTER_CTARANK:
    return b->rank;
  case PTX_SREG_CLUSTER_NCTARANK:
    return g->cluster_blocks;
  case PTX_SREG_IS_EXPLICIT_CLUSTER:
    return volume(l->cluster) != 0;
  case PTX_SREG_NWARPID:
    return g->code->kernel->module->device->options.limits.warps_per_sm; /* of the SM, whatever the block's */
  case PTX_SREG_SMID:
    return b->sm;
  case PTX_SREG_NSMID:
    return g->code->kernel->module->device->options.limits.sms;
  case PTX_SREG_GRIDID:
    return g->id;
  case PTX_SREG_TOTAL_SMEM_SIZE:
  case PTX_SREG_AGGR_SMEM_SIZE:
    return g->shared_bytes;
  case PTX_SREG_DYNAMIC_SMEM_SIZE:
    return l->dynamic_shared;
  case PTX_SREG_RESERVED_SMEM_OFFSET_END:
  case PTX_SREG_RESERVED_SMEM_OFFSET_CAP:
    return g->shared_bytes - g->need.shared;
  case PTX_SREG_RESERVED_SMEM_OFFSET_1: /* cooperative groups keep their scratch there: 288 bytes at most */
    return g->shared_bytes - g->need.shared >= 1024 ? 64 : 0;
  case PTX_SREG_ENVREG1:
    return g->workspace >> 32;
  case PTX_SREG_ENVREG2:
    return (uint32_t)g->workspace;
  default: /* the rest is 0: %envreg, %current_graph_exec, offsets of what is not used */
    return 0;
  }
}

static uint64_t recipe_value(const sim_block *b, const sim_recipe *r) {
  const sim_grid *g = b->grid;
  uint64_t v = 0, own = g->cluster_blocks > 1 ? (uint64_t)(b->rank + 1) << SIM_RANK_SHIFT : 0;
  switch (r->kind) {
  case SIM_RECIPE_SREG:
    return special(b, r->what, r->part);
  case SIM_RECIPE_PARAM:
    memcpy(&v, (uint8_t *)(uintptr_t)g->params + r->what, r->bytes < 8 ? r->bytes : 8);
    if (r->is_signed && r->bytes < 8)
      v = (uint64_t)((int64_t)(v << (64 - 8 * r->bytes)) >> (64 - 8 * r->bytes));
    return r->part < 8 && r->part ? v & ((UINT64_C(1) << (8 * r->part)) - 1) : v;
  case SIM_RECIPE_PARAM_ADDRESS:
    return g->params + r->what;
  case SIM_RECIPE_SHARED:
    return own | r->what;
  default:
    return own | (dynamic_begin(g->code) + r->what);
  }
}

/* Fills the block's pool, and runs what is the same in all its threads. */
static void block_prologue(sim_run *r, sim_block *b) {
  const sim_code *c = b->grid->code;
  for (uint32_t k = 0; k < c->n_recipes; k++) {
    const sim_recipe *p = &c->recipes[k];
    char *to = b->pool + (p->place - SIM_IN_BLOCK);
    uint64_t v = recipe_value(b, p), high = 0;
    if (p->lane_bytes == 0) {
      *(uint32_t *)to = v ? UINT32_MAX : 0;
    } else if (p->lane_bytes == 16) {
      memcpy(&high, (uint8_t *)(uintptr_t)b->grid->params + p->what + 8, 8);
      for (uint32_t i = 0; i < SIM_LANES; i++)
        memcpy(to + i * 16, &v, 8), memcpy(to + i * 16 + 8, &high, 8);
    } else if (p->lane_bytes == 4) {
      for (uint32_t i = 0; i < SIM_LANES; i++)
        ((uint32_t *)to)[i] = (uint32_t)v;
    } else {
      for (uint32_t i = 0; i < SIM_LANES; i++)
        ((uint64_t *)to)[i] = v;
    }
  }
  r->unit = NULL;
  r->ctx.base[SIM_IN_FRAME] = r->ctx.base[SIM_IN_WARP] = NULL;
  r->ctx.way = SIM_FULL;
  r->ctx.mask = UINT32_MAX;
  for (const sim_op *o = c->prologue; o;)
    o = o->fn[SIM_FULL](o, &r->ctx);
}

void sim_block_enter(sim_run *r, sim_block *b) {
  r->block = b;
  r->grid = b->grid;
  r->shared = b->shared;
  r->shared_bytes = b->shared_bytes;
  r->watcher = r->device->watcher;
  r->defines = sim_watches(r, SIM_WATCH_DEFINED);
  r->ctx.base[SIM_IN_CONST] = sim_biased(b->grid->code->consts, SIM_IN_CONST);
  r->ctx.base[SIM_IN_BLOCK] = sim_biased(b->pool, SIM_IN_BLOCK);
}

bool sim_block_begin(sim_run *r, sim_block *b) {
  sim_grid *g = b->grid;
  if (!take_store(r->device, b))
    return false;
  b->shared_bytes = g->shared_bytes;
  b->started = true;
  b->ready = b->asleep = b->turn = b->open = 0;
  for (uint32_t k = 0; k < SIM_BARRIERS; k++)
    b->barriers[k] = (sim_barrier){.lanes = b->barrier_lanes + k * b->n_warps};
  memset(b->barrier_lanes, 0, (size_t)SIM_BARRIERS * b->n_warps * 4);
  if (!g->shared_begin)
    memset(b->shared, 0, g->shared_bytes - g->need.shared);
  sim_block_enter(r, b);
  r->warp = NULL;
  block_prologue(r, b);
  for (uint32_t w = 0; w < b->n_warps; w++)
    warp_begin(b, w);
  r->defines = sim_watches(r, SIM_WATCH_DEFINED);
  if (r->defines && !sim_define_block(b, b->grid->shared_bytes - b->grid->need.shared))
    return false;
  r->stats.blocks++;
  if (r->watcher)
    sim_say(r, &(sim_event){.kind = SIM_EVENT_BLOCK}, 0, NULL);
  return true;
}

/* ------------------------------------------------------------------ room */

static void sm_take(sim_sm *s, const sim_share *share, int sign) {
  s->blocks -= (uint32_t)sign;
  s->threads -= (uint32_t)sign * share->threads;
  s->warps -= (uint32_t)sign * share->warps;
  s->registers -= (uint32_t)sign * share->registers;
  s->shared -= (uint32_t)sign * share->shared;
}

void sim_sms_fill(sim_device *d) {
  const sim_limits *l = &d->options.limits;
  uint32_t gpc = 0, in_gpc = 0;
  for (uint32_t k = 0; k < l->sms; k++) {
    d->sms[k] = (sim_sm){.blocks = l->blocks_per_sm ? l->blocks_per_sm : UINT32_MAX / 2,
                         .threads = l->threads_per_sm ? l->threads_per_sm : UINT32_MAX / 2,
                         .warps = l->warps_per_sm ? l->warps_per_sm : UINT32_MAX / 2,
                         .registers = l->registers_per_sm ? l->registers_per_sm : UINT32_MAX / 2,
                         .shared = l->shared_per_sm ? l->shared_per_sm : UINT32_MAX / 2};
    while (l->gpc_sms && gpc + 1 < l->n_gpcs && in_gpc >= l->gpc_sms[gpc])
      gpc++, in_gpc = 0;
    d->sms[k].gpc = gpc;
    in_gpc++;
  }
}

static bool sm_fits(const sim_limits *l, const sim_sm *s, const sim_share *share) {
  bool registers =
      !l->registers_per_sm ||
      (uint64_t)(l->registers_per_sm - s->registers) + share->registers <= share->registers_of_sm;
  return s->blocks >= 1 && s->threads >= share->threads && s->warps >= share->warps && registers &&
         s->shared >= share->shared;
}

/* SMs for the blocks of a cluster, all of one GPC; false: no room. */
static bool place_cluster(sim_device *d, const sim_share *share, uint32_t n, uint32_t *sms) {
  const sim_limits *l = &d->options.limits;
  uint32_t gpcs = n > 1 && l->gpc_sms ? l->n_gpcs : 1;
  for (uint32_t gpc = 0; gpc < gpcs; gpc++) {
    uint32_t have = 0;
    if (gpcs > 1 && l->gpc_sms[gpc] < n)
      continue;
    for (uint32_t round = 0; round < (n > 1 ? n : 1) && have < n; round++)
      for (uint32_t k = 0; k < l->sms && have < n; k++) {
        uint32_t sm = n > 1 ? k : (d->next_sm + k) % l->sms;
        if ((gpcs > 1 && d->sms[sm].gpc != gpc) || !sm_fits(l, &d->sms[sm], share))
          continue;
        sm_take(&d->sms[sm], share, 1);
        sms[have++] = sm;
      }
    if (have == n) {
      d->next_sm = (sms[n - 1] + 1) % l->sms;
      return true;
    }
    while (have > 0)
      sm_take(&d->sms[sms[--have]], share, -1);
  }
  return false;
}

static void ring_insert(sim_device *d, sim_block *b) {
  sim_seat_take(d, b);
  if (!d->current) {
    b->next = b->prev = b;
    d->current = b;
  } else { /* last in the order of turns */
    b->next = d->current;
    b->prev = d->current->prev;
    b->prev->next = b->next->prev = b;
  }
  d->n_resident++;
}

static void ring_remove(sim_device *d, sim_block *b) {
  sim_seat_leave(d, b);
  if (b->next == b) {
    d->current = NULL;
  } else {
    b->prev->next = b->next;
    b->next->prev = b->prev;
    if (d->current == b)
      d->current = b->next;
  }
  d->n_resident--;
}

static sim_block *new_block(sim_grid *g) {
  sim_block *b = g->spare;
  if (b) {
    g->spare = b->next;
    b->started = b->ended = false;
    return b;
  }
  b = calloc(1, sizeof *b);
  if (b) {
    b->grid = g;
    b->n_threads = g->n_threads;
    b->n_warps = (g->n_threads + SIM_WARP - 1) / SIM_WARP;
  }
  return b;
}

/* The n-th cluster of a grid becomes resident. */
static bool admit_cluster(sim_device *d, sim_grid *g, uint64_t n, const uint32_t *sms) {
  const uint32_t *grid = g->launch.grid, *dim = g->cluster_dim;
  uint32_t across[3];
  for (int k = 0; k < 3; k++)
    across[k] = grid[k] / dim[k];
  sim_cluster *cluster = calloc(1, sizeof *cluster);
  if (!cluster || !(cluster->blocks = calloc(g->cluster_blocks, sizeof *cluster->blocks)))
    return free(cluster), false;
  cluster->n_blocks = g->cluster_blocks;
  cluster->live = g->n_threads * g->cluster_blocks;
  for (uint32_t rank = 0; rank < g->cluster_blocks; rank++) {
    sim_block *b = new_block(g);
    if (!b)
      return false;
    b->id[0] = (uint32_t)(n % across[0]) * dim[0] + rank % dim[0];
    b->id[1] = (uint32_t)(n / across[0] % across[1]) * dim[1] + rank / dim[0] % dim[1];
    b->id[2] = (uint32_t)(n / across[0] / across[1]) * dim[2] + rank / dim[0] / dim[1];
    b->number = ((uint64_t)b->id[2] * grid[1] + b->id[1]) * grid[0] + b->id[0];
    b->sm = sms[rank], b->rank = rank, b->cluster = cluster;
    b->live = b->n_threads;
    cluster->blocks[rank] = b;
    g->resident++;
    ring_insert(d, b);
  }
  return true;
}

/* The number of the cluster that becomes resident now: the next, unless a watcher wants another of the
 * next 64. False: it wants none yet. */
static bool take_cluster(const sim_device *d, sim_grid *g, uint64_t *cluster) {
  const sim_watcher *w = d->watcher;
  uint64_t next = g->next_block / g->cluster_blocks, n = g->n_blocks / g->cluster_blocks - next, ids[64];
  uint32_t which = 0;
  sim_choice c = {.kind = SIM_CHOOSE_START, .launch = g->id, .resident = d->n_resident, .ids = ids};
  for (uint32_t k = 0; k < 64 && k < n; k++)
    if (!(g->taken >> k & 1))
      ids[c.n++] = next + k;
  if (w && w->watch & SIM_WATCH_CHOICES && w->choose) {
    uint32_t k = w->choose(w->user, &c);
    if (k == SIM_CHOOSE_NONE && d->n_resident)
      return false;
    which = k < c.n ? k : 0;
  }
  g->taken |= UINT64_C(1) << (ids[which] - next);
  for (; g->taken & 1; g->taken >>= 1)
    g->next_block += g->cluster_blocks;
  *cluster = ids[which];
  return true;
}

/* A cluster's blocks all start at once: each may use the others' shared memory. */
bool sim_cluster_begin(sim_run *r, sim_block *b) {
  for (uint32_t k = 0; k < b->cluster->n_blocks; k++)
    if (!b->cluster->blocks[k]->started && !sim_block_begin(r, b->cluster->blocks[k]))
      return false;
  return true;
}

bool sim_admit(sim_device *d) {
  for (;;) {
    sim_grid *best = NULL;
    for (sim_grid *g = d->grids; g; g = g->next)
      if (g->next_block < g->n_blocks && (!best || g->launch.priority > best->launch.priority))
        best = g;
    if (!best)
      return true;
    bool any = false;
    sim_share share = sim_share_of(&d->options.limits, &best->need);
    uint32_t sms[64];
    while (best->next_block < best->n_blocks && place_cluster(d, &share, best->cluster_blocks, sms)) {
      if (!best->told) {
        best->told = true;
        if (d->watcher && d->watcher->event) {
          sim_event e = {.kind = SIM_EVENT_LAUNCH,
                         .who = {.launch = best->id,
                                 .module = best->code->funcs[0]->ptx,
                                 .body = best->code->funcs[0]->body,
                                 .func = best->code->funcs[0]->index},
                         .launch = {.launch = &best->launch, .fit = best->fit, .workspace = best->workspace}};
          d->watcher->event(d->watcher->user, &e);
        }
      }
      uint64_t cluster;
      if (!take_cluster(d, best, &cluster)) {
        for (uint32_t k = 0; k < best->cluster_blocks; k++)
          sm_take(&d->sms[sms[k]], &share, -1);
        return true;
      }
      if (!admit_cluster(d, best, cluster, sms))
        return false;
      any = true;
    }
    if (!any || best->next_block < best->n_blocks) /* no room; what came later must wait */
      return true;
  }
}

/* The memory of a block that ended is for the next. */
void sim_block_release(sim_device *d, sim_block *b) {
  mtx_lock(&d->lock);
  if (b->store) {
    b->store->next = b->grid->stores;
    b->grid->stores = b->store;
    b->store = NULL;
  }
  mtx_unlock(&d->lock);
}

/* The block's last thread has ended. True: so has its grid. */
bool sim_block_end(sim_run *r, sim_block *b) {
  sim_device *d = r->device;
  sim_grid *g = b->grid;
  sim_cluster *k = b->cluster;
  sim_share share = sim_share_of(&d->options.limits, &g->need);
  if (r->watcher) {
    r->unit = NULL, r->warp = NULL;
    sim_say(r, &(sim_event){.kind = SIM_EVENT_BLOCK_END}, 0, NULL);
  }
  r->block = NULL, r->unit = NULL, r->warp = NULL;
  b->ended = true;
  sim_block_release(d, b);
  sm_take(&d->sms[b->sm], &share, -1);
  ring_remove(d, b);
  g->resident--;
  g->done++;
  if (++k->n_ended == k->n_blocks) {
    for (uint32_t n = 0; n < k->n_blocks; n++) {
      k->blocks[n]->next = g->spare;
      g->spare = k->blocks[n];
    }
    cluster_free(k);
  }
  return g->done == g->n_blocks;
}

/* Everything of a device ends, wherever it is. */
void sim_drop_all(sim_device *d) {
  while (d->current) {
    sim_block *b = d->current;
    sim_cluster *k = b->cluster;
    ring_remove(d, b);
    b->ended = true;
    if (++k->n_ended == k->n_blocks) {
      for (uint32_t n = 0; n < k->n_blocks; n++)
        block_free(k->blocks[n]);
      cluster_free(k);
    }
  }
  while (d->grids) {
    sim_grid *g = d->grids;
    d->grids = g->next;
    sim_grid_free(d, g);
  }
  d->grids_end = &d->grids;
}
