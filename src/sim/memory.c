/* memory.c: the device's global memory: one reserved range at a fixed address, allocations in it by granules,
 * and ranges of the host that kernels may use. Knows exact sizes, but lets kernels reach to the end of a
 * granule, as a GPU's padding does; who wants it exact asks sim_memory_find.
 *
 * Invariant: granules[i] is not 0 if and only if a span that was not freed covers granule i; spans are sorted
 * and do not overlap.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "sim/machine.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

#define DEVICE_STRIDE UINT64_C(0x4000000000) /* address range of one device: 256 GiB */

static uint64_t base_of(const sim_memory *m) {
  return (uint64_t)(uintptr_t)m->base;
}

static void *reserve(void *at, uint64_t bytes, int protection) {
  int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (at ? MAP_FIXED_NOREPLACE : 0);
  void *p = mmap(at, bytes, protection, flags, -1, 0);
  if (p == MAP_FAILED)
    return NULL;
  if (at && p != at) { /* a kernel that does not know the flag */
    munmap(p, bytes);
    return NULL;
  }
  return p;
}

bool sim_memory_init(sim_memory *m, uint64_t bytes, uint32_t device_index) {
  bytes = (bytes + SIM_GRANULE - 1) / SIM_GRANULE * SIM_GRANULE;
  if (bytes > DEVICE_STRIDE)
    bytes = DEVICE_STRIDE;
  *m = (sim_memory){.bytes = bytes, .limit = bytes, .next_number = 1, .next_own = 1, .heap_limit = 8u << 20};
  m->base = reserve((void *)(uintptr_t)(SIM_MEMORY_BASE + device_index * DEVICE_STRIDE), bytes,
                    PROT_READ | PROT_WRITE);
  if (!m->base)
    return false;
  m->end = m->base + bytes;
  m->low_end = base_of(m) + SIM_GRANULE;
  m->top = base_of(m) + bytes;
  m->granules = reserve(NULL, bytes / SIM_GRANULE, PROT_READ | PROT_WRITE);
  /* nothing else may ever lie in the windows of generic addresses; another device may hold them already */
  reserve((void *)(uintptr_t)SIM_SHARED_WINDOW, 3 * SIM_WINDOW_BYTES, PROT_NONE);
  if (!m->granules) {
    sim_memory_end(m);
    return false;
  }
  return true;
}

void sim_memory_end(sim_memory *m) {
  if (m->base)
    munmap(m->base, m->bytes);
  if (m->granules)
    munmap(m->granules, m->bytes / SIM_GRANULE);
  if (m->defined)
    munmap(m->defined, m->bytes / 8 + 8);
  if (m->pages)
    munmap(m->pages, m->bytes / SIM_PAGE + 1);
  free(m->spans);
  free(m->host);
  free(m->gone);
  *m = (sim_memory){0};
}

/* Index of the first span that ends behind the address. */
static uint32_t span_index(const sim_span *spans, uint32_t n, uint64_t address) {
  uint32_t low = 0, high = n;
  while (low < high) {
    uint32_t mid = low + (high - low) / 2;
    if (spans[mid].end <= address)
      low = mid + 1;
    else
      high = mid;
  }
  return low;
}

const sim_span *sim_span_at(const sim_span *spans, uint32_t n, uint64_t address) {
  uint32_t i = span_index(spans, n, address);
  return i < n && spans[i].begin <= address ? &spans[i] : NULL;
}

static bool insert(sim_span **spans, uint32_t *n, uint32_t *capacity, uint32_t at, sim_span s) {
  if (*n == *capacity) {
    uint32_t more = *capacity ? *capacity * 2 : 64;
    sim_span *p = realloc(*spans, more * sizeof *p);
    if (!p)
      return false;
    *spans = p, *capacity = more;
  }
  memmove(*spans + at + 1, *spans + at, (*n - at) * sizeof **spans);
  (*spans)[at] = s;
  ++*n;
  return true;
}

static void take_out(sim_span *spans, uint32_t *n, uint32_t at) {
  memmove(spans + at, spans + at + 1, (*n - at - 1) * sizeof *spans);
  --*n;
}

/* What the host allocates lies at the low end, first fit over the gaps. What the machine itself needs grows
 * down from the other end, so that it does not move into what a program has just freed and may still use by
 * mistake. Addresses are a pure function of the calls so far. */
