/* ranges.c: histograms between edges against plain loops: few bins and many, equal edges, NaNs, weights of
 * every type. The device is MUSTER_DEVICE's. */
#include "guarded.h"

/* The last edge that is no greater begins its bin. */
static long bin_of(muster_elem elem, long double value, const void *edges, uint32_t bins) {
  uint32_t low = 0, high = bins + 1;
  while (low < high) {
    uint32_t middle = (low + high) / 2;
    if (get(elem, edges, middle) <= value)
      low = middle + 1;
    else
      high = middle;
  }
  return low == 0 || low > bins ? -1 : (long)low - 1;
}

static const muster_elem weights_of[] = {MUSTER_ELEMS, MUSTER_u32, MUSTER_u64, MUSTER_f32, MUSTER_f64};

/* Sums are exact: weights are small, and halves. */
static void ranges(muster_elem elem, uint32_t bins, uint64_t n, int values) {
  unsigned bytes = types[elem].bytes;
  static uint8_t edges[8 * 200000];
  int below = types[elem].kind == 'u' ? 0 : 50;
  for (uint32_t b = 0; b <= bins; b++) /* some are equal */
    put(elem, edges, b,
        (long double)(b / 3 * 2 + (b % 3 == 2)) / (is_float(elem) && bytes > 2 ? 2 : 1) - below + 3);
  uint64_t at = in + ROOM / 2, x = in + bytes, weights = in + ROOM / 4, to = out + 64;
  CHECK(muster_copy_in(device, at, edges, (bins + 1) * (size_t)bytes) == MUSTER_OK);
  for (size_t w = 0; w < sizeof weights_of / sizeof *weights_of; w++) {
    muster_call call = call_of();
    muster_elem weight = weights_of[w], type = w > 2 ? MUSTER_f64 : MUSTER_u64;
    static long double sums[200000];
    memset(sums, 0, sizeof sums);
    for (uint64_t i = 0; i < n; i++) {
      uint32_t r = hashed((uint32_t)i + bins);
      long double value = values ? r % (bins + bins / 8 + 2) : (long double)(r % (bins + 9)) - below;
      put(elem, host[0], i, is_float(elem) && r % 17 == 0 ? NAN : value);
      value = get(elem, host[0], i);
      long double heavy = w == 0 ? 1 : (long double)(r / 7 % 5) / (w > 2 ? 2 : 1);
      long bin = !values ? bin_of(elem, value, edges, bins) : value < bins ? (long)value : -1;
      if (w)
        put(weight, host[1], i, heavy);
      if (bin >= 0)
        sums[bin] += heavy;
    }
    for (uint32_t b = 0; b < bins; b++)
      put(type, want, b, sums[b]);
    CHECK(muster_copy_in(device, x, host[0], n * bytes) == MUSTER_OK);
    CHECK(!w || muster_copy_in(device, weights, host[1], n * types[weight].bytes) == MUSTER_OK);
    guard(to, bins * 8ull);
    muster_result r =
        muster_histogram_range(device, &call, elem, x, n, values ? 0 : at, bins, weight, w ? weights : 0, to);
    if (r != MUSTER_OK)
      fprintf(stderr, "%s\n", muster_message());
    CHECK(r == MUSTER_OK);
    same(to, bins * 8ull, values ? "histogram of values" : "histogram between edges", elem, n);
  }
}

static void refused(void) {
  muster_call call = call_of();
  size_t bytes;
  guard(out + 64, 128);
#define RANGES(words, elem, x, edges, bins, weight, weights, to) \
  REFUSED(words, muster_histogram_range, &call, elem, x, 4, edges, bins, weight, weights, to)
  RANGES("the input has no address", MUSTER_f32, 0, in, 4, 0, 0, out + 64);
  RANGES("the result has no address", MUSTER_f32, in, in, 4, 0, 0, 0);
  RANGES("f32 elements, and no edges", MUSTER_f32, in, 0, 4, 0, 0, out + 64);
  RANGES("s8 elements, and no edges", MUSTER_s8, in, 0, 4, 0, 0, out + 64);
  RANGES("no multiple of its element's 4 bytes", MUSTER_f32, in, in + 2, 4, 0, 0, out + 64);
  RANGES("no multiple of its element's 8 bytes", MUSTER_f32, in, in, 4, MUSTER_f64, in + 4, out + 64);
  RANGES("the array of edges and the result overlap", MUSTER_f32, in, out + 92, 4, 0, 0, out + 64);
  RANGES("the array of weights and the result overlap", MUSTER_f32, in, in, 4, MUSTER_u32, out + 64,
         out + 64);
  RANGES("not s32", MUSTER_f32, in, in, 4, MUSTER_s32, in, out + 64);
  RANGES("not f16", MUSTER_f32, in, in, 4, MUSTER_f16, in, out + 64);
  RANGES("0 bins", MUSTER_f32, in, in, 0, 0, 0, out + 64);
  RANGES("1048577 bins", MUSTER_f32, in, in, (1 << 20) + 1, 0, 0, out + 64);
  RANGES("an unknown element type", MUSTER_ELEMS, in, in, 4, 0, 0, out + 64);
  call.workspace_bytes = 128 + 31;
  RANGES("are needed", MUSTER_f32, in, in, 4, 0, 0, out + 64);
  CHECK(muster_histogram_range_workspace(device, MUSTER_f32, 4, &bytes) == MUSTER_OK && bytes == 128 + 32);
  same(out + 64, 0, "what is refused", MUSTER_u8, 0);
}

int main(int argc, char **argv) { /* ranges [ELEM] */
  open_device();
  for (muster_elem elem = 0; elem < MUSTER_ELEMS; elem++) {
    if (argc > 1 && strcmp(argv[1], types[elem].name) != 0)
      continue;
    ranges(elem, 1, 40, 0);
    ranges(elem, 60, 0, 0);
    ranges(elem, 60, 9001, 0);
    if (types[elem].bytes > 2)
      ranges(elem, 100000, 20000, 0); /* in the workspace */
    if (types[elem].kind == 'u')
      ranges(elem, types[elem].bytes == 1 ? 100 : 3000, 9001, 1);
  }
  refused();
  close_device();
  return failures ? 1 : 0;
}
