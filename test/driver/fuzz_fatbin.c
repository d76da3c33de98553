/* fuzz_fatbin.c: any bytes as an image. libFuzzer: clang -fsanitize=fuzzer,address,undefined. */
#include <stdlib.h>
#include <string.h>

#include "driver/fatbin.h"

static void tell(void *user, const char *kernel, uint32_t registers) {
  *(size_t *)user += strlen(kernel) + registers;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
  fatbin_entry e;
  const char *error = NULL;
  char text[64];
  size_t sum = 0;
  fatbin_format_of(bytes, n);
  for (size_t at = 0; fatbin_next(bytes, n, &at, &e, &error);) {
    size_t m;
    if (e.plain_bytes > 1 << 24)
      continue;
    uint8_t *plain = fatbin_unpack(&e, &m, &error);
    if (plain)
      fatbin_cubin_registers(plain, m, tell, &sum);
    free(plain);
  }
  fatbin_describe(bytes, n, text, sizeof text);
  fatbin_cubin_registers(bytes, n, tell, &sum);
  return 0;
}
