/* image.c: finds what the driver can load in a file's bytes: PTX text, fat binaries, a cubin, or an ELF file
 * with fat binaries in its sections.
 *
 * The driver is given a pointer without a size; so sizes are checked here, and a part is handed on only if
 * all of it is there. What stands inside a fat binary or a cubin is the driver's business. Any bytes may come
 * in.
 */
#include "ops.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum { FATBIN_MAGIC = 0xBA55ED50, FATBIN_HEADER = 16, FATBIN_ENTRY = 64, FATBIN_PTX = 1, EM_NVIDIA = 190 };

typedef struct list {
  ops_part *parts;
  size_t n;
} list;

static uint64_t number(const uint8_t *at, unsigned bytes) {
  uint64_t value = 0;
  memcpy(&value, at, bytes); /* both machines that muster runs on are little-endian, as the files are */
  return value;
}

static muster_result add(list *l, ops_part part) {
  ops_part *more = realloc(l->parts, (l->n + 1) * sizeof *more);
  if (!more)
    return ops_no_memory();
  l->parts = more;
  l->parts[l->n++] = part;
  return MUSTER_OK;
}

static bool is_fatbin(const uint8_t *at, size_t bytes) {
  return bytes >= 4 && number(at, 4) == FATBIN_MAGIC;
}

/* Whether one of the entries of a fat binary is PTX. Entries: u16 kind, u16, u32 header bytes, u64 content
 * bytes. */
static bool holds_ptx(const uint8_t *at, size_t bytes) {
  while (bytes >= FATBIN_ENTRY) {
    uint64_t header = number(at + 4, 4), content = number(at + 8, 8);
    if (number(at, 2) == FATBIN_PTX)
      return true;
    if (header < FATBIN_ENTRY || header > bytes || content > bytes - header)
      return false; /* damaged: the driver will say how */
    at += header + content;
    bytes -= header + content;
  }
  return false;
}

/* One or several fat binaries, one behind the other, zeros between them. */
static muster_result add_fatbins(list *l, const char *name, const uint8_t *at, size_t bytes,
                                 bool relocatable) {
  size_t i = 0;
  while (i < bytes) {
    if (!is_fatbin(at + i, bytes - i)) {
      if (at[i] != 0)
        return ops_fail(MUSTER_ERROR_IMAGE, "%s: damaged fat binary: no header at byte %zu of its section",
                        name, i);
      i++;
      continue;
    }
    if (bytes - i < FATBIN_HEADER)
      return ops_fail(MUSTER_ERROR_IMAGE, "%s: truncated fat binary: its header is cut off", name);
    uint64_t header = number(at + i + 6, 2), content = number(at + i + 8, 8);
    if (header < FATBIN_HEADER || header > bytes - i || content > bytes - i - header)
      return ops_fail(MUSTER_ERROR_IMAGE, "%s: truncated fat binary: %llu bytes are announced, %zu are there",
                      name, (unsigned long long)content, bytes - i - (size_t)header);
    size_t whole = (size_t)(header + content);
    ops_part part = {.kind = OPS_FATBIN,
                     .at = at + i,
                     .bytes = whole,
                     .has_ptx = holds_ptx(at + i + header, (size_t)content),
                     .relocatable = relocatable};
    muster_result r = content > 0 ? add(l, part) : MUSTER_OK; /* empty ones occur */
    if (r != MUSTER_OK)
      return r;
    i += whole;
  }
  return MUSTER_OK;
}

static muster_result damaged(const char *name) {
  return ops_fail(MUSTER_ERROR_IMAGE, "%s: truncated or damaged ELF file", name);
}