static uint64_t find_low(const sim_memory *m, uint64_t size) {
  uint64_t begin = base_of(m) + SIM_GRANULE, at = begin; /* the range's begin is no address */
  if (m->low_used < m->low_end - begin)
    for (uint32_t i = 0; i < m->n_spans && m->spans[i].begin < m->low_end; i++) {
      if (m->spans[i].begin - at >= size)
        return at;
      at = m->spans[i].end + m->spans[i].gap;
    }
  return m->top - m->low_end >= size ? m->low_end : 0;
}

static uint64_t find_high(const sim_memory *m, uint64_t size) {
  if (m->top - m->low_end >= size)
    return m->top - size;
  uint64_t end = base_of(m) + m->bytes; /* what was given back between */
  for (uint32_t i = m->n_spans; i-- > 0 && m->spans[i].begin >= m->top;) {
    if (end - (m->spans[i].end + m->spans[i].gap) >= size)
      return end - size;
    end = m->spans[i].begin;
  }
  return 0;
}

/* Takes a span out of the list; its bytes can be used again. */
static void drop_span(sim_memory *m, uint32_t i) {
  const sim_span s = m->spans[i];
  uint64_t room = s.end - s.begin + s.gap;
  take_out(m->spans, &m->n_spans, i);
  if (s.begin < m->low_end) {
    m->low_used -= room;
    if (s.begin + room == m->low_end)
      m->low_end = i ? m->spans[i - 1].end + m->spans[i - 1].gap : base_of(m) + SIM_GRANULE;
  } else if (s.begin == m->top) {
    m->top = i < m->n_spans ? m->spans[i].begin : base_of(m) + m->bytes;
  }
}

/* ------------------------------------------------------------------ exact memory */

static void forget_gone(sim_memory *m) {
  uint64_t begin = m->gone[m->first_gone];
  m->first_gone = (m->first_gone + 1) % SIM_GONE;
  m->n_gone--;
  drop_span(m, span_index(m->spans, m->n_spans, begin));
}

/* False: it is not kept. */
static bool keep_gone(sim_memory *m, sim_span *s) {
  bool host = s->info.kind == SIM_MEMORY_GLOBAL || s->info.kind == SIM_MEMORY_HEAP;
  if (!m->exact || !host || (!m->gone && !(m->gone = calloc(SIM_GONE, sizeof *m->gone))))
    return false;
  uint64_t begin = s->begin;
  s->info.freed = true;
  if (m->n_gone == SIM_GONE)
    forget_gone(m);
  m->gone[(m->first_gone + m->n_gone++) % SIM_GONE] = begin;
  return true;
}

/* An overrun is often a row, or a part of the array: the larger that is, the farther is the next. */
static uint64_t gap_of(const sim_memory *m, uint64_t size, sim_memory_kind kind) {
  uint64_t gap = size / 4 / SIM_GRANULE * SIM_GRANULE, most = UINT64_C(1) << 20;
  if (!m->exact || kind == SIM_MEMORY_PARAM)
    return 0;
  return gap > most ? most : gap + SIM_GRANULE;
}

bool sim_memory_ends_behind(const sim_memory *m, uint64_t address, uint64_t bytes) {
  const sim_span *s = sim_span_at(m->spans, m->n_spans, address);
  return s && bytes <= s->info.address + s->info.bytes - address;
}

/* ------------------------------------------------------------------ taken and given back */

void sim_memory_mark(const sim_memory *m, const sim_span *s) {
  uint8_t *granules = m->granules + (s->begin - base_of(m)) / SIM_GRANULE;
  uint64_t n = (s->end - s->begin) / SIM_GRANULE;
  bool constant = s->info.kind == SIM_MEMORY_CONST || s->info.kind == SIM_MEMORY_PARAM;
  memset(granules, s->info.freed ? SIM_FREE : constant ? SIM_READ_ONLY : SIM_PLAIN, n);
  if (m->exact && !constant && !s->info.freed && s->info.bytes < s->end - s->begin)
    granules[n - 1] = SIM_PARTLY;
}

