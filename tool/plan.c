/* plan.c: muster plan: how many blocks of a kernel can be resident, which limit binds, the launch that fits.
 *
 * The figures are the device's; this only prints them.
 */
#include "tool.h"

#include <stdio.h>
#include <string.h>

#include "muster.h"

static void print(const tool_options *o, muster_device *device, muster_kernel *kernel, const muster_launch *l,
                  const muster_plan *p) {
  muster_device_info d = MUSTER_DEVICE_INFO_INIT;
  muster_kernel_info k = MUSTER_KERNEL_INFO_INIT;
  muster_device_get(device, &d);
  muster_kernel_get(kernel, &k);
  unsigned threads = o->block.x * o->block.y * o->block.z;
  printf("kernel    %s%s%s%s\n", k.plain_name, strcmp(k.plain_name, k.name) ? " (" : "",
         strcmp(k.plain_name, k.name) ? k.name : "", strcmp(k.plain_name, k.name) ? ")" : "");
  printf("device    %s%s, %u multiprocessors\n", d.name, d.is_cpu ? " (modelled on the CPU)" : "",
         d.multiprocessors);
  printf("block     %u threads, %u registers a thread%s, %zu bytes of shared memory\n", threads, k.registers,
         k.registers_estimated ? " (estimated)" : "", k.shared_bytes + l->shared_bytes);
  if (p->resident_blocks == 0) {
    printf("resident  none: %s\n", muster_limit_name(p->limit));
    return;
  }
  printf("resident  %u blocks", p->resident_blocks);
  if (p->clusters)
    printf(" (%u clusters of %u)\n", p->clusters, p->resident_blocks / p->clusters);
  else
    printf(" (%u a multiprocessor)\n", p->blocks_per_sm);
  printf("limit     %s:", muster_limit_name(p->limit));
  const char *comma = "";
  for (int i = 0; i < MUSTER_LIMIT_LAUNCH; i++) {
    if (p->by[i] != UINT32_MAX) {
      printf("%s %s %u", comma, muster_limit_name((muster_limit)i), p->by[i]);
      comma = ",";
    }
  }
  printf(
      "\nlaunch    --grid %u --block %u,%u,%u%s fits as a cooperative launch; more blocks than that do not\n",
      p->resident_blocks, o->block.x, o->block.y, o->block.z, p->clusters ? " with these clusters" : "");
  if (p->suggested_block && p->suggested_block != threads)
    printf("          --block %u fills a multiprocessor best\n", p->suggested_block);
}

static int plan(const tool_options *o) {
  muster_device *device = NULL;
  muster_kernel *kernel = NULL;
  int code = tool_kernel_open(o, &device, &kernel);
  if (code == TOOL_OK) {
    muster_launch l = MUSTER_LAUNCH_INIT;
    muster_plan p = MUSTER_PLAN_INIT;
    memcpy(l.block, &o->block, sizeof l.block);
    memcpy(l.cluster, &o->cluster, sizeof l.cluster);
    l.shared_bytes = o->shared;
    if (muster_kernel_plan(kernel, &l, &p) == MUSTER_OK) {
      print(o, device, kernel, &l, &p);
      code = p.resident_blocks ? TOOL_OK : TOOL_LAUNCH_FAILED;
    } else {
      tool_error("%s", muster_message());
      code = TOOL_LAUNCH_FAILED;
    }
  }
  muster_close(device);
  return fflush(stdout) == 0 ? code : TOOL_OURS;
}

int tool_plan(const tool_options *o) {
  if (!o->has.kernel || !o->has.block) {
    tool_error("muster plan needs --%s", o->has.kernel ? "block X[,Y[,Z]]" : "kernel NAME");
    return TOOL_USAGE;
  }
  if (o->gpu && !tool_profile_check(o->gpu))
    return TOOL_USAGE;
  return tool_with_module(o, plan);
}
