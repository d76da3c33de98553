/* segments.c: reductions of segments against plain loops: empty ones, short and long ones, offsets that are
 * wrong. The device is MUSTER_DEVICE's. */
#include "guarded.h"

enum { SEGMENTS = 40 };

/* Lengths around what a lane, a warp and a block does; the last end beyond the array, and one ends before it
 * begins. */
static uint64_t offsets_of(uint64_t *offsets, uint64_t from) {
  static const uint64_t lengths[] = {0, 1, 31, 32, 33, 0, 129, 4096, 4097, 7, 1000, 9001, 2, 0, 64, 5000};
  uint64_t n = from;
  for (uint64_t i = 0; i <= SEGMENTS; i++) {
    offsets[i] = n;
    n += lengths[i % (sizeof lengths / sizeof *lengths)];
  }
  n = offsets[SEGMENTS - 2] + 1;
  offsets[5] = offsets[4] + 1; /* the next begins before it ends */
  offsets[SEGMENTS] = UINT64_MAX;
  return n;
}

static void segments_of(muster_elem elem, muster_op op, muster_nan nan, uint64_t from) {
  muster_call call = MUSTER_CALL_INIT;
  muster_elem type = muster_reduce_result(op, elem);
  uint64_t offsets[SEGMENTS + 1], n = offsets_of(offsets, from), x = in + from * types[elem].bytes,
                                  at = in + ROOM - 4096, to = out + 64;
  call.nan = nan;
  for (uint64_t i = 0; i < n; i++) {
    uint32_t r = hashed((uint32_t)i + (uint32_t)op);
    put(elem, host[0], i, (int)(r % 13) - (types[elem].kind == 'u' ? 0 : 6));
    if (is_float(elem) && op != MUSTER_SUM && r % 1500 == 0)
      put(elem, host[0], i, NAN);
  }
  for (uint64_t s = 0; s < SEGMENTS; s++) {
    uint64_t end = offsets[s + 1] < n ? offsets[s + 1] : n;
    long double sum = 0, far = 0;
    int any = 0, nans = 0;
    for (uint64_t i = offsets[s]; i < end; i++) {
      long double value = get(elem, host[0], i);
      sum += value;
      nans |= isnan(value);
      if (!isnan(value) && (!any || (op == MUSTER_MIN ? value < far : value > far)))
        far = value, any = 1;
    }
    if (op == MUSTER_SUM) {
      put(type, want, s, sum);
      continue;
    }
    memset(want + s * types[type].bytes, 0xff, types[type].bytes);
    if (is_float(elem) && (nan == MUSTER_NAN_IGNORE ? !any : nans)) /* all bits but the sign */
      want[(s + 1) * types[type].bytes - 1] = 0x7f;
    else if (any)
      put(type, want, s, far);
    else if (is_float(elem))
      put(type, want, s, op == MUSTER_MIN ? INFINITY : -INFINITY);
    else if ((types[elem].kind == 's') == (op == MUSTER_MIN) || op == MUSTER_MAX) { /* not all ones */
      memset(want + s * types[type].bytes, types[elem].kind == 's' && op == MUSTER_MIN ? 0xff : 0,
             types[type].bytes);
      if (types[elem].kind == 's')
        want[(s + 1) * types[type].bytes - 1] = op == MUSTER_MIN ? 0x7f : 0x80;
    }
  }
  guard(to, SEGMENTS * types[type].bytes);
  CHECK(muster_copy_in(device, x, host[0], n * types[elem].bytes) == MUSTER_OK);
  CHECK(muster_copy_in(device, at, offsets, sizeof offsets) == MUSTER_OK);
  muster_result r = muster_reduce_segments(device, &call, op, elem, x, n, at, SEGMENTS, to);
  if (r != MUSTER_OK)
    fprintf(stderr, "%s\n", muster_message());
  CHECK(r == MUSTER_OK);
  same(to, SEGMENTS * types[type].bytes, "segments", type, n);
}

/* Sums that are rounded: within half a unit for f32, wherever the segment lies. */
static void rounded(void) {
  muster_call call = MUSTER_CALL_INIT;
  uint64_t offsets[] = {3, 100003}, at = in + ROOM - 4096;
  long double sum = 0;
  float result;
  for (uint64_t i = 0; i < offsets[1]; i++) {
    put(MUSTER_f32, host[0], i, hashed((uint32_t)i) / 4294967296.0L - 0.3L);
    sum += i < offsets[0] ? 0 : get(MUSTER_f32, host[0], i);
  }
  CHECK(muster_copy_in(device, in, host[0], offsets[1] * 4) == MUSTER_OK &&
        muster_copy_in(device, at, offsets, sizeof offsets) == MUSTER_OK);
  CHECK(muster_reduce_segments(device, &call, MUSTER_SUM, MUSTER_f32, in, offsets[1], at, 1, out) ==
        MUSTER_OK);
  CHECK(muster_copy_out(device, &result, out, 4) == MUSTER_OK && result == (float)sum);
}

static void refused(void) {
  muster_call call = MUSTER_CALL_INIT;
  uint64_t at = in + 4096;
  guard(out + 64, 64);
#define SEGMENTS_OF(words, op, elem, x, n, offsets, segments, to) \
  REFUSED(words, muster_reduce_segments, &call, op, elem, x, n, offsets, segments, to)
  SEGMENTS_OF("the input has no address", MUSTER_SUM, MUSTER_f32, 0, 4, at, 2, out + 64);
  SEGMENTS_OF("the array of offsets has no address", MUSTER_SUM, MUSTER_f32, in, 4, 0, 2, out + 64);
  SEGMENTS_OF("the result has no address", MUSTER_SUM, MUSTER_f32, in, 4, at, 2, 0);
  SEGMENTS_OF("no multiple of its element's 8 bytes", MUSTER_SUM, MUSTER_f32, in, 4, at + 4, 2, out + 64);
  SEGMENTS_OF("no multiple of its element's 2 bytes", MUSTER_MIN, MUSTER_f16, in + 1, 4, at, 2, out + 64);
  SEGMENTS_OF("the array of offsets and the result overlap", MUSTER_SUM, MUSTER_f32, in, 4, out + 64, 2,
              out + 64);
  SEGMENTS_OF("the input and the result overlap", MUSTER_MAX, MUSTER_u8, out + 64, 4, at, 2, out + 65);
  SEGMENTS_OF("more than memory can hold", MUSTER_MAX, MUSTER_u8, in, 4, at, UINT64_MAX, out + 64);
  SEGMENTS_OF("no such operation", MUSTER_PRODUCT, MUSTER_f32, in, 4, at, 2, out + 64);
  CHECK(muster_reduce_segments(device, &call, MUSTER_SUM, MUSTER_f32, in, 4, 0, 0, 0) == MUSTER_OK);
  same(out + 64, 0, "what is refused", MUSTER_u8, 0);
}

int main(int argc, char **argv) { /* segments [ELEM] */
  static const muster_op ops[] = {MUSTER_SUM, MUSTER_MIN, MUSTER_MAX};
  open_device();
  for (muster_elem elem = 0; elem < MUSTER_ELEMS; elem++)
    for (size_t i = 0; i < 3; i++)
      if (argc < 2 || strcmp(argv[1], types[elem].name) == 0) {
        segments_of(elem, ops[i], MUSTER_NAN_PROPAGATE, 0);
        segments_of(elem, ops[i], MUSTER_NAN_IGNORE, 1);
      }
  rounded();
  refused();
  close_device();
  return failures ? 1 : 0;
}
