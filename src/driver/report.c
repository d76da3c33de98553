/* report.c: faults, hangs and counts in words, and what kernels print. Formatting only: who calls has decided
 * that it is one. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/name.h"
#include "driver/drv.h"

uint64_t drv_clock(const drv_device *d) {
  return sim_clock(d->sim) + d->extra_ns;
}

/* ------------------------------------------------------------------ printf of kernels */

void drv_print_take(void *device, const char *text, size_t bytes) {
  base_put(&((drv_device *)device)->printed, text, bytes);
}

void drv_print(drv_device *d) {
  if (d->printed.length == 0)
    return;
  fwrite(d->printed.bytes, 1, d->printed.length, stdout);
  base_text_free(&d->printed);
}

/* ------------------------------------------------------------------ faults */

CUresult drv_fault_result(const sim_fault *fault) {
  switch (fault->kind) {
  case SIM_FAULT_ADDRESS:
  case SIM_FAULT_STACK: /* on a GPU the stack runs into an address that is none */
    return CUDA_ERROR_ILLEGAL_ADDRESS;
  case SIM_FAULT_MISALIGNED:
    return CUDA_ERROR_MISALIGNED_ADDRESS;
  case SIM_FAULT_SPACE:
    return CUDA_ERROR_INVALID_ADDRESS_SPACE;
  case SIM_FAULT_ASSERT:
    return CUDA_ERROR_ASSERT;
  case SIM_FAULT_INSTRUCTION:
    return CUDA_ERROR_ILLEGAL_INSTRUCTION;
  case SIM_FAULT_UNMODELLED:
    return CUDA_ERROR_NOT_SUPPORTED;
  case SIM_FAULT_MEMORY:
    return CUDA_ERROR_OUT_OF_MEMORY;
  case SIM_FAULT_TRAP:
  case SIM_FAULT_NONE:
    break;
  }
  return CUDA_ERROR_LAUNCH_FAILED;
}

/* The line that CUDA writes to the program's standard error for a failed assertion, which programs and their
 * tests look for: the machine's text ends with what it is made of, "FILE:LINE: FUNCTION: assertion
 * `EXPRESSION' failed". */
static void say_assertion(const sim_fault *fault) {
  static const char middle[] = ": assertion `", end[] = "' failed";
  char place[4096], line[2048];
  const sim_place *p = &fault->place;
  if (p->file)
    snprintf(place, sizeof place, ", %s:%u: ", p->file, p->line);
  else
    snprintf(place, sizeof place, ", PTX line %u: ", p->ptx_line);
  const char *from = strstr(fault->text, place), *at = from ? strstr(from, middle) : NULL;
  if (!at)
    return; /* cut short: the machine's own line must do */
  from += strlen(place);
  const char *expression = at + strlen(middle);
  size_t length = strlen(expression);
  if (length >= strlen(end) && strcmp(expression + length - strlen(end), end) == 0)
    length -= strlen(end);
  int n =
      snprintf(line, sizeof line, "%.*s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%.*s` failed.\n",
               (int)(at - from), from, p->block[0], p->block[1], p->block[2], p->thread[0], p->thread[1],
               p->thread[2], (int)length, expression);
  if (n > 0 && write(STDERR_FILENO, line, (size_t)n < sizeof line ? (size_t)n : sizeof line - 1) < 0)
    return; /* nobody reads it */
}

void drv_say_fault(drv_device *d, const sim_fault *fault) {
  if (fault->kind == SIM_FAULT_ASSERT)
    say_assertion(fault);
  (void)d;
  /* The machine's line begins with the kernel's own name. */
  const char *text = fault->text, *kernel = fault->place.kernel;
  char plain[512] = "";
  if (kernel && strncmp(text, kernel, strlen(kernel)) == 0 && base_plain_name(kernel, plain, sizeof plain))
    text += strlen(kernel);
  else
    plain[0] = 0;
  muster_session_say(fault->kind == SIM_FAULT_UNMODELLED ? MUSTER_MESSAGE_UNMODELLED
                     : fault->kind == SIM_FAULT_MEMORY   ? MUSTER_MESSAGE_FAILURE
                                                         : MUSTER_MESSAGE_FAULT,
                     "%s%s", plain, text);
}

/* ------------------------------------------------------------------ hangs */

typedef struct hang {
  drv_device *device;
  base_text text;
  unsigned told, more;
  sim_wait_kind last_kind;
  uint64_t last_launch;
  uint32_t last_line;
} hang;

static void put_place(base_text *to, const sim_place *p, bool thread) {
  base_putf(to, "block (%u,%u,%u)", p->block[0], p->block[1], p->block[2]);
  if (thread)
    base_putf(to, " thread (%u,%u,%u)", p->thread[0], p->thread[1], p->thread[2]);
  if (p->file)
    base_putf(to, " at %s:%u", p->file, p->line);
  else if (p->ptx_line)
    base_putf(to, " at PTX line %u", p->ptx_line);
}

