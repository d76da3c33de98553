/* accuracy.c: sums and dot products of floats are as near to the exact ones as muster.h says: of numbers of
 * one size and of all sizes, and where nearly everything cancels. The device is MUSTER_DEVICE's. */
#include "guarded.h"

#include "bench/ops/bound.h"

typedef enum kind { EVEN, POSITIVE, WIDE, PAIRS, CANCELLING, KINDS } kind;
static const char *const kinds[KINDS] = {"even", "positive", "of all sizes", "cancelling in pairs",
                                         "cancelling"};

static void fill(muster_elem elem, void *x, uint64_t n, kind k, uint32_t seed) {
  int half = types[elem].bytes == 2;
  for (uint64_t i = 0; i < n; i++) {
    uint32_t r = hashed((uint32_t)i + seed);
    long double unit = (r + 0.5L) / 4294967296.0L, value = unit;
    uint64_t other = n - 1 - i;
    if (k == EVEN)
      value -= 0.25L;
    else if (k == WIDE)
      value = ldexpl(r % 2 ? 1 + unit : -1 - unit, (int)(r / 2 % (half ? 12 : 60)) - (half ? 6 : 30));
    else if (k == PAIRS && i % 2)
      value = -get(elem, x, i - 1) * (1 + ldexpl(1, -18)) + ldexpl(1, -22);
    else if (k == CANCELLING && other < i) /* what is left are a few tiny ones */
      value = -get(elem, x, other);
    else if (k == CANCELLING && i < 3)
      value = 0x1p-40L;
    if (half && k != WIDE && k != CANCELLING)
      value = floorl(value * 64) / 64;
    else if (half && k == CANCELLING && other >= i)
      value = (1 + r % 64) / 64.0L;
    put(elem, x, i, value);
  }
  if (k == CANCELLING && n > 2) /* no partner */
    put(elem, x, n - 1, half ? 1 / 64.0L : 0x1p-30L);
}

static void judge(muster_elem elem, const char *what, const exact_sum *s, uint64_t n, muster_mode mode,
                  kind k) {
  muster_elem type = muster_reduce_result(MUSTER_SUM, elem);
  CHECK(muster_copy_out(device, got, out, 8) == MUSTER_OK);
  long double error = fabsl((get(type, got, 0) - s->high) - s->low);
  long double allowed = error_allowed(s, n, type == MUSTER_f32 ? 24 : 53, mode == MUSTER_COMPENSATED);
  if (error <= allowed)
    return;
  failures++;
  fprintf(stderr, "%s of %llu %s, %s, mode %d: %.20Lg and not %.20Lg: off by %Lg, %Lg is allowed\n", what,
          (unsigned long long)n, types[elem].name, kinds[k], (int)mode, get(type, got, 0), s->high + s->low,
          error, allowed);
}

static void sums(muster_elem elem, uint64_t n, kind k) {
  unsigned bytes = types[elem].bytes;
  uint64_t y = in + ROOM / 2;
  exact_sum sum = {0, 0, 0}, dot = {0, 0, 0};
  fill(elem, host[0], n, k, 0);
  fill(elem, host[1], n, k == CANCELLING ? POSITIVE : k, 17);
  for (uint64_t i = 0; i < n; i++) {
    if (k == CANCELLING && n - 1 - i < i) /* products cancel as sums do */
      memcpy(host[1] + i * bytes, host[1] + (n - 1 - i) * bytes, bytes);
    exact_add(&sum, get(elem, host[0], i));
    exact_add_product(&dot, get(elem, host[0], i), get(elem, host[1], i));
  }
  CHECK(muster_copy_in(device, in, host[0], n * bytes) == MUSTER_OK &&
        muster_copy_in(device, y, host[1], n * bytes) == MUSTER_OK);
  for (muster_mode mode = 0; mode < MUSTER_MODES; mode++) {
    muster_call call = call_of();
    call.mode = mode;
    CHECK(muster_reduce(device, &call, MUSTER_SUM, elem, in, n, out) == MUSTER_OK);
    judge(elem, "sum", &sum, n, mode, k);
    CHECK(muster_dot(device, &call, elem, in, y, n, out) == MUSTER_OK);
    judge(elem, "dot", &dot, n, mode, k);
  }
}

int main(void) {
  static const muster_elem elems[] = {MUSTER_f16, MUSTER_bf16, MUSTER_f32, MUSTER_f64};
  static const uint64_t sizes[] = {1, 3, 1000, 100003};
  open_device();
  for (size_t e = 0; e < 4; e++)
    for (kind k = 0; k < KINDS; k++)
      for (size_t s = 0; s < 4; s++)
        sums(elems[e], sizes[s], k);
  sums(MUSTER_f32, 1 << 20, EVEN);
  close_device();
  return failures ? 1 : 0;
}
