/* elf.h: as much of a 64-bit ELF file as finding a static CUDA runtime takes. Reads, never runs. */
#ifndef MUSTER_RUNTIME_ELF_H
#define MUSTER_RUNTIME_ELF_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_file {
  const uint8_t *data; /* the file, mapped read-only */
  size_t bytes;
  const Elf64_Shdr *sections;
  size_t section_count;
  const char *names; /* NUL-terminated at names_bytes - 1 */
  size_t names_bytes;
};

struct elf_symbols {
  const Elf64_Sym *at;
  size_t count;
  const char *names; /* NUL-terminated at names_bytes - 1 */
  size_t names_bytes;
};

/* False: not a readable 64-bit ELF file of this machine's byte order, or one without sections. */
bool elf_open(struct elf_file *file, const char *path);
void elf_close(struct elf_file *file);

const Elf64_Shdr *elf_section(const struct elf_file *file, const char *name); /* NULL: none */

/* The symbols of the first section of `type` (SHT_SYMTAB, SHT_DYNSYM). False: none, or damaged. */
bool elf_symbols(const struct elf_file *file, uint32_t type, struct elf_symbols *symbols);
/* DT_SONAME; NULL: none, or damaged. */
const char *elf_soname(const struct elf_file *file);

/* The bounds, as addresses of the file, of the executable segment that holds `address`. False: none does. */
bool elf_text(const struct elf_file *file, uint64_t address, uint64_t *low, uint64_t *high);

const char *elf_symbol_name(const struct elf_symbols *symbols, const Elf64_Sym *symbol); /* "" if damaged */

#endif
