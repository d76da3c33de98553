/* compile.c: FILE.cu by the nvcc at hand, FILE.c by clang as plain C for nvptx64.
 *
 * What is made goes into a new temporary folder that is removed afterwards: a cache would have to know every
 * header that was read. The compiler's own messages are its own; muster adds one line where it failed.
 */
#include "tool.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *tool_folder(void) {
  static char folder[PATH_MAX];
  if (folder[0] == 0) {
    ssize_t n = readlink("/proc/self/exe", folder, sizeof folder - 1);
    if (n <= 0 || n == (ssize_t)sizeof folder - 1)
      return NULL;
    folder[n] = 0;
    *strrchr(folder, '/') = 0;
  }
  return folder;
}

bool tool_has_suffix(const char *file, const char *suffix) {
  size_t n = strlen(file), m = strlen(suffix);
  return n > m && strcmp(file + n - m, suffix) == 0;
}

static bool executable(const char *path) {
  return access(path, X_OK) == 0;
}

static char *in_path(const char *name) {
  const char *path = getenv("PATH");
  for (const char *p = path ? path : ""; *p;) {
    size_t n = strcspn(p, ":");
    char *file = tool_format("%.*s/%s", (int)n, p, name);
    if (n > 0 && executable(file))
      return file;
    free(file);
    p += n + (p[n] == ':');
  }
  return NULL;
}

/* PATH, CUDA_PATH, CUDA_HOME, the usual place, and the toolchain that ./dev fetches into the build folder. */
static char *find_nvcc(void) {
  char *file = in_path("nvcc");
  const char *roots[] = {getenv("CUDA_PATH"), getenv("CUDA_HOME"), "/usr/local/cuda"};
  for (unsigned i = 0; i < sizeof roots / sizeof *roots && !file; i++) {
    file = roots[i] && *roots[i] ? tool_format("%s/bin/nvcc", roots[i]) : NULL;
    if (file && !executable(file)) {
      free(file);
      file = NULL;
    }
  }
  if (!file && tool_folder()) {
    file = tool_format("%s/../toolchain/nvidia/cu13/bin/nvcc", tool_folder());
    if (!executable(file)) {
      free(file);
      file = NULL;
    }
  }
  return file;
}

static char *find_clang(void) {
  static const char *const names[] = {"clang-19", "clang-20", "clang-21", "clang-22", "clang"};
  for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
    char *file = in_path(names[i]);
    if (file)
      return file;
  }
  return NULL;
}

/* NVIDIA's compiler from PyPI comes without the static runtime, which is nvcc's default. */
static bool has_static_runtime(const char *nvcc) {
  static const char *const folders[] = {"lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib",
                                        "targets/aarch64-linux/lib"};
  char *real = realpath(nvcc, NULL);
  bool has = false;
  for (unsigned i = 0; real && i < sizeof folders / sizeof *folders && !has; i++) {
    char *bin = tool_format("%s", real);
    *strrchr(bin, '/') = 0;
    char *file = tool_format("%s/../%s/libcudart_static.a", bin, folders[i]);
    has = access(file, R_OK) == 0;
    free(file);
    free(bin);
  }
  free(real);
  return has;
}

/* ------------------------------------------------------------------ words of a command */

typedef struct words {
  char *word[256]; /* each of them this one's own */
  size_t n;
} words;

static void add_own(words *w, char *word) {
  if (w->n + 1 < sizeof w->word / sizeof *w->word)
    w->word[w->n++] = word;
  else
    free(word);
}

static void add(words *w, const char *word) {
  add_own(w, tool_format("%s", word));
}

static void drop(words *w) {
  while (w->n > 0)
    free(w->word[--w->n]);
}

/* The words of --cflags, with a shell's quotes and backslash; nothing is expanded. */
static bool add_flags(words *w, const char *text) {
  char *word = tool_alloc(strlen(text) + 1), *to = word;
  bool inside = false;
  char quote = 0;
  for (const char *c = text;; c++) {
    if (*c == 0 || (!quote && strchr(" \t\n", *c))) {
      if (quote || w->n + 32 > sizeof w->word / sizeof *w->word) {
        tool_error("--cflags: %s", quote ? "a quote is never closed" : "too many words");
        free(word);
        return false;
      }
      if (inside) {
        *to = 0;
        add(w, word);
      }
      to = word;
      inside = false;
      if (*c == 0)
        break;
    } else if (*c == '\\' && quote != '\'' && c[1]) {
      *to++ = *++c;
      inside = true;
    } else if ((*c == '"' || *c == '\'') && (!quote || quote == *c)) {
      quote = quote ? 0 : *c;
      inside = true;
    } else {
      *to++ = *c;
      inside = true;
    }
  }
  free(word);
  return true;
}

