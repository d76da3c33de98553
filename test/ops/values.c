/* values.c: what maps make of single values: conversions between all types, half precision
 * rounded once. The device is MUSTER_DEVICE's. */
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

/* ------------------------------------------------------------------ conversions */

/* Numbers at which types end and roundings turn; what a type does not hold of them `put` makes something of.
 */
static const long double marks[] = {0,
                                    -0.0L,
                                    0.5L,
                                    -0.75L,
                                    1.5L,
                                    -2.5L,
                                    126.75L,
                                    127,
                                    127.5L,
                                    -128.5L,
                                    255.5L,
                                    256,
                                    2049,
                                    2051,
                                    4097.0001L,
                                    32767.9L,
                                    -32769,
                                    65504,
                                    65519,
                                    65520,
                                    65535.5L,
                                    65537,
                                    16777217,
                                    16777219,
                                    2147483647,
                                    2147483648.0L,
                                    -2147483649.0L,
                                    4294967295.0L,
                                    4294967296.0L,
                                    0x1.0000008p60L,
                                    0x1.0100000000001p62L,
                                    0x1.0180000000001p62L,
                                    9223372036854775807.0L,
                                    -9223372036854775808.0L,
                                    18446744073709551615.0L,
                                    18446744073709551616.0L,
                                    0x1p-24L,
                                    0x1.8p-25L,
                                    0x1.000001p-25L,
                                    0x1.01p0L,
                                    0x1.03p0L,
                                    0x1.0100000000001p0L,
                                    0x1.002000000001p0L,
                                    0x1.fffffep127L,
                                    0x1.ffffffp127L,
                                    0x1p-149L,
                                    0x1.1p-140L,
                                    1e300L,
                                    -1e300L,
                                    INFINITY,
                                    -INFINITY,
                                    NAN};
enum { MARKS = sizeof marks / sizeof *marks };

/* What `to` has of the number, at `at`. */
static void converted(muster_elem to, long double value, void *at) {
  unsigned bits = 8 * types[to].bytes;
  long double most = ldexpl(1, (int)bits - (types[to].kind == 's')) - 1,
              least = types[to].kind == 's' ? -most - 1 : 0;
  if (is_float(to)) {
    uint64_t code = types[to].bytes == 2 ? half_of(to, value)
                    : to == MUSTER_f32   ? encoded(value, 23, 8)
                                         : encoded(value, 52, 11);
    memcpy(at, &code, types[to].bytes);
  } else {
    put(to, at, 0, isnan(value) ? 0 : value < least ? least : value > most ? most : truncl(value));
  }
}

static void conversions(muster_elem from, muster_elem to) {
  static const uint64_t sizes[] = {0, 1, 2047, 2049, 9001};
  unsigned from_bytes = types[from].bytes, to_bytes = types[to].bytes;
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
    muster_call call = MUSTER_CALL_INIT;
    int in_place = s % 2 && from_bytes == to_bytes;
    uint64_t n = sizes[s], x = in + 64 + (s % 3 == 2 ? from_bytes : 0),
             y = in_place ? x : out + 64 + (s % 4 == 3 ? to_bytes : 0);
    guard(y, n * to_bytes);
    for (uint64_t i = 0; i < n; i++) {
      uint64_t bits = some_bits(from, i + s * 10000);
      long double mark = marks[i / 2 % MARKS];
      memcpy(host[0] + i * from_bytes, &bits, from_bytes);
      if (i % 2 && (is_float(from) || fabsl(mark) < 0x1p63L ||
                    (types[from].kind == 'u' && mark > 0 && mark < 0x1p64L)))
        put(from, host[0], i, is_float(from) || mark >= 0 || types[from].kind == 's' ? mark : 1);
      converted(to, get(from, host[0], i), want + i * to_bytes);
    }
    CHECK(muster_copy_in(device, x, host[0], n * from_bytes) == MUSTER_OK);
    muster_result r = muster_convert(device, &call, from, x, n, to, y);
    if (r != MUSTER_OK)
      fprintf(stderr, "%s\n", muster_message());
    CHECK(r == MUSTER_OK && muster_copy_out(device, got, y, n * to_bytes) == MUSTER_OK);
    for (uint64_t i = 0; i < n; i++) /* any NaN will do; the place beside is looked at below */
      if (is_float(to) && isnan(get(from, host[0], i)) && isnan(get(to, got, i)))
        memcpy(want + i * to_bytes, got + i * to_bytes, to_bytes);
    same(y, n * to_bytes, types[from].name, to, n);
  }
}

static void refused(void) {
  muster_call call = MUSTER_CALL_INIT;
  guard(out + 64, 64);
#define CONVERT(words, from, x, to, y) REFUSED(words, muster_convert, &call, from, x, 4, to, y)
  CONVERT("the input has no address", MUSTER_f32, 0, MUSTER_f16, out + 64);
  CONVERT("the result has no address", MUSTER_f32, in, MUSTER_f16, 0);
  CONVERT("no multiple of its element's 2 bytes", MUSTER_f32, in, MUSTER_f16, out + 65);
  CONVERT("no multiple of its element's 8 bytes", MUSTER_f64, in + 4, MUSTER_f16, out + 64);
  CONVERT("the input and the result overlap", MUSTER_f32, out + 64, MUSTER_f16, out + 64);
  CONVERT("the input and the result overlap", MUSTER_f32, out + 68, MUSTER_s32, out + 64);
  CONVERT("from f32 to an unknown", MUSTER_f32, in, MUSTER_ELEMS, out + 64);
  same(out + 64, 0, "what is refused", MUSTER_u8, 0);
}

int main(int argc, char **argv) { /* values [FROM] */
  open_device();
  for (muster_elem from = 0; from < MUSTER_ELEMS; from++)
    for (muster_elem to = 0; to < MUSTER_ELEMS; to++)
      if (argc < 2 || strcmp(argv[1], types[from].name) == 0)
        conversions(from, to);
  refused();
  axpy(MUSTER_f16);
  axpy(MUSTER_bf16);
  close_device();
  return failures ? 1 : 0;
}
