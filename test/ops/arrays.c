/* arrays.c: scans, histograms and maps against plain loops: sizes around a vector, a tile and many tiles,
 * arrays at any address, one workspace for many sizes, and what wrong calls are told. The device is
 * MUSTER_DEVICE's. */
#include "guarded.h"

/* ------------------------------------------------------------------ scans */

static void scans(muster_elem elem) {
  static const struct {
    uint64_t n, from, to;
  } cases[] = {{0, 0, 0},     {1, 0, 0},     {5, 1, 0},      {127, 0, 3},    {8192, 0, 0},
               {16384, 0, 0}, {16385, 0, 0}, {16389, 1, 1},  {50001, 0, 0},  {49999, 3, 0},
               {7, 0, 0},     {MOST, 0, 0},  {300001, 0, 0}, {1100001, 0, 0}};
  unsigned bytes = types[elem].bytes;
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
    for (muster_scan_kind kind = MUSTER_INCLUSIVE; kind <= MUSTER_EXCLUSIVE; kind++) {
      muster_call call = call_of();
      uint64_t n = cases[c].n, x = in + cases[c].from * bytes, y = out + 64 + cases[c].to * bytes,
               wrapped = 0;
      long double sum = 0;
      for (uint64_t i = 0; i < n; i++) { /* exact in f32 */
        put(elem, host[0], i, (int)(hashed((uint32_t)i + 7) % 15) - (types[elem].kind == 'u' ? 0 : 6));
        long double value = get(elem, host[0], i), before = sum;
        uint64_t wrapped_before = wrapped;
        sum += value, wrapped += (uint64_t)(int64_t)value;
        if (is_float(elem))
          put(elem, want, i, kind == MUSTER_INCLUSIVE ? sum : before);
        else
          memcpy(want + i * bytes, kind == MUSTER_INCLUSIVE ? &wrapped : &wrapped_before, bytes);
      }
      guard(y, n * bytes);
      CHECK(muster_copy_in(device, x, host[0], n * bytes) == MUSTER_OK);
      muster_result r = muster_scan(device, &call, MUSTER_SUM, kind, elem, x, n, y);
      if (r != MUSTER_OK)
        fprintf(stderr, "%s\n", muster_message());
      CHECK(r == MUSTER_OK);
      same(y, n * bytes, kind == MUSTER_INCLUSIVE ? "inclusive scan" : "exclusive scan", elem, n);
    }
}

/* Launches a kernel of scans by hand, twice, as a workspace is used. */
typedef struct by_hand {
  muster_kernel *kernel;
  uint32_t tiles, tile, blocks, threads; /* a tile's elements */
  size_t shared_bytes;
  uint32_t slots, late; /* of the streamed ones */
} by_hand;
static void scan_by_hand(by_hand h, uint64_t x, uint64_t y, uint64_t n, uint64_t *values) {
  enum { TOLD = 16 };
  uint64_t told = workspace + 128, fields = h.tiles / 1024 + 1, sum = 0;
  uint64_t at_groups = told + (h.tiles + 31) / 32 * 32 * TOLD, at_fields = at_groups + fields * 32 * TOLD;
  muster_launch launch = MUSTER_LAUNCH_INIT;
  void *parameters[] = {&x, &n, &y, &workspace, &told, &at_groups, &at_fields, &h.slots, &h.late};
  launch.grid[0] = h.blocks;
  launch.block[0] = h.threads;
  launch.shared_bytes = h.shared_bytes;
  for (uint32_t i = 0; i < n; i++)
    values[i] = (uint64_t)hashed(i) << 20;
  CHECK(muster_copy_in(device, x, values, n * 8) == MUSTER_OK);
  for (int again = 0; again < 2 && !failures; again++) {
    CHECK(muster_kernel_launch(h.kernel, &launch, parameters) == MUSTER_OK);
    CHECK(muster_copy_out(device, values, y, n * 8) == MUSTER_OK);
    sum = 0;
    for (uint32_t i = 0; i < n && !failures; i++)
      CHECK(values[i] == (sum += (uint64_t)hashed(i) << 20));
  }
}

/* So many tiles that there are two fields of groups, which muster_scan has only of far more elements: its
 * kernel for few. */
