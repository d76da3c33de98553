/* image.c: names of kernels, and what of a file's bytes is handed to the driver. */
#include "test.h"

#include <elf.h>
#include <stdlib.h>

#include "base/name.h"
#include "ops/ops.h"

static const char *plain(const char *mangled) {
  static char text[256];
  return base_plain_name(mangled, text, sizeof text) ? text : NULL;
}

static void names(void) {
  CHECK_TEXT(plain("_Z5scalePff"), "scale");
  CHECK_TEXT(plain("_ZN2ns5scaleEPff"), "ns::scale");
  CHECK_TEXT(plain("_Z5scaleIfEvPT_i"), "scale");
  CHECK_TEXT(plain("_ZN3foo3barIiE5scaleIfLi128EEEvPT_"), "foo::bar::scale");
  CHECK_TEXT(plain("_ZN12_GLOBAL__N_15scaleEPf"), "(anonymous namespace)::scale");
  CHECK_TEXT(plain("_ZL5scalePf"), "scale");
  CHECK_TEXT(plain("_Z4sortIN4cuda3std4pairIifEES3_Li4ELb1EEvPT_"), "sort");
  CHECK_TEXT(plain("_ZN3cub6detail6reduce18DeviceReduceKernelINS1_10policy_hubIfjN4cuda3std3__"
                   "44plusIvEEE10Policy1000EPfEEvT0_"),
             "cub::detail::reduce::DeviceReduceKernel");
  CHECK_TEXT(plain("_ZNSt6detail1kEv"), "std::detail::k");
  CHECK_TEXT(plain("_Z1kILin5EEvv"), "k");
  CHECK(!plain("scale") && !plain("_Z") && !plain("_Z9scale") && !plain("_ZN") && !plain("_ZNE") &&
        !plain("_Z5scaleI"));
  CHECK(!plain("_Z99999999999999999999x") && !plain(""));
  char small[4];
  CHECK(!base_plain_name("_Z5scalePf", small, sizeof small) && base_plain_name("_Z1kv", small, 2) &&
        !base_plain_name("_Z1kv", small, 1));
  CHECK(base_name_matches("scale", "_ZN2ns5scaleEPff", "ns::scale") &&
        base_name_matches("ns::scale", "_Z", "a::ns::scale"));
  CHECK(!base_name_matches("cale", "_ZN2ns5scaleEPff", "ns::scale") && !base_name_matches("", "_Z1k", "k"));
}

static muster_result parts_of(const void *bytes, size_t n, size_t *count, ops_part *first) {
  ops_part *parts = NULL;
  uint8_t *exact = malloc(n ? n : 1); /* no byte more: a sanitizer sees a read behind it */
  memcpy(exact, bytes, n);
  muster_result r = ops_image_parts("file", exact, n, &parts, count);
  if (r == MUSTER_OK) {
    *first = parts[0];
    free(parts);
  }
  free(exact);
  return r;
}

static size_t put_fatbin(uint8_t *to, uint64_t content) {
  uint32_t magic = 0xBA55ED50;
  uint16_t version = 1, header = 16;
  memcpy(to, &magic, 4);
  memcpy(to + 4, &version, 2);
  memcpy(to + 6, &header, 2);
  memcpy(to + 8, &content, 8);
  memset(to + 16, 7, content);
  return 16 + content;
}