/* Room for `size` bytes and, if there is any, for a gap behind them. */
static uint64_t find_room(sim_memory *m, uint64_t size, bool low, uint64_t *gap) {
  for (;;) {
    uint64_t at = low ? find_low(m, size + *gap) : find_high(m, size + *gap);
    if (at)
      return at;
    if (*gap > SIM_GRANULE)
      *gap = SIM_GRANULE;
    else if (m->n_gone)
      forget_gone(m);
    else if (*gap)
      *gap = 0;
    else
      return 0;
  }
}

uint64_t sim_memory_take(sim_memory *m, uint64_t bytes, sim_memory_kind kind, const char *name) {
  uint64_t size = ((bytes ? bytes : 1) + SIM_GRANULE - 1) / SIM_GRANULE * SIM_GRANULE;
  bool low = kind == SIM_MEMORY_GLOBAL, constant = kind == SIM_MEMORY_CONST || kind == SIM_MEMORY_PARAM;
  if (size < bytes || size > m->bytes || m->used + size > m->limit)
    return 0;
  uint64_t gap = gap_of(m, size, kind), at = find_room(m, size, low, &gap);
  if (!at)
    return 0;
  uint64_t number = low ? m->next_number : m->next_own;
  sim_span s = {at, at + size, gap, {at, bytes, number, kind, name, false}};
  if (!insert(&m->spans, &m->n_spans, &m->cap_spans, span_index(m->spans, m->n_spans, at), s))
    return 0;
  *(low ? &m->next_number : &m->next_own) += 1;
  m->used += size;
  if (low) {
    m->low_used += size + gap;
    m->low_end = at + size + gap > m->low_end ? at + size + gap : m->low_end;
  } else if (at < m->top) {
    m->top = at;
  }
  sim_memory_mark(m, &s);
  if (m->defined)
    memset(m->defined + (at - base_of(m)) / 8, constant || kind == SIM_MEMORY_MODULE ? 0xff : 0, size / 8);
  return at;
}

bool sim_memory_give(sim_memory *m, uint64_t address) {
  uint32_t i = span_index(m->spans, m->n_spans, address);
  if (i >= m->n_spans || m->spans[i].begin != address || m->spans[i].info.freed)
    return false;
  uint64_t size = m->spans[i].end - address;
  memset(m->granules + (address - (uint64_t)(uintptr_t)m->base) / SIM_GRANULE, 0, size / SIM_GRANULE);
  if (size >= 1u << 20 && !m->saved) /* large pieces go back to the system */
    madvise((void *)(uintptr_t)address, size / 4096 * 4096, MADV_DONTNEED);
  m->used -= size;
  if (!keep_gone(m, &m->spans[i]))
    drop_span(m, i);
  return true;
}

uint64_t sim_memory_new(sim_device *d, uint64_t bytes) {
  return sim_memory_take(&d->memory, bytes, SIM_MEMORY_GLOBAL, NULL);
}

bool sim_memory_free(sim_device *d, uint64_t address) {
  const sim_span *s = sim_span_at(d->memory.spans, d->memory.n_spans, address);
  return s && s->begin == address && s->info.kind == SIM_MEMORY_GLOBAL &&
         sim_memory_give(&d->memory, address);
}

void sim_memory_amount(const sim_device *d, uint64_t *free_bytes, uint64_t *total_bytes) {
  *total_bytes = d->memory.bytes;
  *free_bytes = d->memory.bytes - d->memory.used;
}

bool sim_memory_find(const sim_device *d, uint64_t address, sim_allocation *out) {
  const sim_span *s = sim_span_at(d->memory.spans, d->memory.n_spans, address);
  if (!s)
    s = sim_span_at(d->memory.host, d->memory.n_host, address);
  if (!s || s->info.freed)
    return false;
  *out = s->info;
  return true;
}

bool sim_memory_near(const sim_device *d, uint64_t address, sim_allocation *out) {
  const sim_memory *m = &d->memory;
  uint64_t best = UINT64_C(1) << 32;
  bool found = false;
  for (int host = 0; host < 2; host++) {
    const sim_span *spans = host ? m->host : m->spans;
    uint32_t n = host ? m->n_host : m->n_spans, i = span_index(spans, n, address);
    for (uint32_t k = i ? i - 1 : 0; k < n && k <= i; k++) {
      const sim_allocation *a = &spans[k].info;
      uint64_t end = a->address + a->bytes;
      uint64_t far = address < a->address ? a->address - address : address < end ? 0 : address - end + 1;
      if (far < best && a->kind != SIM_MEMORY_PARAM)
        best = far, *out = *a, found = true;
    }
  }
  return found;
}

