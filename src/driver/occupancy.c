/* occupancy.c: how many blocks fit, for whoever asks and for launches that must fit: the machine's pure
 * function, fed with the kernel's needs. Asking is worth a ptxas run if the register count is only estimated.
 */
#include <stdio.h>

#include "driver/drv.h"

sim_fit drv_fit(drv_function *f, uint32_t threads, uint32_t shared_bytes, uint32_t cluster_blocks) {
  sim_limits limits;
  drv_profile_limits(f->module->context->device->profile, &limits);
  sim_need need = {
      .threads = threads,
      .registers = f->info.registers,
      .shared = shared_bytes,
      .cluster_blocks = cluster_blocks,
  };
  return sim_occupancy(&limits, &need);
}

void drv_limit_text(const drv_function *f, sim_limit_kind limit, uint32_t threads, uint32_t shared_bytes,
                    char *text, size_t bytes) {
  switch (limit) {
  case SIM_LIMIT_REGISTERS:
    snprintf(text, bytes, "registers, %u a thread%s", f->info.registers, f->counted ? "" : ", estimated");
    break;
  case SIM_LIMIT_SHARED:
    snprintf(text, bytes, "shared memory, %u bytes a block", shared_bytes);
    break;
  case SIM_LIMIT_THREADS:
  case SIM_LIMIT_WARPS:
    snprintf(text, bytes, "threads, %u a block", threads);
    break;
  case SIM_LIMIT_BLOCKS:
  case SIM_LIMIT_NONE:
    snprintf(text, bytes, "blocks, %d an SM", f->module->context->device->profile->blocks_sm);
    break;
  case SIM_LIMIT_CLUSTER:
    snprintf(text, bytes, "clusters, which need their blocks in one GPC");
    break;
  }
}

/* Blocks of one shape on one SM. */
static int per_sm(drv_function *f, int threads, size_t dynamic_shared) {
  if (threads > 1024 || dynamic_shared > UINT32_MAX / 2)
    return 0;
  return (int)drv_fit(f, (uint32_t)threads, f->info.shared_bytes + (uint32_t)dynamic_shared, 1).per_sm;
}

static CUresult prepare(CUfunction function, drv_function **f) {
  CUresult r = drv_function_of(function, f);
  if (r == CUDA_SUCCESS)
    r = drv_function_ready(*f);
  if (r == CUDA_SUCCESS)
    drv_function_count(*f);
  return r;
}

CUresult drv_cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, CUfunction function,
                                                                  int block_size, size_t shared_bytes,
                                                                  unsigned flags) {
  drv_function *f;
  if (!blocks || block_size <= 0 || (flags & ~(unsigned)CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE))
    return CUDA_ERROR_INVALID_VALUE;
  CUresult r = prepare(function, &f);
  if (r == CUDA_SUCCESS)
    *blocks = per_sm(f, block_size, shared_bytes);
  return r;
}

CUresult drv_cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function, int block_size,
                                                         size_t shared_bytes) {
  return drv_cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, block_size, shared_bytes,
                                                                  0);
}

/* The block size that keeps most threads resident; of equals the largest. */
CUresult drv_cuOccupancyMaxPotentialBlockSizeWithFlags(int *min_grid, int *block_size, CUfunction function,
                                                       CUoccupancyB2DSize shared_of, size_t shared_bytes,
                                                       int limit, unsigned flags) {
  drv_function *f;
  if (!min_grid || !block_size || limit < 0 || (flags & ~(unsigned)CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE))
    return CUDA_ERROR_INVALID_VALUE;
  CUresult r = prepare(function, &f);
  if (r != CUDA_SUCCESS)
    return r;
  int most = f->info.max_threads && f->info.max_threads < 1024 ? (int)f->info.max_threads : 1024;
  if (limit > 0 && limit < most)
    most = limit;
  int best = 0, best_threads = 0, best_blocks = 0;
  for (int at = (most + 31) / 32 * 32; at > 0; at -= 32) {
    int threads = at < most ? at : most;
    int blocks = per_sm(f, threads, shared_of ? shared_of(threads) : shared_bytes);
    if (blocks * threads > best_threads) {
      best = threads;
      best_blocks = blocks;
      best_threads = blocks * threads;
    }
  }
  *block_size = best;
  *min_grid = best_blocks * f->module->context->device->profile->sms;
  return CUDA_SUCCESS;
}