static void fields(muster_module *module) {
  enum { THREADS = 256, TILE = 2048, TILES = 1100, N = TILES * TILE - 3 };
  by_hand h = {.tiles = TILES, .tile = TILE, .blocks = TILES, .threads = THREADS};
  uint64_t x, y, *values = malloc((size_t)N * 8);
  CHECK(muster_alloc(device, (size_t)N * 8, &x) == MUSTER_OK &&
        muster_alloc(device, (size_t)N * 8, &y) == MUSTER_OK &&
        muster_module_find(module, "scan_inclusive_sum_small_u64", &h.kernel) == MUSTER_OK);
  scan_by_hand(h, x, y, N, values);
  CHECK(muster_free(device, x) == MUSTER_OK && muster_free(device, y) == MUSTER_OK);
  free(values);
}

/* Few blocks, each of which goes around its ring of slots several times; with every number of slots, and of
 * steps that a tile is written late. */
static void streams(muster_module *module) {
  enum { WORKERS = 512, HELPERS = 128, TILE = 4096, TILES = 37, N = TILES * TILE - 3, SLOT = TILE * 8 + 304 };
  by_hand h = {.tiles = TILES, .tile = TILE, .threads = WORKERS + HELPERS};
  uint64_t *values = malloc((size_t)N * 8);
  CHECK(muster_module_find(module, "scan_inclusive_sum_streamed_u64", &h.kernel) == MUSTER_OK);
  for (h.slots = 1; h.slots <= 7; h.slots++)
    for (h.late = 0; h.late < h.slots && !failures; h.late += h.slots > 3 ? 2 : 1) {
      h.blocks = 1 + (h.slots + h.late) % 4;
      h.shared_bytes = h.slots * (size_t)SLOT;
      scan_by_hand(h, in, out + (h.slots == 3) * 8, h.slots == 4 ? N : N - TILE * h.slots, values);
    }
  free(values);
}

/* Sums that are rounded: every time the same bits, and close although they run over many tiles. */
static void rounded_scan(void) {
  muster_call call = call_of();
  long double sum = 0, absolute = 0;
  uint64_t n = MOST;
  for (uint64_t i = 0; i < n; i++)
    put(MUSTER_f32, host[0], i, (long double)hashed((uint32_t)i) / 4294967296.0L - 0.3L);
  CHECK(muster_copy_in(device, in, host[0], n * 4) == MUSTER_OK);
  for (int again = 0; again < 3; again++) {
    CHECK(muster_scan(device, &call, MUSTER_SUM, MUSTER_INCLUSIVE, MUSTER_f32, in, n, out) == MUSTER_OK);
    CHECK(muster_copy_out(device, got, out, n * 4) == MUSTER_OK);
    if (again == 0)
      memcpy(want, got, n * 4);
    CHECK(memcmp(want, got, n * 4) == 0);
  }
  for (uint64_t i = 0; i < n; i++) {
    sum += get(MUSTER_f32, host[0], i);
    absolute = (i % 16384 ? absolute : 0) + fabsl(get(MUSTER_f32, host[0], i));
    CHECK(fabsl(get(MUSTER_f32, got, i) - sum) <= ldexpl(1, -24) * (4 * absolute + 2 * fabsl(sum)));
  }
}

/* ------------------------------------------------------------------ histograms */

typedef enum spread { EVEN, ONE_VALUE, FEW, SORTED, SPREADS } spread;

static void histograms(muster_elem elem, uint32_t bins) {
  static const uint64_t sizes[] = {0, 1, 17, 1000, 40000, MOST - 1};
  unsigned bytes = types[elem].bytes;
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
    for (spread d = EVEN; d < SPREADS; d++) {
      muster_call call = call_of();
      uint64_t n = sizes[s], x = in + (d == FEW ? bytes : 0), counts = out + 64,
               *expected = (uint64_t *)(void *)want;
      memset(want, 0, bins * 8ull);
      for (uint64_t i = 0; i < n; i++) {
        uint64_t r = hashed((uint32_t)i + 3), bin = r % (bins + bins / 16 + 1); /* some beyond the last bin */
        if (d == ONE_VALUE)
          bin = bins - 1;
        else if (d == FEW)
          bin = r % 8 ? bins / 2 : r % bins;
        else if (d == SORTED)
          bin = i * bins / n;
        memcpy(host[0] + i * bytes, &bin, bytes);
        bin = (uint64_t)get(elem, host[0], i);
        if (bin < bins)
          expected[bin]++;
      }
      guard(counts, bins * 8ull);
      CHECK(muster_copy_in(device, x, host[0], n * bytes) == MUSTER_OK);
      muster_result r = muster_histogram(device, &call, elem, x, n, bins, counts);
      if (r != MUSTER_OK)
        fprintf(stderr, "%s\n", muster_message());
      CHECK(r == MUSTER_OK);
      same(counts, bins * 8ull, "histogram", elem, n);
    }
}

