/* told.c: loads, stores and atomics, watched: what most of them are. Where every lane is at memory that it
 * may use, and that somebody wrote, all is asked for the whole warp at once, the handler of mem.c moves the
 * bytes, and the watcher is told values as they lie in the registers. What is not so simple, and all where a
 * watcher chooses or a loop is probed, is left to access.c, which goes lane by lane.
 */
#include <string.h>

#include "sim/exec/rises.h"
#include "sim/machine.h"

typedef struct span {
  uint64_t base; /* lane i is at base + i * stride, */
  int32_t stride;
  bool regular, shared;
  bool straight;               /* all of them, side by side; */
  uint64_t address[SIM_LANES]; /* else, if they are not regular */
} span;

/* ------------------------------------------------------------------ addresses */

/* Where lanes are, and whether that is regular. The distance is that of the first two: of neighbours, since
 * anything else is rare. */
static void spread_wide(const sim_op *o, const sim_ctx *c, uint32_t size, span *s) {
  const uint64_t *a = sim_at(c, o->a), offset = (uint64_t)(int64_t)(int32_t)o->x;
  uint32_t first = sim_first(c->mask), next = (first + 1) % SIM_LANES;
  uint64_t apart = c->mask >> next & 1 && next ? a[next] - a[first] : size, base = a[first] - first * apart;
  uint64_t differs = 0;
  SIM_INDEPENDENT for (uint32_t i = 0; i < SIM_LANES; i++) {
    differs |= (a[i] ^ (base + i * apart)) & (uint64_t)(int64_t)(int32_t)c->lane[i];
    s->address[i] = a[i] + offset;
  }
  s->base = base + offset;
  s->stride = (int32_t)apart;
  s->regular = !differs && (uint64_t)(int64_t)(int8_t)apart == apart;
}

static void spread_narrow(const sim_op *o, const sim_ctx *c, uint32_t size, span *s) {
  const uint32_t *a = sim_at(c, o->a), offset = o->x;
  uint32_t first = sim_first(c->mask), next = (first + 1) % SIM_LANES;
  uint32_t apart = c->mask >> next & 1 && next ? a[next] - a[first] : size, base = a[first] - first * apart;
  uint32_t differs = 0;
  SIM_INDEPENDENT for (uint32_t i = 0; i < SIM_LANES; i++) {
    differs |= (a[i] ^ (base + i * apart)) & c->lane[i];
    s->address[i] = a[i] + offset;
  }
  s->stride = (int32_t)apart;
  s->base = (uint32_t)(a[first] + offset) - (uint64_t)((int64_t)first * s->stride);
  s->regular = !differs && (int8_t)s->stride == s->stride;
}

static void spread(const sim_op *o, const sim_ctx *c, uint32_t size, span *s) {
  const void *a = sim_at(c, o->a);
  bool wide = o->y & SIM_WIDE;
  s->straight = c->mask == UINT32_MAX && rises(a, wide, size); /* most lie so: that is asked first */
  if (s->straight) {
    s->base = wide ? *(const uint64_t *)a + (uint64_t)(int64_t)(int32_t)o->x : *(const uint32_t *)a + o->x;
    s->stride = (int32_t)size, s->regular = true;
  } else if (wide) {
    spread_wide(o, c, size, s);
  } else {
    spread_narrow(o, c, size, s);
  }
}

/* ------------------------------------------------------------------ memory */

/* Bits of a map; it has room behind its end. */
static inline bool all_written(const uint8_t *map, uint64_t at, uint64_t bytes) {
  uint64_t word;
  for (; !(at & 7) && bytes >= 64; at += 64, bytes -= 64) {
    memcpy(&word, map + at / 8, sizeof word);
    if (word != UINT64_MAX)
      return false;
  }
  while (bytes) {
    uint32_t skip = at & 7, have = 64 - skip, n = bytes < have ? (uint32_t)bytes : have;
    uint64_t want = n == 64 ? UINT64_MAX : ((UINT64_C(1) << n) - 1) << skip;
    memcpy(&word, map + at / 8, sizeof word);
    if ((word & want) != want)
      return false;
    at += n, bytes -= n;
  }
  return true;
}

enum { READS = 1, WRITES = 2 };

static inline bool usable_shared(const sim_run *r, uint64_t address, uint64_t bytes, int what) {
  if (address < r->grid->shared_begin || address > r->shared_bytes || bytes > r->shared_bytes - address)
    return false;
  if (!r->defines)
    return true;
  if (what & READS)
    return !memchr(r->block->shared_defined + address, 0, bytes);
  memset(r->block->shared_defined + address, 1, bytes);
  return true;
}

/* Whether these bytes may be used, and may be read as somebody wrote them; what is
 * only written counts as written from now on. */
