/* reduce.c: reductions and dot products of every element type against plain loops: sizes around a vector, a
 * block and a grid, arrays at any address, every mode, and what wrong calls are told. The device is
 * MUSTER_DEVICE's. */
#include "array.h"

static muster_device *device;
static uint64_t memory, workspace; /* of ROOM bytes each half; the second half is for the other operand */
static size_t workspace_bytes;
static const char *what;
enum { ROOM = 1 << 20, MOST = 40000, RESULT_AT = ROOM - 64 };

static const uint64_t sizes[] = {0, 1, 2, 7, 16, 17, 129, 2048, 8191, 8209, MOST - 3};

static muster_call call_of(muster_mode mode, muster_nan nan) {
  muster_call call = MUSTER_CALL_INIT;
  call.workspace = workspace;
  call.workspace_bytes = workspace_bytes;
  call.mode = mode;
  call.nan = nan;
  return call;
}

static void same(muster_elem type, const void *got, long double want, uint64_t n, const char *op,
                 muster_elem elem) {
  long double value = get(type, got, 0);
  if (value == want || (isnan(value) && isnan(want)))
    return;
  failures++;
  fprintf(stderr, "%s: %s of %llu %s is %.20Lg, expected %.20Lg\n", what, op, (unsigned long long)n,
          types[elem].name, value, want);
}

/* ------------------------------------------------------------------ the plain loops */

static const char *const names[] = {
#define OPERATION(name, constant, takes, gives, meaning) #name,
#include "muster/operation.def"
};

/* Integers as 64 bits that wrap, floats as the numbers they are: the tests' sums are exact. */
static long double plain(muster_op op, muster_elem elem, const void *x, uint64_t n, muster_nan nan) {
  long double sum = 0, squares = 0, product = 1, least = INFINITY, greatest = -INFINITY;
  uint64_t wrapped = 0, wrapped_squares = 0, wrapped_product = 1, all = UINT64_MAX, any = 0;
  uint64_t least_at = UINT64_MAX, greatest_at = UINT64_MAX, nan_at = UINT64_MAX, numbers = 0;
  int sign = types[elem].kind == 's';
  for (uint64_t i = 0; i < n; i++) {
    long double value = get(elem, x, i);
    uint64_t bits = is_float(elem) ? 0 : value < 0 ? (uint64_t)(int64_t)value : (uint64_t)value;
    sum += value, squares += value * value, product *= value;
    wrapped += bits, wrapped_squares += bits * bits, wrapped_product *= bits, all &= bits, any |= bits;
    if (isnan(value)) {
      nan_at = nan_at == UINT64_MAX ? i : nan_at;
      continue;
    }
    numbers++;
    if (value < least || least_at == UINT64_MAX)
      least = value, least_at = i;
    if (value > greatest || greatest_at == UINT64_MAX)
      greatest = value, greatest_at = i;
  }
  int integer = !is_float(elem), hit = nan_at != UINT64_MAX && nan == MUSTER_NAN_PROPAGATE;
  int none = numbers == 0 && nan == MUSTER_NAN_IGNORE; /* of nothing else the extreme is NaN */
  unsigned bits = 8 * types[elem].bytes - sign;
  uint64_t top = bits == 64 ? UINT64_MAX : (1ull << bits) - 1;
#define WRAPPED(w) (sign ? (long double)(int64_t)(w) : (long double)(w))
  switch (op) {
  case MUSTER_SUM:
    return integer ? WRAPPED(wrapped) : sum;
  case MUSTER_PRODUCT:
    return integer ? WRAPPED(wrapped_product) : product;
  case MUSTER_SUM_OF_SQUARES:
    return integer ? WRAPPED(wrapped_squares) : squares;
  case MUSTER_NORM: /* rounded as the result is: by the correctly rounded root of its type */
    return elem == MUSTER_f64 ? sqrt((double)squares) : sqrtf((float)squares);
  case MUSTER_MIN:
    return hit || (!integer && none) ? NAN : n == 0 && integer ? (long double)top : least;
  case MUSTER_MAX:
    return hit || (!integer && none) ? NAN
           : n == 0 && integer       ? (sign ? -(long double)top - 1 : 0)
                                     : greatest;
  case MUSTER_ARGMIN:
    return hit ? nan_at : least_at;
  case MUSTER_ARGMAX:
    return hit ? nan_at : greatest_at;
  case MUSTER_AND: {
    uint64_t mask = types[elem].bytes == 8 ? UINT64_MAX : (1ull << 8 * types[elem].bytes) - 1;
    uint64_t kept = all & mask;
    return get(elem, &kept, 0);
  }
  default: {
    return get(elem, &any, 0);
  }
  }
}