static bool names_target(const words *w) {
  for (size_t i = 0; i < w->n; i++)
    if (strncmp(w->word[i], "-arch", 5) == 0 || strncmp(w->word[i], "--gpu-", 6) == 0 ||
        strncmp(w->word[i], "-gencode", 8) == 0 || strncmp(w->word[i], "--generate-code", 15) == 0 ||
        strncmp(w->word[i], "-march", 6) == 0 || strncmp(w->word[i], "-code", 5) == 0)
      return true;
  return false;
}

static void add_includes(words *w) {
  char *header = tool_format("%s/../include/muster.h", tool_folder() ? tool_folder() : "");
  if (access(header, R_OK) == 0)
    add_own(w, tool_format("-I%s/../include", tool_folder()));
  free(header);
}

static int compile(const char *file, tool_artifact what, const tool_options *o, const char *folder, words *w,
                   char **made) {
  bool plain_c = tool_has_suffix(file, ".c");
  char *compiler = plain_c ? find_clang() : find_nvcc();
  if (!compiler && what == TOOL_MODULE && !plain_c) { /* kernels that are C as well need no nvcc */
    compiler = find_clang();
    plain_c = compiler != NULL;
  }
  if (!compiler) {
    tool_error(plain_c ? "%s: no clang found (clang-19 in PATH) that compiles plain C for nvptx64"
                       : "%s: no nvcc found: not in PATH, CUDA_PATH or /usr/local/cuda",
               file);
    return TOOL_OURS;
  }
  *made = tool_format("%s/%s", folder,
                      what == TOOL_EXECUTABLE ? "program"
                      : plain_c               ? "module.ptx"
                                              : "module.fatbin");
  add_own(w, compiler);
  if (o->cflags && !add_flags(w, o->cflags))
    return TOOL_USAGE;
  bool target = names_target(w);
  unsigned sm = o->gpu ? tool_profile_sm(o->gpu) : 0;
  add_includes(w);
  if (plain_c) {
    static const char *const fixed[] = {
        "-x", "c", "-std=gnu11", "--target=nvptx64-nvidia-cuda", "-O2", "-gline-directives-only", "-S"};
    for (unsigned i = 0; i < sizeof fixed / sizeof *fixed; i++)
      add(w, fixed[i]);
    if (!target) {
      add_own(w, tool_format("-march=sm_%u", sm ? sm : 75));
      /* named, as clang takes that of a toolkit it happens to find, else the oldest that has the target */
      static const char *const isa[] = {"-Xclang", "-target-feature", "-Xclang", "+ptx83"};
      for (unsigned i = 0; i < 4 && sm <= 90; i++)
        add(w, isa[i]);
    }
  } else {
    add(w, "-lineinfo");
    if (what == TOOL_MODULE)
      add(w, "-fatbin");
    else if (!has_static_runtime(compiler))
      add(w, "-cudart=shared");
    if (!target && sm)
      add_own(w, tool_format("-arch=sm_%u", sm));
  }
  add(w, "-o");
  add(w, *made);
  add_own(w, tool_format("%s%s", file[0] == '-' ? "./" : "", file));
  tool_child child = {.argv = w->word, .path = compiler};
  int code = tool_parent_run(&child, o);
  if (code == 0)
    return TOOL_OK;
  if (code > 128)
    return code;
  tool_error("%s: %s could not compile it", file, plain_c ? "clang" : "nvcc");
  return TOOL_OURS;
}

int tool_compile(const char *file, tool_artifact what, const tool_options *o, char **made) {
  *made = NULL;
  if (access(file, R_OK) != 0) {
    tool_error("%s: %s", file, errno == ENOENT ? "not found" : strerror(errno));
    return errno == ENOENT ? TOOL_ABSENT : TOOL_CANNOT;
  }
  const char *where = getenv("TMPDIR");
  char *folder = tool_format("%s/muster-XXXXXX", where && *where ? where : "/tmp");
  if (!mkdtemp(folder)) {
    tool_error("cannot make a temporary folder in %s: %s", where && *where ? where : "/tmp", strerror(errno));
    free(folder);
    return TOOL_OURS;
  }
  words w = {.n = 0};
  int code = compile(file, what, o, folder, &w, made);
  drop(&w);
  if (code != TOOL_OK) {
    char *inside = *made ? *made : tool_format("%s/none", folder);
    tool_compile_clean(inside);
    *made = NULL;
  }
  free(folder);
  return code;
}

void tool_compile_clean(char *made) {
  if (!made)
    return;
  *strrchr(made, '/') = 0;
  DIR *d = opendir(made);
  for (struct dirent *e; d && (e = readdir(d));) {
    char *file = tool_format("%s/%s", made, e->d_name);
    if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
      unlink(file);
    free(file);
  }
  if (d)
    closedir(d);
  rmdir(made);
  free(made);
}
