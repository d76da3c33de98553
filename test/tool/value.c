/* value.c: element types, .npy files, options for the device. Expected bits come from IEEE 754 and from files
 * that numpy wrote (test/cli compares with numpy itself where it is at hand). */
#include "test.h"

#include <stdlib.h>

#include "value.h"

static uint64_t parsed(const char *type, const char *text) {
  uint64_t bits = 0;
  const tool_type *t = tool_type_find(type, strlen(type));
  if (!t || !tool_type_parse(t, text, &bits))
    return 0xdeadbeefdeadbeef;
  return bits;
}
static const uint64_t none = 0xdeadbeefdeadbeef;

static void numbers(void) {
  CHECK(parsed("s8", "-128") == 0x80 && parsed("s8", "127") == 0x7f);
  CHECK(parsed("s8", "128") == none && parsed("s8", "-129") == none);
  CHECK(parsed("u8", "255") == 0xff && parsed("u8", "256") == none && parsed("u8", "-1") == none);
  CHECK(parsed("i32", "-5") == 0xfffffffb && parsed("s32", "+5") == 5);
  CHECK(parsed("s64", "-9223372036854775808") == (uint64_t)1 << 63 &&
        parsed("s64", "9223372036854775808") == none);
  CHECK(parsed("u64", "18446744073709551615") == UINT64_MAX && parsed("u64", "18446744073709551616") == none);
  CHECK(parsed("b32", "0xdeadbeef") == 0xdeadbeef && parsed("b16", "0x10000") == none);
  CHECK(parsed("s32", "") == none && parsed("s32", " 5") == none && parsed("s32", "5 ") == none);
  CHECK(parsed("s32", "5x") == none && parsed("s32", "--5") == none && parsed("s32", "0x") == none);
  CHECK(parsed("s32", "010") == 10); /* no octal surprise */
  CHECK(!tool_type_find("s128", 4) && !tool_type_find("", 0) && !tool_type_find("float", 5) &&
        !tool_type_find("s3", 2));
}

static void floats(void) {
  CHECK(parsed("f32", "0.5") == 0x3f000000 && parsed("f64", "-2") == 0xc000000000000000);
  CHECK(parsed("f32", "inf") == 0x7f800000 && (parsed("f32", "nan") & 0x7fc00000) == 0x7fc00000);
  CHECK(parsed("f32", "0x1p-149") == 1 && parsed("f32", "0.5f") == none && parsed("f32", "") == none);
  /* half: exact, ties to even, subnormals, overflow */
  CHECK(parsed("f16", "1") == 0x3c00 && parsed("f16", "-0") == 0x8000 && parsed("f16", "65504") == 0x7bff);
  CHECK(parsed("f16", "65519.99") == 0x7bff && parsed("f16", "65520") == 0x7c00 &&
        parsed("f16", "1e300") == 0x7c00);
  CHECK(parsed("f16", "2049") == 0x6800 && parsed("f16", "2051") == 0x6802);
  CHECK(parsed("f16", "0x1p-24") == 1 && parsed("f16", "0x1p-25") == 0 && parsed("f16", "0x1.8p-24") == 2);
  CHECK(parsed("f16", "0x1.ff8p-15") == 0x03ff && parsed("f16", "0x1.ffcp-15") == 0x0400);
  CHECK((parsed("f16", "nan") & 0x7e00) == 0x7e00 && parsed("f16", "-inf") == 0xfc00);
  CHECK(parsed("bf16", "1") == 0x3f80 && parsed("bf16", "257") == 0x4380 && parsed("bf16", "259") == 0x4382);
  CHECK(parsed("bf16", "3.4e38") == 0x7f80 && parsed("bf16", "0x1p-133") == 1);
}

