/* values.c: what maps make of single values: half precision rounded once. The device is MUSTER_DEVICE's. */
#include "guarded.h"

/* The number, rounded to nearest even to IEEE's form with so many bits of fraction: no NaN. */
static uint64_t encoded(long double value, int fraction, int exponent_bits) {
  int bias = (1 << (exponent_bits - 1)) - 1, exponent = 1 - bias;
  uint64_t sign = signbit(value) ? 1ull << (fraction + exponent_bits) : 0;
  uint64_t infinity = ((1ull << exponent_bits) - 1) << fraction;
  value = fabsl(value);
  if (value == 0 || isinf(value))
    return sign | (value == 0 ? 0 : infinity);
  exponent = ilogbl(value) > exponent ? ilogbl(value) : exponent;
  if (exponent > bias)
    return sign | infinity;
  uint64_t bits =
      (uint64_t)rintl(ldexpl(value, fraction - exponent)) + ((uint64_t)(exponent + bias - 1) << fraction);
  return sign | (bits < infinity ? bits : infinity);
}
static uint64_t half_of(muster_elem elem, long double value) {
  return elem == MUSTER_f16 ? encoded(value, 10, 5) : encoded(value, 7, 8);
}

/* Bits of all kinds: small numbers, ties, subnormals, anything. */
static uint64_t some_bits(muster_elem elem, uint64_t i) {
  uint64_t r = (uint64_t)hashed((uint32_t)i) << 32 | hashed((uint32_t)i + 991), bits = r;
  if (is_float(elem) && types[elem].bytes == 2 && i % 3)
    bits = elem == MUSTER_f16 ? 0x3800 + r % 0x0c00 : 0x3f00 + r % 0x180; /* near 1 */
  return bits;
}

/* a + b to odd: an inexact sum gets its last bit set, so that rounding it to less is rounding once. */
static long double sum_to_odd(long double a, long double b) {
  long double sum = a + b, of_b = sum - a, lost = (a - (sum - of_b)) + (b - of_b);
  if (lost == 0 || lost != lost)
    return sum;
  if ((lost < 0) != (sum < 0))
    sum = nextafterl(sum, 0); /* towards zero */
  unsigned char last;
  memcpy(&last, &sum, 1);
  last |= 1;
  memcpy(&sum, &last, 1);
  return sum;
}

/* a x + y of half precision, where rounding to f32 first would round some twice. */
static void axpy(muster_elem elem) {
  enum { N = 30000 };
  for (int round = 0; round < 8; round++) {
    muster_call call = MUSTER_CALL_INIT;
    uint16_t a = (uint16_t)some_bits(elem, (uint64_t)round + 4000000), *results = (uint16_t *)(void *)got;
    for (uint64_t i = 0; i < N; i++)
      for (int k = 0; k < 2; k++) {
        uint16_t bits = (uint16_t)some_bits(elem, i + (uint64_t)(k + 1) * 1000003 + (uint64_t)round * 77);
        memcpy(host[k] + 2 * i, &bits, 2);
      }
    CHECK(muster_copy_in(device, in, host[0], N * 2) == MUSTER_OK &&
          muster_copy_in(device, in + ROOM / 2, host[1], N * 2) == MUSTER_OK);
    CHECK(muster_map(device, &call, MUSTER_AXPY, elem, &a, in, in + ROOM / 2, N, out) == MUSTER_OK);
    CHECK(muster_copy_out(device, got, out, N * 2) == MUSTER_OK);
    for (uint64_t i = 0; i < N; i++) {
      long double exact = sum_to_odd(get(elem, &a, 0) * get(elem, host[0], i), get(elem, host[1], i));
      uint64_t expected = half_of(elem, exact);
      if (isnan(exact) ? !isnan(get(elem, got, i)) : results[i] != expected) {
        failures++;
        fprintf(stderr, "axpy of %s: %#x * %#x + %#x is %#x, expected %#x\n", types[elem].name, a,
                ((uint16_t *)(void *)host[0])[i], ((uint16_t *)(void *)host[1])[i], results[i],
                (unsigned)expected);
        return;
      }
    }
  }
}

int main(void) {
  open_device();
  axpy(MUSTER_f16);
  axpy(MUSTER_bf16);
  close_device();
  return failures ? 1 : 0;
}
