/* host.c: muster.h alone, every struct and its _INIT. */
#include "muster.h"
#include "muster.h"

int main(void) {
  muster_device_info device = MUSTER_DEVICE_INFO_INIT;
  muster_profile profile = MUSTER_PROFILE_INIT;
  muster_kernel_info kernel = MUSTER_KERNEL_INFO_INIT;
  muster_launch launch = MUSTER_LAUNCH_INIT;
  muster_plan plan = MUSTER_PLAN_INIT;
  muster_instruction instruction = MUSTER_INSTRUCTION_INIT;
  muster_result result = muster_open("cpu", (muster_device **)0);
  return device.size + profile.size + kernel.size + launch.size + plan.size + instruction.size > 0 &&
         result == MUSTER_OK;
}