static void sequences(void) {
  const tool_type *f32 = tool_type_find("f32", 3), *u8 = tool_type_find("u8", 2),
                  *f16 = tool_type_find("f16", 3);
  float value, again, sum = 0, least = 1, most = 0;
  for (uint64_t i = 0; i < 100000; i++) {
    tool_type_random(f32, 7, i, &value);
    sum += value / 100000;
    least = value < least ? value : least;
    most = value > most ? value : most;
    CHECK(value >= 0 && value < 1);
  }
  CHECK(sum > 0.49f && sum < 0.51f && least < 0.001f && most > 0.999f);
  tool_type_random(f32, 7, 5, &value);
  tool_type_random(f32, 7, 5, &again);
  CHECK(value == again);
  tool_type_random(f32, 8, 5, &again);
  CHECK(value != again);
  unsigned seen[256] = {0}, all = 0;
  for (uint64_t i = 0; i < 10000; i++) {
    uint8_t byte;
    tool_type_random(u8, 0, i, &byte);
    all += seen[byte]++ == 0;
    uint16_t half;
    tool_type_random(f16, 0, i, &half);
    CHECK(half < 0x3c00); /* below 1, and not rounded up to it */
  }
  CHECK(all == 256);
  tool_type_from_number(f32, 16777217, &value);
  CHECK(value == 16777216.0f);
}

/* ------------------------------------------------------------------ .npy */

static size_t make(uint8_t *file, unsigned version, const char *header, size_t elements) {
  static const uint8_t mark[] = {0x93, 'N', 'U', 'M', 'P', 'Y'};
  size_t n = strlen(header), at = version == 1 ? 10 : 12;
  memcpy(file, mark, 6);
  file[6] = (uint8_t)version;
  file[7] = 0;
  for (size_t i = 8; i < at; i++)
    file[i] = (uint8_t)(n >> (8 * (i - 8)));
  memcpy(file + at, header, n);
  for (size_t i = 0; i < elements; i++)
    file[at + n + i] = (uint8_t)i;
  return at + n + elements;
}

static const char *read(unsigned version, const char *header, size_t elements, tool_npy *out) {
  static char why[256];
  uint8_t *file = malloc(4096), *exact;
  size_t n = make(file, version, header, elements);
  exact = malloc(n); /* no byte more: a sanitizer sees a read behind it */
  memcpy(exact, file, n);
  const char *r = tool_npy_read(exact, n, out, why, sizeof why);
  free(file);
  free(exact);
  return r;
}