/* A word as buffer and offset: reports hold no addresses. */
static void put_word(base_text *to, const hang *h, const sim_word *w) {
  sim_allocation a;
  const drv_memory *m = drv_memory_at(w->address);
  if (m && m->kind != DRV_DEVICE_MEMORY)
    base_putf(to, "%s memory, offset %llu", m->kind == DRV_MANAGED ? "managed" : "pinned",
              (unsigned long long)(w->address - m->address));
  else if (sim_memory_find(h->device->sim, w->address, &a) && a.name)
    base_putf(to, "%s, offset %llu", a.name, (unsigned long long)(w->address - a.address));
  else if (sim_memory_find(h->device->sim, w->address, &a))
    base_putf(to, "allocation %llu, offset %llu", (unsigned long long)a.number,
              (unsigned long long)(w->address - a.address));
  else
    base_puts(to, "shared memory");
}

static void tell_wait(void *user, const sim_wait *w) {
  hang *h = user;
  if (w->kind == SIM_WAIT_ROOM)
    return; /* told with the launch */
  /* Most of a hang is one thing many times over. */
  if (h->told && h->last_kind == w->kind && h->last_launch == w->launch &&
      h->last_line == w->place.ptx_line) {
    h->more++;
    return;
  }
  if (h->told++ >= 4) {
    h->more++;
    return;
  }
  h->last_kind = w->kind;
  h->last_launch = w->launch;
  h->last_line = w->place.ptx_line;
  base_puts(&h->text, "\n  ");
  put_place(&h->text, &w->place, true);
  switch (w->kind) {
  case SIM_WAIT_BARRIER:
    base_putf(&h->text, " waits at barrier %u, where %u of %u threads are", w->number, w->have, w->want);
    break;
  case SIM_WAIT_CLUSTER:
    base_putf(&h->text, " waits at the cluster's barrier, where %u of %u threads are", w->have, w->want);
    break;
  case SIM_WAIT_WARP:
    base_putf(&h->text, " waits for lanes 0x%08x of its warp", w->awaited);
    break;
  case SIM_WAIT_GRID:
    base_puts(&h->text, " waits for the grid before it");
    break;
  case SIM_WAIT_BEHIND:
    base_puts(&h->text, " waits for the lanes of its warp that are behind, as all did before Volta");
    break;
  case SIM_WAIT_MEMORY:
    base_puts(&h->text, " waits for a change of ");
    if (w->n_words)
      put_word(&h->text, h, &w->words[0]);
    else
      base_puts(&h->text, "nothing");
    if (w->n_words > 1)
      base_putf(&h->text, " and %u words more", w->n_words - 1);
    break;
  case SIM_WAIT_ROOM:
    break;
  }
}

static const char *host_wait(const drv_device *d) {
  for (const drv_context *c = d->contexts; c; c = c->next)
    for (const drv_stream *s = c->streams; s; s = s->next)
      if (s->first && s->first->kind == DRV_OP_WAIT_VALUE)
        return "a stream waits for a value in memory (cuStreamWaitValue) that nobody writes any more";
  return NULL;
}

void drv_say_hang(drv_device *d) {
  hang h = {.device = d};
  bool any = false;
  for (const drv_context *c = d->contexts; c; c = c->next)
    for (const drv_stream *s = c->streams; s; s = s->next) {
      const drv_op *op = s->first;
      sim_residency r;
      if (!op || op->kind != DRV_OP_LAUNCH || !op->running || !sim_residency_of(d->sim, op->launch_id, &r))
        continue;
      const drv_function *f = op->launch.function;
      base_putf(&h.text, "%shang: nothing can move any more in %s", any ? "\n" : "", f->plain);
      any = true;
      uint64_t wait = r.blocks - r.done - r.resident;
      if (wait > 0) {
        char why[128];
        drv_limit_text(f, r.fit.limit, r.need.threads, r.need.shared, why, sizeof why);
        base_putf(&h.text,
                  ": %llu of its %llu blocks can never become resident, since the %llu that are never end; "
                  "%u fit on %s (limit: %s)",
                  (unsigned long long)wait, (unsigned long long)r.blocks, (unsigned long long)r.resident,
                  r.fit.blocks, d->profile->name, why);
      }
    }
  if (!any) {
    const char *text = host_wait(d);
    if (text)
      muster_session_say(MUSTER_MESSAGE_HANG, "hang: %s", text);
    return;
  }
  sim_waiting(d->sim, tell_wait, &h);
  if (h.more)
    base_putf(&h.text, "\n  and %u groups of threads more", h.more);
  muster_session_say(MUSTER_MESSAGE_HANG, "%s",
                     h.text.bytes ? h.text.bytes : "hang: nothing can move any more");
  base_text_free(&h.text);
}

/* ------------------------------------------------------------------ counts */

/* Where launches ran side by side, each has the others' share too: the machine counts all of it together. */
void drv_say_stats(drv_device *d, const drv_op *op) {
  if (!muster_session_get()->stats)
    return;
  sim_stats now;
  sim_device_stats(d->sim, &now);
  const drv_launch *l = &op->launch;
  muster_session_say(
      MUSTER_MESSAGE_STATS,
      "%s: launch %llu, grid %u,%u,%u, block %u,%u,%u: %llu thread instructions in %llu warp instructions",
      l->function->plain, (unsigned long long)op->launch_id, l->grid[0], l->grid[1], l->grid[2], l->block[0],
      l->block[1], l->block[2], (unsigned long long)(now.thread_insns - op->thread_insns),
      (unsigned long long)(now.warp_insns - op->warp_insns));
}
