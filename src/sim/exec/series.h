/* series.h: 2^x, log2, sine, cosine and tanh of floats, computed in doubles by short series and so within a
 * few 1e-14 of the true value: rounded once to f32 they are right but for very rare near-ties. All are plain
 * expressions that become vector code. Infinities, NaN and zeros come out as PTX's tables say.
 */
#ifndef MUSTER_SIM_SERIES_H
#define MUSTER_SIM_SERIES_H

#include "sim/exec/arith.h"

#define MAGIC 0x1.8p52 /* added to a small double: the sum's last bits are the nearest integer */

static inline double series_exp2(double x) {
  x = x > 600 ? 600 : x < -600 ? -600 : x;
  double t = x + MAGIC, r = (x - (t - MAGIC)) * 0x1.62e42fefa39efp-1;
  double p = 1.0 / 479001600;
  p = p * r + 1.0 / 39916800;
  p = p * r + 1.0 / 3628800;
  p = p * r + 1.0 / 362880;
  p = p * r + 1.0 / 40320;
  p = p * r + 1.0 / 5040;
  p = p * r + 1.0 / 720;
  p = p * r + 1.0 / 120;
  p = p * r + 1.0 / 24;
  p = p * r + 1.0 / 6;
  p = p * r + 0.5;
  p = p * r + 1;
  p = p * r + 1;
  return p * f64_of((bits_of_f64(t) + 1023) << 52);
}

/* x: a float's value, so never subnormal as a double. */
static inline double series_log2(double x) {
  uint64_t u = bits_of_f64(x),
           top = u + 0x00095f619980c433; /* from the square root of 2 on: the next exponent */
  uint64_t e = top >> 52;
  double m = f64_of(u - (e << 52) + (UINT64_C(1023) << 52));
  double t = (m - 1) / (m + 1), s = t * t;
  double p = 1.0 / 19;
  p = p * s + 1.0 / 17;
  p = p * s + 1.0 / 15;
  p = p * s + 1.0 / 13;
  p = p * s + 1.0 / 11;
  p = p * s + 1.0 / 9;
  p = p * s + 1.0 / 7;
  p = p * s + 1.0 / 5;
  p = p * s + 1.0 / 3;
  p = p * s + 1;
  double exponent = f64_of(e | UINT64_C(0x4330000000000000)) - (0x1p52 + 1023);
  double r = t * p * 0x1.71547652b82fep1 + exponent;
  r = x == 0 ? -__builtin_inf() : x < 0 || x != x ? __builtin_nan("") : r;
  return x == __builtin_inf() ? x : r;
}

/* |x| below 2^20: more is lost by the reduction than an approximation may. */
#define SERIES_SMALL 0x1p20f
static inline double series_circle(double x, uint64_t quarter) {
  double t = x * 0x1.45f306dc9c883p-1 + MAGIC, k = t - MAGIC;
  double r = ((x - k * 0x1.921fb544p0) - k * 0x1.0b4611a6p-34) - k * 0x1.3198a2e037073p-69;
  double s = r * r;
  double c = -1.0 / 87178291200;
  c = c * s + 1.0 / 479001600;
  c = c * s - 1.0 / 3628800;
  c = c * s + 1.0 / 40320;
  c = c * s - 1.0 / 720;
  c = c * s + 1.0 / 24;
  c = c * s - 0.5;
  c = c * s + 1;
  double n = -1.0 / 1307674368000;
  n = n * s + 1.0 / 6227020800;
  n = n * s - 1.0 / 39916800;
  n = n * s + 1.0 / 362880;
  n = n * s - 1.0 / 5040;
  n = n * s + 1.0 / 120;
  n = n * s - 1.0 / 6;
  n = n * s * r + r;
  uint64_t q = bits_of_f64(t) + quarter;
  return f64_of(bits_of_f64(q & 1 ? c : n) ^ (q & 2) << 62);
}

static inline double series_tanh(double x) {
  double e = series_exp2(x * 0x1.71547652b82fep1), s = x * x; /* 2 / ln 2 */
  double small = x * (1 + s * (-1.0 / 3 + s * (2.0 / 15 + s * (-17.0 / 315 + s * (62.0 / 2835)))));
  return s < 0x1p-10 ? small : 1 - 2 / (e + 1);
}

#endif