CUresult drv_cuOccupancyMaxPotentialBlockSize(int *min_grid, int *block_size, CUfunction function,
                                              CUoccupancyB2DSize shared_of, size_t shared_bytes, int limit) {
  return drv_cuOccupancyMaxPotentialBlockSizeWithFlags(min_grid, block_size, function, shared_of,
                                                       shared_bytes, limit, 0);
}

CUresult drv_cuOccupancyAvailableDynamicSMemPerBlock(size_t *shared_bytes, CUfunction function, int blocks,
                                                     int block_size) {
  drv_function *f;
  if (!shared_bytes || blocks <= 0 || block_size <= 0)
    return CUDA_ERROR_INVALID_VALUE;
  CUresult r = prepare(function, &f);
  if (r != CUDA_SUCCESS)
    return r;
  if (per_sm(f, block_size, 0) < blocks)
    return CUDA_ERROR_INVALID_VALUE;
  const drv_profile *p = f->module->context->device->profile;
  long unit = p->cc >= 80 ? 128 : 256;
  /* As a GPU's driver answers: the share of what the system reserves is not taken off. */
  long each = p->shared_sm_bytes / blocks / unit * unit - (long)f->info.shared_bytes;
  if (each > (long)f->max_dynamic_shared)
    each = (long)f->max_dynamic_shared;
  *shared_bytes = each > 0 ? (size_t)each : 0;
  return CUDA_SUCCESS;
}

/* ------------------------------------------------------------------ clusters */

static uint32_t cluster_blocks(const drv_function *f, const CUlaunchConfig *config) {
  const uint32_t *own = f->cluster;
  uint32_t n = own[0] ? own[0] * (own[1] ? own[1] : 1) * (own[2] ? own[2] : 1) : 1;
  for (unsigned i = 0; i < config->numAttrs; i++)
    if (config->attrs[i].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
      n = config->attrs[i].value.clusterDim.x * config->attrs[i].value.clusterDim.y *
          config->attrs[i].value.clusterDim.z;
  return n;
}

static CUresult cluster_question(CUfunction function, const CUlaunchConfig *config, drv_function **f,
                                 uint32_t *threads) {
  if (!config || (config->numAttrs && !config->attrs))
    return CUDA_ERROR_INVALID_VALUE;
  uint64_t n = (uint64_t)config->blockDimX * config->blockDimY * config->blockDimZ;
  CUresult r = prepare(function, f);
  if (r != CUDA_SUCCESS)
    return r;
  if ((*f)->module->context->device->profile->cc < 90)
    return CUDA_ERROR_NOT_SUPPORTED;
  if (n == 0 || n > 1024)
    return CUDA_ERROR_INVALID_VALUE;
  *threads = (uint32_t)n;
  return CUDA_SUCCESS;
}

CUresult drv_cuOccupancyMaxPotentialClusterSize(int *cluster_size, CUfunction function,
                                                const CUlaunchConfig *config) {
  drv_function *f;
  uint32_t threads;
  if (!cluster_size)
    return CUDA_ERROR_INVALID_VALUE;
  CUresult r = cluster_question(function, config, &f, &threads);
  if (r != CUDA_SUCCESS)
    return r;
  *cluster_size = 0;
  for (uint32_t n = f->cluster_non_portable ? 16 : 8; n > 0; n /= 2)
    if (drv_fit(f, threads, f->info.shared_bytes + config->sharedMemBytes, n).blocks > 0) {
      *cluster_size = (int)n;
      break;
    }
  return CUDA_SUCCESS;
}

CUresult drv_cuOccupancyMaxActiveClusters(int *clusters, CUfunction function, const CUlaunchConfig *config) {
  drv_function *f;
  uint32_t threads;
  if (!clusters)
    return CUDA_ERROR_INVALID_VALUE;
  CUresult r = cluster_question(function, config, &f, &threads);
  if (r != CUDA_SUCCESS)
    return r;
  uint32_t n = cluster_blocks(f, config);
  if (n == 0 || n > (f->cluster_non_portable ? 16u : 8u))
    return CUDA_ERROR_INVALID_CLUSTER_SIZE;
  sim_fit fit = drv_fit(f, threads, f->info.shared_bytes + config->sharedMemBytes, n);
  *clusters = (int)(n > 1 ? fit.clusters : fit.blocks);
  return CUDA_SUCCESS;
}
