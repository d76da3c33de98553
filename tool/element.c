/* element.c: element types by name, and their values. Pure functions; elem.def is the list. */
#include "value.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const tool_type types[] = {
#define ELEM(suffix, bytes, kind, numpy) {#suffix, bytes, TOOL_KIND_##kind, numpy},
#include "muster/elem.def"
};
enum { TYPES = sizeof types / sizeof *types };

const tool_type *tool_type_find(const char *name, size_t length) {
  char known[8];
  if (length == 0 || length >= sizeof known)
    return NULL;
  memcpy(known, name, length);
  known[length] = 0;
  if (known[0] == 'i') /* as C and Rust say it */
    known[0] = 's';
  else if (known[0] == 'b' && known[1] != 'f') /* as PTX says it where only bits matter */
    known[0] = 'u';
  for (int i = 0; i < TYPES; i++)
    if (strcmp(types[i].name, known) == 0)
      return &types[i];
  return NULL;
}

/* `value` with `mantissa` bits behind the point and `exponent` bits, rounded to nearest even. */
static uint16_t narrow(double value, int exponent, int mantissa) {
  uint16_t sign = signbit(value) ? 0x8000 : 0;
  uint16_t infinity = (uint16_t)(((1 << exponent) - 1) << mantissa);
  if (isnan(value))
    return (uint16_t)(infinity | 1 << (mantissa - 1));
  value = fabs(value);
  int bias = (1 << (exponent - 1)) - 1, e;
  if (value == 0 || isinf(value))
    return (uint16_t)(sign | (value == 0 ? 0 : infinity));
  frexp(value, &e);
  e -= 1; /* value = 1.x * 2^e */
  if (e < 1 - bias)
    e = 1 - bias;                                        /* subnormal: all have the smallest exponent */
  double scaled = nearbyint(ldexp(value, mantissa - e)); /* an integer; the default mode rounds to even */
  uint64_t bits =
      (uint64_t)scaled + ((uint64_t)(e + bias - 1) << mantissa); /* a carry moves the exponent up */
  return (uint16_t)(sign | (bits >= infinity ? infinity : bits));
}

static void store_float(const tool_type *t, double value, void *to) {
  if (t->kind == TOOL_KIND_bf || t->bytes == 2) {
    uint16_t bits = t->kind == TOOL_KIND_bf ? narrow(value, 8, 7) : narrow(value, 5, 10);
    memcpy(to, &bits, 2);
  } else if (t->bytes == 4) {
    float single = (float)value;
    memcpy(to, &single, 4);
  } else {
    memcpy(to, &value, 8);
  }
}

/* The value of bits with `mantissa` bits behind the point and `exponent` bits. */
static double widened(uint16_t bits, int exponent, int mantissa) {
  int power = bits >> mantissa & ((1 << exponent) - 1), fraction = bits & ((1 << mantissa) - 1);
  int bias = (1 << (exponent - 1)) - 1;
  double value = power == (1 << exponent) - 1 ? (fraction ? (double)NAN : (double)INFINITY)
                 : power == 0                 ? ldexp(fraction, 1 - bias - mantissa)
                                              : ldexp(fraction | 1 << mantissa, power - bias - mantissa);
  return bits >> 15 ? -value : value;
}

char *tool_type_format(const tool_type *t, const void *value) {
  uint64_t bits = 0;
  memcpy(&bits, value, t->bytes);
  if (t->kind == TOOL_KIND_u)
    return tool_format("%llu", (unsigned long long)bits);
  if (t->kind == TOOL_KIND_s) {
    unsigned above = 64 - 8 * t->bytes;
    return tool_format("%lld", (long long)((int64_t)(bits << above) >> above));
  }
  double number;
  float single;
  if (t->kind == TOOL_KIND_bf || t->bytes == 2) {
    number = t->kind == TOOL_KIND_bf ? widened((uint16_t)bits, 8, 7) : widened((uint16_t)bits, 5, 10);
  } else if (t->bytes == 4) {
    memcpy(&single, value, 4);
    number = single;
  } else {
    memcpy(&number, value, 8);
  }
  if (isnan(number))
    return tool_format("nan");
  return tool_format("%.*g", t->bytes == 8 ? 17 : t->bytes == 4 ? 9 : 5, number);
}

const tool_type *tool_type_get(unsigned number) {
  return &types[number];
}

bool tool_type_parse(const tool_type *t, const char *text, void *to) {
  if (*text == 0 || strchr(" \t\n", *text))
    return false;
  char *end;
  errno = 0;
  if (t->kind == TOOL_KIND_f || t->kind == TOOL_KIND_bf) {
    double value = strtod(text, &end);
    if (*end != 0)
      return false;
    if (t->bytes == 4) { /* by way of double it could round twice */
      float single = strtof(text, NULL);
      memcpy(to, &single, 4);
    } else {
      store_float(t, value, to);
    }
    return true;
  }
  bool negative = *text == '-';
  const char *digits = text + (negative || *text == '+');
  uint64_t magnitude;
  if (!tool_parse_number(digits, &magnitude))
    return false;
  unsigned bits = t->bytes * 8;
  uint64_t most = t->kind == TOOL_KIND_s ? (uint64_t)1 << (bits - 1)
                  : bits == 64           ? UINT64_MAX
                                         : ((uint64_t)1 << bits) - 1;
  if (t->kind == TOOL_KIND_s && !negative)
    most -= 1;
  if (t->kind == TOOL_KIND_u && negative && magnitude > 0)
    return false;
  if (magnitude > most)
    return false;
  uint64_t value = negative ? (uint64_t)0 - magnitude : magnitude;
  memcpy(to, &value, t->bytes);
  return true;
}

void tool_type_from_number(const tool_type *t, uint64_t n, void *to) {
  if (t->kind == TOOL_KIND_f || t->kind == TOOL_KIND_bf)
    store_float(t, (double)n, to);
  else
    memcpy(to, &n, t->bytes);
}

/* Element number and seed, thoroughly mixed (a 64-bit finaliser with odd multipliers): any element can be
 * made without those before it. */
static uint64_t mixed(uint64_t seed, uint64_t index) {
  uint64_t x = seed * 0x9E3779B97F4A7C15u + index + 1;
  for (int i = 0; i < 3; i++) {
    x ^= x >> 32;
    x *= 0xD6E8FEB86659FD93u;
  }
  return x ^ x >> 32;
}

void tool_type_random(const tool_type *t, uint64_t seed, uint64_t index, void *to) {
  uint64_t bits = mixed(seed, index);
  if (t->kind == TOOL_KIND_s || t->kind == TOOL_KIND_u) {
    memcpy(to, &bits, t->bytes);
    return;
  }
  int digits = t->kind == TOOL_KIND_bf ? 8
               : t->bytes == 2         ? 11
               : t->bytes == 4         ? 24
                                       : 53; /* exact: never rounds to 1 */
  store_float(t, ldexp((double)(bits >> (64 - digits)), -digits), to);
}
