/* preload.c: serves programs that have NVIDIA's CUDA runtime linked into them, nvcc's default, or that load
 * NVIDIA's shared one by a name of their own.
 *
 * Preloaded (LD_PRELOAD) and initialised before every other object (-z initfirst), it redirects the runtime's
 * functions in the program, in its libraries and in whatever dlopen brings later to the stand-in
 * libcudart.so.<major> beside it. Programs and libraries without CUDA in them are left as they are, silently.
 *
 * A static runtime's functions are hidden or local symbols of .symtab; a function of the same name that an
 * object exports is somebody's own and stays. Objects that dlopen loads have to be redirected after they are
 * mapped and before their constructors run, which is when the dynamic loader calls the function that it keeps
 * for debuggers (r_debug.r_brk); that function is redirected too. Nothing is looked up or loaded in there.
 */
#define _GNU_SOURCE
#include "driver/session.h"
#include "runtime/preload/elf.h"
#include "runtime/preload/patch.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
  PRELOAD_11 = 1,
  PRELOAD_12 = 2,
  PRELOAD_13 = 4,
  PRELOAD_11_12 = PRELOAD_11 | PRELOAD_12,
  PRELOAD_12_13 = PRELOAD_12 | PRELOAD_13,
  PRELOAD_ALL = PRELOAD_11 | PRELOAD_12 | PRELOAD_13
};

