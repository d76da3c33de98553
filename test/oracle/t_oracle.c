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

int main(int argc, char **argv) {
  int failed = 0;
  if (argc > 1) {
    lit_test t;
    lit_set s = {0};
    uint64_t seed = strtoull(argv[1], NULL, 0);
    lit_random(&t, seed, 1 + seed % 4, 2 + seed / 4 % 7);
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
  printf("%u classics, %d failed\n", lit_n_classics(), failed);
  return failed != 0;
}