/* ------------------------------------------------------------------ right calls */

/* Numbers whose sums and products are exact in every type: small ones, and of a product only powers of two.
 */
static void fill(muster_elem elem, void *x, uint64_t n, uint32_t seed, muster_op op) {
  for (uint64_t i = 0; i < n; i++) {
    uint32_t r = hashed((uint32_t)i * 3 + seed);
    long double value = (int)(r % 13) - (types[elem].kind == 'u' ? 0 : 6);
    if (op == MUSTER_PRODUCT && is_float(elem))
      value = i % 2 ? 0.5 : 2;
    else if (op == MUSTER_AND || op == MUSTER_OR)
      value = 1 << (r % 7);
    put(elem, x, i, value);
  }
}

static uint8_t host[2][ROOM], result[32];

static void run(muster_op op, muster_elem elem, uint64_t n, uint64_t offset, muster_mode mode,
                muster_nan nan) {
  muster_call call = call_of(mode, nan);
  muster_elem type = muster_reduce_result(op, elem);
  uint64_t at = memory + offset * types[elem].bytes;
  uint8_t before[32];
  memset(before, 0xa5, sizeof before);
  CHECK(muster_copy_in(device, at, host[0], n * types[elem].bytes) == MUSTER_OK);
  CHECK(muster_copy_in(device, memory + RESULT_AT, before, sizeof before) == MUSTER_OK);
  muster_result r = muster_reduce(device, &call, op, elem, at, n, memory + RESULT_AT + 8);
  if (r != MUSTER_OK)
    fprintf(stderr, "%s: %s\n", names[op], muster_message());
  CHECK(r == MUSTER_OK);
  CHECK(muster_copy_out(device, result, memory + RESULT_AT, sizeof result) == MUSTER_OK);
  same(type, result + 8, plain(op, elem, host[0], n, nan), n, names[op], elem);
  CHECK(memcmp(result, before, 8) == 0 &&
        memcmp(result + 8 + types[type].bytes, before + 8 + types[type].bytes, 24 - types[type].bytes) == 0);
}

static void reductions(muster_elem elem) {
  what = "reductions";
  for (muster_op op = 0; op < MUSTER_OPS; op++) {
    if (muster_reduce_result(op, elem) == MUSTER_ELEMS)
      continue;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
      fill(elem, host[0], sizes[s], (uint32_t)s, op);
      run(op, elem, sizes[s], s % 3 == 2 ? 16 : 0, s % 2 ? MUSTER_FAST : MUSTER_REPRODUCIBLE,
          MUSTER_NAN_PROPAGATE);
    }
    fill(elem, host[0], 8191, 5, op);
    run(op, elem, 8191, 1, MUSTER_FAST, MUSTER_NAN_IGNORE); /* at no multiple of 16 */
    run(op, elem, 300, 5, MUSTER_COMPENSATED, MUSTER_NAN_PROPAGATE);
  }
}

