// nvrtc.c: compiles each header named on the command line with NVRTC, which knows no host header at all.
//
//   nvrtc INCLUDE HEADER...     ends with 77 where there is no libnvrtc
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct program *program;
static int (*create)(program *, const char *, const char *, int, const char *const *, const char *const *);
static int (*compile)(program, int, const char *const *);
static int (*log_size)(program, size_t *);
static int (*get_log)(program, char *);
static int (*destroy)(program *);

static void *find(void *library, const char *name) {
  void *symbol = dlsym(library, name);
  if (!symbol) {
    fprintf(stderr, "nvrtc: no %s\n", name);
    exit(1);
  }
  return symbol;
}

static int one(const char *include, const char *header, const char *arch) {
  char source[256], folder[1024];
  const char *options[] = {folder, arch, "--std=c++14"};
  program p;
  size_t bytes = 0;
  snprintf(source, sizeof source, "#include \"muster/%s\"\nextern \"C\" __global__ void empty(void) {}\n",
           header);
  snprintf(folder, sizeof folder, "-I%s", include);
  if (create(&p, source, header, 0, NULL, NULL))
    return 1;
  int failed = compile(p, 3, options);
  if (failed && !log_size(p, &bytes)) {
    char *text = malloc(bytes + 1);
    if (text && !get_log(p, text))
      fprintf(stderr, "nvrtc: muster/%s, %s:\n%.4000s\n", header, arch, text);
    free(text);
  }
  destroy(&p);
  return failed;
}

int main(int argc, char **argv) {
  static const char *const names[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so",
                                      "/usr/local/cuda/lib64/libnvrtc.so"};
  void *library = NULL;
  for (size_t i = 0; i < sizeof names / sizeof *names && !library; i++)
    library = dlopen(names[i], RTLD_NOW);
  if (argc < 3 || !library) {
    fprintf(stderr, argc < 3 ? "usage: nvrtc INCLUDE HEADER...\n" : "no libnvrtc: skipped\n");
    return argc < 3 ? 2 : 77;
  }
  *(void **)&create = find(library, "nvrtcCreateProgram");
  *(void **)&compile = find(library, "nvrtcCompileProgram");
  *(void **)&log_size = find(library, "nvrtcGetProgramLogSize");
  *(void **)&get_log = find(library, "nvrtcGetProgramLog");
  *(void **)&destroy = find(library, "nvrtcDestroyProgram");
  int bad = 0;
  for (int i = 2; i < argc; i++)
    bad |= one(argv[1], argv[i], "--gpu-architecture=compute_75") |
           one(argv[1], argv[i], "--gpu-architecture=compute_90");
  return bad != 0;
}
