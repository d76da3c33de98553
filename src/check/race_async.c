/* race_async.c: asynchronous copies, and mbarrier objects. A copy is a thread of its own: what the lane that
 * issues it knows, it knows too; what it does is known to whoever waits for it. Copies in groups are one such
 * thread for each lane, with the number of the group as its time; copies that tell an mbarrier object are one
 * for each object, with the object's phase. Bulk copies go through the asynchronous proxy: what was written
 * in the generic one they see only behind a fence between the two.
 */
#include <stdlib.h>
#include <string.h>

#include "check/race.h"

/* As a warp of its block: behind all real ones. */
enum { OBJECTS_WARP = 32, MOST_OBJECTS = 30 * SIM_WARP };

race_block *race_mate(race *r, const race_block *b, uint32_t rank) {
  const uint32_t *k = b->launch.cluster, *g = b->launch.grid;
  if (!k[0] || rank == b->rank)
    return race_block_numbered(r, b->number);
  uint32_t x = (uint32_t)(b->id % g[0]), y = (uint32_t)(b->id / g[0] % g[1]),
           z = (uint32_t)(b->id / g[0] / g[1]);
  x = x / k[0] * k[0] + rank % k[0];
  y = y / k[1] * k[1] + rank / k[0] % k[1];
  z = z / k[2] * k[2] + rank / k[0] / k[1];
  return race_block_numbered(r, b->first + (z * g[1] + y) * g[0] + x);
}

static race_object *object_at(race *r, race_block *home, uint64_t address) {
  for (uint32_t i = 0; i < home->n_objects; i++)
    if (home->objects[i].address == address)
      return &home->objects[i];
  if (home->n_objects == MOST_OBJECTS) {
    check_unjudged(r->check, "more than %d mbarrier objects in one block: races were not all sought",
                   MOST_OBJECTS);
    return NULL;
  }
  race_object *grown = realloc(home->objects, (home->n_objects + 1) * sizeof *grown);
  if (!grown) {
    r->failed = true;
    return NULL;
  }
  home->objects = grown;
  grown[home->n_objects] = (race_object){.address = address};
  return &grown[home->n_objects++];
}

void race_objects_free(race_block *b) {
  for (uint32_t i = 0; i < b->n_objects; i++) {
    race_known_drop(&b->objects[i].arriving);
    race_known_drop(&b->objects[i].done);
  }
  free(b->objects);
}

/* The thread that an object's copies are. */
static race_node object_node(const race_block *home, const race_object *o) {
  uint32_t i = (uint32_t)(o - home->objects);
  return race_node_of(home->number | RACE_ASYNC_BLOCK, OBJECTS_WARP + i / SIM_WARP, i % SIM_WARP);
}

uint32_t race_issuer(const race_block *home, uint32_t warp, uint32_t lane) {
  uint32_t i = warp < OBJECTS_WARP ? UINT32_MAX : (warp - OBJECTS_WARP) * SIM_WARP + lane;
  return i < home->n_objects ? home->objects[i].issuer : warp < OBJECTS_WARP ? warp * SIM_WARP + lane : 0;
}

/* ------------------------------------------------------------------ mbarrier objects */

void race_mbarrier_event(race *r, const sim_event *e) {
  race_block *b = race_block_of(r, e->who.launch, e->who.block);
  race_block *home = b ? race_mate(r, b, e->mbarrier.rank) : NULL;
  race_object *o = home ? object_at(r, home, e->mbarrier.address) : NULL;
  if (!o || !e->who.insn)
    return;
  uint32_t warp = e->who.warp, lane = (uint32_t)__builtin_ctz(e->who.lanes);
  check_site site = check_site_of(r->check, &e->who);
  switch (e->who.insn->op) {
  case PTX_OP_mbarrier_init:
  case PTX_OP_mbarrier_inval:
    race_known_drop(&o->arriving);
    race_known_drop(&o->done);
    return;
  case PTX_OP_mbarrier_test_wait:
  case PTX_OP_mbarrier_try_wait:
    if (e->mbarrier.succeeded)
      race_acquire(r, b, warp, lane, &o->done, home->number, race_level_of(e->mbarrier.scope),
                   e->mbarrier.order != PTX_ORDER_RELAXED, site);
    return;
  case PTX_OP_mbarrier_arrive:
  case PTX_OP_mbarrier_arrive_drop:
    race_release(r, b, warp, lane, &o->arriving, e->mbarrier.order != PTX_ORDER_RELAXED, site);
    break;
  case PTX_OP_cp_async_arrive: /* when its copies are done: not the lane's own doings */
    if (b->warps[warp].lanes[lane])
      race_know(r, &o->arriving, race_node_of(b->number | RACE_ASYNC_BLOCK, warp, lane),
                b->warps[warp].lanes[lane]->copied, site, warp * SIM_WARP + lane);
    break;
  case PTX_OP_mbarrier_expect_tx:
  case PTX_OP_mbarrier_complete_tx:
    break;
  default: /* a copy has come */
    race_know(r, &o->arriving, object_node(home, o), o->phase + 1, site, warp * SIM_WARP + lane);
  }
  if (e->mbarrier.completes) {
    race_known_join(&o->done, &o->arriving, &r->joins);
    race_known_drop(&o->arriving);
    o->phase++;
  }
}

