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

/* Plain accesses of several warps: as a rule only the race rule wants them. */
static void several(void *user, const sim_access *a, const sim_part *parts, uint32_t n) {
  check *c = user;
  if (!c->weak && c->takers[CHECK_PLAIN_ACCESS] == UINT32_C(1) << CHECK_PART_race) {
    check_race_several(c, a, parts, n);
    return;
  }
  sim_access one = *a;
  sim_event e = {.kind = SIM_EVENT_ACCESS, .who = *a->who, .access = &one};
  one.who = &e.who;
  for (uint32_t i = 0; i < n; i++) {
    e.who.warp = parts[i].warp;
    one.base = parts[i].base;
    one.lanes_read = a->reads ? parts[i].lanes : NULL;
    one.lanes_written = a->writes ? parts[i].lanes : NULL;
    event(c, &e);
  }
}

/* A barrier that a whole block met at: to those that can take it as one. */
static void met(void *user, const sim_event *e, const uint32_t *lanes, uint32_t n_warps) {
  check *c = user;
  static const sim_event_kind kinds[] = {SIM_EVENT_ARRIVE, SIM_EVENT_COMPLETE, SIM_EVENT_LEAVE};
  uint32_t takers = c->takers[SIM_EVENT_ARRIVE] | c->takers[SIM_EVENT_COMPLETE] | c->takers[SIM_EVENT_LEAVE];
  sim_event one = *e;
  for (uint32_t left = takers; left; left &= left - 1) {
    int i = __builtin_ctz(left);
    if (!hears(c, i) || (parts[i]->met && parts[i]->met(c->parts[i], e, lanes, n_warps)))
      continue;
    uint32_t have = 0;
    for (int k = 0; k < 3; k++) {
      one.kind = kinds[k];
      for (uint32_t w = 0; w < n_warps && c->takers[one.kind] >> i & 1; w++) {
        if (!lanes[w])
          continue;
        have += k ? 0 : (uint32_t)__builtin_popcount(lanes[w]);
        one.barrier.have = have;
        one.who.warp = k == 1 ? 0 : w;
        one.who.lanes = k == 1 ? 0 : lanes[w];
        parts[i]->event(c->parts[i], &one);
        if (k == 1)
          break;
      }
    }
  }
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
  c->watcher = (sim_watcher){.user = c, .event = event, .several = several, .met = met, .allow = allow};
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
