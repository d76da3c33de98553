/* loads.c: loads a library with device code of its own, calls it, unloads it, and does so again. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv) {
  for (int i = 0; argc > 1 && i < 3; i++) {
    void *library = dlopen(argv[1], RTLD_NOW);
    if (!library) {
      puts(dlerror());
      return 1;
    }
    int (*run)(int) = (int (*)(int))dlsym(library, "plugin_run");
    const int got = run ? run(i) : -1;
    if (got != 2 * i + 1) {
      printf("call %d: %d\n", i, got);
      return 1;
    }
    dlclose(library);
  }
  return 0;
}
