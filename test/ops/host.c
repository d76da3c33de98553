/* host.c KERNELS.ptx: the host API: what it does, and what it says to wrong calls. The device is
 * MUSTER_DEVICE's. */
#include "test.h"

#include <stdbool.h>
#include <stdlib.h>

#include "muster.h"

static muster_device *device;
static muster_module *module;

static bool says(const char *part) {
  if (strstr(muster_message(), part))
    return true;
  fprintf(stderr, "the message is \"%s\", expected to hold \"%s\"\n", muster_message(), part);
  return false;
}

static void devices(void) {
  muster_device *none = NULL;
  CHECK(muster_open("toaster", &none) == MUSTER_ERROR_NO_DEVICE && !none && says("toaster"));
  CHECK(muster_open("gpu:x", &none) == MUSTER_ERROR_ARGUMENT && !none);
  CHECK(muster_open("cpu:h201", &none) == MUSTER_ERROR_NO_DEVICE && !none && says("h201"));
  CHECK(muster_open(NULL, NULL) == MUSTER_ERROR_ARGUMENT);
  muster_close(NULL);
  muster_device_info info = MUSTER_DEVICE_INFO_INIT;
  CHECK(muster_device_get(device, &info) == MUSTER_OK);
  CHECK(info.multiprocessors > 0 && info.threads_per_sm >= 1024 && info.compute_capability >= 60 &&
        info.memory_bytes > 0 && info.driver_version >= 9000);
  muster_device_info wrong = {.size = 0};
  CHECK(muster_device_get(device, &wrong) == MUSTER_ERROR_ARGUMENT);
  struct { /* a program of an older muster, whose struct ends early: nothing behind it is touched */
    size_t size;
    char name[128];
    unsigned behind;
  } old = {.size = offsetof(muster_device_info, is_cpu), .behind = 0xabcd};
  CHECK(muster_device_get(device, (muster_device_info *)(void *)&old) == MUSTER_OK && old.behind == 0xabcd &&
        old.name[0]);
  muster_profile p = MUSTER_PROFILE_INIT;
  size_t n = 0;
  while (muster_profile_get(n, &p) == MUSTER_OK)
    n++;
  CHECK(n == muster_profile_count() && n >= 9);
  CHECK_TEXT(muster_result_name(MUSTER_ERROR_PTX), "MUSTER_ERROR_PTX");
  CHECK_TEXT(muster_result_text(MUSTER_OK), "no error");
  CHECK_TEXT(muster_result_name((muster_result)12345), "an unknown result");
}

static void memory(void) {
  uint64_t a = 0, empty = 0;
  char in[1000], out[1000] = {0};
  for (size_t i = 0; i < sizeof in; i++)
    in[i] = (char)i;
  CHECK(muster_alloc(device, sizeof in, &a) == MUSTER_OK && a != 0);
  CHECK(muster_copy_in(device, a, in, sizeof in) == MUSTER_OK &&
        muster_copy_out(device, out, a, sizeof out) == MUSTER_OK);
  CHECK(memcmp(in, out, sizeof in) == 0);
  CHECK(muster_fill_bytes(device, a + 10, 7, 5) == MUSTER_OK &&
        muster_copy_out(device, out, a, sizeof out) == MUSTER_OK);
  CHECK(out[9] == in[9] && out[10] == 7 && out[14] == 7 && out[15] == in[15]);
  CHECK(muster_alloc(device, 0, &empty) == MUSTER_OK && empty != 0 && empty != a);
  CHECK(muster_copy_in(device, empty, in, 0) == MUSTER_OK);
  CHECK(muster_free(device, a) == MUSTER_OK && muster_free(device, empty) == MUSTER_OK &&
        muster_free(device, 0) == MUSTER_OK);
  CHECK(muster_alloc(device, (size_t)1 << 60, &a) == MUSTER_ERROR_MEMORY && says("1152921504606846976"));
  CHECK(muster_alloc(NULL, 1, &a) == MUSTER_ERROR_ARGUMENT &&
        muster_copy_out(device, NULL, a, 1) == MUSTER_ERROR_ARGUMENT);
}

