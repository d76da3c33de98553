/* approx_all.c: the approximations with one operand of f32, for all of its 2^32 values, on the widest vector
 * level that this processor has. Against the C library's functions in double: the error must stay below 0.501
 * ulp, zeros, infinities and NaNs must be the right ones. The same for all 2^16 operands of f16 and bf16.
 *
 *   approx_all [-s I/N] [NAME...]      the I-th of N parts of the operands; NAME: "ex2.approx.f32"
 * Prints the largest error of each in ulp; ends with 1 if one is too large.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arith.h"

static double rcp(double x) {
  return 1 / x;
}
static double rsqrt(double x) {
  return 1 / sqrt(x);
}

static const struct function {
  const char *name;
  double (*truth)(double);
} functions[] = {
    {"rcp.approx.f32", rcp},       {"rcp.approx.ftz.f32", rcp},  {"sqrt.approx.f32", sqrt},
    {"sqrt.approx.ftz.f32", sqrt}, {"rsqrt.approx.f32", rsqrt},  {"rsqrt.approx.ftz.f32", rsqrt},
    {"ex2.approx.f32", exp2},      {"ex2.approx.ftz.f32", exp2}, {"lg2.approx.f32", log2},
    {"lg2.approx.ftz.f32", log2},  {"sin.approx.f32", sin},      {"sin.approx.ftz.f32", sin},
    {"cos.approx.f32", cos},       {"cos.approx.ftz.f32", cos},  {"tanh.approx.f32", tanh},
    {"ex2.approx.f16", exp2},      {"tanh.approx.f16", tanh},    {"ex2.approx.ftz.bf16", exp2},
    {"tanh.approx.bf16", tanh},
};
enum { N_FUNCTIONS = sizeof functions / sizeof *functions };

static uint64_t shard_i, shard_n = 1;
static char **names;
static int n_names;
static unsigned n_tried, n_wrong;

typedef struct kind {
  unsigned bits, mantissa, bias;
  uint32_t nan;
} kind;

static double value(const kind *k, uint32_t u) {
  uint32_t m = u & ((1u << (k->bits - 1)) - 1), top = (1u << (k->bits - 1 - k->mantissa)) - 1;
  uint32_t e = m >> k->mantissa, f = m & ((1u << k->mantissa) - 1);
  double x = e == top ? (f ? NAN : INFINITY)
                      : ldexp(e ? f | 1u << k->mantissa : f, (int)(e ? e : 1) - (int)(k->bias + k->mantissa));
  return u >> (k->bits - 1) ? -x : x;
}

/* The error in ulp; 1000 for what is wrong altogether. */
static double error_of(const kind *k, double want, uint32_t got, bool ftz) {
  double have = value(k, got), least = ldexp(1, 1 - (int)k->bias);
  double most = ldexp(2 - ldexp(1, -(int)k->mantissa), (int)k->bias);
  if (want != want)
    return got == k->nan ? 0 : 1000;
  if (have != have)
    return 1000;
  if (ftz && fabs(want) < least * (1 - 1e-7) && want != 0)
    return have == 0 && signbit(have) == signbit(want) ? 0 : 1000;
  if (ftz && fabs(want) < least)
    return (have == 0 || fabs(have) == least) && signbit(have) == signbit(want) ? 0 : 1000;
  if (isinf(want) || isinf(have)) {
    double edge = most + ldexp(1, (int)(k->bias - k->mantissa) - 1);
    return isinf(have) && signbit(have) == signbit(want) && fabs(want) >= edge * (1 - 1e-12) ? 0 : 1000;
  }
  if (want == 0)
    return have == 0 && signbit(have) == signbit(want) ? 0 : 1000;
  int e;
  frexp(want, &e);
  if (e < 2 - (int)k->bias)
    e = 2 - (int)k->bias;
  return fabs(have - want) / ldexp(1, e - 1 - (int)k->mantissa);
}

static void try(const spell *s, void *data) {
  (void)data;
  const struct function *f = NULL;
  for (unsigned k = 0; k < N_FUNCTIONS; k++)
    if (strcmp(functions[k].name, s->name) == 0)
      f = &functions[k];
  bool wanted = f && n_names == 0;
  for (int k = 0; k < n_names; k++)
    wanted |= f && strcmp(names[k], s->name) == 0;
  if (!wanted)
    return;
  const arith_level *levels, *level = NULL;
  for (unsigned l = 0, n = arith_levels(&levels); l < n; l++)
    level = levels[l].usable ? &levels[l] : level;
  arith a;
  if (!level || !arith_open(&a, s) || !arith_choose(&a, level)) {
    printf("%s: no handler\n", s->name);
    n_wrong++;
    return;
  }
  kind k = s->types[0] == PTX_F32   ? (kind){32, 23, 127, 0x7fffffff}
           : s->types[0] == PTX_F16 ? (kind){16, 10, 15, 0x7fff}
                                    : (kind){16, 7, 127, 0x7fff};
  bool ftz = a.insn->mods.ftz;
  /* a shard takes every N-th group of a warp's operands: a sample of everything */
  uint64_t all = UINT64_C(1) << k.bits, first = shard_i * SIM_LANES, step = shard_n * SIM_LANES;
  if (k.bits == 16)
    first = 0, step = SIM_LANES;
  double worst = 0;
  uint64_t at = 0;
  uint32_t *in = (uint32_t *)(a.frame + 64 + a.read[0] * ARITH_REG_BYTES);
  for (uint64_t u = first; u < all; u += step) {
    for (uint32_t lane = 0; lane < SIM_LANES; lane++)
      in[lane] = (uint32_t)u + lane;
    arith_run(&a, SIM_FULL, UINT32_MAX);
    for (uint32_t lane = 0; lane < SIM_LANES; lane++) {
      double x = value(&k, (uint32_t)u + lane);
      if (ftz && fabs(x) < ldexp(1, 1 - (int)k.bias))
        x = copysign(0, x);
      double error = error_of(&k, f->truth(x), (uint32_t)arith_result(&a, 0, lane), ftz);
      if (error > worst)
        worst = error, at = u + lane;
    }
  }
  bool good = worst <= 0.501;
  printf("%-4s %-22s largest error %.6f ulp, of %" PRIx64 "\n", good ? "ok" : "FAIL", s->name, worst, at);
  fflush(stdout);
  n_tried++;
  n_wrong += !good;
  arith_close(&a);
}

int main(int argc, char **argv) {
  int k = 1;
  if (argc > 2 && strcmp(argv[1], "-s") == 0) {
    if (sscanf(argv[2], "%" SCNu64 "/%" SCNu64, &shard_i, &shard_n) != 2 || !shard_n || shard_i >= shard_n) {
      fprintf(stderr, "usage: approx_all [-s I/N] [NAME...]\n");
      return 2;
    }
    k = 3;
  }
  names = argv + k;
  n_names = argc - k;
  spell_all("", try, NULL);
  printf("%u approximations, %u wrong\n", n_tried, n_wrong);
  return n_wrong || !n_tried;
}
