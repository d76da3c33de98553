/* array.h: what the tests of the whole-device operations share: arrays of any element type on the host and on
 * the device, and their elements as numbers. */
#ifndef TEST_OPS_ARRAY_H
#define TEST_OPS_ARRAY_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "muster.h"
#include "test.h"

typedef struct type {
  const char *name;
  unsigned bytes;
  char kind; /* s, u, f (IEEE) or b (bfloat16) */
} type;
static const type types[MUSTER_ELEMS] = {
#define ELEM(suffix, bytes, kind, numpy) {#suffix, bytes, #kind[0]},
#include "muster/elem.def"
};

static inline int is_float(muster_elem elem) {
  return types[elem].kind == 'f' || types[elem].kind == 'b';
}

static inline float float_of_bits(uint32_t bits) {
  float f;
  memcpy(&f, &bits, 4);
  return f;
}

/* Half precision by its definition; the tests' numbers are exact in it. */
static inline double half_get(uint16_t bits) {
  int exponent = bits >> 10 & 31, fraction = bits & 1023;
  double value = exponent == 31  ? (fraction ? (double)NAN : (double)INFINITY)
                 : exponent == 0 ? ldexp(fraction, -24)
                                 : ldexp(1024 + fraction, exponent - 25);
  return bits & 0x8000 ? -value : value;
}
static inline uint16_t half_put(double value) {
  uint16_t sign = signbit(value) ? 0x8000 : 0;
  int exponent;
  value = fabs(value);
  if (isnan(value))
    return sign | 0x7e00;
  if (value == 0 || isinf(value))
    return value == 0 ? sign : sign | 0x7c00;
  value = frexp(value, &exponent); /* 0.5 to 1 */
  return (uint16_t)(sign | (exponent + 14) << 10 | ((int)(value * 2048) & 1023));
}

/* Element i as a number; `value` is what its type holds of the number. */
static inline long double get(muster_elem elem, const void *array, uint64_t i) {
  const uint8_t *at = (const uint8_t *)array + i * types[elem].bytes;
  uint64_t bits = 0;
  double d;
  memcpy(&bits, at, types[elem].bytes);
  switch (elem) {
  case MUSTER_f16:
    return half_get((uint16_t)bits);
  case MUSTER_bf16:
    return float_of_bits((uint32_t)bits << 16);
  case MUSTER_f32:
    return float_of_bits((uint32_t)bits);
  case MUSTER_f64:
    memcpy(&d, at, 8);
    return d;
  default:
    if (types[elem].kind == 's') /* sign extended */
      return (int64_t)(bits << (64 - 8 * types[elem].bytes)) >> (64 - 8 * types[elem].bytes);
    return bits;
  }
}
static inline void put(muster_elem elem, void *array, uint64_t i, long double value) {
  uint8_t *at = (uint8_t *)array + i * types[elem].bytes;
  float f = (float)value;
  double d = (double)value;
  uint64_t bits = 0;
  switch (elem) {
  case MUSTER_f16:
    bits = half_put(d);
    break;
  case MUSTER_bf16:
    memcpy(&bits, &f, 4);
    bits >>= 16;
    break;
  case MUSTER_f32:
    memcpy(&bits, &f, 4);
    break;
  case MUSTER_f64:
    memcpy(&bits, &d, 8);
    break;
  default:
    bits = value < 0 ? (uint64_t)(int64_t)value : (uint64_t)value;
  }
  memcpy(at, &bits, types[elem].bytes);
}

static inline uint32_t hashed(uint32_t x) {
  x ^= x >> 16, x *= 0x7feb352d, x ^= x >> 15, x *= 0x846ca68b;
  return x ^ x >> 16;
}

static inline int says(const char *part) {
  if (strstr(muster_message(), part))
    return 1;
  fprintf(stderr, "the message is \"%s\", expected to hold \"%s\"\n", muster_message(), part);
  return 0;
}

#endif
