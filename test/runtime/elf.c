/* elf.c FILE: the preload library's ELF reader over FILE, over every length that FILE could be cut to, and
 * over copies with bytes changed by chance: whatever it says of them, it stays within the file. Build with
 * -fsanitize=address to see the rest. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/preload/elf.h"

static size_t walked;

static bool walk(const char *path) {
  struct elf_file file;
  struct elf_symbols symbols;
  uint64_t low, high;
  if (!elf_open(&file, path))
    return false;
  walked += elf_section(&file, ".nv_fatbin") != NULL;
  const char *soname = elf_soname(&file);
  walked += soname ? strlen(soname) : 0;
  for (int i = 0; i < 2; i++)
    if (elf_symbols(&file, i ? SHT_SYMTAB : SHT_DYNSYM, &symbols))
      for (size_t k = 0; k < symbols.count; k++) {
        walked += strlen(elf_symbol_name(&symbols, &symbols.at[k]));
        walked += elf_text(&file, symbols.at[k].st_value, &low, &high);
      }
  elf_close(&file);
  return true;
}

int main(int argc, char **argv) {
  FILE *from = argc > 1 ? fopen(argv[1], "rb") : NULL;
  static unsigned char whole[8 << 20];
  const size_t bytes = from ? fread(whole, 1, sizeof whole, from) : 0;
  char path[64];
  const int fd = memfd_create("elf", 0);
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  if (bytes < 4096 || fd < 0 || pwrite(fd, whole, bytes, 0) != (ssize_t)bytes)
    return 1;
  if (!walk(path) || walked < 100) {
    puts("the whole file is not read");
    return 1;
  }
  srand(1);
  for (int i = 0; i < 400; i++) {
    if (ftruncate(fd, (off_t)(i < 200 ? (size_t)i : (size_t)rand() % bytes)) != 0)
      return 1;
    walk(path);
  }
  /* the header, the table of sections and the tables of symbols are where a changed byte can lead astray */
  size_t sections;
  memcpy(&sections, whole + 40, sizeof sections);
  for (int i = 0; i < 1500; i++) {
    unsigned char changed[8];
    size_t at[8];
    if (ftruncate(fd, 0) != 0 || pwrite(fd, whole, bytes, 0) != (ssize_t)bytes)
      return 1;
    for (int k = 0; k < 1 + i % 8; k++) {
      at[k] = i % 3 == 0 ? 16 + (size_t)rand() % 48 : sections + (size_t)rand() % (bytes - sections);
      changed[k] = (unsigned char)(rand() % 4 ? rand() : 0xff);
      if (pwrite(fd, &changed[k], 1, (off_t)at[k]) != 1)
        return 1;
    }
    walk(path);
  }
  return 0;
}
