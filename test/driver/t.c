/* t.c: runs one test of the driver API: `driver_test NAME KERNELS.ptx`; `driver_test --list` names them all.
 * Ends with 0, 1 where something is wrong, 77 where the device at hand cannot show it. */
#include "t.h"

#include <stdarg.h>

muster_driver cu;
bool t_on_cpu;
CUdevice t_device;
CUcontext t_context;
CUmodule t_module;
const char *t_kernels;

void t_fail(const char *file, int line, const char *format, ...) {
  va_list args;
  fflush(stdout);
  fprintf(stderr, "%s:%d: ", file, line);
  va_start(args, format);
  vfprintf(stderr, format, args);
  va_end(args);
  fputc('\n', stderr);
  _Exit(1);
}

void t_skip(const char *why) {
  printf("skipped: %s\n", why);
  fflush(stdout);
  _Exit(77);
}

const char *t_name(CUresult r) {
  const char *name = muster_driver_error_name(r);
  return name ? name : "an unknown number";
}

CUfunction t_kernel(const char *name) {
  CUfunction f;
  OK(cuModuleGetFunction(&f, t_module, name));
  return f;
}

CUdeviceptr t_memory(size_t bytes) {
  CUdeviceptr p;
  OK(cuMemAlloc(&p, bytes));
  OK(cuMemsetD8(p, 0, bytes));
  return p;
}

char *t_file(const char *path, size_t *bytes) {
  FILE *f = fopen(path, "rb");
  char *text = f ? malloc(1 << 20) : NULL;
  if (!text)
    t_fail(__FILE__, __LINE__, "cannot read %s", path);
  *bytes = fread(text, 1, (1 << 20) - 1, f);
  text[*bytes] = 0;
  fclose(f);
  return text;
}

static const t_test *const all[] = {t_device_tests, t_memory_tests, t_stream_tests, t_module_tests,
                                    t_launch_tests, t_graph_tests,  t_hang_tests};

int main(int argc, char **argv) {
  setvbuf(stderr, NULL, _IOLBF, 0);
  if (argc == 2 && strcmp(argv[1], "--list") == 0) {
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
      for (const t_test *t = all[i]; t->name; t++)
        puts(t->name);
    return 0;
  }
  if (argc != 3) {
    fprintf(stderr, "usage: driver_test NAME KERNELS.ptx | --list\n");
    return 2;
  }
  const t_test *test = NULL;
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
    for (const t_test *t = all[i]; t->name; t++)
      if (strcmp(t->name, argv[1]) == 0)
        test = t;
  if (!test)
    t_fail(__FILE__, __LINE__, "no test %s", argv[1]);
  char why[256];
  const char *device = getenv("MUSTER_DEVICE");
  t_on_cpu = device && strncmp(device, "cpu", 3) == 0;
  t_kernels = argv[2];
  if (!muster_driver_load(&cu, NULL, why, sizeof why))
    t_fail(__FILE__, __LINE__, "%s", why);
  if (!test->bare) {
    size_t bytes;
    OK(cuDeviceGet(&t_device, 0));
    OK(cuCtxCreate(&t_context, NULL, 0, t_device));
    char *text = t_file(argv[2], &bytes);
    OK(cuModuleLoadData(&t_module, text));
    free(text);
  }
  test->run();
  fflush(stdout);
  return 0;
}
