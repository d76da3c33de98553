/* cubin.c: reads how many registers a thread of each kernel uses, as the real compiler decided, from a cubin:
 * an ELF file whose section .nv.info has (symbol, count) records, or, in older ones, whose text sections hold
 * the count in the upper byte of sh_info. Nothing else of a cubin is read: its code is not run.
 *
 * Every offset is checked; a damaged file gives fewer answers, never a crash.
 */
#include "driver/fatbin.h"

#include <elf.h>
#include <string.h>

enum { EM_CUDA_ABI = 190, INFO_FORMAT_SIZED = 4, INFO_REGISTERS = 0x2f };
#define TEXT_PREFIX ".text."

typedef struct cubin {
  const uint8_t *bytes;
  size_t n;
  Elf64_Ehdr head;
} cubin;

/* Whether [at, at + bytes) lies in the file. */
static bool inside(const cubin *c, uint64_t at, uint64_t bytes) {
  return at <= c->n && bytes <= c->n - at;
}

static bool section(const cubin *c, uint32_t index, Elf64_Shdr *out) {
  uint64_t at = c->head.e_shoff + (uint64_t)index * sizeof *out;
  if (index >= c->head.e_shnum || c->head.e_shoff > c->n || !inside(c, at, sizeof *out))
    return false;
  memcpy(out, c->bytes + at, sizeof *out);
  return out->sh_type == SHT_NOBITS || inside(c, out->sh_offset, out->sh_size);
}

/* A NUL-terminated string of a string section, or NULL. */
static const char *string(const cubin *c, const Elf64_Shdr *strings, uint32_t at) {
  if (strings->sh_type != SHT_STRTAB || at >= strings->sh_size)
    return NULL;
  const char *text = (const char *)c->bytes + strings->sh_offset + at;
  return memchr(text, 0, strings->sh_size - at) ? text : NULL;
}

typedef void teller(void *user, const char *kernel, uint32_t registers);

/* The records of .nv.info: format, attribute, and 16 bits of size or value; sized ones have that many bytes
 * behind. */
static bool tell_records(const cubin *c, const Elf64_Shdr *info, const Elf64_Shdr *symbols,
                         const Elf64_Shdr *names, teller *tell, void *user) {
  const uint8_t *at = c->bytes + info->sh_offset, *end = at + info->sh_size;
  bool any = false;
  while (end - at >= 4) {
    uint16_t size;
    memcpy(&size, at + 2, sizeof size);
    const uint8_t *body = at + 4;
    uint8_t format = at[0], attribute = at[1];
    at = body;
    if (format != INFO_FORMAT_SIZED)
      continue;
    if (size > end - body)
      break;
    at = body + size;
    if (attribute != INFO_REGISTERS || size < 8)
      continue;
    uint32_t words[2];
    memcpy(words, body, sizeof words);
    Elf64_Sym symbol;
    if (words[0] >= symbols->sh_size / sizeof symbol)
      continue;
    memcpy(&symbol, c->bytes + symbols->sh_offset + words[0] * sizeof symbol, sizeof symbol);
    const char *name = string(c, names, symbol.st_name);
    if (name && *name && words[1] > 0 && words[1] <= 255) {
      tell(user, name, words[1]);
      any = true;
    }
  }
  return any;
}

bool fatbin_cubin_registers(const void *image, size_t bytes, teller *tell, void *user) {
  cubin c = {.bytes = image, .n = bytes};
  if (bytes < sizeof c.head)
    return false;
  memcpy(&c.head, image, sizeof c.head);
  if (memcmp(c.head.e_ident, ELFMAG, SELFMAG) != 0 || c.head.e_ident[EI_CLASS] != ELFCLASS64 ||
      c.head.e_machine != EM_CUDA_ABI || c.head.e_shentsize != sizeof(Elf64_Shdr))
    return false;
  if (bytes == FATBIN_UNKNOWN_BYTES) /* sections may stand anywhere; the section table ends the file */
    c.n = (size_t)c.head.e_shoff + (size_t)c.head.e_shnum * sizeof(Elf64_Shdr);
  Elf64_Shdr names, s, info = {0}, symbols = {0}, symbol_names = {0};
  if (!section(&c, c.head.e_shstrndx, &names))
    return false;
  for (uint32_t i = 0; i < c.head.e_shnum; i++) {
    if (!section(&c, i, &s))
      return false;
    const char *name = string(&c, &names, s.sh_name);
    if (name && strcmp(name, ".nv.info") == 0 && s.sh_type != SHT_NOBITS)
      info = s;
    if (s.sh_type == SHT_SYMTAB && section(&c, s.sh_link, &symbol_names))
      symbols = s;
  }
  if (info.sh_size && symbols.sh_size && tell_records(&c, &info, &symbols, &symbol_names, tell, user))
    return true;
  bool any = false;
  for (uint32_t i = 0; i < c.head.e_shnum && section(&c, i, &s); i++) {
    const char *name = string(&c, &names, s.sh_name);
    if (name && strncmp(name, TEXT_PREFIX, strlen(TEXT_PREFIX)) == 0 && s.sh_info >> 24) {
      tell(user, name + strlen(TEXT_PREFIX), s.sh_info >> 24);
      any = true;
    }
  }
  return any;
}
