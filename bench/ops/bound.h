/* bound.h: sums on the host that lose nothing that counts, and how far muster.h lets a result be from them.
 * For the bench and for test/ops. */
#ifndef BENCH_OPS_BOUND_H
#define BENCH_OPS_BOUND_H

#include <math.h>
#include <stdint.h>

/* A sum in two long doubles, and that of absolute values. */
typedef struct exact_sum {
  long double high, low, absolute;
} exact_sum;

static inline void exact_add(exact_sum *s, long double x) {
  long double sum = s->high + x, of_x = sum - s->high;
  s->low += (s->high - (sum - of_x)) + (x - of_x);
  s->high = sum;
  s->absolute += fabsl(x);
}
/* Of any two doubles; those of two floats are exact as long doubles. */
static inline void exact_add_product(exact_sum *s, long double x, long double y) {
  long double product = x * y;
  exact_add(s, product);
  s->low += fmal(x, y, -product);
}

/* What muster_reduce and muster_dot promise of n elements whose sum has `digits` bits (24: f32, 53: f64). */
static inline long double error_allowed(const exact_sum *s, uint64_t n, int digits, int compensated) {
  long double sum = fabsl(s->high + s->low), u = ldexpl(1, -digits), steps = (long double)n / 65536 + 40;
  if (!compensated)
    return steps * u * s->absolute;
  if (s->absolute <= ldexpl(sum, 20))
    return sum > 0 ? ldexpl(2, ilogbl(sum) + 1 - digits) : 0;
  return u * sum + steps * ldexpl(u, digits == 24 ? -28 : -52) * s->absolute;
}

#endif
