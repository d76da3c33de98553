/* rng.c: SplitMix64: one word of state, any seed is good, passes the usual batteries. */
#include "base/rng.h"

void base_rng_seed(base_rng *r, uint64_t seed) {
  r->state = seed;
}

uint64_t base_rng_next(base_rng *r) {
  uint64_t z = r->state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

uint32_t base_rng_below(base_rng *r, uint32_t n) {
  /* the upper half of a 32 by 32 product; what would make some values likelier is drawn again */
  uint32_t unfair = -n % n;
  for (;;) {
    uint64_t product = (base_rng_next(r) >> 32) * n;
    if ((uint32_t)product >= unfair)
      return (uint32_t)(product >> 32);
  }
}
