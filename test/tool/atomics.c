/* atomics.c: what muster info --atomics says is what the table of PTX instructions says. */
#include "test.h"

#include <stdbool.h>
#include <stdlib.h>

#include "ptx/ptx.h"

/* "a|b|c" holds `word`. */
static bool among(const char *list, size_t bytes, const char *word) {
  size_t n = strlen(word);
  for (size_t at = 0; at < bytes;) {
    size_t end = at;
    while (end < bytes && list[end] != '|')
      end++;
    if (end - at == n && memcmp(list + at, word, n) == 0)
      return true;
    at = end + 1;
  }
  return false;
}

/* The lowest sm whose `atom` has operation and type as scalars; 0: none has. */
static unsigned lowest(const char *operation, const char *type) {
  unsigned best = 0;
  for (unsigned f = 0; f < ptx_form_count(); f++) {
    const ptx_form_info *form = ptx_form_get(f);
    const ptx_op_info *op = ptx_op_get(form->op);
    if (strcmp(op->name, "atom") != 0 || strcmp(op->class, "vec") == 0)
      continue;
    const char *rop = strstr(form->words, "rop:"), *last = strrchr(form->words, ' ');
    if (!rop || !last || !among(rop + 4, strcspn(rop + 4, " "), operation) ||
        !among(last + 1, strlen(last + 1), type))
      continue;
    unsigned sm = form->sm < 60 ? 60 : form->sm;
    if (best == 0 || sm < best)
      best = sm;
  }
  return best;
}

int main(void) {
  static const struct {
    const char *operation, *elem;
    unsigned sm;
  } rows[] = {
#define ATOMIC(operation, elem, sm, otherwise) {#operation, #elem, sm},
#include "muster/atomics.def"
  };
  CHECK(sizeof rows / sizeof *rows > 50);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char type[8];
    snprintf(type, sizeof type, "%s", rows[i].elem);
    const char *operation = rows[i].operation, *digits = type + strcspn(type, "0123456789");
    char bits[8];
    snprintf(bits, sizeof bits, "b%s", digits);
    bool untyped = strcmp(operation, "exch") == 0 || strcmp(operation, "cas") == 0 ||
                   strcmp(operation, "and") == 0 || strcmp(operation, "or") == 0 ||
                   strcmp(operation, "xor") == 0;
    if (untyped)
      strcpy(type, bits);
    else if (strcmp(operation, "add") == 0 && strcmp(type, "s64") == 0)
      strcpy(type, "u64"); /* the same bits */
    unsigned sm = lowest(operation, type);
    if (sm != rows[i].sm) {
      failures++;
      fprintf(stderr, "%s %s: the table of instructions says sm_%u, atomics.def sm_%u\n", operation,
              rows[i].elem, sm, rows[i].sm);
    }
  }
  return failures ? 1 : 0;
}