/* The type's own extremes, once each, somewhere; what comes twice counts where it is first. */
static void extremes(muster_elem elem) {
  what = "extremes";
  uint8_t low[8], high[8];
  for (uint64_t n = 1; n < 20000; n = n * 7 + 2)
    for (int round = 0; round < 2; round++) {
      fill(elem, host[0], n, 9, MUSTER_SUM);
      memset(low, 0, 8), memset(high, 0xff, 8);
      if (types[elem].kind == 's')
        low[types[elem].bytes - 1] = 0x80, high[types[elem].bytes - 1] = 0x7f;
      if (is_float(elem))
        put(elem, low, 0, -INFINITY), put(elem, high, 0, INFINITY);
      for (uint64_t at = n / 3; at <= n / 3 * 2; at += n / 3 + 1) {
        memcpy(host[0] + at * types[elem].bytes, low, types[elem].bytes);
        memcpy(host[0] + (n - 1 - at / 2) * types[elem].bytes, high, types[elem].bytes);
      }
      if (round == 1 && is_float(elem)) {
        put(elem, host[0], n / 2, NAN);
        put(elem, host[0], n - 1, -NAN);
      }
      for (muster_op op = MUSTER_MIN; op <= MUSTER_ARGMAX; op++) {
        if (op == MUSTER_AND || op == MUSTER_OR)
          continue;
        run(op, elem, n, 0, MUSTER_FAST, MUSTER_NAN_PROPAGATE);
        run(op, elem, n, 0, MUSTER_FAST, MUSTER_NAN_IGNORE);
      }
    }
}

static void dots(muster_elem elem) {
  what = "dots";
  muster_elem type = muster_reduce_result(MUSTER_SUM, elem);
  static const struct {
    uint64_t n, x, y;
    muster_mode mode;
  } cases[] = {
      {0, 0, 0, MUSTER_FAST},     {1, 0, 0, MUSTER_REPRODUCIBLE},     {17, 3, 0, MUSTER_FAST},
      {8191, 0, 1, MUSTER_FAST},  {MOST - 1, 0, 16, MUSTER_FAST},     {20001, 1, 1, MUSTER_REPRODUCIBLE},
      {20002, 0, 0, MUSTER_FAST}, {20003, 16, 0, MUSTER_COMPENSATED}, {5000, 0, 5, MUSTER_COMPENSATED}};
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    muster_call call = call_of(cases[c].mode, MUSTER_NAN_PROPAGATE);
    unsigned bytes = types[elem].bytes;
    uint64_t x = memory + cases[c].x * bytes, y = memory + ROOM + cases[c].y * bytes;
    long double want = 0;
    uint64_t wrapped = 0;
    fill(elem, host[0], cases[c].n, 21, MUSTER_SUM);
    fill(elem, host[1], cases[c].n, 22, MUSTER_SUM);
    for (uint64_t i = 0; i < cases[c].n; i++) {
      long double product = get(elem, host[0], i) * get(elem, host[1], i);
      want += product;
      wrapped += (uint64_t)(int64_t)product;
    }
    if (!is_float(elem))
      want = types[elem].kind == 's' ? (long double)(int64_t)wrapped : (long double)wrapped;
    CHECK(muster_copy_in(device, x, host[0], cases[c].n * bytes) == MUSTER_OK &&
          muster_copy_in(device, y, host[1], cases[c].n * bytes) == MUSTER_OK);
    CHECK(muster_dot(device, &call, elem, x, y, cases[c].n, memory + RESULT_AT) == MUSTER_OK);
    CHECK(muster_copy_out(device, result, memory + RESULT_AT, 8) == MUSTER_OK);
    same(type, result, want, cases[c].n, "dot", elem);
  }
}

/* Sums that are not exact: the same bits every time, within the bound, and compensated nearly exact although
 * most of it cancels. */
