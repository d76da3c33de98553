/* t_oracle.c: the enumerator agrees with every published verdict of classics.def. With an argument N it
 * prints the N-th random test and what the model allows it. */
#include <stdlib.h>

#include "litmus.h"

static void show(const lit_test *t, const lit_set *s) {
  lit_print(t, stdout);
  for (size_t i = 0; i < s->n; i++) {
    lit_print_outcome(t, &s->items[i], stdout);
    printf("\n");
  }
}

/* Every order and scope of every operation, and every placement, is among the tests that t_litmus runs. */
static int covers(uint64_t tests) {
  static uint32_t seen[LIT_BAR][LIT_SC + 1][LIT_SYS + 1], places[4], barriers[2];
  static const uint32_t orders[LIT_BAR] = {
      [LIT_LD] = 1 << LIT_WEAK | 1 << LIT_VOLATILE | 1 << LIT_RELAXED | 1 << LIT_ACQUIRE,
      [LIT_ST] = 1 << LIT_WEAK | 1 << LIT_VOLATILE | 1 << LIT_RELAXED | 1 << LIT_RELEASE,
      [LIT_EXCH] = 1 << LIT_RELAXED | 1 << LIT_ACQUIRE | 1 << LIT_RELEASE | 1 << LIT_ACQ_REL,
      [LIT_ADD] = 1 << LIT_RELAXED | 1 << LIT_ACQUIRE | 1 << LIT_RELEASE | 1 << LIT_ACQ_REL,
      [LIT_CAS] = 1 << LIT_RELAXED | 1 << LIT_ACQUIRE | 1 << LIT_RELEASE | 1 << LIT_ACQ_REL,
      [LIT_RED] = 1 << LIT_RELAXED | 1 << LIT_RELEASE,
      [LIT_FENCE] = 1 << LIT_ACQ_REL | 1 << LIT_SC};
  int missing = 0;
  for (uint64_t seed = 0; seed < tests; seed++) {
    lit_test t;
    lit_nth(&t, seed);
    for (uint32_t i = 0; i < t.n_threads; i++)
      for (uint32_t k = 0; k < t.n_ops[i]; k++) {
        const lit_op *o = &t.ops[i][k];
        if (o->kind >= LIT_BAR)
          barriers[o->kind - LIT_BAR]++;
        else
          seen[o->kind][o->order][o->scope]++;
      }
    for (uint32_t i = 1; i < t.n_threads; i++)
      places[t.block[i] != t.block[0] ? 2 : t.warp[i] != t.warp[0]]++;
    places[3] += t.shared;
  }
  for (int kind = 0; kind < LIT_BAR; kind++)
    for (int order = 0; order <= LIT_SC; order++)
      for (int scope = 0; scope <= LIT_SYS; scope++)
        if (orders[kind] >> order & 1 && (scope == LIT_GPU || order > LIT_VOLATILE) &&
            !seen[kind][order][scope]) {
          printf("no random test has operation %d with order %d and scope %d\n", kind, order, scope);
          missing++;
        }
  if (!places[0] || !places[1] || !places[2] || !places[3] || !barriers[0] || !barriers[1])
    missing += printf("no random test has one of the placements or barriers\n") > 0;
  return missing;
}

int main(int argc, char **argv) {
  int failed = 0;
  if (argc > 1) {
    lit_test t;
    lit_set s = {0};
    uint64_t seed = strtoull(argv[1], NULL, 0);
    lit_nth(&t, seed);
    lit_allowed(&t, &s);
    show(&t, &s);
    lit_set_free(&s);
    return 0;
  }
  for (uint32_t i = 0; i < lit_n_classics(); i++) {
    lit_classic c;
    lit_set s = {0};
    if (!lit_classic_get(i, &c)) {
      printf("%s: cannot be read\n", c.test.name);
      failed++;
      continue;
    }
    lit_allowed(&c.test, &s);
    bool seen = false;
    for (size_t k = 0; k < s.n; k++) {
      seen |= lit_classic_is(&c, &s.items[k]);
      if (!lit_allows(&c.test, &s.items[k])) {
        printf("%s: the narrow search does not find an outcome of the wide one\n", c.test.name);
        failed++;
      }
    }
    if (seen != c.allowed) {
      printf("%s: should be %s\n", c.test.name, c.allowed ? "allowed" : "forbidden");
      show(&c.test, &s);
      failed++;
    }
    lit_set_free(&s);
  }
  failed += covers(1500);
  printf("%u classics, %d failed\n", lit_n_classics(), failed);
  return failed != 0;
}
