/* launch.c: launches: everything a GPU's driver checks is checked before anything is queued, so that what
 * reaches the machine can run. Shapes, shared memory and parameters are the program's affair and answer
 * CUDA_ERROR_INVALID_VALUE; what does not fit on the profile is also explained.
 */
#include <stdlib.h>
#include <string.h>

#include "driver/drv.h"
#include "driver/graph.h"

/* ------------------------------------------------------------------ parameters */

/* From an array of pointers, or from `extra`: one buffer with all of them. */
static CUresult take_params(drv_function *f, drv_launch *l, void **parameters, void **extra) {
  const ptx_func *p = &f->unit->funcs[f->index];
  uint32_t bytes = p->param_bytes;
  if (parameters && extra)
    return CUDA_ERROR_INVALID_VALUE;
  if (!parameters && !extra && p->n_params)
    return CUDA_ERROR_INVALID_VALUE;
  l->params = calloc(1, bytes ? bytes : 1);
  if (!l->params)
    return CUDA_ERROR_OUT_OF_MEMORY;
  if (!extra) {
    for (uint32_t i = 0; i < p->n_params; i++) {
      if (!parameters[i])
        return CUDA_ERROR_INVALID_VALUE;
      memcpy(l->params + p->params[i].offset, parameters[i], (size_t)p->params[i].bytes);
    }
    return CUDA_SUCCESS;
  }
  const void *buffer = NULL;
  const size_t *given = NULL;
  for (size_t i = 0; extra[i] != CU_LAUNCH_PARAM_END; i += 2) {
    if (extra[i] == CU_LAUNCH_PARAM_BUFFER_POINTER)
      buffer = extra[i + 1];
    else if (extra[i] == CU_LAUNCH_PARAM_BUFFER_SIZE)
      given = extra[i + 1];
    else
      return CUDA_ERROR_INVALID_VALUE;
  }
  if (!given || (!buffer && *given))
    return CUDA_ERROR_INVALID_VALUE;
  /* The buffer of a C struct may be padded to the alignment of its widest member. */
  uint32_t align = p->param_align ? p->param_align : 1;
  if (*given < bytes || *given > (bytes + align - 1) / align * align) {
    muster_session_say(MUSTER_MESSAGE_ERROR, "%s takes %u bytes of parameters, its launch gives %zu",
                       f->plain, bytes, *given);
    return CUDA_ERROR_INVALID_VALUE;
  }
  memcpy(l->params, buffer, bytes);
  return CUDA_SUCCESS;
}

/* ------------------------------------------------------------------ shapes */

static CUresult check_shape(drv_function *f, const drv_launch *l, uint32_t threads) {
  const ptx_func *p = &f->unit->funcs[f->index];
  if (l->grid[0] > INT32_MAX || l->grid[1] > 65535 || l->grid[2] > 65535 || l->block[2] > 64)
    return CUDA_ERROR_INVALID_VALUE;
  if (threads > 1024 || (f->info.max_threads && threads > f->info.max_threads))
    return CUDA_ERROR_INVALID_VALUE;
  for (int i = 0; i < 3; i++)
    if (p->reqntid[0] && l->block[i] != (p->reqntid[i] ? p->reqntid[i] : 1))
      return CUDA_ERROR_INVALID_VALUE;
  /* Opting in counts for a launch; without it 48 KiB with the static part. */
  if (l->shared_bytes > f->max_dynamic_shared)
    return CUDA_ERROR_INVALID_VALUE;
  return CUDA_SUCCESS;
}