static bool host_add(sim_memory *m, uint64_t begin, uint64_t bytes, sim_memory_kind kind, uint64_t *number) {
  uint32_t i = span_index(m->host, m->n_host, begin);
  if (i < m->n_host && m->host[i].begin < begin + bytes)
    return false;
  return insert(&m->host, &m->n_host, &m->cap_host, i,
                (sim_span){begin, begin + bytes, 0, {begin, bytes, (*number)++, kind, NULL, false}});
}

bool sim_host_register(sim_device *d, void *memory, uint64_t bytes, bool watched) {
  return bytes && host_add(&d->memory, (uint64_t)(uintptr_t)memory, bytes,
                           watched ? SIM_MEMORY_HOST : SIM_MEMORY_GLOBAL, &d->memory.next_number);
}

bool sim_host_unregister(sim_device *d, void *memory) {
  uint64_t at = (uint64_t)(uintptr_t)memory;
  uint32_t i = span_index(d->memory.host, d->memory.n_host, at);
  if (i >= d->memory.n_host || d->memory.host[i].begin != at)
    return false;
  take_out(d->memory.host, &d->memory.n_host, i);
  return true;
}

/* The peer's whole range: what is allocated there is not looked at. Its words count as written from outside.
 */
bool sim_peer_enable(sim_device *d, sim_device *other) {
  return d != other && host_add(&d->memory, (uint64_t)(uintptr_t)other->memory.base, other->memory.bytes,
                                SIM_MEMORY_HOST, &d->memory.next_own);
}

void sim_heap_limit(sim_device *d, uint64_t bytes) {
  d->memory.heap_limit = bytes;
}

/* ------------------------------------------------------------------ definedness */

void sim_memory_define(sim_device *d, uint64_t address, uint64_t bytes, bool defined) {
  sim_memory *m = &d->memory;
  uint64_t at = address - (uint64_t)(uintptr_t)m->base;
  if (!m->defined || at >= m->bytes || bytes > m->bytes - at)
    return;
  uint64_t end = at + bytes;
  for (; at < end && (at & 7); at++)
    m->defined[at / 8] =
        (uint8_t)(defined ? m->defined[at / 8] | 1 << (at & 7) : m->defined[at / 8] & ~(1 << (at & 7)));
  if (end - at >= 8) {
    memset(m->defined + at / 8, defined ? 0xff : 0, (end - at) / 8);
    at = end / 8 * 8;
  }
  for (; at < end; at++)
    m->defined[at / 8] =
        (uint8_t)(defined ? m->defined[at / 8] | 1 << (at & 7) : m->defined[at / 8] & ~(1 << (at & 7)));
}

static bool is_defined(const sim_memory *m, uint64_t address) {
  uint64_t at = address - (uint64_t)(uintptr_t)m->base;
  return !m->defined || at >= m->bytes || (m->defined[at / 8] >> (at & 7) & 1);
}

uint64_t sim_memory_undefined(const sim_device *d, uint64_t address, uint64_t bytes) {
  const sim_memory *m = &d->memory;
  uint64_t at = address - (uint64_t)(uintptr_t)m->base, i = 0;
  bool inside = m->defined && at < m->bytes && bytes <= m->bytes - at;
  while (i < bytes) {
    if (inside && (at + i) % 8 == 0 && bytes - i >= 64) { /* eight bytes of the map at once */
      uint64_t word;
      memcpy(&word, m->defined + (at + i) / 8, sizeof word);
      if (word == UINT64_MAX) {
        i += 64;
        continue;
      }
    }
    if (!is_defined(m, address + i))
      return i;
    i++;
  }
  return bytes;
}

void sim_memory_define_copy(sim_device *d, uint64_t to, uint64_t from, uint64_t bytes) {
  if (sim_memory_undefined(d, from, bytes) == bytes) {
    sim_memory_define(d, to, bytes, true);
    return;
  }
  for (uint64_t i = 0; i < bytes; i++) {
    uint64_t k = to <= from ? i : bytes - 1 - i;
    sim_memory_define(d, to + k, 1, is_defined(&d->memory, from + k));
  }
}
