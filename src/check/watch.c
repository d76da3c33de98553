/* watch.c: the checker as a watcher: what the machine tells goes to each part that takes it, in turn. */
#include <stdlib.h>

#include "check/state.h"
#include "check/weak.h"

static const check_part *const parts[] = {
#define PART(name) &check_part_##name,
    CHECK_PARTS(PART)
#undef PART
};

/* These go on through further schedules; of the others each has its own, so that none sees another's. */
static bool stays(int part) {
  return part == CHECK_PART_stream || part == CHECK_PART_schedule;
}

/* Race and define take memory for what is read: where that is not so, they have nothing to say. */
static bool hears(const check *c, int part) {
  if (part == CHECK_PART_schedule)
    return true;
  if (c->further && part == CHECK_PART_stream)
    return false;
  return !c->weak || (!c->rehearsal && part != CHECK_PART_race && part != CHECK_PART_define);
}

static sim_answer pass(check *c, const sim_event *e, uint32_t takers) {
  sim_answer answer = SIM_GO_ON;
  for (; takers; takers &= takers - 1) {
    int i = __builtin_ctz(takers);
    if (hears(c, i) && parts[i]->event(c->parts[i], e) == SIM_YIELD)
      answer = SIM_YIELD;
  }
  return answer;
}

static sim_answer event(void *user, const sim_event *e) {
  check *c = user;
  if (c->weak)
    weak_event(c->weak, e);
  if (e->kind == SIM_EVENT_ACCESS)
    return pass(c, e, c->takers[e->access->order == PTX_ORDER_WEAK ? CHECK_PLAIN_ACCESS : SIM_EVENT_ACCESS]);
  if (e->kind == SIM_EVENT_LAUNCH)
    check_places_event(c, e);
  sim_answer answer = pass(c, e, c->takers[e->kind]);
  if (e->kind == SIM_EVENT_LAUNCH_END && !c->further)
    check_findings_counts(c);
  return answer;
}

void check_takes(check *c, int part, uint32_t kinds, bool on) {
  for (uint32_t left = kinds; left; left &= left - 1) {
    uint32_t *takers = &c->takers[__builtin_ctz(left)], bit = UINT32_C(1) << part;
    *takers = on ? *takers | bit : *takers & ~bit;
  }
}

static uint32_t allow(void *user, const sim_access *a, uint32_t legal) {
  return check_memory_allow(user, a, legal);
}

bool check_parts_fresh(check *c) {
  bool whole = true;
  for (int i = 0; i < CHECK_N_PARTS; i++)
    if (!stays(i)) {
      c->plain[i] = c->parts[i];
      c->parts[i] = parts[i]->new(c);
      whole &= c->parts[i] != NULL;
    }
  if (!whole)
    check_parts_back(c);
  return whole;
}

void check_parts_back(check *c) {
  for (int i = 0; i < CHECK_N_PARTS; i++)
    if (!stays(i)) {
      parts[i]->free(c->parts[i]);
      c->parts[i] = c->plain[i];
    }
}

void *check_part_new(check *c, size_t bytes) {
  check **part = calloc(1, bytes);
  if (part)
    *part = c;
  return part;
}

check *check_new(const check_options *o, const check_sink *sink, sim_device *d) {
  check *c = calloc(1, sizeof *c);
  if (!c)
    return NULL;
  c->options = *o;
  c->sink = *sink;
  c->device = d;
  c->places = check_places_new();
  c->findings = check_findings_new();
  c->select = check_select_new(o);
  c->redundant = check_redundant_new();
  c->set = check_set_new(c);
  bool whole = c->places && c->findings && c->select && c->redundant && c->set;
  c->watcher = (sim_watcher){.user = c, .event = event, .allow = allow};
  for (int i = 0; i < CHECK_N_PARTS; i++) {
    c->parts[i] = parts[i]->new(c);
    whole &= c->parts[i] != NULL;
    c->watcher.watch |= parts[i]->watch;
    check_takes(c, i, parts[i]->takes, true);
  }
  if (whole)
    return c;
  check_free(c);
  return NULL;
}

void check_free(check *c) {
  if (!c)
    return;
  for (int i = 0; i < CHECK_N_PARTS; i++)
    parts[i]->free(c->parts[i]);
  check_set_free(c->set);
  check_findings_free(c->findings);
  check_places_free(c->places);
  check_select_free(c->select);
  check_redundant_free(c->redundant);
  free(c);
}

const sim_watcher *check_watcher(check *c) {
  return &c->watcher;
}

void check_end(check *c) {
  check_set_over(c);
  check_race_flush(c);
  check_define_flush(c);
  check_redundant_end(c);
  check_api_end(c);
  check_findings_counts(c);
}
