/* api.c: what the program does with the API: the rules launch-failed, sticky-error and leak.
 *
 * Whether a program looks at what a function returns cannot be seen; whether it asks for the last error can.
 * So an error counts as ignored if nobody asked before the program went on with other work for the device, or
 * ended.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/state.h"

typedef struct block {
  uint64_t address, bytes, number;
} block;

typedef struct api {
  check *check;
  char kernel[256], launch_error[64]; /* a launch that failed, and nobody asked */
  bool failed;
  char faulted[256], fault[512]; /* a kernel that ended with an error */
  bool told;                     /* the program was told of that */
  char function[64], error[64];  /* the first of other errors that nobody asked for */
  uint64_t errors;
  block *blocks; /* allocated */
  uint32_t n_blocks, cap_blocks;
} api;

static void *new(check *c) {
  return check_part_new(c, sizeof(api));
}

static void drop(void *part) {
  api *a = part;
  if (a)
    free(a->blocks);
  free(a);
}

/* ------------------------------------------------------------------ errors */

static const char *const faults[] = {
    [SIM_FAULT_ADDRESS] = "a bad address",
    [SIM_FAULT_MISALIGNED] = "a misaligned address",
    [SIM_FAULT_SPACE] = "an address of the wrong space",
    [SIM_FAULT_TRAP] = "a trap",
    [SIM_FAULT_ASSERT] = "an assertion that failed",
    [SIM_FAULT_INSTRUCTION] = "an instruction used wrongly",
    [SIM_FAULT_STACK] = "a stack that ran over",
    [SIM_FAULT_UNMODELLED] = "an instruction that is not modelled",
    [SIM_FAULT_MEMORY] = "the machine out of memory",
};

static void report(check *c, muster_rule rule, const char *kernel, base_text *message) {
  if (message->bytes)
    check_report(c, &(check_found){.rule = rule,
                                   .kernel = kernel,
                                   .message = message->bytes,
                                   .sides = {{.kind = rule == MUSTER_RULE_LEAK            ? "alloc"
                                                      : rule == MUSTER_RULE_LAUNCH_FAILED ? "launch"
                                                                                          : NULL}}});
  base_text_free(message);
}

/* The program goes on, or ends, after a launch that failed. */
static void went_on(api *a, const char *with) {
  base_text t = {0};
  if (!a->failed)
    return;
  a->failed = false;
  base_putf(&t, "the launch of %s failed with %s, and the program %s without asking for the error",
            a->kernel[0] ? a->kernel : "a kernel", a->launch_error, with);
  report(a->check, MUSTER_RULE_LAUNCH_FAILED, a->kernel, &t);
}

/* After a kernel faulted every function answers with its error. Whoever still gives the device work after the
 * first such answer has not read it. */
static void after_fault(api *a, const char *function, const char *error) {
  base_text t = {0};
  bool work = strstr(function, "Launch") || strstr(function, "Memcpy") || strstr(function, "Memset") ||
              strstr(function, "Malloc");
  if (a->told && work && a->faulted[0]) {
    base_putf(&t, "%s ended with an error (%s), and the program went on: %s could only answer %s", a->faulted,
              a->fault, function, error);
    report(a->check, MUSTER_RULE_LAUNCH_FAILED, a->faulted, &t);
    a->faulted[0] = 0;
  }
  a->told = true;
}

void check_launch_failed(check *c, const char *kernel, const char *error) {
  api *a = c->parts[CHECK_PART_api];
  if (a->fault[0]) {
    after_fault(a, "cudaLaunchKernel", error);
    return;
  }
  went_on(a, "went on as if it had run,");
  snprintf(a->kernel, sizeof a->kernel, "%s", kernel ? kernel : "");
  snprintf(a->launch_error, sizeof a->launch_error, "%s", error);
  a->failed = true;
}