static inline bool usable(const sim_run *r, bool shared, uint64_t address, uint64_t bytes, int what) {
  const sim_memory *m = r->memory;
  uint64_t at = address - (uint64_t)(uintptr_t)m->base;
  if (shared)
    return usable_shared(r, address, bytes, what);
  if (at >= m->bytes || bytes > m->bytes - at)
    return false;
  for (uint64_t g = at / SIM_GRANULE, last = (at + bytes - 1) / SIM_GRANULE; g <= last; g++)
    if (m->granules[g] != SIM_PLAIN &&
        (g != last || m->granules[g] != SIM_PARTLY || !sim_memory_ends_behind(m, address, bytes)))
      return false;
  if (r->defines) {
    __builtin_prefetch(m->defined + at / 8 + 64); /* where later turns will want to be */
    if (!all_written(m->defined, at, bytes)) {
      if (what & READS)
        return false;
      sim_memory_define(r->device, address, bytes, true);
    }
  }
  if (what & WRITES && m->kept)
    sim_memory_touch(r->device, address, bytes);
  return true;
}

/* Somebody has written all of the block's shared memory: then so it stays. Looked up at the first of ever
 * more accesses. */
static inline bool all_defined(const sim_run *r) {
  sim_block *b = r->block;
  uint32_t n = b->looked_up++;
  if (!b->all_defined && !(n & (n - 1)))
    b->all_defined =
        r->shared_bytes <= r->grid->shared_begin ||
        !memchr(b->shared_defined + r->grid->shared_begin, 0, r->shared_bytes - r->grid->shared_begin);
  return b->all_defined;
}

/* The same for lanes of a whole warp that lie anywhere in shared memory, each aligned. */
static bool all_usable(const sim_run *r, const span *s, uint32_t size, int what) {
  uint64_t begin = r->grid->shared_begin, room = r->shared_bytes - begin, bad = 0;
  uint8_t *map = r->block->shared_defined;
  if (r->shared_bytes < begin || room < size)
    return false;
  room -= size;
  SIM_INDEPENDENT for (uint32_t i = 0; i < SIM_LANES; i++) bad |=
      (s->address[i] & (size - 1)) | (uint64_t)(s->address[i] - begin > room);
  if (bad || !r->defines || all_defined(r))
    return !bad;
  for (uint32_t i = 0; i < SIM_LANES; i++) {
    uint64_t at = s->address[i];
    for (uint32_t k = 0; k < size; k += 4) {
      uint32_t four;
      memcpy(&four, map + at + k, 4);
      bad |= four ^ 0x01010101;
    }
  }
  if (bad && what & READS)
    return false;
  for (uint32_t i = 0; bad && i < SIM_LANES; i++)
    memset(map + s->address[i], 1, size);
  return true;
}

/* Where the lanes are. False: not so simple. */
static bool find(const sim_run *r, const sim_op *o, const sim_moves *m, int what, span *s) {
  const sim_ctx *c = &r->ctx;
  uint32_t space = o->y & SIM_SPACES, size = (uint32_t)m->bytes * m->n, mask = c->mask;
  if (space == SIM_LOCAL || m->bytes > 8)
    return false;
  s->shared = space == SIM_SHARED;
  spread(o, c, size, s);
  if (s->straight)
    return !(s->base & (size - 1)) && usable(r, s->shared, s->base, SIM_LANES * size, what);
  uint32_t first = sim_first(mask), last = 31 - (uint32_t)__builtin_clz(mask), lanes = mask >> first;
  if (s->regular && s->stride >= 0 && (uint32_t)s->stride <= size && !(lanes & (lanes + 1))) { /* no holes */
    uint64_t begin = s->base + (uint64_t)s->stride * first;
    return !((begin | (uint64_t)s->stride) & (size - 1)) &&
           usable(r, s->shared, begin, (uint64_t)s->stride * (last - first) + size, what);
  }
  if (s->shared && mask == UINT32_MAX && size >= 4)
    return all_usable(r, s, size, what);
  SIM_EACH(i, mask)
  if (s->address[i] & (size - 1) || !usable(r, s->shared, s->address[i], size, what))
    return false;
  return true;
}

/* ------------------------------------------------------------------ telling */

/* `read`, `written`: a place for each lane, or NULL. The event is the run's, where it stands already who does
 * this: written anew each time, and read at once, that would stall. */
