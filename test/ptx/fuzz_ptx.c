/* fuzz_ptx.c: a libFuzzer target. Any bytes are read as PTX; what is accepted must print, and the printed
 * text must be accepted again and print the same. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/text.h"
#include "ptx/ptx.h"

static void print_diags(const ptx_module *m, base_text *out) {
  base_diags_print(m->diags, out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
  base_text text = {0}, first = {0}, second = {0};
  ptx_module *m = ptx_module_new("input", (const char *)data, bytes);
  if (!m)
    return 0;
  if (ptx_check(m)) {
    for (uint32_t f = 0; f < m->n_funcs; f++) {
      const ptx_body *b = ptx_body_of(m, f);
      ptx_access access[2];
      for (uint32_t i = 0; b && i < b->n_insns; i++)
        ptx_accesses(b, &b->insns[i], access);
    }
    ptx_print(m, &first);
    ptx_module *again = ptx_module_new("printed", first.bytes, first.length);
    if (!first.failed && again) {
      if (!ptx_check(again)) {
        print_diags(again, &text);
        abort();
      }
      ptx_print(again, &second);
      if (!second.failed && strcmp(first.bytes, second.bytes) != 0)
        abort();
    }
    ptx_module_free(again);
  }
  print_diags(m, &text);
  base_text_free(&text);
  base_text_free(&first);
  base_text_free(&second);
  ptx_module_free(m);
  return 0;
}
