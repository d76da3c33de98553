/* info.c: what the CPU device can model and understands, from the tables that it is itself made of. Needs no
 * device. */
#include "ops.h"

#include <string.h>

#include "ptx/ptx.h"

static const muster_profile profiles[] = {
#define GPCS(...) 0
#define PROFILE(profile, title, cc, sms, clock_mhz, memory_mib, memory_mhz, bus_bits, l2_kib, threads_sm, \
                blocks_sm, shared_sm_kib, shared_optin_kib, f64_ratio, copy_engines, ecc, gpcs)           \
  {sizeof(muster_profile),                                                                                \
   #profile,                                                                                              \
   title,                                                                                                 \
   cc,                                                                                                    \
   sms,                                                                                                   \
   threads_sm,                                                                                            \
   blocks_sm,                                                                                             \
   (shared_sm_kib) * 1024,                                                                                \
   (shared_optin_kib) * 1024,                                                                             \
   (uint64_t)(memory_mib) << 20},
#include "driver/profiles.def"
};

size_t muster_profile_count(void) {
  return sizeof profiles / sizeof *profiles;
}

muster_result muster_profile_get(size_t index, muster_profile *profile) {
  ops_begin();
  if (index >= muster_profile_count() || !profile || profile->size < sizeof(size_t) ||
      profile->size > sizeof *profile)
    return ops_fail(MUSTER_ERROR_ARGUMENT, "no profile %zu, or a struct that was not initialised", index);
  size_t size = profile->size;
  memcpy(profile, &profiles[index], size);
  profile->size = size;
  return MUSTER_OK;
}

size_t muster_instruction_count(void) {
  return PTX_OPS;
}

muster_result muster_instruction_get(size_t index, muster_instruction *instruction) {
  ops_begin();
  muster_instruction i = MUSTER_INSTRUCTION_INIT;
  if (index >= PTX_OPS || !instruction || instruction->size < sizeof(size_t) || instruction->size > sizeof i)
    return ops_fail(MUSTER_ERROR_ARGUMENT, "no instruction %zu, or a struct that was not initialised", index);
  const ptx_op_info *op = ptx_op_get((ptx_op)index);
  i.name = op->name;
  i.kind = op->class;
  i.meaning = op->meaning;
  i.refused = op->refused;
  i.forms = op->n_forms;
  for (unsigned k = 0; k < op->n_forms; k++) {
    const ptx_form_info *form = ptx_form_get(op->first_form + k);
    if (k == 0 || form->isa < i.ptx_version)
      i.ptx_version = form->isa;
    if (k == 0 || form->sm < i.sm)
      i.sm = form->sm;
  }
  size_t size = instruction->size;
  memcpy(instruction, &i, size);
  instruction->size = size;
  return MUSTER_OK;
}
