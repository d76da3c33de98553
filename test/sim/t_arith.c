/* t_arith.c: every spelling of the arithmetic instructions against the oracle, on every vector level that
 * this processor has, unmasked, masked, for a gang, and with the result in place of the first operand.
 *
 *   t_arith [-p] [-n CASES] [-s I/N] [ROW-PREFIX]
 * Ends with 0 if all agree; -s takes every N-th spelling; -p: only those of two operands of 16 bits,
 * of whose 2^32 pairs -n 4294967296 takes all.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arith.h"

static uint64_t n_cases = 4096;
static unsigned shard_i, shard_n = 1, seen;
static unsigned long spellings, cases, refused, failures;

static void complain(const arith *a, const char *level, const char *way, uint64_t n, const oracle_case *c,
                     unsigned k, uint64_t got) {
  printf("FAIL %s (variant %u) on %s, %s, case %" PRIu64 ":", a->s.name, a->s.variant, level, way, n);
  for (unsigned m = 0; m < a->s.n_in; m++)
    printf(" %" PRIx64, c->in[m]);
  printf(" -> word %u is %" PRIx64 ", not %" PRIx64 "\n", k, got, c->out[k]);
}

/* Are the results in the frame what case n needs? k: which is not. */
static bool right(const arith *a, const oracle_case *c, oracle_verdict v, unsigned lane, unsigned *k,
                  uint64_t *got) {
  unsigned n = a->n_written + (a->s.carry ? 1 : 0);
  for (*k = 0; *k < n; (*k)++) {
    *got = arith_result(a, *k, lane);
    uint64_t want = *k < a->n_written ? c->out[*k] : c->cc_written ? c->cc_out : c->cc_in;
    if (v == ORACLE_BOUND ? !oracle_within(c, *got) : *got != want)
      return false;
  }
  return true;
}

/* The cases c of n to n + 31, which are loaded. */
static bool try_level(arith *a, const char *level, uint64_t n, oracle_case *c, const oracle_verdict *v) {
  const ptx_body *b = a->body;
  bool in_place = a->n_read && b->regs[a->read[0]].type == b->regs[a->written[0]].type &&
                  b->regs[a->read[0]].type != PTX_PRED && a->op.a == 64 + a->read[0] * ARITH_REG_BYTES &&
                  a->op.d == 64 + a->written[0] * ARITH_REG_BYTES;
  uint32_t mask = (uint32_t)spell_random(n + 99);
  unsigned k;
  uint64_t got;
  arith_again(a);
  arith_run(a, SIM_FULL, UINT32_MAX);
  for (unsigned lane = 0; lane < SIM_LANES; lane++)
    if (!right(a, &c[lane], v[lane], lane, &k, &got)) {
      complain(a, level, "all lanes", n + lane, &c[lane], k, got);
      return false;
    }
  uint64_t full[SPELL_OUT][SIM_LANES];
  for (unsigned lane = 0; lane < SIM_LANES; lane++)
    for (k = 0; k < a->n_written; k++)
      full[k][lane] = arith_result(a, k, lane);
  arith_again(a);
  if (!arith_run_gang(a)) {
    complain(a, level, "as a gang: other warps", n, &c[0], 0, 0);
    return false;
  }
  for (unsigned lane = 0; lane < SIM_LANES; lane++)
    for (k = 0; k < a->n_written; k++)
      if ((got = arith_result(a, k, lane)) != full[k][lane]) {
        c[lane].out[k] = full[k][lane];
        complain(a, level, "as a gang", n + lane, &c[lane], k, got);
        return false;
      }
  arith_again(a);
  uint64_t before[SPELL_OUT];
  for (k = 0; k < a->n_written; k++)
    before[k] = arith_result(a, k, 0);
  arith_run(a, SIM_MASKED, mask);
  for (unsigned lane = 0; lane < SIM_LANES; lane++)
    for (k = 0; k < a->n_written; k++) {
      /* spoiled predicates are 1 in lanes of 0xa5... */
      uint64_t want = mask >> lane & 1 ? full[k][lane] : before[k];
      if ((got = arith_result(a, k, lane)) != want) {
        c[lane].out[k] = want;
        complain(a, level, "masked", n + lane, &c[lane], k, got);
        return false;
      }
    }
  if (in_place) {
    uint32_t d = a->op.d;
    arith_again(a);
    a->op.d = a->op.a;
    arith_run(a, SIM_FULL, UINT32_MAX);
    a->op.d = d;
    uint32_t reg = a->written[0];
    a->written[0] = a->read[0];
    for (unsigned lane = 0; lane < SIM_LANES; lane++)
      if ((got = arith_result(a, 0, lane)) != full[0][lane]) {
        c[lane].out[0] = full[0][lane];
        complain(a, level, "in place", n + lane, &c[lane], 0, got);
        a->written[0] = reg;
        return false;
      }
    a->written[0] = reg;
  }
  cases += SIM_LANES;
  return true;
}

static bool try_batch(arith *a, uint64_t n) {
  oracle_case c[SIM_LANES];
  oracle_verdict v[SIM_LANES];
  const arith_level *levels;
  unsigned n_levels = arith_levels(&levels);
  for (unsigned lane = 0; lane < SIM_LANES; lane++) {
    arith_expect(a, n + lane, &c[lane]);
    v[lane] = oracle_eval(&c[lane]);
    if (v[lane] == ORACLE_UNKNOWN) {
      printf("FAIL %s: the oracle does not know it\n", a->s.name);
      return false;
    }
  }
  arith_load(a, n);
  for (unsigned l = 0; l < n_levels; l++) {
    if (!levels[l].usable)
      continue;
    if (!arith_choose(a, &levels[l])) {
      printf("FAIL %s: no handler\n", a->s.name);
      return false;
    }
    if (!try_level(a, levels[l].name, n, c, v))
      return false;
  }
  return true;
}

static void try_spelling(const spell *s, void *data) {
  (void)data;
  if (seen++ % shard_n != shard_i)
    return;
  arith a;
  if (!arith_open(&a, s)) {
    if (a.module)
      refused++;
    failures += a.module && !strstr(s->name, ".sat.");
    arith_close(&a);
    return;
  }
  if (spell_pairs && (a.s.n_in != 2 || ptx_type_bits(a.s.in[0]) != 16 || ptx_type_bits(a.s.in[1]) != 16)) {
    arith_close(&a);
    return;
  }
  bool good = true;
  for (uint64_t n = 0; n < n_cases && good; n += SIM_LANES)
    good = try_batch(&a, n);
  spellings++;
  failures += !good;
  arith_close(&a);
}

int main(int argc, char **argv) {
  const char *prefix = "";
  for (int k = 1; k < argc; k++) {
    if (strcmp(argv[k], "-n") == 0 && k + 1 < argc)
      n_cases = strtoull(argv[++k], NULL, 0);
    else if (strcmp(argv[k], "-p") == 0)
      spell_pairs = true;
    else if (strcmp(argv[k], "-s") == 0 && k + 1 < argc &&
             sscanf(argv[k + 1], "%u/%u", &shard_i, &shard_n) == 2 && shard_n)
      k++;
    else
      prefix = argv[k];
  }
  spell_all(prefix, try_spelling, NULL);
  printf("%lu spellings, %lu cases, %lu refused by the front end, %lu wrong\n", spellings, cases, refused,
         failures);
  return failures || !spellings;
}
