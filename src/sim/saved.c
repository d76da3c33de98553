/* saved.c: states of a device, to come back to. A state holds, of each page that was written since, what it
 * was; so it costs what kernels write. Several may be kept at once: going back to one is a change that the
 * others take note of.
 *
 * Invariant: a page of which a state holds nothing is as it was when the state was taken.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "sim/machine.h"

/* A page, or the part of it that is registered host memory: the rest of that page is not the device's. */
typedef struct piece {
  uint64_t at;
  uint32_t bytes;
  uint8_t *was, *defined; /* one allocation; defined NULL: not kept */
} piece;

struct sim_saved {
  sim_saved *next;
  sim_device *device;
  uint8_t bit;
  bool failed; /* a page could not be kept */
  piece *pieces;
  uint32_t n, capacity;
  uint32_t *slots, n_slots; /* hash of pieces by address: index + 1 */
  sim_memory memory;        /* its numbers, and spans of its own */
  sim_stats stats, run_stats;
  uint64_t clock, clock_step, random, next_grid, ticks, warp_insns, thread_insns;
  uint32_t next_sm;
};

/* ------------------------------------------------------------------ pieces */

static uint32_t slot_of(const sim_saved *s, uint64_t at) {
  uint32_t k = (uint32_t)((at >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 40) & (s->n_slots - 1);
  while (s->slots[k] && s->pieces[s->slots[k] - 1].at != at)
    k = (k + 1) & (s->n_slots - 1);
  return k;
}

static bool grow(sim_saved *s) {
  uint32_t more = s->capacity ? s->capacity * 2 : 64;
  piece *pieces = realloc(s->pieces, more * sizeof *pieces);
  if (!pieces)
    return false;
  s->pieces = pieces, s->capacity = more;
  free(s->slots);
  s->n_slots = more * 2;
  s->slots = calloc(s->n_slots, sizeof *s->slots);
  for (uint32_t k = 0; s->slots && k < s->n; k++)
    s->slots[slot_of(s, s->pieces[k].at)] = k + 1;
  return s->slots != NULL;
}

static void keep(sim_saved *s, uint64_t at, uint32_t bytes, const uint8_t *defined) {
  if (s->failed || (s->n_slots && s->slots[slot_of(s, at)]))
    return;
  uint8_t *was = s->n < s->capacity || grow(s) ? malloc(bytes + (defined ? bytes / 8 : 0)) : NULL;
  if (!was) {
    s->failed = true;
    return;
  }
  memcpy(was, (void *)(uintptr_t)at, bytes);
  if (defined)
    memcpy(was + bytes, defined, bytes / 8);
  s->pieces[s->n++] = (piece){at, bytes, was, defined ? was + bytes : NULL};
  s->slots[slot_of(s, at)] = s->n;
}

static void touch_host(const sim_memory *m, uint64_t address, uint64_t bytes) {
  const sim_span *h = sim_span_at(m->host, m->n_host, address);
  if (!h)
    return;
  for (uint64_t at = address / SIM_PAGE * SIM_PAGE; at < address + bytes; at += SIM_PAGE) {
    uint64_t begin = at > h->begin ? at : h->begin, end = at + SIM_PAGE < h->end ? at + SIM_PAGE : h->end;
    for (sim_saved *s = m->saved; s; s = s->next)
      keep(s, begin, (uint32_t)(end - begin), NULL);
  }
}

void sim_memory_touch(sim_device *d, uint64_t address, uint64_t bytes) {
  sim_memory *m = &d->memory;
  uint64_t base = (uint64_t)(uintptr_t)m->base;
  if (!bytes || !m->kept)
    return;
  if (address - base >= m->bytes) {
    touch_host(m, address, bytes);
    return;
  }
  for (uint64_t page = (address - base) / SIM_PAGE; page <= (address - base + bytes - 1) / SIM_PAGE; page++) {
    if (m->pages[page] == m->kept)
      continue;
    uint64_t at = page * SIM_PAGE;
    for (sim_saved *s = m->saved; s; s = s->next)
      if (!(m->pages[page] & s->bit))
        keep(s, base + at, SIM_PAGE, m->defined ? m->defined + at / 8 : NULL);
    m->pages[page] = m->kept;
  }
}

void sim_memory_changes(sim_device *d, uint64_t address, uint64_t bytes) {
  sim_memory_touch(d, address, bytes);
}

/* ------------------------------------------------------------------ spans */

static bool same(const sim_span *a, const sim_span *b) {
  return a->begin == b->begin && a->end == b->end && a->gap == b->gap && a->info.number == b->info.number &&
         a->info.kind == b->info.kind && a->info.freed == b->info.freed;
}

/* Allocations as they were. What is there and was not is unmarked before what was is marked. */
static bool restore_spans(sim_memory *m, const sim_memory *was) {
  if (m->cap_spans < was->n_spans) {
    sim_span *more = realloc(m->spans, was->n_spans * sizeof *more);
    if (!more)
      return false;
    m->spans = more, m->cap_spans = was->n_spans;
  }
  for (int there = 0; there < 2; there++) {
    const sim_memory *from = there ? was : m, *other = there ? m : was;
    for (uint32_t i = 0, k = 0; i < from->n_spans; i++) {
      while (k < other->n_spans && other->spans[k].begin < from->spans[i].begin)
        k++;
      if (k < other->n_spans && same(&from->spans[i], &other->spans[k]))
        continue;
      sim_span s = from->spans[i];
      s.info.freed |= !there;
      sim_memory_mark(m, &s);
    }
  }
  memcpy(m->spans, was->spans, was->n_spans * sizeof *m->spans);
  m->n_spans = was->n_spans;
  m->used = was->used, m->next_number = was->next_number, m->next_own = was->next_own;
  m->low_end = was->low_end, m->low_used = was->low_used, m->top = was->top;
  m->heap_used = was->heap_used;
  m->first_gone = 0, m->n_gone = was->n_gone;
  if (was->n_gone)
    memcpy(m->gone, was->gone, was->n_gone * sizeof *m->gone);
  return true;
}

/* ------------------------------------------------------------------ states */

sim_saved *sim_memory_save(sim_device *d) {
  sim_memory *m = &d->memory;
  if (m->kept == UINT8_MAX)
    return NULL;
  if (!m->pages) {
    void *p = mmap(NULL, m->bytes / SIM_PAGE + 1, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
      return NULL;
    m->pages = p;
  }
  sim_saved *s = calloc(1, sizeof *s);
  sim_span *spans = malloc((m->n_spans + 1) * sizeof *spans);
  uint64_t *gone = malloc((m->n_gone + 1) * sizeof *gone);
  if (!s || !spans || !gone) {
    free(s);
    free(spans);
    free(gone);
    return NULL;
  }
  for (uint32_t k = 0; k < m->n_gone; k++)
    gone[k] = m->gone[(m->first_gone + k) % SIM_GONE];
  memcpy(spans, m->spans, m->n_spans * sizeof *spans);
  *s = (sim_saved){.next = m->saved,
                   .device = d,
                   .bit = (uint8_t)(~m->kept & (m->kept + 1)),
                   .memory = *m,
                   .stats = d->stats,
                   .run_stats = d->run->stats,
                   .clock = d->clock,
                   .clock_step = d->clock_step,
                   .random = d->random,
                   .next_grid = d->next_grid,
                   .ticks = d->run->ticks,
                   .warp_insns = d->run->warp_insns,
                   .thread_insns = d->run->thread_insns,
                   .next_sm = d->next_sm};
  s->memory.spans = spans, s->memory.gone = gone;
  m->saved = s;
  m->kept |= s->bit;
  return s;
}

bool sim_memory_restore(sim_device *d, const sim_saved *s) {
  sim_memory *m = &d->memory;
  if (!restore_spans(m, &s->memory))
    return false;
  for (uint32_t k = 0; k < s->n; k++) {
    const piece *p = &s->pieces[k];
    sim_memory_touch(d, p->at, p->bytes);
    memcpy((void *)(uintptr_t)p->at, p->was, p->bytes);
    if (p->defined)
      memcpy(m->defined + (p->at - (uint64_t)(uintptr_t)m->base) / 8, p->defined, p->bytes / 8);
  }
  d->stats = s->stats, d->run->stats = s->run_stats;
  d->clock = s->clock, d->clock_step = s->clock_step, d->random = s->random;
  d->next_grid = s->next_grid, d->next_sm = s->next_sm;
  d->run->ticks = s->ticks, d->run->warp_insns = s->warp_insns, d->run->thread_insns = s->thread_insns;
  return !s->failed;
}

bool sim_saved_host(const sim_saved *s) {
  for (uint32_t k = 0; k < s->n; k++)
    if (s->pieces[k].at - (uint64_t)(uintptr_t)s->memory.base >= s->memory.bytes)
      return true;
  return false;
}

void sim_saved_free(sim_saved *s) {
  if (!s)
    return;
  sim_memory *m = &s->device->memory;
  uint64_t base = (uint64_t)(uintptr_t)m->base;
  sim_saved **at = &m->saved;
  while (*at != s)
    at = &(*at)->next;
  *at = s->next;
  m->kept &= (uint8_t)~s->bit;
  for (uint32_t k = 0; k < s->n; k++) {
    if (s->pieces[k].at - base < m->bytes)
      m->pages[(s->pieces[k].at - base) / SIM_PAGE] &= (uint8_t)~s->bit;
    free(s->pieces[k].was);
  }
  free(s->pieces);
  free(s->slots);
  free(s->memory.spans);
  free(s->memory.gone);
  free(s);
}