static void modules(const char *path) {
  muster_module *none = NULL;
  muster_kernel *k = NULL;
  CHECK(muster_module_open(device, "/no/such/file", &none) == MUSTER_ERROR_FILE && !none &&
        says("/no/such/file"));
  CHECK(muster_module_load(device, "text", "hello", 5, &none) == MUSTER_ERROR_IMAGE && !none &&
        says("text: "));
  CHECK(muster_module_load(device, "empty", "", 0, &none) == MUSTER_ERROR_IMAGE);
  static const char bad[] =
      ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k() { .reg .u32 %r; frobnicate %r; }";
  muster_result r = muster_module_load(device, "bad", bad, sizeof bad - 1, &none);
  if (r == MUSTER_OK) /* bodies may be read later */
    r = muster_module_find(none, "k", &k);
  CHECK(r == MUSTER_ERROR_PTX && says("frobnicate"));
  CHECK(muster_module_open(device, path, &module) == MUSTER_OK);
  CHECK(muster_module_kernels(module) > 8 && muster_module_kernel(module, 0) != NULL);
  CHECK(muster_module_kernel(module, muster_module_kernels(module)) == NULL &&
        muster_module_kernels(NULL) == 0);
  CHECK(muster_module_find(module, "twice", &k) == MUSTER_ERROR_AMBIGUOUS && !k &&
        says("_Z5twicePi, _Z5twicePf"));
  CHECK(muster_module_find(module, "nothing", &k) == MUSTER_ERROR_NOT_FOUND && !k);
  CHECK(muster_module_find(module, "math::scale", &k) == MUSTER_OK && k);
  CHECK(strcmp(muster_message(), "") == 0);
  muster_kernel_info info = MUSTER_KERNEL_INFO_INIT;
  size_t bytes = 0;
  CHECK(muster_kernel_get(k, &info) == MUSTER_OK && info.parameters == 3);
  CHECK_TEXT(info.name, "_ZN4math5scaleEPfjf");
  CHECK_TEXT(info.plain_name, "math::scale");
  CHECK(muster_kernel_parameter_bytes(k, 0, &bytes) == MUSTER_OK && bytes == 8);
  CHECK(muster_kernel_parameter_bytes(k, 2, &bytes) == MUSTER_OK && bytes == 4);
  CHECK(muster_kernel_parameter_bytes(k, 3, &bytes) == MUSTER_ERROR_ARGUMENT);
  muster_module_unload(NULL);
}

static void launches(void) {
  muster_kernel *k = NULL;
  uint64_t p = 0;
  float host[100], factor = 3;
  uint32_t n = 90;
  for (int i = 0; i < 100; i++)
    host[i] = (float)i;
  CHECK(muster_module_find(module, "scale", &k) == MUSTER_OK &&
        muster_alloc(device, sizeof host, &p) == MUSTER_OK);
  CHECK(muster_copy_in(device, p, host, sizeof host) == MUSTER_OK);
  void *parameters[] = {&p, &n, &factor};
  muster_launch l = MUSTER_LAUNCH_INIT;
  l.grid[0] = 4;
  l.block[0] = 32;
  CHECK(muster_kernel_launch(k, &l, parameters) == MUSTER_OK && muster_wait(device) == MUSTER_OK);
  CHECK(muster_copy_out(device, host, p, sizeof host) == MUSTER_OK);
  for (int i = 0; i < 100; i++)
    CHECK(host[i] == (i < 90 ? 3 * (float)i : (float)i));
  CHECK(muster_kernel_launch(k, &l, NULL) == MUSTER_ERROR_ARGUMENT &&
        muster_kernel_launch(NULL, &l, parameters) != MUSTER_OK);
  l.block[0] = 4096;
  CHECK(muster_kernel_launch(k, &l, parameters) == MUSTER_ERROR_LAUNCH_SHAPE && says("4096"));
  l.block[0] = 32;
  l.grid[1] = 70000;
  CHECK(muster_kernel_launch(k, &l, parameters) == MUSTER_ERROR_LAUNCH_SHAPE && says("70000"));
  l.grid[1] = 0;
  l.shared_bytes = 1 << 30;
  CHECK(muster_kernel_launch(k, &l, parameters) == MUSTER_ERROR_LAUNCH_SHAPE && says("1073741824"));
  l.shared_bytes = 0;
  CHECK(muster_wait(device) == MUSTER_OK &&
        muster_free(device, p) == MUSTER_OK); /* none of it broke anything */
}