static void rounding(muster_elem elem) {
  uint64_t n = MOST;
  long double exact = 0, absolute = 0, unit = ldexpl(1, elem == MUSTER_f32 ? -24 : -53);
  uint8_t first[8];
  for (uint64_t i = 0; i < n; i++) {
    long double value = (long double)hashed((uint32_t)i) / 4294967296.0L - 0.499L;
    if (i % 2) /* the one before nearly cancels it */
      value = -get(elem, host[0], i - 1) * (1 + ldexpl(1, -18)) + ldexpl(1, -22);
    put(elem, host[0], i, value);
    exact += get(elem, host[0], i), absolute += fabsl(get(elem, host[0], i));
  }
  CHECK(muster_copy_in(device, memory, host[0], n * types[elem].bytes) == MUSTER_OK);
  for (muster_mode mode = 0; mode < MUSTER_MODES; mode++)
    for (int again = 0; again < 3; again++) {
      muster_call call = call_of(mode, MUSTER_NAN_PROPAGATE);
      CHECK(muster_reduce(device, &call, MUSTER_SUM, elem, memory, n, memory + RESULT_AT) == MUSTER_OK);
      CHECK(muster_copy_out(device, result, memory + RESULT_AT, 8) == MUSTER_OK);
      long double error = fabsl(get(elem, result, 0) - exact);
      CHECK(error <= (mode == MUSTER_COMPENSATED ? 4 * unit * fabsl(exact) : 41 * unit * absolute));
      if (again == 0)
        memcpy(first, result, 8);
      CHECK(memcmp(first, result, types[elem].bytes) == 0);
    }
  /* wherever the array lies, its sum has the same bits */
  muster_call call = call_of(MUSTER_REPRODUCIBLE, MUSTER_NAN_PROPAGATE);
  for (uint64_t offset = 0; offset < 3; offset++) {
    uint64_t at = memory + offset * types[elem].bytes;
    CHECK(muster_copy_in(device, at, host[0], n * types[elem].bytes) == MUSTER_OK);
    CHECK(muster_reduce(device, &call, MUSTER_SUM, elem, at, n, memory + RESULT_AT) == MUSTER_OK);
    CHECK(muster_copy_out(device, result, memory + RESULT_AT, 8) == MUSTER_OK);
    if (offset == 0)
      memcpy(first, result, 8);
    CHECK(memcmp(first, result, types[elem].bytes) == 0);
  }
}

/* Launch after launch in one workspace, each of other numbers: what an earlier one left there is no sum of
 * this. */
static void again(void) {
  enum { TIMES = 3000, FEW = 20000 };
  float ones[] = {1, 2};
  what = "again";
  for (int i = 0; i < 2; i++)
    for (uint64_t k = 0; k < FEW; k++)
      put(MUSTER_f32, host[i], k, ones[i]);
  CHECK(muster_copy_in(device, memory, host[0], FEW * 4) == MUSTER_OK &&
        muster_copy_in(device, memory + ROOM, host[1], FEW * 4) == MUSTER_OK);
  for (int i = 0; i < TIMES; i++) {
    muster_call call = call_of(MUSTER_FAST, MUSTER_NAN_PROPAGATE);
    uint64_t n = FEW - (uint64_t)i;
    CHECK(muster_reduce(device, &call, MUSTER_SUM, MUSTER_f32, memory + (i % 2 ? ROOM : 0), n,
                        memory + RESULT_AT) == MUSTER_OK);
    CHECK(muster_copy_out(device, result, memory + RESULT_AT, 4) == MUSTER_OK);
    same(MUSTER_f32, result, (long double)n * ones[i % 2], n, "sum", MUSTER_f32);
  }
}

/* ------------------------------------------------------------------ wrong calls */

