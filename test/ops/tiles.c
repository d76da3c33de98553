/* tiles.c: what goes through an array tile by tile and looks back, against plain loops: scans of extremes,
 * selections. The device is MUSTER_DEVICE's. */
#include "guarded.h"

static const uint64_t sizes[] = {0, 1, 5, 4096, 4097, 16384, 16385, 50001, MOST};

/* ------------------------------------------------------------------ scans of extremes */

static long double nothing(muster_elem elem, int greatest, muster_nan nan) {
  unsigned bits = 8 * types[elem].bytes;
  if (is_float(elem))
    return nan == MUSTER_NAN_IGNORE ? NAN : greatest ? -INFINITY : INFINITY;
  if (types[elem].kind == 's')
    return greatest ? -ldexpl(1, (int)bits - 1) : ldexpl(1, (int)bits - 1) - 1;
  return greatest ? 0 : ldexpl(1, (int)bits) - 1;
}

/* Numbers that drift towards the extreme, so that it changes all along; zeros of both signs; NaNs from
 * `nan_from`. */
static void fill(muster_elem elem, uint64_t n, int greatest, uint64_t nan_from) {
  double range = types[elem].bytes == 1 ? 100 : elem == MUSTER_bf16 ? 120 : 1000;
  for (uint64_t i = 0; i < n; i++) {
    uint32_t r = hashed((uint32_t)i + (uint32_t)n);
    long double drift = floor(range * (double)i / (double)n), value = r % 9 == 0 ? drift : r % 7;
    value = types[elem].kind == 'u' ? (greatest ? value : 100 - (value > 100 ? 100 : value))
            : greatest              ? value - 20
                                    : 20 - value;
    if (is_float(elem) && r % 11 == 0)
      value = r % 2 ? 0.0L : -0.0L;
    put(elem, host[0], i, is_float(elem) && i >= nan_from && r % 5 == 0 ? NAN : value);
  }
}

static void scan_extremes(muster_elem elem) {
  unsigned bytes = types[elem].bytes;
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
    for (int round = 0; round < 4; round++) {
      int greatest = round % 2;
      muster_scan_kind kind = (s + (size_t)round / 2) % 2 ? MUSTER_INCLUSIVE : MUSTER_EXCLUSIVE;
      muster_call call = call_of();
      uint64_t n = sizes[s], x = in + (s % 3 == 2 ? bytes : 0), y = out + 64 + (s % 4 == 3 ? bytes : 0);
      call.nan = round / 2 ? MUSTER_NAN_IGNORE : MUSTER_NAN_PROPAGATE;
      fill(elem, n, greatest, call.nan == MUSTER_NAN_IGNORE ? 0 : n - n / 3);
      long double far = nothing(elem, greatest, call.nan);
      for (uint64_t i = 0; i < n; i++) {
        long double value = get(elem, host[0], i), before = far;
        int beats = greatest ? value > far || (value == far && signbit(far) && !signbit(value))
                             : value < far || (value == far && !signbit(far) && signbit(value));
        if (isnan(value))
          far = call.nan == MUSTER_NAN_IGNORE ? far : value;
        else if (isnan(far))
          far = call.nan == MUSTER_NAN_IGNORE ? value : far;
        else if (beats)
          far = value;
        put(elem, want, i, kind == MUSTER_INCLUSIVE ? far : before);
        if (isnan(get(elem, want, i))) { /* all bits but the sign */
          memset(want + i * bytes, 0xff, bytes);
          want[(i + 1) * bytes - 1] = 0x7f;
        }
      }
      guard(y, n * bytes);
      CHECK(muster_copy_in(device, x, host[0], n * bytes) == MUSTER_OK);
      muster_result r = muster_scan(device, &call, greatest ? MUSTER_MAX : MUSTER_MIN, kind, elem, x, n, y);
      if (r != MUSTER_OK)
        fprintf(stderr, "%s\n", muster_message());
      CHECK(r == MUSTER_OK);
      same(y, n * bytes, greatest ? "running maxima" : "running minima", elem, n);
    }
}

/* ------------------------------------------------------------------ selections */

