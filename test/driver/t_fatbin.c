/* t_fatbin.c: fat binaries and cubins, good ones and every way to damage them. The images are made here, by
 * the format's description, with all three packings. Run under AddressSanitizer it shows that nothing is read
 * beyond an image. */
#include <elf.h>
#include <lz4.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "driver/fatbin.h"

#define CHECK(condition)                                                        \
  do {                                                                          \
    if (!(condition)) {                                                         \
      fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition); \
      exit(1);                                                                  \
    }                                                                           \
  } while (0)

static const char ptx[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry f() { ret; }\n"
    "// the same again and again, so that it packs well well well well well well well\n";

typedef struct image {
  uint8_t bytes[16384];
  size_t n;
} image;

static void put(image *to, const void *bytes, size_t n) {
  CHECK(to->n + n <= sizeof to->bytes);
  memcpy(to->bytes + to->n, bytes, n);
  to->n += n;
}

static void put_number(image *to, uint64_t value, size_t n) {
  put(to, &value, n);
}

static void begin(image *to) {
  to->n = 0;
  put_number(to, 0xBA55ED50u, 4);
  put_number(to, 1, 2);
  put_number(to, 16, 2);
  put_number(to, 0, 8);
}

static void entry(image *to, unsigned kind, unsigned sm, uint64_t flags, const void *payload, size_t stored,
                  size_t plain) {
  size_t padded = (stored + 7) & ~(size_t)7;
  bool packed = flags & (0x8000 | 0x2000);
  put_number(to, kind, 2);
  put_number(to, 0x101, 2);
  put_number(to, 64, 4);
  put_number(to, padded, 8);
  put_number(to, packed ? stored : 0, 4);
  put_number(to, 0, 4);
  put_number(to, 0, 2);
  put_number(to, 8, 2);
  put_number(to, sm, 4);
  put_number(to, 0, 8);
  put_number(to, flags, 8);
  put_number(to, 0, 8);
  put_number(to, packed ? plain : 0, 8);
  put(to, payload, stored);
  static const uint8_t zeros[8];
  put(to, zeros, padded - stored);
  uint64_t all = to->n - 16;
  memcpy(to->bytes + 8, &all, 8);
}

static void make(image *to) {
  char packed[1024];
  begin(to);
  entry(to, FATBIN_KIND_PTX, 75, 0x11, ptx, sizeof ptx, 0);
  size_t n = ZSTD_compress(packed, sizeof packed, ptx, sizeof ptx, 3);
  CHECK(!ZSTD_isError(n) && n < sizeof ptx);
  entry(to, FATBIN_KIND_PTX, 80, 0x8011, packed, n, sizeof ptx);
  n = (size_t)LZ4_compress_default(ptx, packed, sizeof ptx, sizeof packed);
  CHECK(n > 0 && n < sizeof ptx);
  entry(to, FATBIN_KIND_PTX, 90, 0x102011, packed, n, sizeof ptx);
  entry(to, FATBIN_KIND_CUBIN, 86, 0x11, "\177ELF not really", 16, 0);
  entry(to, 77, 100, 0x11, "some kind that nobody knows", 28, 0);
}

static void reads_what_it_should(void) {
  static const struct {
    unsigned kind;
    int sm;
    char suffix;
  } want[] = {{1, 75, 0}, {1, 80, 0}, {1, 90, 'a'}, {2, 86, 0}, {77, 100, 0}};
  static image im;
  fatbin_entry e;
  const char *error = NULL;
  size_t at = 0;
  make(&im);
  CHECK(fatbin_format_of(im.bytes, im.n) == FATBIN_FAT);
  for (size_t i = 0; i < 5; i++) {
    CHECK(fatbin_next(im.bytes, im.n, &at, &e, &error));
    CHECK(e.kind == want[i].kind && e.sm == want[i].sm && e.suffix == want[i].suffix);
    if (e.kind != FATBIN_KIND_PTX)
      continue;
    size_t n;
    uint8_t *text = fatbin_unpack(&e, &n, &error);
    CHECK(text && n >= sizeof ptx && memcmp(text, ptx, sizeof ptx) == 0);
    CHECK(e.ptx_version == 80);
    free(text);
  }
  CHECK(!fatbin_next(im.bytes, im.n, &at, &e, &error) && !error);
  at = 0; /* and without knowing its length */
  size_t count = 0;
  while (fatbin_next(im.bytes, FATBIN_UNKNOWN_BYTES, &at, &e, &error))
    count++;
  CHECK(count == 5 && !error);
  char text[200];
  fatbin_describe(im.bytes, im.n, text, sizeof text);
  CHECK(strcmp(text, "PTX sm_75, sm_80, sm_90a; cubin sm_86") == 0);
  fatbin_describe(im.bytes, im.n, text, 12); /* as much as fits */
  CHECK(strlen(text) < 12);
  begin(&im);
  at = 0;
  CHECK(!fatbin_next(im.bytes, im.n, &at, &e, &error) && !error); /* an empty one is no error */
}

static void formats(void) {
  CHECK(fatbin_format_of(ptx, sizeof ptx) == FATBIN_PTX);
  CHECK(fatbin_format_of("  // c\n.version 7.0", FATBIN_UNKNOWN_BYTES) == FATBIN_PTX);
  CHECK(fatbin_format_of("", FATBIN_UNKNOWN_BYTES) == FATBIN_NOTHING);
  CHECK(fatbin_format_of(".", FATBIN_UNKNOWN_BYTES) == FATBIN_PTX);
  CHECK(fatbin_format_of("hello", 5) == FATBIN_NOTHING);
  CHECK(fatbin_format_of(NULL, 0) == FATBIN_NOTHING);
  CHECK(fatbin_format_of("", 0) == FATBIN_NOTHING);
  CHECK(fatbin_format_of("\177ELF", 4) == FATBIN_ELF);
  int sm;
  char suffix;
  CHECK(fatbin_ptx_target(ptx, &sm, &suffix) && sm == 80 && suffix == 0);
  CHECK(fatbin_ptx_target(".target sm_103f, debug", &sm, &suffix) && sm == 103 && suffix == 'f');
  CHECK(!fatbin_ptx_target(".target debug", &sm, &suffix));
  CHECK(!fatbin_ptx_target("", &sm, &suffix));
}

static void wrappers(void) {
  struct {
    uint32_t magic, version;
    const void *fat;
    const void *const *units;
  } w = {0x466243B1, 1, ptx, NULL};
  const void *fat;
  const void *const *units, *list[] = {ptx, NULL};
  CHECK(fatbin_format_of(&w, FATBIN_UNKNOWN_BYTES) == FATBIN_WRAPPER);
  CHECK(fatbin_unwrap(&w, &fat, &units) && fat == ptx && !units);
  w.version = 2;
  w.units = list;
  CHECK(fatbin_unwrap(&w, &fat, &units) && units == list);
  w.version = 3;
  CHECK(!fatbin_unwrap(&w, &fat, &units));
}

/* Everything that may be asked of an image, in a buffer that ends where it does. */
static unsigned use(const uint8_t *bytes, size_t n) {
  uint8_t *exact = malloc(n ? n : 1);
  CHECK(exact);
  memcpy(exact, bytes, n);
  fatbin_entry e;
  const char *error = NULL;
  char text[64];
  unsigned seen = 0;
  fatbin_format_of(exact, n);
  for (size_t at = 0, turns = 0; fatbin_next(exact, n, &at, &e, &error) && turns < 1000; turns++) {
    size_t m;
    uint8_t *plain = fatbin_unpack(&e, &m, &error);
    seen += plain != NULL;
    free(plain);
  }
  fatbin_describe(exact, n, text, sizeof text);
  free(exact);
  return seen + (error != NULL) * 100;
}

static void damaged(void) {
  static image im;
  make(&im);
  for (size_t n = 0; n < im.n; n++)
    CHECK(use(im.bytes, n) >= 100); /* cut off: always an error */
  for (size_t at = 0; at < im.n; at++)
    for (unsigned bit = 0; bit < 8; bit++) {
      im.bytes[at] ^= (uint8_t)(1u << bit);
      use(im.bytes, im.n);
      im.bytes[at] ^= (uint8_t)(1u << bit);
    }
  uint32_t seed = 1;
  for (int turn = 0; turn < 20000; turn++) {
    image bad = im;
    for (int k = 0; k < 4; k++) {
      seed = seed * 1664525u + 1013904223u;
      bad.bytes[(seed >> 8) % im.n] = (uint8_t)(seed >> 24);
    }
    use(bad.bytes, bad.n);
  }
}

/* ------------------------------------------------------------------ cubins */

static uint32_t told;
static void tell(void *user, const char *kernel, uint32_t registers) {
  (void)user;
  told += strcmp(kernel, "kernel_a") == 0   ? registers
          : strcmp(kernel, "kernel_b") == 0 ? registers * 1000
                                            : 1000000;
}

/* An ELF file with two kernels: their counts in .nv.info, or only in the text sections. */
static void make_cubin(image *to, bool with_info) {
  static const char names[] = "\0.shstrtab\0.symtab\0.strtab\0.nv.info\0.text.kernel_a\0.text.kernel_b";
  static const char strings[] = "\0kernel_a\0kernel_b";
  enum { N = 7 };
  Elf64_Ehdr head = {
      .e_machine = 190, .e_ehsize = sizeof head, .e_shentsize = sizeof(Elf64_Shdr), .e_shnum = N};
  Elf64_Shdr s[N] = {0};
  Elf64_Sym symbols[3] = {{0}, {.st_name = 1}, {.st_name = 10}};
  uint32_t info[] = {0x00082f04, 1, 24, 0x00081104, 1, 0, 0x00082f04, 2, 40};
  memcpy(head.e_ident, ELFMAG, SELFMAG);
  head.e_ident[EI_CLASS] = ELFCLASS64;
  head.e_shstrndx = 1;
  to->n = 0;
  put(to, &head, sizeof head);
  s[1] = (Elf64_Shdr){.sh_name = 1, .sh_type = SHT_STRTAB, .sh_offset = to->n, .sh_size = sizeof names};
  put(to, names, sizeof names);
  s[2] = (Elf64_Shdr){
      .sh_name = 11, .sh_type = SHT_SYMTAB, .sh_offset = to->n, .sh_size = sizeof symbols, .sh_link = 3};
  put(to, symbols, sizeof symbols);
  s[3] = (Elf64_Shdr){.sh_name = 19, .sh_type = SHT_STRTAB, .sh_offset = to->n, .sh_size = sizeof strings};
  put(to, strings, sizeof strings);
  s[4] = (Elf64_Shdr){
      .sh_name = 27, .sh_type = SHT_PROGBITS, .sh_offset = to->n, .sh_size = with_info ? sizeof info : 0};
  put(to, info, sizeof info);
  s[5] = (Elf64_Shdr){.sh_name = 36, .sh_type = SHT_PROGBITS, .sh_offset = to->n, .sh_info = 24u << 24};
  s[6] = (Elf64_Shdr){.sh_name = 51, .sh_type = SHT_PROGBITS, .sh_offset = to->n, .sh_info = 40u << 24};
  head.e_shoff = to->n;
  put(to, s, sizeof s);
  memcpy(to->bytes, &head, sizeof head);
}

static void cubins(void) {
  static image im;
  for (int with_info = 0; with_info < 2; with_info++) {
    make_cubin(&im, with_info);
    told = 0;
    CHECK(fatbin_cubin_registers(im.bytes, im.n, tell, NULL));
    CHECK(told == 24 + 40 * 1000);
    for (size_t n = 0; n < im.n; n++) {
      uint8_t *exact = malloc(n ? n : 1);
      memcpy(exact, im.bytes, n);
      fatbin_cubin_registers(exact, n, tell, NULL);
      free(exact);
    }
    for (size_t at = 0; at < im.n * 8; at++) {
      uint8_t *exact = malloc(im.n);
      memcpy(exact, im.bytes, im.n);
      exact[at / 8] ^= (uint8_t)(1u << at % 8);
      fatbin_cubin_registers(exact, im.n, tell, NULL);
      free(exact);
    }
  }
  CHECK(!fatbin_cubin_registers("hello", 5, tell, NULL));
}

int main(void) {
  reads_what_it_should();
  formats();
  wrappers();
  damaged();
  cubins();
  puts("fat binaries and cubins are read, damaged ones refused");
  return 0;
}
