/* t_memory.c: allocations, what kernels may touch of them, host memory, and saved memory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/ptx.h"
#include "sim/hooks.h"

static const char text[] = ".version 8.0\n.target sm_70\n.address_size 64\n"
                           ".visible .entry k(.param .u64 at)\n{\n.reg .b64 d;\nld.param.u64 d, [at];\n"
                           "st.global.u32 [d], 7;\nret;\n}\n";
static const sim_options options = {.limits = {.sm = 80,
                                               .sms = 2,
                                               .threads_per_block = 1024,
                                               .threads_per_sm = 2048,
                                               .warps_per_sm = 64,
                                               .blocks_per_sm = 32,
                                               .registers_per_sm = 65536,
                                               .register_unit = 256,
                                               .warp_unit = 4,
                                               .shared_per_sm = 102400,
                                               .shared_reserved = 1024,
                                               .shared_unit = 128},
                                    .memory_bytes = 256u << 20};
static int failed;

static void expect(bool ok, const char *what) {
  if (!ok)
    printf("failed: %s\n", what), failed++;
}

/* How a launch that writes 7 to an address ends. */
static sim_state write_to(sim_device *d, uint64_t at) {
  static ptx_module *p;
  char *error;
  sim_status s;
  if (!p)
    p = ptx_module_new("t_memory", text, sizeof text - 1);
  sim_module *m = sim_module_new(d, p, NULL, 0, &error);
  sim_launch l = {
      .kernel = sim_module_kernel(m, "k", &error), .grid = {1, 1, 1}, .block = {1, 1, 1}, .params = &at};
  if (!sim_launch_start(d, &l, &error))
    return SIM_IDLE;
  sim_device_run(d, 1000, &s);
  sim_module_free(m);
  return s.state;
}

int main(void) {
  sim_device *d = sim_device_new(&options);
  sim_allocation a;
  if (!d)
    return printf("no device\n"), 1;
  uint64_t x = sim_memory_new(d, 100), y = sim_memory_new(d, 64u << 20), z = sim_memory_new(d, 1);
  expect(x && y && z && x % 512 == 0 && y % 512 == 0 && z % 512 == 0, "three allocations");
  expect(sim_memory_find(d, x + 99, &a) && a.address == x && a.bytes == 100,
         "an allocation is found with its size");
  expect(!sim_memory_find(d, z + 512, &a), "nothing behind the last");
  expect(write_to(d, x) == SIM_DONE && *(uint32_t *)(uintptr_t)x == 7, "a write");
  expect(write_to(d, x + 508) == SIM_DONE, "to the end of the padding");
  expect(write_to(d, y + (32u << 20)) == SIM_DONE, "into a large one");
  expect(write_to(d, z + 512) == SIM_FAULTED, "behind all");
  expect(!sim_memory_free(d, y + 512) && sim_memory_free(d, y), "only the beginning frees");
  expect(write_to(d, y + (32u << 20)) == SIM_FAULTED, "into freed memory");
  expect(write_to(d, y) == SIM_FAULTED, "at the beginning of freed memory");
  expect(write_to(d, y + 512) == SIM_FAULTED, "just behind");
  expect(sim_memory_new(d, 1024) == y, "freed memory is used again");
  expect(sim_memory_new(d, 1u << 30) == 0, "more than there is");
  uint32_t *host = aligned_alloc(512, 512);
  expect(write_to(d, (uint64_t)(uintptr_t)host) == SIM_FAULTED, "host memory that nobody registered");
  expect(sim_host_register(d, host, 512, true) && !sim_host_register(d, host + 4, 16, true),
         "registered once");
  expect(write_to(d, (uint64_t)(uintptr_t)host) == SIM_DONE && *host == 7, "registered host memory");
  expect(sim_host_unregister(d, host) && write_to(d, (uint64_t)(uintptr_t)host) == SIM_FAULTED,
         "no longer registered");
  free(host);
  uint32_t *word = (uint32_t *)(uintptr_t)x;
  *word = 1;
  sim_device_watch(d, &(sim_watcher){0});
  sim_saved *s = sim_memory_save(d);
  expect(s && write_to(d, x) == SIM_DONE && *word == 7, "a kernel writes");
  sim_saved *later = sim_memory_save(d);
  sim_memory_changes(d, x + 4, 4);
  word[1] = 9;
  uint64_t own = sim_memory_new(d, 512);
  expect(sim_memory_restore(d, s) && *word == 1 && word[1] != 9, "saved and restored");
  expect(write_to(d, own) == SIM_FAULTED, "what was allocated since is gone");
  expect(sim_memory_restore(d, later) && *word == 7 && word[1] != 9, "a later state");
  expect(sim_memory_restore(d, s) && *word == 1, "and the first again");
  sim_saved_free(s);
  sim_saved_free(later);
  sim_device_watch(d, NULL);
  sim_device_free(d);
  printf("%d failed\n", failed);
  return failed != 0;
}
