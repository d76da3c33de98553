/* elf.c: section headers and symbol tables of an ELF file.
 *
 * Files are what a user's linker, strip or a broken download left: every offset and size is checked against
 * the file before it is used, and a damaged file counts as one without what it claims. Nothing is copied;
 * what is handed out points into the mapping and lives until elf_close.
 */
#include "runtime/preload/elf.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static bool elf_within(const struct elf_file *file, uint64_t offset, uint64_t bytes) {
  return offset <= file->bytes && bytes <= file->bytes - offset;
}

/* A string table that ends in a NUL, so that a name within it needs no further check. */
static const char *elf_strings(const struct elf_file *file, const Elf64_Shdr *section, size_t *bytes) {
  if (section->sh_type != SHT_STRTAB || section->sh_size == 0 ||
      !elf_within(file, section->sh_offset, section->sh_size) ||
      file->data[section->sh_offset + section->sh_size - 1] != 0)
    return NULL;
  *bytes = section->sh_size;
  return (const char *)file->data + section->sh_offset;
}

static bool elf_read(struct elf_file *file) {
  Elf64_Ehdr header;
  if (file->bytes < sizeof header)
    return false;
  memcpy(&header, file->data, sizeof header);
  const uint16_t one = 1;
  const unsigned char order = *(const unsigned char *)&one ? ELFDATA2LSB : ELFDATA2MSB;
  if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_ident[EI_DATA] != order || header.e_shentsize != sizeof(Elf64_Shdr) ||
      header.e_shoff % _Alignof(Elf64_Shdr) != 0 || !elf_within(file, header.e_shoff, sizeof(Elf64_Shdr)))
    return false;
  file->sections = (const Elf64_Shdr *)(file->data + header.e_shoff);
  /* More sections than fit in 16 bits: the first one's size tells how many. */
  file->section_count = header.e_shnum ? header.e_shnum : file->sections[0].sh_size;
  if (file->section_count > (file->bytes - header.e_shoff) / sizeof(Elf64_Shdr))
    return false;
  const size_t names = header.e_shstrndx == SHN_XINDEX ? file->sections[0].sh_link : header.e_shstrndx;
  if (names >= file->section_count)
    return false;
  file->names = elf_strings(file, &file->sections[names], &file->names_bytes);
  return file->names != NULL;
}

bool elf_open(struct elf_file *file, const char *path) {
  memset(file, 0, sizeof *file);
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return false;
  struct stat status;
  void *data = MAP_FAILED;
  if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0)
    data = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
  close(fd);
  if (data == MAP_FAILED)
    return false;
  file->data = data;
  file->bytes = (size_t)status.st_size;
  if (elf_read(file))
    return true;
  elf_close(file);
  return false;
}

void elf_close(struct elf_file *file) {
  if (file->data)
    munmap((void *)file->data, file->bytes);
  memset(file, 0, sizeof *file);
}

const Elf64_Shdr *elf_section(const struct elf_file *file, const char *name) {
  for (size_t i = 0; i < file->section_count; i++) {
    const Elf64_Shdr *section = &file->sections[i];
    if (section->sh_name < file->names_bytes && strcmp(file->names + section->sh_name, name) == 0)
      return section;
  }
  return NULL;
}

bool elf_symbols(const struct elf_file *file, uint32_t type, struct elf_symbols *symbols) {
  for (size_t i = 0; i < file->section_count; i++) {
    const Elf64_Shdr *section = &file->sections[i];
    if (section->sh_type != type)
      continue;
    if (section->sh_entsize != sizeof(Elf64_Sym) || section->sh_offset % _Alignof(Elf64_Sym) != 0 ||
        !elf_within(file, section->sh_offset, section->sh_size) || section->sh_link >= file->section_count)
      return false;
    symbols->at = (const Elf64_Sym *)(file->data + section->sh_offset);
    symbols->count = section->sh_size / sizeof(Elf64_Sym);
    symbols->names = elf_strings(file, &file->sections[section->sh_link], &symbols->names_bytes);
    return symbols->names != NULL;
  }
  return false;
}

const char *elf_symbol_name(const struct elf_symbols *symbols, const Elf64_Sym *symbol) {
  return symbol->st_name < symbols->names_bytes ? symbols->names + symbol->st_name : "";
}

bool elf_text(const struct elf_file *file, uint64_t address, uint64_t *low, uint64_t *high) {
  Elf64_Ehdr header;
  memcpy(&header, file->data, sizeof header);
  if (header.e_phentsize != sizeof(Elf64_Phdr))
    return false;
  for (size_t i = 0; i < header.e_phnum; i++) {
    Elf64_Phdr segment;
    const uint64_t offset = header.e_phoff + i * sizeof segment;
    if (offset < header.e_phoff || !elf_within(file, offset, sizeof segment))
      return false;
    memcpy(&segment, file->data + offset, sizeof segment);
    if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) && address >= segment.p_vaddr &&
        address - segment.p_vaddr < segment.p_memsz) {
      *low = segment.p_vaddr;
      *high = segment.p_vaddr + segment.p_memsz;
      return true;
    }
  }
  return false;
}

const char *elf_soname(const struct elf_file *file) {
  for (size_t i = 0; i < file->section_count; i++) {
    const Elf64_Shdr *section = &file->sections[i];
    size_t names_bytes;
    if (section->sh_type != SHT_DYNAMIC)
      continue;
    if (!elf_within(file, section->sh_offset, section->sh_size) || section->sh_link >= file->section_count)
      return NULL;
    const char *names = elf_strings(file, &file->sections[section->sh_link], &names_bytes);
    for (size_t at = 0; names && at + sizeof(Elf64_Dyn) <= section->sh_size; at += sizeof(Elf64_Dyn)) {
      Elf64_Dyn entry;
      memcpy(&entry, file->data + section->sh_offset + at, sizeof entry);
      if (entry.d_tag == DT_SONAME)
        return entry.d_un.d_val < names_bytes ? names + entry.d_un.d_val : NULL;
      if (entry.d_tag == DT_NULL)
        return NULL;
    }
    return NULL;
  }
  return NULL;
}