static void refused(void) {
  muster_call call = call_of(MUSTER_FAST, MUSTER_NAN_PROPAGATE), bad;
  uint64_t out = memory + RESULT_AT;
  uint8_t before[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  size_t bytes;
  CHECK(muster_copy_in(device, out, before, 8) == MUSTER_OK);
#define REFUSED(words, ...) \
  CHECK(muster_reduce(device, __VA_ARGS__) == MUSTER_ERROR_ARGUMENT && says("muster_reduce: ") && says(words))
  CHECK(muster_reduce(NULL, &call, MUSTER_SUM, MUSTER_f32, memory, 4, out) == MUSTER_ERROR_ARGUMENT &&
        says("no device"));
  REFUSED("not initialised", NULL, MUSTER_SUM, MUSTER_f32, memory, 4, out);
  REFUSED("the input has no address", &call, MUSTER_SUM, MUSTER_f32, 0, 4, out);
  REFUSED("the result has no address", &call, MUSTER_SUM, MUSTER_f32, memory, 4, 0);
  REFUSED("no multiple of its element's 4 bytes", &call, MUSTER_SUM, MUSTER_f32, memory + 2, 4, out);
  REFUSED("no multiple of its element's 8 bytes", &call, MUSTER_SUM, MUSTER_s8, memory, 4, out + 4);
  REFUSED("more than memory can hold", &call, MUSTER_SUM, MUSTER_f32, memory, (uint64_t)-1, out);
  REFUSED("more than memory can hold", &call, MUSTER_SUM, MUSTER_u8, memory, (uint64_t)-100, out);
  REFUSED("the input and the result overlap", &call, MUSTER_SUM, MUSTER_f32, out - 8, 3, out);
  REFUSED("the result and the workspace overlap", &call, MUSTER_SUM, MUSTER_f32, memory, 4, workspace + 8);
  REFUSED("the input and the workspace overlap", &call, MUSTER_SUM, MUSTER_f32, workspace, 4, out);
  REFUSED("no such operation of elements of type f32", &call, MUSTER_AND, MUSTER_f32, memory, 4, out);
  REFUSED("no such operation of elements of type u8", &call, MUSTER_NORM, MUSTER_u8, memory, 4, out);
  REFUSED("no such operation of elements of type an unknown", &call, MUSTER_SUM, MUSTER_ELEMS, memory, 4,
          out);
  REFUSED("no such operation", &call, MUSTER_OPS, MUSTER_u8, memory, 4, out);
  bad = call, bad.workspace_bytes--;
  REFUSED("are needed", &bad, MUSTER_SUM, MUSTER_f32, memory, 4, out);
  bad = call, bad.workspace = 0;
  REFUSED("the workspace has to be", &bad, MUSTER_SUM, MUSTER_f32, memory, 4, out);
  bad = call, bad.workspace += 8;
  REFUSED("the workspace has to be", &bad, MUSTER_SUM, MUSTER_f32, memory, 4, out);
  bad = call, bad.mode = MUSTER_MODES;
  REFUSED("no such mode", &bad, MUSTER_SUM, MUSTER_f32, memory, 4, out);
  CHECK(muster_dot(device, &call, MUSTER_f32, memory, out - 4, 2, out) == MUSTER_ERROR_ARGUMENT &&
        says("the second input and the result overlap"));
  CHECK(muster_reduce_workspace(device, MUSTER_AND, MUSTER_f64, 4, &bytes) == MUSTER_ERROR_ARGUMENT);
  CHECK(muster_dot_workspace(device, MUSTER_ELEMS, 4, &bytes) == MUSTER_ERROR_ARGUMENT);
  CHECK(muster_copy_out(device, result, out, 8) == MUSTER_OK && memcmp(result, before, 8) == 0);
}

int main(int argc, char **argv) { /* reduce [ELEM|again] */
  muster_result r = muster_open(NULL, &device);
  if (r == MUSTER_ERROR_NO_DEVICE) {
    fprintf(stderr, "skipped: %s\n", muster_message());
    return 77;
  }
  CHECK(r == MUSTER_OK);
  CHECK(muster_alloc(device, 2 * ROOM, &memory) == MUSTER_OK);
  CHECK(muster_reduce_workspace(device, MUSTER_SUM, MUSTER_f32, MOST, &workspace_bytes) == MUSTER_OK);
  CHECK(muster_alloc(device, workspace_bytes, &workspace) == MUSTER_OK &&
        muster_fill_bytes(device, workspace, 0, workspace_bytes) == MUSTER_OK);
  for (muster_elem elem = 0; elem < MUSTER_ELEMS; elem++) {
    if (argc > 1 && strcmp(argv[1], types[elem].name) != 0)
      continue;
    reductions(elem);
    extremes(elem);
    dots(elem);
    if (elem == MUSTER_f32 || elem == MUSTER_f64)
      rounding(elem);
  }
  if (argc > 1 && strcmp(argv[1], "again") == 0)
    again();
  refused();
  CHECK(muster_wait(device) == MUSTER_OK);
  CHECK(muster_free(device, memory) == MUSTER_OK && muster_free(device, workspace) == MUSTER_OK);
  muster_close(device);
  return failures ? 1 : 0;
}
