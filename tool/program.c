/* program.c: finds the program as a shell would, and says by name what cannot be run under muster.
 *
 * muster reaches a program through the dynamic loader. Where that cannot work (a fully static program has no
 * loader, a setuid one a loader that ignores us) the program would run unwatched: it is refused instead. A
 * script is fine: what it starts is reached.
 */
#include "tool.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#if defined(__x86_64__)
enum { HOST_MACHINE = EM_X86_64 };
#elif defined(__aarch64__)
enum { HOST_MACHINE = EM_AARCH64 };
#else
#error "muster runs on x86-64 and aarch64"
#endif

static const char *machine_name(unsigned machine) {
  switch (machine) {
  case EM_X86_64:
    return "x86-64";
  case EM_AARCH64:
    return "aarch64";
  case EM_386:
    return "32-bit x86";
  case EM_ARM:
    return "32-bit Arm";
  case EM_PPC64:
    return "POWER";
  case EM_RISCV:
    return "RISC-V";
  case 190:
    return "an NVIDIA GPU (a cubin)";
  default:
    return NULL;
  }
}

static int absent(const char *what) {
  tool_error("%s: not found", what);
  return TOOL_ABSENT;
}

static int cannot(const char *what, const char *why) {
  tool_error("%s: %s", what, why);
  return TOOL_CANNOT;
}

static bool read_at(int fd, uint64_t offset, void *to, size_t bytes) {
  return offset <= INT64_MAX && pread(fd, to, bytes, (off_t)offset) == (ssize_t)bytes;
}

static int check_elf(const char *path, int fd) {
  Elf64_Ehdr head;
  if (!read_at(fd, 0, &head, sizeof head))
    return cannot(path, "a truncated ELF file");
  const char *name = machine_name(head.e_machine);
  if (head.e_machine != HOST_MACHINE || head.e_ident[EI_CLASS] != ELFCLASS64 ||
      head.e_ident[EI_DATA] != ELFDATA2LSB) {
    if (name)
      tool_error("%s: a program for %s; this machine is %s", path, name, machine_name(HOST_MACHINE));
    else
      tool_error("%s: a program for another machine (ELF machine %u); this one is %s", path, head.e_machine,
                 machine_name(HOST_MACHINE));
    return TOOL_CANNOT;
  }
  if (head.e_type == ET_REL)
    return cannot(path,
                  "an object file, not a program: link it first, or name one of its kernels with --kernel");
  if (head.e_type != ET_EXEC && head.e_type != ET_DYN)
    return cannot(path, "an ELF file, but not a program");
  if (head.e_phentsize != sizeof(Elf64_Phdr) || head.e_phnum == 0)
    return cannot(path, "a damaged ELF file: no program headers");
  for (unsigned i = 0; i < head.e_phnum; i++) {
    Elf64_Phdr segment;
    if (!read_at(fd, head.e_phoff + i * sizeof segment, &segment, sizeof segment))
      return cannot(path, "a truncated ELF file");
    if (segment.p_type != PT_INTERP)
      continue;
    char loader[512];
    if (segment.p_filesz == 0 || segment.p_filesz > sizeof loader ||
        !read_at(fd, segment.p_offset, loader, segment.p_filesz) || loader[segment.p_filesz - 1] != 0)
      return cannot(path, "a damaged ELF file: its dynamic loader cannot be read");
    if (access(loader, X_OK) != 0) {
      tool_error("%s: needs the dynamic loader %s, which is not here", path, loader);
      return TOOL_CANNOT;
    }
    return TOOL_OK;
  }
  return cannot(path,
                "fully static, or a shared library: muster can only reach a program that the dynamic loader "
                "starts; link it without -static");
}

static int check_script(const char *path, const char *line, size_t bytes) {
  size_t start = 2, end;
  while (start < bytes && (line[start] == ' ' || line[start] == '\t'))
    start++;
  for (end = start; end < bytes && !strchr(" \t\r\n", line[end]); end++)
    ;
  char *interpreter = tool_format("%.*s", (int)(end - start), line + start);
  int code = TOOL_OK;
  if (access(interpreter, X_OK) != 0) {
    tool_error("%s: a script for %s, which cannot be run here", path, *interpreter ? interpreter : "nothing");
    code = TOOL_CANNOT;
  }
  free(interpreter);
  return code;
}

static int check(const char *path) {
  struct stat st;
  if (stat(path, &st) != 0)
    return errno == ENOENT || errno == ENOTDIR ? absent(path) : cannot(path, strerror(errno));
  if (S_ISDIR(st.st_mode))
    return cannot(path, "is a directory");
  if (!S_ISREG(st.st_mode))
    return cannot(path, "is no ordinary file");
  if (access(path, X_OK) != 0)
    return cannot(path, "not executable");
  if (st.st_mode & (S_ISUID | S_ISGID))
    return cannot(path, "a setuid or setgid program: the dynamic loader lets nobody watch it");
  if (getxattr(path, "security.capability", NULL, 0) > 0)
    return cannot(path, "a program with file capabilities: the dynamic loader lets nobody watch it");
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return cannot(path, "cannot be read, so muster cannot see what it is");
  char start[256] = {0};
  ssize_t n = pread(fd, start, sizeof start - 1, 0);
  int code;
  if (n >= SELFMAG && memcmp(start, ELFMAG, SELFMAG) == 0)
    code = check_elf(path, fd);
  else if (n > 2 && start[0] == '#' && start[1] == '!')
    code = check_script(path, start, (size_t)n);
  else
    code = cannot(path, n > 0 ? "neither an ELF program nor a script" : "an empty file");
  close(fd);
  return code;
}

int tool_program_find(const char *name, char **path) {
  if (*name == 0)
    return absent("the program's name is empty");
  if (strchr(name, '/')) {
    *path = tool_format("%s", name);
    return check(*path);
  }
  const char *folders = getenv("PATH");
  char *denied = NULL;
  for (const char *p = folders ? folders : "/usr/local/bin:/usr/bin:/bin"; p; p = *p ? p + 1 : NULL) {
    size_t n = strcspn(p, ":");
    *path = n > 0 ? tool_format("%.*s/%s", (int)n, p, name) : tool_format("./%s", name);
    struct stat st;
    if (stat(*path, &st) == 0 && S_ISREG(st.st_mode)) {
      if (access(*path, X_OK) == 0)
        return check(*path);
      if (!denied) {
        denied = *path;
        *path = NULL;
      }
    }
    free(*path);
    p += n;
  }
  *path = NULL;
  if (denied)
    return cannot(denied, "not executable");
  struct stat here;
  if (stat(name, &here) == 0 && S_ISREG(here.st_mode)) {
    tool_error("%s: not found in PATH; for the file of that name here write ./%s", name, name);
    return TOOL_ABSENT;
  }
  return absent(name);
}
