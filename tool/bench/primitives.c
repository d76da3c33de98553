/* primitives.c: what muster bench measures of barriers, kernel boundaries and fences. */
#include "bench.h"

#include <stdlib.h>
#include <string.h>

#include "muster/types.h"

enum { THREADS = 128, SHAPES = 32, MOST_CLUSTER = 16 };

static bench_loop loop_of(uint32_t blocks, uint32_t threads) {
  bench_loop loop = {.launch = MUSTER_LAUNCH_INIT};
  loop.launch.grid[0] = blocks;
  loop.launch.block[0] = threads;
  return loop;
}

/* A loop of one block, one parameter, `out` (0: none), and the rounds. */
static int measure_loop(bench *b, const char *name, char *how, uint32_t threads, uint64_t out, uint32_t few,
                        uint32_t many) {
  uint32_t rounds;
  void *parameters[] = {&out, &rounds};
  bench_loop loop = loop_of(1, threads);
  if (!bench_begin(b, (bench_figure){.how = how, .blocks = 1, .threads = threads}))
    return TOOL_OK;
  int code = bench_kernel(b, BENCH_primitives, name, &loop.kernel);
  if (code != TOOL_OK || !loop.kernel)
    return code;
  loop.parameters = out ? parameters : parameters + 1;
  loop.rounds = &rounds;
  return bench_slope(b, &loop, b->small ? 10 : few, b->small ? 2010 : many, 1);
}

int bench_measure_warp(bench *b) {
  uint64_t out;
  int code = bench_memory(b, 128, &out);
  static const char *const names[][2] = {{"warp_barrier", "barrier"}, {"warp_shuffle", "shuffle"}};
  for (int i = 0; i < 2 && code == TOOL_OK; i++)
    code = measure_loop(b, names[i][0], tool_format("%s", names[i][1]), 32, out, 1000, 101000);
  return code;
}

int bench_measure_block(bench *b) {
  int code = TOOL_OK;
  for (uint32_t threads = 32; threads <= b->info.threads_per_block && code == TOOL_OK; threads *= 2)
    code = measure_loop(b, "block_barrier", tool_format("barrier"), threads, 0, 1000, 51000);
  return code;
}

int bench_measure_fence(bench *b) {
  static const char *const orders[] = {"acq_rel", "sc"}, *const scopes[] = {"block", "cluster", "device",
                                                                            "system"};
  uint64_t out;
  int code = bench_memory(b, 128, &out);
  for (int i = 0; i < 8 && code == TOOL_OK; i++) {
    const char *order = orders[i / 4], *scope = scopes[i % 4];
    char *name = tool_format("fence_%s_%s", order, scope);
    code = measure_loop(b, name, tool_format("%s, %s scope", order, scope), 32, out, 100, 4100);
    free(name);
  }
  return code;
}

int bench_measure_cluster(bench *b) {
  if (!b->info.has_clusters) {
    bench_omit(b, tool_format("the device has no clusters of blocks"));
    return TOOL_OK;
  }
  uint32_t rounds;
  void *parameters[] = {&rounds};
  int code = TOOL_OK;
  for (uint32_t blocks = 2; blocks <= MOST_CLUSTER && code == TOOL_OK; blocks *= 2) {
    bench_loop loop = loop_of(blocks, THREADS);
    muster_plan plan = MUSTER_PLAN_INIT;
    loop.launch.cluster[0] = blocks;
    loop.parameters = parameters;
    loop.rounds = &rounds;
    if (!bench_begin(b, (bench_figure){.how = tool_format("barrier"), .blocks = blocks, .threads = THREADS}))
      continue;
    code = bench_kernel(b, BENCH_primitives, "cluster_barrier", &loop.kernel);
    if (code != TOOL_OK || !loop.kernel)
      return code;
    if (muster_kernel_plan(loop.kernel, &loop.launch, &plan) != MUSTER_OK || plan.clusters == 0)
      bench_omit(b, tool_format("no cluster of %u blocks fits", blocks));
    else
      code = bench_slope(b, &loop, b->small ? 10 : 1000, b->small ? 510 : 11000, 1);
  }
  return code;
}

/* ------------------------------------------------------------------ barriers over blocks */

/* How many blocks barriers are measured with: powers of two below the multiprocessors, then 1, 2, 4, 8 on
 * each. */
static size_t block_counts(const bench *b, uint32_t *counts) {
  uint32_t sms = b->info.multiprocessors, most = b->small ? 8 : 8 * sms;
  size_t n = 0;
  for (uint32_t blocks = 2; blocks < sms && blocks <= most && n < SHAPES; blocks *= 2)
    counts[n++] = blocks;
  for (uint32_t blocks = sms; blocks <= most && n < SHAPES; blocks *= 2)
    counts[n++] = blocks;
  return n;
}

static bool fits(const bench_loop *loop) {
  muster_plan plan = MUSTER_PLAN_INIT;
  return muster_kernel_plan(loop->kernel, &loop->launch, &plan) == MUSTER_OK &&
         plan.resident_blocks >= loop->launch.grid[0];
}

static bool begin_barrier(bench *b, const char *how, uint32_t blocks, uint32_t groups) {
  return bench_begin(
      b,
      (bench_figure){.how = tool_format("%s", how), .blocks = blocks, .groups = groups, .threads = THREADS});
}