static void npy_good(void) {
  tool_npy n;
  CHECK(!read(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }   \n", 24, &n));
  CHECK(n.n_dims == 2 && n.dims[0] == 2 && n.dims[1] == 3 && n.bytes == 24 && n.element_bytes == 4);
  CHECK_TEXT(n.descr, "<f4");
  CHECK(!read(2, "{\"shape\":(7,),\"descr\":\"|u1\",\"fortran_order\":False}\n", 7, &n) && n.n_dims == 1 &&
        n.dims[0] == 7);
  CHECK(!read(3, "{'descr': '<i8', 'fortran_order': False, 'shape': ()}\n", 8, &n) && n.n_dims == 0 &&
        n.bytes == 8);
  CHECK(!read(1, "{'descr': '<f2', 'fortran_order': True, 'shape': (4,)}\n", 8,
              &n)); /* one dimension: the same */
  CHECK(!read(1, "{'descr': '<c16', 'fortran_order': False, 'shape': (1,)}\n", 16, &n));
  CHECK(!read(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (0, 5)}\n", 0, &n) && n.bytes == 0);
  CHECK(!read(1, "{'descr': '|b1', 'fortran_order': False, 'shape': (3,)}\n", 3, &n));
  size_t bytes;
  tool_npy out = {.descr = "<f4", .n_dims = 2, .dims = {3, 5}};
  char *file = tool_npy_header(&out, &bytes), *whole = calloc(1, bytes + 60), why[256];
  CHECK(bytes % 64 == 0 && file[bytes - 1] == '\n');
  memcpy(whole, file, bytes);
  CHECK(!tool_npy_read((uint8_t *)whole, bytes + 60, &n, why, sizeof why) && n.dims[0] == 3 &&
        n.dims[1] == 5);
  free(file);
  free(whole);
}

static void npy_bad(void) {
  tool_npy n;
  CHECK_TEXT(read(1, "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3)}\n", 24, &n),
             "its elements are in Fortran order; numpy.ascontiguousarray makes it C order");
  CHECK_TEXT(read(1, "{'descr': '|O', 'fortran_order': False, 'shape': (2,)}\n", 16, &n),
             "its elements are Python objects");
  CHECK_TEXT(read(1, "{'descr': '<U5', 'fortran_order': False, 'shape': (2,)}\n", 40, &n),
             "its elements are text (<U5)");
  CHECK_TEXT(read(1, "{'descr': '>f4', 'fortran_order': False, 'shape': (2,)}\n", 8, &n),
             "its elements are big-endian (>f4)");
  CHECK_TEXT(read(1, "{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (2,)}\n", 8, &n),
             "its elements are records (a structured type)");
  CHECK_TEXT(read(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}\n", 7, &n),
             "a truncated .npy file: 8 bytes of elements are announced, 7 are there");
  CHECK_TEXT(read(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}\n", 9, &n),
             "1 bytes more than its header announces");
  CHECK_TEXT(
      read(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296, 4)}\n", 7, &n),
      "damaged header: more elements than 64 bits can count");
  CHECK_TEXT(read(1, "{'descr': '<f4', 'fortran_order': False}\n", 0, &n),
             "damaged header: 'shape' is missing");
  CHECK_TEXT(read(1, "{'descr': '<f4', 'fortran_order': maybe, 'shape': ()}\n", 0, &n),
             "damaged header: 'fortran_order' is neither True nor False");
  CHECK_TEXT(read(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2,-1)}\n", 8, &n),
             "damaged header: 'shape' holds something that is no size");
  CHECK_TEXT(read(4, "{'descr': '<f4', 'fortran_order': False, 'shape': ()}\n", 4, &n),
             "a .npy file of version 4.0; 1.0, 2.0 and 3.0 are known");
  CHECK_TEXT(read(1, "{'descr': '<f3', 'fortran_order': False, 'shape': ()}\n", 3, &n),
             "elements of type <f3, which no CUDA type holds");
  CHECK_TEXT(read(1, "", 0, &n), "damaged header: no dictionary");
  /* Cut anywhere, or with any byte replaced: an answer, no crash, and never more bytes than the file has. */
  uint8_t file[256];
  char why[256];
  size_t whole = make(file, 1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n", 24);
  for (size_t cut = 0; cut < whole; cut++) {
    uint8_t *part = malloc(cut + 1);
    memcpy(part, file, cut);
    CHECK(tool_npy_read(part, cut, &n, why, sizeof why) != NULL);
    free(part);
  }
  for (size_t at = 0; at < whole; at++)
    for (int byte = 0; byte < 256; byte++) {
      uint8_t was = file[at];
      file[at] = (uint8_t)byte;
      if (!tool_npy_read(file, whole, &n, why, sizeof why))
        CHECK(n.data + n.bytes == whole);
      file[at] = was;
    }
}

/* ------------------------------------------------------------------ options */

static void options(void) {
  char *words[] = {(char *)"--gpu=h200", (char *)"--seed",     (char *)"0x10",     (char *)"--arg",
                   (char *)"s32:5",      (char *)"--arg=null", (char *)"--kernel", (char *)"k",
                   (char *)"--grid=2,3", (char *)"--",         (char *)"--seed",   NULL};
  tool_options o;
  CHECK(tool_options_parse(TOOL_RUN, 11, words, &o) == TOOL_OK);
  CHECK_TEXT(o.gpu, "h200");
  CHECK(o.seed == 16 && o.has.seed && !o.has.threads && o.arg.n == 2 && o.n_rest == 1);
  CHECK(o.grid.x == 2 && o.grid.y == 3 && o.grid.z == 1);
  CHECK_TEXT(o.rest[0], "--seed");
  char *text = tool_options_for_device(&o);
  CHECK_TEXT(text, "run --gpu=h200 --seed=16");
  free(text);
  o.gpu = "a b%\"'\t\x7f";
  text = tool_options_for_device(&o);
  CHECK_TEXT(text, "run --gpu=a%20b%25%22%27%09%7F --seed=16");
  free(text);
  static const char *const names[] = {"grid", "block", "shared"};
  CHECK_TEXT(tool_nearest("gird", names, 3), "grid");
  CHECK_TEXT(tool_nearest("blokc", names, 3), "block");
  CHECK(tool_nearest("xyzzy", names, 3) == NULL);
  tool_options_free(&o);
}

int main(void) {
  numbers();
  floats();
  sequences();
  npy_good();
  npy_bad();
  options();
  return failures ? 1 : 0;
}

/* compile.c asks for these; nothing here compiles. */
unsigned tool_profile_sm(const char *name) {
  return name ? 0 : 1;
}
int tool_parent_run(const tool_child *c, const tool_options *o) {
  return c && o ? TOOL_OURS : TOOL_USAGE;
}
