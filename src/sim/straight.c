/* straight.c: plain loads and stores of a whole warp side by side, watched: what most accesses are.
 * Everything is asked once for all lanes: whether the memory is there, to the byte, and whether somebody
 * wrote it. What is not so simple is left to access.c, which goes lane by lane.
 */
#include <string.h>

#include "sim/machine.h"

/* The first address, if the lanes lie side by side. */
static bool side_by_side(const sim_op *o, const sim_ctx *c, uint32_t size, uint64_t *first) {
  uint64_t differs = 0;
  if (o->y & SIM_WIDE) {
    const uint64_t *a = sim_at(c, o->a);
    *first = a[0] + (uint64_t)(int64_t)(int32_t)o->x;
    for (uint32_t i = 0; i < SIM_LANES; i++)
      differs |= a[i] ^ (a[0] + i * size);
    return !differs;
  }
  const uint32_t *a = sim_at(c, o->a);
  uint32_t d = 0;
  *first = (uint32_t)(a[0] + o->x);
  for (uint32_t i = 0; i < SIM_LANES; i++)
    d |= a[i] ^ (a[0] + i * size);
  return !d && *first <= UINT32_MAX - SIM_LANES * size;
}

static bool all_ones(const uint8_t *map, uint32_t n, uint8_t one) {
  uint8_t bad = 0;
  for (uint32_t k = 0; k < n; k++)
    bad |= map[k] ^ one;
  return !bad;
}

/* The memory, which is all there and all written; a store makes it so. NULL: not so simple. */
static uint8_t *memory_of(const sim_run *r, const sim_op *o, uint64_t address, uint32_t bytes, bool writes,
                          bool *shared) {
  uint32_t space = o->y & SIM_SPACES;
  *shared = space == SIM_SHARED;
  if (*shared) {
    if (address < r->grid->shared_begin || address + bytes > r->shared_bytes)
      return NULL;
    if (r->defines && writes)
      memset(r->block->shared_defined + address, 1, bytes);
    else if (r->defines && !all_ones(r->block->shared_defined + address, bytes, 1))
      return NULL;
    return r->shared + address;
  }
  const sim_memory *m = r->memory;
  uint64_t at = address - (uint64_t)(uintptr_t)m->base;
  if (space == SIM_LOCAL || at >= m->bytes || bytes > m->bytes - at ||
      m->granules[at / SIM_GRANULE] != SIM_PLAIN || m->granules[(at + bytes - 1) / SIM_GRANULE] != SIM_PLAIN)
    return NULL;
  if (r->defines && at % 8)
    return NULL;
  if (writes && m->kept)
    sim_memory_touch(r->device, address, bytes);
  if (r->defines && writes)
    memset(m->defined + at / 8, 0xff, bytes / 8);
  else if (r->defines && !all_ones(m->defined + at / 8, bytes / 8, 0xff))
    return NULL;
  return (uint8_t *)(uintptr_t)address;
}

static void tell(sim_run *r, const sim_op *o, const sim_moves *m, uint64_t first, bool shared, bool writes,
                 uint64_t (*values)[2]) {
  uint64_t address[SIM_LANES];
  uint32_t none = 0;
  sim_who who;
  if (!sim_watches(r, SIM_WATCH_ACCESS))
    return;
  for (uint32_t i = 0; i < SIM_LANES; i++)
    address[i] = first + i * m->bytes;
  sim_who_of(r, UINT32_MAX, o, &who);
  sim_access a = {.who = &who,
                  .reads = !writes,
                  .writes = writes,
                  .straight = true,
                  .space = shared ? PTX_SPACE_SHARED : PTX_SPACE_GLOBAL,
                  .order = PTX_ORDER_WEAK,
                  .scope = PTX_MOD_NONE,
                  .proxy = m->proxy,
                  .bytes = m->bytes,
                  .elements = 1,
                  .stored = writes ? UINT32_MAX : 0,
                  .address = address,
                  .read = writes ? NULL : values,
                  .written = (const uint64_t(*)[2])(writes ? values : NULL),
                  .undefined = writes && r->defines ? &none : NULL};
  sim_say(r, &(sim_event){.kind = SIM_EVENT_ACCESS, .access = &a}, UINT32_MAX, o);
}

/* Values in the form in which watchers are told. */
static void widen(const uint8_t *from, uint32_t bytes, uint64_t (*to)[2]) {
  switch (bytes) {
  case 4:
    for (uint32_t i = 0; i < SIM_LANES; i++)
      to[i][0] = ((const uint32_t *)(const void *)from)[i], to[i][1] = 0;
    break;
  case 8:
    for (uint32_t i = 0; i < SIM_LANES; i++)
      to[i][0] = ((const uint64_t *)(const void *)from)[i], to[i][1] = 0;
    break;
  default:
    for (uint32_t i = 0; i < SIM_LANES; i++)
      to[i][0] = from[i], to[i][1] = 0;
    break;
  }
}

/* Whether an access may be one of these. A watcher that chooses wants to be asked for each. */
static bool simple(const sim_run *r, const sim_op *o, const sim_moves *m) {
  return r->ctx.mask == UINT32_MAX && m->n == 1 && m->order == PTX_ORDER_WEAK && r->watcher && !r->probe &&
         !(r->watcher->watch & (SIM_WATCH_CHOICES | SIM_WATCH_STEPS)) && !r->warp->undefined &&
         !(o->y & SIM_ORDERED) &&
         ((m->bytes == m->lane_bytes && m->bytes <= 8) ||
          (m->bytes == 1 && m->lane_bytes == 4 && !m->is_signed));
}

bool sim_load_straight(sim_run *r, const sim_op *o, const sim_moves *m) {
  uint64_t first, values[SIM_LANES][2];
  bool shared;
  if (!simple(r, o, m) || !side_by_side(o, &r->ctx, m->bytes, &first) || first % m->bytes)
    return false;
  const uint8_t *at = memory_of(r, o, first, m->bytes * SIM_LANES, false, &shared);
  if (!at)
    return false;
  void *d = sim_at(&r->ctx, m->places[0]);
  widen(at, m->bytes, values);
  tell(r, o, m, first, shared, false, values);
  if (m->bytes == m->lane_bytes)
    memcpy(d, at, (size_t)m->bytes * SIM_LANES);
  else
    for (uint32_t i = 0; i < SIM_LANES; i++)
      ((uint32_t *)d)[i] = at[i];
  return true;
}

bool sim_store_straight(sim_run *r, const sim_op *o, const sim_moves *m) {
  uint64_t first, values[SIM_LANES][2];
  bool shared;
  if (!simple(r, o, m) || m->bytes != m->lane_bytes || !side_by_side(o, &r->ctx, m->bytes, &first) ||
      first % m->bytes)
    return false;
  uint8_t *at = memory_of(r, o, first, m->bytes * SIM_LANES, true, &shared);
  if (!at)
    return false;
  memcpy(at, sim_at(&r->ctx, m->places[0]), (size_t)m->bytes * SIM_LANES);
  widen(at, m->bytes, values);
  tell(r, o, m, first, shared, true, values);
  return true;
}