static void plans(void) {
  muster_kernel *k = NULL;
  muster_device_info d = MUSTER_DEVICE_INFO_INIT;
  muster_plan plan = MUSTER_PLAN_INIT;
  muster_launch l = MUSTER_LAUNCH_INIT;
  uint64_t p = 0;
  void *parameters[] = {&p};
  l.block[0] = 32;
  CHECK(muster_device_get(device, &d) == MUSTER_OK && muster_module_find(module, "meet", &k) == MUSTER_OK);
  CHECK(muster_kernel_plan(k, &l, &plan) == MUSTER_OK && plan.blocks_per_sm == d.blocks_per_sm);
  CHECK(plan.limit == MUSTER_LIMIT_BLOCKS && plan.resident_blocks == d.blocks_per_sm * d.multiprocessors);
  l.block[0] = 1024;
  CHECK(muster_kernel_plan(k, &l, &plan) == MUSTER_OK && plan.limit == MUSTER_LIMIT_THREADS);
  CHECK(plan.blocks_per_sm == d.threads_per_sm / 1024);
  l.block[0] = 32;
  l.shared_bytes = d.shared_per_block_bytes;
  CHECK(muster_kernel_plan(k, &l, &plan) == MUSTER_OK && plan.limit == MUSTER_LIMIT_SHARED &&
        plan.blocks_per_sm == 1);
  l.shared_bytes = 0;
  l.block[0] = 2048;
  CHECK(muster_kernel_plan(k, &l, &plan) == MUSTER_ERROR_LAUNCH_SHAPE);
  l.block[0] = 32;
  l.cluster[0] = 2;
  if (d.has_clusters)
    CHECK(muster_kernel_plan(k, &l, &plan) == MUSTER_OK && plan.clusters > 0 &&
          plan.resident_blocks == 2 * plan.clusters);
  else
    CHECK(muster_kernel_plan(k, &l, &plan) == MUSTER_ERROR_LAUNCH_SHAPE && says("clusters"));
  l.cluster[0] = 0;
  /* The plan is right: as many blocks as it says meet, and one more is refused. */
  CHECK(muster_kernel_plan(k, &l, &plan) == MUSTER_OK && muster_alloc(device, 4, &p) == MUSTER_OK);
  CHECK(muster_fill_bytes(device, p, 0, 4) == MUSTER_OK);
  l.cooperative = 1;
  l.grid[0] = plan.resident_blocks;
  CHECK(muster_kernel_launch(k, &l, parameters) == MUSTER_OK && muster_wait(device) == MUSTER_OK);
  l.grid[0]++;
  CHECK(muster_kernel_launch(k, &l, parameters) == MUSTER_ERROR_LAUNCH_TOO_LARGE && says("can be resident"));
  CHECK(muster_free(device, p) == MUSTER_OK);
}