static inline void fill(sim_run *r, const sim_op *o, const sim_moves *m, const span *s, uint32_t element,
                        const void *read, const void *written) {
  static const uint32_t none = 0;
  sim_event *e = &r->told;
  sim_access *a = &r->told_access;
  *a = (sim_access){.who = &e->who,
                    .reads = read,
                    .writes = written,
                    .regular = s->regular,
                    .base = s->base,
                    .stride = s->stride,
                    .returns = read && written && m->results[0] != SIM_NOWHERE,
                    .space = s->shared ? PTX_SPACE_SHARED : PTX_SPACE_GLOBAL,
                    .order = m->order,
                    .scope = m->scope,
                    .proxy = m->proxy,
                    .bytes = m->bytes,
                    .element = element,
                    .elements = m->n,
                    .stored = written ? r->ctx.mask : 0,
                    .address = s->regular ? NULL : s->address,
                    .lane_bytes = m->lane_bytes,
                    .lanes_read = read,
                    .lanes_written = written,
                    .undefined = written && !read && r->defines ? &none : NULL};
  e->kind = SIM_EVENT_ACCESS;
  e->access = a;
  e->who.lanes = r->ctx.mask;
  e->who.insn = &e->who.body->insns[o->insn];
}

static inline void tell(sim_run *r, const sim_op *o, const sim_moves *m, const span *s, uint32_t element,
                        const void *read, const void *written) {
  fill(r, o, m, s, element, read, written);
  if (r->watcher->event(r->watcher->user, &r->told) == SIM_YIELD)
    r->yield = true;
}

/* What the accesses of a gang have in common; each warp's own follows. */
static void tell_parts(sim_run *r, const sim_op *o, const sim_moves *m, bool writes, uint32_t apart,
                       const sim_part *parts, uint32_t n) {
  const span s = {.base = parts->base,
                  .stride = (int32_t)apart,
                  .regular = true,
                  .shared = (o->y & SIM_SPACES) == SIM_SHARED};
  sim_access *a = &r->told_access;
  if (!n)
    return;
  r->told.who.warp = parts->warp;
  fill(r, o, m, &s, 0, writes ? NULL : parts->lanes, writes ? parts->lanes : NULL);
  a->stored = writes ? UINT32_MAX : 0;
  r->told.who.lanes = UINT32_MAX;
  r->watcher->several(r->watcher->user, a, parts, n);
}

static const sim_op *tell_elements(sim_run *r, const sim_op *o, span *s, bool writes) {
  const sim_moves *m = o->more;
  for (uint32_t k = 0; k < m->n && r->watcher->watch & SIM_WATCH_ACCESS; k++) {
    const void *lanes = sim_at(&r->ctx, m->places[k]);
    tell(r, o, m, s, k, writes ? NULL : lanes, writes ? lanes : NULL);
    s->base += m->bytes;
    for (uint32_t i = 0; k + 1 < m->n && !s->regular && i < SIM_LANES; i++)
      s->address[i] += m->bytes;
  }
  return r->yield ? sim_stop(r, o, o + 1) : o + 1;
}

static inline bool is_simple(const sim_run *r) {
  return r->only_told && !r->warp->undefined;
}

/* The memory, if it lies as the register does. */
static inline uint8_t *as_register(const sim_run *r, const sim_op *o, const sim_moves *m, const span *s) {
  if (!s->straight || m->n > 1 || m->bytes != m->lane_bytes || o->y & SIM_ORDERED)
    return NULL;
  if (s->shared)
    return r->shared + s->base;
  uint8_t *at = (uint8_t *)(uintptr_t)s->base;
  __builtin_prefetch(at + SIM_LANES * m->bytes); /* as mem.c does */
  __builtin_prefetch(at + SIM_LANES * m->bytes + 64);
  return at;
}

static inline void copy(void *to, const void *from, uint32_t bytes) {
  if (bytes == 4)
    memcpy(to, from, 4 * SIM_LANES);
  else
    memcpy(to, from, 8 * SIM_LANES);
}

const sim_op *SIM_LEVELED(sim_load_told)(const sim_op *o, sim_ctx *c) {
  sim_run *r = sim_run_of(c);
  const sim_moves *m = o->more;
  span s;
  if (!is_simple(r) || !find(r, o, m, READS, &s))
    return sim_load_slow(o, c);
  const uint8_t *from = as_register(r, o, m, &s);
  if (from)
    copy(sim_at(c, o->d), from, m->bytes);
  else
    o->fn[SIM_MASKED](o, c);
  return tell_elements(r, o, &s, false);
}

const sim_op *SIM_LEVELED(sim_store_told)(const sim_op *o, sim_ctx *c) {
  sim_run *r = sim_run_of(c);
  const sim_moves *m = o->more;
  span s;
  if (!is_simple(r) || !find(r, o, m, WRITES, &s))
    return sim_store_slow(o, c);
  uint8_t *to = as_register(r, o, m, &s);
  if (to)
    copy(to, sim_at(c, o->b), m->bytes);
  else
    o->fn[SIM_MASKED](o, c);
  return tell_elements(r, o, &s, true);
}

/* ------------------------------------------------------------------ gangs */

/* Whether the lanes of a warp of a gang lie side by side (apart: their size) or all at one place (apart: 0),
 * and there is nothing to say but what they did: then that is at *base. */