void check_api_error(check *c, const char *function, const char *error) {
  api *a = c->parts[CHECK_PART_api];
  if (a->fault[0]) {
    after_fault(a, function, error);
    return;
  }
  if (!a->errors++) {
    snprintf(a->function, sizeof a->function, "%s", function);
    snprintf(a->error, sizeof a->error, "%s", error);
  }
}

void check_api_asked(check *c) {
  api *a = c->parts[CHECK_PART_api];
  a->failed = false;
  a->errors = 0;
}

/* ------------------------------------------------------------------ memory that is never freed */

static void allocated(api *a, const sim_event *e) {
  sim_allocation found;
  if (!BASE_ROOM(a->blocks, a->n_blocks, a->cap_blocks))
    return;
  if (!e->memory.host && sim_memory_find(a->check->device, e->memory.address, &found))
    a->blocks[a->n_blocks++] = (block){e->memory.address, e->memory.bytes, found.number};
}

static void freed(api *a, uint64_t address) {
  for (uint32_t i = a->n_blocks; i-- > 0;)
    if (a->blocks[i].address == address) {
      memmove(&a->blocks[i], &a->blocks[i + 1], (--a->n_blocks - i) * sizeof *a->blocks);
      return;
    }
}

static void leaks(api *a) {
  enum { NAMED = 4 };
  base_text t = {0};
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < a->n_blocks; i++)
    bytes += a->blocks[i].bytes;
  if (!a->n_blocks)
    return;
  base_putf(&t, "%u allocation%s, %llu bytes in all, %s never freed: ", a->n_blocks,
            a->n_blocks == 1 ? "" : "s", (unsigned long long)bytes, a->n_blocks == 1 ? "was" : "were");
  for (uint32_t i = 0; i < a->n_blocks && i < NAMED; i++)
    base_putf(&t, "%sallocation %llu (%llu bytes)", i ? ", " : "", (unsigned long long)a->blocks[i].number,
              (unsigned long long)a->blocks[i].bytes);
  if (a->n_blocks > NAMED)
    base_putf(&t, " and %u more", a->n_blocks - NAMED);
  a->n_blocks = 0;
  report(a->check, MUSTER_RULE_LEAK, "", &t);
}

void check_api_end(check *c) {
  api *a = c->parts[CHECK_PART_api];
  base_text t = {0};
  went_on(a, "ended");
  if (a->errors && !a->fault[0]) {
    base_putf(&t, "%s returned %s, and the program never asked for the error", a->function, a->error);
    if (a->errors > 1)
      base_putf(&t, "; neither for the %llu after it", (unsigned long long)a->errors - 1);
    report(c, MUSTER_RULE_STICKY_ERROR, "", &t);
    a->errors = 0;
  }
  if (!a->fault[0]) /* after a fault nothing can be freed */
    leaks(a);
}

/* ------------------------------------------------------------------ the part */

static sim_answer event(void *user, const sim_event *e) {
  api *a = user;
  switch (e->kind) {
  case SIM_EVENT_ALLOCATE:
    allocated(a, e);
    break;
  case SIM_EVENT_FREE:
    freed(a, e->memory.address);
    break;
  case SIM_EVENT_STREAM:
    if (e->stream.what == SIM_EDGE_WORK)
      went_on(a, "went on as if it had run,");
    break;
  case SIM_EVENT_FAULT:
    snprintf(a->faulted, sizeof a->faulted, "%s",
             check_launch_of(a->check, e->who.launch) ? check_launch_of(a->check, e->who.launch)->kernel
                                                      : e->fault->place.kernel);
    snprintf(a->fault, sizeof a->fault, "%s", faults[e->fault->kind] ? faults[e->fault->kind] : "a fault");
    a->told = false;
    break;
  default:
    break;
  }
  return SIM_GO_ON;
}

const check_part check_part_api = {.name = "api",
                                   .watch = 0,
                                   .takes = CHECK_TAKES(ALLOCATE) | CHECK_TAKES(FREE) | CHECK_TAKES(STREAM) |
                                            CHECK_TAKES(FAULT),
                                   .new = new,
                                   .free = drop,
                                   .event = event};
