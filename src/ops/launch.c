/* launch.c: launching a kernel, and how many of its blocks can be resident.
 *
 * What fits is the driver's answer; only which limit binds is worked out here, from the figures that the
 * device and the kernel give, since no driver function says it.
 */
#include "ops.h"

#include <string.h>

static uint32_t or_one(uint32_t n) {
  return n ? n : 1;
}
static bool has_cluster(const muster_launch *l) {
  return l->cluster[0] || l->cluster[1] || l->cluster[2];
}

static uint64_t block_threads(const muster_launch *l) {
  return (uint64_t)or_one(l->block[0]) * or_one(l->block[1]) * or_one(l->block[2]);
}

static uint64_t cluster_blocks(const muster_launch *l) {
  return (uint64_t)or_one(l->cluster[0]) * or_one(l->cluster[1]) * or_one(l->cluster[2]);
}

/* What a kernel has to be told before the launch: more than 48 KiB of dynamic shared memory, clusters
 * above 8. */
static muster_result prepare(muster_kernel *k, const muster_launch *l) {
  muster_device *d = k->module->device;
  CUresult answer = CUDA_SUCCESS;
  if (l->shared_bytes > INT32_MAX)
    return ops_fail(MUSTER_ERROR_LAUNCH_SHAPE,
                    "%s: %zu bytes of shared memory for a block, and it can have %u", k->plain,
                    l->shared_bytes, d->info.shared_per_block_bytes);
  if (l->shared_bytes + k->info.shared_bytes > 48 * 1024) {
    answer = d->cu.cuFuncSetAttribute(k->function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                      (int)l->shared_bytes);
    if (answer == CUDA_ERROR_INVALID_VALUE)
      return ops_fail(
          MUSTER_ERROR_LAUNCH_SHAPE,
          "%s: %zu bytes of shared memory for a block (%zu of them the kernel's own), and it can have %u",
          k->plain, l->shared_bytes + k->info.shared_bytes, k->info.shared_bytes,
          d->info.shared_per_block_bytes);
  }
  if (answer == CUDA_SUCCESS && has_cluster(l) && cluster_blocks(l) > 8)
    answer = d->cu.cuFuncSetAttribute(k->function, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1);
  return answer == CUDA_SUCCESS ? MUSTER_OK : ops_fail_cu(d, answer, k->plain);
}

/* The driver's form of a launch; `attributes` has room for two. */
static CUlaunchConfig config_of(const muster_launch *l, CUlaunchAttribute *attributes) {
  CUlaunchConfig c = {.gridDimX = or_one(l->grid[0]),
                      .gridDimY = or_one(l->grid[1]),
                      .gridDimZ = or_one(l->grid[2]),
                      .blockDimX = or_one(l->block[0]),
                      .blockDimY = or_one(l->block[1]),
                      .blockDimZ = or_one(l->block[2]),
                      .sharedMemBytes = (unsigned)l->shared_bytes,
                      .hStream = l->stream,
                      .attrs = attributes};
  memset(attributes, 0, 2 * sizeof *attributes);
  if (l->cooperative) {
    attributes[c.numAttrs].id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    attributes[c.numAttrs++].value.cooperative = 1;
  }
  if (has_cluster(l)) {
    attributes[c.numAttrs].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attributes[c.numAttrs].value.clusterDim.x = or_one(l->cluster[0]);
    attributes[c.numAttrs].value.clusterDim.y = or_one(l->cluster[1]);
    attributes[c.numAttrs++].value.clusterDim.z = or_one(l->cluster[2]);
  }
  return c;
}

static bool copy_launch(const muster_launch *from, muster_launch *to) {
  if (!from || from->size < sizeof(size_t) || from->size > sizeof *to)
    return false;
  memset(to, 0, sizeof *to);
  memcpy(to, from, from->size);
  return true;
}