/* `groups` groups of `blocks` blocks, by muster's barrier. */
static int measure_ours(bench *b, uint32_t blocks, uint32_t groups, uint64_t workspace,
                        uint64_t workspace_bytes, uint64_t failed) {
  uint32_t rounds, status = 0;
  void *parameters[] = {&workspace, &blocks, &rounds, &failed};
  bench_loop loop = loop_of(blocks * groups, THREADS);
  if (!begin_barrier(b, "muster", blocks, groups))
    return TOOL_OK;
  int code = bench_kernel(b, BENCH_primitives, "group_barrier", &loop.kernel);
  if (code != TOOL_OK || !loop.kernel)
    return code;
  loop.launch.cooperative = 1;
  loop.parameters = parameters;
  loop.rounds = &rounds;
  if (!fits(&loop)) {
    bench_omit(b, tool_format("muster, %u blocks: they cannot all be resident", blocks * groups));
    return TOOL_OK;
  }
  muster_result r = muster_fill_bytes(b->device, workspace, 0, workspace_bytes); /* it served other groups */
  if (r != MUSTER_OK)
    return bench_failed(b, r);
  code = bench_slope(b, &loop, b->small ? 10 : 1000, b->small ? 60 : 5000, 1);
  if (code != TOOL_OK)
    return code;
  r = muster_copy_out(b->device, &status, failed, sizeof status);
  if (r != MUSTER_OK)
    return bench_failed(b, r);
  return status == MU_OK ? TOOL_OK : bench_wrong(b, tool_format("status %u of muster/types.h", status));
}

/* The same by cooperative groups, which only know the whole grid. */
static int measure_cooperative(bench *b, uint32_t blocks, uint32_t groups) {
  uint32_t rounds;
  void *parameters[] = {&rounds};
  bench_loop loop = loop_of(blocks * groups, THREADS);
  if (!begin_barrier(b, "cooperative groups", blocks, groups))
    return TOOL_OK;
  int code = bench_kernel(b, BENCH_cooperative, "cooperative_barrier", &loop.kernel);
  if (code != TOOL_OK || !loop.kernel)
    return code;
  loop.launch.cooperative = 1;
  loop.parameters = parameters;
  loop.rounds = &rounds;
  return fits(&loop) ? bench_slope(b, &loop, b->small ? 10 : 1000, b->small ? 60 : 5000, 1) : TOOL_OK;
}

static int measure_barriers(bench *b, const uint32_t *blocks, const uint32_t *groups, size_t n) {
  uint64_t workspace = 0, failed = 0, bytes = 0;
  muster_kernel *baseline = NULL;
  int code = bench_kernel(b, BENCH_cooperative, "cooperative_barrier", &baseline);
  if (code == TOOL_OK && !baseline)
    bench_omit(b, tool_format("cooperative groups: this build or this device has no kernel of theirs"));
  if (!b->info.has_cooperative) {
    bench_omit(b, tool_format("the device cannot launch cooperatively"));
    return code;
  }
  for (size_t i = 0; i < n; i++)
    if (bytes < MU_SLOT_BYTES(blocks[i]) * groups[i])
      bytes = MU_SLOT_BYTES(blocks[i]) * groups[i];
  if (code == TOOL_OK)
    code = bench_memory(b, bytes, &workspace);
  if (code == TOOL_OK)
    code = bench_memory(b, sizeof(uint32_t), &failed);
  for (size_t i = 0; i < n && code == TOOL_OK; i++) {
    code = measure_ours(b, blocks[i], groups[i], workspace, bytes, failed);
    if (code == TOOL_OK && baseline)
      code = measure_cooperative(b, blocks[i], groups[i]);
  }
  return code;
}

int bench_measure_grid(bench *b) {
  uint32_t blocks[SHAPES], groups[SHAPES];
  size_t n = block_counts(b, blocks);
  for (size_t i = 0; i < n; i++)
    groups[i] = 1;
  return measure_barriers(b, blocks, groups, n);
}

/* One block a multiprocessor, in groups of 2 to 32. */
int bench_measure_group(bench *b) {
  uint32_t blocks[SHAPES], groups[SHAPES], all = b->small ? 8 : b->info.multiprocessors;
  size_t n = 0;
  for (uint32_t each = 2; each <= 32 && 2 * each <= all; each *= 2) {
    blocks[n] = each;
    groups[n++] = all / each;
  }
  return measure_barriers(b, blocks, groups, n);
}

int bench_measure_boundary(bench *b) {
  uint32_t blocks[SHAPES];
  size_t n = block_counts(b, blocks);
  int code = TOOL_OK;
  for (size_t i = 0; i < 2 * n && code == TOOL_OK; i++) {
    bench_loop loop = loop_of(blocks[i / 2], THREADS);
    loop.graph = i % 2;
    if (!bench_begin(b, (bench_figure){.how = tool_format(loop.graph ? "in a graph" : "in a stream"),
                                       .blocks = blocks[i / 2],
                                       .threads = THREADS}))
      continue;
    code = bench_kernel(b, BENCH_primitives, "nothing", &loop.kernel);
    if (code == TOOL_OK && loop.kernel)
      code = bench_slope(b, &loop, b->small ? 2 : 50, b->small ? 6 : 250, 1);
  }
  return code;
}