static CUresult check_cluster(drv_function *f, drv_launch *l) {
  const drv_profile *p = f->module->context->device->profile;
  if (!l->cluster[0] && f->cluster[0])
    for (int i = 0; i < 3; i++)
      l->cluster[i] = f->cluster[i] ? f->cluster[i] : 1;
  if (!l->cluster[0])
    return f->unit->funcs[f->index].explicitcluster ? CUDA_ERROR_INVALID_CLUSTER_SIZE : CUDA_SUCCESS;
  uint32_t blocks = l->cluster[0] * l->cluster[1] * l->cluster[2];
  if (p->cc < 90) {
    muster_session_say(MUSTER_MESSAGE_ERROR,
                       "%s is launched in clusters, which %s does not have: use --gpu h100", f->plain,
                       p->name);
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  if (blocks == 0 || blocks > (f->cluster_non_portable ? 16u : 8u))
    return CUDA_ERROR_INVALID_CLUSTER_SIZE;
  for (int i = 0; i < 3; i++) {
    uint32_t required = f->unit->funcs[f->index].reqnctapercluster[i];
    if (l->grid[i] % l->cluster[i] != 0 || (required && required != l->cluster[i]))
      return CUDA_ERROR_INVALID_CLUSTER_SIZE;
  }
  return CUDA_SUCCESS;
}

/* Whether a block fits at all, and of a cooperative launch all of them. An estimate is not good enough to
 * refuse. */
static CUresult check_fit(drv_function *f, const drv_launch *l, uint32_t threads) {
  uint32_t cluster = l->cluster[0] ? l->cluster[0] * l->cluster[1] * l->cluster[2] : 1;
  uint32_t shared = f->info.shared_bytes + l->shared_bytes;
  uint64_t blocks = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
  char why[128];
  sim_fit fit = drv_fit(f, threads, shared, cluster);
  bool enough = fit.blocks > 0 && (!l->cooperative || blocks <= fit.blocks);
  bool matters = !enough || (l->cooperative ? blocks * 2 > fit.blocks
                                            : fit.limit == SIM_LIMIT_REGISTERS && blocks > fit.blocks);
  if (matters && drv_function_count(f)) {
    fit = drv_fit(f, threads, shared, cluster);
    enough = fit.blocks > 0 && (!l->cooperative || blocks <= fit.blocks);
  }
  if (enough)
    return CUDA_SUCCESS;
  const char *gpu = f->module->context->device->profile->name;
  drv_limit_text(f, fit.limit, threads, shared, why, sizeof why);
  if (fit.blocks == 0) {
    muster_session_say(MUSTER_MESSAGE_ERROR,
                       "%s cannot be launched: no block of %u threads fits on %s (limit: %s)", f->plain,
                       threads, gpu, why);
    return cluster > 1 ? CUDA_ERROR_INVALID_CLUSTER_SIZE : CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
  }
  muster_session_say(
      MUSTER_MESSAGE_ERROR,
      "cooperative launch of %s refused: %llu blocks, and %u can be resident at once on %s (limit: %s)",
      f->plain, (unsigned long long)blocks, fit.blocks, gpu, why);
  return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
}

CUresult drv_launch_check(drv_function *f, drv_launch *l, void **parameters, void **extra) {
  CUresult r = drv_function_ready(f);
  if (r != CUDA_SUCCESS)
    return r;
  l->function = f;
  uint64_t threads = (uint64_t)l->block[0] * l->block[1];
  if (threads > 1024 || l->block[2] > 1024)
    return CUDA_ERROR_INVALID_VALUE;
  threads *= l->block[2];
  if (threads == 0 || !l->grid[0] || !l->grid[1] || !l->grid[2])
    return CUDA_ERROR_INVALID_VALUE;
  if ((r = check_shape(f, l, (uint32_t)threads)) != CUDA_SUCCESS)
    return r;
  if ((r = check_cluster(f, l)) != CUDA_SUCCESS)
    return r;
  if ((r = check_fit(f, l, (uint32_t)threads)) != CUDA_SUCCESS)
    return r;
  return take_params(f, l, parameters, extra);
}

/* ------------------------------------------------------------------ the API */

static CUresult launch(CUfunction function, drv_launch *l, CUstream stream, void **parameters, void **extra) {
  drv_stream *s;
  drv_function *f;
  CUresult r = drv_function_of(function, &f);
  if (r == CUDA_SUCCESS)
    r = drv_stream_of(stream, &s);
  if (r != CUDA_SUCCESS)
    return r;
  if (f->module->context != s->context)
    return CUDA_ERROR_INVALID_HANDLE;
  l->priority += s->priority;
  if ((r = drv_launch_check(f, l, parameters, extra)) != CUDA_SUCCESS) {
    free(l->params);
    drv_inspect_refused(f->plain);
    return r;
  }
  drv_op *op = drv_op_new(DRV_OP_LAUNCH);
  if (!op) {
    free(l->params);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  op->launch = *l;
  return drv_issue(s, op);
}

CUresult drv_cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                            unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                            CUstream stream, void **parameters, void **extra) {
  drv_launch l = {
      .grid = {grid_x, grid_y, grid_z}, .block = {block_x, block_y, block_z}, .shared_bytes = shared_bytes};
  return launch(function, &l, stream, parameters, extra);
}

CUresult drv_cuLaunchCooperativeKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                       unsigned block_x, unsigned block_y, unsigned block_z,
                                       unsigned shared_bytes, CUstream stream, void **parameters) {
  drv_launch l = {.grid = {grid_x, grid_y, grid_z},
                  .block = {block_x, block_y, block_z},
                  .shared_bytes = shared_bytes,
                  .cooperative = true};
  return launch(function, &l, stream, parameters, NULL);
}

/* What a launch's attributes ask for. Hints have no effect here; what a program could see is done or refused.
 */
static CUresult take_attributes(const CUlaunchConfig *config, drv_launch *l) {
  for (unsigned i = 0; i < config->numAttrs; i++) {
    const CUlaunchAttributeValue *v = &config->attrs[i].value;
    switch (config->attrs[i].id) {
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
      l->cooperative = v->cooperative != 0;
      break;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
      if (!v->clusterDim.x || !v->clusterDim.y || !v->clusterDim.z || v->clusterDim.x > 16 ||
          v->clusterDim.y > 16 || v->clusterDim.z > 16)
        return CUDA_ERROR_INVALID_CLUSTER_SIZE;
      l->cluster[0] = v->clusterDim.x;
      l->cluster[1] = v->clusterDim.y;
      l->cluster[2] = v->clusterDim.z;
      break;
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
      l->priority = v->priority > 0 ? 0 : v->priority < -5 ? -5 : v->priority;
      break;
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
    case CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT:
      return drv_refuse("a launch that records an event before it ends");
    case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
      return drv_refuse("a kernel node that the device updates");
    case CU_LAUNCH_ATTRIBUTE_IGNORE:
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION: /* permits an early start, and asks for none
                                                                 */
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION:
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
    case CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING:
      break;
    default:
      return CUDA_ERROR_INVALID_VALUE;
    }
  }
  return CUDA_SUCCESS;
}

CUresult drv_cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **parameters,
                              void **extra) {
  if (!config || (config->numAttrs && !config->attrs))
    return CUDA_ERROR_INVALID_VALUE;
  drv_launch l = {.grid = {config->gridDimX, config->gridDimY, config->gridDimZ},
                  .block = {config->blockDimX, config->blockDimY, config->blockDimZ},
                  .shared_bytes = config->sharedMemBytes};
  CUresult r = take_attributes(config, &l);
  return r == CUDA_SUCCESS ? launch(function, &l, config->hStream, parameters, extra) : r;
}