/* Work that is timed: launches `count`, which adds 1 to a word; fails at its call number `fails`, from 1. */
typedef struct counted {
  muster_kernel *kernel;
  uint64_t word;
  unsigned calls, fails;
} counted;
static muster_result count_once(void *context, void *stream) {
  counted *c = context;
  muster_launch l = MUSTER_LAUNCH_INIT;
  void *parameters[] = {&c->word};
  if (++c->calls == c->fails)
    return muster_kernel_launch(NULL, &l, parameters);
  l.grid[0] = l.block[0] = 1;
  l.stream = stream;
  return muster_kernel_launch(c->kernel, &l, parameters);
}

static void times(void) {
  counted c = {0};
  muster_timing how = MUSTER_TIMING_INIT;
  double ns[4] = {0, 0, 0, -1};
  uint32_t word = 0;
  CHECK(muster_module_find(module, "count", &c.kernel) == MUSTER_OK &&
        muster_alloc(device, sizeof word, &c.word) == MUSTER_OK);
  how.runs = 3;
  how.repeat = 5;
  for (how.graph = 0; how.graph < 2; how.graph++) { /* one run is not timed; a graph is captured once */
    c.calls = 0;
    CHECK(muster_fill_bytes(device, c.word, 0, sizeof word) == MUSTER_OK &&
          muster_time(device, &how, count_once, &c, ns) == MUSTER_OK &&
          muster_copy_out(device, &word, c.word, sizeof word) == MUSTER_OK);
    CHECK(word == 4 * 5 && c.calls == (how.graph ? 5 : 4 * 5));
    CHECK(ns[0] > 0 && ns[1] > 0 && ns[2] > 0 && ns[3] == -1);
    c.calls = 0;
    c.fails = 3;
    CHECK(muster_time(device, &how, count_once, &c, ns) == MUSTER_ERROR_ARGUMENT &&
          says("muster_kernel_launch"));
    c.fails = 0;
  }
  muster_timing once = MUSTER_TIMING_INIT, wrong = {.size = 0};
  CHECK(muster_fill_bytes(device, c.word, 0, sizeof word) == MUSTER_OK &&
        muster_time(device, &once, count_once, &c, ns) == MUSTER_OK &&
        muster_copy_out(device, &word, c.word, sizeof word) == MUSTER_OK && word == 2);
  CHECK(muster_time(device, &wrong, count_once, &c, ns) == MUSTER_ERROR_ARGUMENT);
  CHECK(muster_time(device, &once, NULL, &c, ns) == MUSTER_ERROR_ARGUMENT);
  CHECK(muster_time(device, &once, count_once, &c, NULL) == MUSTER_ERROR_ARGUMENT);
  CHECK(muster_time(NULL, &once, count_once, &c, ns) == MUSTER_ERROR_ARGUMENT && says("muster_time"));
  CHECK(muster_free(device, c.word) == MUSTER_OK);
}

static void failures_of_launches(void) { /* the last test: the device is lost afterwards */
  muster_kernel *k = NULL;
  uint64_t p = 0;
  void *parameters[] = {&p};
  muster_launch l = MUSTER_LAUNCH_INIT;
  l.grid[0] = l.block[0] = 1;
  CHECK(muster_module_find(module, "fault", &k) == MUSTER_OK &&
        muster_kernel_launch(k, &l, parameters) == MUSTER_OK);
  CHECK(muster_wait(device) == MUSTER_ERROR_LAUNCH_FAILED && says("illegal memory access"));
  CHECK(muster_wait(device) == MUSTER_ERROR_DEVICE_LOST);
  CHECK(muster_alloc(device, 4, &p) == MUSTER_ERROR_DEVICE_LOST);
}

int main(int argc, char **argv) {
  if (argc != 2)
    return 2;
  muster_result r = muster_open(NULL, &device);
  if (r == MUSTER_ERROR_NO_DEVICE) {
    fprintf(stderr, "skipped: %s\n", muster_message());
    return 77;
  }
  CHECK(r == MUSTER_OK);
  devices();
  memory();
  modules(argv[1]);
  launches();
  plans();
  times();
  failures_of_launches();
  muster_close(device);
  return failures ? 1 : 0;
}