static inline bool lies_so(const sim_run *r, const sim_op *o, const void *lanes, uint32_t bytes,
                           uint32_t apart, int what, uint64_t *base) {
  bool wide = o->y & SIM_WIDE;
  if (!rises(lanes, wide, apart))
    return false;
  *base =
      wide ? *(const uint64_t *)lanes + (uint64_t)(int64_t)(int32_t)o->x : *(const uint32_t *)lanes + o->x;
  return !(*base & (bytes - 1)) &&
         usable(r, (o->y & SIM_SPACES) == SIM_SHARED, *base, apart ? SIM_LANES * bytes : bytes, what);
}

/* One warp's: memory and register of the same size, or as the full handler does it. */
static inline void move_one(sim_run *r, const sim_op *o, void *reg, uint8_t *at, uint32_t apart, uint32_t w,
                            bool writes) {
  const sim_moves *m = o->more;
  if (apart && m->bytes == m->lane_bytes) {
    copy(writes ? (void *)at : reg, writes ? reg : (void *)at, m->bytes);
  } else {
    sim_gang_one(r, w);
    o->fn[SIM_FULL](o, &r->ctx);
  }
}

/* What is simple for all warps is told at once; what is not, of each by itself. */
static const sim_op *gang_told(const sim_op *o, sim_ctx *c, bool writes) {
  sim_run *r = sim_run_of(c);
  const sim_moves *m = o->more;
  bool shared = (o->y & SIM_SPACES) == SIM_SHARED;
  if (m->n > 1 || m->bytes > 8 || (writes && m->bytes != m->lane_bytes) || m->order != PTX_ORDER_WEAK ||
      (o->y & SIM_SPACES) == SIM_LOCAL || r->lanes != SIM_LANES * r->warps || !r->watcher->several ||
      !sim_watches(r, SIM_WATCH_ACCESS))
    return sim_gang_told(o, c);
  sim_part parts[SIM_LANES];
  sim_row a = sim_row_of(c, o->a), row = sim_row_of(c, writes ? o->b : o->d);
  uint32_t n = 0, gang = c->gang, bytes = m->bytes, last = bytes;
  uintptr_t ahead = 0;
  bool first = true;
  for (uint32_t left = gang, w = 0; left; left >>= 1, w++, a.at += a.step, row.at += row.step) {
    if (!(left & 1))
      continue;
    uint64_t base;
    uint32_t apart = bytes;
    bool simple = lies_so(r, o, a.at, bytes, apart, writes ? WRITES : READS, &base);
    if (!simple && !writes)
      simple = lies_so(r, o, a.at, bytes, apart = 0, READS, &base);
    if (!simple || apart != last) {
      tell_parts(r, o, m, writes, last, parts, n);
      n = 0, last = apart;
    }
    if (simple) {
      uint8_t *at = shared ? r->shared + base : (uint8_t *)(uintptr_t)base;
      if (first)
        ahead = sim_ahead(r, o, at), first = false;
      for (uint32_t line = 0; line < SIM_LANES * bytes; line += 64)
        __builtin_prefetch((const void *)((uintptr_t)at + ahead + line));
      move_one(r, o, row.at, at, apart, w, writes);
      parts[n++] = (sim_part){base, row.at, w};
      continue;
    }
    c->gang = UINT32_C(1) << w;
    if (!sim_gang_told(o, c))
      return NULL;
    c->gang = gang;
  }
  tell_parts(r, o, m, writes, last, parts, n);
  sim_gang_all(r);
  return o + 1;
}
const sim_op *SIM_LEVELED(sim_load_gang)(const sim_op *o, sim_ctx *c) {
  return gang_told(o, c, false);
}
const sim_op *SIM_LEVELED(sim_store_gang)(const sim_op *o, sim_ctx *c) {
  return gang_told(o, c, true);
}

/* ------------------------------------------------------------------ atomics */

const sim_op *SIM_LEVELED(sim_atom_told)(const sim_op *o, sim_ctx *c) {
  sim_run *r = sim_run_of(c);
  const sim_moves *m = o->more;
  uint64_t found[SIM_LANES], left[SIM_LANES];
  span s;
  if (!is_simple(r) || !find(r, o, m, READS | WRITES, &s))
    return sim_atom_slow(o, c);
  uint8_t *base = s.shared ? r->shared : NULL;
  for (uint32_t i = 0; i < SIM_LANES; i++)
    r->pointer[i] = base + (s.straight ? s.base + i * (uint64_t)m->bytes : s.address[i]);
  m->told(o, c, found, left);
  if (r->watcher->watch & SIM_WATCH_ACCESS)
    tell(r, o, m, &s, 0, found, left);
  return r->yield ? sim_stop(r, o, o + 1) : o + 1;
}