static void simple(void) {
  size_t n;
  ops_part p;
  static const char ptx[] = "// made by hand\n.version 8.0\n.target sm_75\n";
  CHECK(parts_of(ptx, sizeof ptx - 1, &n, &p) == MUSTER_OK && n == 1 && p.kind == OPS_PTX &&
        p.bytes == sizeof ptx - 1);
  CHECK(parts_of(ptx, sizeof ptx, &n, &p) == MUSTER_OK && p.kind == OPS_PTX); /* with its NUL */
  CHECK(parts_of("", 0, &n, &p) == MUSTER_ERROR_IMAGE);
  CHECK_TEXT(muster_message(), "file: empty");
  CHECK(parts_of("hello", 5, &n, &p) == MUSTER_ERROR_IMAGE);
  CHECK_TEXT(muster_message(), "file: neither PTX (no .version), nor a fat binary, nor an ELF file");
  CHECK(parts_of(".version\0 6", 11, &n, &p) == MUSTER_ERROR_IMAGE);
  uint8_t fat[256];
  size_t a = put_fatbin(fat, 0), b = put_fatbin(fat + a, 40); /* nvcc writes an empty one first */
  CHECK(parts_of(fat, a + b, &n, &p) == MUSTER_OK && n == 1 && p.kind == OPS_FATBIN && p.bytes == 56);
  CHECK(parts_of(fat, a, &n, &p) == MUSTER_ERROR_NO_CODE);
  memset(fat + a + b, 0, 8);
  size_t c = put_fatbin(fat + a + b + 8, 24);
  CHECK(parts_of(fat, a + b + 8 + c, &n, &p) == MUSTER_OK && n == 2);
  for (size_t cut = 4; cut < a + b; cut++)
    CHECK(parts_of(fat, cut, &n, &p) != MUSTER_OK);
  put_fatbin(fat, 40);
  uint64_t huge = UINT64_MAX;
  memcpy(fat + 8, &huge, 8);
  CHECK(parts_of(fat, 56, &n, &p) == MUSTER_ERROR_IMAGE);
}

/* An ELF file with one section of that name and content. */
static size_t put_elf(uint8_t *to, const char *section, const uint8_t *content, size_t bytes) {
  static const char text[] = "\0.shstrtab\0";
  Elf64_Ehdr head = {.e_machine = EM_X86_64,
                     .e_type = ET_EXEC,
                     .e_shentsize = sizeof(Elf64_Shdr),
                     .e_shnum = 3,
                     .e_shstrndx = 1};
  memcpy(head.e_ident, ELFMAG, SELFMAG);
  head.e_ident[EI_CLASS] = ELFCLASS64;
  head.e_ident[EI_DATA] = ELFDATA2LSB;
  size_t names = sizeof head, names_bytes = sizeof text - 1 + strlen(section) + 1, at = names + names_bytes;
  memcpy(to + names, text, sizeof text - 1);
  strcpy((char *)to + names + sizeof text - 1, section);
  memcpy(to + at, content, bytes);
  head.e_shoff = at + bytes;
  Elf64_Shdr sections[3] = {
      {.sh_type = SHT_NULL},
      {.sh_type = SHT_STRTAB, .sh_name = 1, .sh_offset = names, .sh_size = names_bytes},
      {.sh_type = SHT_PROGBITS, .sh_name = sizeof text - 1, .sh_offset = at, .sh_size = bytes}};
  memcpy(to, &head, sizeof head);
  memcpy(to + head.e_shoff, sections, sizeof sections);
  return head.e_shoff + sizeof sections;
}

static void elf(void) {
  size_t n;
  ops_part p;
  uint8_t fat[128], file[1024];
  size_t bytes = put_fatbin(fat, 40);
  size_t whole = put_elf(file, ".nv_fatbin", fat, bytes);
  CHECK(parts_of(file, whole, &n, &p) == MUSTER_OK && n == 1 && p.kind == OPS_FATBIN && p.bytes == bytes);
  for (size_t cut = 0; cut < whole; cut++)
    CHECK(parts_of(file, cut, &n, &p) != MUSTER_OK);
  uint32_t random = 1;
  for (int round = 0; round < 200000; round++) { /* any bytes: an answer, no read outside */
    uint8_t was[3];
    size_t at[3];
    for (int i = 0; i < 3; i++) {
      random = random * 1664525 + 1013904223;
      at[i] = random >> 8 & 0x3ff;
      at[i] %= whole;
      was[i] = file[at[i]];
      random = random * 1664525 + 1013904223;
      file[at[i]] = random & 0x40000000 ? 0xff : (uint8_t)(random >> 16);
    }
    parts_of(file, whole, &n, &p);
    for (int i = 2; i >= 0; i--)
      file[at[i]] = was[i];
  }
  whole = put_elf(file, "__nv_relfatbin", fat, bytes);
  CHECK(parts_of(file, whole, &n, &p) == MUSTER_OK && n == 1);
  whole = put_elf(file, ".text", fat, bytes);
  CHECK(parts_of(file, whole, &n, &p) == MUSTER_ERROR_NO_CODE);
  CHECK_TEXT(muster_message(),
             "file: carries no CUDA kernels (no fat binary in .nv_fatbin or __nv_relfatbin)");
}

int main(void) {
  names();
  simple();
  elf();
  return failures ? 1 : 0;
}