/* One block that counts so much that it gives up its choice of bins: what is frequent changes, and most of it
 * never had a choice. muster_histogram does that only where a device is full. */
static void choices(const char *ptx) {
  enum { N = 1000000, BINS = 5000, THREADS = 1024, CHOICES = 64 };
  muster_module *module;
  muster_kernel *kernel;
  muster_launch launch = MUSTER_LAUNCH_INIT;
  uint64_t n = N, counts = out + 64, tickets = workspace, totals = workspace + 128,
           *expected = (uint64_t *)(void *)want;
  uint32_t bins = BINS, room = CHOICES;
  void *parameters[] = {&in, &n, &bins, &room, &counts, &tickets, &totals};
  memset(want, 0, BINS * 8);
  for (uint32_t i = 0; i < N; i++) {
    uint32_t bin = i % 4 ? (i < N / 2 ? 77 : 4999) : hashed(i) % BINS;
    memcpy(host[0] + i * 4ull, &bin, 4);
    expected[bin]++;
  }
  fresh_workspace();
  guard(counts, BINS * 8);
  CHECK(muster_copy_in(device, in, host[0], N * 4) == MUSTER_OK);
  launch.grid[0] = 1;
  launch.block[0] = THREADS;
  launch.shared_bytes = CHOICES * 8;
  if (muster_module_open(device, ptx, &module) != MUSTER_OK ||
      muster_module_find(module, "histogram_totals_u32", &kernel) != MUSTER_OK ||
      muster_kernel_launch(kernel, &launch, parameters) != MUSTER_OK) {
    failures++;
    fprintf(stderr, "%s\n", muster_message());
    return;
  }
  same(counts, BINS * 8, "histogram with choices", MUSTER_u32, n);
}

/* ------------------------------------------------------------------ maps */

static void maps(muster_elem elem) {
  static const struct {
    uint64_t n, x, y, to;
    int in_place;
  } cases[] = {{0, 0, 0, 0, 0},     {3, 0, 0, 0, 0},     {8192, 0, 0, 0, 0},
               {8195, 0, 0, 0, 1},  {20000, 0, 0, 0, 1}, {20001, 1, 0, 0, 0},
               {20002, 0, 3, 0, 0}, {20003, 0, 0, 1, 0}, {16383, 1, 1, 1, 1}};
  unsigned bytes = types[elem].bytes;
  uint8_t a[8];
  put(elem, a, 0, 3);
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
    for (muster_map_op op = 0; op < MUSTER_MAP_OPS; op++) {
      muster_call call = MUSTER_CALL_INIT;
      uint64_t n = cases[c].n, x = in + GUARD + cases[c].x * bytes, y = in + ROOM / 2 + cases[c].y * bytes;
      uint64_t to = cases[c].in_place ? x : out + 64 + cases[c].to * bytes;
      for (uint64_t i = 0; i < n; i++) {
        uint32_t below = is_float(elem) && bytes == 2 ? 16 : 100; /* half precision is exact, too */
        int of_x = (int)(hashed((uint32_t)i) % below), of_y = (int)(hashed((uint32_t)i + 9) % below);
        int result[] = {of_x + of_y, of_x - of_y, of_x * of_y, 3 * of_x + of_y, 3 * of_x, 3};
        put(elem, host[0], i, of_x), put(elem, host[1], i, of_y), put(elem, want, i, result[op]);
      }
      guard(to, n * bytes);
      CHECK(muster_copy_in(device, x, host[0], n * bytes) == MUSTER_OK &&
            muster_copy_in(device, y, host[1], n * bytes) == MUSTER_OK);
      muster_result r = muster_map(device, &call, op, elem, a, x, y, n, to);
      if (r != MUSTER_OK)
        fprintf(stderr, "%s\n", muster_message());
      CHECK(r == MUSTER_OK);
      same(to, n * bytes, "map", elem, n);
    }
}

/* ------------------------------------------------------------------ wrong calls */