muster_result muster_kernel_launch(muster_kernel *kernel, const muster_launch *launch, void **parameters) {
  ops_begin();
  muster_launch l;
  muster_result r = kernel ? ops_kernel_load(kernel) : MUSTER_OK;
  if (r != MUSTER_OK)
    return r;
  if (!kernel || !copy_launch(launch, &l) || (!parameters && kernel->info.parameters > 0))
    return ops_fail(MUSTER_ERROR_ARGUMENT,
                    "muster_kernel_launch: a kernel, an initialised launch and parameters are needed");
  muster_device *d = kernel->module->device;
  if (block_threads(&l) > kernel->info.threads_per_block)
    return ops_fail(MUSTER_ERROR_LAUNCH_SHAPE, "%s: %llu threads in a block, and it takes at most %u",
                    kernel->plain, (unsigned long long)block_threads(&l), kernel->info.threads_per_block);
  if (has_cluster(&l))
    for (int i = 0; i < 3; i++)
      if (or_one(l.grid[i]) % or_one(l.cluster[i]) != 0)
        return ops_fail(MUSTER_ERROR_LAUNCH_SHAPE,
                        "%s: a grid of %u,%u,%u blocks cannot be divided into clusters of %u,%u,%u",
                        kernel->plain, or_one(l.grid[0]), or_one(l.grid[1]), or_one(l.grid[2]),
                        or_one(l.cluster[0]), or_one(l.cluster[1]), or_one(l.cluster[2]));
  d->cu.cuCtxSetCurrent(d->context);
  r = prepare(kernel, &l);
  if (r != MUSTER_OK)
    return r;
  CUlaunchAttribute attributes[2];
  CUlaunchConfig config = config_of(&l, attributes);
  CUresult answer = d->cu.cuLaunchKernelEx(&config, kernel->function, parameters, NULL);
  if (answer == CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE) {
    muster_plan plan = MUSTER_PLAN_INIT;
    if (muster_kernel_plan(kernel, &l, &plan) == MUSTER_OK)
      return ops_fail(MUSTER_ERROR_LAUNCH_TOO_LARGE,
                      "%s: a cooperative launch of %llu blocks, and %u can be resident (%s)", kernel->plain,
                      (unsigned long long)or_one(l.grid[0]) * or_one(l.grid[1]) * or_one(l.grid[2]),
                      plan.resident_blocks, muster_limit_name(plan.limit));
  }
  if (answer ==
      CUDA_ERROR_INVALID_VALUE) /* everything else that could be invalid was checked: it is the shape */
    return ops_fail(MUSTER_ERROR_LAUNCH_SHAPE,
                    "%s: a grid of %u,%u,%u blocks of %u,%u,%u threads with %zu bytes of shared memory: more "
                    "than the device "
                    "takes in some dimension",
                    kernel->plain, config.gridDimX, config.gridDimY, config.gridDimZ, config.blockDimX,
                    config.blockDimY, config.blockDimZ, kernel->info.shared_bytes + l.shared_bytes);
  return answer == CUDA_SUCCESS ? MUSTER_OK : ops_fail_cu(d, answer, kernel->plain);
}

/* ------------------------------------------------------------------ plans */

const char *muster_limit_name(muster_limit limit) {
  static const char *const names[] = {[MUSTER_LIMIT_BLOCKS] = "blocks per multiprocessor",
                                      [MUSTER_LIMIT_THREADS] = "threads per multiprocessor",
                                      [MUSTER_LIMIT_REGISTERS] = "registers",
                                      [MUSTER_LIMIT_SHARED] = "shared memory",
                                      [MUSTER_LIMIT_LAUNCH] = "a single block does not fit"};
  return (unsigned)limit < MUSTER_LIMITS ? names[limit] : "an unknown limit";
}

static uint32_t round_up(uint64_t n, uint32_t to) {
  return (uint32_t)((n + to - 1) / to * to);
}

/* Registers are given to a warp in units of 256 and warps of a block to the four schedulers; shared memory in
 * units of 128 bytes (256 before sm_80). */