/* Every function that a CUDA runtime exports, and which major versions export it in that form. */
struct preload_name {
  const char *name;
  unsigned majors;
};
static const struct preload_name preload_names[] = {
#define API(majors, name, parameters, arguments) {#name, PRELOAD_##majors},
#define API_AS(majors, name, as, parameters, arguments) {#name, PRELOAD_##majors},
#define STREAM(majors, name, parameters, arguments) \
  {#name, PRELOAD_##majors}, {#name "_ptsz", PRELOAD_##majors},
#define STREAM_AS(majors, name, as, parameters, arguments) \
  {#name, PRELOAD_##majors}, {#name "_ptsz", PRELOAD_##majors},
#define DEFAULT(majors, name, parameters, arguments) \
  {#name, PRELOAD_##majors}, {#name "_ptds", PRELOAD_##majors},
#define RAW(majors, type, name, parameters, arguments) {#name, PRELOAD_##majors},
#define NO(majors, name) {#name, PRELOAD_##majors},
#include "runtime/api.def"
};
enum { PRELOAD_NAMES = sizeof preload_names / sizeof *preload_names, PRELOAD_HASH = 2048 };
_Static_assert(PRELOAD_NAMES * 2 < PRELOAD_HASH, "the hash table stays half empty");

static uint16_t preload_hash[PRELOAD_HASH]; /* index + 1; 0: empty */

static unsigned preload_hash_of(const char *name) {
  uint32_t h = 2166136261u;
  for (; *name; name++)
    h = (h ^ (unsigned char)*name) * 16777619u;
  return (h ^ h >> 15) % PRELOAD_HASH;
}

/* The majors of all rows of that name: an interface that changed has a row for each form. 0: unknown. */
static const struct preload_name *preload_find(const char *name, unsigned *majors) {
  const struct preload_name *found = NULL;
  *majors = 0;
  for (unsigned h = preload_hash_of(name); preload_hash[h]; h = (h + 1) % PRELOAD_HASH) {
    const struct preload_name *row = &preload_names[preload_hash[h] - 1];
    if (strcmp(row->name, name) == 0) {
      found = row;
      *majors |= row->majors;
    }
  }
  return found;
}

static void preload_hash_fill(void) {
  for (size_t i = 0; i < PRELOAD_NAMES; i++) {
    unsigned h = preload_hash_of(preload_names[i].name);
    while (preload_hash[h])
      h = (h + 1) % PRELOAD_HASH;
    preload_hash[h] = (uint16_t)(i + 1);
  }
}

static char *preload_folder; /* where this library lies, and the stand-ins */

/* ------------------------------------------------------------------ from a redirected function on */

static int preload_not_supported(void) {
  return 801; /* cudaErrorNotSupported */
}

void *patch_target(const char *name, int major) {
  char path[4096];
  snprintf(path, sizeof path, "%s/libcudart.so.%s", preload_folder,
           major == 11   ? "11.0"
           : major == 12 ? "12"
                         : "13");
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    muster_session_say(MUSTER_MESSAGE_FAILURE, "the CUDA runtime's stand-in cannot be loaded: %s", dlerror());
    _exit(125);
  }
  void *function = dlsym(library, name);
  if (!function) {
    muster_session_say(MUSTER_MESSAGE_UNMODELLED, "%s is not implemented (answers cudaErrorNotSupported)",
                       name);
    int (*answer)(void) = preload_not_supported;
    memcpy(&function, &answer, sizeof function);
  }
  return function;
}

/* ------------------------------------------------------------------ one object */

static bool preload_is_cuda_name(const char *name) {
  if (name[0] == '_' && name[1] == '_')
    name += 2;
  return strncmp(name, "cuda", 4) == 0 && name[4] >= 'A' && name[4] <= 'Z';
}

/* What makes a function the runtime's: a static one is the object's own secret, a shared one is exported. */
enum preload_kind { PRELOAD_STATIC, PRELOAD_SHARED };

static bool preload_is_of(const Elf64_Sym *symbol, enum preload_kind kind) {
  const unsigned visibility = ELF64_ST_VISIBILITY(symbol->st_other);
  const bool is_private =
      ELF64_ST_BIND(symbol->st_info) == STB_LOCAL || visibility == STV_HIDDEN || visibility == STV_INTERNAL;
  return ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && symbol->st_shndx != SHN_UNDEF &&
         is_private == (kind == PRELOAD_STATIC);
}

static void preload_no_room(const struct patch_site *site) {
  muster_session_say(MUSTER_MESSAGE_UNMODELLED, "%s: the function is too short to be redirected", site->name);
}

struct preload_sites {
  struct patch_site *at;
  size_t count;
  uint64_t low, high; /* the file's addresses they span */
};

static void preload_add(struct preload_sites *sites, const struct elf_file *file, uintptr_t base,
                        const Elf64_Sym *symbol, const char *name) {
  uint64_t text_low, text_high;
  if (!elf_text(file, symbol->st_value, &text_low, &text_high))
    return;
  const uint64_t end = symbol->st_value + symbol->st_size;
  if (end > text_high)
    return;
  uint8_t *at = (uint8_t *)(base + symbol->st_value);
  size_t room = symbol->st_size;
  if (room < 16)
    room += patch_padding(at + room, text_high - end < 16 ? text_high - end : 16);
  sites->at[sites->count++] = (struct patch_site){.at = at, .room = room, .name = name};
  if (symbol->st_value < sites->low)
    sites->low = symbol->st_value;
  if (symbol->st_value + room > sites->high)
    sites->high = symbol->st_value + room;
}

/* Redirects the runtime in one object; true if it holds one. */
static bool preload_redirect(const struct elf_file *file, const struct elf_symbols *symbols, uintptr_t base,
                             const char *path, enum preload_kind kind) {
  size_t candidates = 0;
  bool runtime = false;
  for (size_t i = 0; i < symbols->count; i++) {
    const char *name = elf_symbol_name(symbols, &symbols->at[i]);
    if (preload_is_cuda_name(name) && preload_is_of(&symbols->at[i], kind)) {
      candidates++;
      runtime |= strcmp(name, "__cudaRegisterFatBinary") == 0 || strcmp(name, "cudaGetExportTable") == 0;
    }
  }
  if (!runtime)
    return false;
  struct preload_sites sites = {.at = malloc(candidates * sizeof *sites.at), .low = UINT64_MAX};
  if (!sites.at) {
    muster_session_say(MUSTER_MESSAGE_FAILURE, "%s: out of memory", path);
    _exit(125);
  }
  unsigned possible = PRELOAD_11 | PRELOAD_12 | PRELOAD_13;
  for (size_t i = 0; i < symbols->count; i++) {
    const Elf64_Sym *symbol = &symbols->at[i];
    const char *name = elf_symbol_name(symbols, symbol);
    unsigned majors;
    if (!preload_is_cuda_name(name) || !preload_is_of(symbol, kind))
      continue;
    const struct preload_name *known = preload_find(name, &majors);
    if (known) {
      possible = possible & majors ? possible & majors : possible;
      preload_add(&sites, file, base, symbol, known->name);
    }
  }
  /* What else stands among the runtime's functions is a function of a runtime newer than the table. */
  const uint64_t low = sites.low, high = sites.high;
  for (size_t i = 0; i < symbols->count; i++) {
    const Elf64_Sym *symbol = &symbols->at[i];
    const char *name = elf_symbol_name(symbols, symbol);
    unsigned majors;
    if (preload_is_cuda_name(name) && preload_is_of(symbol, kind) && symbol->st_value > low &&
        symbol->st_value < high && !preload_find(name, &majors)) {
      char *kept = strdup(name);
      if (kept)
        preload_add(&sites, file, base, symbol, kept);
    }
  }
  for (size_t i = 0; i < sites.count; i++)
    sites.at[i].major = possible & PRELOAD_13 ? 13 : possible & PRELOAD_12 ? 12 : 11;
  if (!patch_apply(sites.at, sites.count, base + sites.low, base + sites.high, preload_no_room)) {
    muster_session_say(MUSTER_MESSAGE_FAILURE,
                       "%s: its CUDA runtime cannot be redirected: no memory near its code", path);
    _exit(125);
  }
  free(sites.at);
  return true;
}

static bool preload_imports_runtime(const struct elf_file *file) {
  struct elf_symbols symbols;
  if (!elf_symbols(file, SHT_DYNSYM, &symbols))
    return false;
  for (size_t i = 0; i < symbols.count; i++)
    if (symbols.at[i].st_shndx == SHN_UNDEF &&
        strcmp(elf_symbol_name(&symbols, &symbols.at[i]), "__cudaRegisterFatBinary") == 0)
      return true;
  return false;
}

/* NVIDIA's shared runtime, found in spite of LD_LIBRARY_PATH: by an RPATH, by a full name, under a changed
 * one. */
static bool preload_is_shared_runtime(const struct elf_file *file) {
  const char *soname = elf_soname(file);
  return soname && strncmp(soname, "libcudart", strlen("libcudart")) == 0;
}

static void preload_stripped(const char *path) {
  char exe[4096];
  const bool program = strcmp(path, "/proc/self/exe") == 0;
  const ssize_t n = program ? readlink(path, exe, sizeof exe - 1) : -1;
  if (n > 0)
    exe[n] = 0;
  muster_session_say(
      MUSTER_MESSAGE_UNMODELLED,
      "%s: it holds CUDA code, but its symbol table was stripped, so its CUDA runtime cannot be "
      "replaced. Link it without -s and do not strip it, or compile with nvcc -cudart shared",
      n > 0 ? exe : path);
  if (program)
    _exit(125); /* its own runtime would only find that there is no GPU */
}

static void preload_object(const char *path, uintptr_t base) {
  struct elf_file file;
  struct elf_symbols symbols;
  const size_t folder = strlen(preload_folder);
  if (strncmp(path, preload_folder, folder) == 0 && path[folder] == '/' && !strchr(path + folder + 1, '/'))
    return; /* muster's own */
  if (!elf_open(&file, path))
    return;
  if (preload_is_shared_runtime(&file)) {
    if (elf_symbols(&file, SHT_DYNSYM, &symbols))
      preload_redirect(&file, &symbols, base, path, PRELOAD_SHARED);
  } else if (!(elf_symbols(&file, SHT_SYMTAB, &symbols) &&
               preload_redirect(&file, &symbols, base, path, PRELOAD_STATIC)) &&
             elf_section(&file, ".nv_fatbin") && !preload_imports_runtime(&file)) {
    preload_stripped(path);
  }
  elf_close(&file);
}

/* ------------------------------------------------------------------ all objects */

/* Objects that were looked at and are still there. */
static struct preload_seen {
  const struct link_map *map;
  uintptr_t base;
  bool there;
} *preload_seen;
static size_t preload_seen_count, preload_seen_room;

static bool preload_is_new(const struct link_map *map) {
  for (size_t i = 0; i < preload_seen_count; i++)
    if (preload_seen[i].map == map && preload_seen[i].base == map->l_addr) {
      preload_seen[i].there = true;
      return false;
    }
  if (preload_seen_count == preload_seen_room) {
    const size_t room = preload_seen_room ? 2 * preload_seen_room : 64;
    struct preload_seen *grown = realloc(preload_seen, room * sizeof *grown);
    if (!grown)
      return true;
    preload_seen = grown;
    preload_seen_room = room;
  }
  preload_seen[preload_seen_count++] = (struct preload_seen){map, map->l_addr, true};
  return true;
}

static void preload_scan(void) {
  for (size_t i = 0; i < preload_seen_count; i++)
    preload_seen[i].there = false;
  const struct link_map *first = _r_debug.r_map;
  for (const struct link_map *map = first; map; map = map->l_next)
    if (preload_is_new(map)) {
      if (map == first)
        preload_object("/proc/self/exe", map->l_addr);
      else if (strchr(map->l_name, '/'))
        preload_object(map->l_name, map->l_addr);
    }
  size_t kept = 0;
  for (size_t i = 0; i < preload_seen_count; i++)
    if (preload_seen[i].there)
      preload_seen[kept++] = preload_seen[i];
  preload_seen_count = kept;
}

/* Runs inside dlopen and dlclose, under the loader's lock. */
static void preload_loader_changed(void) {
  if (_r_debug.r_state == RT_CONSISTENT)
    preload_scan();
}

static bool preload_follow_loader(void) {
  uint8_t *at = (uint8_t *)_r_debug.r_brk;
  if (!at)
    return false;
  size_t room = 0;
#if defined(__x86_64__)
  static const uint8_t landing[] = {0xf3, 0x0f, 0x1e, 0xfa};
  if (memcmp(at, landing, sizeof landing) == 0)
    room = sizeof landing;
  if (at[room] == 0xf3 && at[room + 1] == 0xc3) /* rep ret */
    room++;
  if (at[room] != 0xc3)
    return false; /* it does something: not a mere hook */
  room++;
#else
  uint32_t word;
  memcpy(&word, at, sizeof word);
  if (word == 0xd503245f) /* bti c */
    room = 4;
  memcpy(&word, at + room, sizeof word);
  if (word != 0xd65f03c0) /* ret */
    return false;
  room += 4;
#endif
  return patch_direct(at, room + patch_padding(at + room, 16), preload_loader_changed);
}

__attribute__((constructor)) static void preload_start(int argc, char **argv, char **environment) {
  (void)argc, (void)argv;
  if (!environ) /* the C library's own constructor comes later */
    environ = environment;
  Dl_info self;
  char *slash = NULL;
  if (dladdr(preload_names, &self) && self.dli_fname && (preload_folder = realpath(self.dli_fname, NULL)))
    slash = strrchr(preload_folder, '/');
  if (!slash)
    return;
  *slash = 0;
  preload_hash_fill();
  preload_scan();
  if (!preload_follow_loader())
    muster_session_say(
        MUSTER_MESSAGE_NOTE,
        "this dynamic loader is not known: libraries that are loaded later keep their CUDA runtime");
}