/* ------------------------------------------------------------------ copies */

static void touch(race *r, race_block *b, race_block *home, uint8_t space, const race_record *like,
                  uint64_t address, uint32_t bytes, uint32_t warp, uint32_t lane) {
  if (space == PTX_SPACE_SHARED && !home)
    return;
  while (bytes) {
    uint32_t room = RACE_LINE - (uint32_t)(address % RACE_LINE), n = bytes < room ? bytes : room;
    race_record rec = *like;
    rec.base = (int16_t)(address % RACE_LINE);
    rec.bytes = (uint8_t)n;
    race_touch(r, b, space == PTX_SPACE_SHARED ? home : NULL, &rec, address / RACE_LINE * RACE_LINE, warp,
               lane);
    address += n, bytes -= n;
  }
}

void race_async_event(race *r, const sim_event *e) {
  race_block *b = race_block_of(r, e->who.launch, e->who.block);
  uint32_t warp = e->who.warp, lane = (uint32_t)__builtin_ctz(e->who.lanes);
  race_lane *l = b ? race_lane_at(r, &b->warps[warp], lane) : NULL;
  if (!l)
    return;
  check_site site = check_site_of(r->check, &e->who);
  if (e->copy.waits) {
    race_know(r, &l->own, race_node_of(b->number | RACE_ASYNC_BLOCK, warp, lane), e->copy.group, site,
              warp * SIM_WARP + lane);
    return;
  }
  race_record rec = {.block = b->number | RACE_ASYNC_BLOCK,
                     .time = e->copy.group + 1,
                     .epoch = b->epoch,
                     .site = site,
                     .lanes = UINT32_C(1) << lane,
                     .warp = (uint8_t)warp,
                     .level = RACE_LEVEL_DEVICE,
                     .flags = (uint8_t)(RACE_IN_ASYNC | (e->copy.bulk ? RACE_PROXY : 0))};
  if (e->copy.mbarrier) {
    race_block *home = race_mate(r, b, e->copy.mbarrier_rank);
    race_object *o = home ? object_at(r, home, e->copy.mbarrier) : NULL;
    if (!o)
      return;
    uint32_t i = (uint32_t)(o - home->objects);
    o->issuer = warp * SIM_WARP + lane;
    rec.block = home->number | RACE_ASYNC_BLOCK, rec.time = o->phase + 1;
    rec.warp = (uint8_t)(OBJECTS_WARP + i / SIM_WARP), rec.lanes = UINT32_C(1) << i % SIM_WARP;
  } else {
    l->copied = e->copy.group + 1;
  }
  if (e->copy.from) {
    rec.flags |= RACE_READS;
    touch(r, b, race_mate(r, b, e->copy.from_rank), e->copy.from_space, &rec, e->copy.from, e->copy.bytes,
          warp, lane);
  }
  rec.flags =
      (uint8_t)((rec.flags & ~RACE_READS) | RACE_WRITES | (e->copy.reduces ? RACE_READS | RACE_STRONG : 0));
  touch(r, b, race_mate(r, b, e->copy.to_rank), e->copy.to_space, &rec, e->copy.to, e->copy.bytes, warp,
        lane);
}

/* ------------------------------------------------------------------ proxies */

void race_proxy_fence(race *r, const sim_event *e) {
  race_block *b = race_block_of(r, e->who.launch, e->who.block);
  for (uint32_t left = b ? e->who.lanes : 0; left; left &= left - 1) {
    race_lane *l = race_lane_at(r, &b->warps[e->who.warp], (uint32_t)__builtin_ctz(left));
    if (l)
      l->proxied = b->now, l->proxied_base = b->base;
  }
  if (b)
    b->now++;
}

/* Did the writer pass a fence between proxies behind its write, or the issuer one behind the barrier that
 * made it known? */
bool race_is_proxied(race *r, const race_block *b, const race_record *old, uint32_t i, uint32_t warp,
                     uint32_t lane) {
  const race_block *of = race_block_numbered(r, old->block);
  const race_lane *writer = of ? of->warps[old->warp].lanes[i] : NULL, *l = b->warps[warp].lanes[lane];
  bool own = old->block == b->number && old->warp == warp && i == lane;
  if (!of || (writer && writer->proxied >= old->time))
    return true;
  return l && l->proxied && (old->block != b->number || old->time <= (own ? l->proxied : l->proxied_base));
}
