/* origin.c: where undefined values came from, in a word for each register's lane: which instruction read it,
 * and a number by which its address is found, as long as not too many other reads have come since.
 *
 *   31 own | 30 to 19 instruction | 18 to 0 number of the read
 */
#include <stdlib.h>
#include <string.h>

#include "sim/machine.h"

enum { SITES = 1 << 12, SITE_SHIFT = 19, READS = 1 << 10, NUMBERS = 1 << SITE_SHIFT };

typedef struct read {
  uint32_t number, bytes;
  sim_who who;
  uint64_t address[SIM_LANES];
} read;

typedef struct sim_origins {
  uint32_t n_sites, next_number;
  struct {
    sim_who who;
    uint8_t space;
  } sites[SITES]; /* from 1 on; 0 stays unknown */
  read reads[READS];
} sim_origins;

sim_origins *sim_origins_new(void) {
  sim_origins *all = calloc(1, sizeof *all);
  if (all)
    sim_origins_forget(all);
  return all;
}

void sim_origins_forget(sim_origins *all) {
  if (all)
    all->n_sites = all->next_number = 1;
}

static uint32_t site_of(sim_origins *all, const sim_who *who, uint8_t space) {
  for (uint32_t k = all->n_sites; k-- > 1;)
    if (all->sites[k].who.insn == who->insn && all->sites[k].space == space)
      return k;
  if (all->n_sites == SITES)
    return 0;
  all->sites[all->n_sites].who = *who;
  all->sites[all->n_sites].space = space;
  return all->n_sites++;
}

/* Lanes that found undefined bytes; they share a space. */
uint32_t sim_origin_new(sim_run *r, const sim_op *o, const sim_found *found, uint32_t lanes, uint32_t bytes) {
  sim_origins *all = r->device->origins;
  uint32_t number = all->next_number;
  all->next_number = number + 1 < NUMBERS ? number + 1 : 1;
  read *one = &all->reads[number % READS];
  one->number = number, one->bytes = bytes;
  sim_who_of(r, lanes, o, &one->who);
  SIM_EACH(i, lanes)
  one->address[i] = found[i].offset;
  return site_of(all, &one->who, found[sim_first(lanes)].space) << SITE_SHIFT | number;
}

bool sim_origin_same(uint32_t a, uint32_t b) {
  return (a & ~SIM_ORIGIN_OWN) >> SITE_SHIFT == (b & ~SIM_ORIGIN_OWN) >> SITE_SHIFT;
}

void sim_origin_tell(const sim_run *r, uint32_t origin, uint32_t lane, sim_event *e) {
  const sim_origins *all = r->device->origins;
  uint32_t site = (origin & ~SIM_ORIGIN_OWN) >> SITE_SHIFT, number = origin & (NUMBERS - 1);
  const read *one = &all->reads[number % READS];
  if (!origin)
    return;
  e->undefined.read = &all->sites[site].who;
  e->undefined.space = all->sites[site].space;
  if (!site || one->number != number || !(one->who.lanes >> lane & 1))
    return;
  e->undefined.read = &one->who;
  e->undefined.known = true;
  e->undefined.bytes = one->bytes;
  e->undefined.address = one->address[lane];
}
