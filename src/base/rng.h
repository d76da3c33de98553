/* rng.h: seeded random numbers, the same on every machine: schedules and tests replay from a seed. */
#ifndef MUSTER_BASE_RNG_H
#define MUSTER_BASE_RNG_H

#include <stdint.h>

typedef struct base_rng {
  uint64_t state;
} base_rng;

void base_rng_seed(base_rng *r, uint64_t seed);
uint64_t base_rng_next(base_rng *r);
/* Uniform in [0, n); n > 0. */
uint32_t base_rng_below(base_rng *r, uint32_t n);

#endif
