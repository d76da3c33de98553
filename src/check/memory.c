/* memory.c: accesses to memory that is none, or not that much: the rules oob-*, null-access, use-after-free
 * and misaligned. A bad write is dropped, a bad read gives an undefined 0, and the launch goes on. The
 * machine knows which lanes stay within their allocation, to the byte; here it is found out what the others
 * did.
 */
#include <stdlib.h>
#include <string.h>

#include "check/state.h"

/* Below, no pointer of a program lies: the host's begin at 4 MiB at the earliest. */
#define NULL_END (UINT64_C(4) << 20)

typedef struct memory {
  check *check;
} memory;

static void *new(check *c) {
  return check_part_new(c, sizeof(memory));
}

/* "read of 4 bytes" */
static void put_what(base_text *t, const sim_access *a) {
  base_putf(t, "%s %u byte%s",
            a->reads && a->writes ? "atomic on"
            : a->writes           ? "write of"
                                  : "read of",
            a->bytes, a->bytes == 1 ? "" : "s");
}

/* "allocation 3 (4000 bytes)" */
static void put_buffer(base_text *t, const check_buffer *b) {
  base_putf(t, "%s (%llu byte%s)", b->name, (unsigned long long)b->bytes, b->bytes == 1 ? "" : "s");
}

/* Where the access lies, seen from the nearest buffer. */
static void put_where(base_text *t, const check_buffer *b, uint32_t bytes) {
  uint64_t end = (uint64_t)b->offset + bytes;
  if (b->offset < 0) {
    base_putf(t, "%llu byte%s before the begin of ", (unsigned long long)-b->offset,
              b->offset == -1 ? "" : "s");
  } else if ((uint64_t)b->offset < b->bytes) {
    base_putf(t, "of which the last %llu lie behind the end of ", (unsigned long long)(end - b->bytes));
  } else {
    uint64_t far = (uint64_t)b->offset - b->bytes;
    if (far)
      base_putf(t, "%llu byte%s behind the end of ", (unsigned long long)far, far == 1 ? "" : "s");
    else
      base_puts(t, "right behind the end of ");
  }
  put_buffer(t, b);
}

static muster_rule rule_of(uint8_t space) {
  return space == PTX_SPACE_SHARED                              ? MUSTER_RULE_OOB_SHARED
         : space == PTX_SPACE_LOCAL                             ? MUSTER_RULE_OOB_LOCAL
         : space == PTX_SPACE_CONST || space == PTX_SPACE_PARAM ? MUSTER_RULE_OOB_CONST
                                                                : MUSTER_RULE_OOB_GLOBAL;
}

/* A generic address that hits nothing is told as global. */
static muster_rule judge(const check *c, const sim_access *a, uint64_t address, base_text *t) {
  bool global = a->space == PTX_SPACE_GLOBAL;
  check_buffer b;
  bool near = check_buffer_of(c, a->who->launch, a->space, address, &b);
  bool within = near && b.offset >= 0 && (uint64_t)b.offset + a->bytes <= b.bytes;
  uint64_t align = a->element ? a->bytes : (uint64_t)a->bytes * a->elements;
  put_what(t, a);
  if (global && address < NULL_END) {
    if (address)
      base_putf(t, " through a null pointer, at offset %llu", (unsigned long long)address);
    else
      base_puts(t, " through a null pointer");
    return MUSTER_RULE_NULL_ACCESS;
  }
  if (within && b.freed) {
    base_putf(t, " at offset %lld of ", (long long)b.offset);
    put_buffer(t, &b);
    base_puts(t, ", which was freed before");
    return MUSTER_RULE_USE_AFTER_FREE;
  }
  if (align && address % align && (within || !near)) {
    base_putf(t, " at offset %lld%s%s, which is no multiple of %llu", (long long)b.offset, near ? " of " : "",
              near ? b.name : "", (unsigned long long)align);
    return MUSTER_RULE_MISALIGNED;
  }
  if (a->writes && (a->space == PTX_SPACE_CONST || a->space == PTX_SPACE_PARAM)) {
    base_puts(t, a->space == PTX_SPACE_CONST ? " to constant memory, which kernels cannot write"
                                             : " to a kernel's parameters, which it cannot write");
    return MUSTER_RULE_OOB_CONST;
  }
  if (near && !within) {
    base_puts(t, ", ");
    put_where(t, &b, a->bytes);
    if (b.freed)
      base_puts(t, ", which was freed before");
  } else if (global) {
    base_puts(t, " at an address that is no memory of the device: a pointer of the host, or none at all");
  } else if (a->space == PTX_SPACE_SHARED) {
    base_puts(t, " outside of the block's shared memory");
  } else if (a->space == PTX_SPACE_LOCAL) {
    base_puts(t, " outside of the thread's local memory");
  } else {
    base_puts(t, " outside of the parameters and constants");
  }
  return rule_of(a->space);
}

uint32_t check_memory_allow(check *c, const sim_access *a, uint32_t legal) {
  for (uint32_t lanes = a->who->lanes & ~legal; lanes; lanes &= lanes - 1) {
    uint32_t i = (uint32_t)__builtin_ctz(lanes);
    base_text t = {0};
    muster_rule rule = judge(c, a, sim_address_of(a, i), &t);
    check_report(c, &(check_found){.rule = rule,
                                   .message = t.bytes ? t.bytes : "a bad access",
                                   .sides = {{.kind = a->reads && a->writes ? "atomic"
                                                      : a->writes           ? "write"
                                                                            : "read",
                                              .spot = check_spot_of(c, a->who, i),
                                              .space = a->space,
                                              .address = sim_address_of(a, i),
                                              .bytes = a->bytes}}});
    base_text_free(&t);
  }
  return legal;
}

/* ------------------------------------------------------------------ what ends a launch */

static sim_answer event(void *user, const sim_event *e) {
  memory *m = user;
  if (e->kind != SIM_EVENT_FAULT)
    return SIM_GO_ON;
  const sim_fault *f = e->fault;
  muster_rule rule = f->kind == SIM_FAULT_MISALIGNED ? MUSTER_RULE_MISALIGNED : MUSTER_RULE_OOB_GLOBAL;
  const char *what = strstr(f->text, ": ");
  for (const char *p = what; p; p = strstr(p + 2, ": ")) /* the place stands before */
    what = p;
  switch (f->kind) {
  case SIM_FAULT_ADDRESS:
  case SIM_FAULT_SPACE:
  case SIM_FAULT_MISALIGNED:
    check_report(m->check,
                 &(check_found){.rule = rule,
                                .message = what ? what + 2 : f->text,
                                .sides = {{.kind = "read",
                                           .spot = check_spot_of(m->check, &e->who,
                                                                 (uint32_t)__builtin_ctz(e->who.lanes)),
                                           .bytes = f->bytes}}});
    break;
  case SIM_FAULT_UNMODELLED:
  case SIM_FAULT_MEMORY:
    check_unjudged(m->check, "%s", f->text);
    break;
  default: /* a trap, an assertion: the program's own word */
    break;
  }
  return SIM_GO_ON;
}

const check_part check_part_memory = {.name = "memory",
                                      .watch = SIM_WATCH_ACCESS,
                                      .takes = CHECK_TAKES(FAULT),
                                      .new = new,
                                      .free = free,
                                      .event = event};
