/* trace.c: a watcher that writes one line for each event. It is the first user of hooks.h and tests it; a
 * person may read it too. Addresses are those of the device, which do not differ from run to run. */
#include <inttypes.h>
#include <stdlib.h>

#include "sim/machine.h"

typedef struct tracer {
  sim_watcher watcher; /* first: what sim_trace_new returns */
  base_text *out;
} tracer;

static void put_who(base_text *t, const sim_who *w) {
  base_putf(t, " launch %" PRIu64 " block %" PRIu64, w->launch, w->block);
  if (w->lanes)
    base_putf(t, " warp %u lanes %08x", w->warp, w->lanes);
  if (w->insn)
    base_putf(t, " line %u %s", w->insn->place.line, ptx_op_get((ptx_op)w->insn->op)->name);
}

static const char *mod(unsigned m) {
  return m ? ptx_mod_name((ptx_mod)m) : "-";
}

static void put_access(base_text *t, const sim_access *a) {
  base_putf(t, " %s%s %s %s %s %u bytes", a->reads ? "r" : "", a->writes ? "w" : "", mod(a->space),
            mod(a->order), mod(a->scope), a->bytes);
  SIM_EACH(i, a->who->lanes) {
    base_putf(t, " %u:%" PRIx64, i, sim_address_of(a, i));
    if (a->reads)
      base_putf(t, "=%" PRIx64, sim_value_read(a, i));
    if (a->writes && (!a->reads || a->stored >> i & 1))
      base_putf(t, ">%" PRIx64, sim_value_written(a, i));
  }
}

static sim_answer event(void *user, const sim_event *e) {
  tracer *x = user;
  base_text *t = x->out;
  base_puts(t, sim_event_name(e->kind));
  put_who(t, &e->who);
  switch (e->kind) {
  case SIM_EVENT_ACCESS:
    put_access(t, e->access);
    break;
  case SIM_EVENT_FENCE:
    base_putf(t, " %s %s proxy %s", mod(e->fence.order), mod(e->fence.scope), mod(e->fence.proxy));
    break;
  case SIM_EVENT_ARRIVE:
  case SIM_EVENT_COMPLETE:
  case SIM_EVENT_LEAVE:
    base_putf(t, " %s %u phase %" PRIu64 " have %u want %u", e->barrier.cluster ? "cluster" : "barrier",
              e->barrier.number, e->barrier.phase, e->barrier.have, e->barrier.want);
    break;
  case SIM_EVENT_COLLECTIVE:
    base_putf(t, " met %08x%s", e->collective.met, e->collective.other ? " at several places" : "");
    break;
  case SIM_EVENT_MBARRIER:
    base_putf(t, " at %" PRIx64 " count %u phase %" PRIu64 "%s%s", e->mbarrier.address, e->mbarrier.count,
              e->mbarrier.phase, e->mbarrier.completes ? " completes" : "",
              e->mbarrier.succeeded ? " over" : "");
    break;
  case SIM_EVENT_COPY:
    if (e->copy.waits)
      base_putf(t, " waits up to group %u", e->copy.group);
    else
      base_putf(t, " %" PRIx64 " > %" PRIx64 " %u bytes", e->copy.from, e->copy.to, e->copy.bytes);
    break;
  case SIM_EVENT_BRANCH:
    base_putf(t, e->branch.joins ? " joins %08x" : " taken %08x", e->branch.taken);
    break;
  case SIM_EVENT_SLEEP:
    for (uint32_t k = 0; k < e->sleep.n_words; k++)
      base_putf(t, " %" PRIx64 "/%u", e->sleep.words[k].address, e->sleep.words[k].bytes);
    break;
  case SIM_EVENT_FAULT:
    base_putf(t, " %s", e->fault->text);
    break;
  case SIM_EVENT_HEAP:
  case SIM_EVENT_ALLOCATE:
  case SIM_EVENT_FREE:
  case SIM_EVENT_HOST_COPY:
    base_putf(t, " %" PRIx64 " %" PRIu64 " bytes", e->memory.address, e->memory.bytes);
    break;
  default:
    break;
  }
  base_puts(t, "\n");
  return SIM_GO_ON;
}

static void step(void *user, const sim_who *who) {
  tracer *x = user;
  base_puts(x->out, "step");
  put_who(x->out, who);
  base_puts(x->out, "\n");
}

sim_watcher *sim_trace_new(base_text *out, uint32_t watch) {
  tracer *x = calloc(1, sizeof *x);
  if (!x)
    return NULL;
  *x = (tracer){.watcher = {.user = x, .watch = watch, .event = event, .step = step}, .out = out};
  return &x->watcher;
}

void sim_trace_free(sim_watcher *w) {
  free(w);
}