static void limits(const muster_kernel *k, const muster_launch *l, muster_plan *p) {
  const muster_device_info *d = &k->module->device->info;
  uint32_t warps = (uint32_t)((block_threads(l) + 31) / 32);
  for (int i = 0; i < MUSTER_LIMITS; i++)
    p->by[i] = UINT32_MAX;
  p->by[MUSTER_LIMIT_BLOCKS] = d->blocks_per_sm;
  p->by[MUSTER_LIMIT_THREADS] = d->threads_per_sm / 32 / warps;
  if (k->info.registers > 0) {
    uint32_t a_warp = round_up((uint64_t)k->info.registers * 32, 256);
    p->by[MUSTER_LIMIT_REGISTERS] = d->registers_per_sm / a_warp / 4 * 4 / warps;
  }
  uint64_t shared = k->info.shared_bytes + l->shared_bytes;
  if (shared + d->shared_reserved_bytes > 0)
    p->by[MUSTER_LIMIT_SHARED] = d->shared_per_sm_bytes / round_up(shared + d->shared_reserved_bytes,
                                                                   d->compute_capability >= 80 ? 128 : 256);
  p->limit = MUSTER_LIMIT_BLOCKS;
  for (int i = 0; i < MUSTER_LIMIT_LAUNCH; i++)
    if (p->by[i] < p->by[p->limit])
      p->limit = (muster_limit)i;
  if (p->blocks_per_sm == 0 && p->by[p->limit] > 0)
    p->limit = MUSTER_LIMIT_LAUNCH;
}

muster_result muster_kernel_plan(muster_kernel *kernel, const muster_launch *launch, muster_plan *plan) {
  ops_begin();
  muster_launch l;
  muster_plan p = MUSTER_PLAN_INIT;
  muster_result r = kernel ? ops_kernel_load(kernel) : MUSTER_OK;
  if (r != MUSTER_OK)
    return r;
  if (!kernel || !copy_launch(launch, &l) || !plan || plan->size < sizeof(size_t) || plan->size > sizeof p)
    return ops_fail(MUSTER_ERROR_ARGUMENT,
                    "muster_kernel_plan: a kernel, a launch and a plan, both initialised, are needed");
  muster_device *d = kernel->module->device;
  if (block_threads(&l) > kernel->info.threads_per_block)
    return ops_fail(MUSTER_ERROR_LAUNCH_SHAPE, "%s: %llu threads in a block, and it takes at most %u",
                    kernel->plain, (unsigned long long)block_threads(&l), kernel->info.threads_per_block);
  if (has_cluster(&l) && !d->info.has_clusters)
    return ops_fail(MUSTER_ERROR_LAUNCH_SHAPE,
                    "%s has no clusters: compute capability %u.%u, and clusters begin with 9.0", d->info.name,
                    d->info.compute_capability / 10, d->info.compute_capability % 10);
  d->cu.cuCtxSetCurrent(d->context);
  r = prepare(kernel, &l);
  if (r != MUSTER_OK)
    return r;
  int blocks = 0, min_grid = 0, suggested = 0, clusters = 0;
  CUresult answer = d->cu.cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel->function,
                                                                      (int)block_threads(&l), l.shared_bytes);
  if (answer == CUDA_SUCCESS)
    answer = d->cu.cuOccupancyMaxPotentialBlockSize(&min_grid, &suggested, kernel->function, NULL,
                                                    l.shared_bytes, 0);
  p.blocks_per_sm = (uint32_t)blocks;
  p.resident_blocks = p.blocks_per_sm * d->info.multiprocessors;
  p.suggested_block = (uint32_t)suggested;
  if (answer == CUDA_SUCCESS && has_cluster(&l)) {
    CUlaunchAttribute attributes[2];
    for (int i = 0; i < 3; i++)
      l.grid[i] = or_one(l.cluster[i]);
    CUlaunchConfig config = config_of(&l, attributes);
    answer = d->cu.cuOccupancyMaxActiveClusters(&clusters, kernel->function, &config);
    p.clusters = (uint32_t)clusters;
    p.resident_blocks = (uint32_t)(p.clusters * cluster_blocks(&l));
  }
  if (answer != CUDA_SUCCESS)
    return ops_fail_cu(d, answer, kernel->plain);
  ops_kernel_registers(kernel); /* being asked for its occupancy can have made the driver count */
  limits(kernel, &l, &p);
  size_t size = plan->size;
  memcpy(plan, &p, size);
  plan->size = size;
  return MUSTER_OK;
}