static muster_result add_elf(list *l, const char *name, const uint8_t *image, size_t bytes) {
  Elf64_Ehdr head;
  if (bytes < sizeof head)
    return damaged(name);
  memcpy(&head, image, sizeof head);
  if (head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_ident[EI_DATA] != ELFDATA2LSB)
    return ops_fail(MUSTER_ERROR_IMAGE, "%s: an ELF file, but not a 64-bit little-endian one", name);
  if (head.e_shoff == 0 || head.e_shnum == 0)
    return ops_fail(MUSTER_ERROR_IMAGE,
                    "%s: an ELF file without a section table: fat binaries cannot be found in it", name);
  if (head.e_shentsize != sizeof(Elf64_Shdr) || head.e_shoff > bytes ||
      head.e_shnum > (bytes - head.e_shoff) / sizeof(Elf64_Shdr) || head.e_shstrndx >= head.e_shnum)
    return damaged(name);
  if (head.e_machine == EM_NVIDIA)
    return add(l, (ops_part){.kind = OPS_CUBIN, .at = image, .bytes = bytes});
  Elf64_Shdr names;
  memcpy(&names, image + head.e_shoff + head.e_shstrndx * sizeof names, sizeof names);
  if (names.sh_offset > bytes || names.sh_size > bytes - names.sh_offset)
    return damaged(name);
  for (unsigned i = 0; i < head.e_shnum; i++) {
    Elf64_Shdr section;
    memcpy(&section, image + head.e_shoff + i * sizeof section, sizeof section);
    if (section.sh_name >= names.sh_size)
      return damaged(name);
    const char *label = (const char *)image + names.sh_offset + section.sh_name;
    size_t room = names.sh_size - section.sh_name;
    if (strnlen(label, room) == room)
      return damaged(name);
    if (section.sh_type == SHT_NOBITS ||
        (strcmp(label, ".nv_fatbin") != 0 && strcmp(label, "__nv_relfatbin") != 0))
      continue;
    bool relocatable = label[0] == '_';
    if (section.sh_offset > bytes || section.sh_size > bytes - section.sh_offset)
      return damaged(name);
    muster_result r = add_fatbins(l, name, image + section.sh_offset, section.sh_size, relocatable);
    if (r != MUSTER_OK)
      return r;
  }
  if (l->n == 0)
    return ops_fail(MUSTER_ERROR_NO_CODE,
                    "%s: carries no CUDA kernels (no fat binary in .nv_fatbin or __nv_relfatbin)", name);
  return MUSTER_OK;
}

/* PTX is text, and says .version before anything else but comments. */
static bool is_ptx(const uint8_t *image, size_t bytes) {
  while (bytes > 0 && image[bytes - 1] == 0) /* tools pad it */
    bytes--;
  if (memchr(image, 0, bytes))
    return false;
  static const char word[] = ".version";
  for (size_t i = 0; i + sizeof word - 1 <= bytes; i++)
    if (memcmp(image + i, word, sizeof word - 1) == 0)
      return true;
  return false;
}

muster_result ops_image_parts(const char *name, const uint8_t *image, size_t bytes, ops_part **parts,
                              size_t *n) {
  list l = {NULL, 0};
  muster_result r;
  if (bytes == 0)
    r = ops_fail(MUSTER_ERROR_IMAGE, "%s: empty", name);
  else if (bytes >= SELFMAG && memcmp(image, ELFMAG, SELFMAG) == 0)
    r = add_elf(&l, name, image, bytes);
  else if (is_fatbin(image, bytes))
    r = add_fatbins(&l, name, image, bytes, false);
  else if (is_ptx(image, bytes))
    r = add(&l, (ops_part){.kind = OPS_PTX, .at = image, .bytes = bytes, .has_ptx = true});
  else
    r = ops_fail(MUSTER_ERROR_IMAGE, "%s: neither PTX (no .version), nor a fat binary, nor an ELF file",
                 name);
  if (r == MUSTER_OK && l.n == 0)
    r = ops_fail(MUSTER_ERROR_NO_CODE, "%s: an empty fat binary", name);
  if (r != MUSTER_OK) {
    free(l.parts);
    return r;
  }
  *parts = l.parts;
  *n = l.n;
  return MUSTER_OK;
}