/* By masks of all densities; the count, and the halves of `out`, have bytes around them that stay. */
static void selections(muster_elem elem) {
  unsigned bytes = types[elem].bytes;
  uint8_t *mask = host[1];
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
    for (unsigned density = 0; density <= 4; density++)
      for (int parted = 0; parted < 2; parted++) {
        muster_call call = call_of();
        uint64_t n = sizes[s], x = in + (s % 3 == 2 ? bytes : 0), marks = in + ROOM / 2 + s % 5, chosen = 0;
        uint64_t to = out + 64, rest = out + ROOM / 2 + 64 + (s % 2 ? bytes : 0), count = out + ROOM - 128,
                 got_count;
        for (uint64_t i = 0; i < n; i++) {
          uint64_t bits = (uint64_t)hashed((uint32_t)i) << 32 | hashed((uint32_t)i + 5);
          memcpy(host[0] + i * bytes, &bits, bytes);
          mask[i] = hashed((uint32_t)i + 77) % 4 < density ? (uint8_t)(1 + i % 255) : 0;
          if (mask[i])
            memcpy(want + chosen++ * bytes, &bits, bytes);
        }
        CHECK(muster_copy_in(device, x, host[0], n * bytes) == MUSTER_OK);
        CHECK(muster_copy_in(device, marks, mask, n) == MUSTER_OK);
        guard(to, chosen * bytes), guard(rest, parted ? (n - chosen) * bytes : 0), guard(count, 8);
        muster_result r = muster_select(device, &call, elem, x, marks, n, to, parted ? rest : 0, count);
        if (r != MUSTER_OK)
          fprintf(stderr, "%s\n", muster_message());
        CHECK(r == MUSTER_OK);
        same(to, chosen * bytes, "selection", elem, n);
        memcpy(want, &chosen, 8);
        same(count, 8, "count of a selection", elem, n);
        memcpy(&got_count, got + GUARD, 8);
        for (uint64_t i = 0, at = 0; i < n; i++)
          if (!mask[i])
            memcpy(want + at++ * bytes, host[0] + i * bytes, bytes);
        same(rest, parted ? (n - got_count) * bytes : 0, "rest of a selection", elem, n);
      }
}

/* ------------------------------------------------------------------ wrong calls */

static void refused(void) {
  muster_call call = call_of();
  size_t bytes;
  guard(out + 64, 64);
#define SCAN(words, op, elem, from, to) \
  REFUSED(words, muster_scan, &call, op, MUSTER_INCLUSIVE, elem, from, 4, to)
  SCAN("the input has no address", MUSTER_MIN, MUSTER_f32, 0, out + 64);
  SCAN("the result has no address", MUSTER_MIN, MUSTER_f32, in, 0);
  SCAN("no multiple of its element's 4 bytes", MUSTER_MAX, MUSTER_f32, in + 2, out + 64);
  SCAN("the input and the result overlap", MUSTER_MAX, MUSTER_f32, out + 68, out + 64);
  SCAN("the result and the workspace overlap", MUSTER_MAX, MUSTER_f32, in, workspace);
  SCAN("no such scan", MUSTER_PRODUCT, MUSTER_f32, in, out + 64);
  SCAN("no such scan", MUSTER_MIN, MUSTER_ELEMS, in, out + 64);
  call.workspace_bytes = 128;
  SCAN("are needed", MUSTER_MIN, MUSTER_u8, in, out + 64);
  CHECK(muster_scan_workspace(device, MUSTER_MIN, MUSTER_bf16, 1000000, &bytes) == MUSTER_OK &&
        bytes < 10000);
#define SELECT(words, elem, from, mask, to, rest, count) \
  REFUSED(words, muster_select, &call, elem, from, mask, 4, to, rest, count)
  call = call_of();
  SELECT("the mask has no address", MUSTER_f32, in, 0, out + 64, 0, out + 128);
  SELECT("the count has no address", MUSTER_f32, in, in + 64, out + 64, 0, 0);
  SELECT("no multiple of its element's 8 bytes", MUSTER_f32, in, in + 64, out + 64, 0, out + 132);
  SELECT("the mask and the result overlap", MUSTER_f32, in, out + 79, out + 64, 0, out + 128);
  SELECT("the rest and the result overlap", MUSTER_f32, in, in + 64, out + 64, out + 76, out + 128);
  SELECT("the count and the result overlap", MUSTER_f32, in, in + 64, out + 64, 0, out + 72);
  SELECT("an unknown element type", MUSTER_ELEMS, in, in + 64, out + 64, 0, out + 128);
  call.workspace_bytes = 159;
  SELECT("are needed", MUSTER_f32, in, in + 64, out + 64, 0, out + 128);
  CHECK(muster_select_workspace(device, MUSTER_f32, 4, &bytes) == MUSTER_OK && bytes == 160);
  same(out + 64, 0, "what is refused", MUSTER_u8, 0);
}

int main(int argc, char **argv) { /* tiles [scan|select [ELEM]] */
  open_device();
#define ASKED(what, elem) \
  ((argc < 2 || strcmp(argv[1], what) == 0) && (argc < 3 || strcmp(argv[2], types[elem].name) == 0))
  for (muster_elem elem = 0; elem < MUSTER_ELEMS; elem++)
    if (ASKED("scan", elem))
      scan_extremes(elem);
  fresh_workspace();
  for (muster_elem elem = 0; elem < MUSTER_ELEMS; elem++)
    if (types[elem].kind == 'u' && ASKED("select", elem)) /* bits are moved: of a size all are one */
      selections(elem);
  refused();
  close_device();
  return failures ? 1 : 0;
}