static void refused(void) {
  muster_call call = call_of();
  size_t bytes;
  uint8_t before[64];
  memset(before, 0x5a, sizeof before);
  CHECK(muster_copy_in(device, out, before, sizeof before) == MUSTER_OK);
  REFUSED("the input and the result overlap", muster_scan, &call, MUSTER_SUM, MUSTER_INCLUSIVE, MUSTER_f32,
          out, 4, out);
  REFUSED("no such scan", muster_scan, &call, MUSTER_SUM, 7, MUSTER_f32, in, 4, out);
  REFUSED("not for elements of type f16", muster_scan, &call, MUSTER_SUM, MUSTER_INCLUSIVE, MUSTER_f16, in, 4,
          out);
  REFUSED("are needed", muster_scan, &call, MUSTER_SUM, MUSTER_INCLUSIVE, MUSTER_f32, in, 1ull << 40,
          out + (1ull << 50));
  REFUSED("0 bins", muster_histogram, &call, MUSTER_u32, in, 4, 0, out);
  REFUSED("1048577 bins", muster_histogram, &call, MUSTER_u32, in, 4, (1 << 20) + 1, out);
  REFUSED("257 bins, and u8 has 256 values", muster_histogram, &call, MUSTER_u8, in, 4, 257, out);
  REFUSED("not f32", muster_histogram, &call, MUSTER_f32, in, 4, 256, out);
  REFUSED("the input and the counts overlap", muster_histogram, &call, MUSTER_u32, out + 8, 4, 256, out);
  REFUSED("scale takes a number", muster_map, &call, MUSTER_SCALE, MUSTER_f32, NULL, in, in, 4, out);
  REFUSED("the first input and the result overlap", muster_map, &call, MUSTER_ADD, MUSTER_f32, NULL, out + 4,
          in, 4, out);
  REFUSED("of elements of type an unknown", muster_map, &call, MUSTER_ADD, MUSTER_ELEMS, NULL, in, in, 4,
          out);
  REFUSED("the second input has no address", muster_map, &call, MUSTER_ADD, MUSTER_f32, NULL, in, 0, 4, out);
  call.workspace_bytes = 128 + 8 * 1000 - 1;
  REFUSED("are needed", muster_histogram, &call, MUSTER_u32, in, 4, 1000, out);
  CHECK(muster_histogram_workspace(device, MUSTER_u32, 1000, 4, &bytes) == MUSTER_OK &&
        bytes == 128 + 8 * 1000);
  CHECK(muster_copy_out(device, got, out, sizeof before) == MUSTER_OK &&
        memcmp(got, before, sizeof before) == 0);
}

int main(int argc, char **argv) { /* arrays [scan|histogram|map [ELEM]], arrays choices|fields|streams PTX */
  static const muster_elem summed[] = {MUSTER_f32, MUSTER_s32, MUSTER_u32,
                                       MUSTER_s64, MUSTER_u64, MUSTER_f64};
  static const struct {
    muster_elem elem;
    uint32_t bins;
  } counted[] = {{MUSTER_u8, 256},    {MUSTER_u8, 100},     {MUSTER_u16, 200}, {MUSTER_u16, 5000},
                 {MUSTER_u32, 1},     {MUSTER_u32, 2048},   {MUSTER_u32, 300}, /* rounded up, fewer parts than
                                                                                  asked for */
                 {MUSTER_u64, 65536}, {MUSTER_u32, 100003},                    /* in parts */
                 {MUSTER_u32, 400007} /* on a P100 more than there can be parts: in the totals */};
  open_device();
#define ASKED(what, elem) \
  ((argc < 2 || strcmp(argv[1], what) == 0) && (argc < 3 || strcmp(argv[2], types[elem].name) == 0))
  for (size_t i = 0; i < sizeof summed / sizeof *summed; i++)
    if (ASKED("scan", summed[i]))
      scans(summed[i]);
  if (ASKED("scan", MUSTER_f32))
    rounded_scan();
  fresh_workspace();
  for (size_t i = 0; i < sizeof counted / sizeof *counted; i++)
    if (ASKED("histogram", counted[i].elem))
      histograms(counted[i].elem, counted[i].bins);
  if (argc > 2 && strcmp(argv[1], "choices") == 0)
    choices(argv[2]);
  if (argc > 2 && (strcmp(argv[1], "fields") == 0 || strcmp(argv[1], "streams") == 0)) {
    muster_module *module;
    fresh_workspace();
    CHECK(muster_module_open(device, argv[2], &module) == MUSTER_OK);
    (*argv[1] == 'f' ? fields : streams)(module);
  }
  for (muster_elem elem = 0; elem < MUSTER_ELEMS; elem++)
    if (ASKED("map", elem))
      maps(elem);
  refused();
  close_device();
  return failures ? 1 : 0;
}
